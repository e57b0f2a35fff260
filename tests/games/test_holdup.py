"""Hold-up's rule page in code: a deal, a play, a fact. Numbers are those of the page."""

import numpy as np
import pytest

from heist_envs.games import holdup
from heist_envs.games.holdup import DONE, FLIP, NO_SEAT, PAY
from tests.tables import Table, random_states


def table(cards=None, **options):
    """A table after the deal of one card each, clockwise from F, without redraws or loans unless asked for."""
    made = Table(holdup, **{"redraw_rounds": 0, "loans": False} | options)
    return made if cards is None else deal(made, *cards)


def deal(made, *cards):
    return made.chance(*(card - 1 for card in cards))


# ----------------------------------------------------------------------------------------- worked examples (e)


@pytest.mark.parametrize(("players", "diamonds", "pile"), [(3, 9, 12), (4, 9, 11), (5, 9, 10), (6, 7, 9)])
def test_example_1_a1_after_the_deal_everybody_has_paid_one_diamond_into_the_pot(players, diamonds, pile):
    t = table(range(1, players + 1), num_players=players, redraw_rounds=2)
    assert (t.diamonds[:players] == diamonds).all()
    assert t.pot == players
    assert t.pile_size == pile


def test_example_2_of_14_9_and_3_the_9_wins():
    t = table([14, 9, 3, 1]).say("join join join fold no-revolver")
    assert t.showdown_winner == 1


def test_example_3_of_12_and_5_the_5_wins():
    t = table([12, 5, 1, 2]).say("join join fold fold no-revolver")
    assert t.showdown_winner == 1


def test_example_4_a_single_participant_wins_without_showing():
    t = table([3, 12, 1, 2]).say("fold join fold fold")
    assert t.diamonds.tolist()[:4] == [9, 13, 9, 9]
    assert t.showdown_winner == NO_SEAT
    for seat in (0, 2, 3):
        assert 12 not in t.sees(seat, "showdown_card")
        assert not t.sees(seat, "face_up")[12 - 1]


def test_example_6_a6_the_winner_takes_pot_and_glove_and_every_loser_turns_a_thief():
    t = table([14, 9, 3, 1]).say("join join join fold no-revolver")
    assert t.diamonds.tolist()[:4] == [8, 15, 8, 9]
    assert t.glove == 1
    assert t.thieves.tolist()[:4] == [2, 3, 2, 3]


def test_example_7_when_nobody_joins_the_pot_stays_and_f_keeps_the_glove():
    t = table([14, 9, 3, 1]).say("fold fold fold fold")
    assert (t.pot, t.glove) == (4, 0)
    deal(t, 1, 2, 3, 4)
    assert t.pot == 8


def test_example_8_a_bribe_costs_three_diamonds_and_turns_a_cop_back():
    t = deal(table([5, 3, 9, 1]).say("join fold join fold no-revolver"), 1, 2, 3, 4)
    assert (t.player, t.diamonds[2], t.thieves[2]) == (2, 7, 2)
    t.say("bribe")
    assert (t.diamonds[2], t.thieves[2], t.pot) == (4, 3, 7)
    broke = table([5, 3, 9, 1], start_diamonds=4).say("join fold join fold no-revolver")
    deal(broke, 1, 2, 3, 4)
    assert broke.diamonds[2] == 1
    assert broke.phase == holdup.JOINING  # 1 diamond, and others have no Cop: nobody could bribe, nobody was asked


def test_example_9_a_loan_gives_two_diamonds_for_a_thief_once_a_game():
    t = table([5, 6, 7, 8], loans=True, start_diamonds=2)
    t.say("loan")
    assert (t.diamonds[0], t.thieves[0], t.loan_taken[0]) == (3, 2, 1)
    assert t.legal() == {"bribe", "done"}
    t.say("bribe")
    assert t.player == 1  # with 0 diamonds and the loan taken only DONE is left, and it is not asked for


def test_example_10_a5_f_shoots_a_folded_higher_card_and_wins_as_the_lower_of_two():
    t = table([8, 11, 1, 2]).say("join fold fold fold revolver-+1")
    assert t.showdown_pot == 6
    assert t.showdown_winner == 0
    assert t.diamonds.tolist()[:4] == [14, 8, 9, 9]
    assert t.thieves[1] == 2


