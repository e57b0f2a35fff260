"""The rule page of Cleaners in code: a deal, a play, a fact. Numbers are those of the page."""

import itertools

import numpy as np
import pytest

from heist_envs.games import cleaners
from heist_envs.games.cleaners import (
    ACCUSE,
    CAP,
    EMPTY,
    ENOUGH,
    INSTANT,
    MURDERER,
    NO_SEAT,
    ON_TABLE,
    ON_TOP,
    OVER,
    STUCK,
    WON,
)
from heist_envs.rules import CHANCE
from tests.tables import Table

A, B, C, D, E = range(5)
WHOLE_DECK = 13


def villa_cards(t):
    """The Villa cards in the order of chance's outcomes."""
    objects = t.villa_value[: t.num_objects].tolist()
    return objects + [name for name, card in zip(cleaners.SPECIALS, t.special, strict=True) if card]


def table(pile=(), up=(), characters=(), hands=(), **options):
    """A table after the deal; everybody holds his whole deck unless a hand size is given.

    Args:
        pile: the first cards of the Villa pile, the others follow in their order.
        up: the objects that lie face up; if there are more, the highest ones that `pile` does not name.
        characters: of the seats, as outcomes of chance; then the first ones in order.
        hands: the first cards that each seat is dealt; the lowest ones follow.
    """
    if "hand_size" not in options and "preset" not in options:
        flies, values = options.get("num_flies", 3), options.get("vice_values", range(1, 11))
        options["hand_size"] = len(values) + flies
    t = Table(cleaners, **{"mode": "rookie"} | options)
    if t.phase == cleaners.FIRST:
        t.chance(0)
    cards = villa_cards(t)
    others = [card for card in cards[::-1] if card not in up and card not in pile and not isinstance(card, str)]
    lying_up = [*up, *others, *[card for card in pile if not isinstance(card, str) and card not in up]][: t.num_face_up]
    t.chance(*map(cards.index, lying_up))
    t.chance(*map(cards.index, [*pile, *(card for card in cards if card not in pile)]))
    t.chance(*characters)
    while t.phase == cleaners.CHARACTERS:
        t.chance(min(t.outcomes()))
    for seat in range(t.num_players):
        t.chance(*(hands[seat] if seat < len(hands) else ()))
        while t.phase == cleaners.HANDS and t.actor == seat:
            t.chance(min(t.outcomes()))
    return t


def play(t, *turns, draw=min):
    """Turns one after another, each in words; of the cards that chance may give, the lowest."""
    for turn in turns:
        t.say(turn)
        while t.player == CHANCE:
            t.chance(draw(t.outcomes()))
    return t


def four_cards(t, slot, *values):
    """Four players in turn lay a card at a Villa card, the first one face down."""
    return play(
        t, *(f"place-{v} villa-{slot}".replace(" ", f"-{f} ") for v, f in zip(values, ["down", "up"] * 2, strict=True))
    )


def won(t, seat):
    """The Villa cards that a seat has won, in the words of `villa_cards`."""
    return [villa_cards(t)[t.pile[s] - 1] for s in range(t.num_villas) if t.holder[s] == seat]


def give(t, seat, *cards):
    """Put Villa cards in front of a seat, as if it had won them."""
    for card in cards:
        slot = t.pile.tolist().index(villa_cards(t).index(card) + 1)
        t.holder[slot], t.where[slot] = seat, WON
        t.won_counts[seat] += 1
    return t


def is_character(t, seat, character):
    """Make a seat one of the crew, counted from 0, or the Murderer."""
    t.character[seat] = character + 1 if character != MURDERER else MURDERER
    t.favourite[seat] = t.wants[character] if character != MURDERER else 0
    return t


# ----------------------------------------------------------------------------------------- worked examples (e)


@pytest.mark.parametrize(("mode", "cards", "left"), [("base", 17, 14), ("murderer", 18, 15), ("detective", 19, 16)])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_example_1_a1_cle_23_three_villa_cards_lie_on_the_table_for_every_number_of_players(mode, cards, left, players):
    t = table(mode=mode, num_players=players)
    assert (t.num_villas, t.pile_size) == (cards, left)
    assert (t.where == ON_TABLE).sum() == 3
    assert t.lies_up.sum() == 8
    assert (t.hand_sizes[:players] == WHOLE_DECK).all()
    assert (t.num_villas - t.lies_up.sum()) == {17: 9, 18: 10, 19: 11}[cards]
    assert table(n_start=5, num_players=players).pile_size == 12


FACINGS = {
    (): {"up", "down"},
    ("up",): {"down"},
    ("down",): {"up"},
    ("up", "down"): {"up", "down"},
    ("up", "down", "up"): {"down"},
    ("down", "up", "down"): {"up"},
}


@pytest.mark.parametrize("laid", FACINGS)
def test_example_2_cle_5_the_facings_alternate(laid):
    t = table(n_start=1, num_players=2)
    play(t, *(f"place-{value}-{facing}" for value, facing in enumerate(laid, start=1)))
    legal = {facing for facing in ("up", "down") if t.state["takes_" + facing][0]}
    assert legal == FACINGS[laid]


def test_example_2_cle_5_two_open_cards_without_a_face_down_one_take_a_face_down_card():
    t = table(num_players=2)
    play(t, "place-1-up villa-0", "place-2-down villa-0", "place-3-up villa-0", "place-1-up villa-1")
    play(t, "move villa-2")
    assert (t.takes_down[0], t.takes_up[0]) == (1, 0)  # (2, 0)
    assert (t.takes_down[2], t.takes_up[2]) == (0, 1)  # (0, 1)


