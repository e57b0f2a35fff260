"""Hold-up: one hidden number card each, bought into a common pot; the second highest card takes it.

Numbers such as a.3 (the list below), HOL-12 and h.3 are those of docs/rules/holdup.md, each where its rule is carried.

A round, from the holder of the Glove (F) clockwise:

1. DEAL: one hidden card each, one diamond each into the pot.
2. DRAW, twice round: KEEP, or REDRAW: lay the old card face up and draw another.
3. CORRUPT: BRIBE a Cop back to Thief for 3 diamonds to the pot; a LOAN of 2 diamonds for a Thief, once a game; DONE.
4. JOIN the heist for one diamond, or FOLD and lay the card face up.
5. REVOLVER: F may force one player who folded to pay and take part.
6. REVEAL: the second highest card takes pot and Glove; every loser turns a Thief to Cop.
7. PENALTY: F used the Revolver and did not win: FLIP two Thieves, or PAY three diamonds to the one he forced.
8. The game ends when a player with no Thief left has to turn one, or has no diamond.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, wide
from heist_envs.conventions import check_first_player, reward_scores, reward_winners, seat_of
from heist_envs.games import VERSIONS
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, Record, State, compiled, inlined, register
from heist_envs.scene import ALL_SEEING, GOLD, GREEN, Card, Scene, Zone

# ---------------------------------------------------------------------------------------------------- spec

NAME = "holdup"
VERSION = VERSIONS[NAME]

MIN_PLAYERS, MAX_PLAYERS = 3, 6
NUM_CARDS = 15
MAX_REDRAW_ROUNDS = 2
NO_CARD = 0
NO_SEAT = -1
NOT_ASKED = -1

KEEP, REDRAW, BRIBE, LOAN, DONE, JOIN, FOLD, NO_REVOLVER, REVOLVER, FLIP, PAY = 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 14
"""Actions. REVOLVER + k forces the player k + 1 seats to the left of F, k in 0..4."""
NUM_ACTIONS = 15
MAX_CHANCE_OUTCOMES = NUM_CARDS
"""Outcomes of chance: card value - 1 for a draw, the seat for `first_player="random"`."""

PHASES = ("SETUP", "DEAL", "DRAW", "CORRUPT", "JOIN", "REVOLVER", "REVEAL", "PENALTY", "OVER")
SETUP, DEAL, DRAW, CORRUPT, JOINING, SHOOTING, REVEAL, PENALTY, OVER = range(len(PHASES))

DIAMONDS_IN_BOX = 50
RANDOM = -1
REVOLVER_PENALTIES = EXTRA, INSTEAD = ("extra", "instead")
END_CHECKS = ROUND, IMMEDIATE = ("round", "immediate")
LOAN_BANKS = UNLIMITED, BOX = ("unlimited", "box")
JOIN_ORDERS = SEQUENTIAL, SIMULTANEOUS = ("sequential", "simultaneous")
REWARDS = WIN, SCORE = ("win", "score")
SCORE_SCALE = 70

OPTIONS = {
    "num_players": Option(4, range(MIN_PLAYERS, MAX_PLAYERS + 1), "players, 3 to 6"),
    "first_player": Option(0, ("random", *range(MAX_PLAYERS)), "the seat that has the Glove first, or 'random'"),
    "pp_values": Option(tuple(range(1, NUM_CARDS + 1)), None, "HOL-1: the values of the number cards, all different"),
    "start_diamonds": Option(None, range(1, 21), "diamonds each at the start; None is 10, or 8 with six players"),
    "num_thieves": Option(3, range(1, 4), "two-sided cards each, Thief side up at the start"),
    "redraw_rounds": Option(2, range(MAX_REDRAW_ROUNDS + 1), "how often each player may draw anew in a round"),
    "loans": Option(True, (True, False), "HOL-6: a player may take a loan, once a game"),
    "bribe_cost": Option(3, range(1, 51), "diamonds to the pot for turning a Cop"),
    "loan": Option(2, range(1, 51), "diamonds lent"),
    "loan_debt": Option(4, range(51), "points that a loan costs at the end"),
    "penalty_thieves": Option(2, range(1, 51), "Thieves that FLIP turns"),
    "penalty_diamonds": Option(3, range(1, 51), "diamonds that PAY pays"),
    "revolver_penalty": Option(EXTRA, REVOLVER_PENALTIES, "HOL-16: on top of the ordinary loss, or instead of it"),
    "revolver_needs_join": Option(True, (True, False), "HOL-13: F must take part himself to use the Revolver"),
    "end_check": Option(ROUND, END_CHECKS, "HOL-20: when a player without diamonds ends the game"),
    "loan_bank": Option(UNLIMITED, LOAN_BANKS, "HOL-7: lend without limit, or only what is left of 50 diamonds"),
    "join_order": Option(SEQUENTIAL, JOIN_ORDERS, "HOL-8: JOIN one after another in the open, or all at once"),
    "max_rounds": Option(60, range(1, 121), "HOL-24: rounds after which the game is cut off"),
    "reward": Option(WIN, REWARDS, "win: (n w - 1) / (n - 1); score: (own score - mean of the others) / 70"),
}

_TINY = {
    "num_players": 3,
    "pp_values": (1, 2, 3, 4, 5, 6),
    "redraw_rounds": 1,
    "start_diamonds": 4,
    "num_thieves": 2,
    "loans": False,
    "penalty_thieves": 1,
    "penalty_diamonds": 2,
    "max_rounds": 1,
}
PRESETS: dict[str, dict[str, Any]] = {
    "tiny": _TINY,
    "small": {**_TINY, "loans": True},
    "two_rounds": {
        "num_players": 3,
        "pp_values": (1, 2, 3, 4, 5),
        "redraw_rounds": 0,
        "start_diamonds": 3,
        "num_thieves": 2,
        "bribe_cost": 2,
        "loans": False,
        "penalty_thieves": 1,
        "penalty_diamonds": 2,
        "max_rounds": 2,
    },
}

# ---------------------------------------------------------------------------------------------------- state

FLAG = np.int8
"""0 or 1: Numba takes no array of bool in a record."""

PUBLIC = [
    ("diamonds", np.int16, MAX_PLAYERS),
    ("pot", np.int16),
    ("showdown_pot", np.int16),
    # Options, kept by `reset`.
    ("num_players", np.int8),
    ("first_player", np.int8),
    ("in_play", FLAG, NUM_CARDS),
    ("start_diamonds", np.int8),
    ("num_thieves", np.int8),
    ("redraw_rounds", np.int8),
    ("loans", FLAG),
    ("bribe_cost", np.int8),
    ("loan", np.int8),
    ("loan_debt", np.int8),
    ("penalty_thieves", np.int8),
    ("penalty_diamonds", np.int8),
    ("penalty_instead", FLAG),
    ("revolver_needs_join", FLAG),
    ("immediate_end", FLAG),
    ("bank_is_box", FLAG),
    ("simultaneous_join", FLAG),
    ("max_rounds", np.int8),
    ("cap_terminates", FLAG),
    ("score_reward", FLAG),
    # The game.
    ("thieves", np.int8, MAX_PLAYERS),
    ("loan_taken", FLAG, MAX_PLAYERS),
    ("rounds", np.int8),
    ("truncated", FLAG),
    ("ruined", FLAG),  # somebody without a Thief had to turn one: the game ends with this round
    # The round.
    ("phase", np.int8),
    ("redraw_round", np.int8),
    ("glove", np.int8),
    ("actor", np.int8),
    ("drawer", np.int8),  # the seat that chance owes a card
    ("pile_size", np.int8),
    ("laid", np.int8, (MAX_PLAYERS, MAX_REDRAW_ROUNDS)),  # a card's value, NO_CARD or NOT_ASKED
    ("shown", np.int8, MAX_PLAYERS),  # the card shown by folding, or NO_CARD
    ("joined", FLAG, MAX_PLAYERS),
    ("folded", FLAG, MAX_PLAYERS),
    ("target", np.int8),
    ("shooter", np.int8),
    ("face_up", FLAG, NUM_CARDS),  # every card that lies open, by value - 1
    ("revealed", FLAG),  # the participants of this round have turned their cards
    # The last event (section f).
    ("showdown_card", np.int8, MAX_PLAYERS),
    ("showdown_winner", np.int8),
    ("showdown_target", np.int8),
    ("showdown_penalty", np.int8),  # 0, FLIP or PAY
]
PRIVATE = [
    ("card", np.int8, MAX_PLAYERS),
    ("answer", np.int8, MAX_PLAYERS),  # 0, JOIN or FOLD, while simultaneous answers come in
]
HIDDEN = [
    ("pile", FLAG, NUM_CARDS),
]
STATE = np.dtype((np.record, PUBLIC + PRIVATE + HIDDEN))

# ---------------------------------------------------------------------------------------------------- setup


def new_initial_state(**given: Any) -> NDArray[Any]:
    """A state before the first chance event, as an array of one record: `OPTIONS` by name, and `preset`.

    Raises:
        TypeError: an unknown option.
        ValueError: a value that is not allowed, or values that do not fit together.
    """
    o = resolve(NAME, OPTIONS, PRESETS, given)
    n = o["num_players"]
    values = _checked_pp_values(o["pp_values"], n)
    check_first_player(o)
    start = o["start_diamonds"] if o["start_diamonds"] is not None else (8 if n == MAX_PLAYERS else 10)
    if o["loan_bank"] == BOX and n * start > DIAMONDS_IN_BOX:  # h.7
        raise ValueError(
            f"got start_diamonds={start} for {n} players with loan_bank='box': "
            f"the box holds {DIAMONDS_IN_BOX} diamonds, at most {DIAMONDS_IN_BOX // n} each"
        )
    if o["end_check"] == IMMEDIATE and start == 1:
        raise ValueError("got start_diamonds=1 with end_check='immediate': the first ante would end the game; at least 2")
    lends = o["loans"] and (o["loan_bank"] == UNLIMITED or DIAMONDS_IN_BOX - n * start >= o["loan"])
    if start == 1 and o["redraw_rounds"] == 0 and not lends:
        raise ValueError("got start_diamonds=1 with redraw_rounds=0 and no loan to take: nobody would have a choice")
    states = np.zeros(1, STATE)
    state = states[0]
    for name in [
        "num_players",
        "num_thieves",
        "redraw_rounds",
        "loans",
        "bribe_cost",
        "loan",
        "loan_debt",
        "penalty_thieves",
        "penalty_diamonds",
        "revolver_needs_join",
        "max_rounds",
    ]:
        state[name] = o[name]
    state.first_player = RANDOM if o["first_player"] == "random" else o["first_player"]
    state.in_play[np.array(values) - 1] = True
    state.start_diamonds = start
    state.penalty_instead = o["revolver_penalty"] == INSTEAD
    state.immediate_end = o["end_check"] == IMMEDIATE
    state.bank_is_box = o["loan_bank"] == BOX
    state.simultaneous_join = o["join_order"] == SIMULTANEOUS
    state.cap_terminates = "max_rounds" not in given and given.get("preset") is not None  # h.13
    state.score_reward = o["reward"] == SCORE
    reset(state)
    return states


def _checked_pp_values(given: Any, num_players: int) -> list[int]:
    allowed = f"pp_values are different whole numbers from 1 to {NUM_CARDS}, at least one per player ({num_players})"
    try:
        values = [int(v) for v in given]
        whole = all(v == w and not isinstance(w, bool) for v, w in zip(values, given, strict=True))
    except (TypeError, ValueError, OverflowError):
        values, whole = [], False
    if not whole or len(set(values)) < max(len(values), num_players) or not set(values) <= set(range(1, NUM_CARDS + 1)):
        raise ValueError(f"got pp_values={given!r}: {allowed}")
    return values


@compiled
def reset(state: State) -> None:
    n = state.num_players
    state.diamonds[:] = 0
    state.thieves[:] = 0
    state.diamonds[:n] = state.start_diamonds
    state.thieves[:n] = state.num_thieves
    state.loan_taken[:] = False
    state.pot = 0
    state.rounds = 0
    state.truncated = False
    state.ruined = False
    state.showdown_card[:] = NO_CARD
    state.showdown_winner = NO_SEAT
    state.showdown_target = NO_SEAT
    state.showdown_pot = 0
    state.showdown_penalty = 0
    state.glove = state.first_player
    state.answer[:] = 0
    _clear_table(state)
    _begin_round(state)
    if state.first_player == RANDOM:
        state.phase = SETUP


@compiled
def _begin_round(state: State) -> None:
    """HOL-2: every round is dealt from all cards. What lies on the table stays in sight until the first of them."""
    state.phase = DEAL
    state.redraw_round = 0
    state.actor = NO_SEAT
    state.drawer = state.glove
    state.pile_size = 0
    for card in range(NUM_CARDS):
        state.pile[card] = state.in_play[card]
        state.pile_size += state.in_play[card]
    state.card[:] = NO_CARD


@compiled
def _clear_table(state: State) -> None:
    """h.11"""
    state.laid[:] = 0
    state.laid[: state.num_players] = NOT_ASKED
    state.shown[:] = NO_CARD
    state.face_up[:] = False
    state.joined[:] = False
    state.folded[:] = False
    state.target = NO_SEAT
    state.shooter = NO_SEAT
    state.revealed = False


# ---------------------------------------------------------------------------------------------------- turn


@compiled
def current_player(state: State) -> int:
    if state.phase == OVER:
        return TERMINAL
    if state.phase == SETUP or state.drawer != NO_SEAT:
        return CHANCE
    return int(state.actor)


@compiled
def chance_outcomes(state: State, weights: NDArray[np.int32]) -> None:
    weights[:] = 0
    if state.phase == SETUP:
        weights[: state.num_players] = 1
    else:
        for card in range(NUM_CARDS):
            weights[card] = state.pile[card]


@compiled
def legal_actions(state: State, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    if state.phase == DRAW:
        mask[KEEP] = mask[REDRAW] = 1  # HOL-3: whoever kept may still redraw
    elif state.phase == CORRUPT:
        mask[BRIBE] = _may_bribe(state)
        mask[LOAN] = _may_borrow(state)
        mask[DONE] = 1
    elif state.phase == JOINING:
        mask[JOIN] = state.diamonds[state.actor] >= 1
        mask[FOLD] = 1
    elif state.phase == SHOOTING:
        mask[NO_REVOLVER] = 1
        for k in range(state.num_players - 1):
            mask[REVOLVER + k] = _may_be_shot(state, seat_of(state, state.glove + 1 + k))
    elif state.phase == PENALTY:
        mask[FLIP] = 1
        mask[PAY] = _may_pay(state)


@compiled
def apply_action(state: State, action: int) -> None:
    if state.phase == SETUP:
        state.glove = action
        _begin_round(state)
    elif state.drawer != NO_SEAT:
        _take_card(state, action + 1)
    elif state.phase == DRAW:
        _answer_draw(state, action)
    elif state.phase == CORRUPT:
        _answer_corrupt(state, action)
    elif state.phase == JOINING:
        _answer_join(state, action)
    elif state.phase == SHOOTING:
        _answer_revolver(state, action)
    else:
        _answer_penalty(state, action)
    _run_on(state)


@inlined
def _run_on(state: State) -> None:
    """Do all that needs no answer. h.16: all masks are public, so that a question with one legal answer is not asked."""
    while True:
        if state.immediate_end and state.phase != OVER and state.phase != DEAL and _somebody_is_broke(state):
            _end_round(state)  # HOL-20, h.5: the stop cancels everything later in the round
        elif state.phase == CORRUPT and not (_may_bribe(state) or _may_borrow(state)):
            _pass_on(state)
        elif state.phase == JOINING and state.diamonds[state.actor] == 0:
            _answer_join(state, FOLD)  # HOL-9
        elif state.phase == SHOOTING and not _may_shoot(state):
            state.phase = REVEAL
        elif state.phase == REVEAL:
            _reveal(state)
        elif state.phase == PENALTY and not _may_pay(state):
            _answer_penalty(state, FLIP)  # HOL-17
        else:
            return


@inlined
def _pass_on(state: State) -> None:
    """The next seat is asked; after the last one the next phase begins with F."""
    state.actor = seat_of(state, state.actor + 1)
    if state.actor != state.glove:
        return
    if state.phase == DRAW:
        state.redraw_round += 1
        if state.redraw_round == state.redraw_rounds:
            state.redraw_round = 0
            state.phase = CORRUPT
    elif state.phase == CORRUPT:
        state.phase = JOINING
    else:
        state.phase = SHOOTING


@inlined
def _take_card(state: State, value: int) -> None:
    """a.1, and the second half of a REDRAW."""
    player = state.drawer
    if state.phase == DEAL and player == state.glove:
        _clear_table(state)
    state.card[player] = value
    state.pile[value - 1] = False
    state.pile_size -= 1
    state.drawer = NO_SEAT
    if state.phase == DRAW:
        _pass_on(state)
        return
    following = seat_of(state, player + 1)
    if following != state.glove:
        state.drawer = following
        return
    for seat in range(state.num_players):  # the deal is complete: the antes
        state.diamonds[seat] -= 1
        state.pot += 1
    state.actor = state.glove
    state.phase = DRAW if state.redraw_rounds > 0 else CORRUPT


@inlined
def _answer_draw(state: State, action: int) -> None:
    """a.2"""
    player = state.actor
    state.laid[player, state.redraw_round] = NO_CARD  # h.10: so it stays where the pile is empty
    if action == KEEP:
        _pass_on(state)
    elif state.pile_size > 0:
        state.laid[player, state.redraw_round] = state.card[player]
        state.face_up[state.card[player] - 1] = True  # HOL-25
        state.card[player] = NO_CARD
        state.drawer = player
    else:  # HOL-4: nothing left to draw wins the round at once
        _take_pot(state, player)
        _end_round(state)


@inlined
def _may_bribe(state: State) -> bool:
    return bool(state.diamonds[state.actor] >= state.bribe_cost and state.thieves[state.actor] < state.num_thieves)


@inlined
def _may_borrow(state: State) -> bool:
    if not state.loans or state.loan_taken[state.actor] or state.thieves[state.actor] == 0:
        return False
    if not state.bank_is_box:
        return True
    taken = 0
    for seat in range(state.num_players):
        taken += state.loan_taken[seat]
    box = DIAMONDS_IN_BOX - int(state.num_players) * int(state.start_diamonds) - int(state.loan) * taken  # h.7
    return box >= state.loan


@inlined
def _answer_corrupt(state: State, action: int) -> None:
    """a.3, HOL-5"""
    player = state.actor
    if action == BRIBE:
        state.diamonds[player] -= state.bribe_cost
        state.pot += state.bribe_cost
        state.thieves[player] += 1
    elif action == LOAN:
        state.diamonds[player] += state.loan
        state.thieves[player] -= 1
        state.loan_taken[player] = True
    else:
        _pass_on(state)  # h.1: nobody is asked again


@inlined
def _answer_join(state: State, action: int) -> None:
    """a.4; HOL-27: the last seat too, whatever the others answered."""
    if not state.simultaneous_join:
        _join_or_fold(state, state.actor, action)
        _pass_on(state)
        return
    state.answer[state.actor] = action
    _pass_on(state)
    if state.phase != JOINING:  # HOL-8, h.15: all answers are in and are shown together, clockwise from F
        for k in range(state.num_players):
            seat = seat_of(state, state.glove + k)
            _join_or_fold(state, seat, state.answer[seat])
        state.answer[:] = 0


@inlined
def _join_or_fold(state: State, player: int, action: int) -> None:
    if action == JOIN:
        _stake(state, player)
    else:
        state.folded[player] = True
        state.shown[player] = state.card[player]
        state.face_up[state.card[player] - 1] = True


@inlined
def _stake(state: State, player: int) -> None:
    state.diamonds[player] -= 1
    state.pot += 1
    state.joined[player] = True
    state.folded[player] = False


@inlined
def _may_be_shot(state: State, player: int) -> bool:
    return bool(state.folded[player] and state.diamonds[player] >= 1)  # HOL-14


@inlined
def _may_shoot(state: State) -> bool:
    """HOL-15: also where nobody else takes part."""
    if state.revolver_needs_join and not state.joined[state.glove]:  # HOL-13
        return False
    for k in range(1, state.num_players):
        if _may_be_shot(state, seat_of(state, state.glove + k)):
            return True
    return False


@inlined
def _answer_revolver(state: State, action: int) -> None:
    """a.5"""
    if action != NO_REVOLVER:
        state.target = seat_of(state, state.glove + 1 + action - REVOLVER)
        state.shooter = state.glove
        _stake(state, state.target)  # h.9: the card that he showed stays displayed
    state.phase = REVEAL


# ---------------------------------------------------------------------------------------------------- end


@compiled
def _reveal(state: State) -> None:
    """a.6"""
    participants = 0
    highest = winner = NO_SEAT
    for seat in range(state.num_players):  # the second highest card (HOL-12: of two the lower); of one, his own
        if state.joined[seat]:
            participants += 1
            if highest == NO_SEAT or state.card[seat] > state.card[highest]:
                winner, highest = highest, seat
            elif winner == NO_SEAT or state.card[seat] > state.card[winner]:
                winner = seat
    if participants == 0:  # HOL-10: the pot stays
        _end_round(state)
        return
    if participants == 1:  # HOL-11, h.2: he wins unseen
        winner = highest
    else:
        state.revealed = True
        for seat in range(MAX_PLAYERS):
            state.showdown_card[seat] = state.card[seat] if state.joined[seat] else NO_CARD
            if state.joined[seat]:
                state.face_up[state.card[seat] - 1] = True
        state.showdown_winner = winner
        state.showdown_pot = state.pot
        state.showdown_target = state.target
        state.showdown_penalty = 0
    _take_pot(state, winner)
    for seat in range(state.num_players):
        if state.joined[seat] and seat != winner:  # h.3: F only if he takes part
            _turn_thieves(state, seat, 1)
    if state.shooter == NO_SEAT or state.shooter == winner:
        _end_round(state)
    else:  # HOL-19, h.6
        state.phase = PENALTY
        state.actor = state.shooter


@inlined
def _take_pot(state: State, winner: int) -> None:
    state.diamonds[winner] += state.pot
    state.pot = 0
    state.glove = winner


@inlined
def _turn_thieves(state: State, player: int, number: int) -> None:
    """HOL-18: turn what there is; one too few ends the game with this round."""
    if state.thieves[player] < number:
        state.ruined = True
    state.thieves[player] -= min(number, int(state.thieves[player]))


@inlined
def _may_pay(state: State) -> bool:
    return bool(state.diamonds[state.actor] >= state.penalty_diamonds)


@compiled
def _answer_penalty(state: State, action: int) -> None:
    """a.7"""
    player = state.actor
    if action == PAY:
        state.diamonds[player] -= state.penalty_diamonds
        state.diamonds[state.target] += state.penalty_diamonds
    else:
        turned_as_loser = state.penalty_instead and state.joined[player]  # HOL-16, h.4
        _turn_thieves(state, player, int(state.penalty_thieves) - (1 if turned_as_loser else 0))
    if state.revealed:  # h.8: an older showdown is not this one's
        state.showdown_penalty = action
    _end_round(state)


@inlined
def _somebody_is_broke(state: State) -> bool:
    for seat in range(state.num_players):
        if state.diamonds[seat] == 0:
            return True
    return False


@compiled
def _end_round(state: State) -> None:
    """a.8, HOL-20, HOL-21, h.13: an end condition terminates, also in the last round that the cap allows."""
    state.rounds += 1  # h.12
    if state.ruined or _somebody_is_broke(state):
        state.phase = OVER
    elif state.rounds >= state.max_rounds:
        state.phase = OVER
        state.truncated = not state.cap_terminates
    else:
        _begin_round(state)
        return
    state.actor = NO_SEAT


@compiled
def is_truncated(state: State) -> bool:
    return bool(state.truncated)


@compiled
def score(state: State, player: int) -> int:
    """Diamonds, two per Thief, less the debt of a loan. HOL-22: nothing of a pot that is left."""
    debt = int(state.loan_debt) if state.loan_taken[player] else 0
    return int(state.diamonds[player]) + 2 * int(state.thieves[player]) - debt


@compiled
def returns(state: State, payoffs: NDArray[np.float32]) -> None:
    for seat in range(state.num_players):
        payoffs[seat] = score(state, seat)
    if state.score_reward:
        reward_scores(payoffs, SCORE_SCALE)  # h.14
    else:
        reward_winners(payoffs)  # HOL-23: a tie is shared


# ---------------------------------------------------------------------------------------------------- eyes

_SEATS = (MAX_PLAYERS,)
_COUNT = "as (x % 128, x // 128)"

OBSERVATION = Layout(
    ("card", (NUM_CARDS,), 0, 1, 1, "own card, one-hot by value"),
    ("answer", (2,), 0, 1, 1, "own JOIN or FOLD while simultaneous answers come in"),
    ("face_up", (NUM_CARDS,), 0, 1, 1, "every card that lies face up in this round, by value"),
    ("in_play", (NUM_CARDS,), 0, 1, 1, "the values that are in the game (pp_values)"),
    ("seated", _SEATS, 0, 1, 1, "seats in the game; all features by seat start with the observer and go clockwise"),
    ("diamonds", (MAX_PLAYERS, 2), 0, 127, 10, f"diamonds by seat, {_COUNT}"),
    ("thieves", _SEATS, 0, 3, 3, "cards on the Thief side by seat"),
    ("loan_taken", _SEATS, 0, 1, 1, "who has taken his loan"),
    (
        "laid",
        (MAX_PLAYERS, MAX_REDRAW_ROUNDS),
        -1,
        NUM_CARDS,
        NUM_CARDS,
        "laid in each redraw: value, 0 none, -1 not asked",
    ),
    ("shown", _SEATS, 0, NUM_CARDS, NUM_CARDS, "value shown by folding, 0 for none"),
    ("joined", _SEATS, 0, 1, 1, "who takes part"),
    ("folded", _SEATS, 0, 1, 1, "who has folded"),
    ("glove", _SEATS, 0, 1, 1, "who has the Glove (F)"),
    ("actor", _SEATS, 0, 1, 1, "who is asked"),
    ("target", _SEATS, 0, 1, 1, "who was forced by the Revolver in this round"),
    ("shooter", _SEATS, 0, 1, 1, "who used it"),
    ("phase", (len(PHASES),), 0, 1, 1, "phase, one-hot: " + ", ".join(PHASES)),
    ("redraw_round", (), 0, 1, 1, "1 in the second round of redraws"),
    ("pot", (2,), 0, 127, 10, f"diamonds in the pot, {_COUNT}"),
    ("pile_size", (), 0, NUM_CARDS, NUM_CARDS, "cards left to draw"),
    ("rounds", (), 0, 127, 10, "completed rounds"),
    ("max_rounds", (), 0, 127, 60, "the cap"),
    ("revealed", (), 0, 1, 1, "the participants of this round have turned their cards"),
    ("showdown_card", _SEATS, 0, NUM_CARDS, NUM_CARDS, "last showdown: the participants' cards, 0 for the others"),
    ("showdown_winner", _SEATS, 0, 1, 1, "last showdown: the winner"),
    ("showdown_pot", (2,), 0, 127, 10, f"last showdown: the pot, {_COUNT}"),
    ("showdown_target", _SEATS, 0, 1, 1, "last showdown: who was forced"),
    ("showdown_penalty", (2,), 0, 1, 1, "last showdown: FLIP or PAY chosen"),
)


@compiled
def observe(state: State, player: int, seen: Record) -> None:
    wide.clear(seen)
    wide.copy(state, seen, "face_up in_play redraw_round pot pile_size rounds max_rounds revealed showdown_pot")
    wide.turn(state, player, seen, "diamonds thieves loan_taken laid shown joined folded showdown_card")
    wide.mark(state, player, seen, "glove actor target shooter showdown_winner showdown_target")
    if state.card[player] != NO_CARD:
        seen.card[state.card[player] - 1] = 1
    seen.answer[0] = state.answer[player] == JOIN
    seen.answer[1] = state.answer[player] == FOLD
    for k in range(MAX_PLAYERS):
        seen.seated[k] = k < state.num_players
    seen.phase[state.phase] = 1
    seen.showdown_penalty[0] = state.showdown_penalty == FLIP
    seen.showdown_penalty[1] = state.showdown_penalty == PAY


@inlined
def _knows_card_of(state: State, player: int, seat: int) -> bool:
    """Whether a player has seen the card in a seat's hand: his own, one shown by folding, one turned at the reveal."""
    return bool(seat == player or state.shown[seat] != NO_CARD or (state.revealed and state.joined[seat]))


