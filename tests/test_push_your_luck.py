"""Stop or draw in Magpies, worked by hand, enumerated by the rules themselves, and told apart from what is not best."""

import functools
import json

import numpy as np
import pytest

from heist_envs.agents import UniformAgent
from heist_envs.agents.push_your_luck import SmallGame, Theft, lead_after, stopping_regret
from heist_envs.benchmarks import push_your_luck
from heist_envs.engine import mask_of, weights_of
from heist_envs.games import magpies
from heist_envs.rules import CHANCE, TERMINAL, apply_action, current_player, returns

CARDS = {
    "plain": (0, None, None),
    "points": (0, None, 2),
    "one": (1, None, None),
    "one with points": (1, None, 1),
    "two": (2, None, None),
    "three": (3, None, 1),
}


def deck(*names):
    return tuple(CARDS[name] for name in names)


def after(state, *actions):
    there = state.reshape(1).copy()
    for action in actions:
        apply_action(there[0], action)
    return there[0]


def laid(theft, *names):
    """The theft's first state after these cards of the first colour, the leader drawing on in between."""
    state, faces = theft.start, list(theft.start.face)
    for k, name in enumerate(names):
        state = after(state, *[magpies.DRAW] * (k > 0), faces.index(magpies._pack(*CARDS[name])))
    return state


class Always:
    """Answers DRAW or STOP always alike, and takes the first card that it may take."""

    def __init__(self, answer):
        self.answer = answer

    def act(self, observations, action_masks, rng):
        return np.where(action_masks[:, magpies.STOP] == 1, self.answer, action_masks.argmax(axis=1))


# ------------------------------------------------------------------------------------------------ worked by hand

TWO_CARDS = {"num_players": 2, "num_colours": 1, "reserve_size": 0, "board_length": 2, "take_table": (1,)}


@pytest.mark.parametrize(
    ("cards", "answer", "value", "lost", "wrong", "asked"),
    [
        # Whoever has the points wins. STOP gives them away where they are the second card, and DRAW is a coup with both.
        (("points", "plain"), magpies.STOP, (1, 0), (1, 0), (0.5, 0), (1, 0)),
        (("points", "plain"), magpies.DRAW, (1, -1), (0, 0), (0, 0), (1, 0)),
        # DRAW after the plain card is caught and the other player gets it; STOP is a tie. After the other card it is a coup.
        (("plain", "one"), magpies.DRAW, (0, 0.5), (0.5, 0), (0.5, 0), (0.5, 0)),
        (("plain", "one"), magpies.STOP, (0, 0), (0, 0), (0, 0), (0.5, 0)),
    ],
)
def test_two_cards_are_worked_by_hand(cards, answer, value, lost, wrong, asked):
    """One colour, two spaces. With the second card both piles are empty, so that nobody is asked any more."""
    found = stopping_regret(SmallGame(deck=deck(*cards), **TWO_CARDS), Always(answer))
    assert [one.value for one in found] == pytest.approx(value)
    assert [one.lost for one in found] == pytest.approx(lost)
    assert [one.wrong for one in found] == pytest.approx(wrong)
    assert [one.asked for one in found] == pytest.approx(asked)
    assert [one.per_decision for one in found] == pytest.approx(
        [loss / max(n, 0.1) for loss, n in zip(lost, asked, strict=True)]
    )


@pytest.mark.parametrize(
    ("cards", "takes", "before", "draw", "stop"),
    [
        # One of the two cards left catches, and one card stays for the other player. Two cards laid are one each.
        (("plain", "plain", "two"), (1, 1), ["plain"], 0.5 * 0 - 0.5 * 1, 1),
        # The same with two cards for the leader who stops at two.
        (("plain", "plain", "two"), (1, 2), ["plain"], 0.5 * 2 - 0.5 * 1, 1),
        # Only the card that catches is left.
        (("plain", "plain", "two"), (1, 2), ["plain", "plain"], -1, 2),
        # Nothing catches: three plain cards are a coup, the last one of them with the last card of the piles.
        (("plain", "plain", "plain"), (1, 1), ["plain"], 3, 1),
        # Drawing on after the second plain card is a coup with three or is caught: worth 1, where stopping is worth 0.
        (("plain", "plain", "plain", "two"), (1, 1), ["plain"], 2 / 3 * (0.5 * 3 - 0.5 * 1) - 1 / 3, 1),
    ],
)
def test_a_theft_is_worked_by_hand(cards, takes, before, draw, stop):
    theft = Theft("cards", deck=deck(*cards), num_players=2, num_colours=1, reserve_size=0, board_length=3, take_table=takes)
    assert theft.answers(laid(theft, *before)) == pytest.approx((draw, stop))