def test_example_3_a2_a5_the_highest_sum_wins_and_all_vice_cards_go_to_their_owners_discards():
    t = table(num_players=3, hand_size=3, hands=[(7, 2, 5), (6, 5, 3), (4, 5, 3)])
    play(t, "place-7-down villa-0", "place-6-up villa-0", "place-4-down villa-0", "place-2-up villa-0", draw=max)
    assert t.holder[0] == A
    assert np.flatnonzero(t.discard[A]).tolist() == [2, 7]
    assert np.flatnonzero(t.discard[B]).tolist() == [6]
    assert np.flatnonzero(t.discard[C]).tolist() == [4]
    assert t.resolved_winner == A
    assert sorted(t.resolved_value - 1) == [2, 4, 6, 7]


def test_example_4_the_two_highest_are_out_and_the_third_wins():
    t = table(num_players=3)
    play(t, "place-6-down villa-0", "place-6-up villa-0", "place-2-down villa-0")
    play(t, "place-1-up villa-1", "place-1-up villa-2", "place-1-up villa-0")
    assert t.holder[0] == C


def test_example_5_a_tie_of_all_leaves_the_villa_card_as_it_lies():
    t = table(num_players=2, pile=["dog"])
    play(t, "place-5-down villa-0", "place-4-up villa-0", "place-1-down villa-0", "place-2-up villa-0")
    assert t.holder[0] == NO_SEAT
    assert (t.where[0], t.face_up[0]) == (ON_TABLE, 0)
    assert (t.down_owner[0] == NO_SEAT).all()
    assert (t.up_owner[0] == NO_SEAT).all()
    assert (t.takes_down[0], t.takes_up[0]) == (1, 1)
    assert t.resolved_winner == NO_SEAT


def test_example_7_cle_14_of_two_ties_nobody_wins():
    t = four_cards(table(num_players=4), 0, 5, 5, 3, 3)
    assert (t.holder[0], t.where[0]) == (NO_SEAT, ON_TABLE)


def test_example_8_three_tie_and_the_fourth_wins():
    assert four_cards(table(num_players=4), 0, 4, 4, 4, 1).holder[0] == D


def test_example_11_cle_9_cle_10_a3_a_card_moved_to_three_others_decides_at_once():
    t = table(num_players=2)
    play(t, "place-5-up villa-0", "place-3-down villa-0", "place-4-up villa-0", "place-7-down villa-1")
    t.say("move")
    assert t.legal() == {"vice-0-0", "vice-1-0"}
    t.say("vice-1-0")
    assert t.legal() == {"villa-0", "villa-2", "villa-3"}
    play(t, "villa-0")
    assert t.holder[0] == B  # 5 + 4 against 3 + 7
    assert t.down_owner[1, 0] == NO_SEAT


def test_example_11_cle_9_a_card_cannot_move_to_where_only_an_open_one_may_be_laid():
    t = table(num_players=2)
    play(t, "place-5-down villa-0", "place-1-up villa-0", "place-4-down villa-0", "place-2-down villa-1")
    play(t, "place-7-down villa-2", "place-3-up villa-2")
    t.say("move vice-1-0")
    assert t.legal() == {"villa-2", "villa-3"}  # (1, 2) and its own Villa card do not; (1, 1) and (0, 0) do


def test_cle_9_a_card_moves_to_a_different_villa_card():
    t = play(table(num_players=2), "place-5-up villa-0", "place-3-down villa-0").say("move")  # the only card to move
    assert t.takes_down[0]
    assert t.legal() == {"villa-1", "villa-2"}


def test_cle_9_the_only_villa_card_with_room_cannot_be_left():
    t = table(num_players=2, n_start=1)
    play(t, "place-5-up", "place-3-down")
    assert "move" not in t.legal()
    two = table(num_players=2, n_start=2)
    play(two, "place-5-up villa-0", "place-3-down villa-0", "place-4-down villa-1")
    assert (two.spaces_down, two.legal() >= {"move"}) == (1, True)
    two.say("move")  # of the card at slot 1 to slot 0, both named by themselves: now it is the third there
    assert two.player == CHANCE
    assert two.down_owner[:2].tolist() == [[B, A], [NO_SEAT, NO_SEAT]]


def test_example_12_cle_4_after_a_swap_everybody_knows_whose_card_lies_where():
    t = table(num_players=3)
    play(t, "place-10-down villa-0", "place-1-down villa-1", "place-5-up villa-2", "swap vice-0-0")
    assert (t.down_owner[0, 0], t.down_owner[1, 0]) == (B, A)
    assert t.sees(A, "known_vice")[:2, 0].tolist() == [0, 10 + 1]
    assert t.sees(B, "known_vice")[:2, 0].tolist() == [1 + 1, 0]
    assert not t.sees(C, "known_vice").any()
    assert t.sees(C, "down_owner")[:2, 0].tolist() == [3, 2]
    assert t.lying[:2].tolist() == [1, 1]


@pytest.mark.parametrize("zero_wins", [False, True])
def test_example_14_a7_cle_16_cle_17_cle_18_h4_the_rest_is_decided_at_the_end(zero_wins):
    t = table(num_players=3, villas_to_win=1, zero_presence_wins=zero_wins)
    play(t, "place-7-down villa-0", "place-5-up villa-2", "place-5-down villa-2")
    play(t, "place-2-up villa-0", "place-3-up villa-1", "place-1-down villa-0")
    play(t, "peek-vice vice-0-1", "peek-vice vice-0-1", "place-0-up villa-3", "place-3-up villa-0")
    assert (t.phase, t.end) == (OVER, ENOUGH)
    assert t.holder[:4].tolist() == [A, B, NO_SEAT, C if zero_wins else NO_SEAT]
    assert [slot for slot in range(19) if t.final_value[slot].any()] == [1, 2, 3]
    assert (t.discard[B, 3], t.discard[B, 5], t.discard[C, 5], t.discard[C, 0]) == (1, 1, 1, 1)


