"""Magpies: turn up loot until the inspector comes too near, then share it; most cards of a colour score.

Numbers such as a.3 (the list below), MAG-12 and h.3 are those of docs/rules/magpies.md, each where its rule is carried.

A turn of the leader; nothing is secret but the order of the two piles:

1. REVEAL: the top card of the draw pile, or of the reserve once that is empty, goes to the next space from the left; the
   inspector, who starts behind the last space, comes nearer by as many spaces as it shows triangles.
2. CAUGHT: he stands on a card. That card and all to its right are discarded, and the leader takes none.
3. COUP: no free space is left between the cards and him. The leader takes as many cards as he likes.
4. Otherwise the leader chooses DRAW (rule 1 again) or STOP; with both piles empty he must stop.
5. LEADER: after a coup any number, one at a time until PASS; after a stop as many as the table says for the cards laid.
6. SHARE: clockwise from his left, every other player must take one card while there are any.
7. EXTRA: a leader who was not caught may take one more. The rest is discarded, and the player to his left leads.
8. GAIN: a card joins its owner's collection. A +card brings the top card of the reserve, and so on. Then three alarms in a
   colour are a RAID: all cards of that colour are discarded, and the character, once a game, may become a joker there or
   elsewhere.
9. END: the turn in which the last card of the draw pile is revealed is the last one.
10. SCORE: tokens for the most and second most cards in each colour and for feathers, and the points on the cards.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import wide
from heist_envs.conventions import check_first_player, left_of, reward_scores, reward_winners
from heist_envs.games import VERSIONS
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, Record, State, compiled, inlined, register
from heist_envs.scene import BLUE, GOLD, GREEN, PLAIN, RED, VIOLET, Card, Scene, Zone

# ---------------------------------------------------------------------------------------------------- spec

NAME = "magpies"
VERSION = VERSIONS[NAME]

MIN_PLAYERS, MAX_PLAYERS = 2, 4
COLOURS = ("jewels", "gold", "paintings", "gems", "statues")
NUM_COLOURS = len(COLOURS)
TYPES_PER_COLOUR = 15
NUM_TYPES = NUM_COLOURS * TYPES_PER_COLOUR
"""Card 15 c + j is the j-th different card of colour c."""
MAX_CARDS = 90
MAX_SPACES = 7
MAX_SWEPT = 3
"""A card of three triangles, laid where one space is free."""
NO_SEAT = NO_COLOUR = NO_CARD = NO_SPACE = -1

DRAW, STOP, TAKE, PASS, JOKER = 0, 1, 2, 9, 10
"""Actions. TAKE + s takes the card on space s, counted from 0; JOKER + c makes the character a joker of colour c."""
NUM_ACTIONS = 15
MAX_CHANCE_OUTCOMES = NUM_TYPES
"""Outcomes of chance: the card turned up, the seat for `first_player="random"`."""

PHASES = ("SETUP", "STEAL", "COUP_TAKE", "TAKE", "SHARE", "EXTRA", "JOKER", "OVER")
SETUP, STEALING, COUP_TAKING, TAKING, SHARING, EXTRA, TURNING, OVER = range(len(PHASES))
ENDINGS = ("running", "stopped", "caught", "coup")
RUNNING, STOPPED, CAUGHT, COUP = range(len(ENDINGS))

TRIANGLES, PLUS, ALARM, FEATHER, LAUREL, POINTS = range(NUM_COLOURS, NUM_COLOURS + 6)
"""What a card on the board shows, after its colour one-hot."""
LOOK = NUM_COLOURS + 6
HELD_CARDS, HELD_ALARMS, HELD_FEATHERS, HELD_LAUREL, HELD_POINTS, HELD_JOKER = range(6)
"""What a player holds of a colour; the joker is counted among the cards."""
HOLDINGS = ("cards", "alarms", "feathers", "laurel", "points", "joker")

LEFTS = (None, "alarm", "feather")
RIGHTS = (None, "+card", "laurel", 1, 2)
MAX_TRIANGLES = 3
WHITE = NUM_COLOURS
"""The category of the feathers, after those of the colours."""
RANDOM = -1
REWARDS = WIN, SCORE = ("win", "score")
SCORE_SCALE = 75

DECK = (
    (0, None, None), (0, None, None), (0, None, None), (0, None, 1), (0, "alarm", None), (0, "alarm", None),
    (0, "alarm", 1), (0, "alarm", "+card"), (0, "feather", None), (1, None, None), (1, None, 1), (1, None, "+card"),
    (1, "alarm", None), (1, "feather", None), (2, "alarm", 2), (2, "feather", 1), (2, None, "laurel"), (3, "feather", 2),
)  # fmt: skip
"""The cards of each colour: triangles, left and right corner (MAG-1)."""

OPTIONS = {
    "num_players": Option(4, range(MIN_PLAYERS, MAX_PLAYERS + 1), "MAG-3, MAG-28: players, 2 to 4"),
    "first_player": Option(0, ("random", *range(MAX_PLAYERS)), "the seat that leads first, or 'random'"),
    "deck": Option(DECK, None, "MAG-1, h.7: the cards, (triangles, left, right) in every colour or (colour, ...) in one"),
    "num_colours": Option(NUM_COLOURS, range(1, NUM_COLOURS + 1), "colours in the game"),
    "board_length": Option(MAX_SPACES, range(2, MAX_SPACES + 1), "spaces on the board"),
    "reserve_size": Option(15, range(MAX_CARDS), "cards in the reserve; the others are the draw pile"),
    "take_table": Option((1, 1, 1, 2, 2, 4), None, "how many cards the leader takes after a stop at 1, 2, ... cards"),
    "alarms_for_raid": Option(3, range(1, 128), "alarms of a colour that bring a raid"),
    "joker": Option(True, (True, False), "MAG-15: a character may become a joker after a raid"),
    "tokens": Option((5, 2), None, "MAG-2: (large, small), or a pair for each colour and one for feathers"),
    "raid_before_plus": Option(False, (True, False), "MAG-11: raids come before the due +cards"),
    "take_as_batch": Option(False, (True, False), "MAG-30: the leader's cards join his collection together"),
    "reward": Option(WIN, REWARDS, "win: (n w - 1) / (n - 1); score: (own score - mean of the others) / 75"),
}

_TINY = {
    "num_players": 2,
    "num_colours": 2,
    "deck": ((0, "alarm", None), (1, "alarm", "+card"), (2, "feather", "laurel")),
    "reserve_size": 1,
    "board_length": 3,
    "take_table": (1, 1),
    "alarms_for_raid": 2,
}
PRESETS: dict[str, dict[str, Any]] = {
    "tiny": _TINY,
    "small": {**_TINY, "deck": ((0, "feather", 1), (0, "alarm", "+card"), (1, "alarm", 2))},
}

# ---------------------------------------------------------------------------------------------------- state

FLAG = np.int8
"""0 or 1: Numba takes no array of bool in a record."""

# h.9: without the last events and the number of turns this is the Markov state.
PUBLIC = [
    ("collection", np.int8, (MAX_PLAYERS, NUM_TYPES)),  # how many of each card; far from what is needed all the time
    # Options, kept by `reset`.
    ("copies", np.int8, NUM_TYPES),  # how many of it are in the deck
    ("tokens", np.int8, (NUM_COLOURS + 1, 2)),  # large and small, by colour and WHITE
    ("face", np.uint8, NUM_TYPES),  # what a card shows, packed by `_pack`
    ("take_table", np.int8, MAX_SPACES - 1),
    ("num_players", np.int8),
    ("first_player", np.int8),
    ("num_colours", np.int8),
    ("board_length", np.int8),
    ("start_reserve", np.int8),
    ("alarms_for_raid", np.int8),
    ("joker", FLAG),
    ("raid_before_plus", FLAG),
    ("take_as_batch", FLAG),
    ("score_reward", FLAG),
    # The board and the piles, in the order in which they are observed.
    ("present", FLAG, MAX_SPACES),
    ("chosen", FLAG, MAX_SPACES),  # taken in the present batch and not yet joined (h.5)
    ("board", np.int8, (MAX_SPACES, LOOK)),
    ("laid", np.int8),  # k
    ("inspector", np.int8),  # p, spaces counted from 1
    ("due", np.int8),  # +cards to be drawn
    ("draw_size", np.int8),
    ("reserve_size", np.int8),
    ("last_turn", FLAG),
    ("turns", np.int8),
    ("unseen", np.int8, NUM_TYPES),  # in the draw pile and the reserve together
    ("swept", np.int8, (MAX_SWEPT, LOOK)),  # the last events (h.6)
    ("chain", np.int8, NUM_TYPES),  # how many of each card the last +cards brought
    # The players.
    ("holdings", np.int8, (MAX_PLAYERS, NUM_COLOURS, len(HOLDINGS))),
    ("unused", FLAG, MAX_PLAYERS),  # the character can still become a joker; neither this nor HELD_JOKER: it is lost
    # The turn.
    ("phase", np.int8),
    ("leader", np.int8),
    ("actor", np.int8),
    ("owed", FLAG),  # chance has to turn up a card: for the board while STEALING, else for the actor
    ("card_at", np.int8, MAX_SPACES),  # the card that lies on a space, or is chosen from it
    ("ending", np.int8),
    ("cards_left", np.int8),  # on the board
    ("to_take", np.int8),  # picks that the leader may still make, also after a coup
    ("interrupted", np.int8),  # the phase to go back to from TURNING, else SETUP
    ("raided", np.int8),  # during TURNING
    ("last_ending", np.int8),  # of the previous turn
    ("last_leader", np.int8),
    ("chain_owner", np.int8),
    ("chain_goes_on", FLAG),  # it belongs to the gain that is being resolved
    ("raid_owner", np.int8),
    ("raid_colour", np.int8),
]
PRIVATE: list[Any] = []
HIDDEN: list[Any] = []
STATE = np.dtype((np.record, PUBLIC + PRIVATE + HIDDEN))

# ---------------------------------------------------------------------------------------------------- setup


def new_initial_state(**given: Any) -> NDArray[Any]:
    """A state before the first chance event, as an array of one record: `OPTIONS` by name, and `preset`.

    Raises:
        TypeError: an unknown option.
        ValueError: a value that is not allowed, or values that do not fit together.
    """
    o = resolve(NAME, OPTIONS, PRESETS, given)
    check_first_player(o)
    states = np.zeros(1, STATE)
    state = states[0]
    for name in (
        "num_players",
        "num_colours",
        "board_length",
        "alarms_for_raid",
        "joker",
        "raid_before_plus",
        "take_as_batch",
    ):
        state[name] = o[name]
    state.first_player = RANDOM if o["first_player"] == "random" else o["first_player"]
    state.start_reserve = o["reserve_size"]
    state.score_reward = o["reward"] == SCORE
    _lay_out_deck(state, o["deck"])
    _lay_out_take_table(state, o["take_table"])
    _lay_out_tokens(state, o["tokens"])
    cards = int(state.copies.sum())
    if o["reserve_size"] >= cards:
        raise ValueError(f"got reserve_size={o['reserve_size']} for a deck of {cards} cards: at most {cards - 1}")
    if not _somebody_chooses(state):
        raise ValueError(
            f"got board_length={state.board_length} with a draw pile of {cards - o['reserve_size']} cards: "
            "a game in which nobody has a choice is possible"
        )
    reset(state)
    return states


def _whole(value: Any, allowed: range) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) in allowed


def _lay_out_deck(state: State, given: Any) -> None:
    """MAG-1, h.7, h.8"""
    allowed = (
        f"a deck has 1 to {MAX_CARDS} cards (triangles, left, right), each of them once a colour, or (colour, triangles, "
        f"left, right): colour 0 to {state.num_colours - 1}, triangles 0 to {MAX_TRIANGLES}, left {LEFTS}, right {RIGHTS}"
    )
    try:
        entries = [tuple(entry) for entry in given]
    except TypeError:
        raise ValueError(f"got deck={given!r}: {allowed}") from None
    types: list[list[int]] = [[] for _ in COLOURS]
    for entry in entries:
        *colour, triangles, left, right = entry if len(entry) in (3, 4) else (*entry, None, None, None)
        good = (
            len(entry) in (3, 4)
            and all(_whole(c, range(state.num_colours)) for c in colour)
            and _whole(triangles, range(MAX_TRIANGLES + 1))
            and any(type(left) is type(one) and left == one for one in LEFTS)
            and any(type(right) is type(one) and right == one for one in RIGHTS)
        )
        if not good:
            raise ValueError(f"got the card {entry!r}: {allowed}")
        for c in colour or range(state.num_colours):
            face = _pack(int(triangles), left, right)
            if face not in types[c]:
                types[c].append(face)
            if len(types[c]) > TYPES_PER_COLOUR:
                raise ValueError(f"got more than {TYPES_PER_COLOUR} different cards of colour {c}: at most that many")
            card = c * TYPES_PER_COLOUR + types[c].index(face)
            state.face[card] = face
            if state.copies.sum() == MAX_CARDS:
                raise ValueError(f"got a deck of more than {MAX_CARDS} cards: {allowed}")
            state.copies[card] += 1
    if not entries:
        raise ValueError(f"got an empty deck: {allowed}")
    of_colour = state.copies[:, None] * _looks(state.face)[:, [LAUREL, POINTS]]
    laurels, points = of_colour.reshape(NUM_COLOURS, TYPES_PER_COLOUR, 2).sum(1).max(0)
    if laurels > 1:
        raise ValueError(f"got {laurels} laurels of one colour: at most one")
    if points > 127:
        raise ValueError(f"got {points} points on the cards of one colour: at most 127")


def _pack(triangles: int, left: Any, right: Any) -> int:
    points = {None: 0, "+card": 0, "laurel": 1}.get(right, right)  # MAG-26
    flags = (right == "+card", left == "alarm", left == "feather", right == "laurel")
    return int(triangles | sum(flag << k for k, flag in enumerate(flags, start=2)) | points << 6)


@inlined
def _shows(face: int, what: int) -> int:
    """A packed card unpacked: bits 0 and 1 are the triangles, then a bit for each flag, then two for the points."""
    if what == TRIANGLES:
        return face & 3
    return face >> 6 if what == POINTS else (face >> (what - TRIANGLES + 1)) & 1


def _looks(faces: NDArray[np.uint8]) -> NDArray[np.int64]:
    """How the cards look on the board, (NUM_TYPES, LOOK)."""
    looks = np.zeros((NUM_TYPES, LOOK), np.int64)
    looks[np.arange(NUM_TYPES), np.arange(NUM_TYPES) // TYPES_PER_COLOUR] = 1
    looks[:, TRIANGLES] = faces & 3
    looks[:, PLUS:POINTS] = (faces[:, None] >> np.arange(2, 6)) & 1
    looks[:, POINTS] = faces >> 6
    return looks


def _lay_out_take_table(state: State, given: Any) -> None:
    entries = int(state.board_length) - 1
    try:
        table = list(given)
    except TypeError:
        table = []
    if len(table) != entries or not all(_whole(take, range(1, k + 2)) for k, take in enumerate(table)):
        raise ValueError(
            f"got take_table={given!r}: {entries} whole numbers for board_length={entries + 1}, from 1 to the cards laid"
        )
    state.take_table[:entries] = table


def _lay_out_tokens(state: State, given: Any) -> None:
    """MAG-2, h.7"""
    categories = int(state.num_colours) + 1
    try:
        pairs = [tuple(pair) for pair in given]
    except TypeError:
        pairs = [given] * categories
    good = len(pairs) == categories and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and all(_whole(value, range(21)) for value in pair)
        for pair in pairs
    )
    if not good:
        raise ValueError(f"got tokens={given!r}: a pair (large, small) from 0 to 20, or {categories} pairs, white last")
    state.tokens[: categories - 1] = pairs[:-1]
    state.tokens[WHITE] = pairs[-1]


def _somebody_chooses(state: State) -> bool:
    """Whether every game has a decision: one begins with a card that catches nobody and is not the very last."""
    catching = int(state.copies[state.face & 3 >= state.board_length].sum())
    return bool(int(state.copies.sum()) - int(state.start_reserve) - int(state.start_reserve == 0) > catching)


@compiled
def reset(state: State) -> None:
    cards = 0
    for card in range(NUM_TYPES):
        state.unseen[card] = state.copies[card]
        cards += state.copies[card]
    state.reserve_size = state.start_reserve
    state.draw_size = cards - state.start_reserve
    state.last_turn = False
    state.turns = 0
    state.collection[:] = 0
    state.holdings[:] = 0
    state.unused[:] = 0
    state.unused[: state.num_players] = state.joker  # h.3
    state.ending = state.last_ending = RUNNING
    state.leader = state.last_leader = NO_SEAT
    state.to_take = 0
    state.due = 0
    state.interrupted = SETUP
    state.raided = NO_COLOUR
    state.swept[:] = 0
    state.chain[:] = 0
    state.chain_owner = NO_SEAT
    state.chain_goes_on = False
    state.raid_owner = NO_SEAT
    state.raid_colour = NO_COLOUR
    _clear_board(state)
    if state.first_player != RANDOM:
        _begin_turn(state, state.first_player)
        return
    state.phase = SETUP
    state.actor = NO_SEAT
    state.owed = True
    state.laid = 0
    state.inspector = state.board_length + 1


@compiled
def _clear_board(state: State) -> None:
    state.card_at[:] = NO_CARD
    state.present[:] = False
    state.chosen[:] = False
    state.board[:] = 0
    state.cards_left = 0


@compiled
def _begin_turn(state: State, leader: int) -> None:
    state.last_ending = state.ending
    state.last_leader = state.leader
    state.phase = STEALING
    state.leader = leader
    state.actor = leader
    state.owed = True
    state.laid = 0
    state.inspector = state.board_length + 1
    state.ending = RUNNING


# ---------------------------------------------------------------------------------------------------- turn


@inlined
def gap_of(state: State) -> int:
    return int(state.inspector) - int(state.laid) - 1


@compiled
def current_player(state: State) -> int:
    if state.phase == OVER:
        return TERMINAL
    return CHANCE if state.owed else int(state.actor)


@compiled
def chance_outcomes(state: State, weights: NDArray[np.int32]) -> None:
    if state.phase == SETUP:
        weights[:] = 0
        weights[: state.num_players] = 1
    else:  # h.10: which of the unseen cards lie in which pile is not known to anybody
        for card in range(NUM_TYPES):
            weights[card] = state.unseen[card]


@compiled
def legal_actions(state: State, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    if state.phase == STEALING:  # a.4
        mask[DRAW] = mask[STOP] = 1
    elif state.phase == TURNING:
        mask[PASS] = 1
        mask[JOKER : JOKER + state.num_colours] = 1  # h.3
    else:
        for space in range(MAX_SPACES):
            mask[TAKE + space] = state.present[space]  # h.1
        mask[PASS] = state.phase == COUP_TAKING or state.phase == EXTRA  # MAG-8, MAG-9, MAG-19


@compiled
def apply_action(state: State, action: int) -> None:
    if state.phase == SETUP:
        _begin_turn(state, action)
        return
    if state.owed:
        state.owed = False
        state.unseen[action] -= 1
        if state.phase == STEALING:
            _reveal(state, action)
            if state.ending == RUNNING:
                return
        else:
            _draw_from_reserve(state, action)
    elif state.phase == STEALING:
        if action == DRAW:
            state.owed = True
            return
        state.ending = STOPPED
    elif state.phase == TURNING:
        _turn_character(state, action)
    elif action != PASS:
        _pick(state, action - TAKE)
    elif state.phase == COUP_TAKING:
        state.to_take = 0
        _join_batch(state)
    _go_on(state)


@inlined
def _reveal(state: State, card: int) -> None:
    """a.1, MAG-14: only what is laid on the board moves the inspector."""
    space = int(state.laid)
    _show(state, space, card)
    state.laid += 1
    if state.draw_size > 0:
        state.draw_size -= 1
        state.last_turn = state.draw_size == 0  # a.9
    else:
        state.reserve_size -= 1
    state.inspector = max(1, int(state.inspector) - _shows(state.face[card], TRIANGLES))  # MAG-4, MAG-5
    if gap_of(state) < 0:
        _sweep(state)
        state.ending = CAUGHT
    elif gap_of(state) == 0:  # a.3, MAG-6, MAG-7
        state.ending = COUP
    elif state.draw_size == 0 and state.reserve_size == 0:  # MAG-10
        state.ending = STOPPED


@inlined
def _show(state: State, space: int, card: int) -> None:
    face = state.face[card]
    state.card_at[space] = card
    state.present[space] = True
    state.cards_left += 1
    state.board[space, card // TYPES_PER_COLOUR] = 1
    for what in range(TRIANGLES, LOOK):
        state.board[space, what] = _shows(face, what)


@inlined
def _clear_space(state: State, space: int) -> None:
    state.card_at[space] = NO_CARD
    state.present[space] = False
    state.chosen[space] = False
    for what in range(LOOK):
        state.board[space, what] = 0


@compiled
def _sweep(state: State) -> None:
    """a.2, MAG-4: the card under the inspector and all to its right go. MAG-31, h.1: then no space is free."""
    state.swept[:] = 0
    first = int(state.inspector) - 1
    for space in range(first, state.laid):
        for what in range(LOOK):
            state.swept[space - first, what] = state.board[space, what]
        _clear_space(state, space)
    state.cards_left -= state.laid - first
    state.laid = first


@inlined
def _pick(state: State, space: int) -> None:
    """The actor takes the card on a space; its neighbours stay where they are (h.1)."""
    by_leader = state.phase == COUP_TAKING or state.phase == TAKING
    state.to_take -= by_leader
    state.cards_left -= 1
    if by_leader and state.take_as_batch:  # MAG-30, h.5
        state.present[space] = False
        state.chosen[space] = True
        if state.to_take == 0:
            _join_batch(state)
    else:
        card = state.card_at[space]
        _clear_space(state, space)
        _join(state, card)


@compiled
def _join_batch(state: State) -> None:
    for space in range(MAX_SPACES):
        if state.chosen[space]:
            card = state.card_at[space]
            _clear_space(state, space)
            _join(state, card)


@inlined
def _join(state: State, card: int) -> None:
    """a.8: a card joins the actor's collection."""
    player, colour, face = state.actor, card // TYPES_PER_COLOUR, state.face[card]
    state.collection[player, card] += 1
    state.holdings[player, colour, HELD_CARDS] += 1
    state.holdings[player, colour, HELD_ALARMS] += _shows(face, ALARM)
    state.holdings[player, colour, HELD_FEATHERS] += _shows(face, FEATHER)
    state.holdings[player, colour, HELD_LAUREL] += _shows(face, LAUREL)
    state.holdings[player, colour, HELD_POINTS] += _shows(face, POINTS)
    state.due += _shows(face, PLUS)