def test_example_12_the_revolver_makes_f_second():
    t = table([12, 5, 14, 1]).say("join join fold fold")
    assert t.legal() == {"no-revolver", "revolver-+2", "revolver-+3"}
    without = Table(holdup, redraw_rounds=0, loans=False)
    deal(without, 12, 5, 14, 1).say("join join fold fold no-revolver")
    assert without.showdown_winner == 1
    t.say("revolver-+2")
    assert t.showdown_winner == 0


@pytest.mark.parametrize(("thieves", "over"), [(1, False), (2, False)])
def test_example_14_turning_the_last_thief_does_not_end_the_game(thieves, over):
    t = table([5, 3, 9, 1], num_thieves=thieves).say("join fold join fold no-revolver")
    assert t.over == over
    assert t.thieves[2] == thieves - 1


def test_example_14_a8_a_player_with_only_cops_who_loses_ends_the_game():
    t = table([5, 3, 9, 1], num_thieves=1, bribe_cost=50).say("join fold join fold no-revolver")
    deal(t, 5, 3, 9, 1).say("join fold join fold no-revolver")
    assert t.over
    assert t.thieves[2] == 0


def test_example_15_a_player_without_diamonds_after_the_pot_ends_the_game():
    t = table([5, 3, 9, 1], start_diamonds=2).say("join fold join fold no-revolver")
    assert t.diamonds[2] == 0
    assert t.over


def test_example_15_a_player_who_wins_his_last_diamond_back_plays_on():
    t = table([5, 3, 9, 1], start_diamonds=2).say("fold fold join fold")
    assert not t.over
    assert t.diamonds.tolist()[:4] == [1, 1, 5, 1]


def test_example_16_the_score_is_diamonds_and_two_per_thief_less_the_debt():
    t = table()
    t.state.diamonds[0], t.state.thieves[0] = 11, 2
    assert holdup.score(t.state, 0) == 15
    t.state.loan_taken[0] = 1
    assert holdup.score(t.state, 0) == 11
    t.state.diamonds[1], t.state.thieves[1], t.state.loan_taken[1] = 0, 0, 1
    assert holdup.score(t.state, 1) == -4


def test_example_18_five_players_who_all_redraw_twice_take_the_fifteenth_card_and_nobody_wins_at_once():
    t = table(range(1, 6), num_players=5, redraw_rounds=2)
    for card in range(6, 16):
        t.say("redraw").chance(card - 1)
    assert (t.pile_size, t.rounds, t.phase) == (0, 0, holdup.JOINING)


def test_example_19_a_player_who_bribes_his_last_diamonds_away_can_only_fold():
    options = {"start_diamonds": 6, "num_players": 3}
    t = deal(table([9, 5, 1], **options).say("join join fold no-revolver"), 1, 2, 3)
    assert (t.player, t.diamonds[0], t.thieves[0]) == (0, 3, 2)
    t.say("bribe")
    assert t.player == 1  # the others join or fold
    t.say("join join")
    assert t.folded[0]
    at_once = deal(table([9, 5, 1], end_check="immediate", **options).say("join join fold no-revolver"), 1, 2, 3)
    at_once.say("bribe")
    assert at_once.over
    assert not at_once.truncated


# ----------------------------------------------------------------------------------------- gaps and rulings (b)


def test_hol_1_the_card_values_are_data():
    t = table(pp_values=(3, 7, 11, 15))
    assert t.outcomes() == {2: 1, 6: 1, 10: 1, 14: 1}


def test_hol_2_every_round_is_dealt_from_all_cards():
    t = table([14, 9, 3, 1]).say("join join join fold no-revolver")
    assert len(t.outcomes()) == 15


def test_hol_3_whoever_kept_may_still_redraw():
    t = table([1, 2, 3, 4], redraw_rounds=2).say("keep keep keep keep")
    assert t.legal() == {"keep", "redraw"}