def test_example_15_a9_the_score_is_the_sum_and_the_bonus():
    t = give(table(mode="base"), A, 12, 7, 3, "weapon")
    assert cleaners.score(is_character(t, A, 0).state, A) == 17  # Crew A is after none of them
    assert cleaners.score(is_character(t, A, 3).state, A) == 27  # Crew D after two


def test_example_16_h11_the_murderer_counts_special_cards_the_other_way_round():
    t = give(table(mode="murderer"), A, "weapon", "dog", 8)
    assert cleaners.score(is_character(t, A, MURDERER).state, A) == 23
    assert cleaners.score(is_character(t, A, 0).state, A) == -7
    dear = give(table(mode="murderer", weapon_value=7), A, "weapon")
    assert cleaners.score(is_character(dear, A, MURDERER).state, A) == -7


def instant_win(**options):
    """A is the Murderer and wins Weapon, Dog and Body from B, slot after slot."""
    t = table(mode="murderer", pile=["weapon", "dog", "body"], num_players=2, characters=(6, 0), **options)
    for slot, (high, low) in enumerate([(10, 9), (8, 7), (6, 5)]):
        if not t.over:
            play(t, f"place-{high}-down villa-{slot}", f"place-{slot + 1}-up villa-{slot}")
            play(t, f"place-{low}-down villa-{slot}", f"place-{slot + 4 if slot < 2 else 0}-up villa-{slot}")
    return t


def test_example_17_a7_the_murderer_with_all_three_cards_wins_alone_at_once():
    t = instant_win()
    assert (t.phase, t.end, t.turns) == (OVER, INSTANT, 12)
    assert won(t, A) == ["weapon", "dog", "body"]
    assert t.rewards() == [1, -1]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_example_20_cle_25_the_murderer_is_in_play_n_times_in_n_plus_2(players):
    t = Table(cleaners, mode="murderer", num_players=players)
    while t.phase != cleaners.CHARACTERS:
        t.chance(min(t.outcomes()))
    without = 1.0
    for _ in range(players):
        weights = t.outcomes()
        assert {weights[k] for k in weights if k != 6} == {players + 1 - t.actor}  # all of the crew alike
        without *= 1 - weights[6] / sum(weights.values())
        t.chance(min(weights))
    assert 1 - without == pytest.approx(players / (players + 2))


# ----------------------------------------------------------------------------------------- gaps and rulings (b)


def test_cle_1_every_two_of_the_crew_compete_for_one_object():
    crew = list(cleaners.CREW.values())
    assert all(len({*one} & {*other}) == 1 for one, other in itertools.combinations(crew, 2))
    assert [sum(wants) for wants in crew] == [40] * 6
    own = Table(cleaners, mode="base", num_players=2, characters={"X": (3,), "Y": (4, 15)})
    assert np.flatnonzero(own.wants[1]).tolist() == [3, 14]


def test_cle_2_the_objects_that_lie_face_up_are_drawn_and_unknown_until_seen():
    t = Table(cleaners, mode="rookie", num_players=2)
    assert t.outcomes() == dict.fromkeys(range(15), 1)
    t.chance(3)
    assert t.outcomes() == {k: 1 for k in range(15) if k != 3}
    dealt = table(pile=["dog", 4], up=[4])
    assert dealt.sees(A, "known_villa")[:2].tolist() == [0, 4]
    assert dealt.sees(A, "face_up")[:2].tolist() == [0, 1]
    other = table(pile=["dog", 4], up=[4, 15], num_face_up=2)
    assert not other.sees(A, "known_villa")[3:].any()


@pytest.mark.parametrize("shown", [True, False])
def test_cle_3_the_top_of_the_pile_is_in_sight(shown):
    t = table(pile=["dog", "weapon", 1, 5], up=[5], show_pile_top=shown)
    assert t.sees(B, "where")[3] == (ON_TOP if shown else 0)
    assert t.sees(B, "known_villa")[3] == (5 if shown else 0)
    play(t, "place-5-up villa-0", "place-3-down villa-0", "place-4-up villa-0")
    assert t.sees(B, "where")[3] == ON_TABLE
    assert t.sees(B, "known_villa")[3] == 5


def test_cle_6_h6_peeks_are_at_face_down_cards_on_the_table_known_or_not():
    t = table(num_players=2, pile=["dog", 4, "weapon", 1], up=[4], num_face_up=8)
    play(t, "place-5-up villa-0", "place-3-down villa-0", "place-4-down villa-1", "peek-villa villa-0")
    t.say("peek-villa")
    assert t.legal() == {"villa-0", "villa-2"}  # slot 1 lies face up, slot 3 is in the pile
    play(t, "villa-2", "peek-villa villa-0")  # a second time
    assert t.sees(B, "known_villa")[:4].tolist() == [17, 4, 0, 0]
    assert t.sees(A, "known_villa")[:4].tolist() == [0, 4, 16, 0]
    t.say("peek-vice")
    assert t.legal() == {"vice-0-0", "vice-1-0"}


def test_cle_7_own_cards_may_be_peeked_at_moved_and_swapped():
    t = play(table(num_players=2), "place-5-down villa-0", "place-3-down villa-1")
    assert "vice-0-0" in t.say("peek-vice").legal()
    t = play(table(num_players=2), "place-5-down villa-0", "place-3-down villa-1")
    assert "vice-0-0" in t.say("move").legal()
    t = play(table(num_players=2), "place-5-down villa-0", "place-3-down villa-1")
    assert "vice-0-0" in t.say("swap").legal()


