"""Ratings from a cross table: copies move nothing, ties are ties, who is beaten everywhere is below."""

import json
import pathlib

import numpy as np
import pytest

pytest.importorskip("scipy")

from heist_envs.benchmarks.ratings import intervals, main, ratings

RESULTS = pathlib.Path(__file__).parent.parent / "benchmarks" / "results"
CIRCLE = np.array([[0.0, 1, -1], [-1, 0, 1], [1, -1, 0]])
TWO_EQUILIBRIA = np.array([[0.0, 0, 1], [0, 0, 0.5], [-1, -0.5, 0]])
"""The first two draw, and the third loses to one more than to the other: any mixture of the two is an equilibrium."""


def measured_tables():
    for file in sorted(RESULTS.glob("cross-*.json")):
        for table in json.loads(file.read_text())["tables"]:
            yield pytest.param(np.array(table["scores"])[..., 0], id=f"{file.stem} {table['options']}")


def random_tables():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 5, 8):
        yield pytest.param(rng.normal(size=(n, n)), id=f"{n} agents")
        yield pytest.param(rng.integers(-1, 2, size=(n, n)).astype(float), id=f"{n} agents with draws")


TABLES = [
    pytest.param(CIRCLE, id="a circle"),
    pytest.param(TWO_EQUILIBRIA, id="two equilibria"),
    pytest.param(np.zeros((4, 4)), id="all draws"),
    *random_tables(),
    *measured_tables(),
]


def with_clone(payoffs, k, times=1):
    """The table with copies of agent k at its end, who draw with it and with each other."""
    order = [*range(len(payoffs)), *[k] * times]
    made = payoffs[np.ix_(order, order)].copy()
    copies = [k, *range(len(payoffs), len(made))]
    made[np.ix_(copies, copies)] = 0
    return made


@pytest.mark.parametrize("payoffs", TABLES)
def test_a_clone_moves_no_rating_and_is_rated_alike(payoffs):
    before = ratings(payoffs)
    for k in range(len(payoffs)):
        after = ratings(with_clone(payoffs, k, times=1 + k % 2))
        assert after[: len(payoffs)] == pytest.approx(before, abs=1e-9)
        assert after[len(payoffs) :] == pytest.approx(before[k], abs=1e-9)


@pytest.mark.parametrize("payoffs", TABLES)
def test_the_best_is_rated_0(payoffs):
    assert ratings(payoffs).max() == pytest.approx(0, abs=1e-9)


def test_all_draws_and_a_circle_rate_everybody_alike():
    assert ratings(np.zeros((4, 4))) == pytest.approx(0, abs=1e-12)
    assert ratings(CIRCLE) == pytest.approx(0, abs=1e-9)


def test_two_equal_agents_are_rated_alike_below_others_too():
    payoffs = np.array([[0.0, 0.6, 0.6, 0.1], [-0.5, 0, 0, 0.2], [-0.5, 0, 0, 0.2], [-0.3, -0.4, -0.4, 0]])
    found = ratings(payoffs)
    assert found[1] == pytest.approx(found[2], abs=1e-12)
    assert found[1] < found[0]


def test_where_equilibria_differ_the_hardest_one_counts():
    assert ratings(TWO_EQUILIBRIA) == pytest.approx([0, 0, -1])


def test_who_is_dominated_is_rated_below_even_where_another_beats_both():
    rng = np.random.default_rng(1)
    for _ in range(10):
        ahead = rng.normal(size=(5, 5))
        ahead -= ahead.T
        better = np.append(ahead[0] + rng.uniform(0.01, 1, 5), 0.0)  # a sixth agent, ahead of each by more than the first is
        payoffs = np.zeros((6, 6))
        payoffs[:5, :5] = ahead
        payoffs[5, :5], payoffs[:5, 5] = better[:5], -better[:5]
        found = ratings(payoffs)
        assert found[0] < found[5]


def test_both_sides_of_a_pair_count_at_tables_of_many():
    # Alone among the other, each wins; the first wins more.
    assert ratings([[0, 0.5], [0.1, 0]]) == pytest.approx([0, -0.2])


def test_the_interval_of_a_rating_is_that_of_the_table_measured_again():
    # Who is behind one other by d in both tables has the rating -d, so that its noise is that of the mean of two entries.
    scores = np.array([[[0, 0], [0.5, 0.1]], [[-0.5, 0.1], [0, 0]]])
    low, high = intervals(scores, draws=2000)[1]
    assert [low, high] == pytest.approx([-0.5 - 0.1 / np.sqrt(2), -0.5 + 0.1 / np.sqrt(2)], abs=0.01)
    assert intervals(scores)[0] == pytest.approx([0, 0])
    exact = scores * [1, 0]
    assert intervals(exact, draws=3) == pytest.approx(np.array([[0, 0], [-0.5, -0.5]]))


@pytest.mark.parametrize("payoffs", [[[0, np.nan], [0, 0]], [[0, 1]], [], [0, 1]])
def test_what_is_no_table_is_refused(payoffs):
    with pytest.raises(ValueError, match="got payoffs of shape"):
        ratings(payoffs)


def test_the_command_line_rates_the_styles_of_hold_up_best_first(capsys):
    main([str(RESULTS / "cross-holdup.json")])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("holdup, {'num_players': 3}")
    best, *_, last = lines[1:6]
    assert best.split()[:2] == ["rule:band", "+0.000"]
    assert last.split()[0] == "uniform"


@pytest.mark.parametrize("text", ["[]", '{"results": []}'])
def test_a_file_without_a_cross_table_is_refused(text, tmp_path):
    (tmp_path / "match.json").write_text(text)
    with pytest.raises(ValueError, match="holds no finished cross table"):
        main([str(tmp_path / "match.json")])