def test_hol_4_drawing_from_the_empty_pile_wins_the_pot_at_once():
    t = table(range(1, 7), num_players=6, redraw_rounds=2)
    for card in range(7, 16):
        t.say("redraw").chance(card - 1)
    assert (t.pile_size, t.player) == (0, 3)
    t.say("redraw")
    assert t.glove == 3
    assert t.diamonds.tolist() == [7, 7, 7, 13, 7, 7]
    assert (t.rounds, t.pot) == (1, 0)
    assert (t.thieves == 3).all()
    assert t.showdown_winner == NO_SEAT


def test_hol_5_a3_bribes_and_loans_come_between_the_draws_and_joining():
    t = table([1, 2, 3, 4], redraw_rounds=1, loans=True)
    assert t.legal() == {"keep", "redraw"}
    t.say("keep keep keep keep")
    assert t.legal() == {"loan", "done"}
    t.say("done done done done")
    assert t.legal() == {"join", "fold"}


def test_hol_6_bribes_as_often_as_affordable_a_loan_once():
    t = table([1, 2, 3, 4], loans=True, num_thieves=3, bribe_cost=1)
    t.state.thieves[0] = 1
    assert t.say("loan").thieves[0] == 0
    assert t.legal() == {"bribe", "done"}
    t.say("bribe bribe bribe")
    assert (t.thieves[0], t.diamonds[0], t.pot) == (3, 9 + 2 - 3, 4 + 3)
    t.say("done done done join fold fold fold no-revolver")
    deal(t, 1, 2, 3, 4)
    assert t.player == 1  # seat 0 keeps the Glove, but has all Thieves and his loan behind him: he is not asked again
    assert table([1, 2, 3, 4], loans=False).phase == holdup.JOINING


def test_hol_7_h7_the_bank_lends_without_limit_or_what_is_left_in_the_box():
    unlimited = table([1, 2, 3, 4, 5], num_players=5, loans=True)
    assert "loan" in unlimited.legal()
    box = table([1, 2, 3, 4, 5], num_players=5, loans=True, loan_bank="box")
    assert box.phase == holdup.JOINING  # 5 times 10 diamonds leave nothing to lend
    four = table([1, 2, 3, 4], loans=True, loan_bank="box", loan=4)
    four.say("loan done loan done")
    assert four.phase == holdup.JOINING  # 50 - 40 - 4 - 4 = 2 are left for the other two
    with pytest.raises(ValueError, match="at most 8 each"):
        table(num_players=6, start_diamonds=9, loan_bank="box")


def test_hol_8_a4_joining_goes_round_from_f_in_the_open():
    t = table([5, 6, 7, 8]).say("join fold")
    assert t.sees(3, "joined").tolist() == [0, 1, 0, 0, 0, 0]
    assert t.sees(3, "folded").tolist() == [0, 0, 1, 0, 0, 0]
    assert t.sees(3, "shown").tolist() == [0, 0, 6, 0, 0, 0]


def test_hol_8_h15_simultaneous_answers_are_shown_together():
    t = table([5, 6, 7, 8], join_order="simultaneous").say("join fold join")
    assert (t.pot, t.diamonds[0], t.player) == (4, 9, 3)
    for feature in ("joined", "folded", "shown", "face_up"):
        assert not t.sees(3, feature).any()
    assert t.sees(0, "answer").tolist() == [1, 0]
    assert t.sees(1, "answer").tolist() == [0, 1]
    assert t.sees(3, "answer").tolist() == [0, 0]
    t.say("join")
    assert (t.pot, t.phase) == (7, holdup.SHOOTING)
    assert t.shown.tolist()[:4] == [0, 6, 0, 0]


def test_hol_8_h15_a_broke_seat_folds_unseen_until_all_are_in():
    options = {"start_diamonds": 6, "num_players": 3, "join_order": "simultaneous"}
    t = deal(table([9, 5, 1], **options).say("join join fold no-revolver"), 1, 2, 3)
    assert (t.glove, t.player) == (1, 0)  # only seat 0 has a Cop
    t.say("bribe")
    assert (t.diamonds[0], t.player) == (0, 1)
    t.say("join join")
    assert (t.folded[0], t.shown[0]) == (1, 3)
    before_f = deal(table([5, 9, 1], **options).say("join join fold no-revolver"), 1, 2, 3)
    assert (before_f.glove, before_f.player) == (0, 1)
    before_f.say("bribe join")
    assert (before_f.player, before_f.answer[1], before_f.folded[1]) == (2, holdup.FOLD, 0)
    assert not before_f.sees(2, "shown").any()
    assert not before_f.sees(2, "folded").any()


