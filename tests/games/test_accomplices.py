"""Accomplices' rule page in code: a deal, a play, a fact. Numbers are those of docs/rules/accomplices.md."""

import numpy as np
import pytest

from heist_envs import chance
from heist_envs.games import accomplices
from heist_envs.games.accomplices import ALARM, CARD_NAMES, JACKPOT, NO_CARD, NO_SEAT, SKELETON, TRAITOR
from heist_envs.rules import CHANCE
from tests.tables import Table

FILLING = [f"{kind}{place}" for place in "ed" for kind in "KB" for _ in range(6)]
"""What fills up the hands of a deal that a test does not care about."""


def types(cards):
    return [CARD_NAMES.index(card) for card in cards.split()]


def counts(cards):
    return np.bincount(np.array(types(cards), int), minlength=accomplices.NUM_TYPES).tolist()


def table(*hands, **options):
    """A table after the deal: the cards named to each seat, filled up with Keys and Loots of the places d and e."""
    made = Table(accomplices, **options)
    filling = iter(FILLING)
    for seat in range(made.num_players):
        hand = hands[seat].split() if seat < len(hands) else []
        hand += [next(filling) for _ in range(made.hand_size - len(hand))]
        made.chance(*types(" ".join(hand)))
    return made


def three(*hands, **options):
    """A table of three with hands of two cards, for coups without an outsider to spare."""
    return table(*hands, **{"num_players": 3, "hand_size": 2} | options)


def draw(made, cards):
    return made.chance(*types(cards))


def give(made, seat, cards):
    """Put cards from the pile into a hideout, as if won earlier."""
    for card in types(cards):
        made.state.pile[card] -= 1
        made.state.pile_size -= 1
        made.state.hideouts[seat, card] += 1
    made.state.scores[seat] = accomplices.points(made.state, seat)
    accomplices.check(made.state)
    return made


def empty_the_pile(made, but=""):
    """Discard the whole pile but some cards."""
    rest = made.pile - counts(but)
    made.state.discard += rest
    made.state.pile -= rest
    made.state.pile_size = made.pile.sum()
    accomplices.check(made.state)
    return made


def value(cards, **options):
    """Points of a hideout."""
    made = Table(accomplices, **options)
    made.state.hideouts[0] = counts(cards)[: accomplices.NUM_TREASURES]
    return accomplices.points(made.state, 0)


def hideout(made, seat):
    return " ".join(CARD_NAMES[c] for c in range(accomplices.NUM_TREASURES) for _ in range(made.hideouts[seat, c]))


def discarded(made):
    return " ".join(CARD_NAMES[c] for c in range(accomplices.NUM_TYPES) for _ in range(made.discard[c]))


def last(made):
    return accomplices.OUTCOMES[made.last_outcome]


ALL = range(accomplices.NUM_TYPES)

# ----------------------------------------------------------------------------------------- worked examples (e)


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("Ka Ka", 4),  # e.1
        ("Ka Kb", 2),  # e.2
        ("Ba Bb Bc", 7),  # e.3
        ("Ba Ba Bb", 3),  # e.4
        ("Ka Ka Kb Kb Kc Ba", 10),  # e.5
        ("Ka P", 4),  # e.6
        ("Ba Bb J", 7),  # e.7
        ("Ka Ka Ka Ka", 8),  # e.9
        ("Ba Ba Bb Bb J J", 14),  # e.11
        ("Ba Ba J", 3),  # e.13
        ("P P", 4),  # e.14, ACC-26
        ("J J Ba", 7),  # e.14
        ("Ba Bb Bc Ka Kb Kc", 10),  # e.15
        ("Ba Bb Bc Ka Ka", 11),  # e.15
        ("P", 1),  # e.15, ACC-25
        ("J", 1),  # e.15, ACC-25
        ("Ka Ka P", 5),  # e.15
        ("Ba Ba Bb Bc", 8),  # e.15
        ("", 0),
    ],
)
def test_a12_the_cards_of_a_hideout_are_grouped_as_well_as_can_be(cards, points):
    assert value(cards) == points


@pytest.mark.parametrize(
    ("cards", "strict", "free"),
    [("P P", 2, 4), ("Ka Ka P P", 8, 8), ("J J J", 3, 7), ("J J Ba", 7, 7), ("Ka P P P", 6, 8), ("Ka Ka P P P P", 10, 12)],
)
def test_acc_26_h12_a_group_may_have_to_have_a_card_of_its_own(cards, strict, free):
    assert value(cards, wild_needs_real=True) == strict
    assert value(cards) == free


def test_a12_families_need_three_places():
    assert value("Ba Bb J", num_places=2) == 3


def _best_by_force(cards, places, strict):
    """The best value of a hideout by trying all ways to take out a group."""

    def groups(left):
        for i, one in enumerate(left):
            for j in range(i + 1, len(left)):
                pair = {one, left[j]}
                if pair <= {*range(5), SKELETON} and len(pair - {SKELETON}) <= 1 and not (strict and pair == {SKELETON}):
                    yield (i, j), 2
                for k in range(j + 1, len(left)):
                    family = [one, left[j], left[k]]
                    real = [card for card in family if card != JACKPOT]
                    loots = all(card in (*range(5, 10), JACKPOT) for card in family)
                    if loots and len(set(real)) == len(real) and places >= 3 and not (strict and not real):
                        yield (i, j, k), 4

    best = len(cards)
    for taken, extra in groups(cards):
        rest = [card for i, card in enumerate(cards) if i not in taken]
        best = max(best, len(taken) + extra + _best_by_force(rest, places, strict))
    return best