@compiled
def _draw_from_reserve(state: State, card: int) -> None:
    if not state.chain_goes_on:
        state.chain[:] = 0
        state.chain_owner = state.actor
        state.chain_goes_on = True
    state.chain[card] += 1
    state.reserve_size -= 1
    state.due -= 1
    _join(state, card)


@inlined
def _alarmed(state: State) -> int:
    """The first colour in which the actor has too many alarms (MAG-18, MAG-29, h.3), or NO_COLOUR."""
    for colour in range(NUM_COLOURS):
        if state.holdings[state.actor, colour, HELD_ALARMS] >= state.alarms_for_raid:
            return colour
    return NO_COLOUR


@inlined
def _gain_waits(state: State) -> bool:
    """Resolve what the actor has gained; whether that waits for a card of the reserve or for his answer.

    MAG-11: first all +cards, then raids, and with `raid_before_plus` the other way round (h.4).
    """
    while True:
        colour = _alarmed(state)
        if state.due > 0 and (colour == NO_COLOUR or not state.raid_before_plus):
            if state.reserve_size > 0:
                state.owed = True
                return True
            state.due = 0  # MAG-12
        elif colour != NO_COLOUR:
            _raid(state, colour)
            if state.unused[state.actor]:  # MAG-15
                state.interrupted = state.phase
                state.phase = TURNING
                state.raided = colour
                return True
        else:
            state.chain_goes_on = False
            return False