def test_hol_9_a_player_without_diamonds_must_fold():
    t = table([1, 2, 3, 4], start_diamonds=1, loans=True)
    t.say("done loan done done")
    assert t.player == 1
    assert t.folded[0]


def test_hol_10_no_participant_leaves_the_pot_and_the_glove():
    t = table([14, 9, 3, 1]).say("fold fold fold fold")
    assert (t.pot, t.glove, t.rounds) == (4, 0, 1)


def test_hol_11_h2_one_participant_wins_unseen():
    t = table([14, 9, 3, 1]).say("join fold fold fold no-revolver")
    assert t.diamonds[0] == 13
    assert not t.revealed
    assert not t.showdown_card.any()


def test_hol_12_of_two_participants_the_lower_card_wins():
    t = table([14, 9, 3, 1]).say("fold join join fold")
    assert t.showdown_winner == 2


def test_hol_13_f_must_join_to_use_the_revolver():
    t = table([14, 9, 3, 1]).say("fold join join fold")
    assert t.rounds == 1  # F was not asked


def test_hol_13_h3_without_that_rule_a_folded_f_may_shoot_and_always_pays_the_penalty():
    t = table([14, 9, 3, 1], revolver_needs_join=False).say("fold join join fold")
    assert t.legal() == {"no-revolver", "revolver-+3"}
    t.say("revolver-+3")
    assert t.showdown_winner == 2  # 9, 3 and 1
    assert (t.player, t.phase) == (0, holdup.PENALTY)
    assert t.thieves.tolist()[:4] == [3, 2, 3, 2]
    t.say("flip")
    assert t.thieves[0] == 1


def test_h3_the_target_of_a_folded_f_whom_nobody_joined_wins_alone():
    t = table([14, 9, 3, 1], revolver_needs_join=False).say("fold fold fold fold revolver-+1")
    assert t.diamonds[1] == 9 - 1 + 5
    assert t.glove == 1
    assert not t.revealed
    t.say("pay")
    assert t.diamonds.tolist()[:4] == [6, 16, 9, 9]


def test_hol_14_a_target_has_folded_and_has_a_diamond():
    t = table([14, 9, 3, 1], loans=True, start_diamonds=1)
    t.say("loan done done done join")
    assert t.rounds == 1  # the others folded without a diamond: F is not asked and wins alone
    assert t.diamonds.tolist()[:4] == [0 + 2 - 1 + 5, 0, 0, 0]


def test_hol_15_the_only_participant_may_shoot():
    t = table([14, 9, 3, 1]).say("join fold fold fold")
    assert "revolver-+1" in t.legal()


def test_hol_16_the_penalty_comes_on_top_of_the_ordinary_loss():
    t = table([14, 9, 3, 1]).say("join fold fold fold revolver-+1")
    assert (t.showdown_winner, t.thieves[0]) == (1, 2)
    t.say("flip")
    assert t.thieves[0] == 0


def test_hol_16_h4_instead_of_it_flip_turns_two_in_all_and_pay_only_pays():
    flip = table([14, 9, 3, 1], revolver_penalty="instead").say("join fold fold fold revolver-+1 flip")
    assert flip.thieves[0] == 1
    pay = table([14, 9, 3, 1], revolver_penalty="instead").say("join fold fold fold revolver-+1 pay")
    assert (pay.thieves[0], pay.diamonds[0]) == (2, 5)


def test_h4_a_folded_f_has_turned_none_and_flips_all():
    t = table([14, 9, 3, 1], revolver_needs_join=False, revolver_penalty="instead")
    t.say("fold join join fold revolver-+3 flip")
    assert t.thieves[0] == 1


def test_hol_17_without_three_diamonds_the_thieves_are_turned_unasked():
    t = table([14, 9, 3, 1], start_diamonds=4).say("join fold fold fold revolver-+1")
    assert t.rounds == 1
    assert (t.diamonds[0], t.thieves[0]) == (2, 0)
    assert t.showdown_penalty == FLIP