def test_a12_the_closed_form_of_the_points_is_what_trying_all_groups_gives():
    rng = np.random.default_rng(1)
    for _ in range(300):
        places = int(rng.integers(1, 6))
        allowed = [*range(places), *range(5, 5 + places), SKELETON, JACKPOT, JACKPOT, SKELETON]
        cards = rng.choice(allowed, int(rng.integers(0, 7))).tolist()
        strict = bool(rng.integers(2))
        words = " ".join(CARD_NAMES[card] for card in cards)
        assert value(words, num_places=places, wild_needs_real=strict) == _best_by_force(cards, places, strict), words


def test_example_16_a_success_that_nobody_spoils_is_shared():
    """a.2, a.3, a.4, a.5, a.6, a.8 and a.11 in one coup."""
    t = table("Ka", "Ba").say("play-ka claim-ka play-ba pass pass choose-+1")
    assert (t.leader_card, t.accomplice_card) == (types("Ka")[0], types("Ba")[0])
    t.say("pass pass")
    assert (hideout(t, 0), hideout(t, 1)) == ("Ka", "Ba")
    draw(t, "Kc Kc")
    assert t.hand_sizes.tolist()[:4] == [5, 5, 5, 5]
    assert (t.player, t.coups) == (1, 1)


def test_example_17_a_success_is_spoiled_by_an_alarm():
    t = table("Ka", "Ba", "A").say("play-ka claim-ka play-ba pass pass choose-+1 sound")
    assert (discarded(t), t.police_file) == ("Ka Ba", 1)  # a.7
    assert not t.hideouts.any()
    draw(t, "Kc Kc Kc")
    assert t.hand_sizes.tolist()[:4] == [5, 5, 5, 5]
    assert t.alarms_sounded.tolist()[:4] == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("led", "given"),
    [("P", "J"), ("P", "Bc"), ("Kc", "J"), ("Bc", "P"), ("J", "Kb"), ("J", "P"), ("Kc", "Bc")],
)
def test_example_18_jokers_succeed_with_any_other_half(led, given):
    t = table(led, given).say(f"play-{led.lower()} claim-ka play-{given.lower()} pass pass choose-+1")
    assert t.phase == accomplices.SOUNDING


@pytest.mark.parametrize(
    ("led", "given"),
    [("Ka", "Bb"), ("Ka", "Ka"), ("Ka", "Kb"), ("Ba", "Bb"), ("P", "Ka"), ("P", "P"), ("J", "Ba"), ("J", "J"), ("A", "Ba")],
)
def test_example_19_all_other_pairs_fail_and_nobody_is_asked_for_an_alarm(led, given):
    t = table(led, given, "A").say(f"play-{led.lower()} claim-ka play-{given.lower()} pass pass choose-+1")
    assert (last(t), t.player) == ("FAIL", CHANCE)
    assert sorted(discarded(t).split()) == sorted([led, given])


def test_example_20_the_accomplice_betrays_and_keeps():
    t = give(table("Ba", "T", "A"), 0, "Bc").say("play-ba claim-ba play-t pass pass choose-+1")
    assert (t.player, t.legal()) == (1, {"keep", "steal-bc"})  # ACC-18: nobody is asked for an Alarm
    t.say("keep")
    assert (hideout(t, 1), hideout(t, 0), discarded(t), last(t)) == ("Ba", "Bc", "T", "BETRAYAL")


def test_example_22_the_leader_betrays_and_steals_from_his_accomplice():
    t = give(table("T", "Ba"), 1, "Bc J").say("play-t claim-ka play-ba pass pass choose-+1")
    assert (t.player, t.legal()) == (0, {"keep", "steal-bc", "steal-j"})
    t.say("steal-bc")
    assert (hideout(t, 0), hideout(t, 1), discarded(t)) == ("Bc", "J", "Ba T")  # a.9
    assert (t.scores[0], t.scores[1]) == (1, 1)
    assert (t.last_loot, t.last_stolen) == (types("Bc")[0], 1)


def test_example_23_acc_11_two_traitors_fail():
    t = table("T", "T").say("play-t claim-ka play-t pass pass choose-+1")
    assert (last(t), discarded(t)) == ("FAIL", "T T")


def test_example_25_the_pile_as_accomplice():
    """a.10"""
    t = draw(table("Ka").say("play-ka claim-ka pass pass pass"), "Ba").say("pass pass pass")
    assert (hideout(t, 0), discarded(t), last(t)) == ("Ka", "Ba", "SUCCESS")
    rung = draw(table("Ka").say("play-ka claim-ka pass pass pass"), "A")
    assert (rung.police_file, discarded(rung), last(rung)) == (1, "Ka", "RUNG")
    for led, drawn in (("Ka", "T"), ("T", "Ba"), ("Ba", "T")):
        failed = draw(table(led).say(f"play-{led.lower()} claim-ka pass pass pass"), drawn)
        assert (sorted(discarded(failed).split()), last(failed)) == (sorted([led, drawn]), "FAIL")


