"""How many games a scheme saves: known cases, and that the command counts what it says."""

import json

import numpy as np
import pytest

from heist_envs.benchmarks.variance import control, duplicate, main


def test_duplicate_deals_save_nothing_where_seats_are_strangers():
    assert duplicate(np.random.default_rng(0).normal(size=(20_000, 4))) == pytest.approx(1, rel=0.05)


def test_duplicate_deals_save_much_where_one_seat_gains_what_another_loses_and_cost_where_all_gain_alike():
    rng = np.random.default_rng(1)
    luck = rng.normal(size=(20_000, 4))
    even = luck - luck.mean(axis=1, keepdims=True)
    assert duplicate(even + 0.1 * rng.normal(size=even.shape)) > 50
    assert duplicate(np.repeat(luck[:, :1], 4, axis=1)) == pytest.approx(0.25)


def test_a_control_saves_as_its_correlation_says():
    rng = np.random.default_rng(2)
    known, rest = rng.normal(size=(2, 20_000, 3))
    rewards = 2 * known + rest + [1.0, 0.0, -1.0]  # a correlation of 2 / sqrt(5), whatever the seats are worth
    assert control(rewards, known) == pytest.approx(5, rel=0.05)
    assert control(rewards, rest * 0) == 1


def test_the_command_writes_a_row_for_each_style_beside_the_main_one(tmp_path, capsys):
    file = tmp_path / "variance.json"
    main(["--games", "holdup", "--deals", "20", "--json", str(file)])
    (table,) = json.loads(file.read_text())["tables"]
    assert table["many"] == "rule:band"
    assert [row["agent"] for row in table["agents"]] == ["rule:cautious", "rule:bluffing", "rule:maniac"]
    for row in table["agents"]:
        ratios = row["ratios"]
        assert ratios["control"] == ratios["control, free"] / 2
        assert ratios["duplicate and control, free"] >= ratios["duplicate"] > 0
    assert "rule:maniac" in capsys.readouterr().out
