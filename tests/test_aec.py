"""The PettingZoo face."""

import types
import warnings

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, max_cycles_test, render_test, seed_test
from pettingzoo.utils import OrderEnforcingWrapper
from pettingzoo.utils.conversions import aec_to_parallel
from pettingzoo.utils.wrappers import BaseWrapper

import heist_envs
from heist_envs.benchmarks.tournament import every_table
from heist_envs.games import GAMES, load
from tests.test_contract import players_of

TABLES = [(name, options) for name in GAMES for options in every_table(name)]
at_every_table = pytest.mark.parametrize(("name", "options"), TABLES)
every_game = pytest.mark.parametrize("name", GAMES)

# Given by PettingZoo to every environment whose observation is a dictionary, unless its own list names it.
OF_DICTIONARIES = ("Observation is not a NumPy array", "Observation space for each agent probably should be")


def quiet(test, *args, **kwargs):
    """Run one of PettingZoo's tests; none of its warnings but those of every dictionary may be raised."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        test(*args, **kwargs)
    assert [str(w.message) for w in caught if not str(w.message).startswith(OF_DICTIONARIES)] == []


@at_every_table
@pytest.mark.parametrize("wrap", [lambda env: env, OrderEnforcingWrapper])
def test_api_test(name, options, wrap, capsys):
    quiet(api_test, wrap(heist_envs.make(name, **options)), num_cycles=300)


@at_every_table
def test_seed_test(name, options):
    quiet(seed_test, lambda: heist_envs.make(name, **options))


@at_every_table
def test_render_test(name, options, capsys):
    quiet(render_test, lambda render_mode: heist_envs.make(name, **options, render_mode=render_mode))


class Folding(BaseWrapper):
    """`max_cycles_test` samples from the whole action space, so here every number means FOLD."""

    def step(self, action):
        self.env.step(None if action is None else load("holdup").FOLD)


@pytest.mark.parametrize("players", players_of("holdup"))
def test_max_cycles_test(players):
    """A table at which each round asks each seat once, in order: the cap of rounds is PettingZoo's number of cycles."""

    def env(max_cycles):
        made = heist_envs.make("holdup", num_players=players, redraw_rounds=0, loans=False, max_rounds=max_cycles)
        made.metadata["is_parallelizable"] = True  # it is, as long as everybody folds and the Glove stays
        return Folding(made)

    module = types.SimpleNamespace(env=env, parallel_env=lambda max_cycles: aec_to_parallel(env(max_cycles)))
    quiet(max_cycles_test, module)


@every_game
def test_pettingzoo_makes_it_by_its_id(name):
    version = load(name).VERSION
    env = pettingzoo.make("aec", f"heist/{name}-v{version}", num_players=4)
    assert env.possible_agents == ["player_0", "player_1", "player_2", "player_3"]
    assert env.metadata["name"] == f"{name}_v{version}"


def finished(env, rng):
    """Play to the end of the game; every agent's sum of the rewards that `last` gave it before it left."""
    sums = dict.fromkeys(env.possible_agents, 0.0)
    while True:
        observation, reward, terminated, truncated, _ = env.last()
        sums[env.agent_selection] += reward
        if terminated or truncated:
            return sums
        env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))


@at_every_table
def test_every_agent_leaves_once_in_seat_order_and_has_been_given_its_return(name, options):
    rng = np.random.default_rng(0)
    env = heist_envs.make(name, **options)
    for seed in range(20):
        env.reset(seed=seed)
        sums = finished(env, rng)
        returns = dict(env.rewards)
        assert all(env.terminations.values()) or all(env.truncations.values())
        left = []
        while env.agents:
            agent = env.agent_selection
            if left:
                sums[agent] += env.last()[1]
            with pytest.raises(ValueError, match=f"got action 3 for {agent}, whose game is over"):
                env.step(3)
            env.step(None)
            left.append(agent)
        assert left == env.possible_agents
        assert sums == pytest.approx(returns)
        with pytest.raises(ValueError, match="finished game: call reset"):
            env.step(0)


@every_game
def test_an_agent_sees_its_last_view_when_the_game_is_over(name):
    env = heist_envs.make(name)
    env.reset(seed=1)
    finished(env, np.random.default_rng(1))
    views = env.batch.observe_seats()[0]
    for agent, view in zip(env.possible_agents, views, strict=True):
        assert (env.observe(agent)["observation"] == view).all()
        assert env.observe(agent)["action_mask"].all()