def test_example_28_of_two_who_reach_ten_the_higher_wins():
    t = give(give(give(table("Kc", "Bc"), 0, "Ka Ka Kb Kb Bd"), 1, "Ba Bb Ka Ka"), 2, "Ba Kb Kc")
    t.say("play-kc claim-kc play-bc pass pass choose-+1 pass pass")
    assert t.scores.tolist()[:4] == [10, 11, 3, 0]
    assert t.over
    assert t.rewards() == pytest.approx([-1 / 3, 1, -1 / 3, -1 / 3])


def test_example_29_without_a_volunteer_the_pile_is_taken_unasked():
    t = table("Ka").say("play-ka claim-ka pass pass pass")
    assert (t.phase, t.player) == (accomplices.REVEAL, CHANCE)


# ----------------------------------------------------------------------------------------- gaps and rulings (b)


def test_acc_2_a1_the_deck_by_default_has_one_alarm_per_player():
    for n in (3, 4, 5, 6):
        t = Table(accomplices, num_players=n)
        assert t.pile.tolist() == [6] * 10 + [3, 3, 6, n]
        assert t.outcomes() == {card: int(t.pile[card]) for card in ALL}
    assert table().pile_size == 76 - 20


def test_acc_1_two_players_or_seven_are_refused():
    for n in (2, 7):
        with pytest.raises(ValueError, match="allowed is 3 to 6"):
            Table(accomplices, num_players=n)


def test_acc_3_seat_0_leads_first_and_the_left_neighbour_next():
    t = draw(table("Ka", "Bb").say("play-ka claim-ka play-bb pass pass choose-+1"), "Kc Kc")
    assert t.player == 1
    assert table(first_player=2).player == 2


def test_acc_4_twelve_halves_may_be_claimed_as_far_as_the_deck_has_them():
    claims = {f"claim-{card.lower()}" for card in CARD_NAMES[:12]}
    assert table("Ka").say("play-ka").legal() == claims
    fewer = Table(accomplices, num_places=2, num_skeleton_keys=0, loots_per_place=0)
    fewer.chance(*[0] * 5, *[1] * 5, *[12] * 6, 11, *[13] * 3)
    assert fewer.say("play-ka").legal() == {"claim-ka", "claim-kb", "claim-j"}


def test_acc_5_acc_6_a_leader_must_lead_and_claim_held_or_not():
    t = table("Ka Ka Ka Kb Kb")
    assert t.legal() == {"play-ka", "play-kb"}
    assert "pass" not in t.say("play-ka").legal()
    t.say("claim-j")
    assert t.sees(2, "claim").tolist() == [0] * 11 + [1, 0]


def test_acc_7_a4_volunteers_answer_unseen_until_all_have_answered():
    t = table("Ka", "Ba").say("play-ka claim-ka play-ba")
    assert not t.sees(3, "volunteers").any()
    assert t.sees(1, "answer").tolist() == [0, 0, 1]
    assert t.sees(1, "face_down")[types("Ba")[0]] == 1
    t.say("pass")
    assert t.sees(2, "answer").tolist() == [0, 1, 0]
    t.say("pass")
    assert t.sees(3, "volunteers").tolist() == [0, 0, 1, 0, 0, 0]
    assert t.sees(1, "answer").tolist() == [1, 0, 0]


def test_acc_7_h3_volunteers_may_answer_in_the_open():
    t = table("Ka", "Ba", volunteer_order="sequential").say("play-ka claim-ka")
    assert t.player == 1
    t.say("play-ba")
    assert t.sees(3, "volunteers").tolist() == [0, 0, 1, 0, 0, 0]
    assert t.hand_sizes.tolist()[:4] == [5, 5, 5, 5]
    t.say("pass pass")
    assert t.hand_sizes.tolist()[:4] == [4, 4, 5, 5]


def test_acc_8_acc_29_a_volunteer_says_nothing():
    t = table("Ka", "Ba Ba Ba T A").say("play-ka claim-ka")
    assert t.legal() == {"play-ba", "play-t", "play-a", "pass"}


def test_acc_9_a5_the_leader_may_take_the_pile_though_there_are_volunteers():
    t = table("Ka", "Ba", "Bb").say("play-ka claim-ka play-ba play-bb pass")
    assert t.legal() == {"choose-+1", "choose-+2", "take-pile"}
    t.say("take-pile")
    assert (t.phase, t.hand_sizes.tolist()[:4]) == (accomplices.REVEAL, [4, 5, 5, 5])


def test_acc_10_rejected_cards_go_back_unseen():
    t = table("Ka", "Ba", "T").say("play-ka claim-ka play-ba play-t pass choose-+1")
    assert (t.hand[2, TRAITOR], t.face_down[2]) == (1, NO_CARD)
    assert t.volunteers.tolist()[:4] == [0, 1, 1, 0]
    for seat in (0, 1, 3):
        assert t.sees(seat, "leader_card").argmax() != TRAITOR
        assert t.sees(seat, "accomplice_card").argmax() != TRAITOR


@pytest.mark.parametrize(("led", "given"), [("T", "Ka"), ("Ka", "T"), ("T", "P"), ("P", "T")])
def test_acc_12_a_traitor_with_a_key_fails(led, given):
    t = give(give(table(led, given), 0, "Ba"), 1, "Ba")
    t.say(f"play-{led.lower()} claim-ka play-{given.lower()} pass pass choose-+1")
    assert (last(t), t.player) == ("FAIL", CHANCE)


