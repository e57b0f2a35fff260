"""The tournament: rotating seats, the same deals for all seatings, intervals clustered by deal."""

import contextlib
import dataclasses
import json

import numpy as np
import pytest

from heist_envs.agents import UniformAgent, make_agent
from heist_envs.benchmarks import tournament
from heist_envs.benchmarks.tournament import (
    FORFEIT,
    Settings,
    Tournament,
    every_table,
    interval,
    main,
    one_against_many,
    play_deals,
    play_seatings,
)
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


def game_like(rng, tournaments, deals):
    """Results by deal of a weak agent among four, and their true mean: it seldom wins, and some deals are easier."""
    luck = rng.beta(0.6, 5.0, size=(tournaments, deals))
    wins = rng.binomial(4, luck)
    return (wins * 1.0 - (4 - wins) / 3) / 4, 0.6 / 5.6 * 4 / 3 - 1 / 3


def test_intervals_cover_the_truth_of_a_skewed_game_as_often_as_they_say():
    by_deal, truth = game_like(np.random.default_rng(0), 1000, 200)
    spread = by_deal - by_deal.mean()
    assert (spread**3).mean() / (spread**2).mean() ** 1.5 > 1.5  # skewed indeed
    scores = [interval(row) for row in by_deal]
    assert 930 <= sum(abs(found.mean - truth) <= found.half_width for found in scores) <= 970


def test_intervals_cover_the_truth_of_games_that_were_played():
    agents = [make_agent(name, "holdup") for name in ("uniform", "rule", "rule:maniac")]
    parts = [play_deals("holdup", agents, 5000, first, preset="tiny") for first in range(0, 100_000, 5000)]
    by_deal = np.concatenate(parts)
    for k in range(len(agents)):
        truth = by_deal[:, k].mean()  # of all tournaments together: what it is off by is a thirtieth of a half-width
        scores = [interval(row) for row in by_deal[:, k].reshape(1000, 100)]
        assert 930 <= sum(abs(found.mean - truth) <= found.half_width for found in scores) <= 970


def test_an_early_stop_costs_the_intervals_little_of_their_coverage():
    most = 2000
    by_deal, truth = game_like(np.random.default_rng(1), 1000, most)
    covered, stops = 0, set()
    for row in by_deal:
        for deals in range(tournament.FEWEST, most + 1, 50):
            found = interval(row[:deals])
            if found.half_width <= 0.018:
                break
        stops.add(deals)
        covered += abs(found.mean - truth) <= found.half_width
    assert len(stops) > 4
    assert 920 <= covered <= 970


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
    for wrong in ("rule", UniformAgent, 3):
        with pytest.raises(TypeError, match="needed is an object with `act`"):
            play_deals("holdup", [agent, agent, wrong], 2)


def test_each_seat_of_an_agent_is_counted_apart():
    agents = [make_agent(name, "holdup") for name in ("rule", "uniform", "rule:maniac")]
    rewards = play_seatings("holdup", agents, 40, seed=3).rewards
    assert rewards.shape == (40, 3, 3)
    assert rewards.mean(axis=2) == pytest.approx(play_deals("holdup", agents, 40, seed=3))
    assert rewards[:, 0].mean(axis=0).min() > rewards[:, 1].mean(axis=0).max()  # the better agent, wherever it sits
    # In rotation r agent j sits in seat j + r: those three cells are one game, and its rewards add up to nothing.
    for r in range(3):
        assert sum(rewards[:, j, (j + r) % 3] for j in range(3)) == pytest.approx(0, abs=1e-6)


class Forfeiter(UniformAgent):
    """Gives up where its card is high."""

    def __init__(self, faults):
        self.faults = faults

    def act(self, observations, action_masks, rng):
        layout = holdup.OBSERVATION
        high = observations[:, layout["card"].slice].argmax(axis=1) > 8
        self.faults += ["a high card"] * int(high.any())
        return np.where(high, FORFEIT, super().act(observations, action_masks, rng))


def test_who_forfeits_loses_that_game_alone_and_is_counted():
    agent = Forfeiter([])
    played = play_seatings("holdup", [agent, UniformAgent(), UniformAgent()], 50, seed=1)
    given_up = np.abs(played.rewards[:, 0] + 1) < 1e-6
    assert played.forfeits.tolist() == [given_up.sum(), 0, 0]
    assert 0 < given_up.sum() < 150
    for deal, seat in np.argwhere(given_up):
        others = [played.rewards[deal, j, (j + seat) % 3] for j in (1, 2)]
        assert others == pytest.approx([0.5, 0.5])
    assert set(agent.faults) == {"a high card"}


