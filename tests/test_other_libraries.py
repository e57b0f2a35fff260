"""Other libraries' own wrappers around our environments; each is skipped where it is not installed (docs/doors.md)."""

import numpy as np
import pytest

import heist_envs
from heist_envs.games import GAMES

every_game = pytest.mark.parametrize("name", GAMES)
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


@every_game
def test_supersuit_makes_a_vector_environment_of_the_parallel_one(name):
    supersuit = pytest.importorskip("supersuit")
    env = supersuit.pettingzoo_env_to_vec_env_v1(heist_envs.parallel_env(name))
    observation, _ = env.reset(seed=0)
    players = len(observation["action_mask"])
    total = np.zeros(players)
    for _ in range(2_000):
        actions = observation["action_mask"].argmax(axis=1)
        observation, rewards, terminations, truncations, _ = env.step(actions)
        total += rewards
        if terminations.any() or truncations.any():
            break
    assert total.sum() == pytest.approx(0, abs=1e-5)
    assert terminations.all() or truncations.all()


@every_game
@pytest.mark.parametrize("parallel", [False, True])
def test_torchrls_wrapper_passes_its_own_check(name, parallel):
    pettingzoo = pytest.importorskip("torchrl.envs.libs.pettingzoo")
    from torchrl.envs.utils import check_env_specs

    made = heist_envs.parallel_env(name) if parallel else heist_envs.make(name)
    env = pettingzoo.PettingZooWrapper(made, use_mask=not parallel, categorical_actions=True)
    check_env_specs(env)
    assert env.rollout(20, break_when_any_done=False).shape[0] == 20


@every_game
def test_tianshous_wrapper_plays_a_game(name):
    tianshou = pytest.importorskip("tianshou.env")
    env = tianshou.PettingZooEnv(heist_envs.make(name))
    observation, _ = env.reset(seed=0)
    over, rewards = False, None
    while not over:
        action = int(np.argmax(observation["mask"]))
        observation, rewards, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
    assert sum(rewards) == pytest.approx(0, abs=1e-5)


@every_game
@pytest.mark.parametrize("parallel", [False, True])
def test_rllibs_wrappers_play_a_game_and_pay_everybody_his_return(name, parallel):
    rllib = pytest.importorskip("ray.rllib.env.wrappers.pettingzoo_env")
    made = heist_envs.parallel_env(name) if parallel else heist_envs.make(name)
    env = (rllib.ParallelPettingZooEnv if parallel else rllib.PettingZooEnv)(made)
    observations, _ = env.reset(seed=0)
    total = {}
    while True:
        actions = {agent: int(np.argmax(seen["action_mask"])) for agent, seen in observations.items()}
        observations, rewards, terminations, truncations, _ = env.step(actions)
        for agent, reward in rewards.items():
            total[agent] = total.get(agent, 0) + reward
        if terminations["__all__"] or truncations["__all__"]:
            break
    assert sum(total.values()) == pytest.approx(0, abs=1e-5)
    assert max(total.values()) > 0 or len(set(total.values())) == 1