def test_acc_13_a_jackpot_may_be_kept_and_stolen():
    kept = table("J", "T").say("play-j claim-ka play-t pass pass choose-+1")
    assert (hideout(kept, 1), last(kept)) == ("J", "BETRAYAL")
    stolen = give(table("J", "T"), 0, "J").say("play-j claim-ka play-t pass pass choose-+1 steal-j")
    assert (hideout(stolen, 0), hideout(stolen, 1), discarded(stolen)) == ("", "J", "J T")


def test_acc_14_h10_with_nothing_to_steal_the_traitor_keeps_unasked():
    t = give(table("Ba", "T"), 0, "Ka P").say("play-ba claim-ba play-t pass pass choose-+1")
    assert (hideout(t, 1), t.player, last(t)) == ("Ba", CHANCE, "BETRAYAL")
    assert (t.last_loot, t.last_stolen) == (types("Ba")[0], 0)


def test_acc_15_an_accomplice_steals_from_the_leader():
    t = give(give(table("Ba", "T"), 0, "Bc"), 1, "Bd").say("play-ba claim-ba play-t pass pass choose-+1")
    assert t.legal() == {"keep", "steal-bc"}
    t.say("steal-bc")
    assert (hideout(t, 0), hideout(t, 1)) == ("", "Bc Bd")


def test_acc_16_outsiders_are_asked_in_turn_and_the_first_alarm_closes_the_window():
    t = table("Ka", "A", "Ba", "A").say("play-ka claim-ka pass play-ba pass choose-+2")
    assert (t.player, t.legal()) == (1, {"pass", "sound"})
    t.say("pass")
    assert t.sees(0, "declined").tolist() == [0, 1, 0, 0, 0, 0]
    t.say("sound")
    assert (t.last_sounder, t.police_file, t.hand[1, ALARM]) == (3, 1, 1)
    first = table("Ka", "A", "Ba", "A").say("play-ka claim-ka pass play-ba pass choose-+2 sound")
    assert (first.last_sounder, first.hand[3, ALARM], first.police_file) == (1, 1, 1)


def test_acc_16_h3_or_all_answer_unseen_and_the_nearest_pays():
    options = {"alarm_window": "simultaneous"}
    t = table("Ka", "A", "Ba", "A", **options).say("play-ka claim-ka pass play-ba pass choose-+2 sound")
    assert (t.player, t.police_file) == (3, 0)
    for seat in (0, 2, 3):
        assert not t.sees(seat, "declined").any()
        assert t.sees(seat, "answer").tolist() == [1, 0, 0]
    assert t.sees(1, "answer").tolist() == [0, 0, 1]
    t.say("sound")
    assert (t.last_sounder, t.police_file, t.hand[1, ALARM], t.hand[3, ALARM]) == (1, 1, 0, 1)
    other = table("Ka", "A", "Ba", "A", **options).say("play-ka claim-ka pass play-ba pass choose-+2 pass sound")
    assert other.last_sounder == 3
    nobody = table("Ka", "A", "Ba", "A", **options).say("play-ka claim-ka pass play-ba pass choose-+2 pass pass")
    assert (nobody.last_sounder, hideout(nobody, 0), hideout(nobody, 2)) == (NO_SEAT, "Ka", "Ba")


def test_acc_17_an_alarm_may_be_sounded_at_a_coup_with_the_pile():
    t = draw(table("Ka", "", "A").say("play-ka claim-ka pass pass pass"), "Ba")
    assert t.player == 1
    t.say("pass sound")
    assert (discarded(t), t.police_file, hideout(t, 0)) == ("Ka Ba", 1, "")


def test_acc_18_nobody_may_spoil_a_betrayal():
    t = table("Ba", "T", "A", "A").say("play-ba claim-ba play-t pass pass choose-+1")
    assert (last(t), hideout(t, 1)) == ("BETRAYAL", "Ba")


@pytest.mark.parametrize("other", ["Ka", "Ba", "P", "J", "T", "A"])
def test_acc_19_an_alarm_laid_in_a_coup_does_not_ring(other):
    t = table("A", other).say(f"play-a claim-ka play-{other.lower()} pass pass choose-+1")
    assert (last(t), t.police_file) == ("FAIL", 0)


@pytest.mark.parametrize("led", ["A", "T", "Ka", "J"])
def test_acc_20_h11_an_alarm_from_the_pile_rings_whatever_was_led(led):
    t = draw(table(led).say(f"play-{led.lower()} claim-ka pass pass pass"), "A")
    assert (last(t), t.police_file, discarded(t)) == ("RUNG", 1, led)


def test_acc_21_the_last_alarm_of_the_deck_ends_the_game():
    t = give(table("Ka", num_alarms=2), 3, "Ba Bb Bc")
    draw(t.say("play-ka claim-ka pass pass pass"), "A Ka")
    assert not t.over
    draw(t.say("play-ke claim-ka pass pass pass"), "A")
    assert (t.over, t.truncated, t.police_file) == (True, False, 2)
    assert t.rewards() == pytest.approx([-1 / 3, -1 / 3, -1 / 3, 1])
    laid = draw(table("A", "Ka", num_alarms=1).say("play-a claim-ka play-ka pass pass choose-+1"), "Kb Kb")
    empty_the_pile(laid, "Kc")
    draw(laid.say("play-ke claim-ka pass pass pass"), "Kc")
    assert laid.reshuffles == 1
    assert laid.outcomes()[ALARM] == 1  # a discarded Alarm is in play again