@compiled
def _raid(state: State, colour: int) -> None:
    """All cards of the colour go, and a joker among them for good (MAG-16); MAG-13: others that came with them stay."""
    player = state.actor
    for card in range(colour * TYPES_PER_COLOUR, (colour + 1) * TYPES_PER_COLOUR):
        state.collection[player, card] = 0
    for what in range(len(HOLDINGS)):
        state.holdings[player, colour, what] = 0
    state.raid_owner = player
    state.raid_colour = colour


@inlined
def _turn_character(state: State, action: int) -> None:
    """MAG-15, MAG-17: a joker is one card more and shows nothing."""
    if action != PASS:
        state.unused[state.actor] = False
        state.holdings[state.actor, action - JOKER, HELD_CARDS] += 1
        state.holdings[state.actor, action - JOKER, HELD_JOKER] = True
    state.phase = state.interrupted
    state.interrupted = SETUP
    state.raided = NO_COLOUR


@compiled
def _go_on(state: State) -> None:
    """Resolve a gain and put the next question; of one card that must be taken nobody is asked (section f)."""
    while not _gain_waits(state):
        _pass_on(state)
        if (state.phase != TAKING and state.phase != SHARING) or state.cards_left > 1:
            return
        only = 0
        for space in range(MAX_SPACES):
            only += state.present[space] * space
        _pick(state, only)


