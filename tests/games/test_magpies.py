"""Magpies' rule page in code: a deal, a play, a fact. Numbers are those of the page.

A card is written as it looks: `gold << alarm +card` has two triangles. A bare number is any card of so many triangles.
"""

import numpy as np
import pytest

from heist_envs import chance, rules
from heist_envs.games import magpies
from heist_envs.games.magpies import COLOURS, TYPES_PER_COLOUR
from heist_envs.rules import CHANCE
from tests.tables import Table

ANY = {0: "", 1: "<", 2: "<< laurel", 3: "<<< feather 2"}
"""A card of so many triangles, without an alarm."""
PLAIN = ((0, None, None),) * 17


def table(*cards, **options):
    """A table at which the first leader has laid these cards."""
    return lay(Table(magpies, **options), *cards)


def card(made, words):
    """The number of a card that is still unseen."""
    if isinstance(words, int):
        return next(c for c in (card(made, f"{colour} {ANY[words]}") for colour in COLOURS) if made.unseen[c] > 0)
    colour, *rest = words.split()
    corners = [int(word) if word.isdigit() else word for word in rest if "<" not in word]
    left = next((word for word in corners if word in magpies.LEFTS), None)
    right = next((word for word in corners if word in magpies.RIGHTS), None)
    face = magpies._pack(words.count("<"), left, right)
    first = COLOURS.index(colour) * TYPES_PER_COLOUR
    of_colour = range(first, first + TYPES_PER_COLOUR)
    return next(c for c in of_colour if made.copies[c] > 0 and made.face[c] == face)


def lay(made, *cards):
    """The leader draws these cards, by his own choice where he has one."""
    for words in cards:
        if made.player != CHANCE:
            made.say("draw")
        made.chance(card(made, words))
    return made


def draw(made, *cards):
    """Cards that the reserve brings."""
    for words in cards:
        made.chance(card(made, words))
    return made