def test_acc_22_a13_an_alarm_that_ends_the_game_adds_no_points():
    t = give(table("Kc", "Bc", "A", num_alarms=1), 0, "Ka Ka Kb Kb Kd")
    t.say("play-kc claim-kc play-bc pass pass choose-+1 sound")
    assert (t.over, t.scores[0], t.police_file) == (True, 9, 1)


def test_acc_23_h5_hands_are_filled_from_the_leader_clockwise():
    t = table("Ka", "", "", "Ba", first_player=3).say("play-ba claim-ba play-ka pass pass choose-+1 pass pass")
    assert t.drawer == 3
    draw(t, "Kc")
    assert (t.drawer, t.hand[3, 2]) == (0, 1)


def test_acc_23_a11_a_reshuffle_comes_only_when_a_card_is_needed():
    t = empty_the_pile(table("Ka", "Kb"), "Kc Kc")
    left = discarded(t)
    draw(t.say("play-ka claim-ka play-kb pass pass choose-+1"), "Kc Kc")
    assert (t.pile_size, t.reshuffles) == (0, 0)
    assert sorted(discarded(t).split()) == sorted([*left.split(), "Ka", "Kb"])


DRY = {
    "num_players": 3, "num_places": 1, "keys_per_place": 1, "loots_per_place": 1, "num_skeleton_keys": 0,
    "num_jackpots": 0, "num_traitors": 0, "num_alarms": 1, "hand_size": 1,
}  # fmt: skip


def test_acc_24_h8_h9_a_table_without_a_card_to_draw():
    t = table("Ka", "Ba", "A", **DRY)
    t.say("play-ka claim-ka play-ba pass")  # one volunteer, no pile: he is taken unasked
    assert (t.phase, t.player) == (accomplices.SOUNDING, 2)
    t.say("pass")
    assert (t.hand_sizes.tolist()[:3], t.player, t.coups) == ([0, 0, 1], 2, 1)  # seat 1 cannot lead: h.9
    t.say("play-a claim-ba")
    assert t.legal() == {"pass"}  # h.3
    t.say("pass pass")  # h.8
    assert (last(t), t.coups, t.last_accomplice, t.last_accomplice_card) == ("FAIL", 2, NO_SEAT, NO_CARD)
    assert (t.reshuffles, t.shuffled_in.tolist()) == (1, counts("A"))
    draw(t, "A")
    assert (t.player, t.hand_sizes.tolist()[:3]) == (2, [0, 0, 1])


def test_acc_24_without_a_card_to_turn_the_pile_cannot_be_chosen():
    options = DRY | {"keys_per_place": 2, "loots_per_place": 3, "hand_size": 2}
    t = table("Ka Ka", "Ba Ba", "Ba A", **options).say("play-ka claim-ka play-ba play-ba")
    assert t.legal() == {"choose-+1", "choose-+2"}


def test_acc_24_the_card_led_is_not_shuffled_into_the_pile_that_is_turned():
    t = empty_the_pile(table("Ka"))
    t.say("play-ka claim-ka pass pass pass")
    assert (t.reshuffles, t.pile_size) == (1, 76 - 20)
    assert t.shuffled_in[0] == 5


def test_acc_27_most_keys_break_a_tie_and_skeleton_keys_count():
    t = Table(accomplices)
    for seat, cards in enumerate(["Ba Bb Kc", "Ka P", "Ka Kb", "Ba Bb Bd"]):
        t.state.hideouts[seat] = counts(cards)[:12]
    t.state.scores[:4] = 3
    assert t.rewards() == pytest.approx([-1 / 3, 1 / 3, 1 / 3, -1 / 3])
    t.state.hideouts[2, 1] = 0
    assert t.rewards() == pytest.approx([-1 / 3, 1, -1 / 3, -1 / 3])


def test_acc_28_h2_an_endless_game_is_cut_off_before_the_hands_are_filled():
    t = table("Ka", "Kb", max_coups=1).say("play-ka claim-ka play-kb pass pass choose-+1")
    assert (t.over, t.truncated, t.hand_sizes.tolist()[:4]) == (True, True, [4, 4, 5, 5])
    ended = table("Ka", "Ba", max_coups=1, target_score=1).say("play-ka claim-ka play-ba pass pass choose-+1 pass pass")
    assert (ended.over, ended.truncated) == (True, False)


# ----------------------------------------------------------------------------------------- precisions (h)


def test_h1_only_a_presets_own_cap_terminates():
    own = Table(accomplices, preset="micro")
    own.chance(*types("Ka Ka Kb Kb Ba T")).say("play-ka claim-ka play-kb pass choose-+1")
    assert (own.over, own.truncated) == (True, False)
    given = Table(accomplices, preset="micro", max_coups=1)
    given.chance(*types("Ka Ka Kb Kb Ba T")).say("play-ka claim-ka play-kb pass choose-+1")
    assert (given.over, given.truncated) == (True, True)
    assert Table(accomplices, preset="tiny", num_players=3, hand_size=1).hand_size == 1
    with pytest.raises(ValueError, match="got 7 cards: 4 players with hand_size=2 need 8"):
        Table(accomplices, preset="tiny", num_players=4)