@compiled
def determinize(state: State, player: int, stream: Record) -> None:
    """Deal the other hands and the pile anew from the cards that the player has not seen, all deals alike likely.

    Simultaneous answers of others are redrawn too: either answer alike, FOLD for a seat without a diamond.
    """
    for seat in range(state.num_players):
        if state.card[seat] != NO_CARD and not _knows_card_of(state, player, seat):
            state.pile[state.card[seat] - 1] = True
    unseen = 0
    for card in range(NUM_CARDS):
        unseen += state.pile[card]
    for seat in range(state.num_players):
        if state.card[seat] != NO_CARD and not _knows_card_of(state, player, seat):
            skip = chance.below(stream, unseen)
            card = 0
            while not state.pile[card] or skip > 0:
                skip -= state.pile[card]
                card += 1
            state.card[seat] = card + 1
            state.pile[card] = False
            unseen -= 1
        if state.answer[seat] != 0 and seat != player:
            can_join = state.diamonds[seat] > 0
            state.answer[seat] = JOIN if can_join and chance.below(stream, 2) == 0 else FOLD


# ---------------------------------------------------------------------------------------------------- words

# HOL-26: players make no deals beside these actions.
ACTION_NAMES = (
    "KEEP", "REDRAW", "BRIBE", "LOAN", "DONE", "JOIN", "FOLD", "NO REVOLVER",
    "REVOLVER +1", "REVOLVER +2", "REVOLVER +3", "REVOLVER +4", "REVOLVER +5", "FLIP", "PAY",
)  # fmt: skip