@inlined
def _pass_on(state: State) -> None:
    """Who is asked next, and what: a.5, a.6, a.7."""
    if state.phase == STEALING and state.ending == COUP:
        state.phase = COUP_TAKING
        state.to_take = state.cards_left
    elif state.phase == STEALING and state.ending == STOPPED:
        state.phase = TAKING
        state.to_take = state.take_table[state.laid - 1]
    elif state.phase == EXTRA:
        _end_turn(state)
    elif state.to_take == 0:
        state.actor = left_of(state, state.actor)  # of the leader, who was the actor, or of the last one who shared
        state.phase = SHARING
        if state.cards_left == 0 or (state.actor == state.leader and state.ending == CAUGHT):
            _end_turn(state)
        elif state.actor == state.leader:
            state.phase = EXTRA


# ---------------------------------------------------------------------------------------------------- end


@compiled
def _end_turn(state: State) -> None:
    """MAG-27: what is left is discarded for good."""
    _clear_board(state)
    state.turns += 1
    if state.last_turn:  # a.9
        state.phase = OVER
        state.actor = NO_SEAT
    else:
        _begin_turn(state, left_of(state, state.leader))


@compiled
def is_truncated(state: State) -> bool:
    """h.6: never."""
    return False


@inlined
def _strength(state: State, player: int, category: int) -> int:
    """What ranks the players: cards, and among equals the laurel (MAG-23, MAG-24); or feathers (MAG-25)."""
    if category < WHITE:
        return 2 * int(state.holdings[player, category, HELD_CARDS]) + int(state.holdings[player, category, HELD_LAUREL])
    feathers = 0
    for colour in range(NUM_COLOURS):
        feathers += state.holdings[player, colour, HELD_FEATHERS]
    return feathers