def test_cle_8_a_swap_is_between_two_villa_cards():
    t = table(num_players=2)
    play(t, "place-5-down villa-0", "place-3-up villa-0", "place-4-down villa-0", "place-1-down villa-1")
    play(t, "swap vice-0-0")
    assert t.last_turn[A].tolist() == [5, 1, 0, 2, 0, 0]  # one target was left, vice-1-0, and named by itself
    alone = play(table(num_players=2), "place-5-down villa-0", "place-3-up villa-0", "place-4-down villa-0")
    assert "swap" not in alone.legal()
    both = play(t, "place-9-down villa-2").say("swap vice-1-0")
    assert both.legal() == {"vice-0-0", "vice-0-1", "vice-2-0"}


@pytest.mark.parametrize(("noop", "without", "with_target"), [("fallback", 1, 0), ("always", 1, 1), ("never", 0, 0)])
def test_cle_11_h7_when_a_fly_may_be_discarded_without_effect(noop, without, with_target):
    t = table(num_players=2, pile=[1, 2, 3, 4], up=[1, 2, 3, 4], fly_noop=noop)
    assert ("nothing" in t.legal()) == without
    play(t, "place-5-down villa-0")
    assert ("nothing" in t.legal()) == with_target
    if without:
        t = play(table(num_players=2, pile=[1, 2, 3, 4], up=[1, 2, 3, 4], fly_noop=noop), "nothing")
        assert t.last_turn[A].tolist() == [6, 0, 0, 0, 0, 0]


def test_cle_12_a4_every_third_card_brings_a_villa_card():
    t = table(num_players=2)
    play(t, "place-5-up villa-0", "place-3-down villa-0", "place-4-up villa-0")
    assert t.pile_size == 13
    play(t, "move villa-1")
    assert t.pile_size == 13
    play(t, "place-6-down villa-0")
    assert t.pile_size == 12
    four_more = table(num_players=2)
    play(four_more, "place-5-down villa-0", "place-5-up villa-0", "place-1-down villa-0", "place-1-up villa-0")
    play(four_more, "place-2-down villa-0", "place-2-up villa-0", "place-3-down villa-0")
    assert four_more.pile_size == 12


def test_cle_13_an_empty_pile_brings_nothing():
    t = table(num_players=2, objects=(1, 2, 3), num_face_up=0, dog_value=None, n_start=4)
    assert t.pile_size == 0
    play(t, "place-5-up villa-0", "place-3-down villa-0", "place-4-up villa-0")
    assert (t.where == ON_TABLE).sum() == 4


def test_cle_15_a_tie_of_lower_sums_does_not_matter():
    assert four_cards(table(num_players=4), 0, 9, 4, 4, 1).holder[0] == A


@pytest.mark.parametrize("zero_wins", [False, True])
def test_cle_16_a_sum_of_0_wins_nothing_even_as_third_party(zero_wins):
    t = table(num_players=3, zero_presence_wins=zero_wins)
    play(t, "place-6-down villa-0", "place-6-up villa-0", "place-0-down villa-0")
    play(t, "place-1-up villa-1", "place-1-up villa-2", "place-0-up villa-0")
    assert t.holder[0] == (C if zero_wins else NO_SEAT)


def test_cle_17_without_a_sum_above_0_the_villa_card_stays():
    t = four_cards(table(num_players=4), 0, 0, 0, 0, 0)
    assert (t.where[0], t.resolved_slot, t.resolved_winner) == (ON_TABLE, 1, NO_SEAT)


def test_cle_19_without_cards_to_draw_one_plays_on_with_fewer():
    t = table(num_players=2, vice_values=(1, 2), num_flies=0)
    play(t, "place-1-up villa-0")
    assert (t.hand_sizes[A], t.draw_sizes[A], t.player) == (1, 0, B)
    play(t, "place-1-up villa-1", "place-2-up")
    assert (t.hand_sizes[A], t.player) == (0, B)


def test_cle_19_a_seat_without_a_card_is_passed_over():
    t = table(num_players=3, vice_values=(1, 2), num_flies=0)
    play(t, "place-1-up villa-0", "place-1-down villa-0", "place-1-up villa-1")
    play(t, "place-2-up villa-0", "place-2-down villa-0", "place-2-down villa-1")  # A and B tie and have their cards again
    play(t, "place-1-up villa-0", "place-1-down villa-0")
    assert (t.hand_sizes[C], t.player, t.skipped) == (0, A, 1)


def test_cle_20_h2_when_nobody_has_a_card_the_game_ends_with_the_last_resolutions():
    t = table(num_players=2, vice_values=(1,), num_flies=0, reward="score")
    play(t, "place-1-up villa-0", "place-1-up villa-1")
    assert (t.over, t.end, t.skipped, t.turns) == (True, STUCK, 2, 2)
    assert t.holder[:3].tolist() == [A, B, NO_SEAT]
    assert not t.truncated


def test_cle_21_discards_are_open():
    t = play(table(num_players=2, hand_size=3, hands=[(0, 1, 2)]), "peek-villa villa-0")
    assert t.sees(B, "discard")[1].tolist() == [1] + [0] * 10


def test_cle_22_a6_a_fly_just_discarded_may_be_drawn_at_once():
    t = table(num_players=2, vice_values=(1, 2), num_flies=1)
    t.say("peek-villa villa-0")
    assert (t.player, t.outcomes()) == (CHANCE, {0: 1})
    t.chance(0)
    assert t.hand[A].tolist() == [1, 1, 1] + [0] * 8
    assert (t.reshuffles[A], t.discard[A].sum()) == (1, 0)