FRENCH = {
    "Hold-up": "Hold-Up", "table": "table", "pot": "pot", "pile": "pioche", "round": "manche", "hand": "main",
    "diamond": "diamant", "diamonds": "diamants", "Thief": "Voleur", "Thieves": "Voleurs", "Cop": "Gendarme",
    "Cops": "Gendarmes", "Glove": "Gant", "Revolver": "Révolver", "heist": "casse", "loan": "prêt", "score": "score",
    "KEEP": "GARDER", "REDRAW": "REPIOCHER", "BRIBE": "CORROMPRE", "LOAN": "PRÊT", "DONE": "TERMINER", "JOIN": "PARTICIPER",
    "FOLD": "NE PAS PARTICIPER", "NO REVOLVER": "PAS DE RÉVOLVER", "REVOLVER": "RÉVOLVER", "FLIP": "RETOURNER",
    "PAY": "PAYER", "SETUP": "MISE EN PLACE", "DEAL": "DISTRIBUTION", "DRAW": "CARTE", "CORRUPT": "CORRUPTION",
    "REVEAL": "RÉVÉLATION", "PENALTY": "COMPENSATION", "OVER": "FIN",
}  # fmt: skip
"""The game's own words in French, in the terms of the source text."""
FRENCH_MARKS = {
    "laid": "déposée", "has the Glove (F)": "a le Gant (F)", "joined": "participe", "folded": "ne participe pas",
    "forced by the Revolver": "forcé par le Révolver", "used the Revolver": "a utilisé le Révolver", "says": "dit",
    "taken": "accordé",
}  # fmt: skip
"""What pictures say beside them."""