def test_the_leader_takes_the_best_cards_and_the_last_one_if_he_was_not_caught():
    board = np.array([1.0, 4, 2, 3, 5])
    assert lead_after(board, 5, 1, False, 2) == 5 - (4 + 3) / 2 + 2
    assert lead_after(board, 5, 0, True, 2) == -(5 + 4) / 2
    assert lead_after(board, 2, 2, False, 3) == 5
    assert lead_after(board, 2, 1, False, 3) == 4 - 1 / 3


# ------------------------------------------------------------------------------------------------ by the rules themselves

SMALL_DECK = deck("plain", "plain", "points", "one", "one with points", "two", "three")


def by_the_rules(state, worth):
    """What DRAW and STOP are worth, with the theft and its sharing played out by the rules; and all decisions on the way."""
    there = []

    turns, leader = state.turns, state.leader

    def lead(state):
        while state.turns == turns and current_player(state) != TERMINAL:
            spaces = np.flatnonzero(mask_of(magpies, state)[magpies.TAKE :][: magpies.MAX_SPACES])
            state = after(state, magpies.TAKE + spaces[np.argmax(worth[state.card_at[spaces]])])
        got = state.collection[: state.num_players] @ worth
        return got[leader] - np.delete(got, leader).mean()

    def answers(state):
        draw, owed = 0.0, after(state, magpies.DRAW)
        weights = weights_of(magpies, owed)
        for card in np.flatnonzero(weights):
            come = after(owed, card)
            asked = come.phase == magpies.STEALING and come.turns == turns
            value = max(answers(come)) if asked else lead(come)
            draw += value * weights[card] / weights.sum()
        found = draw, lead(after(state, magpies.STOP))
        there.append((state, found))
        return found

    answers(state)
    return there


@pytest.mark.parametrize("num_players", [2, 3])
@pytest.mark.parametrize("worth", ["cards", "points"])
@pytest.mark.parametrize("first", ["plain", "one with points"])
def test_a_theft_is_that_of_the_rules_at_every_decision(num_players, worth, first):
    table = {"num_players": num_players, "num_colours": 1, "board_length": 6, "take_table": (1, 1, 2, 3, 3)}
    theft = Theft(worth, deck=SMALL_DECK, reserve_size=2, **table)
    printed = {"cards": np.ones(magpies.NUM_TYPES), "points": (theft.start.face >> 6) + (7 + 7) / len(SMALL_DECK)}[worth]
    there = by_the_rules(laid(theft, first), printed)
    assert len(there) >= 15
    for state, found in there:
        assert theft.answers(state) == pytest.approx(found)


def test_the_map_is_the_mean_over_the_ways_to_come_to_a_cell():
    table = {"num_players": 2, "num_colours": 1, "board_length": 4, "take_table": (1, 1, 2)}
    theft = Theft("points", deck=SMALL_DECK, reserve_size=0, **table)
    ways = {}
    for card in np.flatnonzero(theft.start.unseen):
        share = theft.start.unseen[card] / len(SMALL_DECK)
        state = after(theft.start, card)
        if state.phase == magpies.STEALING:
            draw, stop = theft.answers(state)
            ways.setdefault((1, magpies.gap_of(state)), []).append((share, draw - stop))
    cells = {(cell.laid, cell.gap): cell for cell in theft.map()}
    assert set(ways) == {key for key in cells if key[0] == 1}
    for key, found in ways.items():
        share, advantage = np.array(found).T
        assert cells[key].chance == pytest.approx(share.sum())
        assert cells[key].advantage == pytest.approx(share @ advantage / share.sum())
        assert cells[key].draws == pytest.approx(share @ (advantage > 0) / share.sum())
    assert max(laid for laid, _ in cells) == 3


def test_on_the_full_deck_a_draw_that_cannot_be_caught_is_better_where_cards_count():
    for num_players in (2, 3, 4):
        assert all(cell.draws == 1 for cell in Theft("cards", num_players=num_players).map() if cell.gap >= 4)


