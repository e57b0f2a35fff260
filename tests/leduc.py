"""Leduc hold'em for 2 players (Southey et al., "Bayes' bluff", 2005) as OpenSpiel has it: six cards in three ranks, one card
each, one on the table, two rounds of bets of 2 and 4, two raises in each."""

import sys

import numpy as np

from heist_envs import chance, wide
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, compiled, register, state_dtype

NAME, VERSION = "leduc", 0
MIN_PLAYERS = MAX_PLAYERS = 2
NUM_CARDS = 6
FOLD, CALL, RAISE = 0, 1, 2
NUM_ACTIONS, ACTION_NAMES = 3, ("FOLD", "CALL", "RAISE")
MAX_CHANCE_OUTCOMES = NUM_CARDS
MAX_RAISES = 2
OPTIONS = {"num_players": Option(2, range(2, 3), "players")}
PRESETS = {"tiny": {}}

PUBLIC = [
    ("num_players", np.int8),
    ("stakes", np.int8, MAX_PLAYERS),
    ("table", np.int8),  # the card on it from 1; 0 is none
    ("raises", np.int8),  # in this round
    ("calls", np.int8),  # since the last raise
    ("actor", np.int8),
    ("folded", np.int8),  # the seat + 1
    ("moves", np.int8),
    ("last", np.int8),  # move + 1
]
PRIVATE = [("card", np.int8, MAX_PLAYERS)]  # from 1; 0 is none
HIDDEN = [("pile", np.int8, NUM_CARDS)]
STATE = state_dtype(PUBLIC + PRIVATE + HIDDEN, __file__)


def new_initial_state(**given):
    states = np.zeros(1, STATE)
    states[0].num_players = resolve(NAME, OPTIONS, PRESETS, given)["num_players"]
    reset(states[0])
    return states


@compiled
def reset(state):
    state.stakes[:] = 1
    state.table = state.raises = state.calls = state.actor = state.folded = state.moves = state.last = 0
    state.card[:] = 0
    state.pile[:] = 1


@compiled
def current_player(state):
    if state.folded > 0 or (state.table > 0 and state.calls == 2):
        return TERMINAL
    if state.card[1] == 0 or state.calls == 2:
        return CHANCE
    return int(state.actor)


@compiled
def chance_outcomes(state, weights):
    for card in range(NUM_CARDS):
        weights[card] = state.pile[card]


@compiled
def legal_actions(state, mask):
    mask[FOLD] = state.stakes[state.actor] < state.stakes[1 - state.actor]
    mask[CALL] = 1
    mask[RAISE] = state.raises < MAX_RAISES


@compiled
def apply_action(state, action):
    if current_player(state) == CHANCE:
        state.pile[action] = 0
        if state.card[0] == 0:
            state.card[0] = action + 1
        elif state.card[1] == 0:
            state.card[1] = action + 1
        else:
            state.table = action + 1
            state.raises = state.calls = state.actor = 0
        return
    most = max(state.stakes[0], state.stakes[1])
    state.moves += 1
    state.last = action + 1
    if action == FOLD:
        state.folded = state.actor + 1
    elif action == CALL:
        state.stakes[state.actor] = most
        state.calls += 1
    else:
        state.stakes[state.actor] = most + (2 if state.table == 0 else 4)
        state.raises += 1
        state.calls = 1
    state.actor = 1 - state.actor


@compiled
def is_truncated(state):
    return False


@compiled
def strength(state, seat):
    """A pair beats all; else the rank counts."""
    rank = (state.card[seat] - 1) // 2
    return rank + (3 if rank == (state.table - 1) // 2 else 0)


@compiled
def returns(state, payoffs):
    payoffs[:] = 0
    if state.folded > 0:
        winner = 2 - state.folded
    elif strength(state, 0) == strength(state, 1):
        return
    else:
        winner = 0 if strength(state, 0) > strength(state, 1) else 1
    payoffs[winner] = state.stakes[1 - winner]
    payoffs[1 - winner] = -state.stakes[1 - winner]


OBSERVATION = Layout(
    ("card", (NUM_CARDS,), 0, 1, 1, "own card"),
    ("table", (), 0, NUM_CARDS, NUM_CARDS, "the card on the table"),
    ("actor", (MAX_PLAYERS,), 0, 1, 1, "who acts"),
    ("first", (MAX_PLAYERS,), 0, 1, 1, "who acts first"),
    ("stakes", (MAX_PLAYERS,), 0, 13, 13, "each seat's stake"),
    ("moves", (), 0, 8, 8, "moves so far"),
    ("last", (), 0, 3, 3, "the last move + 1"),
)


@compiled
def observe(state, player, seen):
    wide.clear(seen)
    wide.mark(state, player, seen, "actor")
    wide.turn(state, player, seen, "stakes")
    seen.table = state.table
    seen.moves = state.moves
    seen.last = state.last
    seen.first[player] = 1
    if state.card[player] > 0:
        seen.card[state.card[player] - 1] = 1


@compiled
def determinize(state, player, stream):
    other = 1 - player
    if state.card[other] != 0:
        state.pile[state.card[other] - 1] = 1
        card = chance.below(stream, 5 if state.table == 0 else 4)
        for k in range(NUM_CARDS):
            if state.pile[k] == 0 and k <= card:
                card += 1
        state.card[other] = card + 1
        state.pile[card] = 0


def check(state):
    on_table = [int(card) for card in (*state.card, state.table) if card]
    if sorted(on_table + [int(card) + 1 for card in np.flatnonzero(state.pile)]) != list(range(1, NUM_CARDS + 1)):
        raise ValueError(f"not a state of {NAME}: the cards are {on_table}")


def describe(state, viewer=None):
    own = f", card {state.card[viewer]}" if viewer is not None else ""
    return f"Leduc hold'em: stakes {state.stakes.tolist()}, table {state.table}, moves {state.moves}{own}"


register(sys.modules[__name__])