def test_one_agent_may_act_several_times_running():
    env = heist_envs.make("holdup", redraw_rounds=0)
    env.reset(seed=0)
    env.step(3)  # LOAN
    assert env.agent_selection == "player_0"
    env.step(2)  # BRIBE, after which only DONE is left
    assert env.agent_selection == "player_1"


@every_game
def test_who_is_not_to_act_may_look_but_has_no_action(name):
    env = heist_envs.make(name)
    env.reset(seed=0)
    for agent in env.possible_agents:
        observation = env.observe(agent)
        assert observation["action_mask"].any() == (agent == env.agent_selection)
        assert env.observation_space(agent).contains(observation)
        assert env.infos[agent] == {}


@every_game
def test_observations_are_arrays_of_their_own(name):
    env = heist_envs.make(name)
    env.reset(seed=0)
    first = env.last()[0]
    kept = first["observation"].copy()
    env.step(int(first["action_mask"].argmax()))
    assert (first["observation"] == kept).all()


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (2, ValueError, "got action 2 for player_0: legal are 0 KEEP, 1 REDRAW"),
        (-1, ValueError, "got action -1 for player_0"),
        (15, ValueError, "got action 15 for player_0"),
        (10**30, ValueError, "got action 1000"),
        (1.0, TypeError, "got action 1.0 for player_0: it must be one integer"),
        (np.array([0]), TypeError, "it must be one integer"),
        ([0], TypeError, "it must be one integer"),
        ("KEEP", TypeError, "got action 'KEEP'"),
        (True, TypeError, "got action True"),
        (None, TypeError, "got action None for player_0"),
    ],
)
def test_a_bad_action_is_refused_with_the_legal_ones_and_nothing_changes(action, error, message):
    env = heist_envs.make("holdup")
    env.reset(seed=0)
    before, rewards = env.to_bytes(), dict(env._cumulative_rewards)
    with pytest.raises(error, match=message):
        env.step(action)
    assert env.to_bytes() == before
    assert (env.agent_selection, env._cumulative_rewards) == ("player_0", rewards)


def test_numpy_integers_are_actions():
    env = heist_envs.make("holdup")
    env.reset(seed=0)
    for action in (np.int8(0), np.int64(0), np.array(0), np.uint64(0)):
        env.step(action)


def test_before_the_first_reset_there_is_nothing_to_step_or_see():
    env = heist_envs.make("holdup")
    for call in (lambda: env.step(0), lambda: env.observe("player_0"), env.to_bytes, env.describe, env.last):
        with pytest.raises(ValueError, match=r"call reset\(\)"):
            call()
    assert env.agents == []


def test_unknown_agents_and_render_modes_are_refused_with_the_known_ones():
    env = heist_envs.make("holdup")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="got agent 'player_9': the agents are player_0, player_1"):
        env.observe("player_9")
    for unknown in ("player_9", ["player_0"]):
        with pytest.raises(ValueError, match="got agent"):
            env.describe(unknown)
    with pytest.raises(ValueError, match="got render_mode='gif': allowed is None, 'ansi', 'rgb_array', 'human'"):
        heist_envs.make("holdup", render_mode="gif")


def test_options_survive_a_reset_with_and_without_a_seed():
    env = heist_envs.make("holdup", num_players=3, start_diamonds=6, reward="score")
    for seed in (1, None, 2, None):
        env.reset(seed=seed)
        assert (env.batch.states["start_diamonds"], env.batch.states["score_reward"]) == (6, 1)
        assert env.batch.states["diamonds"][0, :3].tolist() == [5, 5, 5]


def test_ansi_shows_what_everybody_sees_and_human_prints_it(capsys):
    env = heist_envs.make("holdup", render_mode="ansi")
    env.reset(seed=0)
    text = env.render()
    assert "player_3: 9 diamonds, 3 Thieves" in text
    assert "holds" not in text
    assert "holds" in env.describe("player_1")
    shown = heist_envs.make("holdup", render_mode="human")
    shown.reset(seed=0)
    assert shown.render() is None
    assert capsys.readouterr().out == text + "\n\n"
    silent = heist_envs.make("holdup")
    silent.reset(seed=0)
    with pytest.warns(
        UserWarning, match="nothing is rendered: make the environment with a render_mode, one of ansi, rgb_array"
    ):
        assert silent.render() is None