def test_hol_18_a_flip_with_too_few_thieves_turns_what_there_is_and_ends_the_game():
    t = table([14, 9, 3, 1], num_thieves=2).say("join fold fold fold revolver-+1 flip")
    assert t.thieves[0] == 0
    assert t.over


def test_hol_19_a7_the_penalty_is_due_to_a_target_who_wins():
    t = table([14, 9, 3, 1]).say("join fold fold fold revolver-+1 pay")
    assert t.diamonds.tolist()[:4] == [5, 9 - 1 + 6 + 3, 9, 9]


def test_hol_20_by_default_the_end_is_checked_after_the_round():
    t = table([5, 3, 9, 1], start_diamonds=2).say("join join join join")
    assert (t.over, t.diamonds.tolist()[:4]) == (True, [8, 0, 0, 0])  # 9, 5, 3, 1: F is second


def test_hol_20_h5_an_immediate_end_comes_with_the_last_diamond_bribed_away():
    t = table([9, 5, 1], num_players=3, start_diamonds=6, end_check="immediate")
    deal(t.say("join join fold no-revolver"), 1, 2, 3).say("bribe")
    assert (t.over, t.truncated, t.diamonds[0], t.rounds) == (True, False, 0, 2)


def test_hol_20_h5_an_immediate_end_comes_with_the_last_diamond_staked():
    t = table([5, 3, 9, 1], start_diamonds=2, end_check="immediate").say("join")
    assert (t.over, t.truncated, t.pot, t.rounds) == (True, False, 5, 1)
    assert t.thieves.tolist()[:4] == [3, 3, 3, 3]


def test_hol_20_h5_an_immediate_end_comes_with_the_last_diamond_paid_at_gunpoint():
    t = table([9, 5, 3], num_players=3, start_diamonds=3, end_check="immediate").say("fold join fold")
    deal(t, 1, 2, 3).say("join fold fold")
    assert t.diamonds.tolist()[:3] == [1, 3, 1]
    t.say("revolver-+1")
    assert (t.over, t.diamonds[2], t.revealed, t.pot) == (True, 0, 0, 5)


def test_hol_20_h5_an_immediate_end_comes_with_the_last_diamond_of_the_penalty():
    t = table([14, 9, 3, 1], start_diamonds=5, end_check="immediate").say("join fold fold fold revolver-+1 pay")
    assert (t.over, t.truncated, t.diamonds[0]) == (True, False, 0)


def test_hol_20_h5_an_ante_round_is_completed_first():
    t = table([5, 3, 9, 1], start_diamonds=2, end_check="immediate").say("fold fold fold fold")
    deal(t, 1, 2, 3, 4)
    assert t.over
    assert t.diamonds.tolist()[:4] == [0, 0, 0, 0]
    assert (t.pot, t.rounds) == (8, 2)


def test_h5_simultaneous_stakes_are_all_paid_before_the_check():
    t = table([5, 3, 9, 1], start_diamonds=2, end_check="immediate", join_order="simultaneous")
    t.say("join join fold join")
    assert t.over
    assert (t.pot, t.diamonds.tolist()[:4], t.shown.tolist()[:4]) == (7, [0, 0, 1, 0], [0, 0, 9, 0])


def test_hol_21_h6_the_penalty_is_asked_though_the_end_is_certain():
    t = table([14, 9, 3, 1], num_thieves=1, bribe_cost=50).say("join fold fold fold revolver-+1")
    assert t.thieves[0] == 0
    assert t.player == 0
    t.say("flip")
    assert t.over


def test_hol_22_a_pot_left_at_the_end_belongs_to_nobody():
    t = table([14, 9, 3, 1], max_rounds=1).say("fold fold fold fold")
    assert t.over
    assert t.pot == 4
    assert t.rewards() == [0, 0, 0, 0]


def test_hol_23_a_tie_is_shared():
    t = table([14, 9, 3, 1], max_rounds=1).say("fold fold fold fold")
    t.state.diamonds[:2] += 1
    assert t.rewards() == pytest.approx([1 / 3, 1 / 3, -1 / 3, -1 / 3])