def test_who_has_no_faults_must_not_forfeit():
    class Quitter(UniformAgent):
        def act(self, observations, action_masks, rng):
            return np.full(len(observations), FORFEIT)

    with pytest.raises(ValueError, match="Quitter gave action -1: legal are"):
        play_seatings("holdup", [Quitter(), UniformAgent(), UniformAgent()], 5)


def test_forfeits_and_their_reasons_stand_in_the_result(monkeypatch, capsys):
    made = {"quits": lambda: Forfeiter([]), "uniform": UniformAgent}
    monkeypatch.setattr(tournament, "make_agent", lambda name, game: made[name]())
    found = Tournament(Settings("holdup", ["quits", "uniform", "uniform"], [{}], deals=40, chunk=10))
    found.play()
    quits, uniform = found.result()["results"][0]["agents"].values()
    assert quits["forfeits"] > 4
    assert quits["faults"] == ["a high card"]
    assert (uniform["forfeits"], uniform["faults"]) == (0, [])
    assert f"quits gave up {quits['forfeits']} games: a high card" in tournament.words(found.matches[0])


AGENTS = ["rule", "uniform", "rule"]


def without_times(file):
    result = json.loads(file.read_text())
    del result["games_per_second"]
    for match in result["matches"]:
        del match["seconds"]
    return json.dumps(result)


class StopError(Exception):
    pass


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_tournament_that_was_stopped_goes_on_to_the_same_result(tmp_path, monkeypatch, cross, workers):
    agents = AGENTS[:2] if cross else AGENTS
    settings = Settings("holdup", agents, [{"num_players": 3}], cross, deals=25, chunk=10)
    Tournament(settings, tmp_path / "whole").play()
    for stop in (1, 2):  # after so many chunks each
        part = Tournament(settings, tmp_path / "parts")
        played, save = [], part.save

        def save_and_stop(played=played, save=save, stop=stop):
            save()
            played.append(1)
            if len(played) == stop:
                raise StopError

        monkeypatch.setattr(part, "save", save_and_stop)
        with contextlib.suppress(StopError):
            part.play(workers)
        assert len(played) <= stop
    last = Tournament(settings, tmp_path / "parts")
    last.play(workers)
    assert without_times(tmp_path / "parts") == without_times(tmp_path / "whole")
    monkeypatch.setattr(tournament, "play_seatings", None)  # all has been played
    Tournament(settings, tmp_path / "parts").play()


def test_a_chunk_is_what_its_deals_come_to_alone(tmp_path):
    whole = Tournament(Settings("holdup", ["rule", "uniform", "uniform"], [{}], deals=30, chunk=20, seed=7))
    whole.play()
    rule, uniform = (make_agent(name, "holdup") for name in ("rule", "uniform"))
    agents = [rule, uniform, uniform]
    by_deal = np.concatenate([play_deals("holdup", agents, count, first) for first, count in ((7, 20), (27, 10))])
    scores = whole.matches[0].scores()
    assert tuple(scores["rule"][-1]) == pytest.approx(tuple(interval(by_deal[:, 0])))
    assert tuple(scores["uniform"][-1]) == pytest.approx(tuple(interval(by_deal[:, 1:].mean(axis=1))))


def test_a_file_of_other_settings_is_refused_and_left_alone(tmp_path):
    file = tmp_path / "match.json"
    settings = Settings("holdup", AGENTS, [{}], deals=10)
    Tournament(settings, file).play()
    before = file.read_text()
    with pytest.raises(ValueError, match="other settings: seed is 0 there, 1 here"):
        Tournament(dataclasses.replace(settings, seed=1), file)
    assert file.read_text() == before
    file.write_text("half a fi")
    with pytest.raises(ValueError, match="is no tournament"):
        Tournament(settings, file)
    for other in ("[]", '{"game": "holdup", "moves": []}'):
        file.write_text(other)
        with pytest.raises(ValueError, match="is no tournament, and is left as it is"):
            Tournament(settings, file)
        assert file.read_text() == other


