"""Replays: verified move by move, refused where they were changed."""

import json

import numpy as np
import pytest

import heist_envs
from heist_envs import rules
from heist_envs.cli import main
from heist_envs.games import GAMES, holdup, load
from heist_envs.replay import Replay, ReplayError, play
from tests.test_policy import small_policy

every_game = pytest.mark.parametrize("name", GAMES)


@every_game
def test_a_replay_is_read_back_and_is_the_game_that_pettingzoo_plays_from_its_seed(name, tmp_path):
    made = play(name, ["rule", "uniform", "uniform"], seed=3, about="three players")
    made.save(tmp_path / "game.json")
    again = Replay.load(tmp_path / "game.json")
    assert again.to_json() == made.to_json()
    assert (again.agents, again.seed, again.about) == (["rule", "uniform", "uniform"], 3, "three players")
    env = heist_envs.make(name, num_players=3)
    env.reset(seed=3)
    names = load(name).ACTION_NAMES
    for move in again.moves:
        if move.player != "chance":
            assert env.agent_selection == move.player
            env.step(names.index(move.name))
    assert env.batch.states.tobytes() == again.verify().tobytes()
    assert again.returns() == pytest.approx([env.rewards[agent] for agent in env.possible_agents], abs=1e-6)


@every_game
def test_every_changed_move_is_found_at_its_number(name):
    text = play(name, ["uniform"] * 3, seed=1).to_json()
    found = json.loads(text)
    rng = np.random.default_rng(0)
    states = list(Replay.from_json(text).states())
    module = load(name)
    changed = 0
    for number in rng.choice(len(found["moves"]), 12, replace=False):
        player, name_of_move, digest = found["moves"][number]
        others = [other for other in module.ACTION_NAMES if other != name_of_move]
        for other in (*rng.choice(others, 3), "0", "1", "nonsense"):
            if other == name_of_move:
                continue
            found["moves"][number] = [player, str(other), digest]
            with pytest.raises(ReplayError, match=f"move {number}: ") as refused:
                Replay.from_json(json.dumps(found))
            assert refused.value.move == number
            changed += 1
        found["moves"][number] = [player, name_of_move, digest]
    assert changed > 12
    assert len(states) == len(found["moves"]) + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(version=7), "got version 7 of holdup: this is version 0"),
        (lambda r: r.update(game="poker"), "got game 'poker'"),
        (lambda r: r.update(format=2), "no replay of format 1"),
        (lambda r: r.update(options={"colour": 1}), "unknown option 'colour'"),
        (lambda r: r.update(options={"num_players": 9}), "got num_players=9"),
        (lambda r: r.update(options={"num_players": 4}), "move "),
        (lambda r: r.update(moves="abc"), "got moves='abc': a list is needed"),
        (lambda r: r["moves"].__setitem__(4, ["player_0", 3, "x"]), r"move 4: got \['player_0', 3, 'x'\]"),
        (lambda r: r["moves"].append(["player_0", "KEEP", "00000000"]), "player_0 moves in a finished game"),
        (lambda r: r["moves"].pop(), "got the end "),
        (lambda r: r["moves"].pop(3), "move 3: "),
        (lambda r: r["end"].update(returns=[1, 0, 0]), r"got the end returns=\[1, 0, 0\]: the moves lead to"),
        (lambda r: r["end"].update(more=1), "got the end more=1"),
        (lambda r: r["moves"][9].__setitem__(2, "00000000"), "move 9: .* leads to the digest"),
        (lambda r: r["moves"][9].__setitem__(0, "player_5"), "move 9: player_5 moves where chance is to"),
    ],
)
def test_a_tampered_or_foreign_replay_is_refused(change, message):
    found = json.loads(play("holdup", ["uniform"] * 3, seed=1).to_json())
    change(found)
    with pytest.raises(ReplayError, match=message):
        Replay.from_json(json.dumps(found))
    for nonsense in ("", "[]", "{", "7"):
        with pytest.raises(ReplayError, match="got"):
            Replay.from_json(nonsense)


def test_what_a_policy_thought_of_each_action_is_kept():
    made = play("holdup", [small_policy(), "rule", "uniform"], seed=2, probabilities=True)
    assert made.agents[0] == "PolicyAgent"
    own = [move for move in made.moves if move.player == "player_0"]
    assert all(sum(move.probabilities.values()) == pytest.approx(1, abs=1e-3) for move in own)
    assert all(move.name in move.probabilities for move in own)
    assert Replay.from_json(made.to_json()).moves == made.moves
    assert all(move.probabilities is None for move in made.moves if move.player in ("chance", "player_1"))


def test_a_game_that_was_left_has_a_replay_too():
    whole = play("holdup", ["uniform"] * 3, seed=1)
    part = Replay("holdup", whole.version, whole.options, whole.moves[:10])
    again = Replay.from_json(part.to_json())
    assert again.returns() is None
    assert rules.current_player(again.verify()[0]) >= 0


def test_agents_that_do_not_fit_are_refused():
    class Wrong:
        def act(self, observations, action_masks, rng):
            return np.full(len(observations), holdup.PAY)

    with pytest.raises(ValueError, match="got 14 for player_0: possible are"):
        play("holdup", [Wrong(), "uniform", "uniform"])
    with pytest.raises(ValueError, match="got num_players=5 for 3 agents"):
        play("holdup", ["uniform"] * 3, num_players=5)


def test_the_command_line_records_and_verifies(tmp_path, capsys):
    file = str(tmp_path / "game.json")
    assert main(["record", "holdup", "rule", "rule", "uniform", "--seed", "5", "--out", file]) == 0
    assert main(["replay", file, "--moves"]) == 0
    out = capsys.readouterr().out
    assert "each as the rules play it: verified" in out
    assert "returns" in out
    changed = (tmp_path / "game.json").read_text().replace("KEEP", "REDRAW", 1)
    (tmp_path / "game.json").write_text(changed)
    assert main(["replay", file]) == 1
    assert f"heist: {file}: move " in capsys.readouterr().err
    (tmp_path / "game.json").write_bytes(b"PK\xff")
    assert main(["replay", file]) == 1
    assert f"heist: {file}: got a text that is not JSON" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none.json")]) == 1
    assert main(["record", "holdup", "genius", "rule", "rule", "--out", file]) == 1
    assert "got agent 'genius'" in capsys.readouterr().err
