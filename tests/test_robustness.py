"""How an agent does in company that it did not train with."""

import json

import pytest

from heist_envs.agents import make_agent
from heist_envs.benchmarks import robustness
from heist_envs.benchmarks.tournament import interval, play_deals
from heist_envs.games import GAMES


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


def test_the_command_writes_its_scenarios(tmp_path, capsys):
    file = tmp_path / "robustness-holdup.json"
    words = ["--game", "holdup", "--deals", "10", "--json", str(file)]
    robustness.main([*words, "--agents", "rule:cautious"])
    result = json.loads(file.read_text())
    assert result["scenarios"]["rule:cautious"].keys() == {*robustness.SCENARIOS["holdup"], robustness.MIRROR}
    assert "one of each" in capsys.readouterr().out
