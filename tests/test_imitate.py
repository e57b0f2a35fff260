"""A stand-in plays as the agent does that it has watched."""

import json

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from heist_envs.agents import RuleBasedAgent, UniformAgent, make_agent
from heist_envs.training import imitate


def test_a_policy_plays_as_the_agent_that_it_has_watched(tmp_path, capsys):
    file = tmp_path / "cautious.safetensors"
    words = "--game holdup --agent rule:cautious --others uniform rule --decisions 8000 --epochs 10"
    imitate.main([*words.split(), "--out", str(file)])
    card = json.loads(file.with_suffix(".json").read_text())
    assert card["imitates"] == "rule:cautious"
    assert card["others"] == ["uniform", "rule"]
    assert card["loss"] < 0.1 < 0.5 < card["uniform"]
    assert "that of rule:cautious in" in capsys.readouterr().out
    again = tmp_path / "again.safetensors"
    imitate.main([*words.split(), "--out", str(again)])
    assert again.read_bytes() == file.read_bytes()
    # Other games than those that it was made of.
    seen, _ = imitate.watch("holdup", make_agent("rule:cautious", "holdup"), [UniformAgent()], 2000, seed=7)
    policy = make_agent(str(file), "holdup")
    assert (policy.probabilities(seen.observations, seen.masks).argmax(axis=1) == seen.actions).mean() > 0.95


def test_what_is_watched_is_the_agents_own_and_legal_and_whole_games_are_held_out():
    asked = []

    class Watched(RuleBasedAgent):
        def act(self, observations, action_masks, rng):
            asked.append(observations.copy())
            return super().act(observations, action_masks, rng)

    seen, held_out = imitate.watch("holdup", Watched("holdup"), [UniformAgent()], 3000, seed=1)
    assert (seen.observations == np.concatenate(asked)).all()
    assert (seen.masks[np.arange(len(seen.actions)), seen.actions] == 1).all()
    assert 0.03 < held_out.mean() < 0.3
    alone, _ = imitate.watch("holdup", RuleBasedAgent("holdup"), [], 100, seed=1)
    assert len(alone.actions) >= 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--agent genius --out x.safetensors", "got agent 'genius'"),
        ("--agent rule --out x.pt", "a .safetensors file in a folder that is there"),
        ("--agent rule --out none/x.safetensors", "a .safetensors file in a folder that is there"),
        ("--agent rule --out x.safetensors --decisions 3", "got 3, at least 10"),
        ("--agent rule --out x.safetensors --players 9", "num_players"),
    ],
)
def test_what_cannot_be_imitated_is_refused(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        imitate.main(["--game", "holdup", *words.split()])
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
