"""The tournament: rotating seats, the same deals for all seatings, intervals clustered by deal."""

import numpy as np
import pytest

from heist_envs.agents import UniformAgent, make_agent
from heist_envs.benchmarks import tournament
from heist_envs.benchmarks.tournament import cross_table, every_table, interval, main, one_against_many, play_deals
from heist_envs.games import holdup


class Recorder(UniformAgent):
    """Remembers the own card of every first decision of a game that it sees from a seat of its own."""

    def __init__(self):
        self.cards = []

    def act(self, observations, action_masks, rng):
        layout = holdup.OBSERVATION
        fresh = observations[:, layout["laid"].slice][:, 0] == holdup.NOT_ASKED
        first_round = observations[:, layout["rounds"].slice][:, 0] == 0
        card = observations[:, layout["card"].slice].argmax(axis=1)
        self.cards += card[fresh & first_round].tolist()
        return super().act(observations, action_masks, rng)


def test_every_agent_plays_the_same_deals_from_every_seat():
    agents = [Recorder() for _ in range(4)]
    play_deals("holdup", agents, num_deals=30, seed=5, redraw_rounds=1)
    hands = [sorted(agent.cards) for agent in agents]
    # With one question each before any choice matters, over all seats of a deal everybody holds all its four cards once.
    assert len(hands[0]) == 30 * 4
    assert hands[0] == hands[1] == hands[2] == hands[3]


def test_copies_of_one_agent_earn_the_same_on_each_deal_when_they_draw_no_chance():
    class First(UniformAgent):
        def act(self, observations, action_masks, rng):
            return action_masks.argmax(axis=1)

    by_deal = play_deals("holdup", [First() for _ in range(4)], num_deals=20)
    assert by_deal == pytest.approx(0, abs=1e-6)


def test_results_are_the_same_for_the_same_seed_and_differ_for_another():
    agents = [make_agent(name, "holdup") for name in ("rule", "uniform", "rule:maniac")]
    once, again, other = (play_deals("holdup", agents, 50, seed) for seed in (1, 1, 2))
    assert (once == again).all()
    assert (once != other).any()
    assert once.shape == (50, 3)
    assert once.sum(axis=1) == pytest.approx(0, abs=1e-6)


def test_the_interval_is_over_deals_and_covers_the_truth():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        score = interval(rng.choice([-1 / 3, 1.0], size=400, p=[0.75, 0.25]))
        covered += abs(score.mean - 0.0) <= score.half_width
    assert 930 <= covered <= 970


def test_identical_agents_are_even():
    score = one_against_many("holdup", make_agent("rule", "holdup"), make_agent("rule", "holdup"), 4, 300)
    assert abs(score.mean) < 0.01


def test_agents_that_are_equal_but_not_the_same_are_asked_each():
    class Counting(UniformAgent):
        calls = 0

        def __eq__(self, other):
            return True

        __hash__ = None

        def act(self, observations, action_masks, rng):
            self.calls += 1
            return super().act(observations, action_masks, rng)

    agents = [Counting() for _ in range(3)]
    play_deals("holdup", agents, 5)
    assert all(agent.calls for agent in agents)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda masks: masks.argmax(axis=1) + 0.5, TypeError, "Odd gave actions of dtype float64"),
        (lambda masks: masks.argmax(axis=1).astype(str), TypeError, "must be integers"),
        (lambda masks: 0, ValueError, r"actions of shape \(\) for"),
        (lambda masks: masks.argmin(axis=1), ValueError, "Odd gave action 2: legal are 0 KEEP"),
        (lambda masks: np.full(len(masks), -1), ValueError, "Odd gave action -1"),
    ],
)
def test_an_agent_that_gives_no_legal_actions_is_named_with_what_it_gave(answer, error, message):
    class Odd:
        def act(self, observations, action_masks, rng):
            return answer(action_masks)

    with pytest.raises(error, match=message):
        play_deals("holdup", [Odd(), UniformAgent(), UniformAgent()], 5)


def test_bad_numbers_are_refused():
    agent = UniformAgent()
    with pytest.raises(ValueError, match="num_players=2: allowed is 3 to 6"):
        play_deals("holdup", [agent, agent], 10)
    with pytest.raises(ValueError, match="got num_players=5 for 3 agents"):
        play_deals("holdup", [agent] * 3, 5, num_players=5)
    with pytest.raises(ValueError, match="num_deals=0: at least 1"):
        play_deals("holdup", [agent] * 3, 0)
    with pytest.raises(ValueError, match="got 1 deal: an interval needs at least 2"):
        interval(np.zeros(1))


def test_the_command_line_prints_a_line_per_agent(capsys):
    tournament.main(["--agents", "rule", "uniform", "uniform", "--deals", "50"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("50 deals, each in 3 seatings")
    assert [line.split()[0] for line in lines[1:]] == ["rule", "uniform", "uniform"]


def test_a_cross_table_is_one_against_many_for_each_pair():
    names = ["uniform", "rule"]
    table = cross_table("holdup", names, 20, seed=4, num_players=3)
    rule, uniform = make_agent("rule", "holdup"), make_agent("uniform", "holdup")
    assert table[1][0] == one_against_many("holdup", rule, uniform, 3, 20, seed=4)
    assert table[0][1] == one_against_many("holdup", uniform, rule, 3, 20, seed=4)
    assert [table[k][k].mean for k in (0, 1)] == pytest.approx([0, 0], abs=0.3)
    assert table[0][1].mean < 0 < table[1][0].mean


def test_results_are_given_for_every_number_of_players():
    assert list(every_table("holdup")) == [{"num_players": n} for n in (3, 4, 5, 6)]


@pytest.mark.parametrize("arguments", [[], ["--cross", "--agents", "rule"]])
def test_the_command_line_plays_either_a_line_up_or_a_cross_table(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "either --agents or --cross" in capsys.readouterr().err