def give(made, seat, *cards):
    """Put unseen cards into a collection by hand, as if they had been taken from the draw pile before."""
    for words in cards:
        one = card(made, words)
        look = magpies._looks(made.face)[one]
        made.state.unseen[one] -= 1
        made.state.draw_size -= 1
        made.state.collection[seat, one] += 1
        held = made.state.holdings[seat, one // TYPES_PER_COLOUR]
        held[: magpies.HELD_JOKER] += [1, *look[[magpies.ALARM, magpies.FEATHER, magpies.LAUREL, magpies.POINTS]]]
    magpies.check(made.state)
    return made


def held(made, seat, what="cards"):
    """What a seat has of each colour."""
    return made.holdings[seat, :, magpies.HOLDINGS.index(what)].tolist()


def taken(made):
    """How many cards each seat has."""
    return [sum(held(made, seat)) for seat in range(made.num_players)]


def on_board(made):
    return (np.flatnonzero(made.present) + 1).tolist()


def tokens(*counts, laurel=None, deck=PLAIN, **options):
    """What each seat has for its jewels alone; `laurel` is a seat whose last card is the laurel."""
    made = Table(magpies, num_players=len(counts), deck=(*deck, (0, None, "laurel")), **options)
    for seat, count in enumerate(counts):
        give(made, seat, *["jewels"] * (count - (seat == laurel)), *["jewels laurel"] * (seat == laurel))
    return [magpies.score(made.state, seat) - (seat == laurel) for seat in range(len(counts))]


# ----------------------------------------------------------------------------------------- worked examples (e)


@pytest.mark.parametrize(
    ("triangles", "takes"),
    [
        pytest.param([0, 0, 0], 1, id="e.1"),
        pytest.param([0, 0, 0, 0], 2, id="e.2"),
        pytest.param([0] * 5, 2, id="e.3"),
        pytest.param([0] * 6, 4, id="e.4"),
        pytest.param([1, 2], 1, id="e.6"),
    ],
)
def test_after_a_stop_the_leader_takes_as_many_cards_as_the_table_says(triangles, takes):
    """a.4, a.5, examples e.1, e.2, e.3, e.4 and e.6"""
    t = table(*triangles)
    assert (t.laid, t.inspector, t.player) == (len(triangles), 8 - sum(triangles), 0)
    assert t.legal() == {"draw", "stop"}
    t.say("stop")
    assert (t.ending, t.to_take) == (magpies.STOPPED, takes)
    for k in range(takes):
        assert (t.player, "pass" in t.legal()) == (0, False)
        t.say(f"take-{k + 1}")
    assert taken(t)[0] == takes
    assert t.actor == 1  # the next is to share, or has shared and leads


@pytest.mark.parametrize(
    ("triangles", "inspector"),
    [
        pytest.param([0] * 7, 8, id="e.5"),
        pytest.param([3, 2], 3, id="e.7"),
        pytest.param([0] * 5 + [1], 7, id="e.9"),
    ],
)
def test_a_theft_without_a_free_space_ends_with_a_coup(triangles, inspector):
    """a.3, MAG-6, MAG-7, examples e.5, e.7 and e.9"""
    t = table(*triangles)
    assert (t.ending, t.inspector, t.laid) == (magpies.COUP, inspector, len(triangles))
    assert t.legal() == {"pass", *(f"take-{k + 1}" for k in range(len(triangles)))}


@pytest.mark.parametrize(
    ("triangles", "inspector", "stay"),
    [
        pytest.param([3, 3], 2, 1, id="e.10"),
        pytest.param([0] * 6 + [1], 7, 6, id="e.12"),
        pytest.param([0] * 6 + [2], 6, 5, id="e.13"),
        pytest.param([2, 1, 0, 3], 2, 1, id="e.15"),
    ],
)
def test_an_inspector_on_a_card_sweeps_it_and_all_to_its_right(triangles, inspector, stay):
    """a.2, MAG-4, MAG-31, examples e.10, e.12, e.13 and e.15"""
    t = table(*triangles[:-1], num_players=2)
    before = t.state.copy()
    lay(t, triangles[-1])
    if stay == 1:  # the other player had to take it
        assert (t.turns, t.leader, taken(t)) == (1, 1, [0, 1])
        assert t.last_ending == magpies.CAUGHT
    else:
        assert (t.ending, t.inspector, t.laid, t.player) == (magpies.CAUGHT, inspector, stay, 1)
        assert on_board(t) == list(range(1, stay + 1))
        assert "pass" not in t.legal()
    swept = [list(look) for look in before.board[inspector - 1 : len(triangles) - 1]]
    assert t.swept.tolist()[: len(swept)] == swept
    assert t.swept[len(swept), magpies.TRIANGLES] == triangles[-1]
    assert not t.swept[len(swept) + 1 :].any()


def test_example_16_four_players_share_five_cards_and_nothing_is_left():
    t = table(*[0] * 5).say("stop take-1 take-2 take-3 take-4")
    assert taken(t) == [2, 1, 1, 1]
    assert (t.turns, t.leader) == (1, 1)


def test_example_17_of_three_cards_at_a_table_of_two_the_leader_may_take_the_last():
    t = table(0, 0, 0, num_players=2).say("stop take-1 take-2")
    assert t.legal() == {"take-3", "pass"}
    t.say("take-3")
    assert taken(t) == [2, 1]
    left = table(0, 0, 0, num_players=2).say("stop take-1 take-2 pass")
    assert taken(left) == [1, 1]
    assert (left.unseen.sum(), left.leader) == (87, 1)


def test_example_19_after_a_capture_the_others_take_one_each_and_four_are_discarded():
    t = table(*[0] * 6, 1, num_players=3)
    assert on_board(t) == [1, 2, 3, 4, 5, 6]
    t.say("take-1 take-2")
    assert taken(t) == [0, 1, 1]
    assert (t.turns, t.leader, t.present.sum()) == (1, 1, 0)


def test_example_20_after_a_coup_the_leader_may_take_none_and_each_other_player_must_take_one():
    """MAG-8, MAG-19"""
    t = table(3, 1, 0).say("pass")
    assert (t.player, t.legal()) == (1, {"take-1", "take-2", "take-3"})
    t.say("take-2 take-1")
    assert taken(t) == [0, 1, 1, 1]  # the last one had no choice
    assert t.turns == 1


def test_example_21_a_plus_card_that_brings_a_plus_card_brings_another():
    """a.8"""
    t = table("gold < +card", 0).say("stop take-1")
    assert (t.player, t.due, t.reserve_size) == (CHANCE, 1, 15)
    draw(t, "gems alarm +card")
    assert (t.player, t.due, t.reserve_size) == (CHANCE, 1, 14)
    draw(t, "statues <<< feather 2")
    assert (t.reserve_size, t.due) == (13, 0)
    assert held(t, 0) == [0, 1, 0, 1, 1]
    assert t.chain_owner == 0
    assert np.flatnonzero(t.chain).tolist() == [card(t, "gems alarm +card"), card(t, "statues <<< feather 2")]


def test_example_22_the_third_alarm_of_a_colour_costs_all_its_cards_and_may_bring_a_joker():
    t = give(table(), 0, "gems alarm", "gems alarm", "gems", "gold", "gold")
    lay(t, "gems < alarm", 0).say("stop take-1")
    assert held(t, 0) == [0, 2, 0, 0, 0]
    assert held(t, 0, "alarms") == [0, 0, 0, 0, 0]
    assert (t.raid_owner, COLOURS[t.raid_colour]) == (0, "gems")
    assert t.legal() == {"pass", *(f"joker-{colour}" for colour in COLOURS)}
    t.say("joker-gold")
    assert held(t, 0) == [0, 3, 0, 0, 0]
    assert held(t, 0, "joker") == [0, 1, 0, 0, 0]
    assert not t.unused[0]


def test_example_24_the_last_card_of_the_draw_pile_may_be_followed_by_the_reserve_and_the_game_ends_with_the_turn():
    t = lay(Table(magpies, num_players=2, deck=PLAIN, num_colours=1, reserve_size=15), "jewels", "jewels")
    assert (t.draw_size, t.last_turn, t.legal()) == (0, 1, {"draw", "stop"})
    lay(t, "jewels")
    assert (t.reserve_size, t.over) == (14, False)
    t.say("stop take-1 take-2 pass")
    assert t.over
    assert t.reserve_size == 14


@pytest.mark.parametrize(
    ("counts", "laurel", "expected"),
    [
        pytest.param([5, 3, 1, 0], None, [5, 2, 0, 0], id="e.25"),
        pytest.param([4, 4, 2, 0], None, [2, 2, 0, 0], id="e.26"),
        pytest.param([4, 4, 2, 0], 1, [2, 5, 0, 0], id="e.27"),
        pytest.param([5, 3, 3, 1], None, [5, 2, 2, 0], id="e.29"),
        pytest.param([5, 3, 3, 1], 2, [5, 0, 2, 0], id="e.29 with the laurel"),
        pytest.param([3, 3, 3, 3], 2, [0, 0, 5, 0], id="e.31"),
        pytest.param([4, 0, 0, 0], None, [5, 0, 0, 0], id="e.33"),
        pytest.param([3, 3], None, [2, 2], id="e.34"),
        pytest.param([3, 3], 0, [5, 2], id="e.34 with the laurel"),
    ],
)
def test_tokens_for_the_most_and_second_most_cards(counts, laurel, expected):
    """a.10, MAG-2, MAG-20, MAG-21, MAG-23, examples e.25, e.26, e.27, e.29, e.31, e.33 and e.34"""
    assert tokens(*counts, laurel=laurel) == expected


def test_example_35_cards_kept_that_show_1_2_and_a_laurel_are_four_points():
    """MAG-26"""
    t = give(table(), 0, "gold 1", "gems << alarm 2", "statues << laurel")
    assert held(t, 0, "points") == [0, 1, 0, 2, 1]
    assert magpies.score(t.state, 0) == 4 + 3 * 5


# ----------------------------------------------------------------------------------------- rules of the turn (a)


def test_a1_a_card_lowers_the_gap_by_one_and_its_triangles():
    t = table(1)
    assert (t.laid, t.inspector, t.sees(0, "gap")) == (1, 7, 5)
    lay(t, 0)
    assert (t.laid, t.inspector, t.sees(0, "gap")) == (2, 7, 4)


def test_a6_a7_others_take_from_the_left_of_the_leader_who_may_take_one_more_and_the_next_seat_leads():
    t = table(*[0] * 4, first_player=2, num_players=3).say("stop take-4 take-3")
    assert t.player == 0
    t.say("take-2")
    assert taken(t) == [1, 1, 2]  # seat 1 took the last card, which it had to
    assert (t.leader, t.inspector, t.laid) == (0, 8, 0)


def test_a6_with_too_few_cards_the_last_seats_get_none():
    t = table(0, 0, num_players=4).say("stop take-1")
    assert taken(t) == [1, 1, 0, 0]


def test_a9_the_game_goes_on_while_a_card_of_the_draw_pile_is_left():
    t = Table(magpies, num_players=2, deck=((0, None, None),) * 3, num_colours=1, reserve_size=1)
    lay(t, "jewels").say("stop")
    assert (t.draw_size, t.last_turn, t.leader) == (1, 0, 1)
    lay(t, "jewels")
    assert t.last_turn
    t.say("stop")
    assert t.over


# ----------------------------------------------------------------------------------------- gaps and rulings (b)


def test_mag_1_the_default_deck_has_the_numbers_of_section_c():
    t = table()
    looks = t.copies[:, None] * magpies._looks(t.face)
    assert looks[:, :5].sum(0).tolist() == [18] * 5
    by_triangles = [int(t.copies[(t.face & 3) == triangles].sum()) for triangles in range(4)]
    assert by_triangles == [9 * 5, 5 * 5, 3 * 5, 1 * 5]
    assert looks[:, magpies.PLUS :].sum(0).tolist() == [10, 30, 20, 5, 45]  # +cards, alarms, feathers, laurels, points
    assert (t.draw_size, t.reserve_size) == (75, 15)


def test_mag_1_h7_a_deck_lists_cards_of_every_colour_or_of_one():
    deck = ((0, None, 1), (1, 2, "feather", "laurel"), (0, None, 1), (1, "alarm", None))
    t = table(num_colours=2, deck=deck, reserve_size=0)
    assert t.outcomes() == {0: 2, 1: 1, 15: 2, 16: 1, 17: 1}
    assert card(t, "gold << feather laurel") == 16


def test_mag_2_h7_tokens_are_a_pair_or_a_pair_for_each_category_white_last():
    assert tokens(2, 1, tokens=(7, 3)) == [7, 3]
    pairs = [(1, 0), (2, 0), (20, 4)]
    assert tokens(2, 1, tokens=pairs, num_colours=2) == [1, 0]
    t = give(table(tokens=pairs, num_colours=2), 1, "gold < feather")
    assert magpies.score(t.state, 1) == 2 + 20


@pytest.mark.parametrize("players", [2, 3, 4])
def test_mag_3_mag_28_two_to_four_players_play_by_the_same_rules(players):
    t = table(0, 0, 0, 0, num_players=players)
    assert (t.draw_size, t.reserve_size, t.unused.sum()) == (71, 15, players)
    t.say("stop take-1 take-2")
    assert t.to_take == 0


def test_mag_4_the_inspector_passes_over_cards_to_the_one_under_his_last_space():
    t = table(0, 0, 0, 0, 0, 3, num_players=2)  # from 8 to 5: cards lie on 1 to 6
    assert (t.ending, t.inspector, on_board(t)) == (magpies.CAUGHT, 5, [1, 2, 3, 4])
    assert t.swept.any(axis=1).sum() == 2


def test_mag_5_by_the_default_data_he_stays_on_the_board_and_with_other_data_he_stops_at_its_left_end():
    assert table(3, 3, num_players=2).last_ending == magpies.CAUGHT
    deck = ((3, None, None), (0, None, None))
    short = Table(magpies, num_players=2, board_length=2, take_table=(1,), deck=deck, reserve_size=0)
    short.chance(card(short, "jewels <<<"))  # p = 3 - 3
    assert (short.turns, taken(short), short.swept.any(axis=1).sum()) == (1, [0, 0], 1)
    nothing = Table(magpies, num_players=2, deck=((2, None, None), (3, None, None)), reserve_size=0)
    lay(nothing, "jewels <<", "gold <<", "gems <<<")  # p 1: the whole board
    assert (nothing.turns, taken(nothing), nothing.leader, nothing.swept.any(axis=1).sum()) == (1, [0, 0], 1, 3)


def test_mag_9_the_extra_card_may_be_taken_after_a_coup():
    t = table(*[0] * 5, 1, num_players=2).say("take-1 pass take-2")
    assert (t.player, t.legal()) == (0, {"pass", "take-3", "take-4", "take-5", "take-6"})
    assert taken(t.say("take-6")) == [2, 1]


def test_mag_8_after_a_coup_the_leader_may_take_all():
    t = table(3, 2, num_players=2).say("take-1 take-2")
    assert (taken(t), t.turns) == ([2, 0], 1)


def test_mag_10_with_both_piles_empty_the_theft_stops_unasked():
    t = Table(magpies, num_players=2, deck=((0, None, None),) * 4, num_colours=1, reserve_size=1)
    lay(t, *["jewels"] * 4)
    assert (t.ending, t.player, t.to_take) == (magpies.STOPPED, 0, 2)
    assert "stop" not in t.legal()


def test_mag_11_all_plus_cards_come_before_a_raid():
    t = give(table(), 0, "gold alarm", "gold alarm")
    lay(t, "gold alarm +card", 0).say("stop take-1")
    assert (t.player, held(t, 0, "alarms")[1]) == (CHANCE, 3)
    draw(t, "gold < +card")
    assert (t.player, held(t, 0)[1]) == (CHANCE, 4)
    draw(t, "gems")
    assert (held(t, 0), t.phase) == ([0, 0, 0, 1, 0], magpies.TURNING)


def test_mag_11_h4_with_raid_before_plus_raids_and_jokers_come_first_and_the_card_is_drawn_all_the_same():
    t = give(table(raid_before_plus=True), 0, "gold alarm", "gold alarm")
    lay(t, "gold alarm +card", 0).say("stop take-1")
    assert (held(t, 0)[1], t.phase, t.due, t.raid_owner) == (0, magpies.TURNING, 1, 0)
    t.say("joker-gold")
    assert (t.player, t.due) == (CHANCE, 1)
    draw(t, "gold < +card")
    assert (held(t, 0)[1], t.player) == (2, CHANCE)
    draw(t, "gems")
    assert (held(t, 0), t.due, t.chain.sum()) == ([0, 2, 0, 1, 0], 0, 2)


def test_mag_12_a_plus_card_brings_nothing_from_an_empty_reserve():
    t = table("gold < +card", 0, 0, reserve_size=0).say("stop take-1")
    assert (t.player, t.due, taken(t)) == (1, 0, [1, 0, 0, 0])


def test_mag_13_what_a_plus_card_has_brought_stays_unless_it_is_of_the_raided_colour():
    t = give(table(joker=False), 0, "gold alarm", "gold alarm")
    lay(t, "gold alarm +card", 0, 0).say("stop take-1")
    draw(t, "gems")
    assert held(t, 0) == [0, 0, 0, 1, 0]
    same = give(table(joker=False), 0, "gold alarm", "gold alarm")
    draw(lay(same, "gold alarm +card", 0, 0).say("stop take-1"), "gold")
    assert held(same, 0) == [0, 0, 0, 0, 0]


def test_mag_14_a_card_of_the_reserve_does_not_move_the_inspector():
    t = table("gold < +card", 0, 0, 0, num_players=2).say("stop take-1")
    draw(t, "gems <<< feather 2")
    assert (t.inspector, t.laid, t.sees(1, "gap"), on_board(t)) == (7, 4, 2, [2, 3, 4])


def raided(**options):
    """A raid in gold of the first leader, with jewels at home and two cards left on the board."""
    made = give(table(**options), 0, "gold alarm", "gold alarm", "jewels")
    return lay(made, "gold < alarm", 0, 0).say("stop take-1")


def test_mag_15_a_character_is_kept_for_a_later_raid_or_used_once():
    kept = raided().say("pass")
    assert (kept.unused[0], kept.player) == (1, 1)
    used = raided().say("joker-gold")
    assert (used.unused[0], held(used, 0)) == (0, [1, 1, 0, 0, 0])
    give(used, 0, "gems alarm", "gems alarm").say("take-2")
    for _ in range(3):
        lay(used, 0).say("stop")
    lay(used, "gems < alarm").say("stop")
    assert (used.leader, held(used, 0)[3], COLOURS[used.raid_colour]) == (1, 0, "gems")  # a raid, and no question
    assert raided(joker=False).player == 1


def test_mag_16_a_joker_whose_colour_is_raided_is_lost_for_good():
    t = give(raided().say("joker-gold take-2"), 0, "gold alarm 1", "gold << alarm 2")
    for _ in range(3):
        lay(t, 0).say("stop")
    lay(t, "gold alarm +card").say("stop")
    draw(t, "gems")
    assert (held(t, 0, "joker"), t.unused[0], t.phase) == ([0] * 5, 0, magpies.STEALING)


def test_mag_17_a_joker_counts_as_one_card_and_shows_nothing():
    t = raided()
    before = magpies.score(t.state, 0)
    t.say("joker-jewels")
    assert t.holdings[0, 0].tolist() == [2, 0, 0, 0, 0, 1]
    assert magpies.score(t.state, 0) == before == 5


def test_mag_18_h3_two_raids_of_one_gain_come_in_the_order_of_the_colours_each_with_its_question():
    t = give(table(take_as_batch=True, num_players=2), 0, "gold alarm", "gold alarm", "gems alarm", "gems alarm", "jewels")
    lay(t, "gems < alarm", "gold < alarm", 0, 0).say("stop take-1 take-2")
    assert (COLOURS[t.raided], held(t, 0)) == ("gold", [1, 0, 0, 3, 0])
    t.say("pass")
    assert (COLOURS[t.raided], held(t, 0)) == ("gems", [1, 0, 0, 0, 0])


def test_h3_a_joker_put_into_a_colour_whose_raid_is_due_is_lost_by_it():
    t = give(table(take_as_batch=True, num_players=2), 0, "gold alarm", "gold alarm", "gems alarm", "gems alarm")
    lay(t, "gems < alarm", "gold < alarm", 0, 0).say("stop take-1 take-2 joker-gems")
    assert (held(t, 0), t.unused[0], t.player) == ([0] * 5, 0, 1)


def test_mag_20_mag_25_without_a_feather_one_does_not_rank_for_the_white_tokens():
    t = give(table(tokens=[(0, 0)] * 5 + [(9, 4)]), 2, "gold < feather")
    assert [magpies.score(t.state, seat) for seat in range(4)] == [0, 0, 9, 0]


def test_mag_25_feathers_of_all_colours_rank_together_and_no_laurel_breaks_their_tie():
    t = table(tokens=[(0, 0)] * 5 + [(9, 4)])
    give(t, 0, "gold < feather", "gems < feather")
    give(t, 3, "jewels < feather", "statues < feather", "statues << laurel")
    give(t, 1, "jewels feather")
    assert [magpies.score(t.state, seat) for seat in range(4)] == [4, 0, 0, 4 + 1]


@pytest.mark.parametrize(
    ("counts", "laurel", "expected"),
    [
        pytest.param([2, 2, 2, 1], None, [0, 0, 0, 0], id="MAG-22"),
        pytest.param([3, 2, 2, 1], 3, [5, 2, 2, 0], id="MAG-24"),
        pytest.param([3, 2, 2, 2], None, [5, 0, 0, 0], id="MAG-32"),
        pytest.param([2, 2, 2, 1], 0, [5, 2, 2, 0], id="MAG-23"),
        pytest.param([2, 2, 2, 2], 0, [5, 0, 0, 0], id="MAG-23 and MAG-32"),
        pytest.param([2, 2, 1], None, [2, 2, 0], id="MAG-21"),
    ],
)
def test_ties_and_laurels(counts, laurel, expected):
    """MAG-21, MAG-22, MAG-23, MAG-24, MAG-32"""
    assert tokens(*counts, laurel=laurel) == expected


def test_mag_27_what_is_discarded_never_comes_back():
    t = table(0, 0, 0, num_players=2).say("stop take-1 take-2 pass")
    assert (t.unseen.sum(), t.copies.sum(), t.collection.sum(), t.card_at.max()) == (87, 90, 2, -1)


def test_mag_29_alarms_that_are_gone_do_not_count():
    t = give(raided().say("pass take-2"), 0, "gold alarm +card")
    assert held(t, 0, "alarms")[1] == 1
    for _ in range(3):
        lay(t, 0).say("stop")
    lay(t, "gold alarm 1").say("stop")
    assert held(t, 0, "alarms")[1] == 2


def test_mag_30_each_pick_of_the_leader_is_resolved_before_the_next():
    t = table("gold < +card", 0, 0, 0, num_players=2).say("stop take-1")
    assert (t.player, t.to_take) == (CHANCE, 1)
    draw(t, "gems")
    assert (t.player, t.legal()) == (0, {"take-2", "take-3", "take-4"})


def test_mag_30_h5_a_batch_joins_together_when_the_last_card_is_chosen():
    t = table("gold < +card", "gems < +card", 0, 0, take_as_batch=True, num_players=2).say("stop take-1")
    assert (t.player, taken(t), t.chosen.tolist()) == (0, [0, 0], [1, 0, 0, 0, 0, 0, 0])
    assert t.sees(1, "chosen").tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert t.sees(1, "board")[0].tolist() == [0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    t.say("take-2")
    assert (t.player, taken(t), t.due, t.chosen.any()) == (CHANCE, [2, 0], 2, False)
    draw(t, "statues", "statues")
    assert (t.player, taken(t)) == (1, [4, 0])


def test_h5_a_coup_taken_as_a_batch_ends_with_pass_or_with_the_last_card():
    t = table(3, 1, 0, take_as_batch=True, num_players=2).say("take-3 take-1")
    assert taken(t) == [0, 0]
    t.say("pass")
    assert taken(t) == [2, 1]
    whole = table(3, 2, take_as_batch=True, num_players=2).say("take-2 take-1")
    assert taken(whole) == [2, 0]


def test_h5_a_batch_with_raid_before_plus_is_raided_before_any_card_is_drawn():
    t = give(table(take_as_batch=True, raid_before_plus=True, num_players=2), 0, "gold alarm", "gold alarm")
    lay(t, "gold alarm +card", "gems < +card", 0, 0).say("stop take-1 take-2")
    assert (held(t, 0), t.due, t.phase) == ([0, 0, 0, 1, 0], 2, magpies.TURNING)
    t.say("pass")
    draw(t, "statues", "statues")
    assert held(t, 0) == [0, 0, 0, 1, 2]


def test_h5_share_and_extra_are_no_batches():
    t = table(0, 0, 0, take_as_batch=True, num_players=2).say("stop take-1 take-2")
    assert taken(t) == [1, 1]
    assert taken(t.say("take-3")) == [2, 1]


# ----------------------------------------------------------------------------------------- precisions (h)


def test_h1_cards_keep_their_space_and_the_end_of_the_theft_stays_in_sight():
    t = table(1, 0, 0, 1, num_players=2).say("stop take-2")
    assert t.legal() == {"take-1", "take-3", "take-4"}
    assert t.sees(1, "present").tolist() == [1, 0, 1, 1, 0, 0, 0]
    assert (t.laid, t.inspector, t.sees(1, "gap")) == (4, 6, 1)
    assert not t.sees(1, "board")[1].any()


def test_h1_after_a_capture_the_swept_cards_do_not_count_as_laid_and_no_space_is_free():
    t = table(*[0] * 6, 2, num_players=2)
    assert (t.laid, t.inspector, t.sees(0, "gap")) == (5, 6, 0)
    t.say("take-3")
    assert t.laid == 0  # the next turn


def test_h1_the_final_state_keeps_the_end_of_the_last_theft():
    t = Table(magpies, num_players=2, deck=((0, None, None),) * 2, num_colours=1, reserve_size=0)
    lay(t, "jewels", "jewels").say("take-1")
    assert t.over
    assert (t.laid, t.inspector, t.ending, t.present.any(), t.turns) == (2, 8, magpies.STOPPED, False, 1)
    short = lay(Table(magpies, num_players=2, board_length=3, take_table=(1, 1)), 0, 0)
    assert short.sees(0, "gap") == 1
    lay(short, 0)
    assert (short.ending, short.inspector) == (magpies.COUP, 4)


def test_h2_the_cards_still_to_take_are_zero_outside_take_and_those_after_the_joker_during_it():
    t = give(table(), 0, "gold alarm", "gold alarm")
    lay(t, "gold < alarm", 0, 0, 0)
    assert t.sees(1, "to_take") == 0
    t.say("stop")
    assert t.sees(1, "to_take") == 2
    t.say("take-1")
    assert (t.phase, t.sees(1, "to_take")) == (magpies.TURNING, 1)
    assert t.sees(1, "interrupted").tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert t.sees(1, "raided").tolist() == [0, 1, 0, 0, 0]
    t.say("pass take-3")
    assert (t.phase, t.sees(1, "to_take")) == (magpies.SHARING, 0)
    assert table(3, 2).sees(0, "to_take") == 0


def test_h3_only_colours_in_the_game_may_get_a_joker_and_a_raid_needs_as_many_alarms_as_the_option_says():
    t = give(table(num_colours=2, alarms_for_raid=2, num_players=2), 0, "gold alarm")
    lay(t, "gold < alarm", 0, 0).say("stop take-1")
    assert t.legal() == {"pass", "joker-jewels", "joker-gold"}
    assert not table(joker=False).sees(0, "unused").any()


def test_h3_two_alarms_too_many_are_one_raid():
    t = give(table(take_as_batch=True, num_players=2), 0, "gold alarm", "gold alarm")
    lay(t, "gold < alarm", "gold alarm 1", 0, 0).say("stop take-1 take-2 pass")
    assert (t.player, held(t, 0)) == (1, [0] * 5)


def test_h6_last_events_stay_in_sight_and_no_game_is_truncated():
    t = table("gold < +card", 0).say("stop take-1")
    assert t.sees(0, "due") == 1
    assert not t.sees(1, "chain_owner").any()
    draw(t, "gems")
    assert t.sees(1, "chain_owner").tolist() == [0, 0, 0, 1]
    assert np.flatnonzero(t.sees(1, "chain")).tolist() == [card(t, "gems")]
    assert t.sees(1, "last_leader").tolist() == [0, 0, 0, 1]
    assert t.sees(1, "last_ending").tolist() == [0, 1, 0, 0]
    assert (t.sees(1, "turns"), t.truncated) == (1, False)
    assert t.sees(0, "unseen").tolist() == t.unseen.tolist()
    lay(t, 3, 3)
    assert t.sees(1, "last_ending").tolist() == [0, 0, 1, 0]
    assert t.sees(3, "swept")[:, magpies.TRIANGLES].tolist() == [3, 0, 0]
    lay(t, 0).say("stop")
    assert t.sees(3, "swept")[:, magpies.TRIANGLES].tolist() == [3, 0, 0]
    assert t.chain_owner == 0


def test_h6_the_last_raid_names_its_owner_and_colour():
    t = raided()
    assert t.sees(2, "raid_owner").tolist() == [0, 0, 1, 0]
    assert t.sees(2, "raid_colour").tolist() == [0, 1, 0, 0, 0]
    fresh = table()
    assert not fresh.sees(2, "raid_owner").any()
    assert not fresh.sees(2, "raid_colour").any()


def test_h6_a_later_gain_without_a_plus_card_leaves_the_last_chain_and_one_with_it_replaces_it():
    t = table("gold < +card", 0, "gems < +card", 0, num_players=2).say("stop take-1")
    draw(t, "jewels").say("take-2")
    assert t.chain.sum() == 1
    t.say("take-3")
    draw(t, "statues")
    assert (t.chain_owner, np.flatnonzero(t.chain).tolist()) == (1, [card(t, "statues")])


def test_h8_explicit_options_override_a_preset():
    t = Table(magpies, preset="tiny", num_players=3)
    assert (t.num_players, t.board_length, t.alarms_for_raid, t.take_table.tolist()) == (3, 3, 2, [1, 1, 0, 0, 0, 0])


def markov(made):
    """h.9: what a dynamic program needs of a state."""
    names = (
        "phase", "interrupted", "raided", "leader", "actor", "owed", "card_at", "present", "chosen", "inspector", "laid",
        "to_take", "due", "ending", "draw_size", "reserve_size", "last_turn", "collection", "holdings", "unseen", "unused",
    )  # fmt: skip
    return tuple(made.state[name].tobytes() for name in names)


def test_determinize_leaves_every_state_as_it_is():
    """All is known but the order of the piles, which the state does not hold."""
    t = table("gold < +card", 0, 0).say("stop take-1")
    before = t.state.tobytes()
    for seat in range(4):
        rules.determinize(t.state, seat, chance.streams(chance.seeds(seat, 1))[0])
    assert t.state.tobytes() == before


def test_h9_another_order_of_the_same_cards_is_the_same_markov_state_when_they_are_home():
    one = table("jewels", "gold").say("stop take-1")
    other = table("gold", "jewels").say("stop take-2")
    assert markov(one) == markov(other)
    assert one.state.tobytes() == other.state.tobytes()
    third = table("gold", "jewels").say("stop take-1")
    assert markov(third) != markov(one)


def test_h10_unseen_cards_of_one_kind_are_one_outcome_whichever_pile_they_lie_in():
    t = table(preset="tiny")
    assert t.outcomes() == {0: 1, 1: 1, 2: 1, 15: 1, 16: 1, 17: 1}
    assert table().outcomes()[0] == 3


def over(*points, **options):
    """A finished game in which each seat has so many points."""
    made = Table(magpies, num_players=len(points), deck=((0, None, None),) * 9, num_colours=1, tokens=(0, 0), **options)
    while not made.over:
        if made.player == CHANCE:
            made.chance(0)
        else:
            made.say("stop")
    made.state.holdings[: len(points), 0, magpies.HELD_POINTS] = points
    return made


def test_a10_h10_the_most_points_win_and_a_tie_is_shared():
    assert over(3, 2, 1, 0, reserve_size=0).rewards() == pytest.approx([1, -1 / 3, -1 / 3, -1 / 3])
    assert over(3, 3, 1, 0, reserve_size=0).rewards() == pytest.approx([1 / 3, 1 / 3, -1 / 3, -1 / 3])


def test_a_score_reward_is_the_lead_over_the_mean_of_the_others():
    made = over(16, 10, 4, reserve_size=0, reward="score")
    assert made.rewards() == pytest.approx([9 / 75, 0, -9 / 75])
    made.state.tokens[magpies.COLOURS.index("jewels")] = 20
    made.state.holdings[0, :, magpies.HELD_POINTS] = 100
    assert made.rewards()[0] == 1


def test_first_player_is_a_seat_or_drawn_by_chance():
    assert table(first_player=2).leader == 2
    drawn = Table(magpies, first_player="random")
    assert drawn.outcomes() == {0: 1, 1: 1, 2: 1, 3: 1}
    drawn.chance(3)
    assert lay(drawn, 0).player == 3


def test_a_take_table_of_ones_leaves_more_for_the_others():
    t = table(*[0] * 6, take_table=(1,) * 6).say("stop")
    assert t.to_take == 1


def test_a_card_that_must_be_taken_and_is_the_only_one_is_taken_unasked():
    t = table(0).say("stop")
    assert (t.turns, taken(t)) == (1, [1, 0, 0, 0])
    asked = table(3, 2, num_players=2).say("take-1")
    assert (asked.player, asked.legal()) == (0, {"take-2", "pass"})  # after a coup it need not be


def test_section_f_action_names_match_their_numbers():
    assert magpies.ACTION_NAMES[magpies.STOP] == "STOP"
    assert magpies.ACTION_NAMES[magpies.TAKE + 6] == "TAKE 7"
    assert magpies.ACTION_NAMES[magpies.PASS] == "PASS"
    assert magpies.ACTION_NAMES[magpies.JOKER + 4] == "JOKER STATUES"
    assert len(magpies.ACTION_NAMES) == magpies.NUM_ACTIONS == 15


def test_the_text_tells_everybody_the_same():
    t = draw(table("gold < +card", 0, 0).say("stop take-1"), "gems << alarm 2")
    text = """\
Magpies, turn 1: SHARE, draw pile 72, reserve 14
Theft stopped: 3 cards, inspector on 7, gap 3
   1: -
   2: jewels
   3: jewels
L  player_0: 1 gold, 1 gems (alarms 1, points 2), character unused
 > player_1: character unused
   player_2: character unused
   player_3: character unused
Last +card: player_0 drew gems << alarm 2"""
    assert magpies.describe(t.state) == text
    assert magpies.describe(t.state, 2) == text


# ----------------------------------------------------------------------------------------- bad data


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("num_players", 5, "num_players 5"),
        ("board_length", 1, "board_length 1"),
        ("joker", 2, "joker is neither 0 nor 1"),
        ("present", -1, "present is neither"),
        ("first_player", 4, "first player"),
        ("start_reserve", 89, "more cards|draw pile"),
        ("copies", 127, "cards"),
        ("copies", 0, "0 cards"),
        ("face", 255, "shows what none does"),
        ("take_table", 7, "take table"),
        ("take_table", 0, "take table"),
        ("tokens", -1, "tokens"),
        ("card_at", 75, "that there is not"),
        ("card_at", -2, "that there is not"),
        ("unseen", -1, "negative"),
        ("unseen", 0, "unseen cards"),
        ("collection", 9, "more cards than there are"),
        ("draw_size", 71, "unseen cards"),
        ("reserve_size", 16, "reserve 16"),
        ("last_turn", 1, "last turn"),
        ("turns", 127, "127 turns"),
        ("holdings", 0, "holdings|numbers of cards"),
        ("cards_left", 7, "cards present"),
        ("board", 0, "looks of the board"),
        ("chosen", 1, "not both|present or chosen"),
        ("laid", 8, "8 cards"),
        ("laid", 1, "beyond those laid"),
        ("inspector", 0, "gap|cards"),
        ("leader", 4, "leader 4"),
        ("actor", 0, "acts"),
        ("actor", -1, "actor -1"),
        ("owed", 1, "due"),
        ("due", 1, "due"),
        ("to_take", 1, "to take"),
        ("ending", 0, "theft"),
        ("ending", 3, "gap"),
        ("interrupted", 3, "interrupted"),
        ("raided", 0, "interrupted"),
        ("phase", 8, "phase 8"),
        ("phase", 1, "acts"),
        ("phase", 2, "acts"),
        ("phase", 6, "acts"),
        ("phase", 7, "actor"),
        ("last_leader", 4, "last_leader 4"),
        ("last_ending", 2, "last theft"),
        ("last_ending", 4, "last ending 4"),
        ("swept", 1, "swept"),
        ("chain", -1, "last chain"),
        ("chain_owner", 2, "last chain"),
        ("chain_goes_on", 1, "goes on"),
        ("raid_colour", 3, "last raid"),
        ("raid_owner", 3, "last raid"),
    ],
)
def test_a_bad_state_is_refused(field, value, message):
    t = give(table(0, 0, 0, 0), 0, "gold alarm").say("stop take-2 take-1")
    magpies.check(t.state)
    t.state[field] = value
    with pytest.raises(ValueError, match=f"not a state of magpies: .*({message})"):
        magpies.check(t.state)