_NUMBERS = {
    name: option.allowed
    for name, option in OPTIONS.items()
    if isinstance(option.allowed, range) and name in (STATE.names or ())
}
_FLAGS = [
    "in_play", "pile", "loan_taken", "face_up", "joined", "folded", "loans", "penalty_instead", "revolver_needs_join",
    "immediate_end", "bank_is_box", "simultaneous_join", "cap_terminates", "score_reward", "truncated", "ruined", "revealed",
]  # fmt: skip


def check(state: State) -> None:
    """The conservation laws of section f, and every field in its bounds.

    Raises:
        ValueError: the first law that the state breaks.
    """
    n, start = int(state.num_players), int(state.start_diamonds)
    seats = range(n)

    def law(holds: Any, what: str) -> None:
        if not holds:
            raise ValueError(f"not a state of {NAME}: {what}")

    law(MIN_PLAYERS <= n <= MAX_PLAYERS, f"{n} players")
    for name, allowed in _NUMBERS.items():
        law(int(state[name]) in allowed, f"{name} {state[name]}")
    for name in _FLAGS:
        law(not np.any(state[name] >> 1), f"{name} {state[name]}")
    law(start > 1 or not state.immediate_end, "the first ante would end the game")
    lends = state.loans and (not state.bank_is_box or DIAMONDS_IN_BOX - n * start >= state.loan)
    law(start > 1 or state.redraw_rounds > 0 or lends, "nobody would have a choice")
    law(not state.bank_is_box or n * start <= DIAMONDS_IN_BOX, f"{n} times {start} diamonds from the box")
    law(RANDOM <= state.first_player < n, f"first player {state.first_player}")
    law(SETUP <= state.phase <= OVER and state.phase != REVEAL, f"phase {state.phase}")
    rounds_now = {DRAW: state.redraw_rounds, OVER: MAX_REDRAW_ROUNDS}.get(int(state.phase), 1)
    law(0 <= state.redraw_round < rounds_now, f"redraw round {state.redraw_round}")
    for name in ("actor", "drawer", "target", "shooter", "showdown_winner", "showdown_target"):
        law(NO_SEAT <= state[name] < n, f"{name} {state[name]}")
    redraws = state.phase == DRAW and state.drawer == state.actor
    waits = int(state.actor != NO_SEAT) + int(state.drawer != NO_SEAT) - int(redraws)
    law(waits == (state.phase not in (SETUP, OVER)), "one seat acts or draws until the game is over")
    law(state.phase in (DRAW, DEAL) or state.drawer == NO_SEAT, "a card is drawn in DEAL and DRAW only")
    law(state.phase != DEAL or state.drawer != NO_SEAT, "nobody is dealt a card")
    law((state.glove == NO_SEAT) == (state.phase == SETUP) and state.glove < n, "exactly one Glove")
    money = int(state.diamonds.sum()) + int(state.pot)
    lent = int(state.loan) * int(state.loan_taken.sum())
    law(money == n * start + lent, f"{money} diamonds, {n} times {start} and {lent} lent")
    law((state.diamonds >= 0).all() and state.pot >= 0, "negative diamonds")
    law(((state.thieves >= 0) & (state.thieves <= state.num_thieves)).all(), f"Thieves {state.thieves}")
    law(not (state.joined & state.folded).any(), f"joined {state.joined} and folded {state.folded}")
    law(all(answer in (0, JOIN, FOLD) for answer in state.answer.tolist()), f"answers {state.answer}")
    law(state.showdown_penalty in (0, FLIP, PAY), f"penalty {state.showdown_penalty}")
    for name, low in (("card", 0), ("shown", 0), ("laid", NOT_ASKED), ("showdown_card", 0)):
        law((state[name] >= low).all() and (state[name] <= NUM_CARDS).all(), f"{name} {state[name]}")
    dealing = state.phase == DEAL and state.drawer == state.glove  # what still lies there is the last round's
    laid = [] if dealing or state.phase == SETUP else [int(v) for v in state.laid.flat if v > 0]
    table = [int(v) for v in state.card if v > 0] + [int(c) + 1 for c in np.flatnonzero(state.pile)] + laid
    law(sorted(table) == list(np.flatnonzero(state.in_play) + 1), f"the cards are {sorted(table)}")
    law(len(table) >= n, f"{len(table)} cards")
    turned = [state.card[s] for s in seats if state.revealed and state.joined[s] and not dealing]
    lies_open = {int(v) for v in (*state.laid.flat, *state.shown, *turned) if v > 0}
    law(dealing or lies_open == {int(c) + 1 for c in np.flatnonzero(state.face_up)}, f"face up is {state.face_up}")
    held = [bool(state.card[(state.glove + k) % n]) for k in seats]
    to_deal = (state.drawer - state.glove) % n
    holds = [state.phase != SETUP and (k < to_deal if state.phase == DEAL else k != to_deal) for k in seats]
    law(held == (holds if state.drawer != NO_SEAT or state.phase == SETUP else [True] * n), f"hands {state.card}")
    law(state.drawer == NO_SEAT or state.pile_size > 0, "no card to draw")
    law(state.phase != DEAL or dealing or (state.laid[:n] == NOT_ASKED).all(), "cards laid during the deal")
    joins_unpaid = (state.answer == JOIN) & (state.diamonds == 0)
    law(not joins_unpaid.any(), "a seat without a diamond has joined")
    law(not state.answer.any() or (state.simultaneous_join and state.phase == JOINING), f"answers {state.answer}")
    law(state.phase not in (SETUP, DEAL) or (state.diamonds[:n] > 0).all(), "no diamond for the ante")
    law(state.phase != PENALTY or NO_SEAT != state.target != state.shooter == state.actor, "no penalty is due")
    law(state.pile_size == state.pile.sum(), f"{state.pile.sum()} cards in the pile, {state.pile_size} counted")
    law(dealing or all(state.shown[s] in (NO_CARD, state.card[s]) for s in seats), "a shown card is the card held")
    for name in (
        "diamonds",
        "thieves",
        "card",
        "laid",
        "shown",
        "joined",
        "folded",
        "answer",
        "showdown_card",
        "loan_taken",
    ):
        law(not state[name][n:].any(), f"{name} of an empty seat")
    law(0 <= state.rounds < state.max_rounds + (state.phase == OVER), f"{state.rounds} rounds of {state.max_rounds}")


