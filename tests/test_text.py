"""Words for language models, and their answers."""

import numpy as np
import pytest

import heist_envs
from heist_envs import text
from heist_envs.games import GAMES

every_game = pytest.mark.parametrize("name", GAMES)


@every_game
def test_every_legal_action_is_offered_and_understood_by_number_and_by_name(name):
    rng = np.random.default_rng(0)
    env = heist_envs.make(name)
    for seed in range(3):
        env.reset(seed=seed)
        while not (any(env.terminations.values()) or any(env.truncations.values())):
            words = text.prompt(env)
            assert f"You are {env.agent_selection}." in words
            for action, called in text.legal(env).items():
                assert f"{action}: {called}" in words.splitlines()
                for answer in (f"{action}", f" {action}. ", called, called.lower(), f"I choose {called.lower()}!"):
                    assert text.parse(env, answer) == action
            env.step(int(rng.choice(list(text.legal(env)))))
        with pytest.raises(ValueError, match="nobody is to act"):
            text.prompt(env)
    assert text.rules(env)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("", "means no legal action: legal are 0 KEEP, 1 REDRAW"),
        ("7", "means no legal action"),
        ("-1", "means no legal action"),
        ("99999999", "means no legal action"),
        ("keep or redraw", "means KEEP and REDRAW"),
        ("I keepsake", "means no legal action"),
        ("JOIN", "means no legal action"),
    ],
)
def test_an_answer_that_means_nothing_is_refused_with_what_is_allowed(answer, message):
    env = heist_envs.make("holdup")
    env.reset(seed=0)
    before = env.to_bytes()
    with pytest.raises(ValueError, match=message):
        text.parse(env, answer)
    assert env.to_bytes() == before
    with pytest.raises(TypeError, match="it must be a text"):
        text.parse(env, 3)


def test_a_longer_name_is_not_taken_for_the_shorter_one_inside_it():
    env = heist_envs.make("holdup", num_players=3, redraw_rounds=0, loans=False)
    env.reset(seed=0)
    env.step(5)
    env.step(6)
    env.step(6)
    assert text.legal(env)[text.parse(env, "no revolver")] == "NO REVOLVER"
    assert text.legal(env)[text.parse(env, "Revolver +2, please")] == "REVOLVER +2"