def test_a_bad_state_before_a_joker_or_with_two_of_them_is_refused():
    t = raided()
    for field, value in (("unused", 0), ("raided", 4), ("interrupted", 2), ("due", 1), ("raided", 5)):
        bad = t.state.copy()
        bad[field] = value
        with pytest.raises(ValueError, match="not a state of magpies"):
            magpies.check(bad)
    used = t.say("joker-gold").state
    used.holdings[0, 3, [magpies.HELD_JOKER, magpies.HELD_CARDS]] += 1
    with pytest.raises(ValueError, match="one character each"):
        magpies.check(used)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "num_players=1: allowed is 2 to 4"),
        ({"num_players": 5}, "num_players=5: allowed is 2 to 4"),
        ({"num_players": 3.0}, "num_players=3.0"),
        ({"first_player": 3, "num_players": 3}, "seats 0 to 2"),
        ({"first_player": "left"}, "first_player='left'"),
        ({"num_colours": 6}, "num_colours=6: allowed is 1 to 5"),
        ({"board_length": 1}, "board_length=1: allowed is 2 to 7"),
        ({"board_length": 5}, r"take_table=\(1, 1, 1, 2, 2, 4\): 4 whole numbers for board_length=5"),
        ({"take_table": (1, 1, 1, 2, 2, 7)}, "from 1 to the cards laid"),
        ({"take_table": (0, 1, 1, 2, 2, 4)}, "from 1 to the cards laid"),
        ({"take_table": 3}, "got take_table=3"),
        ({"take_table": (1, 1, 1, 2, 2, True)}, "got take_table"),
        ({"reserve_size": 90}, "reserve_size=90: allowed is 0 to 89"),
        ({"reserve_size": 18, "num_colours": 1}, "reserve_size=18 for a deck of 18 cards: at most 17"),
        ({"alarms_for_raid": 0}, "alarms_for_raid=0"),
        ({"joker": 1}, "joker=1: allowed is True, False"),
        ({"raid_before_plus": None}, "raid_before_plus=None"),
        ({"tokens": (5,)}, r"tokens=\(5,\): a pair"),
        ({"tokens": (5, 21)}, "from 0 to 20"),
        ({"tokens": [(5, 2)] * 5}, "or 6 pairs, white last"),
        ({"tokens": 5}, "got tokens=5"),
        ({"tokens": "52"}, "got tokens='52'"),
        ({"deck": ()}, "empty deck"),
        ({"deck": 7}, "got deck=7"),
        ({"deck": [(0, None)]}, r"card \(0, None\): a deck has"),
        ({"deck": [(4, None, None)]}, "triangles 0 to 3"),
        ({"deck": [(True, None, None)]}, "got the card"),
        ({"deck": [(0, "bell", None)]}, "left .*'alarm'"),
        ({"deck": [(0, None, 3)]}, "right .*'laurel'"),
        ({"deck": [(0, None, True)]}, "got the card"),
        ({"deck": [(5, 0, None, None)]}, "colour 0 to 4"),
        ({"deck": [(1, 0, None, None)], "num_colours": 1}, "colour 0 to 0"),
        ({"deck": [(0, None, "laurel"), (0, 1, None, "laurel")]}, "2 laurels of one colour: at most one"),
        ({"deck": [(0, None, None)] * 19}, "more than 90 cards"),
        ({"deck": [(0, None, 2)] * 64, "num_colours": 1}, "128 points on the cards of one colour: at most 127"),
        (
            {"deck": [(0, None, None), (2, None, None)], "board_length": 2, "take_table": (1,), "reserve_size": 5},
            "draw pile of 5 cards: a game in which nobody has a choice is possible",
        ),
        ({"deck": [(0, None, None)], "num_colours": 1, "reserve_size": 0}, "nobody has a choice is possible"),
        ({"reward": "points"}, "'win', 'score'"),
        ({"preset": "huge"}, "'tiny', 'small'"),
    ],
)
def test_h8_inconsistent_data_is_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        magpies.new_initial_state(**options)


def test_h7_at_most_15_different_cards_a_colour():
    deck = [(t, left, right) for t in range(4) for left in (None, "alarm") for right in (None, 1)]
    magpies.new_initial_state(deck=deck[:15], num_colours=1, reserve_size=0)
    with pytest.raises(ValueError, match="more than 15 different cards of colour 0"):
        magpies.new_initial_state(deck=deck, num_colours=1, reserve_size=0)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(TypeError, match=r"unknown option 'pot'.*num_players, first_player"):
        magpies.new_initial_state(pot=3)