def test_a6_the_draw_pile_is_used_up_before_the_discards_are_shuffled():
    t = table(num_players=2, vice_values=(1, 2, 3), num_flies=1, hand_size=2, hands=[(0, 1), (0, 1)])
    play(t, "peek-villa villa-0")  # draws 2
    assert (t.draw_sizes[A], t.reshuffles[A]) == (1, 0)
    play(t, "peek-villa villa-0", "place-1-up villa-0", "place-1-down villa-0")
    assert (t.draw_sizes[A], t.reshuffles[A], t.discard[A, 0]) == (0, 0, 1)
    play(t, "place-2-up villa-1")
    assert (t.reshuffles[A], t.hand[A, 0]) == (1, 1)


def test_cle_24_the_murderer_has_no_bonus():
    t = give(table(mode="murderer", bonus=(0, 50, 50, 50, 50, 50)), A, 12)
    assert cleaners.score(is_character(t, A, MURDERER).state, A) == 12
    assert cleaners.score(is_character(t, A, 2).state, A) == 62


def test_cle_26_the_keyhole_counts_as_a_villa_card_and_as_its_value():
    t = detective()
    assert t.won_counts.tolist()[:3] == [0, 2, 1]
    assert won(t, B) == [9, "keyhole"]
    t.say("no-accusation")
    assert cleaners.score(t.state, B) == 9 + 5 * bool(t.favourite[B, 8])
    dear = give(table(mode="detective", keyhole_value=4), A, "keyhole")
    assert cleaners.score(is_character(dear, A, MURDERER).state, A) == 4


def detective(murderer=C, **options):
    """The cap has come: B has won the 9 and the Keyhole, C the 4, A nothing."""
    characters = [6 if seat == murderer else seat for seat in range(3)]
    three = {"mode": "detective", "num_players": 3, "max_turns": 5, "pile": [9, "keyhole", 4], "up": [4, 9]}
    t = table(characters=characters, **three, **options)
    play(t, "place-0-up villa-0", "place-9-down villa-0", "place-9-up villa-2", "place-0-down villa-2", "place-8-up villa-1")
    return t


def test_a8_cle_28_the_holder_of_the_keyhole_may_accuse_one_player_or_nobody():
    t = detective()
    assert (t.phase, t.player, t.end) == (ACCUSE, B, CAP)
    assert t.legal() == {"no-accusation", "accuse-+1", "accuse-+2"}
    t.say("no-accusation")
    assert (t.over, t.accused, t.moved) == (True, NO_SEAT, 0)
    assert t.sees(A, "accuser") == 2


def test_a8_h11_the_murderer_pays_the_accuser_with_his_highest_object():
    t = detective()
    assert won(t, C) == [4]
    t.say("accuse-+1")
    assert (won(t, B), won(t, C)) == ([9, "keyhole", 4], [])
    assert t.won_counts.tolist()[:3] == [0, 3, 0]
    assert t.turns == 5  # h.3: the accusation is not a turn


def test_a8_h11_the_accuser_pays_an_innocent_with_his_highest_object():
    t = detective().say("accuse-+2")
    assert (won(t, A), won(t, B)) == ([9], ["keyhole"])
    assert t.sees(C, "moved") == 1


def test_a8_without_an_object_nothing_moves():
    t = detective(murderer=A).say("accuse-+2")
    assert (won(t, A), won(t, B), t.moved, t.accused) == ([], [9, "keyhole"], 0, A)


def test_cle_27_a_murderer_with_the_keyhole_is_not_asked():
    t = detective(murderer=B)
    assert (t.over, t.accuser) == (True, NO_SEAT)


@pytest.mark.parametrize("is_open", [False, True])
def test_cle_29_h10_won_cards_are_open_during_the_accusation_only_by_option(is_open):
    t = detective(accusation_open=is_open)
    assert t.sees(A, "known_villa")[1] == (19 if is_open else 0)
    t.say("no-accusation")
    assert t.sees(A, "known_villa")[1] == 19


def test_cle_30_the_bonus_is_counted_after_the_accusation():
    t = detective()  # B is Crew B, who is after the 4
    before = cleaners.score(t.state, B)
    t.say("accuse-+1")
    assert cleaners.score(t.state, B) == before + 4 + 5


def test_cle_31_h1_an_instant_win_comes_before_the_fourth_villa_card():
    t = instant_win(villas_to_win=3)
    assert (t.end, t.won_counts[A]) == (INSTANT, 3)
    assert instant_win(villas_to_win=3, instant_win_cards=()).end == ENOUGH


def test_cle_32_a_villa_card_that_leaves_has_brought_another_one():
    t = table(num_players=2, n_start=1)
    play(t, "place-9-up", "place-1-down", "place-8-up", "place-2-down villa-0")
    assert (t.holder[0], (t.where == ON_TABLE).sum()) == (A, 1)


def test_cle_33_h3_an_endless_game_is_cut_off_and_a_presets_cap_ends_it():
    t = play(table(num_players=2, max_turns=2), "place-9-up villa-0", "place-8-up villa-1")
    assert (t.over, t.end, t.truncated) == (True, CAP, True)
    assert t.holder[:2].tolist() == [A, B]  # h.4: the last resolutions come with it
    own = table(preset="micro")
    overridden = table(preset="micro", max_turns=4)
    for each in (own, overridden):
        while not each.over:
            play(each, min(each.legal()))
        assert each.end in (CAP, ENOUGH)
    assert not own.truncated
    assert overridden.truncated == (overridden.end == CAP)
    assert cleaners.OPTIONS["max_turns"].default == 500


# ----------------------------------------------------------------------------------------- precisions (h)