def test_h4_a_card_laid_counts_as_held_until_all_have_answered():
    t = table("Ka", "Ba", "Bb").say("play-ka")
    assert t.sees(1, "hand_sizes").tolist() == [5, 5, 5, 5, 0, 0]
    assert t.sees(0, "hand").sum() == 4
    assert t.sees(0, "face_down")[0] == 1
    t.say("claim-ka play-ba play-bb")
    assert t.sees(0, "hand_sizes").tolist() == [5, 5, 5, 5, 0, 0]
    t.say("pass")
    assert t.sees(0, "hand_sizes").tolist() == [4, 4, 4, 5, 0, 0]
    t.say("choose-+1")
    assert t.sees(0, "hand_sizes").tolist() == [4, 4, 5, 5, 0, 0]


def test_h5_the_deal_is_from_seat_0_a_hand_at_a_time_and_each_hand_one_event():
    t = Table(accomplices, first_player=2)
    draw(t, "Ka Ka Ka Ka")
    assert (t.drawer, t.hand_sizes.tolist()[:2]) == (0, [4, 0])
    assert not t.sees(0, "hand").any()
    draw(t, "Kb")
    assert t.sees(0, "hand").tolist() == counts("Ka Ka Ka Ka Kb")
    assert t.drawer == 1


def _refill_with_a_reshuffle_inside():
    """Seat 0 draws two cards: the last of the pile, and one of the discard made into a new pile."""
    t = empty_the_pile(table("Ka Kc", "Kb", num_traitors=2, num_alarms=2), "Bc")
    t.state.hand[0, 2] -= 1
    t.state.hand_sizes[0] -= 1
    t.state.discard[2] += 1
    t.say("play-ka claim-ka play-kb pass pass choose-+1")
    return draw(t, "Bc")


def test_h5_h6_a_refill_is_one_event_also_when_a_reshuffle_falls_into_it():
    t = _refill_with_a_reshuffle_inside()
    assert (t.reshuffles, t.player, t.drawer) == (1, CHANCE, 0)
    assert t.sees(0, "hand").sum() == 3
    draw(t, "Bb")
    assert t.sees(0, "hand").sum() == 5
    assert t.drawn_since.tolist()[:4] == [1, 0, 0, 0]
    assert t.drawn[0].tolist() == counts("Bb Bc")  # both: its owner cannot tell which came first


def test_h6_nothing_is_counted_before_the_first_reshuffle_and_the_turned_card_is_nobodys():
    t = draw(table("Ka", "Kb").say("play-ka claim-ka play-kb pass pass choose-+1"), "Kc Kc")
    assert not t.drawn_since.any()
    empty_the_pile(t)
    draw(t.say("play-kc claim-kc pass pass pass"), "Ba")
    assert (t.reshuffles, t.drawn_since.any()) == (1, False)
    assert t.turned.tolist() == counts("Ba")
    draw(t, "Kc")
    assert t.drawn_since.tolist()[:4] == [0, 1, 0, 0]


def test_h7_a_random_first_leader_is_drawn_before_the_deal():
    t = Table(accomplices, first_player="random")
    assert t.outcomes() == {0: 1, 1: 1, 2: 1, 3: 1}
    t.chance(2)
    assert (t.drawer, t.leader) == (0, 2)


def test_h10_the_type_just_revealed_may_be_stolen():
    t = give(table("Ba", "T"), 0, "Ba").say("play-ba claim-ba play-t pass pass choose-+1 steal-ba")
    assert (hideout(t, 0), hideout(t, 1), discarded(t), t.last_stolen) == ("", "Ba", "Ba T", 1)


def test_h10_an_only_claim_is_made_at_once():
    options = {"num_places": 1, "loots_per_place": 0, "num_skeleton_keys": 0, "num_jackpots": 0, "keys_per_place": 3}
    t = three("Ka T", "Ka T", "Ka T", **options).say("play-ka")
    assert (t.phase, t.claim, t.player) == (accomplices.VOLUNTEERING, 0, 1)


def test_h11_the_last_coup_stays_in_sight_until_the_next_one_is_over():
    t = table("Ka", "Ba", "A").say("play-ka claim-p play-ba pass pass choose-+1")
    assert t.sees(3, "last_outcome").tolist() == [1, 0, 0, 0, 0]
    assert t.sees(3, "leader_card")[0] == 1
    draw(t.say("sound"), "Kc Kc Kc")
    assert t.sees(3, "leader_card")[NO_CARD] == 1
    t.say("play-kc claim-kc")
    assert t.sees(3, "last_leader").tolist() == [0, 1, 0, 0, 0, 0]
    assert t.sees(3, "last_claim")[SKELETON] == 1
    assert t.sees(3, "last_volunteers").tolist() == [0, 0, 1, 0, 0, 0]
    assert t.sees(3, "last_accomplice").tolist() == [0, 0, 1, 0, 0, 0]
    assert t.sees(3, "last_leader_card")[0] == 1
    assert t.sees(3, "last_accomplice_card")[types("Ba")[0]] == 1
    assert t.sees(3, "last_outcome").tolist() == [0, 1, 0, 0, 0]
    assert t.sees(3, "last_sounder").tolist() == [0, 0, 0, 1, 0, 0]
    assert t.sees(3, "last_loot")[NO_CARD] == 1