def describe(state: State, viewer: int | None = None) -> str:
    """The table in words: what everybody sees, and the own card and answer of the seat `viewer`."""
    n = int(state.num_players)
    lines = [f"Hold-up, round {state.rounds + (state.phase != OVER)} of at most {state.max_rounds}: {PHASES[state.phase]}"]
    lines[0] += f", pot {state.pot}, pile {state.pile_size}"
    for seat in range(n):
        facts = [f"{state.diamonds[seat]} diamonds", f"{state.thieves[seat]} Thieves"]
        facts += ["loan taken"] * bool(state.loan_taken[seat])
        facts += [f"laid {v}" for v in state.laid[seat] if v > 0]
        facts += [f"showed {state.shown[seat]}"] * bool(state.shown[seat])
        facts += ["joined"] * bool(state.joined[seat]) + ["folded"] * bool(state.folded[seat])
        facts += ["forced by the Revolver"] * bool(state.target == seat)
        facts += ["used the Revolver"] * bool(state.shooter == seat)
        if seat == viewer:
            facts += [f"holds {state.card[seat]}"] * bool(state.card[seat])
            facts += [f"answered {ACTION_NAMES[state.answer[seat]]}"] * bool(state.answer[seat])
        mark = ("F" if state.glove == seat else " ") + (">" if state.actor == seat else " ")
        lines.append(f"{mark} player_{seat}: " + ", ".join(facts))
    if state.showdown_winner != NO_SEAT:
        cards = ", ".join(f"player_{s} {state.showdown_card[s]}" for s in range(n) if state.showdown_card[s])
        last = f"Last showdown: {cards}; player_{state.showdown_winner} took {state.showdown_pot}"
        last += f"; player_{state.showdown_target} was forced" * bool(state.showdown_target != NO_SEAT)
        last += f"; {ACTION_NAMES[state.showdown_penalty]}" * bool(state.showdown_penalty)
        lines.append(last)
    if state.phase == OVER:
        lines.append("Scores: " + ", ".join(f"player_{seat} {score(state, seat)}" for seat in range(n)))
    return "\n".join(lines)