def test_h1_a_winning_turn_counts_and_stops_without_a_refill():
    t = table(num_players=2, villas_to_win=1, hand_size=3, hands=[(9, 8, 1), (1, 2, 3)])
    play(t, "place-9-up villa-0", "place-1-down villa-0", "place-8-up villa-0", "place-2-down villa-0", draw=max)
    assert (t.end, t.turns) == (ENOUGH, 4)
    assert (t.hand_sizes[A], t.hand_sizes[B]) == (3, 2)


def test_h1_no_villa_card_left_ends_the_game():
    t = table(num_players=2, objects=(1,), num_face_up=0, weapon_value=None, dog_value=None, n_start=1)
    play(t, "place-9-up", "place-1-down", "place-8-up", "place-2-down")
    assert (t.over, t.end) == (True, EMPTY)


def test_h1_if_the_cap_and_a_stuck_game_coincide_the_cap_decides():
    t = table(num_players=2, vice_values=(1,), num_flies=0, max_turns=2)
    assert play(t, "place-1-up villa-0", "place-1-up villa-1").end == CAP


def test_h2_the_seat_that_just_played_is_refilled_first():
    t = table(num_players=2, vice_values=(1,), num_flies=1, hand_size=1, hands=[(0,), (0,)])
    play(t, "peek-villa villa-0", "peek-villa villa-0", "place-1-up villa-0", "place-1-up villa-1")
    assert (t.end, t.hand_sizes[:2].tolist(), t.player) == (0, [1, 1], A)  # the discarded Flies came back


def test_h3_a_cap_stays_a_cap_though_the_last_resolution_gives_an_instant_win():
    t = table(mode="murderer", num_players=2, pile=["body"], characters=(6, 0), instant_win_cards=("body",), max_turns=2)
    play(t, "place-9-up villa-0", "place-1-down villa-0")
    assert (t.end, t.truncated) == (CAP, True)
    assert t.rewards() == [1, -1]


def test_h3_an_accusation_may_follow_the_cap():
    t = table(mode="detective", num_players=2, pile=["keyhole"], characters=(0, 1), max_turns=1)
    play(t, "place-9-up villa-0")
    assert (t.phase, t.end, t.player) == (ACCUSE, CAP, A)
    assert t.say("accuse-+1").truncated


def test_h4_the_winner_of_a_face_down_card_looks_at_it_before_the_accusation():
    t = table(mode="detective", num_players=2, pile=["keyhole", "dog"], characters=(0, 1), max_turns=2)
    play(t, "place-9-up villa-0", "place-9-up villa-1")
    assert t.phase == ACCUSE
    assert t.sees(B, "known_villa")[:2].tolist() == [0, 17]
    assert t.sees(A, "seen_villa")[:2, :2].tolist() == [[1, 0], [0, 1]]


def test_h5_a_moved_card_leaves_a_hole_and_the_other_keeps_its_place():
    t = table(num_players=2)
    play(t, "place-5-down villa-0", "place-1-up villa-0", "place-4-down villa-0", "move vice-0-0 villa-1")
    assert t.down_owner[0].tolist() == [NO_SEAT, A]
    assert t.sees(A, "known_vice")[0].tolist() == [0, 4 + 1]
    play(t, "place-6-down villa-0")
    assert t.sees(A, "known_vice")[0].tolist() == [6 + 1, 4 + 1]


def test_h5_both_orders_of_a_swap_are_the_same_and_shown_in_the_order_of_the_slots():
    results = []
    for words in ("swap vice-0-0 vice-1-0", "swap vice-1-0 vice-0-0"):
        t = play(table(num_players=2), "place-5-down villa-0", "place-3-down villa-1", "place-1-down", words)
        results.append(t.state.tobytes())
        assert t.last_turn[B].tolist() == [5, 1, 0, 2, 0, 0]
    assert results[0] == results[1]


def test_h8_the_last_turn_of_each_seat_is_shown_without_what_lies_face_down():
    t = table(num_players=2)
    play(t, "place-5-down villa-0", "place-7-up villa-1")
    assert t.sees(A, "last_turn")[:2].tolist() == [[1, 1, 0, 0, 0, 0], [1, 2, 2, 0, 0, 7 + 1]]
    play(t, "peek-vice", "place-6-down villa-1")
    assert t.sees(B, "last_turn")[:2].tolist() == [[1, 2, 0, 0, 0, 0], [3, 1, 0, 0, 0, 0]]
    play(t, "move vice-0-0 villa-2", "peek-villa villa-2")
    assert t.sees(B, "last_turn")[:2].tolist() == [[2, 3, 0, 0, 0, 0], [4, 1, 0, 3, 0, 0]]


def test_h8_nothing_of_a_turn_is_seen_by_others_before_it_is_complete():
    t = play(table(num_players=3), "place-5-down villa-0", "place-3-down villa-1")
    before = [t.sees(seat, name).tobytes() for seat in (A, B) for name in cleaners.OBSERVATION]
    for word in ("swap", "vice-0-0"):
        if t.player == C:
            t.say(word)
            assert t.player != C or before == [t.sees(s, name).tobytes() for s in (A, B) for name in cleaners.OBSERVATION]
    assert t.last_turn[C, 0] == 5
    begun = play(table(num_players=3)).say("place-9-up")
    assert begun.sees(A, "choice").argmax() == cleaners.ACTION_NAMES.index("PLACE 9 UP") + 1
    assert begun.sees(B, "choice").argmax() == 0
    assert begun.sees(A, "hand").tolist() == begun.sees(B, "hand").tolist()


def test_h9_the_composition_of_a_draw_pile_is_shown():
    t = table(num_players=2, vice_values=(1, 2), num_flies=1)
    assert t.sees(B, "reshuffled")[1].tolist() == [1, 1, 1] + [0] * 8
    play(t, "peek-villa villa-0")
    assert t.sees(B, "reshuffled")[1].tolist() == [1, 0, 0] + [0] * 8
    assert t.sees(B, "reshuffles")[1].tolist() == [1, 0]