def test_hol_24_h13_an_endless_game_is_truncated_and_a_presets_cap_terminates():
    t = table([14, 9, 3, 1], max_rounds=1).say("fold fold fold fold")
    assert t.truncated
    own = Table(holdup, preset="tiny")
    deal(own, 1, 2, 3).say("keep keep keep fold fold fold")
    assert own.over
    assert not own.truncated
    overridden = Table(holdup, preset="tiny", max_rounds=1)
    deal(overridden, 1, 2, 3).say("keep keep keep fold fold fold")
    assert overridden.truncated
    ended = table([5, 3, 9, 1], start_diamonds=2, max_rounds=1).say("join fold join fold no-revolver")
    assert ended.over
    assert not ended.truncated


def test_hol_25_h11_a2_laid_cards_stay_visible_till_the_next_deal():
    t = table([5, 6, 7, 8], redraw_rounds=1).say("redraw").chance(15 - 1)
    t.say("keep keep keep fold join join join")
    assert t.phase == holdup.DEAL
    assert t.laid[0, 0] == 5
    deal(t, 1)
    assert t.laid[0, 0] == holdup.NOT_ASKED


def test_hol_27_the_last_seat_is_asked_though_everybody_else_has_folded():
    t = table([14, 9, 3, 1]).say("fold fold fold")
    assert (t.player, t.legal()) == (3, {"join", "fold"})
    t.say("join")
    assert t.diamonds[3] == 9 - 1 + 5


# ----------------------------------------------------------------------------------------- precisions (h)


def test_h1_a_seat_answers_until_done_and_is_not_asked_again():
    t = table([1, 2, 3, 4], loans=True)
    t.say("loan")
    assert t.player == 0
    t.say("done loan done")
    assert t.player == 2


def test_h8_a_later_single_participant_does_not_replace_the_showdown():
    t = table([14, 9, 3, 1]).say("join join join fold no-revolver")
    assert (t.showdown_winner, t.showdown_pot) == (1, 7)
    deal(t, 1, 2, 3, 4)
    while t.phase == holdup.CORRUPT:
        t.say("done")
    t.say("fold fold join fold")
    assert (t.showdown_winner, t.showdown_pot) == (1, 7)


def test_h8_the_penalty_is_blank_until_chosen():
    t = table([14, 9, 3, 1]).say("join fold fold fold revolver-+1")
    assert not t.sees(2, "showdown_penalty").any()
    t.say("pay")
    assert t.showdown_penalty == PAY
    assert t.sees(2, "showdown_penalty").tolist() == [0, 1]
    assert t.sees(2, "showdown_target").tolist() == [0, 0, 0, 1, 0, 0]


def test_h9_at_the_penalty_the_glove_is_the_winners_and_the_shooter_is_marked():
    t = table([14, 9, 3, 1]).say("join fold fold fold revolver-+1")
    assert t.sees(1, "glove").tolist() == [1, 0, 0, 0, 0, 0]
    assert t.sees(1, "actor").tolist() == [0, 0, 0, 1, 0, 0]
    assert t.sees(1, "shooter").tolist() == [0, 0, 0, 1, 0, 0]
    assert t.sees(1, "joined").tolist() == [1, 0, 0, 1, 0, 0]
    assert t.sees(1, "shown").tolist() == [9, 3, 1, 0, 0, 0]


def test_h10_a_redraw_from_the_empty_pile_lays_nothing():
    t = table([1, 2, 3], num_players=3, pp_values=(1, 2, 3), redraw_rounds=1, max_rounds=1).say("redraw")
    assert t.over
    assert t.laid.tolist()[:3] == [[0, -1], [-1, -1], [-1, -1]]


def test_h11_the_terminal_observation_keeps_the_last_round():
    t = table([14, 9, 3, 1], max_rounds=1).say("join join join fold no-revolver")
    assert t.sees(0, "shown").tolist() == [0, 0, 0, 1, 0, 0]
    assert t.sees(3, "showdown_card").tolist() == [0, 14, 9, 3, 0, 0]


def test_h12_the_counter_counts_completed_rounds():
    t = table([14, 9, 3, 1])
    assert t.sees(0, "rounds") == 0
    t.say("fold fold fold fold")
    assert t.sees(0, "rounds") == 1