@compiled
def _token(state: State, player: int, category: int) -> int:
    own = _strength(state, player, category)
    ahead = equal = 0
    for seat in range(state.num_players):
        strength = _strength(state, seat, category)
        ahead += strength > own
        equal += strength == own
    if own == 0 or equal > 2:  # MAG-20, MAG-22, MAG-32
        return 0
    if ahead == 0:
        return int(state.tokens[category, equal - 1])  # two share the small ones
    return int(state.tokens[category, 1]) if ahead == 1 else 0  # MAG-21: no second place behind a tie


@compiled
def score(state: State, player: int) -> int:
    """a.10: tokens, and the points on the cards kept."""
    total = 0
    for category in range(NUM_COLOURS + 1):
        total += _token(state, player, category)
    for colour in range(NUM_COLOURS):
        total += int(state.holdings[player, colour, HELD_POINTS])
    return total


@compiled
def returns(state: State, payoffs: NDArray[np.float32]) -> None:
    for seat in range(state.num_players):
        payoffs[seat] = score(state, seat)
    if state.score_reward:
        reward_scores(payoffs, SCORE_SCALE)
    else:
        reward_winners(payoffs)


# ---------------------------------------------------------------------------------------------------- eyes

_SEATS = (MAX_PLAYERS,)
_LOOK = "colour one-hot, triangles, +card, alarm, feather, laurel, points"
_TYPES = f"{TYPES_PER_COLOUR} a colour in the order of the deck"

OBSERVATION = Layout(
    ("present", (MAX_SPACES,), 0, 1, 1, "the cards that lie on the board, by space"),
    ("chosen", (MAX_SPACES,), 0, 1, 1, "the cards that the leader has chosen in a batch, by space"),
    ("board", (MAX_SPACES, LOOK), 0, 3, 1, f"both kinds of cards by space: {_LOOK}"),
    ("laid", (), 0, MAX_SPACES, MAX_SPACES, "cards laid and not swept (k)"),
    ("inspector", (), 0, MAX_SPACES + 1, MAX_SPACES, "the inspector's space, counted from 1 (p)"),
    ("due", (), 0, 127, 2, "+cards to be drawn"),
    ("draw_size", (), 0, MAX_CARDS, MAX_CARDS, "cards in the draw pile"),
    ("reserve_size", (), 0, MAX_CARDS, 15, "cards in the reserve"),
    ("last_turn", (), 0, 1, 1, "the last card of the draw pile has been revealed"),
    ("turns", (), 0, MAX_CARDS, 30, "turns finished"),
    ("unseen", (NUM_TYPES,), 0, MAX_CARDS, 2, f"cards in the two piles together, {_TYPES}"),
    ("swept", (MAX_SWEPT, LOOK), 0, 3, 1, f"the cards that the inspector swept last: {_LOOK}"),
    ("chain", (NUM_TYPES,), 0, MAX_CARDS, 1, f"the cards that the last +cards brought, {_TYPES}"),
    ("holdings", (MAX_PLAYERS, NUM_COLOURS, len(HOLDINGS)), 0, 127, 4, "by seat and colour: " + ", ".join(HOLDINGS)),
    ("unused", _SEATS, 0, 1, 1, "whose character can still become a joker; without this and without a joker it is lost"),
    ("seated", _SEATS, 0, 1, 1, "seats in the game; all features by seat start with the observer and go clockwise"),
    ("leader", _SEATS, 0, 1, 1, "who leads"),
    ("actor", _SEATS, 0, 1, 1, "who is asked"),
    ("gap", (), 0, MAX_SPACES, MAX_SPACES, "free spaces between the cards and the inspector"),
    ("ending", (len(ENDINGS),), 0, 1, 1, "how the theft ended, one-hot: " + ", ".join(ENDINGS)),
    ("phase", (len(PHASES),), 0, 1, 1, "phase, one-hot: " + ", ".join(PHASES)),
    ("to_take", (), 0, MAX_SPACES, 4, "cards that the leader still has to take, outside a coup"),
    ("interrupted", (len(PHASES),), 0, 1, 1, "during JOKER: the phase that it interrupts, one-hot"),
    ("raided", (NUM_COLOURS,), 0, 1, 1, "during JOKER: the colour just raided, one-hot"),
    ("last_ending", (len(ENDINGS),), 0, 1, 1, "how the previous turn's theft ended, one-hot; running: there was none"),
    ("last_leader", _SEATS, 0, 1, 1, "who led it"),
    ("chain_owner", _SEATS, 0, 1, 1, "who got the cards of `chain`"),
    ("raid_owner", _SEATS, 0, 1, 1, "last raid: who lost his cards"),
    ("raid_colour", (NUM_COLOURS,), 0, 1, 1, "last raid: of which colour"),
)


