"""The batch face."""

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import heist_envs
from heist_envs.agents import UniformAgent
from heist_envs.games import GAMES

every_game = pytest.mark.parametrize("name", GAMES)


def actions_of(vec, rng):
    return UniformAgent().act(vec.batch.observations, vec.batch.masks, rng)


@every_game
def test_shapes_and_types_are_as_promised(name):
    vec = heist_envs.make_vec(name, num_envs=5, num_players=3)
    space = vec.single_observation_space
    size, actions = space["observation"].shape[0], vec.single_action_space.n
    observation, infos = vec.reset(seed=0)
    assert infos == {}
    assert vec.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert vec.states.shape == (5,)
    assert vec.states["num_players"].tolist() == [3] * 5
    assert vec.agent_selection.shape == (5,)
    observation, rewards, terminations, truncations, infos = vec.step(actions_of(vec, np.random.default_rng(0)))
    assert (observation["observation"].shape, observation["observation"].dtype) == ((5, size), np.int8)
    assert (observation["action_mask"].shape, observation["action_mask"].dtype) == ((5, actions), np.int8)
    assert (rewards.shape, rewards.dtype) == ((5, 3), np.float32)
    assert (terminations.shape, terminations.dtype) == ((5,), np.bool_)
    assert (truncations.shape, truncations.dtype) == ((5,), np.bool_)
    for row in range(5):
        assert space.contains({key: value[row] for key, value in observation.items()})


@every_game
def test_a_finished_game_starts_again_in_the_same_step_and_leaves_its_last_views(name):
    vec = heist_envs.make_vec(name, num_envs=20, num_players=4)
    vec.reset(seed=0)
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(1_000):
        _, rewards, terminations, truncations, infos = vec.step(actions_of(vec, rng))
        ended = terminations | truncations
        assert not rewards[~ended].any()
        if not ended.any():
            assert infos == {}
            continue
        ends += ended.sum()
        assert (infos["_final_obs"] == ended).all()
        assert infos["final_obs"].shape == (ended.sum(), 4, vec.single_observation_space["observation"].shape[0])
        assert rewards[ended].sum() == pytest.approx(0, abs=1e-5)
        over = heist_envs.observation_layout(name)["phase"].slice
        last = infos["final_obs"][:, :, over]
        assert (last == last[0, 0]).all()  # the same phase for all: the end
        assert not (vec.batch.observations[:, over] == last[0, 0]).all(axis=1).any()
        assert vec.batch.masks.any(axis=1).all()
    assert ends > 20


@every_game
def test_copies_stay_and_buffers_are_overwritten(name):
    for copy in (True, False):
        vec = heist_envs.make_vec(name, num_envs=3, copy=copy)
        first, _ = vec.reset(seed=0)
        kept = first["observation"].copy()
        vec.step(actions_of(vec, np.random.default_rng(0)))
        assert (first["observation"] == kept).all() == copy
        assert np.shares_memory(first["observation"], vec.batch.observations) != copy


def test_the_observation_buffer_is_contiguous():
    vec = heist_envs.make_vec("holdup", num_envs=3, copy=False)
    observation, _ = vec.reset(seed=0)
    assert observation["observation"].flags["C_CONTIGUOUS"]
    assert np.shares_memory(observation["observation"], vec.batch.observations)


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([0, 0], ValueError, r"shape \(2,\): one integer per game is needed, shape \(3,\)"),
        ([[0], [0], [0]], ValueError, r"shape \(3, 1\)"),
        (0, ValueError, r"shape \(\)"),
        ([0.0, 0.0, 0.0], TypeError, "dtype float64: they must be integers"),
        ([True, True, True], TypeError, "dtype bool"),
        ([None, 0, 0], TypeError, "dtype object"),
        (np.zeros(3, "m8[s]"), TypeError, "dtype timedelta64"),
        ([0, 5, 0], ValueError, "got action 5 in game 1 for player_0: legal are 0 KEEP, 1 REDRAW"),
        ([0, 0, -1], ValueError, "got action -1 in game 2"),
        ([15, 0, 0], ValueError, "got action 15 in game 0"),
        (np.array([0, 2**64 - 1, 0], np.uint64), ValueError, "got action 18446744073709551615 in game 1"),
    ],
)
def test_bad_actions_are_refused_with_the_game_and_nothing_changes(actions, error, message):
    vec = heist_envs.make_vec("holdup", num_envs=3)
    vec.reset(seed=0)
    before = vec.to_bytes()
    with pytest.raises(error, match=message):
        vec.step(actions)
    assert vec.to_bytes() == before


def test_a_step_before_the_first_reset_is_an_error():
    vec = heist_envs.make_vec("holdup")
    for call in (lambda: vec.step([0]), vec.to_bytes):
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            call()


@pytest.mark.parametrize("wrong", [{"num_envs": 0}, {"num_envs": 2.0}, {"num_threads": 0}, {"num_envs": True}])
def test_numbers_of_games_and_threads_are_checked(wrong):
    with pytest.raises(ValueError, match="it must be a whole number, at least 1"):
        heist_envs.make_vec("holdup", **wrong)


def test_without_a_seed_the_games_go_on_in_their_streams_and_differ_between_fresh_batches():
    first, second = (heist_envs.make_vec("holdup", num_envs=50) for _ in range(2))
    assert first.reset()[0]["observation"].tobytes() != second.reset()[0]["observation"].tobytes()
    once = first.reset(seed=1)[0]["observation"].tobytes()
    assert first.reset()[0]["observation"].tobytes() != once
    assert first.reset(seed=1)[0]["observation"].tobytes() == once
