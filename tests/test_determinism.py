"""A (seed, actions) pair gives the same bytes everywhere, and a restored copy goes on identically."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import heist_envs
from heist_envs.agents import UniformAgent
from heist_envs.games import GAMES
from tests import DECISIONS
from tests.trajectory import digest

every_game = pytest.mark.parametrize("name", GAMES)


def digest_elsewhere(name, decisions, **environment):
    command = [sys.executable, "-m", "tests.trajectory", name, str(decisions), "11"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@every_game
@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_compiled_interpreted_and_bounds_checked_runs_agree_step_by_step(name, mode):
    assert digest_elsewhere(name, DECISIONS, **{mode: "1"}) == digest(name, DECISIONS, 11)


@every_game
def test_another_process_hash_seed_and_noise_in_the_global_generators_change_nothing(name):
    here = digest(name, 5_000, 11)
    assert digest(name, 5_000, 11, noise=True) == here
    for hash_seed in ("0", "1"):
        assert digest_elsewhere(name, 5_000, PYTHONHASHSEED=hash_seed) == here


@every_game
def test_a_seed_plays_the_same_game_whatever_the_batch_size_and_place(name):
    def play(seeds, num_threads=1):
        vec = heist_envs.make_vec(name, num_envs=len(seeds), num_threads=num_threads)
        observation, _ = vec.reset(seed=seeds)
        seen = []
        for _ in range(300):
            actions = [
                np.flatnonzero(mask)[-1 - (k % 2) * (mask.sum() > 1)] for k, mask in enumerate(map_masks(observation))
            ]
            observation, rewards, *_ = vec.step(np.array(actions))
            seen.append((observation["observation"].copy(), rewards.copy()))
        return seen, vec.states.copy()

    def map_masks(observation):
        return observation["action_mask"]

    alone, states_alone = play([77])
    many, states_many = play([5, 6, 77, 8, 77])
    threaded, states_threaded = play([5, 6, 77, 8, 77], num_threads=3)
    assert states_many[2] == states_many[4] == states_alone[0]
    assert states_many.tobytes() == states_threaded.tobytes()
    for (one, reward), (batch, rewards), (by_threads, _) in zip(alone, many, threaded, strict=True):
        assert (one[0] == batch[2]).all()
        assert (one[0] == batch[4]).all()
        assert (reward[0] == rewards[2]).all()
        assert (batch == by_threads).all()


@every_game
def test_one_game_is_the_same_as_an_aec_environment_and_in_a_batch(name):
    env = heist_envs.make(name)
    env.reset(seed=9)
    vec = heist_envs.make_vec(name, num_envs=3)
    vec.reset(seed=7)  # games of seeds 7, 8 and 9
    while env.agents and not any(env.terminations.values()) and not any(env.truncations.values()):
        masks = vec.batch.masks
        assert env.batch.states.tobytes() == vec.states[2:].tobytes()
        actions = [int(np.flatnonzero(mask)[0]) for mask in masks]
        env.step(actions[2])
        _, rewards, *_ = vec.step(actions)
    assert [env.rewards[agent] for agent in env.possible_agents] == rewards[2].tolist()


def test_seeds_are_one_per_game_and_in_range():
    vec = heist_envs.make_vec("holdup", num_envs=2)
    for seed, error, message in [
        (-1, ValueError, "got seed -1: seeds run from 0"),
        (2**63, ValueError, "seeds run from 0 to"),
        ([1], ValueError, "got 1 seeds for 2 games"),
        ("a", TypeError, "got seed 'a'"),
        (1.5, TypeError, "got seed 1.5"),
        (True, TypeError, "got seed True"),
        (np.array(5), TypeError, r"got seed array\(5\)"),
        ([1, 2.5], TypeError, "each must be an int"),
    ]:
        with pytest.raises(error, match=message):
            vec.reset(seed=seed)
    vec.reset(seed=2**63 - 2)


def continued(env, steps=400):
    """What happens next, through the end of games and the resets after them."""
    rng = np.random.default_rng(3)
    seen = []
    for _ in range(steps):
        if not env.agents:
            env.reset()
        observation, reward, terminated, truncated, _ = env.last()
        seen.append((env.agent_selection, reward, terminated, truncated, observation["observation"].tobytes()))
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(observation["action_mask"]))))
    return seen


def pickled(env):
    return pickle.loads(pickle.dumps(env))


def saved(env):
    other = heist_envs.make(env.batch.game.NAME, num_players=env.batch.num_players)
    other.load_bytes(env.to_bytes())
    return other


@every_game
@pytest.mark.parametrize("restore", [copy.deepcopy, pickled, saved])
@pytest.mark.parametrize("moment", ["start", "middle", "over", "one gone"])
def test_a_restored_copy_continues_identically_through_the_next_reset(name, restore, moment):
    env = heist_envs.make(name)
    env.reset(seed=4)
    rng = np.random.default_rng(0)
    for _ in range({"start": 0, "middle": 25}.get(moment, 10**6)):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
    if moment == "one gone":
        env.step(None)
    twin = restore(env)
    assert twin is not env
    assert continued(twin) == continued(env)


@every_game
@pytest.mark.parametrize("restore", [copy.deepcopy, pickled])
def test_a_batch_survives_pickling_and_its_threads_do_not_matter(name, restore):
    vec = heist_envs.make_vec(name, num_envs=6, num_threads=2)
    observation, _ = vec.reset(seed=1)
    vec.step(observation["action_mask"].argmax(axis=1))
    twin = restore(vec)
    other = heist_envs.make_vec(name, num_envs=6)
    other.load_bytes(vec.to_bytes())
    for each in (vec, twin, other):
        rng = np.random.default_rng(5)
        for _ in range(300):
            each.step(UniformAgent().act(each.batch.observations, each.batch.masks, rng))
    assert vec.to_bytes() == twin.to_bytes() == other.to_bytes()


@every_game
def test_a_broken_or_foreign_save_is_refused_and_changes_nothing(name):
    env = heist_envs.make(name)
    env.reset(seed=2)
    good = env.to_bytes()
    header = good.index(b"\n") + 1
    states = env.batch.states.nbytes
    for data, message in [
        (b"", "missing"),
        (b"nonsense" + good, "this is"),
        (good[:-10] + good[-1:], "bytes after its header"),
        (good[:header] + b"\xff" * states + good[header + states :], "not a state of|save with"),
        (good[:-3] + b"\x07\x00" + good[-1:], "neither 0 nor 1"),
        (good[:-1] + b"\x09", "too large"),
    ]:
        with pytest.raises(ValueError, match=message):
            env.load_bytes(data)
        assert env.to_bytes() == good
    fewer = heist_envs.make(name, num_players=3)
    fewer.reset(seed=2)
    if env.batch.num_players != 3:
        with pytest.raises(ValueError, match="got a save of"):
            env.load_bytes(fewer.to_bytes())
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        heist_envs.make(name).to_bytes()


@every_game
@pytest.mark.parametrize("moment", [0, 17])
def test_a_save_with_any_byte_of_its_state_changed_is_refused_or_plays_on(name, moment):
    """Bytes from a stranger reach compiled code that checks no bounds: whatever `check` lets pass must be playable."""
    env = heist_envs.make(name)
    rng = np.random.default_rng(8)
    env.reset(seed=3)
    for _ in range(moment):
        env.step(rng.choice(np.flatnonzero(env.last()[0]["action_mask"])))
    good = env.to_bytes()
    header = good.index(b"\n") + 1
    passed = 0
    for offset in range(env.batch.states.nbytes):
        for value in (0, 1, 2, 5, 15, 127, 128, 255):
            data = bytearray(good)
            data[header + offset] = value
            try:
                env.load_bytes(bytes(data))
            except ValueError:
                continue
            passed += 1
            for _ in range(40):
                observation, _, terminated, truncated, _ = env.last()
                assert env.observation_space("player_0").contains(observation)
                if terminated or truncated:
                    break
                assert observation["action_mask"].any()
                env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
    assert passed > 0


def spliced(env, **fields):
    """A save of an environment with some fields of its state changed by hand."""
    state = env.batch.states[0].copy()
    for field, value in fields.items():
        state[field] = value
    good = env.to_bytes()
    header = good.index(b"\n") + 1
    return good[:header] + state.tobytes() + good[header + env.batch.states.nbytes :]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"redraw_rounds": 0}, "redraw round 0"),
        ({"redraw_rounds": 1, "redraw_round": 1}, "redraw round 1"),
        ({"actor": -1, "drawer": 0}, "hands"),
        ({"drawer": 1}, "one seat acts or draws"),
        ({"rounds": 60}, "60 rounds of 60"),
        ({"loan": -20}, "loan -20"),
        ({"bribe_cost": -5}, "bribe_cost -5"),
        ({"revealed": 5}, "revealed 5"),
        ({"phase": 8, "actor": -1}, "end-of-game flags"),
        ({"answer": 5}, "a seat without a diamond has joined"),
        ({"start_diamonds": 1}, "diamonds"),
        ({"num_players": 4}, "not a state"),
    ],
)
def test_a_crafted_state_is_refused(fields, message):
    env = heist_envs.make("holdup", num_players=3)
    env.reset(seed=1)
    good = env.to_bytes()
    with pytest.raises(ValueError, match=message):
        env.load_bytes(spliced(env, **fields))
    assert env.to_bytes() == good


def test_flags_that_are_not_those_of_the_game_are_refused():
    env = heist_envs.make("holdup")
    env.reset(seed=1)
    good = env.to_bytes()
    for tail, message in [(b"\1\0\0", "flags are not those"), (b"\1\1\0", "flags are not"), (b"\0\0\2", "agents have left")]:
        with pytest.raises(ValueError, match=message):
            env.load_bytes(good[:-3] + tail)
    for wrong in ("abc", 5, None):
        with pytest.raises(TypeError, match="must be bytes"):
            env.load_bytes(wrong)
    assert env.to_bytes() == good