@compiled
def observe(state: State, player: int, seen: Record) -> None:
    wide.blank(seen, "leader actor gap ending phase to_take interrupted raided last_ending last_leader")
    wide.blank(seen, "chain_owner raid_owner raid_colour")
    wide.copy(state, seen, "present chosen board laid inspector due draw_size reserve_size last_turn turns")
    wide.copy(state, seen, "unseen swept chain")
    wide.turn(state, player, seen, "holdings unused")
    wide.mark(state, player, seen, "leader actor last_leader chain_owner raid_owner")
    seen.gap = gap_of(state)
    seen.to_take = state.to_take * (state.ending == STOPPED)  # h.2
    seen.ending[state.ending] = 1
    seen.last_ending[state.last_ending] = 1
    seen.phase[state.phase] = 1
    seen.raid_colour[max(0, state.raid_colour)] = state.raid_colour != NO_COLOUR
    for k in range(MAX_PLAYERS):
        seen.seated[k] = k < state.num_players
    if state.phase == TURNING:
        seen.interrupted[state.interrupted] = 1
        seen.raided[state.raided] = 1


@compiled
def determinize(state: State, player: int, stream: Record) -> None:
    """Nothing is to redraw: the unseen cards of both piles are kept as counts, and nobody knows more of them."""


# ---------------------------------------------------------------------------------------------------- words

ACTION_NAMES = (
    "DRAW", "STOP", *(f"TAKE {space + 1}" for space in range(MAX_SPACES)), "PASS",
    *(f"JOKER {colour.upper()}" for colour in COLOURS),
)  # fmt: skip

_COLOURS_IN_FRENCH = ("bijoux", "orfèvrerie", "tableaux", "pierres", "statues")
FRENCH = {
    **dict(zip(COLOURS, _COLOURS_IN_FRENCH, strict=True)),
    **{colour.upper(): name.upper() for colour, name in zip(COLOURS, _COLOURS_IN_FRENCH, strict=True)},
    "Magpies": "Pies", "board": "plateau", "space": "case", "gap": "écart", "draw pile": "pioche", "reserve": "réserve",
    "turn": "tour", "last turn": "dernier tour", "inspector": "inspecteur", "alarm": "alarme", "alarms": "alarmes",
    "feather": "plume", "feathers": "plumes", "laurel": "laurier", "joker": "joker", "points": "points", "+card": "+carte",
    "+cards": "+cartes", "character": "personnage", "score": "score", "running": "en cours", "stopped": "arrêt",
    "caught": "main dans le sac", "coup": "coup d'éclat",
    "DRAW": "PIOCHER", "STOP": "S'ARRÊTER", "TAKE": "PRENDRE", "PASS": "PASSER", "JOKER": "JOKER", "SETUP": "MISE EN PLACE",
    "STEAL": "VOL", "COUP_TAKE": "COUP D'ÉCLAT", "SHARE": "PARTAGE", "EXTRA": "SUPPLÉMENT", "OVER": "FIN",
}  # fmt: skip
"""The game's own words in French, in the terms of the source text, which does not name the colours."""
FRENCH_MARKS = {
    "plain": "simple", "free": "libre", "chosen": "choisie", "leads": "cheffe", "character unused": "personnage disponible",
}  # fmt: skip
"""What pictures say beside them."""


_NUMBERS = {"start_reserve": range(MAX_CARDS), "phase": range(len(PHASES)), "ending": range(len(ENDINGS))} | {
    name: option.allowed
    for name, option in OPTIONS.items()
    if isinstance(option.allowed, range) and name in (STATE.names or ()) and name != "reserve_size"
}
_FLAGS = [
    "joker", "raid_before_plus", "take_as_batch", "score_reward", "present", "chosen", "unused", "last_turn", "owed",
    "chain_goes_on",
]  # fmt: skip
_FACES = [_pack(triangles, left, right) for triangles in range(MAX_TRIANGLES + 1) for left in LEFTS for right in RIGHTS]


def check(state: State) -> None:
    """The conservation laws of section f, and every field in its bounds.

    Raises:
        ValueError: the first law that the state breaks.
    """
    _check_options(state)
    _check_cards(state)
    _check_turn(state)
    _check_last_events(state)


def _law(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"not a state of {NAME}: {what}")


def _check_options(state: State) -> None:
    for name, allowed in _NUMBERS.items():
        _law(int(state[name]) in allowed, f"{name} {state[name]}")
    for name in _FLAGS:
        _law(not np.any(state[name] >> 1), f"{name} is neither 0 nor 1")
    colours, spaces, cards = int(state.num_colours), int(state.board_length), int(state.copies.sum())
    _law(RANDOM <= state.first_player < state.num_players, f"first player {state.first_player}")
    in_deck = state.copies > 0
    _law((state.copies >= 0).all() and state.start_reserve < cards <= MAX_CARDS, f"{cards} cards")
    _law(not in_deck[colours * TYPES_PER_COLOUR :].any(), f"cards of more than {colours} colours")
    _law(np.isin(state.face[in_deck], _FACES).all() and not state.face[~in_deck].any(), "a card that shows what none does")
    of_colour = (state.copies[:, None] * _looks(state.face)).reshape(NUM_COLOURS, TYPES_PER_COLOUR, LOOK).sum(1)
    _law(of_colour[:, LAUREL].max() <= 1 and of_colour[:, POINTS].max() <= 127, "too much on the cards of one colour")
    _law(_somebody_chooses(state), "nobody would have a choice")
    table = state.take_table[: spaces - 1]
    _law((table >= 1).all() and (table <= np.arange(1, spaces)).all(), "take table")
    _law(not state.take_table[spaces - 1 :].any(), "take table beyond the board")
    _law((state.tokens >= 0).all() and (state.tokens <= 20).all(), "tokens")