def test_h13_a_score_reward_is_divided_by_the_target_plus_4_and_at_least_14():
    for target, scale in ((1, 14), (10, 14), (30, 34)):
        t = Table(accomplices, reward="score", target_score=target)
        t.state.scores[:4] = 7, 3, 0, 0
        assert t.rewards() == pytest.approx([6 / scale, (3 - 7 / 3) / scale, -10 / 3 / scale, -10 / 3 / scale])


# ----------------------------------------------------------------------------------------- section f


def test_behaviour_is_counted_when_a_coup_is_over():
    t = table("Ka Kb", "Ba", "Kc").say("play-ka claim-ka play-ba pass pass choose-+1 pass pass")
    draw(t, "Kc T").say("play-t claim-kc pass pass play-kc choose-+3")
    assert t.coups_led.tolist()[:4] == [1, 1, 0, 0]
    assert t.true_leads.tolist()[:4] == [1, 0, 0, 0]
    assert t.times_chosen.tolist()[:4] == [1, 1, 0, 0]
    assert t.junk_shown.tolist()[:4] == [1, 0, 0, 0]
    assert t.traitors_shown.tolist()[:4] == [0, 1, 0, 0]
    t.state.coups = 150
    t.state.coups_led[2] = accomplices.MOST_COUNTED
    draw(t, "Kb Kb").say("play-kc claim-kc pass pass pass")
    draw(t, "Kb")
    assert t.sees(2, "coups_led").tolist()[0] == accomplices.MOST_COUNTED


def test_section_f_action_names_match_their_numbers():
    names = accomplices.ACTION_NAMES
    assert len(names) == accomplices.NUM_ACTIONS == 41
    assert names[0] == "PLAY Ka"
    assert names[ALARM] == "PLAY A"
    assert names[accomplices.CLAIM + JACKPOT] == "CLAIM J"
    assert names[26:30] == ("PASS", "SOUND", "TAKE PILE", "CHOOSE +1")
    assert names[34:36] == ("KEEP", "STEAL Ba")
    assert names[accomplices.STEAL_JACKPOT] == "STEAL J"


def test_a_seat_sees_its_own_hand_and_no_other():
    t = table("Ka Ka Ka Ka Ka", "A A A A T")
    assert t.sees(1, "hand").tolist() == counts("A A A A T")
    assert "A A A A" in accomplices.describe(t.state, 1).replace("T A A A A", "A A A A")
    assert "A A A A" not in accomplices.describe(t.state, 0)
    assert "holds" not in accomplices.describe(t.state)


# ----------------------------------------------------------------------------------------- what a player can know


def beliefs(made, player, draws=200):
    """States as the player may imagine them."""
    stream = chance.streams(chance.seeds(1, 1))[0]
    for _ in range(draws):
        other = made.state.copy()
        accomplices.determinize(other, player, stream)
        accomplices.check(other)
        yield other


def test_before_the_first_reshuffle_any_unseen_card_may_be_anywhere():
    t = table("Ka", "Ba").say("play-ka claim-ka play-ba")
    hands = [other.hand[1] for other in beliefs(t, 0)]
    assert all(np.any([hand[card] for hand in hands]) for card in ALL)
    assert {int(other.face_down[1]) for other in beliefs(t, 0)} == {*ALL, NO_CARD}  # it may have passed
    assert {int(other.face_down[0]) for other in beliefs(t, 1)} == {*ALL}


def test_after_a_reshuffle_the_pile_is_what_was_shuffled_in():
    t = empty_the_pile(table("Ka", "Kb"), "Kc")
    draw(t.say("play-ka claim-ka play-kb pass pass choose-+1"), "Kc Bc")
    for other in beliefs(t, 2):
        assert (other.pile <= t.shuffled_in).all()
        old = other.hand[0] - counts("Kc")
        assert old.sum() == 4
        assert other.drawn[1].sum() == 1
        assert t.shuffled_in[other.drawn[1].argmax()] > 0


def test_a_card_that_could_not_have_been_drawn_is_known_to_be_an_old_one():
    t = empty_the_pile(table("Ka", "Kb", "T T T T T", num_traitors=5), "Kc")
    draw(t.say("play-ka claim-ka play-kb pass pass choose-+1"), "Kc Bc")  # no Traitor was shuffled in
    holders = {seat for other in beliefs(t, 0) for seat in range(4) if other.hand[seat, TRAITOR] > 0}
    assert holders == {1, 2, 3}
    assert all(other.pile[TRAITOR] == 0 and other.drawn[1, TRAITOR] == 0 for other in beliefs(t, 0))


def test_h5_who_cannot_tell_his_old_cards_from_fresh_ones_believes_both():
    t = draw(_refill_with_a_reshuffle_inside(), "Bb Kc")
    assert t.drawn[0].tolist() == counts("Bb Bc")
    piles = {int(other.pile[types("Bc")[0]]) for other in beliefs(t, 0)}
    assert len(piles) == 2  # whether the Bc that he drew was the one of the old pile


