"""The parallel PettingZoo face: the acting agent's choice is taken, the others' is NO_OP."""

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import parallel_api_test

import heist_envs
from heist_envs.games import GAMES, load
from tests.test_aec import TABLES, quiet

every_game = pytest.mark.parametrize("name", GAMES)


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_parallel_api_test(name, options, capsys):
    quiet(parallel_api_test, heist_envs.parallel_env(name, **options), num_cycles=300)


@every_game
def test_it_is_the_game_of_the_aec_environment_step_by_step(name):
    rng = np.random.default_rng(0)
    for seed in range(10):
        aec, env = heist_envs.make(name), heist_envs.parallel_env(name)
        aec.reset(seed=seed)
        observations, _ = env.reset(seed=seed)
        while env.agents:
            assert env.batch.to_bytes() == aec.batch.to_bytes()
            actor = aec.agent_selection
            for agent in env.agents:
                assert (observations[agent]["observation"] == aec.observe(agent)["observation"]).all()
                mask = observations[agent]["action_mask"]
                assert mask[env.NO_OP] == (agent != actor)
                assert (mask[:-1] == aec.observe(agent)["action_mask"]).all()
            actions = {agent: int(rng.choice(np.flatnonzero(seen["action_mask"]))) for agent, seen in observations.items()}
            aec.step(actions[actor])
            observations, rewards, terminations, truncations, _ = env.step(actions)
            assert rewards == {agent: aec.rewards[agent] for agent in rewards}
        assert (terminations, truncations) == (aec.terminations, aec.truncations)
        for agent, seen in observations.items():
            assert (seen["observation"] == aec.observe(agent)["observation"]).all()
            assert seen["action_mask"].tolist() == [0] * env.NO_OP + [1]


@every_game
def test_pettingzoo_makes_it_by_its_id(name):
    env = pettingzoo.make("parallel", f"heist/{name}-v{load(name).VERSION}", num_players=3)
    assert env.possible_agents == ["player_0", "player_1", "player_2"]


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ({}, ValueError, "got no action for player_0, who is to act: legal are 0 KEEP"),
        ({"player_0": 2}, ValueError, "got action 2 for player_0"),
        ({"player_0": 15}, ValueError, "got action 15 for player_0"),
        ({"player_0": 0, "player_1": 0}, ValueError, "got action 0 for player_1: player_0 is to act, legal is 15 NO_OP"),
        ({"player_0": 0, "player_9": 15}, ValueError, "got an action for 'player_9'"),
        ({"player_0": True}, TypeError, "got action True"),
        ({"player_0": 0.0}, TypeError, "they must be integers"),
    ],
)
def test_bad_actions_are_refused_and_nothing_changes(actions, error, message):
    env = heist_envs.parallel_env("holdup")
    env.reset(seed=0)
    before = env.batch.to_bytes()
    with pytest.raises(error, match=message):
        env.step(actions)
    assert env.batch.to_bytes() == before


def test_the_others_may_be_left_out_and_a_finished_game_takes_no_step(capsys):
    env = heist_envs.parallel_env("holdup", render_mode="human", max_rounds=1)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step({"player_0": 0})
    env.reset(seed=0)
    while env.agents:
        actor = f"player_{env.batch.players[0]}"
        env.step({actor: int(env.batch.masks[0].argmax())})
    assert "player_0" in capsys.readouterr().out
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.step({"player_0": 0})
    with pytest.raises(ValueError, match="got render_mode='gif'"):
        heist_envs.parallel_env("holdup", render_mode="gif")