def test_a_worth_that_makes_no_sense_is_refused():
    for wrong in (np.full(magpies.NUM_TYPES, -1.0), np.full(magpies.NUM_TYPES, np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="75 finite numbers, at least 0"):
            Theft(wrong)
    with pytest.raises(ValueError, match="got worth='gold': it is one of 'cards', 'points'"):
        Theft("gold")
    theft = Theft()
    with pytest.raises(ValueError, match="is not asked"):
        theft.answers(theft.start)


# ------------------------------------------------------------------------------------------------ a whole small game

FOUR_CARDS = {"preset": "tiny", "deck": ((0, "alarm", None), (1, "alarm", "+card"))}


def plain_recursion(decide, **options):
    """What each seat gets: `decide(state, player, values of the children by action)` gives the value of a decision."""
    known = {}

    def value(state):
        key = state.tobytes()
        if key not in known:
            known[key] = value_of(state)
        return known[key]

    def value_of(state):
        player = current_player(state)
        if player == TERMINAL:
            payoffs = np.zeros(int(state.num_players), np.float32)
            returns(state, payoffs)
            return payoffs.astype(float)
        weights = weights_of(magpies, state) if player == CHANCE else mask_of(magpies, state)
        values = {int(action): value(after(state, action)) for action in np.flatnonzero(weights)}
        if player == CHANCE:
            return sum(weights[action] * found for action, found in values.items()) / weights.sum()
        return decide(state, player, values)

    return value(magpies.new_initial_state(**options)[0])


def best_of(player, values):
    return max(values.values(), key=lambda found: found[player])


def mean_of(values):
    return sum(values.values()) / len(values)


@functools.cache
def four_cards():
    return SmallGame(**FOUR_CARDS)


def test_the_best_play_of_all_is_that_of_a_plain_recursion():
    expected = plain_recursion(lambda state, player, values: best_of(player, values), **FOUR_CARDS)
    assert four_cards().best().values[0] == pytest.approx(expected)


@pytest.mark.parametrize("seat", [0, 1])
def test_the_best_stopping_is_that_of_a_plain_recursion(seat):
    def decide(state, player, values):
        mine = state.phase == magpies.STEALING and player == seat
        return best_of(player, values) if mine else mean_of(values)

    expected = plain_recursion(decide, **FOUR_CARDS)[seat]
    found = stopping_regret(four_cards(), UniformAgent())[seat]
    played = plain_recursion(lambda state, player, values: mean_of(values), **FOUR_CARDS)[seat]
    assert found.value == pytest.approx(expected)
    assert found.lost == pytest.approx(expected - played)
    assert found.lost > 0.01


@pytest.fixture(scope="module")
def tiny():
    return SmallGame(preset="tiny")


def test_the_best_play_of_all_on_tiny_is_that_of_a_plain_recursion(tiny):
    expected = plain_recursion(lambda state, player, values: best_of(player, values), preset="tiny")
    assert tiny.best().values[0] == pytest.approx(expected)
    assert expected == pytest.approx([7 / 30, -7 / 30])


@pytest.mark.parametrize("agent", [UniformAgent(), Always(magpies.DRAW), Always(magpies.STOP)])
def test_regrets_add_up_to_what_is_lost(tiny, agent):
    played = tiny.policy([agent, agent], [UniformAgent()] * 2)
    for seat in (0, 1):
        found = tiny.regret(seat, played)
        assert found.lost == pytest.approx(found.value - tiny.values(played)[seat])
        assert found.lost > 0.01
        assert found.worst >= found.per_decision > 0
        assert 0 < found.wrong <= found.asked


def test_best_answers_have_no_regret_and_to_draw_always_has(tiny):
    uniform = tiny.policy([UniformAgent()] * 2)
    for seat in (0, 1):
        best = tiny.best(uniform, seat)
        found = tiny.regret(seat, best.policy)
        assert found.lost == found.worst == pytest.approx(0, abs=1e-12)
        assert found.wrong == 0
        assert found.value == pytest.approx(tiny.values(best.policy)[seat])
        draws = tiny.policy([Always(magpies.DRAW)] * 2, [UniformAgent()] * 2)
        found = tiny.regret(seat, draws, uniform)
        mixed = tiny.policy([Always(magpies.DRAW) if s == seat else UniformAgent() for s in (0, 1)], [UniformAgent()] * 2)
        assert found.lost == pytest.approx(found.value - tiny.values(mixed)[seat])
        assert found.lost > 0.1
    equilibrium = tiny.best()
    for seat in (0, 1):
        assert tiny.regret(seat, equilibrium.policy).lost == pytest.approx(0, abs=1e-12)
        assert tiny.regret(seat, equilibrium.policy).value == pytest.approx(equilibrium.values[0, seat])


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_writes_the_result_and_the_picture(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(push_your_luck, "SmallGame", lambda preset: four_cards())  # in place of tiny, which takes longer
    monkeypatch.setattr(push_your_luck, "SHARERS", ("itself", "uniform", "best play"))
    file, picture = tmp_path / "luck.json", tmp_path / "luck.svg"
    given = ["--agents", "uniform", "--games", "2", "--json", str(file), "--picture", str(picture)]
    push_your_luck.main(given)
    result = json.loads(file.read_text())
    assert result["tiny"]["of them to draw or to stop"] == four_cards().stopping.sum() > 10
    assert {found["sharing"] for found in result["tiny"]["agents"]} == set(push_your_luck.SHARERS)
    assert [table["num_players"] for table in result["full deck"]] == [2, 2, 3, 3, 4, 4]
    assert all(found["asked a game"] > 10 for table in result["full deck"] for found in table["agents"])
    assert "the best play is worth" in capsys.readouterr().out
    assert picture.read_text().startswith("<?xml")
    with pytest.raises(SystemExit):
        push_your_luck.main(["--games", "1"])