def _check_cards(state: State) -> None:
    """Every card is in one of draw pile, reserve, board, collections and discard; the holdings are the collections."""
    n, colours, cards = int(state.num_players), int(state.num_colours), int(state.copies.sum())
    law, laid, looks = _law, state.card_at[state.card_at != NO_CARD], _looks(state.face)
    law((laid >= 0).all() and (laid < NUM_TYPES).all(), "a card on the board that there is not")
    law((state.unseen >= 0).all() and (state.collection >= 0).all(), "a negative number of cards")
    discard = state.copies - state.unseen.astype(int) - state.collection.sum(0) - np.bincount(laid, minlength=NUM_TYPES)
    law((discard >= 0).all(), "more cards than there are")
    law(0 <= state.reserve_size <= state.start_reserve, f"reserve {state.reserve_size}")
    law(0 <= state.draw_size <= cards - state.start_reserve, f"draw pile {state.draw_size}")
    law(state.unseen.sum() == int(state.draw_size) + int(state.reserve_size), f"{state.unseen.sum()} unseen cards")
    law(state.last_turn == (state.draw_size == 0), "the last turn is that of the last card of the draw pile")
    law(0 <= state.turns <= cards - state.start_reserve - state.draw_size, f"{state.turns} turns")
    held = state.collection.reshape(MAX_PLAYERS, NUM_COLOURS, TYPES_PER_COLOUR)
    shown = looks[:, ALARM:].reshape(NUM_COLOURS, TYPES_PER_COLOUR, POINTS - ALARM + 1)
    joker = state.holdings[:, :, HELD_JOKER]
    law((state.holdings[:, :, HELD_ALARMS : HELD_POINTS + 1] == np.einsum("pct,ctk->pck", held, shown)).all(), "holdings")
    law((state.holdings[:, :, HELD_CARDS] == held.sum(2) + joker).all(), "numbers of cards held")
    law((joker >= 0).all() and (joker.sum(1) + state.unused <= state.joker).all(), "one character each")
    law(not joker[:, colours:].any(), "a joker of a colour that is not in the game")
    law(not (state.holdings[n:].any() or state.unused[n:].any()), "an empty seat holds something")
    law(((state.present | state.chosen) == (state.card_at != NO_CARD)).all(), "a card is present or chosen")
    law(not (state.present & state.chosen).any(), "a card is not both")
    law((state.board == np.where(state.card_at[:, None] == NO_CARD, 0, looks[state.card_at])).all(), "looks of the board")
    law(state.cards_left == state.present.sum(), f"{state.present.sum()} cards present, {state.cards_left} counted")


def _check_turn(state: State) -> None:
    n, phase, ending, left = (int(state[name]) for name in ("num_players", "phase", "ending", "cards_left"))
    leader, actor, laid, to_take = int(state.leader), int(state.actor), int(state.laid), int(state.to_take)
    law, spaces, owed, gap = _law, int(state.board_length), bool(state.owed), gap_of(state)
    asked_in = int(state.interrupted) if phase == TURNING else phase
    sharing = COUP_TAKING <= asked_in <= EXTRA
    law(0 <= laid <= spaces and gap >= 0 and 1 <= state.inspector <= spaces + 1, f"{laid} cards, {state.inspector}")
    law((state.card_at[laid:] == NO_CARD).all(), "cards beyond those laid")
    law(NO_SEAT <= leader < n and (leader == NO_SEAT) == (phase == SETUP), f"leader {leader}")
    law(NO_SEAT <= actor < n and (actor == NO_SEAT) == (phase in (SETUP, OVER)), f"actor {actor}")
    law(phase in (SETUP, OVER) or (actor == leader) == (asked_in != SHARING), f"player {actor} acts, {leader} leads")
    law(not owed or phase not in (TURNING, OVER), "no card is due")
    law(phase != SETUP or (owed and laid == 0 and ending == RUNNING), "the first card comes after the first leader")
    law(sharing or (phase != TURNING and state.interrupted == SETUP), f"interrupted {state.interrupted}")
    law(phase == TURNING or (state.interrupted == SETUP and state.raided == NO_COLOUR), f"interrupted {state.interrupted}")
    law(sharing or (state.due == 0 and to_take == 0), f"{state.due} cards due, {to_take} to take")
    law((ending == RUNNING) == (phase in (SETUP, STEALING)), f"the theft is {ending} in phase {phase}")
    law((ending in (CAUGHT, COUP)) <= (gap == 0) and (ending != STOPPED or gap > 0), f"gap {gap} after {ending}")
    law(ending in (RUNNING, CAUGHT) or laid > 0, "no card was laid")
    law(not state.chosen.any() or (state.take_as_batch and phase in (COUP_TAKING, TAKING) and not owed), "no batch")
    if phase == STEALING:
        law(left == laid and gap == spaces - laid - state.board[:, TRIANGLES].sum(), f"inspector on {state.inspector}")
        law(gap > 0 and (owed or laid > 0) and state.unseen.any(), "nothing to decide or to draw")
    elif phase == OVER:
        law(state.last_turn and left == 0, "the game is not over")
    elif phase == TURNING:
        law(0 <= state.raided < state.num_colours and state.unused[actor], f"raided {state.raided}")
        law(state.raid_owner == actor and state.raid_colour == state.raided, "another raid than the last one")
        law(not state.holdings[actor, state.raided].any(), "cards of the raided colour")
        law(state.due == 0 or (state.due > 0 and state.raid_before_plus), f"{state.due} cards due")
    elif sharing:
        law(state.due > 0 and state.reserve_size > 0 if owed else state.due == 0, f"{state.due} cards due")
    if sharing:
        endings = {COUP_TAKING: (COUP,), TAKING: (STOPPED,), EXTRA: (COUP, STOPPED), SHARING: (COUP, STOPPED, CAUGHT)}
        law(ending in endings[asked_in], f"{ending} in phase {asked_in}")
        asked = not owed and phase != TURNING
        law(not asked or left >= (1 if asked_in in (COUP_TAKING, EXTRA) else 2), f"{left} cards on the board")
        law(not asked or to_take > 0 or asked_in in (SHARING, EXTRA), "nothing to take")
        most = left if asked_in in (COUP_TAKING, TAKING) else 0
        law(0 <= to_take <= most and (asked_in != COUP_TAKING or to_take in (0, left)), f"{to_take} cards to take of {left}")
    at_rest = np.arange(MAX_PLAYERS) != (actor if sharing and (owed or phase == TURNING) else NO_SEAT)
    law((state.holdings[at_rest, :, HELD_ALARMS] < state.alarms_for_raid).all(), "a raid is due")


def _check_last_events(state: State) -> None:
    law, seats = _law, range(state.num_players)
    for name in ("last_leader", "chain_owner", "raid_owner"):
        law(state[name] == NO_SEAT or state[name] in seats, f"{name} {state[name]}")
    law(0 <= state.last_ending < len(ENDINGS), f"last ending {state.last_ending}")
    law((state.last_ending == RUNNING) == (state.last_leader == NO_SEAT), "the last theft and its leader")
    law(NO_COLOUR <= state.raid_colour < state.num_colours, f"raid in {state.raid_colour}")
    law((state.raid_colour == NO_COLOUR) == (state.raid_owner == NO_SEAT), "the last raid and its owner")
    law((state.chain >= 0).all() and (state.chain <= state.copies - state.unseen).all(), "cards of the last chain")
    law(state.chain.any() == (state.chain_owner != NO_SEAT), "the last chain and its owner")
    goes_on = state.chain_owner == state.actor and COUP_TAKING <= state.phase <= TURNING
    law(not state.chain_goes_on or (goes_on and (state.owed or state.phase == TURNING)), "the last chain goes on")
    known = _looks(state.face)[state.copies > 0]
    swept = (state.swept[:, None] == known).all(2).any(1) | ~state.swept.any(1)
    law(swept.all(), "the cards swept last")