def test_h14_the_own_card_is_one_hot_by_value():
    t = table([3, 7, 11], num_players=3, pp_values=(3, 7, 11))
    assert np.flatnonzero(t.sees(1, "card")).tolist() == [6]


def test_h14_a_score_reward_beyond_one_is_clipped():
    t = table([14, 9, 3, 1], reward="score", max_rounds=1).say("fold fold fold fold")
    t.state.diamonds[0] = 300
    assert t.rewards()[0] == 1
    t.state.diamonds[0] = 16
    assert t.rewards() == pytest.approx([7 / 70, -7 / 3 / 70, -7 / 3 / 70, -7 / 3 / 70])


def test_h16_whoever_is_asked_has_two_legal_actions_or_more():
    made = table()
    asked = 0
    for made.state, _ in random_states("holdup", 5_000, np.random.default_rng(16)):
        if made.player >= 0:
            asked += 1
            assert len(made.legal()) >= 2
    assert asked > 1_000


def test_win_rewards_are_those_of_the_conventions():
    t = table([14, 9, 3, 1], max_rounds=1).say("fold join fold fold")
    assert t.rewards() == pytest.approx([-1 / 3, 1, -1 / 3, -1 / 3])


def test_first_player_is_a_seat_or_drawn_by_chance():
    assert table(first_player=2).glove == 2
    drawn = table(first_player="random")
    assert drawn.outcomes() == {0: 1, 1: 1, 2: 1, 3: 1}
    drawn.chance(3)
    assert deal(drawn, 1, 2, 3, 4).player == 3


def test_hol_26_the_actions_are_those_of_section_f_and_no_deals():
    assert holdup.ACTION_NAMES[DONE] == "DONE"
    assert holdup.ACTION_NAMES[holdup.REVOLVER] == "REVOLVER +1"
    assert len(holdup.ACTION_NAMES) == holdup.NUM_ACTIONS == 15


# ----------------------------------------------------------------------------------------- bad data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 2}, "num_players=2: allowed is 3 to 6"),
        ({"num_players": 7}, "num_players=7: allowed is 3 to 6"),
        ({"num_players": 4.0}, "num_players=4.0"),
        ({"num_players": True}, "num_players=True"),
        ({"pp_values": (1, 2, 3)}, "at least one per player"),
        ({"pp_values": (1, 1, 2, 3, 4)}, "different"),
        ({"pp_values": (0, 1, 2, 3)}, "from 1 to 15"),
        ({"pp_values": (1, 2, 3, 16)}, "from 1 to 15"),
        ({"pp_values": (1, 2, 3, 4.5)}, "whole numbers"),
        ({"pp_values": 7}, "got pp_values=7"),
        ({"pp_values": (1, 2, 3, float("inf"))}, "whole numbers"),
        ({"preset": ["tiny"]}, "got preset="),
        ({"first_player": 4}, "seats 0 to 3"),
        ({"first_player": "left"}, "first_player='left'"),
        ({"start_diamonds": 0}, "start_diamonds=0: allowed is 1 to 20"),
        ({"num_thieves": 4}, "num_thieves=4: allowed is 1 to 3"),
        ({"redraw_rounds": 3}, "redraw_rounds=3: allowed is 0 to 2"),
        ({"loans": 1}, "loans=1: allowed is True, False"),
        ({"bribe_cost": 0}, "bribe_cost=0"),
        ({"loan": 51}, "loan=51"),
        ({"loan_debt": -1}, "loan_debt=-1"),
        ({"end_check": "later"}, "'round', 'immediate'"),
        ({"reward": "points"}, "'win', 'score'"),
        ({"preset": "huge"}, "'tiny', 'small', 'two_rounds'"),
        ({"start_diamonds": 1, "end_check": "immediate"}, "at least 2"),
        ({"start_diamonds": 1, "redraw_rounds": 0, "loans": False}, "nobody would have a choice"),
    ],
)
def test_inconsistent_data_is_refused_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        holdup.new_initial_state(**options)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(TypeError, match=r"unknown option 'pot'.*num_players, first_player"):
        holdup.new_initial_state(pot=3)
