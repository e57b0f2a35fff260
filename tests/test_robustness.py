"""How an agent does in company that it did not train with."""

import json
import pathlib

import numpy as np
import pytest

import heist_envs
from heist_envs.agents import RuleBasedAgent, make_agent
from heist_envs.benchmarks import robustness
from heist_envs.benchmarks.tournament import interval, play_deals
from heist_envs.games import GAMES, accomplices

CONFIGS = pathlib.Path(__file__).parents[1] / "training" / "configs"
COLLUDING = {"accomplices": (0.25, 1 / 3), "cleaners": (0.03, 0.2), "magpies": (-0.02, 0.1), "holdup": (-0.05, 0.02)}
"""From what to what a pair of colluders gets among players of the same style, for whom it would be 0."""


@pytest.mark.parametrize("game", GAMES)
def test_every_scenario_seats_three_agents_of_the_game_and_two_kinds_or_one_that_is_no_main_style(game):
    assert len(robustness.SCENARIOS[game]) >= 4
    for others in robustness.SCENARIOS[game].values():
        assert len(others) == robustness.NUM_PLAYERS - 1
        assert len(set(others)) > 1 or "rule" not in others
        for name in others:
            make_agent(name, game)


def test_a_scenario_is_what_the_agent_gets_in_its_company():
    found = robustness.scenarios("holdup", "rule:maniac", 20, seed=3)
    names = ["rule:maniac", *robustness.SCENARIOS["holdup"]["one of each"]]
    by_deal = play_deals("holdup", [make_agent(name, "holdup") for name in names], 20, seed=3)
    assert found["one of each"]["score"] == interval(by_deal[:, 0])
    main = robustness.scenarios("holdup", "rule", 20, seed=3)
    for title in robustness.SCENARIOS["holdup"]:
        assert main[title]["score"] == main[title]["main style"] == found[title]["main style"]
    assert found[robustness.MIRROR]["score"].mean < 0  # two maniacs among two who are not


@pytest.mark.parametrize("game", GAMES)
def test_colluding_pays_much_in_accomplices_some_in_cleaners_and_little_or_nothing_elsewhere(game):
    names = [*robustness.COLLUDERS, "rule"]
    made = {name: make_agent(name, game) for name in names}
    pair = play_deals(game, [made[name] for name in names], 200, seed=0)[:, :2].mean()
    least, most = COLLUDING[game]
    assert least < pair <= most


@pytest.mark.parametrize("game", GAMES)
def test_colluders_know_their_partner_by_his_place_and_need_him_beside_them(game):
    styles = RuleBasedAgent(game).rules.HELD_OUT
    pair = {name: styles[name.removeprefix("rule:")] for name in robustness.COLLUDERS[:2]}
    assert [style.partner for style in pair.values()] == [1, -1]
    main = RuleBasedAgent(game).style
    assert all(style._replace(partner=0) == main for style in pair.values())


def test_who_always_volunteers_never_passes_while_a_coup_wants_a_second_card():
    vec = heist_envs.make_vec("accomplices", num_envs=200)
    observation, _ = vec.reset(seed=0)
    agent, rng = make_agent("rule:always-volunteers", "accomplices"), np.random.default_rng(0)
    asked = 0
    for _ in range(60):
        mask = observation["action_mask"]
        actions = agent.act(observation["observation"], mask, rng)
        cards = mask[:, accomplices.PLAY : accomplices.PLAY + accomplices.NUM_TYPES].any(axis=1)
        may = cards & (mask[:, accomplices.PASS] == 1)
        asked += may.sum()
        assert (actions[may] != accomplices.PASS).all()
        observation, *_ = vec.step(actions)
    assert asked > 200


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.json")), ids=lambda path: path.stem)
def test_training_never_meets_a_style_that_is_held_out(path):
    config = json.loads(path.read_text())
    held_out = {f"rule:{style}" for game in GAMES for style in RuleBasedAgent(game).rules.HELD_OUT}
    assert held_out.isdisjoint(config.get("opponents", []) + config.get("baselines", []))


def test_the_command_writes_its_scenarios(tmp_path, capsys):
    file = tmp_path / "robustness-holdup.json"
    words = ["--game", "holdup", "--deals", "10", "--json", str(file)]
    robustness.main([*words, "--agents", "rule:cautious"])
    result = json.loads(file.read_text())
    assert result["scenarios"]["rule:cautious"].keys() == {*robustness.SCENARIOS["holdup"], robustness.MIRROR}
    assert "one of each" in capsys.readouterr().out