def _corners(look: NDArray[Any]) -> str:
    """What a card on the board shows beside its colour; `<` is a triangle."""
    words = ["<" * int(look[TRIANGLES])]
    words += [word * int(look[what]) for what, word in ((ALARM, "alarm"), (FEATHER, "feather"), (PLUS, "+card"))]
    words.append("laurel" if look[LAUREL] else f"{look[POINTS]}" * bool(look[POINTS]))
    return " ".join(word for word in words if word)


def _words(look: NDArray[Any]) -> str:
    return f"{COLOURS[int(look[:NUM_COLOURS].argmax())]} {_corners(look)}".strip()


def _effects(held: NDArray[Any]) -> str:
    """What a player's cards of a colour show."""
    words = [f"{HOLDINGS[k]} {held[k]}" for k in (HELD_ALARMS, HELD_FEATHERS, HELD_POINTS) if held[k]]
    return ", ".join(words + [HOLDINGS[k] for k in (HELD_LAUREL, HELD_JOKER) if held[k]])


def _last_events(state: State) -> list[str]:
    lines = []
    if state.last_leader != NO_SEAT:
        lines.append(f"Previous theft: player_{state.last_leader} {ENDINGS[state.last_ending]}")
    if state.swept.any():
        lines.append("Last swept: " + ", ".join(_words(look) for look in state.swept if look.any()))
    if state.chain_owner != NO_SEAT:
        looks = _looks(state.face)
        cards = ", ".join(_words(looks[card]) for card in np.repeat(np.arange(NUM_TYPES), state.chain))
        lines.append(f"Last +card: player_{state.chain_owner} drew {cards}")
    if state.raid_owner != NO_SEAT:
        lines.append(f"Last raid: player_{state.raid_owner} lost {COLOURS[state.raid_colour]}")
    return lines


def describe(state: State, viewer: int | None = None) -> str:
    """The table in words, which are the same for everybody."""
    n = int(state.num_players)
    lines = [f"Magpies, turn {state.turns + (state.phase != OVER)}: {PHASES[state.phase]}"]
    if state.phase == TURNING:
        lines[0] += f" after a raid in {COLOURS[state.raided]}, then {PHASES[state.interrupted]}"
    lines[0] += f", draw pile {state.draw_size}, reserve {state.reserve_size}" + ", last turn" * bool(state.last_turn)
    lines.append(f"Theft {ENDINGS[state.ending]}: {state.laid} cards, inspector on {state.inspector}, gap {gap_of(state)}")
    lines[1] += f", {state.to_take} to take" * bool(state.to_take and state.ending == STOPPED)
    lines[1] += f", {state.due} +cards due" * bool(state.due)
    for space in range(state.laid):
        mark = "chosen " * bool(state.chosen[space])
        lines.append(f"   {space + 1}: {mark}{_words(state.board[space]) if state.board[space].any() else '-'}")
    for seat in range(n):
        facts = []
        for colour in np.flatnonzero(state.holdings[seat].any(1)):
            held = state.holdings[seat, colour]
            facts.append(f"{held[HELD_CARDS]} {COLOURS[colour]}" + f" ({_effects(held)})" * bool(_effects(held)))
        facts += ["character unused"] * bool(state.unused[seat])
        mark = ("L" if state.leader == seat else " ") + (">" if state.actor == seat else " ")
        lines.append(f"{mark} player_{seat}: " + (", ".join(facts) or "nothing"))
    lines += _last_events(state)
    if state.phase == OVER:
        lines.append("Scores: " + ", ".join(f"player_{seat} {score(state, seat)}" for seat in range(n)))
    return "\n".join(lines)


_ASKED = {
    STEALING: "to draw on or to stop",
    COUP_TAKING: "to take as many cards as he likes",
    TAKING: "to take cards",
    SHARING: "to take one card",
    EXTRA: "whether he takes one more card",
    TURNING: "whether his character becomes a joker",
}
_TINTS = (RED, GOLD, GREEN, BLUE, VIOLET)


def scene(state: State, viewer: int | None = None) -> Scene:
    """The table as a picture's data, which is the same for every viewer."""
    places = []
    for space in range(state.board_length + 1):
        look = state.board[space] if space < MAX_SPACES else np.zeros(LOOK, np.int8)
        label = _corners(look) or "plain" if look.any() else "inspector" if state.inspector == space + 1 else "free"
        tint = _TINTS[int(look[:NUM_COLOURS].argmax())] if look.any() else PLAIN
        chosen = space < MAX_SPACES and state.chosen[space]
        places.append(Card(label, tint, note="chosen" if chosen else f"space {space + 1}"))
    counters: list[tuple[str, int | str]] = [("gap", gap_of(state)), ("draw pile", int(state.draw_size))]
    counters += [("reserve", int(state.reserve_size)), ("turn", int(state.turns) + (state.phase != OVER))]
    zones = [Zone("board", tuple(counters), tuple(places), ("last turn",) * bool(state.last_turn))]
    for seat in range(int(state.num_players)):
        piles = [
            Card(str(state.holdings[seat, c, HELD_CARDS]), _TINTS[c], note=_effects(state.holdings[seat, c]) or COLOURS[c])
            for c in np.flatnonzero(state.holdings[seat].any(1))
        ]
        marks = ["leads"] * bool(state.leader == seat) + ["character unused"] * bool(state.unused[seat])
        scores = (("score", score(state, seat)),) * bool(state.phase == OVER)
        acts = bool(state.actor == seat) and not state.owed
        zones.append(Zone(f"player_{seat}", scores, tuple(piles), tuple(marks), acts))
    asked = f"player_{state.actor} is asked {_ASKED.get(int(state.phase), '')}."
    turn = "The game is over." if state.phase == OVER else "A card is turned up." if state.owed else asked
    return Scene(
        f"Magpies, {PHASES[state.phase]}: {ENDINGS[state.ending]}", turn, tuple(zones), ". ".join(_last_events(state))
    )


register(sys.modules[__name__])
