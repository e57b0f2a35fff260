"""The statistics of play."""

import numpy as np
import pytest

from heist_envs.agents import UniformAgent
from heist_envs.benchmarks import statistics as module
from heist_envs.benchmarks.statistics import statistics
from heist_envs.benchmarks.tournament import every_table
from heist_envs.games import GAMES, holdup


class Always:
    """Plays one action wherever it is legal, else the last legal one."""

    def __init__(self, action):
        self.action = action

    def act(self, observations, action_masks, rng):
        last = action_masks.shape[1] - 1 - action_masks[:, ::-1].argmax(axis=1)
        return np.where(action_masks[:, self.action] == 1, self.action, last)


def test_who_always_folds_pays_ten_antes_and_shares_the_win():
    found = statistics("holdup", Always(holdup.FOLD), 5, num_players=4, redraw_rounds=0, loans=False)
    assert found["length"] == {"mean": 10, "p99": 10, "max": 10}
    assert found["ends"] == {"no Thief left to turn": 0, "no diamond left": 1}
    assert (found["truncated"], found["shared"], found["wins"]) == (0, 1, [0.25] * 4)
    assert (found["score"], found["best score"]) == (6, 6)  # three Thieves, two points each
    assert set(found["events"].values()) == {0}


def test_who_always_joins_loses_three_thieves_and_then_one_too_many():
    found = statistics("holdup", Always(holdup.JOIN), 200, num_players=3, redraw_rounds=0, loans=False)
    assert found["ends"]["no Thief left to turn"] > 0
    assert found["events"]["rounds with the Revolver"] == 0  # nobody has folded


def test_a_capped_game_is_counted_as_truncated():
    found = statistics("holdup", Always(holdup.FOLD), 3, num_players=3, redraw_rounds=0, loans=False, max_rounds=2)
    assert (found["truncated"], found["length"]["max"]) == (1, 2)


@pytest.mark.parametrize("name", GAMES)
def test_shares_are_shares_at_every_table(name, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 30)  # two batches and a part
    for options in every_table(name):
        found = statistics(name, UniformAgent(), 70, **options)
        assert sum(found["wins"]) == pytest.approx(1)
        assert len(found["wins"]) == options["num_players"]
        assert 0 < found["length"]["mean"] <= found["length"]["max"]
        assert all(0 <= share <= 1 for share in (found["truncated"], found["shared"], *found["events"].values()))
        assert all(value >= 0 for value in found["ends"].values())
