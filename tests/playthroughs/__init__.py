"""Golden playthroughs: short texts that replay byte for byte.

The first line is the table, then a line per chance event and action, then the end in words and a digest of every state and
every seat's observation on the way. `python -m tests.playthroughs` writes them anew; when one changes, the game's version
must go up.
"""

import hashlib
import json
import pathlib

import numpy as np

from heist_envs import chance, rules
from heist_envs.engine import row
from heist_envs.games import load
from heist_envs.rules import CHANCE, TERMINAL
from tests.tables import Table

FOLDER = pathlib.Path(__file__).parent


def replay(text):
    """The whole text again, from its table and moves alone.

    Raises:
        AssertionError: a move is not legal, with its line number.
    """
    lines = text.splitlines()
    head = json.loads(lines[0])
    game = load(head["game"])
    table = Table(game, **head["options"])
    seen = np.zeros(1, game.OBSERVATION.record)
    digest = hashlib.sha256()
    made = [lines[0]]
    for number, line in enumerate(lines[1:], start=2):
        if table.player == TERMINAL:
            break
        who, move = line.split(" ", 1)
        expected = "chance" if table.player == CHANCE else f"player_{table.player}"
        assert who == expected, f"line {number}: {who} moves where {expected} is to"
        if table.player == CHANCE:
            table.chance(int(move))
        else:
            table.say(move.lower().replace(" ", "-"))
        made.append(line)
        digest.update(table.state.tobytes())
        for seat in range(table.num_players):
            rules.observe(table.state, seat, seen[0])
            digest.update(seen.tobytes())
    assert table.player == TERMINAL, "the game is not over where the text ends"
    rewards = " ".join(f"{reward:+.4f}" for reward in table.rewards())
    made += [*game.describe(table.state).splitlines(), f"rewards {rewards}", f"truncated {table.truncated}"]
    return "\n".join([*made, f"sha256 {digest.hexdigest()}", ""])


def write(name, about, game, options, decide, seed=0):
    """Play a game with `decide(table, rng) -> word` and write its text."""
    module = load(game)
    table = Table(module, **options)
    stream = chance.streams(chance.seeds(seed, 1))[0]
    rng = np.random.default_rng(seed)
    head = {"about": about, "game": game, "version": module.VERSION, "options": options}
    lines = [json.dumps(head)]
    weights = np.zeros(1, row(np.int32, module.MAX_CHANCE_OUTCOMES))[0]
    while not table.over:
        if table.player == CHANCE:
            rules.chance_outcomes(table.state, weights.values)
            outcome = chance.draw(stream, weights)
            lines.append(f"chance {outcome}")
            table.chance(outcome)
        else:
            word = decide(table, rng)
            lines.append(f"player_{table.player} {word.upper()}")
            table.say(word)
    (FOLDER / f"{name}.txt").write_text(replay("\n".join([*lines, ""])))


def main():
    """Write all of them."""
    from heist_envs.agents import make_agent

    def rule_based(table, rng):
        seen = np.zeros(1, table.game.OBSERVATION.record)
        rules.observe(table.state, table.player, seen[0])
        mask = np.zeros((1, table.game.NUM_ACTIONS), np.int8)
        names = [name.lower().replace(" ", "-") for name in table.game.ACTION_NAMES]
        mask[0, [names.index(word) for word in table.legal()]] = 1
        action = make_agent("rule", "holdup").act(seen.view(np.int8).reshape(1, -1), mask, rng)[0]
        return names[action]

    def uniform(table, rng):
        return str(rng.choice(sorted(table.legal())))

    def redraws(table, rng):
        return "redraw" if "redraw" in table.legal() else uniform(table, rng)

    def one_after_another(table, rng):
        if "no-revolver" in table.legal():
            return "no-revolver"
        return "join" if table.rounds % 3 == table.player else "fold"

    write("holdup_ordinary", "four players by the rules of thumb", "holdup", {"num_players": 4}, rule_based, seed=1)
    write("holdup_empty_pile", "six players redraw till the pile is empty", "holdup", {"num_players": 6}, redraws, seed=3)
    edges = {
        "num_players": 3, "first_player": "random", "join_order": "simultaneous", "end_check": "immediate",
        "revolver_needs_join": False, "revolver_penalty": "instead", "loan_bank": "box", "reward": "score",
    }  # fmt: skip
    write("holdup_options", "every option away from its default", "holdup", edges, uniform, seed=5)
    longest = {"num_players": 3, "redraw_rounds": 0, "loans": False}
    write("holdup_longest", "one joins at a time, to the cap", "holdup", longest, one_after_another)
