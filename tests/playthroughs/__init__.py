"""Golden playthroughs: short texts that replay byte for byte.

The first line is the table, then a line per chance event and action, then the end in words and a digest of every state and
every seat's observation on the way. Each is made by one of a game's PLAYTHROUGHS (`tables.facts`); `python -m
tests.playthroughs` writes them anew; when one changes, the game's version must go up.
"""

import hashlib
import json
import pathlib

import numpy as np

from heist_envs import chance, rules
from heist_envs.engine import row
from heist_envs.games import load
from heist_envs.rules import CHANCE, TERMINAL
from tests.tables import Table, facts

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


def record(game, about, options, decide, seed):
    """Play a game with `decide(table, rng) -> word`; its text."""
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
    return replay("\n".join([*lines, ""]))


def text_of(game, name):
    """The text of one of the game's PLAYTHROUGHS, played anew."""
    return record(game, *facts(game).PLAYTHROUGHS[name])
