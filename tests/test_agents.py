"""Agents: legal actions from the observation alone."""

import inspect

import numpy as np
import pytest

import heist_envs
from heist_envs.agents import Agent, UniformAgent, make_agent
from heist_envs.agents.policy import PolicyAgent
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.benchmarks.tournament import one_against_many
from heist_envs.games import GAMES, holdup, load
from tests.test_contract import players_of


def styles_of(game):
    return [f"rule:{style}" for style in RuleBasedAgent(game).rules.STYLES]


AGENTS = [(game, name) for game in GAMES for name in ("uniform", "rule", *styles_of(game))]
every_agent = pytest.mark.parametrize(("game", "name"), AGENTS)
MATCHES = [
    (game, n, other)
    for game in GAMES
    for n in players_of(game)
    for other in ("uniform", *styles_of(game)[1:])  # the first style is the main one
]


def small_policy(seed=0, inputs=holdup.OBSERVATION.size, outputs=holdup.NUM_ACTIONS, hidden=16, card=None):
    rng = np.random.default_rng(seed)
    shapes = [(hidden, inputs), (outputs, hidden)]
    weights = {}
    for k, shape in enumerate(shapes):
        weights[f"layer{k}.weight"] = rng.normal(size=shape).astype(np.float32)
        weights[f"layer{k}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    return PolicyAgent(weights, np.ones(inputs, np.float32), card or {"game": "holdup", "version": holdup.VERSION})


@pytest.mark.parametrize(("game", "name"), [*AGENTS, ("holdup", "policy")])
def test_an_agent_plays_whole_games_with_legal_actions(game, name):
    agent = small_policy() if name == "policy" else make_agent(name, game)
    for players in players_of(game):
        vec = heist_envs.make_vec(game, num_envs=64, num_players=players, first_player="random")
        observation, _ = vec.reset(seed=0)
        rng = np.random.default_rng(0)
        ended = 0
        for step in range(5_000):
            if step >= 500 and ended > 0:
                break
            actions = agent.act(observation["observation"], observation["action_mask"], rng)
            assert (actions.shape, actions.dtype) == ((64,), np.int64)
            observation, _, terminations, truncations, _ = vec.step(actions)  # raises where an action is not legal
            ended += (terminations | truncations).sum()
        assert ended > 0


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


@pytest.mark.parametrize(("game", "players", "other"), MATCHES)
def test_the_main_rule_based_agent_beats_every_other_style(game, players, other):
    score = one_against_many(game, make_agent("rule", game), make_agent(other, game), players, 1500)
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


def test_a_policy_plays_with_the_probabilities_of_its_network():
    policy = small_policy()
    vec = heist_envs.make_vec("holdup", num_envs=1)
    observation, _ = vec.reset(seed=0)
    shares = policy.probabilities(observation["observation"], observation["action_mask"])
    assert shares.sum() == pytest.approx(1)
    assert (shares[0] > 0).tolist() == (observation["action_mask"][0] > 0).tolist()
    many = {key: np.repeat(value, 20_000, axis=0) for key, value in observation.items()}
    actions = policy.act(many["observation"], many["action_mask"], np.random.default_rng(0))
    assert np.bincount(actions, minlength=15) / 20_000 == pytest.approx(shares[0], abs=0.015)


def test_a_saved_policy_loads_and_plays_the_same(tmp_path):
    pytest.importorskip("safetensors")
    policy = small_policy()
    policy.save(tmp_path / "mine.safetensors")
    again = make_agent(str(tmp_path / "mine.safetensors"), "holdup")
    vec = heist_envs.make_vec("holdup", num_envs=50)
    observation, _ = vec.reset(seed=0)
    views = observation["observation"], observation["action_mask"]
    assert (policy.probabilities(*views) == again.probabilities(*views)).all()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"card": {"game": "chess", "version": 0}}, "game 'chess'.*'holdup' is needed"),
        ({"card": {"game": "holdup", "version": 99}}, "version 99.*is needed"),
        ({"card": {"game": "holdup", "version": False}}, "version False.*is needed"),
        ({"card": [1]}, "game None.*is needed"),
        ({"inputs": 7}, "scale of shape"),
        ({"outputs": 4}, "got 4 outputs .* 15 actions are needed"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(policy, message, tmp_path):
    pytest.importorskip("safetensors")
    path = tmp_path / "wrong.safetensors"
    small_policy(**policy).save(path)
    with pytest.raises(ValueError, match=message):
        make_agent(str(path), "holdup")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_policy_with_numbers_that_are_none_is_refused(value, tmp_path):
    pytest.importorskip("safetensors")
    policy = small_policy()
    policy.weights["layer0.bias"][3] = value
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match="not finite float32"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")
    policy = small_policy()
    policy.scale[0] = 0
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match="scale that is not above 0"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")


def test_a_file_that_is_no_policy_is_refused(tmp_path):
    pytest.importorskip("safetensors")
    small_policy().save(tmp_path / "wrong.safetensors")
    (tmp_path / "wrong.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is not a policy"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")
    (tmp_path / "wrong.json").write_text("{")
    with pytest.raises(ValueError, match="is not a policy"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")


@pytest.mark.parametrize("game", GAMES)
def test_observations_of_another_kind_are_refused(game):
    agent, masks = make_agent("rule", game), np.ones((2, load(game).NUM_ACTIONS), np.int8)
    for wrong in (np.zeros((2, load(game).OBSERVATION.size)), np.zeros((2, 7), np.int8)):
        with pytest.raises(ValueError, match="they must be int8"):
            agent.act(wrong, masks, np.random.default_rng(0))


def test_a_policy_whose_layers_do_not_join_is_refused(tmp_path):
    pytest.importorskip("safetensors")
    policy = small_policy()
    policy.weights["layer1.weight"] = policy.weights["layer1.weight"][:, 1:]
    policy.save(tmp_path / "gap.safetensors")
    with pytest.raises(ValueError, match="got layer 1 of shape"):
        make_agent(str(tmp_path / "gap.safetensors"), "holdup")
    del policy.weights["layer0.bias"]
    policy.save(tmp_path / "gap.safetensors")
    with pytest.raises(ValueError, match="got the arrays"):
        make_agent(str(tmp_path / "gap.safetensors"), "holdup")