def test_a_match_stops_when_all_intervals_are_narrow_but_not_before_the_fewest_deals(monkeypatch):
    monkeypatch.setattr(tournament, "FEWEST", 40)
    deals = {}
    for until in (None, 0.06, 10.0):
        found = Tournament(Settings("holdup", AGENTS, [{"preset": "tiny"}], deals=300, chunk=20, until=until))
        found.play()
        deals[until] = found.matches[0].deals
        if until is not None:
            assert max(scores[-1].half_width for scores in found.matches[0].scores().values()) <= until
    assert deals[None] == 300
    assert 40 < deals[0.06] < 300
    assert deals[10.0] == 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"deals": 1}, "got 1 deals: an interval needs at least 2"),
        ({"chunk": 1}, "got chunks of 1 deals"),
        ({"cross": True}, "each is named once"),
    ],
)
def test_settings_that_make_no_tournament_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Settings("holdup", AGENTS, [{"num_players": 3}], **change)


def test_the_command_line_prints_a_line_per_agent(capsys):
    main(["--agents", "rule", "uniform", "uniform", "--deals", "50"])
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0].startswith("50 deals, each in 3 seatings")
    assert [line.split()[0] for line in lines[2:]] == ["rule", "uniform"]
    assert [line.count("±") for line in lines[2:]] == [4, 4]  # all seats, and each
    assert captured.err == ""  # no bar where there is no terminal


def test_options_reach_the_game(tmp_path):
    file = tmp_path / "match.json"
    options = ["preset=tiny", "pp_values=[1, 2, 3]", "redraw_rounds=1"]
    main(["--agents", "rule", "uniform", "rule", "--options", *options, "--deals", "10", "--json", str(file)])
    assert json.loads(file.read_text())["options"] == [{"preset": "tiny", "pp_values": [1, 2, 3], "redraw_rounds": 1}]


def test_a_cross_table_is_one_against_many_seen_from_both_sides(tmp_path, capsys):
    file = tmp_path / "cross.json"
    arguments = ["--cross", "uniform", "rule", "--options", "num_players=3", "--deals", "20", "--seed", "4"]
    main([*arguments, "--json", str(file)])
    (table,) = json.loads(file.read_text())["tables"]
    rule, uniform = make_agent("rule", "holdup"), make_agent("uniform", "holdup")
    assert table["scores"][1][0] == pytest.approx(list(one_against_many("holdup", rule, uniform, 3, 20, seed=4)))
    assert table["scores"][0][1] == pytest.approx(list(one_against_many("holdup", uniform, rule, 3, 20, seed=4)))
    # The game is zero-sum: what the one loses, its two opponents share.
    assert np.array(table["many"])[[0, 1], [1, 0]] == pytest.approx(
        np.array(table["scores"])[[0, 1], [1, 0]] * [[-0.5, 0.5]], abs=1e-6
    )
    assert np.array(table["scores"])[[0, 1], [0, 1]] == pytest.approx(0, abs=1e-6)
    assert table["scores"][0][1][0] < 0 < table["scores"][1][0][0]
    assert "each of the many with this one" in capsys.readouterr().out


def test_results_are_given_for_every_number_of_players():
    assert list(every_table("holdup")) == [{"num_players": n} for n in (3, 4, 5, 6)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "either --agents or --cross"),
        (["--cross", "--agents", "rule"], "either --agents or --cross"),
        (["--agents", "rule", "--deals", "1"], "at least 2"),
        (["--agents", "rule", "--options", "preset"], "given as name=value"),
        (["--cross", "--options", "presets=1"], "unknown option 'presets'"),
    ],
)
def test_a_command_that_makes_no_tournament_is_refused(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


def test_the_command_refuses_what_cannot_be_and_says_what_an_interrupt_leaves(tmp_path, monkeypatch, capsys):
    kept = tmp_path / "kept.json"
    words = ["--game", "holdup", "--agents", "rule", "rule", "uniform", "--deals", "4", "--chunk", "2", "--json", str(kept)]

    def ended(*more):
        with pytest.raises(SystemExit) as end:
            main([*words, *more])
        return end.value.code, capsys.readouterr().err

    assert "got --workers 0: at least 1" in ended("--workers", "0")[1]
    assert "there is no folder" in ended("--json", str(tmp_path / "nowhere" / "kept.json"))[1]

    def interrupted(*_):
        kept.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(Tournament, "play", interrupted)
    assert ended() == (130, f"\nstopped: the same command goes on from what {kept} holds\n")
