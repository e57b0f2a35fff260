"""Agents: legal actions from the observation alone."""

import inspect

import numpy as np
import pytest

import heist_envs
from heist_envs.agents import Agent, UniformAgent, decide_together, make_agent, probabilities
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.benchmarks.tournament import every_table, one_against_many
from heist_envs.engine import HOLD
from heist_envs.games import GAMES, holdup, load
from tests.test_contract import players_of
from tests.test_policy import small_policy
from tests.test_statistics import Always


def styles_of(game):
    return [f"rule:{style}" for style in RuleBasedAgent(game).rules.STYLES]


def held_out(game):
    return [f"rule:{style}" for style in RuleBasedAgent(game).rules.HELD_OUT]


AGENTS = [(game, name) for game in GAMES for name in ("uniform", "rule", *styles_of(game), *held_out(game))]
every_agent = pytest.mark.parametrize(("game", "name"), AGENTS)
MATCHES = [
    (game, " ".join(map(str, options.values())), options, other)
    for game in GAMES
    for options in every_table(game)
    for other in ("uniform", *styles_of(game)[1:])  # the first style is the main one
]


@pytest.mark.parametrize(("game", "name"), [*AGENTS, ("holdup", "policy")])
def test_an_agent_plays_whole_games_with_legal_actions(game, name):
    agent = small_policy() if name == "policy" else make_agent(name, game)
    for players in players_of(game):
        vec = heist_envs.make_vec(game, num_envs=64, num_players=players, first_player="random")
        observation, _ = vec.reset(seed=0)
        rng = np.random.default_rng(0)
        ended = 0
        for _ in range(5_000):
            actions = agent.act(observation["observation"], observation["action_mask"], rng)
            assert (actions.shape, actions.dtype) == ((64,), np.int64)
            observation, _, terminations, truncations, _ = vec.step(actions)  # raises where an action is not legal
            ended += (terminations | truncations).sum()
            if ended > 5:
                break
        assert ended > 5


@every_agent
def test_an_agent_is_given_observations_masks_and_a_generator_and_nothing_else(game, name):
    agent = make_agent(name, game)
    assert list(inspect.signature(agent.act).parameters) == ["observations", "action_masks", "rng"]
    assert list(inspect.signature(Agent.act).parameters)[1:] == ["observations", "action_masks", "rng"]


@every_agent
def test_the_same_generator_gives_the_same_actions(game, name):
    vec = heist_envs.make_vec(game, num_envs=200)
    observation, _ = vec.reset(seed=3)
    agent = make_agent(name, game)
    seen = [agent.act(observation["observation"], observation["action_mask"], np.random.default_rng(1)) for _ in "ab"]
    assert (seen[0] == seen[1]).all()


def test_the_uniform_agent_plays_every_legal_action_alike():
    masks = np.tile(np.array([[0, 1, 0, 1, 1]], np.int8), (30_000, 1))
    counts = np.bincount(UniformAgent().act(masks, masks, np.random.default_rng(0)), minlength=5)
    assert counts[[0, 2]].sum() == 0
    # Three equal chances of 10,000 each: chi-square with 2 degrees of freedom is below 13.8 in 999 of 1000 cases.
    assert ((counts[[1, 3, 4]] - 10_000) ** 2 / 10_000).sum() < 13.8


@pytest.mark.parametrize(("game", "table", "options", "other"), MATCHES)
def test_the_main_rule_based_agent_beats_every_other_style(game, table, options, other):
    for deals in (200, 1500):
        score = one_against_many(game, make_agent("rule", game), make_agent(other, game), num_deals=deals, **options)
        if score.mean > 2 * score.half_width:  # clear enough
            break
    assert score.mean - score.half_width > 0


def test_the_rule_based_agent_takes_the_pot_from_the_empty_pile():
    env = heist_envs.make("holdup", num_players=3, pp_values=(1, 2, 3))
    env.reset(seed=0)
    observation = env.last()[0]
    agent = make_agent("rule", "holdup")
    act = agent.act(observation["observation"][None], observation["action_mask"][None], np.random.default_rng(0))
    assert act.tolist() == [holdup.REDRAW]


def test_unknown_agents_and_styles_are_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="got agent 'genius': it is 'uniform', 'rule'"):
        make_agent("genius", "holdup")
    for style in ("wild", "band:x"):
        with pytest.raises(ValueError, match=f"got style '{style}': the styles of holdup are 'band', 'cautious'"):
            make_agent(f"rule:{style}", "holdup")
    with pytest.raises(ValueError, match="got game 'poker'"):
        make_agent("uniform", "poker")


@pytest.mark.parametrize("game", GAMES)
def test_observations_of_another_kind_are_refused(game):
    agent, masks = make_agent("rule", game), np.ones((2, load(game).NUM_ACTIONS), np.int8)
    for wrong in (np.zeros((2, load(game).OBSERVATION.size)), np.zeros((2, 7), np.int8)):
        with pytest.raises(ValueError, match="they must be int8"):
            agent.act(wrong, masks, np.random.default_rng(0))


def test_agents_that_decide_together_are_asked_once_each_and_nobody_where_nobody_is_asked():
    calls = []

    class Recorded(UniformAgent):
        def act(self, observations, action_masks, rng):
            calls.append((self, len(observations)))
            return super().act(observations, action_masks, rng)

    one, two = Recorded(), Recorded()
    vec = heist_envs.make_vec("holdup", num_envs=5)
    vec.reset(seed=0)
    actions = decide_together([one, two, one], np.array([2, 1, -1, 0, 2]), vec.batch, np.random.default_rng(0))
    assert calls == [(one, 3), (two, 1)]
    assert actions[2] == HOLD
    assert vec.batch.masks[[0, 1, 3, 4], actions[[0, 1, 3, 4]]].all()


def test_how_likely_an_agent_does_what_is_exact_where_it_says_so_or_leaves_nothing_to_chance():
    class Secret:
        def act(self, observations, action_masks, rng):
            return UniformAgent().act(observations, action_masks, rng)

    batch = heist_envs.make_vec("magpies", num_envs=4).batch
    batch.reset(0)
    rows, rng = np.arange(4), np.random.default_rng(0)
    even = batch.masks / 2  # DRAW or STOP
    assert (probabilities(UniformAgent(), batch, rows, 1, rng) == even).all()
    assert probabilities(Secret(), batch, rows, 4000, rng) == pytest.approx(even, abs=0.05)
    always = probabilities(Always(1), batch, rows[:2], 10**9, rng)
    assert (always == np.eye(batch.masks.shape[1])[[1, 1]]).all()