def test_h9_cards_drawn_together_join_the_hand_at_once():
    t = Table(cleaners, mode="rookie", num_players=2)
    while t.phase != cleaners.HANDS:
        t.chance(min(t.outcomes()))
    t.chance(4)
    assert not t.sees(A, "hand").any()
    assert t.sees(A, "draw")[4] == 1
    t.chance(7, 1)
    assert np.flatnonzero(t.sees(A, "hand")).tolist() == [1, 4, 7]


def test_h9_cards_laid_before_a_reshuffle_are_marked():
    t = table(num_players=2, vice_values=(1, 2, 3), num_flies=1)
    play(t, "place-1-down villa-0", "place-1-down villa-1", "peek-villa villa-0")
    assert t.old[:2, 0].tolist() == [1, 0]
    play(t, "swap vice-0-0")
    assert t.old[:2, 0].tolist() == [1, 1]  # B's Fly was shuffled back after the swap
    assert (t.down_owner[:2, 0] == [B, A]).all()


def test_h10_a_won_card_keeps_its_facing_and_is_hidden_until_the_end():
    t = table(num_players=2, pile=["dog", 9], up=[9], max_turns=8)
    play(t, "place-9-up villa-0", "place-1-down villa-0", "place-8-up villa-0", "place-2-down villa-0")
    assert t.sees(A, "known_villa")[0] == 17
    assert t.sees(B, "known_villa")[0] == 0
    assert t.sees(B, "holder")[0] == 2
    play(t, "place-9-up villa-1", "place-4-down villa-1", "place-7-up villa-1", "place-3-down villa-1")
    assert t.over
    assert t.sees(B, "known_villa")[:2].tolist() == [17, 9]
    assert t.sees(B, "face_up")[:2].tolist() == [0, 1]


def test_h10_characters_are_shown_at_the_end():
    t = table(mode="murderer", num_players=2, characters=(6, 3), max_turns=1)
    assert not t.sees(B, "shown_character").any()
    assert t.sees(A, "character").argmax() == MURDERER
    play(t, "place-9-up villa-0")
    assert t.sees(B, "shown_character").tolist() == [4, MURDERER, 0, 0, 0]


def test_h11_the_bonus_is_a_number_or_a_table():
    t = give(table(mode="base", bonus=(1, 3, 7, 7, 7, 7)), A, 12, 7, 3)
    assert cleaners.score(is_character(t, A, 3).state, A) == 22 + 7
    assert cleaners.score(is_character(t, A, 0).state, A) == 22 + 1
    t = give(table(mode="base", bonus=-2), A, 12, 7)
    assert cleaners.score(is_character(t, A, 3).state, A) == 19 - 4


def test_h12_instant_win_cards_may_be_objects_and_are_ignored_without_a_murderer():
    t = table(mode="murderer", num_players=2, pile=[5], characters=(6, 0), instant_win_cards=(5,))
    play(t, "place-9-up villa-0", "place-1-down villa-0", "place-8-up villa-0", "place-2-down villa-0")
    assert t.end == INSTANT
    assert not table(mode="base", instant_win_cards=("nonsense",)).instant_win.any()


def test_h12_a_special_card_may_be_left_out():
    t = table(mode="detective", weapon_value=None, dog_value=None, keyhole_value=None, instant_win_cards=("body",))
    assert t.num_villas == 16
    assert t.special.tolist() == [0, 0, 16, 0]


def test_h13_a_score_reward_beyond_one_is_clipped():
    t = play(table(num_players=2, objects=(90, 91, 92), num_face_up=0, max_turns=1, reward="score"), "place-9-up villa-0")
    assert t.rewards() == pytest.approx([90 / 175, -90 / 175])
    give(t, A, 91, 92)
    assert t.rewards() == [1, -1]


def test_win_rewards_are_those_of_the_conventions():
    t = play(table(num_players=3, max_turns=2), "place-9-up villa-0", "place-9-up villa-1")
    assert t.rewards() == pytest.approx([-1 / 2, 1, -1 / 2])  # 1 against 2
    none = table(num_players=3, max_turns=1)
    assert play(none, "place-0-up villa-0").rewards() == pytest.approx([0, 0, 0])


def test_a_single_target_is_named_by_itself():
    t = table(num_players=2, n_start=1, pile=["dog"])
    t.say("place-5-down")
    assert t.player == CHANCE or t.player == B
    t = play(table(num_players=2, n_start=1, pile=["dog"]), "place-5-down", "peek-vice", "peek-villa")
    assert t.sees(B, "known_vice")[0].tolist() == [6, 0]
    assert t.sees(A, "known_villa")[0] == 17


def test_first_player_is_a_seat_or_drawn_by_chance():
    assert table(first_player=2).player == 2
    drawn = Table(cleaners, first_player="random", num_players=3)
    assert drawn.outcomes() == {0: 1, 1: 1, 2: 1}
    drawn.chance(1)
    assert drawn.starter == 1


def test_section_f_action_names_match_their_numbers():
    assert len(cleaners.ACTION_NAMES) == cleaners.NUM_ACTIONS == 89
    named = {
        0: "PLACE 0 DOWN", 21: "PLACE 10 UP", 22: "PEEK VILLA", 26: "NOTHING", 27: "VILLA 0", 45: "VILLA 18", 46: "VICE 0 0",
        83: "VICE 18 1", 84: "NO ACCUSATION", 88: "ACCUSE +4",
    }  # fmt: skip
    assert {number: cleaners.ACTION_NAMES[number] for number in named} == named