_ASKED = {
    DRAW: "to keep his card or to redraw",
    CORRUPT: "to bribe a Cop, to take a loan, or to go on",
    JOINING: "to join the heist for a diamond, or to fold",
    SHOOTING: "whether he uses the Revolver on somebody who folded",
    PENALTY: "to pay for the Revolver, in Thieves or in diamonds",
}


def _holds_card(state: State, seat: int) -> bool:
    """What everybody sees: the deal goes round from F, and who redraws waits for his card."""
    if state.phase != DEAL:
        return bool(state.phase != SETUP and state.drawer != seat)
    n = int(state.num_players)
    return bool((seat - state.glove) % n < (state.drawer - state.glove) % n)


def scene(state: State, viewer: int | None = None) -> Scene:
    """The table as a picture's data, for the seat `viewer`, for everybody (None) or for who sees all (`ALL_SEEING`)."""
    zones = []
    for seat in range(int(state.num_players)):
        cards = [Card(str(value), GREEN, note="laid") for value in state.laid[seat] if value > 0]
        if _holds_card(state, seat):
            shown = state.showdown_card[seat] if state.revealed and state.joined[seat] else state.shown[seat]
            known = state.card[seat] if viewer in (seat, ALL_SEEING) else shown
            cards.append(Card(str(known) if known else "", GOLD, bool(shown), "hand"))
        answered = state.answer[seat] if viewer in (seat, ALL_SEEING) else 0
        marks = ["has the Glove (F)"] * bool(state.glove == seat) + ["joined"] * bool(state.joined[seat])
        marks += ["folded"] * bool(state.folded[seat]) + ["forced by the Revolver"] * bool(state.target == seat)
        marks += ["used the Revolver"] * bool(state.shooter == seat) + [f"says {ACTION_NAMES[answered]}"] * bool(answered)
        counters: list[tuple[str, int | str]] = [("diamonds", int(state.diamonds[seat]))]
        counters += [("Thieves", int(state.thieves[seat])), ("Cops", int(state.num_thieves - state.thieves[seat]))]
        counters += [("loan", "taken")] * bool(state.loan_taken[seat])
        counters += [("score", score(state, seat))] * bool(state.phase == OVER)
        zones.append(Zone(f"player_{seat}", tuple(counters), tuple(cards), tuple(marks), bool(state.actor == seat)))
    number = int(state.rounds) + int(state.phase != OVER)
    middle = Zone("table", (("pot", int(state.pot)), ("pile", int(state.pile_size)), ("round", number)))
    asked = f"player_{state.actor} is asked {_ASKED.get(int(state.phase), '')}." if state.actor != NO_SEAT else ""
    turn = "The game is over." if state.phase == OVER else asked or "Cards are dealt."
    last = next((line for line in describe(state).splitlines() if line.startswith("Last showdown")), "")
    return Scene(f"Hold-up, {PHASES[state.phase]}", turn, (middle, *zones), last)


register(sys.modules[__name__])
