"""Kuhn poker for 2 to 4 players, as somebody outside the package would write it: n + 1 cards, one bet, one card each."""

import sys

import numpy as np

from heist_envs import chance, wide
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, compiled, register, state_dtype

NAME, VERSION = "kuhn", 0
MIN_PLAYERS, MAX_PLAYERS = 2, 4
NUM_CARDS = MAX_PLAYERS + 1
PASS, BET = 0, 1
NUM_ACTIONS, ACTION_NAMES = 2, ("PASS", "BET")
MAX_CHANCE_OUTCOMES = NUM_CARDS
NOBODY = -1
OPTIONS = {"num_players": Option(2, range(MIN_PLAYERS, MAX_PLAYERS + 1), "players, 2 to 4")}
PRESETS = {"tiny": {"num_players": 2}}

PUBLIC = [
    ("num_players", np.int8),
    ("stakes", np.int8, MAX_PLAYERS),
    ("first_bet", np.int8),
    ("moves", np.int8),
    ("actor", np.int8),
    ("last", np.int8, MAX_PLAYERS),  # each seat's last move + 1
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
    state.stakes[:] = 0
    state.stakes[: state.num_players] = 1
    state.card[:] = 0
    state.last[:] = 0
    state.pile[:] = 0
    state.pile[: state.num_players + 1] = 1
    state.first_bet = NOBODY
    state.moves = 0
    state.actor = NOBODY


@compiled
def current_player(state):
    if state.card[state.num_players - 1] == 0:
        return CHANCE
    over = state.moves == state.num_players if state.first_bet == NOBODY else state.actor == state.first_bet
    return TERMINAL if over else int(state.actor)


@compiled
def chance_outcomes(state, weights):
    for card in range(NUM_CARDS):
        weights[card] = state.pile[card]


@compiled
def legal_actions(state, mask):
    mask[:] = 1


@compiled
def apply_action(state, action):
    n = state.num_players
    if state.actor == NOBODY:
        seat = 0
        while state.card[seat] != 0:
            seat += 1
        state.card[seat] = action + 1
        state.pile[action] = 0
        if seat == n - 1:
            state.actor = 0
        return
    state.last[state.actor] = action + 1
    if action == BET:
        state.stakes[state.actor] = 2
        if state.first_bet == NOBODY:
            state.first_bet = state.actor
    state.moves += 1
    state.actor = (state.actor + 1) % n


@compiled
def is_truncated(state):
    return False


@compiled
def score(state, player):
    """The highest card among those who staked most takes all."""
    best = -1
    most = 2 if state.first_bet != NOBODY else 1
    pot = 0
    for seat in range(state.num_players):
        pot += state.stakes[seat]
        if state.stakes[seat] == most and (best < 0 or state.card[seat] > state.card[best]):
            best = seat
    return (pot if best == player else 0) - int(state.stakes[player])


@compiled
def returns(state, payoffs):
    for seat in range(state.num_players):
        payoffs[seat] = score(state, seat)


OBSERVATION = Layout(
    ("card", (NUM_CARDS,), 0, 1, 1, "own card"),
    ("actor", (MAX_PLAYERS,), 0, 1, 1, "who acts"),
    ("first", (MAX_PLAYERS,), 0, 1, 1, "who acts first"),
    ("last", (MAX_PLAYERS,), 0, 2, 2, "each seat's last move + 1"),
    ("shown", (MAX_PLAYERS,), 0, NUM_CARDS, NUM_CARDS, "cards turned at the end"),
)


@compiled
def observe(state, player, seen):
    wide.clear(seen)
    wide.mark(state, player, seen, "actor")
    wide.turn(state, player, seen, "last")
    n = state.num_players
    seen.first[(n - player) % n] = 1
    if state.card[player] > 0:
        seen.card[state.card[player] - 1] = 1


@compiled
def determinize(state, player, stream):
    for seat in range(state.num_players):
        if seat != player and state.card[seat] != 0:
            state.pile[state.card[seat] - 1] = 1
    left = 0
    for card in range(NUM_CARDS):
        left += state.pile[card]
    for seat in range(state.num_players):
        if seat != player and state.card[seat] != 0:
            skip = chance.below(stream, left)
            card = 0
            while state.pile[card] == 0 or skip > 0:
                skip -= state.pile[card]
                card += 1
            state.card[seat] = card + 1
            state.pile[card] = 0
            left -= 1


def check(state):
    n = int(state.num_players)
    held = sorted([int(card) for card in state.card if card] + [int(card) + 1 for card in np.flatnonzero(state.pile)])
    if held != list(range(1, n + 2)):
        raise ValueError(f"not a state of {NAME}: the cards are {held}")


def describe(state, viewer=None):
    own = f", card {state.card[viewer]}" if viewer is not None else ""
    return f"Kuhn poker: stakes {state.stakes[: state.num_players].tolist()}, moves {state.last.tolist()}{own}"


register(sys.modules[__name__])