# ----------------------------------------------------------------------------------------- bad data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 1}, "num_players=1: allowed is 2 to 5"),
        ({"num_players": 6}, "num_players=6: allowed is 2 to 5"),
        ({"mode": "expert"}, "'rookie', 'base', 'murderer', 'detective'"),
        ({"first_player": 4}, "seats 0 to 3"),
        ({"vice_values": (1, 1)}, "different whole numbers from 1 to 10"),
        ({"vice_values": (0, 1)}, "vice_values=.0, 1.: they must be"),
        ({"vice_values": 7}, "got vice_values=7"),
        ({"num_flies": 14}, "num_flies=14: allowed is 0 to 13"),
        ({"hand_size": 14}, "everybody has 13 Vice cards"),
        ({"hand_size": 0}, "hand_size=0"),
        ({"objects": (1, 2.5)}, "objects"),
        ({"objects": (1, 100)}, "from 1 to 99"),
        ({"objects": range(1, 20)}, "got 21 Villa cards"),
        ({"objects": (), "num_face_up": 0, "n_start": 1, "weapon_value": None, "dog_value": None}, "got 0 Villa cards"),
        ({"num_face_up": 16}, "num_face_up=16: at most 15"),
        ({"n_start": 18}, "n_start=18: at most 17"),
        ({"weapon_value": 100}, "weapon_value=100"),
        ({"villas_to_win": 0}, "villas_to_win=0"),
        ({"characters": {"A": (1,), "B": (2,), "C": (3,)}}, "got 3 characters: 4 to 10"),
        ({"mode": "murderer", "num_players": 5, "characters": dict.fromkeys("ABCDE", ())}, "got 5 characters: 6 to 10"),
        ({"characters": {"Murderer": (1,)}}, "names of crew"),
        ({"characters": [1, 2]}, "names of crew"),
        ({"characters": dict.fromkeys("ABCD", (1, 1))}, "favourites of A"),
        ({"bonus": "five"}, "bonus='five'"),
        ({"bonus": 51}, "from -50 to 50"),
        ({"bonus": (0, 5)}, "for 0 to 5 or more favourites"),
        ({"mode": "murderer", "body_value": None}, "instant_win_cards"),
        ({"mode": "murderer", "instant_win_cards": ("keyhole",)}, "different ones of 1, 2"),
        ({"mode": "murderer", "instant_win_cards": (16,)}, "instant_win_cards=.16,."),
        ({"accusation_open": 1}, "accusation_open=1: allowed is True, False"),
        ({"fly_noop": "sometimes"}, "'fallback', 'always', 'never'"),
        ({"max_turns": 0}, "max_turns=0"),
        ({"reward": "points"}, "'win', 'score'"),
        ({"preset": "huge"}, "'tiny', 'small', 'micro', 'three'"),
    ],
)
def test_h13_inconsistent_data_is_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        cleaners.new_initial_state(**options)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(TypeError, match=r"unknown option 'pot'.*num_players, first_player"):
        cleaners.new_initial_state(pot=3)


@pytest.mark.parametrize(
    ("field", "index", "value", "message"),
    [
        ("num_players", (), 6, "number of players 6"),
        ("phase", (), 12, "phase 12"),
        ("mode", (), 4, "mode 4"),
        ("hand_size", (), 24, "hand_size 24"),
        ("actor", (), 5, "actor"),
        ("actor", (), -1, "actor -1"),
        ("turns", (), 500, "500 turns of 500"),
        ("hand", (0, 5), 4, "everybody's Vice cards"),
        ("draw", (1, 5), -1, "numbers of Vice cards"),
        ("pile", 3, 4, "the Villa cards are"),
        ("where", 0, 3, "holders"),
        ("takes_up", 0, 0, "which facings may follow"),
        ("spaces_down", (), 2, "totals"),
        ("down_owner", (0, 0), 1, "lying"),
        ("known_villa", (2, 0), 3, "known Villa cards"),
        ("character", 0, 7, "characters"),
        ("choice", (0, 0), 28, "choices"),
        ("choice", (0, 1), 3, "choices"),
        ("choice", (1, 0), 1, "choices"),
        ("open_card", 0, 1, "open cards"),
        ("last_turn", (0, 0), 9, "last turn|9"),
        ("reshuffled", (0, 0), 0, "reshuffle"),
        ("accuser", (), 1, "accuser 1"),
        ("end", (), 2, "ended by 2"),
        ("won_counts", 0, 4, "won"),
        ("bonus", 0, 2000, "bonus"),
        ("first_player", (), 4, "first player 4"),
    ],
)
def test_a_crafted_state_is_refused(field, index, value, message):
    t = table(pile=["dog"], mode="base", hand_size=3)
    state = t.state.copy()
    cleaners.check(state)
    if index == ():
        state[field] = value
    else:
        state[field][index] = value
    with pytest.raises(ValueError, match=message):
        cleaners.check(state)


def test_a_state_is_told_in_words_with_what_the_viewer_knows():
    t = play(table(num_players=2, mode="murderer", characters=(6, 0)), "place-5-down villa-0", "place-3-up villa-1")
    t.say("place-7-up")
    assert "player_0 5 face down" in cleaners.describe(t.state, A)
    assert "has begun PLACE 7 UP" in cleaners.describe(t.state, A)
    assert "character Murderer" in cleaners.describe(t.state, A)
    for other in (B, None):
        assert "player_0 ? face down" in cleaners.describe(t.state, other)
        assert "begun" not in cleaners.describe(t.state, other)
        assert "Murderer" not in cleaners.describe(t.state, other)
    assert "player_1 3 open" in cleaners.describe(t.state)
    over = detective().say("accuse-+1")
    assert "player_1 has the Keyhole and accused player_2" in cleaners.describe(over.state)
    assert "object 4 went to player_1" in cleaners.describe(over.state)