def test_a_committed_alarm_is_held_only_by_its_owner():
    t = table("Ka", "A", "Ba", "A", alarm_window="simultaneous")
    t.say("play-ka claim-ka pass play-ba pass choose-+2 sound")
    assert all(other.answer[1] == accomplices.YES and other.hand[1, ALARM] == 1 for other in beliefs(t, 1))
    seen = {(int(other.answer[1]), bool(other.hand[1, ALARM])) for other in beliefs(t, 3)}
    assert seen == {(accomplices.NO, False), (accomplices.NO, True), (accomplices.YES, True)}


# ----------------------------------------------------------------------------------------- bad data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 4.0}, "num_players=4.0"),
        ({"first_player": 4}, "seats 0 to 3"),
        ({"first_player": "left"}, "first_player='left'"),
        ({"num_places": 6}, "num_places=6: allowed is 1 to 5"),
        ({"num_places": 0}, "num_places=0"),
        ({"keys_per_place": 13}, "keys_per_place=13: allowed is 0 to 12"),
        ({"loots_per_place": -1}, "loots_per_place=-1"),
        ({"num_skeleton_keys": True}, "num_skeleton_keys=True"),
        ({"num_jackpots": 13}, "num_jackpots=13"),
        ({"num_traitors": 13}, "num_traitors=13"),
        ({"num_alarms": 0}, "num_alarms=0: allowed is 1 to 12"),
        ({"hand_size": 9}, "hand_size=9: allowed is 1 to 8"),
        ({"target_score": 0}, "target_score=0: allowed is 1 to 100"),
        ({"max_coups": 0}, "max_coups=0: allowed is 1 to 1000"),
        ({"volunteer_order": "all"}, "'simultaneous', 'sequential'"),
        ({"alarm_window": None}, "alarm_window=None"),
        ({"wild_needs_real": 1}, "wild_needs_real=1: allowed is False, True"),
        ({"reward": "points"}, "'win', 'score'"),
        ({"preset": "huge"}, "'tiny', 'small', 'micro'"),
        ({"num_players": 6, "hand_size": 8, "num_places": 1}, "got 30 cards: 6 players with hand_size=8 need 48"),
        (
            {
                "keys_per_place": 0,
                "loots_per_place": 0,
                "num_skeleton_keys": 0,
                "num_jackpots": 0,
                "num_alarms": 12,
                "hand_size": 1,
            },
            "at least one is needed, to be claimed",
        ),
    ],
)
def test_h1_data_that_does_not_fit_is_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        accomplices.new_initial_state(**options)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(TypeError, match=r"unknown option 'pot'.*num_players, first_player"):
        accomplices.new_initial_state(pot=3)


@pytest.mark.parametrize(
    ("say", "fields", "message"),
    [
        ("", {"num_players": 3}, "seated"),
        ("", {"num_players": 9}, "9 players"),
        ("", {"phase": 60}, "phase 60"),
        ("", {"leader": -7}, "leader -7"),
        ("", {"actor": 1}, "not the leader is asked"),
        ("", {"actor": -1}, "actor -1 in LEAD"),
        ("", {"drawer": 1}, "drawer 1 in LEAD"),
        ("", {"claim": 3}, "claim 3 in LEAD"),
        ("", {"max_coups": 0}, "max_coups 0"),
        ("", {"coups": 200}, "coups 200"),
        ("", {"coups_led": 3}, "coups_led"),
        ("", {"pile_size": 3}, "3 counted"),
        ("", {"drawn_since": 2}, "drawn_since of an empty seat"),
        ("", {"police_file": 4}, "police_file 4"),
        ("", {"last_loot": 99}, "last_loot 99"),
        ("", {"slots": 1}, "scratch in use"),
        ("", {"declined": 1}, "declined"),
        ("", {"accomplice": 2}, "accomplice 2 in LEAD"),
        ("", {"leader_card": 2}, "leader_card 2 in LEAD"),
        ("", {"first_player": 5}, "first_player 5"),
        ("", {"hand_size": 4}, "hand_sizes"),
        ("", {"num_places": 3}, "deck"),
        ("play-ka", {"face_down": NO_CARD}, "cards face down"),
        ("play-ka claim-ka", {"actor": 0}, "the leader is asked"),
        ("play-ka claim-ka play-ba", {"answer": 0}, "answers"),
        ("play-ka claim-ka play-ba pass pass", {"volunteers": 0}, "cards face down"),
        ("play-ka claim-ka play-ba pass pass choose-+1", {"leader_card": TRAITOR}, "in ALARM"),
        ("play-ka claim-ka play-ba pass pass choose-+1", {"accomplice": 2}, "asked|did not volunteer"),
        ("play-ka claim-ka play-ba pass pass choose-+1", {"scores": 3}, "scores"),
    ],
)
def test_a_crafted_state_is_refused(say, fields, message):
    t = table("Ka", "Ba").say(say)
    for field, wrong in fields.items():
        t.state[field] = wrong
    with pytest.raises(ValueError, match=message):
        accomplices.check(t.state)


def test_a_crafted_deck_is_refused():
    for card, message in ((0, "deck"), (ALARM, "the cards are not those of the deck")):
        t = table("Ka", "Ba")
        t.state.deck[card] += 1
        with pytest.raises(ValueError, match=message):
            accomplices.check(t.state)
