"""Cleaners: numbered Vice cards, open or face down, bid for Villa cards, of which not everybody knows the value.

Numbers such as a.3 (the list below), CLE-12 and h.3 are those of docs/rules/cleaners.md, each where its rule is carried.

1. SETUP: some objects face up, the rest of the Villa cards face down; the first ones of the shuffled pile on the table; a
   secret character and a hand from one's own shuffled deck of Vice cards each.
2. TURN: lay a Vice card at a Villa card, or discard a Fly (value 0) for its effect. At a Villa card the facings alternate
   round its four sides, so that the numbers of open and face-down cards say which facing may follow.
3. The FLY lets its player peek at a face-down card, move a face-down Vice card to another Villa card, or swap two of them.
4. A third Vice card at a Villa card brings the next Villa card of the pile to the table.
5. A fourth one turns all four up: the highest sum that nobody shares wins the Villa card, whose winner looks at it.
6. REFILL: draw up to a full hand; the own discards, shuffled, are the new draw pile.
7. END: somebody has won enough Villa cards. Every Villa card left is decided by what lies there. A Murderer who
   holds all the cards that he is after wins at once, alone.
8. ACCUSATION: the holder of the Keyhole may accuse a player; an object changes hands.
9. SCORE: the values of one's Villa cards and a bonus for those that one's character is after.
"""

import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, wide
from heist_envs.conventions import check_first_player, reward_scores, reward_winners, seat_of
from heist_envs.games import VERSIONS
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, Record, State, compiled, inlined, register
from heist_envs.scene import ALL_SEEING, BLUE, GOLD, GREEN, PLAIN, RED, VIOLET, Card, Scene, Zone

# ---------------------------------------------------------------------------------------------------- spec

NAME = "cleaners"
VERSION = VERSIONS[NAME]

MIN_PLAYERS, MAX_PLAYERS = 2, 5
NUM_VILLAS = 19
NUM_VALUES = 11
"""Vice values 0 to 10; 0 is the Fly."""
FLY = 0
MAX_FLIES = 13
MAX_CREW = 10
MAX_VALUE = 99
"""Bound of a Villa card's printed value, either sign."""
NO_SEAT = -1
NO_CARD = 0
"""Villa cards are counted from 1 in the order of `_villa_cards`, Vice cards are known by value + 1."""
NO_ACTION = -1

PLACE, PEEK_VILLA, PEEK_VICE, MOVE, SWAP, NOTHING = 0, 22, 23, 24, 25, 26
VILLA, VICE, NO_ACCUSATION = 27, 46, 84
"""Actions. PLACE + 2 v + f lays a card of value v, face up if f is 1; VILLA + s means the Villa card of slot s, and
VICE + 2 s + j a face-down Vice card lying there; NO_ACCUSATION + k accuses the player k seats to the left.
"""
NUM_ACTIONS = NO_ACCUSATION + MAX_PLAYERS
MAX_CHANCE_OUTCOMES = NUM_VILLAS
"""Outcomes of chance: the first seat, a Villa card - 1, a character - 1, a Vice value."""

PHASES = ("FIRST", "FACINGS", "PILE", "CHARACTERS", "HANDS", "START", "REFILL", "TURN", "ACCUSE", "OVER")
FIRST, FACINGS, PILE, CHARACTERS, HANDS, START, REFILL, TURN, ACCUSE, OVER = range(len(PHASES))
"""Chance acts up to REFILL. START is the refill before a turn, REFILL the one after it."""
PLACES = IN_PILE, ON_TOP, ON_TABLE, WON = range(4)
"""Where a Villa card is. ON_TOP: on top of the pile, and everybody sees its upper side."""
ENDS = ("", "instant", "villas", "empty", "stuck", "cap")
GOES_ON, INSTANT, ENOUGH, EMPTY, STUCK, CAP = range(len(ENDS))
TURN_KINDS = ("", "PLACE", "PEEK VILLA", "PEEK VICE", "MOVE", "SWAP", "NOTHING")
KIND, SLOT, SIDE, OTHER_SLOT, OTHER_SIDE, VALUE = range(6)
"""Columns of `last_turn`: kind 0 to 6, Villa card + 1 and side of a card, the same of a second one, open value + 1."""
DOWN, UP = 0, 2
"""Sides of a Villa card: 0 and 1 are for face-down Vice cards, 2 and 3 for open ones."""

MODES = ("rookie", "base", "murderer", "detective")
ROOKIE, BASE, MURDERER_MODE, DETECTIVE = range(len(MODES))
MURDERER = MAX_CREW + 1
"""Characters are counted from 1; the Murderer comes after all crew that there can be."""
SPECIALS = ("weapon", "dog", "body", "keyhole")
WEAPON, DOG, BODY, KEYHOLE = range(len(SPECIALS))
FLY_NOOPS = ("fallback", "always", "never")
FALLBACK, ALWAYS, NEVER = range(len(FLY_NOOPS))
REWARDS = ("win", "score")
RANDOM = -1
SCORE_SCALE = 175

CREW = {  # every object is wanted by two, every two want one object, and all sums are 40
    "Crew A": (2, 5, 9, 10, 14),
    "Crew B": (2, 4, 6, 13, 15),
    "Crew C": (4, 5, 8, 11, 12),
    "Crew D": (1, 6, 7, 12, 14),
    "Crew E": (3, 7, 8, 9, 13),
    "Crew F": (1, 3, 10, 11, 15),
}

_SPECIAL_VALUE = (None, *range(-MAX_VALUE, MAX_VALUE + 1))
OPTIONS = {
    "num_players": Option(4, range(MIN_PLAYERS, MAX_PLAYERS + 1), "players, 2 to 5"),
    "first_player": Option(0, ("random", *range(MAX_PLAYERS)), "the seat that begins, or 'random'"),
    "mode": Option("base", MODES, "which characters and special cards are in play"),
    "vice_values": Option(tuple(range(1, NUM_VALUES)), None, "values of everybody's Vice cards, one each, 1 to 10"),
    "num_flies": Option(3, range(MAX_FLIES + 1), "Flies in everybody's deck"),
    "hand_size": Option(3, range(1, NUM_VALUES + MAX_FLIES), "Vice cards in a full hand"),
    "objects": Option(tuple(range(1, 16)), None, "values of the object cards, all different"),
    "num_face_up": Option(8, range(NUM_VILLAS + 1), "CLE-2: objects that lie face up, drawn by chance"),
    "weapon_value": Option(-5, _SPECIAL_VALUE, "points of the Weapon; None leaves the card out"),
    "dog_value": Option(-10, _SPECIAL_VALUE, "points of the Dog; None leaves the card out"),
    "body_value": Option(-15, _SPECIAL_VALUE, "points of the Body (murderer, detective); None leaves the card out"),
    "keyhole_value": Option(0, _SPECIAL_VALUE, "CLE-26: points of the Keyhole (detective); None leaves the card out"),
    "n_start": Option(3, range(1, NUM_VILLAS + 1), "CLE-23: Villa cards on the table at the start"),
    "villas_to_win": Option(4, range(1, NUM_VILLAS + 1), "Villa cards that end the game for all"),
    "characters": Option(CREW, None, "CLE-1: names of the crew, and the objects that each is after"),
    "bonus": Option(5, None, "h.11: points for each object that one's character is after, or a table by their number"),
    "instant_win_cards": Option(SPECIALS[:3], None, "h.12: cards with which the Murderer wins at once; names or objects"),
    "accusation_open": Option(False, (True, False), "CLE-29: won cards lie open before the accusation"),
    "zero_presence_wins": Option(False, (True, False), "CLE-16: a sum of 0 may win a Villa card"),
    "fly_noop": Option("fallback", FLY_NOOPS, "CLE-11, h.7: when a Fly may be discarded without effect"),
    "show_pile_top": Option(True, (True, False), "CLE-3: everybody sees the upper side of the pile's top card"),
    "max_turns": Option(500, range(1, 10_001), "CLE-33: turns after which the game is cut off"),
    "reward": Option("win", REWARDS, "win: (n w - 1) / (n - 1); score: (own score - mean of the others) / 175"),
}

_TINY = {
    "num_players": 2,
    "mode": "rookie",
    "vice_values": (1, 2),
    "num_flies": 1,
    "hand_size": 2,
    "objects": (1, 2),
    "num_face_up": 1,
    "weapon_value": -1,
    "dog_value": None,
    "n_start": 1,
    "villas_to_win": 1,
    "max_turns": 5,
}
PRESETS: dict[str, dict[str, Any]] = {
    "tiny": _TINY,
    "small": {**_TINY, "max_turns": 6},
    "micro": {**_TINY, "max_turns": 4},
    "three": {**_TINY, "vice_values": (1, 2, 3)},
}

# ---------------------------------------------------------------------------------------------------- state

FLAG = np.int8
"""0 or 1: Numba takes no array of bool in a record."""

PUBLIC = [  # arrays of NUM_VILLAS are by slot, or by card - 1 where it says so
    ("bonus", np.int16, NUM_VILLAS + 1),  # by number of favourites
    ("turns", np.int16),
    ("max_turns", np.int16),
    ("reshuffles", np.int16, MAX_PLAYERS),
    # Seen by everybody as it is, in the order of the observation.
    ("up_value", np.int8, (NUM_VILLAS, 2)),  # open Vice cards at a Villa card: value + 1
    ("old", FLAG, (NUM_VILLAS, 2)),  # a face-down Vice card laid before its owner's last reshuffle
    ("where", np.int8, NUM_VILLAS),  # the k-th card of the pile is slot k for ever
    ("face_up", FLAG, NUM_VILLAS),
    ("villa_value", np.int8, NUM_VILLAS),  # by card
    ("special", np.int8, len(SPECIALS)),  # the cards Weapon, Dog, Body, Keyhole, or NO_CARD
    ("deck", np.int8, NUM_VALUES),  # Vice cards of each value that everybody has
    ("seated", FLAG, MAX_PLAYERS),
    ("resolved_slot", np.int8),  # + 1
    ("resolved_value", np.int8, 4),  # by side, value + 1
    ("moved", np.int8),  # slot + 1 of the object that the accusation moved
    ("pile_size", np.int8),
    ("hand_size", np.int8),
    ("villas_to_win", np.int8),
    ("mode", np.int8),
    ("phase", np.int8),
    ("end", np.int8),  # what stopped the game
    # Seats, which a player counts from his own.
    ("down_owner", np.int8, (NUM_VILLAS, 2)),  # CLE-4: public
    ("up_owner", np.int8, (NUM_VILLAS, 2)),
    ("holder", np.int8, NUM_VILLAS),  # who has a Villa card in front of him
    ("resolved_owner", np.int8, 4),  # by side
    ("actor", np.int8),  # whose turn, refill or deal it is
    ("starter", np.int8),
    ("resolved_winner", np.int8),
    ("accuser", np.int8),
    ("accused", np.int8),
    # By seat.
    ("seen_villa", FLAG, (MAX_PLAYERS, NUM_VILLAS)),  # who has looked at a face-down card
    ("seen_vice", FLAG, (MAX_PLAYERS, NUM_VILLAS, 2)),
    ("discard", np.int8, (MAX_PLAYERS, NUM_VALUES)),
    ("reshuffled", np.int8, (MAX_PLAYERS, NUM_VALUES)),  # what the draw pile was made of
    ("last_turn", np.int8, (MAX_PLAYERS, 6)),
    ("hand_sizes", np.int8, MAX_PLAYERS),
    ("draw_sizes", np.int8, MAX_PLAYERS),
    ("won_counts", np.int8, MAX_PLAYERS),
    ("shown_character", np.int8, MAX_PLAYERS),
    # What the masks are made of.
    ("num_players", np.int8),
    ("fly_noop", np.int8),
    ("spaces_down", np.int8),  # Villa cards that take a face-down Vice card
    ("spaces_up", np.int8),
    ("num_face_down", np.int8),  # face-down Villa cards on the table
    ("num_lying", np.int8),  # face-down Vice cards
    ("lying_at_space", np.int8),  # those of them at Villa cards that take another one
    ("sources", np.int8),  # Villa cards with a face-down Vice card
    ("lying", np.int8, NUM_VILLAS),  # face-down Vice cards at it
    ("takes_down", FLAG, NUM_VILLAS),  # a face-down Vice card may be laid here
    ("takes_up", FLAG, NUM_VILLAS),
    # The rest.
    ("skipped", np.int8),  # seats passed over since the last turn
    ("dealt", np.int8),  # of the face-up objects or the pile, while these are dealt
    ("truncated", FLAG),
    ("open_card", np.int8, NUM_VILLAS),  # the card, where everybody knows it
    ("num_villas", np.int8),
    ("num_objects", np.int8),  # the cards 1 to num_objects are objects, by rising value
    ("first_player", np.int8),
    ("zero_presence_wins", FLAG),
    ("show_pile_top", FLAG),
    ("accusation_open", FLAG),
    ("cap_terminates", FLAG),
    ("score_reward", FLAG),
    ("num_face_up", np.int8),
    ("n_start", np.int8),
    ("num_characters", np.int8),
    ("instant_win", FLAG, NUM_VILLAS),  # by card
    ("wants", FLAG, (MAX_CREW, NUM_VILLAS)),  # the objects, by card, that each of the crew is after
    ("final_owner", np.int8, (NUM_VILLAS, 4)),  # the resolutions at the end, by side
    ("final_value", np.int8, (NUM_VILLAS, 4)),
]
PRIVATE = [
    ("hand", np.int8, (MAX_PLAYERS, NUM_VALUES)),
    ("draw", np.int8, (MAX_PLAYERS, NUM_VALUES)),  # the draw pile with what is arriving from it, which its owner can tell
    ("character", np.int8, MAX_PLAYERS),
    ("favourite", FLAG, (MAX_PLAYERS, NUM_VILLAS)),  # by card
    ("known_villa", np.int8, (MAX_PLAYERS, NUM_VILLAS)),  # by slot, the card or NO_CARD
    ("known_vice", np.int8, (MAX_PLAYERS, NUM_VILLAS, 2)),  # face-down cards: value + 1 or NO_CARD
    ("choice", np.int8, (MAX_PLAYERS, 2)),  # in a turn: the action + 1, and the first Vice card - VICE + 1
]
HIDDEN = [
    ("pile", np.int8, NUM_VILLAS),  # the card of every slot, also of those on the table and won
    ("lies_up", FLAG, NUM_VILLAS),  # by card
    ("arriving", np.int8, NUM_VALUES),  # drawn by the actor, not yet in his hand: a refill is one event
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
    n, mode = o["num_players"], MODES.index(o["mode"])
    check_first_player(o)
    values = _checked_numbers("vice_values", o["vice_values"], NUM_VALUES - 1)
    objects = _checked_numbers("objects", o["objects"], MAX_VALUE)
    own_cards = len(values) + o["num_flies"]
    if o["hand_size"] > own_cards:
        raise ValueError(f"got hand_size={o['hand_size']}: everybody has {own_cards} Vice cards")
    in_play = SPECIALS[: (2, 2, 3, 4)[mode]]
    cards: list[Any] = objects + [name for name in in_play if o[f"{name}_value"] is not None]
    if not 1 <= len(cards) <= NUM_VILLAS:
        raise ValueError(f"got {len(cards)} Villa cards: 1 to {NUM_VILLAS} with the special ones")
    for name, most in (("num_face_up", len(objects)), ("n_start", len(cards))):
        if o[name] > most:
            raise ValueError(f"got {name}={o[name]}: at most {most} with these Villa cards")
    crew = _checked_characters(o["characters"], n + (mode >= MURDERER_MODE) if mode > ROOKIE else 0)
    states = np.zeros(1, STATE)
    state = states[0]
    for name in [
        "num_players",
        "hand_size",
        "num_face_up",
        "n_start",
        "villas_to_win",
        "accusation_open",
        "zero_presence_wins",
        "show_pile_top",
        "max_turns",
    ]:
        state[name] = o[name]
    state.first_player = RANDOM if o["first_player"] == "random" else o["first_player"]
    state.mode = mode
    state.seated[:n] = True
    state.num_villas, state.num_objects = len(cards), len(objects)
    state.villa_value[: len(cards)] = [card if isinstance(card, int) else o[f"{card}_value"] for card in cards]
    state.special[:] = [cards.index(name) + 1 if name in cards else NO_CARD for name in SPECIALS]
    state.deck[FLY] = o["num_flies"]
    state.deck[values] = 1
    if mode >= MURDERER_MODE:
        state.instant_win[_checked_instant_win(o["instant_win_cards"], cards)] = True
    if mode > ROOKIE:
        state.num_characters = len(crew)
        for character, favourites in enumerate(crew):
            state.wants[character, [k for k, card in enumerate(objects) if card in favourites]] = True
    state.bonus[:] = _checked_bonus(o["bonus"], max(map(len, crew), default=0))
    state.fly_noop = FLY_NOOPS.index(o["fly_noop"])
    state.cap_terminates = "max_turns" not in given and given.get("preset") is not None  # h.3
    state.score_reward = o["reward"] == "score"
    reset(state)
    return states


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _checked_numbers(name: str, given: Any, most: int) -> list[int]:
    """Different whole numbers from 1 to `most`, sorted."""
    numbers: list[Any] = list(given) if isinstance(given, list | tuple | range | np.ndarray) else [None]
    if not all(_is_whole(v) and 1 <= v <= most for v in numbers) or len(set(numbers)) < len(numbers):
        raise ValueError(f"got {name}={given!r}: they must be different whole numbers from 1 to {most}")
    return sorted(int(v) for v in numbers)


def _checked_characters(given: Any, least: int) -> list[list[int]]:
    """The favourites of each of the crew."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given) or "Murderer" in given:
        raise ValueError(f"got characters={given!r}: they must be names of crew, each with a tuple of objects")
    if not least <= len(given) <= MAX_CREW:
        raise ValueError(f"got {len(given)} characters: {least} to {MAX_CREW} in this mode with this many players")
    return [_checked_numbers(f"favourites of {name}", favourites, MAX_VALUE) for name, favourites in given.items()]


def _checked_bonus(given: Any, most: int) -> list[int]:
    """h.11: the total for each number of favourites."""
    each = _is_whole(given) and abs(given) <= 50
    table = [given * k for k in range(NUM_VILLAS + 1)] if each else given
    listed: list[Any] = list(table) if isinstance(table, list | tuple | np.ndarray) else [None]
    if not most < len(listed) <= NUM_VILLAS + 1 or not all(_is_whole(v) and abs(v) <= 1000 for v in listed):
        allowed = f"one number from -50 to 50, or a table of totals from -1000 to 1000 for 0 to {most} or more favourites"
        raise ValueError(f"got bonus={given!r}: it must be {allowed}")
    return listed + listed[-1:] * (NUM_VILLAS + 1 - len(listed))


def _checked_instant_win(given: Any, cards: list[Any]) -> list[int]:
    """h.12: places of the listed cards among those in play."""
    listed: list[Any] = list(given) if isinstance(given, list | tuple) else [None]
    unknown = [card for card in listed if isinstance(card, bool) or card not in cards]
    if unknown or len(set(listed)) < len(listed):
        raise ValueError(f"got instant_win_cards={given!r}: they must be different ones of {', '.join(map(str, cards))}")
    return [cards.index(card) for card in listed]


@compiled
def reset(state: State) -> None:
    state.turns = 0
    state.actor = NO_SEAT
    state.starter = state.first_player
    state.dealt = 0
    state.skipped = 0
    state.end = GOES_ON
    state.truncated = False
    state.pile_size = state.num_villas
    state.where[:] = IN_PILE
    state.face_up[:] = False
    state.open_card[:] = NO_CARD
    state.holder[:] = NO_SEAT
    state.takes_down[:] = False
    state.takes_up[:] = False
    state.lying[:] = 0
    state.spaces_down = 0
    state.spaces_up = 0
    state.num_face_down = 0
    state.num_lying = 0
    state.lying_at_space = 0
    state.sources = 0
    state.seen_villa[:] = False
    state.down_owner[:] = NO_SEAT
    state.up_owner[:] = NO_SEAT
    state.up_value[:] = NO_CARD
    state.seen_vice[:] = False
    state.old[:] = False
    state.hand_sizes[:] = 0
    state.draw_sizes[:] = 0
    state.won_counts[:] = 0
    state.reshuffles[:] = 0
    state.discard[:] = 0
    state.reshuffled[:] = 0
    state.last_turn[:] = 0
    state.resolved_slot = 0
    state.resolved_owner[:] = NO_SEAT
    state.resolved_value[:] = NO_CARD
    state.resolved_winner = NO_SEAT
    state.final_owner[:] = NO_SEAT
    state.final_value[:] = NO_CARD
    state.accuser = NO_SEAT
    state.accused = NO_SEAT
    state.moved = 0
    state.shown_character[:] = 0
    state.hand[:] = 0
    state.draw[:] = 0
    state.character[:] = 0
    state.favourite[:] = False
    state.known_villa[:] = NO_CARD
    state.known_vice[:] = NO_CARD
    state.choice[:] = 0
    state.pile[:] = NO_CARD
    for slot in range(state.num_villas):
        state.pile[slot] = slot + 1
    state.lies_up[:] = False
    state.arriving[:] = 0
    for seat in range(state.num_players):
        for value in range(NUM_VALUES):
            state.draw[seat, value] = state.deck[value]
            state.reshuffled[seat, value] = state.deck[value]  # h.9
            state.draw_sizes[seat] += state.deck[value]
    state.phase = FIRST
    if state.first_player != RANDOM:
        state.phase = FACINGS
        _go_on_dealing(state)


@compiled
def _set_up(state: State, outcome: int) -> None:
    """a.1"""
    if state.phase == FIRST:
        state.starter = outcome
        state.phase = FACINGS
    elif state.phase == FACINGS:  # CLE-2
        state.lies_up[outcome] = True
        state.dealt += 1
    elif state.phase == PILE:
        slot = state.dealt
        at = slot
        while state.pile[at] != outcome + 1:
            at += 1
        state.pile[at] = state.pile[slot]
        state.pile[slot] = outcome + 1
        state.dealt += 1
    else:
        _take_character(state, outcome)
    _go_on_dealing(state)


@inlined
def _take_character(state: State, outcome: int) -> None:
    if outcome == state.num_characters:
        state.character[state.actor] = MURDERER
    else:
        state.character[state.actor] = outcome + 1
        for card in range(NUM_VILLAS):
            state.favourite[state.actor, card] = state.wants[outcome, card]
    state.actor += 1


@compiled
def _go_on_dealing(state: State) -> None:
    if state.phase == FACINGS and state.dealt == state.num_face_up:
        state.phase = PILE
        state.dealt = 0
    if state.phase == PILE and state.dealt == state.num_villas:
        state.dealt = 0
        _show_top(state)
        for _ in range(state.n_start):  # CLE-23
            _bring_villa(state)
        state.phase = CHARACTERS
        state.actor = 0
    if state.phase == CHARACTERS and (state.mode == ROOKIE or state.actor == state.num_players):
        state.phase = HANDS
        state.actor = 0


@compiled
def _bring_villa(state: State) -> None:
    """The next Villa card of the pile comes to the table as it lies; nothing from an empty pile (CLE-13)."""
    if state.pile_size == 0:
        return
    slot = state.num_villas - state.pile_size
    _show(state, slot)
    state.where[slot] = ON_TABLE
    state.num_face_down += not state.face_up[slot]
    _note_sides(state, slot)
    state.pile_size -= 1
    _show_top(state)


@inlined
def _show_top(state: State) -> None:
    """CLE-3"""
    if state.show_pile_top and state.pile_size > 0:
        slot = state.num_villas - state.pile_size
        _show(state, slot)
        state.where[slot] = ON_TOP


@inlined
def _show(state: State, slot: int) -> None:
    """Everybody sees the upper side of a Villa card."""
    state.face_up[slot] = state.lies_up[state.pile[slot] - 1]
    if state.face_up[slot]:
        _open(state, slot)


@inlined
def _open(state: State, slot: int) -> None:
    """Everybody knows a Villa card."""
    state.open_card[slot] = state.pile[slot]
    for seat in range(state.num_players):
        state.known_villa[seat, slot] = state.pile[slot]


# ---------------------------------------------------------------------------------------------------- turn


@compiled
def current_player(state: State) -> int:
    if state.phase == OVER:
        return TERMINAL
    return CHANCE if state.phase <= REFILL else int(state.actor)


@compiled
def chance_outcomes(state: State, weights: NDArray[np.int32]) -> None:
    weights[:] = 0
    if state.phase >= HANDS:
        for value in range(NUM_VALUES):
            weights[value] = state.draw[state.actor, value] - state.arriving[value]
    elif state.phase == FIRST:
        weights[: state.num_players] = 1
    elif state.phase == FACINGS:
        for card in range(state.num_objects):
            weights[card] = 1 - state.lies_up[card]
    elif state.phase == PILE:
        for slot in range(state.dealt, state.num_villas):
            weights[state.pile[slot] - 1] = 1
    else:
        _weigh_characters(state, weights)


@inlined
def _weigh_characters(state: State, weights: NDArray[np.int32]) -> None:
    """One of the crew each; in the Murderer's modes n + 1 of the crew and the Murderer are shuffled (CLE-25).

    Of the seats and the two cards set aside, n + 2 - i are without a card when seat i is dealt one.
    """
    n, dealt = state.num_players, state.actor
    murderer_left = state.mode >= MURDERER_MODE
    for seat in range(dealt):
        murderer_left = murderer_left and state.character[seat] != MURDERER
    weights[: state.num_characters] = n + 1 - dealt if murderer_left else 1
    if murderer_left:
        weights[state.num_characters] = state.num_characters - dealt
    for seat in range(dealt):
        if state.character[seat] != MURDERER:
            weights[state.character[seat] - 1] = 0


@compiled
def legal_actions(state: State, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    begun, first = state.choice[state.actor, 0] - 1, state.choice[state.actor, 1] - 1
    if state.phase == ACCUSE:  # CLE-28
        mask[NO_ACCUSATION : NO_ACCUSATION + state.num_players] = 1
    elif begun == NO_ACTION:
        _offer_turn(state, mask)
    elif _names_vice(begun, first):  # CLE-6, CLE-7, h.6: any face-down card on the table, whoever owns or knows it
        for slot in range(NUM_VILLAS):
            for j in range(2):
                mask[VICE + 2 * slot + j] = state.down_owner[slot, j] != NO_SEAT
        if begun == SWAP and first >= 0:  # CLE-8: between two Villa cards
            _forbid_vices(mask, first >> 1)
        elif begun == MOVE and state.spaces_down == 1:  # CLE-9: the only Villa card with room cannot be left
            for slot in range(NUM_VILLAS):
                if state.takes_down[slot]:
                    _forbid_vices(mask, slot)
    elif begun == PEEK_VILLA:  # CLE-6, h.6
        for slot in range(NUM_VILLAS):
            mask[VILLA + slot] = (state.where[slot] == ON_TABLE) & (state.face_up[slot] == 0)
    elif begun != MOVE and begun & 1:
        for slot in range(NUM_VILLAS):
            mask[VILLA + slot] = state.takes_up[slot]
    else:
        for slot in range(NUM_VILLAS):
            mask[VILLA + slot] = state.takes_down[slot]
        if begun == MOVE:  # CLE-9
            mask[VILLA + (first >> 1)] = 0


@inlined
def _forbid_vices(mask: NDArray[np.int8], slot: int) -> None:
    mask[VICE + 2 * slot] = 0
    mask[VICE + 2 * slot + 1] = 0


@inlined
def _offer_turn(state: State, mask: NDArray[np.int8]) -> None:
    """a.2, a.3: whatever may be begun can be completed."""
    player = state.actor
    may_down, may_up = state.spaces_down > 0, state.spaces_up > 0
    for value in range(NUM_VALUES):
        has = state.hand[player, value] > 0
        mask[PLACE + 2 * value] = has & may_down
        mask[PLACE + 2 * value + 1] = has & may_up
    if state.hand[player, FLY] > 0:
        mask[PEEK_VILLA] = state.num_face_down > 0
        mask[PEEK_VICE] = state.num_lying > 0
        mask[MOVE] = _count_movable(state) > 0
        mask[SWAP] = state.sources > 1
        has_target = state.num_face_down > 0 or state.num_lying > 0  # who may move or swap a card may look at it
        mask[NOTHING] = state.fly_noop == ALWAYS or (state.fly_noop == FALLBACK and not has_target)  # CLE-11, h.7


@inlined
def _names_vice(begun: int, first: int) -> bool:
    """Whether the next target of the turn is a Vice card; else it is a Villa card."""
    return bool(begun in (PEEK_VICE, SWAP) or (begun == MOVE and first < 0))


@inlined
def _may_name(state: State, begun: int, first: int, slot: int, j: int) -> bool:
    """Whether a target of the turn is legal: the Vice card (slot, j), or the Villa card with any j."""
    if _names_vice(begun, first):
        spared = state.takes_down[slot] and state.spaces_down == 1 if begun == MOVE else first >= 0 and first >> 1 == slot
        return bool(state.down_owner[slot, j] != NO_SEAT and not spared)
    if begun == PEEK_VILLA:
        return bool(state.where[slot] == ON_TABLE and not state.face_up[slot])
    if begun == MOVE:
        return bool(state.takes_down[slot] and first >> 1 != slot)
    return bool(state.takes_up[slot] if begun & 1 else state.takes_down[slot])


@inlined
def _count_movable(state: State) -> int:
    if state.spaces_down == 1:
        return int(state.num_lying - state.lying_at_space)
    return int(state.num_lying) if state.spaces_down > 1 else 0


@inlined
def _count_targets(state: State, begun: int, first: int) -> int:
    """How many targets the mask allows."""
    if begun < PEEK_VILLA:
        return int(state.spaces_up if begun & 1 else state.spaces_down)
    if begun == PEEK_VILLA:
        return int(state.num_face_down)
    if begun == MOVE:
        return _count_movable(state) if first < 0 else int(state.spaces_down - state.takes_down[first >> 1])
    return int(state.num_lying if first < 0 else state.num_lying - state.lying[first >> 1])


@compiled
def apply_action(state: State, action: int) -> None:
    if state.phase == TURN:
        _answer_turn(state, action)
    elif state.phase == ACCUSE:
        _answer_accusation(state, action)
    elif state.phase >= HANDS:
        _take_card(state, action)
    else:
        _set_up(state, action)


@inlined
def _answer_turn(state: State, action: int) -> None:
    """Note a choice until the turn is complete; a single target is named by itself. Nobody else sees any of it before."""
    player = state.actor
    while action != NO_ACTION:
        begun = state.choice[player, 0] - 1
        if begun == NO_ACTION and action != NOTHING:
            state.choice[player, 0] = action + 1
        elif action >= VICE and begun != PEEK_VICE and state.choice[player, 1] == 0:
            state.choice[player, 1] = action - VICE + 1
        else:
            _complete(state, action)
            return
        action = _only_target(state)


@compiled
def _only_target(state: State) -> int:
    """The next target of the turn, if only one is possible."""
    begun, first = state.choice[state.actor, 0] - 1, state.choice[state.actor, 1] - 1
    if _count_targets(state, begun, first) != 1:
        return NO_ACTION
    slot = j = 0
    while not _may_name(state, begun, first, slot, j):
        slot, j = slot + j, 1 - j
    return VICE + 2 * slot + j if _names_vice(begun, first) else VILLA + slot


@compiled
def _complete(state: State, target: int) -> None:
    """The turn becomes public (h.8)."""
    player = state.actor
    kind, first = state.choice[player, 0] - 1, state.choice[player, 1] - 1
    if target == NOTHING:
        kind = NOTHING
    state.choice[player] = 0
    state.skipped = 0
    state.last_turn[player] = 0
    state.last_turn[player, KIND] = 1 if kind < PEEK_VILLA else kind - PEEK_VILLA + 2
    value = kind >> 1 if kind < PEEK_VILLA else FLY
    state.hand[player, value] -= 1
    state.hand_sizes[player] -= 1
    if kind < PEEK_VILLA:
        _place(state, value, kind & 1, target - VILLA)
    else:
        state.discard[player, FLY] += 1  # CLE-21
        if kind == PEEK_VILLA:
            _peek_villa(state, target - VILLA)
        elif kind == PEEK_VICE:
            _peek_vice(state, target - VICE)
        elif kind == MOVE:
            _move(state, first, target - VILLA)
        elif kind == SWAP:
            _swap(state, min(first, target - VICE), max(first, target - VICE))
    _end_turn(state)


@inlined
def _place(state: State, value: int, is_up: int, slot: int) -> None:
    """a.2. The lowest free side of its facing."""
    player = state.actor
    if is_up:
        j = 0 if state.up_owner[slot, 0] == NO_SEAT else 1
        state.up_owner[slot, j] = player
        state.up_value[slot, j] = value + 1
        state.last_turn[player, VALUE] = value + 1
    else:
        j = 0 if state.down_owner[slot, 0] == NO_SEAT else 1
        state.down_owner[slot, j] = player
        state.known_vice[player, slot, j] = value + 1
        state.seen_vice[player, slot, j] = True
    state.last_turn[player, SLOT] = slot + 1
    state.last_turn[player, SIDE] = (UP if is_up else DOWN) + j
    _arrive(state, slot)


@inlined
def _peek_villa(state: State, slot: int) -> None:
    state.known_villa[state.actor, slot] = state.pile[slot]
    state.seen_villa[state.actor, slot] = True
    state.last_turn[state.actor, SLOT] = slot + 1


@inlined
def _peek_vice(state: State, card: int) -> None:
    slot, j = card >> 1, card & 1
    state.known_vice[state.actor, slot, j] = state.known_vice[state.down_owner[slot, j], slot, j]
    state.seen_vice[state.actor, slot, j] = True
    state.last_turn[state.actor, SLOT] = slot + 1
    state.last_turn[state.actor, SIDE] = j


@inlined
def _move(state: State, card: int, slot: int) -> None:
    """h.5: the other face-down card there keeps its side."""
    source, i = card >> 1, card & 1
    j = 0 if state.down_owner[slot, 0] == NO_SEAT else 1
    _exchange(state, source, i, slot, j)
    _note_sides(state, source)
    state.last_turn[state.actor, SLOT] = source + 1
    state.last_turn[state.actor, SIDE] = i
    state.last_turn[state.actor, OTHER_SLOT] = slot + 1
    state.last_turn[state.actor, OTHER_SIDE] = j
    _arrive(state, slot)  # CLE-10


@inlined
def _swap(state: State, one: int, other: int) -> None:
    """CLE-8, h.5"""
    _exchange(state, one >> 1, one & 1, other >> 1, other & 1)
    state.last_turn[state.actor, SLOT] = (one >> 1) + 1
    state.last_turn[state.actor, SIDE] = one & 1
    state.last_turn[state.actor, OTHER_SLOT] = (other >> 1) + 1
    state.last_turn[state.actor, OTHER_SIDE] = other & 1


@inlined
def _exchange(state: State, a: int, i: int, b: int, j: int) -> None:
    """What lies face down at two places, with all that is known about it."""
    owner, old = state.down_owner[a, i], state.old[a, i]
    state.down_owner[a, i], state.old[a, i] = state.down_owner[b, j], state.old[b, j]
    state.down_owner[b, j], state.old[b, j] = owner, old
    for seat in range(state.num_players):
        known, seen = state.known_vice[seat, a, i], state.seen_vice[seat, a, i]
        state.known_vice[seat, a, i], state.seen_vice[seat, a, i] = state.known_vice[seat, b, j], state.seen_vice[seat, b, j]
        state.known_vice[seat, b, j], state.seen_vice[seat, b, j] = known, seen


@inlined
def _note_sides(state: State, slot: int) -> int:
    """The number of Vice cards at a Villa card. Which facing may follow, and what the masks are made of.

    CLE-5: the facings alternate round the four sides, so that a facing may follow which is not ahead of the other.
    """
    ups = downs = 0
    for j in range(2):
        ups += state.up_owner[slot, j] != NO_SEAT
        downs += state.down_owner[slot, j] != NO_SEAT
    is_out = state.where[slot] == ON_TABLE
    takes_down, takes_up = int(is_out and downs <= ups), int(is_out and ups <= downs)
    before = int(state.lying[slot])
    state.spaces_down += takes_down - state.takes_down[slot]
    state.spaces_up += takes_up - state.takes_up[slot]
    state.num_lying += downs - before
    state.lying_at_space += takes_down * downs - state.takes_down[slot] * before
    state.sources += int(downs > 0) - int(before > 0)
    state.lying[slot] = downs
    state.takes_down[slot] = takes_down
    state.takes_up[slot] = takes_up
    return ups + downs


@inlined
def _arrive(state: State, slot: int) -> None:
    """a.4, a.5: a Vice card has come to a Villa card, played or moved (CLE-10, CLE-12)."""
    cards = _note_sides(state, slot)
    if cards == 3:
        _bring_villa(state)
    elif cards == 4:
        state.resolved_slot = slot + 1
        for side in range(4):
            state.resolved_owner[side] = _owner(state, slot, side)
            state.resolved_value[side] = _value(state, slot, side)
        state.resolved_winner = _resolve(state, slot)


@inlined
def _owner(state: State, slot: int, side: int) -> int:
    return int(state.up_owner[slot, side - UP] if side >= UP else state.down_owner[slot, side])


@inlined
def _value(state: State, slot: int, side: int) -> int:
    """Value + 1 of a Vice card, or NO_CARD."""
    if side >= UP:
        return int(state.up_value[slot, side - UP])
    owner = state.down_owner[slot, side]
    return int(state.known_vice[owner, slot, side]) if owner != NO_SEAT else NO_CARD


@inlined
def _strength(state: State, slot: int, seat: int) -> int:
    """The sum of a seat's Vice cards at a Villa card, or -1 where it cannot win (CLE-16)."""
    total = cards = 0
    for side in range(4):
        if _owner(state, slot, side) == seat:
            cards += 1
            total += _value(state, slot, side) - 1
    competes = cards > 0 if state.zero_presence_wins else total > 0
    return total if competes else -1


@compiled
def _resolve(state: State, slot: int) -> int:
    """a.5: the winner or NO_SEAT. All Vice cards go to their owners' discards.

    CLE-14, CLE-15, CLE-17: the highest sum that only one seat has; where there is none the Villa card stays.
    """
    best, winner = -1, NO_SEAT
    for seat in range(state.num_players):
        strength = _strength(state, slot, seat)
        tied = False
        for other in range(state.num_players):
            tied = tied or (other != seat and _strength(state, slot, other) == strength)
        if strength > best and not tied:
            best, winner = strength, seat
    for side in range(4):
        owner = _owner(state, slot, side)
        if owner != NO_SEAT:
            state.discard[owner, _value(state, slot, side) - 1] += 1
    for j in range(2):
        state.up_owner[slot, j] = NO_SEAT
        state.up_value[slot, j] = NO_CARD
        state.down_owner[slot, j] = NO_SEAT
        state.old[slot, j] = False
        for seat in range(state.num_players):
            state.known_vice[seat, slot, j] = NO_CARD
            state.seen_vice[seat, slot, j] = False
    if winner != NO_SEAT:
        state.where[slot] = WON  # h.10: with the facing that it lay with
        state.holder[slot] = winner
        state.won_counts[winner] += 1
        if not state.face_up[slot]:  # h.4
            state.num_face_down -= 1
            state.known_villa[winner, slot] = state.pile[slot]
            state.seen_villa[winner, slot] = True
    _note_sides(state, slot)
    return winner


# ---------------------------------------------------------------------------------------------------- end


@compiled
def _end_turn(state: State) -> None:
    """h.1, CLE-31"""
    state.turns += 1
    won = most = 0
    for seat in range(state.num_players):
        won += state.won_counts[seat]
        most = max(most, state.won_counts[seat])
    if state.mode >= MURDERER_MODE and instant_winner(state) != NO_SEAT:
        state.end = INSTANT
        _close(state)
    elif most >= state.villas_to_win:
        _finish(state, ENOUGH)
    elif won == state.num_villas:  # CLE-32: the table is empty with the pile only, since a third card has brought the next
        _finish(state, EMPTY)
    else:
        state.phase = REFILL
        _refill(state)


@inlined
def _needs_card(state: State) -> bool:
    """a.6: whether the actor draws a card; an empty draw pile is made of his discards first (CLE-19, CLE-22)."""
    player = state.actor
    if state.hand_sizes[player] >= state.hand_size:
        return False
    if state.draw_sizes[player] == 0:
        _reshuffle(state, player)
    return bool(state.draw_sizes[player] > 0)


@compiled
def _reshuffle(state: State, player: int) -> None:
    cards = 0
    for value in range(NUM_VALUES):
        cards += state.discard[player, value]
    if cards == 0:
        return
    _receive(state, player)  # the last cards of the old pile, as he knows
    for value in range(NUM_VALUES):
        state.draw[player, value] = state.discard[player, value]
        state.reshuffled[player, value] = state.discard[player, value]
        state.discard[player, value] = 0
    state.draw_sizes[player] = cards
    state.reshuffles[player] += 1
    for slot in range(NUM_VILLAS):
        for j in range(2):
            state.old[slot, j] = state.old[slot, j] or state.down_owner[slot, j] == player


@inlined
def _receive(state: State, player: int) -> None:
    """All that has been drawn joins the hand at once."""
    for value in range(NUM_VALUES):
        state.hand[player, value] += state.arriving[value]
        state.draw[player, value] -= state.arriving[value]
        state.arriving[value] = 0


@inlined
def _take_card(state: State, value: int) -> None:
    state.draw_sizes[state.actor] -= 1
    state.hand_sizes[state.actor] += 1
    state.arriving[value] += 1
    _refill(state)


@compiled
def _refill(state: State) -> None:
    """Chance draws on, or the hand is full and the game goes on."""
    player = state.actor
    if _needs_card(state):
        return
    _receive(state, player)
    if state.phase == HANDS:
        state.actor += 1
        if state.actor == state.num_players:
            _begin_turn(state, state.starter)
    elif state.phase == START:
        state.phase = TURN
    elif state.turns >= state.max_turns:
        state.truncated = not state.cap_terminates  # h.3
        _finish(state, CAP)
    else:
        _begin_turn(state, seat_of(state, player + 1))


@compiled
def _begin_turn(state: State, seat: int) -> None:
    """The first seat that has a card is asked (CLE-19); if there is none the game ends (CLE-20, h.2)."""
    for _ in range(state.num_players):
        state.actor = seat
        state.phase = START
        if _needs_card(state):
            return
        if state.hand_sizes[seat] > 0:
            state.phase = TURN
            return
        state.skipped += 1
        seat = seat_of(state, seat + 1)
    _finish(state, STUCK)


@inlined
def _murderer(state: State) -> int:
    """The Murderer's seat."""
    for seat in range(state.num_players):
        if state.character[seat] == MURDERER:
            return seat
    return NO_SEAT


@compiled
def instant_winner(state: State) -> int:
    """a.7: the Murderer, once he holds all the cards that he is after."""
    murderer = _murderer(state)
    needed = held = 0
    for slot in range(state.num_villas):
        counts = state.instant_win[state.pile[slot] - 1]
        needed += counts
        held += counts and state.holder[slot] == murderer
    return murderer if 0 < needed == held else NO_SEAT


@compiled
def _finish(state: State, end: int) -> None:
    """a.7: what lies on the table is decided, in the order of the slots (CLE-17, CLE-18, h.4); then the accusation."""
    state.end = end
    for slot in range(state.num_villas):
        cards = 0
        for side in range(4):
            state.final_owner[slot, side] = _owner(state, slot, side)
            state.final_value[slot, side] = _value(state, slot, side)
            cards += state.final_owner[slot, side] != NO_SEAT
        if cards > 0:
            _resolve(state, slot)
    if state.mode == DETECTIVE and instant_winner(state) == NO_SEAT:
        _begin_accusation(state)
    else:
        _close(state)


@inlined
def _keyhole_holder(state: State) -> int:
    for slot in range(state.num_villas):
        if state.pile[slot] == state.special[KEYHOLE]:
            return int(state.holder[slot])
    return NO_SEAT


@inlined
def _begin_accusation(state: State) -> None:
    """a.8. CLE-27: not if the Murderer has the Keyhole, and nobody is told why."""
    holder = _keyhole_holder(state)
    if holder == NO_SEAT or state.character[holder] == MURDERER:
        _close(state)
        return
    state.accuser = holder
    state.actor = holder
    state.phase = ACCUSE
    if state.accusation_open:  # CLE-29
        _open_won(state)


@inlined
def _open_won(state: State) -> None:
    for slot in range(state.num_villas):
        if state.where[slot] == WON:
            _open(state, slot)


@inlined
def _answer_accusation(state: State, action: int) -> None:
    """a.8"""
    if action != NO_ACCUSATION:
        state.accused = seat_of(state, state.accuser + action - NO_ACCUSATION)
        guilty = state.character[state.accused] == MURDERER
        giver = state.accused if guilty else state.accuser
        highest = 0
        for slot in range(state.num_villas):  # h.11
            card = state.pile[slot]
            if state.holder[slot] == giver and highest < card <= state.num_objects:
                highest = card
                state.moved = slot + 1
        if highest > 0:
            receiver = state.accuser if guilty else state.accused
            state.holder[state.moved - 1] = receiver
            state.won_counts[giver] -= 1
            state.won_counts[receiver] += 1
    _close(state)


@inlined
def _close(state: State) -> None:
    """h.10: characters and won cards are turned up."""
    state.phase = OVER
    state.actor = NO_SEAT
    _open_won(state)
    for seat in range(state.num_players):
        state.shown_character[seat] = state.character[seat]


@compiled
def is_truncated(state: State) -> bool:
    return bool(state.truncated)


@compiled
def score(state: State, player: int) -> int:
    """a.9, after the accusation (CLE-30). The others' loss is the Murderer's gain; he has no favourites (CLE-24)."""
    points = favourites = 0
    for slot in range(state.num_villas):
        if state.holder[slot] == player:
            card = state.pile[slot]
            value = int(state.villa_value[card - 1])
            favourites += state.favourite[player, card - 1]
            if state.character[player] == MURDERER and card > state.num_objects and card != state.special[KEYHOLE]:
                value = -value  # h.11
            points += value
    if state.character[player] != 0 and state.character[player] != MURDERER:
        points += int(state.bonus[favourites])
    return points


@compiled
def returns(state: State, payoffs: NDArray[np.float32]) -> None:
    n = int(state.num_players)
    alone = instant_winner(state) if state.mode >= MURDERER_MODE else NO_SEAT
    for seat in range(n):
        payoffs[seat] = score(state, seat)
        if alone != NO_SEAT:
            payoffs[seat] = 1.0 if seat == alone else -1.0 / (n - 1)
    if alone != NO_SEAT:
        return
    if state.score_reward:
        reward_scores(payoffs, SCORE_SCALE)  # h.13
    else:
        reward_winners(payoffs)


# ---------------------------------------------------------------------------------------------------- eyes

_SEATS = (MAX_PLAYERS,)
_SLOTS = (NUM_VILLAS,)
_PAIRS = (NUM_VILLAS, 2)
_COUNT = "as (x % 128, x // 128)"
_PLACE = "1 the observer, 2 the next seat, ..., 0 nobody"

OBSERVATION = Layout(
    ("hand", (NUM_VALUES,), 0, MAX_FLIES, 3, "own hand: cards of each value"),
    ("draw", (NUM_VALUES,), 0, MAX_FLIES, 3, "own draw pile: cards of each value"),
    ("favourite", _SLOTS, 0, 1, 1, "the objects that the own character is after, by card"),
    ("known_villa", _SLOTS, 0, NUM_VILLAS, NUM_VILLAS, "the card of each slot if the observer knows it, else 0"),
    (
        "known_vice",
        _PAIRS,
        0,
        NUM_VALUES,
        NUM_VALUES,
        "value + 1 of each face-down Vice card that the observer knows, else 0",
    ),
    ("up_value", _PAIRS, 0, NUM_VALUES, NUM_VALUES, "value + 1 of each open Vice card"),
    ("old", _PAIRS, 0, 1, 1, "face-down Vice cards laid before their owner's last reshuffle"),
    ("where", _SLOTS, 0, WON, WON, "each slot: 0 in the pile, 1 on top of it in sight, 2 on the table, 3 won"),
    ("face_up", _SLOTS, 0, 1, 1, "which of them lie or lay face up"),
    ("villa_value", _SLOTS, -MAX_VALUE, MAX_VALUE, 15, "points of each card in the game, by card"),
    ("special", (len(SPECIALS),), 0, NUM_VILLAS, NUM_VILLAS, "which cards are Weapon, Dog, Body and Keyhole, 0 for none"),
    ("deck", (NUM_VALUES,), 0, MAX_FLIES, 3, "Vice cards of each value that everybody has"),
    ("seated", _SEATS, 0, 1, 1, "seats in the game; all features by seat start with the observer and go clockwise"),
    ("resolved_slot", (), 0, NUM_VILLAS, NUM_VILLAS, "last fourth card: slot + 1"),
    ("resolved_value", (4,), 0, NUM_VALUES, NUM_VALUES, "last fourth card: value + 1 of the cards on the four sides"),
    ("moved", (), 0, NUM_VILLAS, NUM_VILLAS, "slot + 1 of the object that the accusation moved"),
    ("pile_size", (), 0, NUM_VILLAS, NUM_VILLAS, "Villa cards in the pile"),
    ("hand_size", (), 1, NUM_VALUES + MAX_FLIES, 3, "cards in a full hand"),
    ("villas_to_win", (), 1, NUM_VILLAS, 4, "Villa cards that end the game"),
    ("mode", (), 0, DETECTIVE, DETECTIVE, "mode: " + ", ".join(MODES)),
    ("phase", (), 0, OVER, OVER, "phase: " + ", ".join(PHASES)),
    ("end", (), 0, CAP, CAP, "what stopped the game: 0 nothing, " + ", ".join(ENDS[1:])),
    ("turns", (2,), 0, 127, 50, f"completed turns, {_COUNT}"),
    ("max_turns", (2,), 0, 127, 127, f"the cap, {_COUNT}"),
    ("down_owner", _PAIRS, 0, MAX_PLAYERS, MAX_PLAYERS, f"whose Vice card lies face down there: {_PLACE}"),
    ("up_owner", _PAIRS, 0, MAX_PLAYERS, MAX_PLAYERS, f"whose Vice card lies open there: {_PLACE}"),
    ("holder", _SLOTS, 0, MAX_PLAYERS, MAX_PLAYERS, f"who has the Villa card of each slot in front of him: {_PLACE}"),
    ("resolved_owner", (4,), 0, MAX_PLAYERS, MAX_PLAYERS, f"last fourth card: whose cards lay on the four sides: {_PLACE}"),
    ("actor", (), 0, MAX_PLAYERS, MAX_PLAYERS, f"whose turn it is: {_PLACE}"),
    ("starter", (), 0, MAX_PLAYERS, MAX_PLAYERS, f"who began: {_PLACE}"),
    ("resolved_winner", (), 0, MAX_PLAYERS, MAX_PLAYERS, f"last fourth card: who won: {_PLACE}"),
    ("accuser", (), 0, MAX_PLAYERS, MAX_PLAYERS, f"who has the Keyhole and may accuse: {_PLACE}"),
    ("accused", (), 0, MAX_PLAYERS, MAX_PLAYERS, f"whom he accused: {_PLACE}"),
    ("seen_villa", (MAX_PLAYERS, NUM_VILLAS), 0, 1, 1, "who has looked at each face-down Villa card"),
    ("seen_vice", (MAX_PLAYERS, *_PAIRS), 0, 1, 1, "who has looked at each face-down Vice card"),
    ("discard", (MAX_PLAYERS, NUM_VALUES), 0, MAX_FLIES, 3, "discards by seat and value"),
    ("reshuffled", (MAX_PLAYERS, NUM_VALUES), 0, MAX_FLIES, 3, "what each seat's draw pile was made of, by value"),
    (
        "last_turn",
        (MAX_PLAYERS, 6),
        0,
        NUM_VILLAS,
        10,
        "each seat's last turn: kind, slot + 1 and side (0 and 1 face down, 2 and 3 open), the same of a second card or of "
        "where a card was moved to, value + 1 of an open card; kinds: " + ", ".join(TURN_KINDS[1:]),
    ),
    ("reshuffles", (MAX_PLAYERS, 2), 0, 127, 10, f"reshuffles by seat, {_COUNT}"),
    ("hand_sizes", _SEATS, 0, NUM_VALUES + MAX_FLIES, 3, "cards in hand by seat"),
    ("draw_sizes", _SEATS, 0, NUM_VALUES + MAX_FLIES, 10, "cards in the draw pile by seat"),
    ("won_counts", _SEATS, 0, NUM_VILLAS, 4, "Villa cards in front of each seat"),
    ("shown_character", _SEATS, 0, MURDERER, MURDERER, "at the end: characters by seat"),
    ("character", (MURDERER + 1,), 0, 1, 1, "own character, one-hot: none, the crew, at the end the Murderer"),
    ("choice", (VILLA + 1,), 0, 1, 1, "what the observer has begun in this turn, one-hot: nothing, or the action + 1"),
    ("source", (2 * NUM_VILLAS + 1,), 0, 1, 1, "the Vice card that he has named first, one-hot: none, or 2 slot + j + 1"),
    ("final_owner", (NUM_VILLAS, 4), 0, MAX_PLAYERS, MAX_PLAYERS, "resolutions at the end: whose cards lay at each slot"),
    ("final_value", (NUM_VILLAS, 4), 0, NUM_VALUES, NUM_VALUES, "resolutions at the end: value + 1 of these cards"),
)


@compiled
def observe(state: State, player: int, seen: Record) -> None:
    wide.own(state, player, seen, "hand draw favourite known_villa known_vice")
    wide.copy(state, seen, "up_value old where face_up villa_value special deck seated resolved_slot resolved_value moved "
              "pile_size hand_size villas_to_win mode phase end turns max_turns")  # fmt: skip
    wide.place(
        state, player, seen, "down_owner up_owner holder resolved_owner actor starter resolved_winner accuser accused"
    )
    wide.turn(state, player, seen, "seen_villa seen_vice discard reshuffled last_turn")
    wide.turn(state, player, seen, "reshuffles hand_sizes draw_sizes won_counts shown_character")
    wide.blank(seen, "character choice source final_owner final_value")
    seen.character[state.character[player]] = 1
    seen.choice[state.choice[player, 0]] = 1
    seen.source[state.choice[player, 1]] = 1
    if state.end != GOES_ON:
        wide.place(state, player, seen, "final_owner")
        wide.copy(state, seen, "final_value")


@compiled
def determinize(state: State, player: int, stream: Record) -> None:
    """Deal anew, from the cards that the player has not seen: others' Vice cards, Villa cards and characters.

    A turn that somebody else has begun is taken back. All arrangements that fit are alike likely; of the Vice cards, those
    that fit what each draw pile was made of. Two things are approximated, neither of which comes up in the presets tiny and
    micro: whether a card laid face down since its owner's last reshuffle came from his hand of that time or was drawn later
    is alike likely whatever the order of his turns; and what earlier reshuffles told is forgotten.
    """
    if state.phase == TURN and state.actor != player:
        state.choice[state.actor] = 0
    for seat in range(state.num_players):
        _redraw_vices(state, player, seat, stream)
    _sort_unseen_villas(state, player)
    fits = False
    while not fits:
        _redraw_villas(state, player, stream)
        if state.phase != OVER:
            _redraw_characters(state, player, stream)
        fits = state.phase == OVER or _fits(state)
    for seat in range(state.num_players):
        for slot in range(state.num_villas):
            if state.seen_villa[seat, slot]:
                state.known_villa[seat, slot] = state.pile[slot]


@inlined
def _fits(state: State) -> bool:
    """Whether the game would have come this far: no Murderer has won, and who is asked to accuse may do so (CLE-27)."""
    if state.mode < MURDERER_MODE:
        return True
    if state.phase == ACCUSE and (state.character[state.accuser] == MURDERER or _keyhole_holder(state) != state.accuser):
        return False
    return instant_winner(state) == NO_SEAT


@compiled
def _pick(stream: Record, cards: NDArray[np.int8]) -> int:
    """Take one of the cards counted by value, all alike likely."""
    total = 0
    for number in cards:
        total += number
    skip = chance.below(stream, total)
    value = 0
    while skip >= cards[value]:
        skip -= cards[value]
        value += 1
    cards[value] -= 1
    return value


@compiled
def _redraw_vices(state: State, player: int, seat: int, stream: Record) -> None:
    """The hand, the draw pile and the unseen face-down cards of a seat; of the own ones only what is arriving."""
    if seat != player:
        _redraw_hand(state, player, seat, stream)
    if seat == state.actor:
        drawn = 0
        for value in range(NUM_VALUES):
            drawn += state.arriving[value]
            state.arriving[value] = 0
        for _ in range(drawn):
            state.arriving[_pick(stream, state.draw[seat])] += 1
        for value in range(NUM_VALUES):
            state.draw[seat, value] += state.arriving[value]


@compiled
def _redraw_hand(state: State, player: int, seat: int, stream: Record) -> None:
    """h.9: the draw pile is of cards that went into the last reshuffle; cards laid before it are of the others."""
    hand, draw = state.hand[seat], state.draw[seat]
    drawable = laid_before = 0
    old_flies = int(state.deck[FLY] - state.reshuffled[seat, FLY])  # not in the reshuffle
    for value in range(NUM_VALUES):  # all that is unseen
        drawable += draw[value]
        hand[value] += draw[value]
        draw[value] = 0
    for slot in range(NUM_VILLAS):
        for j in range(2):
            if state.down_owner[slot, j] == seat:
                value = state.known_vice[seat, slot, j] - 1
                if not state.seen_vice[player, slot, j]:
                    hand[value] += 1
                    laid_before += state.old[slot, j]
                elif value == FLY:
                    old_flies -= state.old[slot, j]
    reshuffled = others = 0
    for value in range(1, NUM_VALUES):  # every value but the Fly is there once: it went into the reshuffle or not
        if state.reshuffled[seat, value] > 0:
            reshuffled += hand[value]
            draw[value] = hand[value]
            hand[value] = 0
        else:
            others += hand[value]
    flies = int(hand[FLY])
    least = max(0, flies - old_flies, drawable - reshuffled)
    most = min(flies, int(state.reshuffled[seat, FLY]), flies - laid_before + others)
    draw[FLY] = least + chance.below(stream, most - least + 1)
    hand[FLY] -= draw[FLY]
    _lay_unseen(state, player, seat, True, stream)
    for _ in range(reshuffled + int(draw[FLY]) - drawable):
        hand[_pick(stream, draw)] += 1
    _lay_unseen(state, player, seat, False, stream)


@inlined
def _lay_unseen(state: State, player: int, seat: int, old: bool, stream: Record) -> None:
    """The unseen face-down cards of a seat that were laid before its last reshuffle, or after it."""
    for slot in range(NUM_VILLAS):
        for j in range(2):
            is_unseen = state.down_owner[slot, j] == seat and not state.seen_vice[player, slot, j]
            if is_unseen and (state.old[slot, j] != 0) == old:
                value = _pick(stream, state.hand[seat])
                for other in range(state.num_players):
                    if state.seen_vice[other, slot, j]:
                        state.known_vice[other, slot, j] = value + 1


@inlined
def _sort_unseen_villas(state: State, player: int) -> None:
    """Put them in the order of their numbers, so that what is drawn does not hang on how they lay, which nobody knows."""
    for slot in range(state.num_villas):
        for other in range(slot + 1, state.num_villas):
            unseen = state.known_villa[player, slot] == NO_CARD and state.known_villa[player, other] == NO_CARD
            if unseen and state.pile[other] < state.pile[slot]:
                _exchange_villas(state, slot, other)


@compiled
def _redraw_villas(state: State, player: int, stream: Record) -> None:
    """Which unseen objects lie face up; the face-down cards out of the pile or on top of it; the rest of the pile."""
    objects = ups = out = 0
    for slot in range(state.num_villas):
        out += state.where[slot] != IN_PILE
        if state.known_villa[player, slot] == NO_CARD and state.pile[slot] <= state.num_objects:
            objects += 1
            ups += state.lies_up[state.pile[slot] - 1]
    for slot in range(state.num_villas):
        if state.known_villa[player, slot] == NO_CARD and state.pile[slot] <= state.num_objects:
            is_up = chance.below(stream, objects) < ups
            state.lies_up[state.pile[slot] - 1] = is_up
            objects -= 1
            ups -= is_up
    for slot in range(out):
        if state.known_villa[player, slot] == NO_CARD:
            fitting = 0
            for other in range(slot, state.num_villas):
                fitting += _may_lie_down(state, player, other)
            skip = chance.below(stream, fitting)
            other = slot
            while skip > 0 or not _may_lie_down(state, player, other):
                skip -= _may_lie_down(state, player, other)
                other += 1
            _exchange_villas(state, slot, other)
    last = int(state.num_villas)
    if state.phase <= PILE:  # as far as it is dealt
        last = int(state.dealt) if state.phase == PILE else 0
        for slot in range(state.num_villas):
            state.pile[slot] = slot + 1
    for slot in range(out, last):
        _exchange_villas(state, slot, slot + chance.below(stream, state.num_villas - slot))


@inlined
def _may_lie_down(state: State, player: int, slot: int) -> bool:
    return bool(state.known_villa[player, slot] == NO_CARD and not state.lies_up[state.pile[slot] - 1])


@inlined
def _exchange_villas(state: State, a: int, b: int) -> None:
    state.pile[a], state.pile[b] = state.pile[b], state.pile[a]


@compiled
def _redraw_characters(state: State, player: int, stream: Record) -> None:
    """CLE-25: the Murderer is under any of the cards that are dealt or set aside, but the player's own."""
    n = int(state.num_players)
    dealt = 0 if state.phase < CHARACTERS or state.mode == ROOKIE else n
    if state.phase == CHARACTERS and state.mode != ROOKIE:
        dealt = int(state.actor)
    is_own = player < dealt
    murderer = NO_SEAT
    if state.mode >= MURDERER_MODE and not (is_own and state.character[player] == MURDERER):
        murderer = chance.below(stream, n + 1 if is_own else n + 2)
        murderer += is_own and murderer >= player  # n and n + 1 are set aside
    for seat in range(dealt):
        if seat != player:
            state.character[seat] = 0
    for seat in range(dealt):
        if seat == player:
            continue
        character = MURDERER
        if seat != murderer:
            character = 1 + chance.below(stream, state.num_characters)
            while _is_taken(state, character):
                character = 1 + chance.below(stream, state.num_characters)
        state.character[seat] = character
        for card in range(NUM_VILLAS):
            state.favourite[seat, card] = character != MURDERER and state.wants[character - 1, card]


@inlined
def _is_taken(state: State, character: int) -> bool:
    for seat in range(state.num_players):
        if state.character[seat] == character:
            return True
    return False


# ---------------------------------------------------------------------------------------------------- words

ACTION_NAMES = (
    *(f"PLACE {value} {facing}" for value in range(NUM_VALUES) for facing in ("DOWN", "UP")),
    "PEEK VILLA", "PEEK VICE", "MOVE", "SWAP", "NOTHING",
    *(f"VILLA {slot}" for slot in range(NUM_VILLAS)),
    *(f"VICE {slot} {j}" for slot in range(NUM_VILLAS) for j in range(2)),
    "NO ACCUSATION", *(f"ACCUSE +{k}" for k in range(1, MAX_PLAYERS)),
)  # fmt: skip

FRENCH = {
    "Cleaners": "Nettoyeurs", "rookie": "Bleusaille", "base": "base", "murderer": "Le Meurtrier rôde",
    "detective": "Meurtrier Versus Detective", "Murderer": "Meurtrier", "crew": "brigade", "object": "Objet",
    "objects": "Objets", "Weapon": "Arme du Crime", "Dog": "Chien", "Body": "Bourgeoise", "Keyhole": "Trou de Serrure",
    "Fly": "Mouche", "Villa": "Villa", "Vice": "Vice", "Villa card": "carte Villa", "Vice card": "carte Vice",
    "slot": "case", "pile": "pioche", "draw pile": "pioche", "discard": "défausse", "hand": "main",
    "turns": "tours", "score": "score",
    "PLACE": "POSER", "DOWN": "CACHÉE", "UP": "VISIBLE", "PEEK": "CONSULTER", "VILLA": "VILLA", "VICE": "VICE",
    "MOVE": "DÉPLACER", "SWAP": "INTERVERTIR", "NOTHING": "RIEN", "NO ACCUSATION": "PAS D'ACCUSATION", "ACCUSE": "ACCUSER",
    "FIRST": "PREMIER JOUEUR", "FACINGS": "FACES", "PILE": "PIOCHE", "CHARACTERS": "PERSONNAGES", "HANDS": "MAINS",
    "START": "DÉBUT", "REFILL": "COMPLÉTER LA MAIN", "TURN": "TOUR", "OVER": "FIN",
}  # fmt: skip
"""The game's own words in French, in the terms of the source text."""
FRENCH_MARKS = {"won": "remportée", "seen by": "vue par", "top of pile": "dessus de la pioche"}
"""What pictures say beside them."""


_NUMBERS = {
    name: option.allowed
    for name, option in OPTIONS.items()
    if isinstance(option.allowed, range) and name in (STATE.names or ())
}
_FLAGS = (
    "seated", "instant_win", "wants", "accusation_open", "zero_presence_wins", "show_pile_top", "cap_terminates",
    "score_reward", "truncated", "face_up", "takes_down", "takes_up", "seen_villa", "seen_vice", "old", "favourite",
    "lies_up",
)  # fmt: skip
_SEAT_FIELDS = (
    "actor", "starter", "holder", "down_owner", "up_owner", "resolved_owner", "resolved_winner", "final_owner", "accuser",
    "accused",
)  # fmt: skip
_BY_SEAT = [name for name in STATE.names or () if STATE[name].shape[:1] == (MAX_PLAYERS,) and name != "seated"]


def _law(holds: Any, what: str, found: Any = "") -> None:
    if not holds:
        raise ValueError(f"not a state of {NAME}: {what} {found}".strip())


def _plain(state: State) -> Any:
    """A state with its fields as ints and arrays: a record gives them one by one too slowly."""
    return SimpleNamespace(**dict(zip(STATE.names or (), state.item(), strict=True)))


def check(state: State) -> None:
    """The conservation laws of section f, and every field in its bounds.

    Raises:
        ValueError: the first law that the state breaks.
    """
    s = _plain(state)
    fields = vars(s)
    _law(MIN_PLAYERS <= s.num_players <= MAX_PLAYERS, "number of players", s.num_players)
    _law(s.seated.tolist() == [k < s.num_players for k in range(MAX_PLAYERS)], "seated", s.seated)
    for name in _FLAGS:
        _law(not np.any(fields[name] >> 1), name, fields[name])
    for name in _SEAT_FIELDS:
        _law(np.min(fields[name]) >= NO_SEAT and np.max(fields[name]) < s.num_players, name, fields[name])
    for name in _BY_SEAT:
        _law(not fields[name][s.num_players :].any(), f"{name} of an empty seat")
    _check_options(s, fields)
    _check_progress(s)
    _check_villas(s)
    _check_vices(s)
    _check_characters(s)
    _check_events(s)
    _law(s.phase == OVER or s.mode < MURDERER_MODE or instant_winner(state) == NO_SEAT, "the Murderer has won")
    if s.phase == TURN:
        _check_turn(state)
    else:
        _law(not s.choice.any(), "choices", s.choice)


def _check_options(s: Any, fields: dict[str, Any]) -> None:
    cards, objects, mode = int(s.num_villas), int(s.num_objects), int(s.mode)
    for name, allowed in _NUMBERS.items():
        _law(int(fields[name]) in allowed, name, fields[name])
    _law(ROOKIE <= mode <= DETECTIVE, "mode", mode)
    _law(RANDOM <= s.first_player < s.num_players, "first player", s.first_player)
    _law(FALLBACK <= s.fly_noop <= NEVER, "fly_noop", s.fly_noop)
    _law(1 <= cards <= NUM_VILLAS and 0 <= objects <= cards, f"{cards} Villa cards, {objects} objects")
    _law(s.n_start <= cards and s.num_face_up <= objects, f"{cards} Villa cards, {objects} objects")
    special = [int(card) for card in s.special if card]
    in_play = (2, 2, 3, 4)[mode]
    _law(special == list(range(objects + 1, cards + 1)) and not s.special[in_play:].any(), "special cards", s.special)
    values = s.villa_value.tolist()
    _law(all(1 <= v <= MAX_VALUE for v in values[:objects]) and values[:objects] == sorted({*values[:objects]}), "objects")
    _law(all(abs(v) <= MAX_VALUE for v in values) and not any(values[cards:]), "values", values)
    _law(not s.instant_win[cards:].any() and (mode >= MURDERER_MODE or not s.instant_win.any()), "instant win")
    _law(0 <= s.deck[FLY] <= MAX_FLIES and set(s.deck[1:].tolist()) <= {0, 1}, "deck", s.deck)
    _law(s.hand_size <= s.deck.sum(), f"{s.hand_size} cards from a deck of {s.deck.sum()}")
    least = s.num_players + (mode >= MURDERER_MODE) if mode > ROOKIE else 0
    _law(least <= s.num_characters <= (MAX_CREW if least else 0), f"{s.num_characters} characters")
    _law(not s.wants[s.num_characters :].any() and not s.wants[:, objects:].any(), "favourites that are no objects")
    _law((abs(s.bonus.astype(int)) <= 1000).all(), "bonus", s.bonus)


def _check_progress(s: Any) -> None:
    phase, n = int(s.phase), int(s.num_players)
    _law(FIRST <= phase <= OVER and (phase > FIRST or s.first_player == RANDOM), "phase", phase)
    _law((phase in (FIRST, FACINGS, PILE, OVER)) == (s.actor == NO_SEAT), f"phase {PHASES[phase]}, actor {s.actor}")
    begins = s.starter if s.first_player == RANDOM and phase > FIRST else s.first_player
    _law(s.starter == begins and (phase == FIRST or s.starter >= 0), "starter", s.starter)
    _law(phase != CHARACTERS or s.mode > ROOKIE, "characters of rookies")
    to_deal = {FACINGS: s.num_face_up, PILE: s.num_villas}.get(phase, 1)
    _law(0 <= s.dealt < to_deal, f"{s.dealt} dealt")
    _law(0 <= s.skipped < n + (phase == OVER), f"{s.skipped} seats skipped")
    ends = range(INSTANT, CAP + 1) if phase == OVER else range(ENOUGH, CAP + 1) if phase == ACCUSE else (GOES_ON,)
    _law(s.end in ends, f"{PHASES[phase]}, ended by {s.end}")
    _law(phase != ACCUSE or s.mode == DETECTIVE, "an accusation without detectives")
    _law(s.truncated == (s.end == CAP and not s.cap_terminates), "truncated", s.truncated)
    _law(s.end != INSTANT or s.mode >= MURDERER_MODE, "an instant win without a Murderer")
    played = s.max_turns + (phase in (REFILL, ACCUSE, OVER))
    _law(0 <= s.turns < played and (phase >= START or s.turns == 0), f"{s.turns} turns of {s.max_turns}")


def _check_villas(s: Any) -> None:
    cards, pile, phase, n = int(s.num_villas), s.pile, int(s.phase), int(s.num_players)
    in_deck = np.arange(NUM_VILLAS) < cards
    _law(sorted(pile[:cards]) == list(range(1, cards + 1)) and not pile[cards:].any(), "the Villa cards are", pile)
    ups = s.dealt if phase == FACINGS else s.num_face_up if phase > FACINGS else 0
    _law(s.lies_up.sum() == ups and not s.lies_up[s.num_objects :].any(), "face up lie", s.lies_up)
    out = cards - int(s.pile_size)
    _law(0 <= out <= cards and (out == 0 if phase <= PILE else out >= s.n_start), f"{s.pile_size} cards in the pile")
    is_top = bool(s.show_pile_top and s.pile_size > 0 and phase > PILE)
    _law((s.where[:out] >= ON_TABLE).all() and (s.where[:out] <= WON).all(), "where", s.where)
    _law(s.where[out:].tolist() == ([ON_TOP] * is_top + [IN_PILE] * (NUM_VILLAS - out - is_top)), "where", s.where)
    won, shown = s.where == WON, s.where != IN_PILE
    up = np.where(shown, np.append(s.lies_up, 0)[pile - 1], 0)
    _law((s.face_up == up).all(), "face up", s.face_up)
    opened = won if phase == OVER or (phase == ACCUSE and s.accusation_open) else up > 0
    _law((s.open_card == np.where(opened | (up > 0), pile, NO_CARD)).all(), "open cards", s.open_card)
    _law(((s.holder >= 0) == won).all(), "holders", s.holder)
    counts = [(s.holder == seat).sum() for seat in range(MAX_PLAYERS)]
    _law(counts == s.won_counts.tolist(), "won", s.won_counts)
    playing = s.end == GOES_ON
    _law(not playing or max(counts) < s.villas_to_win, "won", s.won_counts)
    _law(not playing or sum(counts) < cards, "no Villa card is left")
    _law(not (s.seen_villa.any(axis=0) & ~((s.where >= ON_TABLE) & (up == 0))).any(), "looked at an open card")
    for slot in np.flatnonzero(won & (up == 0)):
        seats = [s.accuser, s.accused] if slot + 1 == s.moved else [s.holder[slot]]
        _law(any(s.seen_villa[seat, slot] for seat in seats), f"the winner of slot {slot} has not looked at it")
    known = np.where((s.seen_villa > 0) | (s.open_card > 0), pile, NO_CARD)
    known[n:] = NO_CARD
    _law((s.known_villa == known).all(), "known Villa cards", s.known_villa)
    on_table = s.where == ON_TABLE
    lying, ups_at = (s.down_owner >= 0).sum(1), (s.up_owner >= 0).sum(1)
    takes = [on_table & (lying <= ups_at), on_table & (ups_at <= lying)]
    _law((s.lying == lying).all(), "lying", s.lying)
    _law((s.takes_down == takes[0]).all() and (s.takes_up == takes[1]).all(), "which facings may follow")
    _law(all(in_deck[slot] and on_table[slot] for slot in np.flatnonzero(lying + ups_at)), "Vice cards off the table")
    _law(((lying + ups_at < 4) & (lying - ups_at <= 1)).all(), "face-down Vice cards", lying)
    totals = [
        takes[0].sum(),
        takes[1].sum(),
        (on_table & (up == 0)).sum(),
        lying.sum(),
        lying[takes[0]].sum(),
        (lying > 0).sum(),
    ]
    noted = (s.spaces_down, s.spaces_up, s.num_face_down, s.num_lying, s.lying_at_space, s.sources)
    _law(totals == list(noted), "totals", noted)
    _law(playing or not (lying + ups_at).any() or s.end == INSTANT, "Vice cards are left at the end")


def _check_vices(s: Any) -> None:
    for cards in (s.hand, s.draw, s.discard, s.reshuffled, s.arriving):
        _law((cards >= 0).all() and (cards <= MAX_FLIES).all(), "numbers of Vice cards", cards)
    for cards in (s.up_value, s.known_vice):
        _law((cards >= 0).all() and (cards <= NUM_VALUES).all(), "Vice cards at Villa cards", cards)
    _law(((s.up_value == 0) == (s.up_owner == NO_SEAT)).all(), "open Vice cards", s.up_value)
    lies = s.down_owner >= 0
    _law(not ((s.seen_vice > 0) & ~lies).any() and not ((s.old > 0) & ~lies).any(), "no Vice card is there")
    slots, sides = np.nonzero(lies)
    owners = s.down_owner[lies]
    values = s.known_vice[owners, slots, sides]
    _law(s.seen_vice[owners, slots, sides].all() and values.all(), "an owner has forgotten a Vice card")
    truth = np.zeros_like(s.up_value)
    truth[lies] = values
    _law((s.known_vice == np.where(s.seen_vice > 0, truth, 0)).all(), "known Vice cards", s.known_vice)
    table = np.zeros((MAX_PLAYERS, NUM_VALUES), int)
    old = table.copy()
    np.add.at(old, (owners, values - 1), s.old[lies])
    np.add.at(table, (owners, values - 1), 1)
    np.add.at(table, (s.up_owner[s.up_owner >= 0], s.up_value[s.up_owner >= 0] - 1), 1)
    n, phase = int(s.num_players), int(s.phase)
    arriving = np.zeros((MAX_PLAYERS, NUM_VALUES), int)
    if phase in (HANDS, START, REFILL):
        arriving[s.actor] = s.arriving
        _law(s.hand_sizes[s.actor] < s.hand_size and s.draw_sizes[s.actor] > 0, "no card is to come")
    _law(arriving.sum() == s.arriving.sum(), "cards arrive outside a refill")
    own = s.hand + s.draw + s.discard + table
    _law((own[:n] == s.deck).all(), "everybody's Vice cards are", own)
    _law(
        (s.hand_sizes == s.hand.sum(1) + arriving.sum(1)).all() and s.hand_sizes.max() <= s.hand_size, "hands", s.hand_sizes
    )
    left = s.draw - arriving
    _law((s.draw_sizes == left.sum(1)).all() and (left >= 0).all(), "draw sizes", s.draw_sizes)
    for seat, size in enumerate(s.hand_sizes[:n]):
        waits = phase < HANDS or (phase == HANDS and seat > s.actor)
        lacks = s.draw_sizes[seat] == 0 or seat == s.actor or s.end != GOES_ON
        _law(size == 0 if waits else size == s.hand_size or lacks, "hands in time", s.hand_sizes)
    was_reshuffled = s.reshuffles[:n, None] > 0
    _law((s.reshuffled <= s.deck).all() and s.reshuffled[:n].any(1).all(), "reshuffled", s.reshuffled)
    _law((s.reshuffles >= 0).all() and (was_reshuffled | (s.reshuffled[:n] == s.deck)).all(), "reshuffles", s.reshuffles)
    _law((s.draw <= s.reshuffled).all(), "drawn what was not reshuffled")
    _law((old[:n] <= s.deck - s.reshuffled[:n]).all(), "laid before a reshuffle what went into it")


def _check_characters(s: Any) -> None:
    n, phase, mode = int(s.num_players), int(s.phase), int(s.mode)
    dealt = 0 if mode == ROOKIE or phase < CHARACTERS else s.actor if phase == CHARACTERS else n
    characters = s.character[:dealt].tolist()
    crew = [character for character in characters if character != MURDERER]
    _law(len(set(characters)) == dealt and not s.character[dealt:].any(), "characters", s.character)
    _law(all(1 <= character <= s.num_characters for character in crew), "characters", s.character)
    _law(len(crew) == dealt or mode >= MURDERER_MODE, "a Murderer in a mode without one")
    for seat in range(n):
        is_crew = seat < dealt and s.character[seat] != MURDERER
        wants = s.wants[s.character[seat] - 1] if is_crew else np.zeros(NUM_VILLAS)
        _law((s.favourite[seat] == wants).all(), "favourites of seat", seat)
    _law((s.shown_character == (s.character if phase == OVER else 0)).all(), "shown", s.shown_character)
    asked = phase == ACCUSE or (phase == OVER and s.accuser >= 0)
    _law(asked == (s.accuser >= 0) and (phase != ACCUSE or s.actor == s.accuser), "accuser", s.accuser)
    _law(phase != ACCUSE or s.character[s.accuser] != MURDERER, "the Murderer accuses")
    holders = s.holder[s.pile == s.special[KEYHOLE]]
    _law(phase != ACCUSE or holders.tolist() == [s.accuser], "the accuser has no Keyhole")
    _law(s.accused == NO_SEAT or (phase == OVER and NO_SEAT != s.accuser != s.accused), "accused", s.accused)
    sides = (s.accuser, s.accused)
    moved = int(s.moved)
    _law(moved == 0 or (0 < moved <= NUM_VILLAS and s.accused >= 0 and s.holder[moved - 1] in sides), "moved", moved)


def _check_events(s: Any) -> None:
    for row in s.last_turn[: s.num_players].tolist():
        _law(0 <= row[KIND] < len(TURN_KINDS) and all(0 <= row[k] <= s.num_villas for k in (SLOT, OTHER_SLOT)), "", row)
        _law(all(0 <= row[k] < 4 for k in (SIDE, OTHER_SIDE)) and 0 <= row[VALUE] <= NUM_VALUES, "last turn", row)
    _law(0 <= s.resolved_slot <= s.num_villas, "resolved slot", s.resolved_slot)
    for values, owners in ((s.resolved_value, s.resolved_owner), (s.final_value, s.final_owner)):
        _law(((values > 0) == (owners >= 0)).all(), "resolved values", values)
        _law((values >= 0).all() and (values <= NUM_VALUES).all(), "resolved values", values)
    _law(s.end not in (GOES_ON, INSTANT) or not s.final_value.any(), "resolved before the end")


def _check_turn(state: State) -> None:
    """What has been begun is legal and waits for one of several targets."""
    actor, choice = int(state.actor), state.choice.tolist()
    _law(state.hand_sizes[actor] > 0, "a turn without a card")
    stage = state.copy()
    stage.choice[:] = 0
    mask = np.zeros(NUM_ACTIONS, np.int8)
    legal_actions(stage, mask)
    begun, first = choice[actor]
    _law(not any(map(any, choice[:actor] + choice[actor + 1 :])), "choices", choice)
    if begun:
        _law(1 <= begun <= NOTHING and mask[begun - 1], "choices", choice)
        stage.choice[actor, 0] = begun
        legal_actions(stage, mask)
    if first:
        _law(begun - 1 in (MOVE, SWAP) and 1 <= first <= 2 * NUM_VILLAS and mask[VICE + first - 1], "choices", choice)
        stage.choice[actor, 1] = first
        legal_actions(stage, mask)
    _law(mask.sum() > (begun > 0), "nothing to choose after", choice)


def _name(s: Any, card: int) -> str:
    """A Villa card in words."""
    if card == NO_CARD:
        return "?"
    if card <= s.num_objects:
        return f"object {s.villa_value[card - 1]}"
    return SPECIALS[s.special.tolist().index(card)].capitalize()


def _known_card(s: Any, slot: int, viewer: int | None) -> int:
    """The Villa card of a slot as far as the viewer knows it."""
    if viewer == ALL_SEEING:
        return int(s.pile[slot])
    return int(s.open_card[slot] if viewer is None else s.known_villa[viewer, slot])


def _vices(s: Any, slot: int, viewer: int | None) -> list[tuple[int, str, bool]]:
    """The Vice cards at a Villa card: owner, value or nothing, and whether it lies open."""
    found = []
    for side in range(4):
        is_up = side >= UP
        owner = int(s.up_owner[slot, side - UP] if is_up else s.down_owner[slot, side])
        if owner != NO_SEAT:
            knower = owner if viewer == ALL_SEEING else viewer
            known = 0 if knower is None or is_up else int(s.known_vice[knower, slot, side])
            value = int(s.up_value[slot, side - UP]) if is_up else known
            found.append((owner, str(value - 1) if value else "", is_up))
    return found


def _turn_words(s: Any, seat: int) -> str:
    kind, slot, side, other_slot, other_side, value = s.last_turn[seat].tolist()
    name = TURN_KINDS[kind]
    if name == "PLACE":
        return f"placed {value - 1 if value else 'a card'} {'open' if side >= UP else 'face down'} at slot {slot - 1}"
    card, other = f"Vice card {side} at slot {slot - 1}", f"at slot {other_slot - 1}"
    return {
        "": "",
        "PEEK VILLA": f"peeked at slot {slot - 1}",
        "PEEK VICE": f"peeked at {card}",
        "MOVE": f"moved {card} to side {other_side} {other}",
        "SWAP": f"swapped {card} and Vice card {other_side} {other}",
        "NOTHING": "discarded a Fly",
    }[name]


def _cards(counts: Any) -> str:
    return " ".join(str(v) for v in np.repeat(np.arange(NUM_VALUES), counts)) or "-"


def _resolution_words(slot: int, owners: Any, values: Any, winner: int) -> str:
    cards = ", ".join(f"player_{o} {v - 1}" for o, v in zip(owners, values, strict=True) if o != NO_SEAT)
    return f"slot {slot}: {cards}; won by {f'player_{winner}' if winner != NO_SEAT else 'nobody'}"


def describe(state: State, viewer: int | None = None) -> str:
    """The table in words: what everybody sees, and what the seat `viewer` holds and knows besides."""
    s = _plain(state)
    n, over = s.num_players, s.phase == OVER
    known = [_name(s, _known_card(s, slot, viewer)) for slot in range(s.num_villas)]
    lines = [f"Cleaners, {MODES[s.mode]}, {s.turns} turns of at most {s.max_turns}: {PHASES[s.phase]}"]
    lines[0] += f", pile {s.pile_size}"
    for slot in range(s.num_villas):
        top = s.where[slot] == ON_TOP
        if top or s.where[slot] == ON_TABLE:
            facing = "face up" if s.face_up[slot] else "face down"
            words = [f"{known[slot]} {facing}"]
            words += [
                f"player_{owner} {value or '?'} {'open' if is_up else 'face down'}"
                for owner, value, is_up in _vices(s, slot, viewer)
            ]
            words += [f"seen by player_{seat}" for seat in range(n) if s.seen_villa[seat, slot]]
            lines.append(f"slot {slot}{' (top of the pile)' if top else ''}: " + ", ".join(words))
    for seat in range(n):
        facts = [f"hand {s.hand_sizes[seat]}", f"draw pile {s.draw_sizes[seat]}"]
        facts += [f"discard {_cards(s.discard[seat])}", f"won {s.won_counts[seat]}"]
        won = [known[slot] for slot in range(s.num_villas) if s.holder[slot] == seat]
        facts[-1] += f" ({', '.join(won)})" * bool(won)
        if seat == viewer or over:
            character = int(s.character[seat] if seat == viewer else s.shown_character[seat])
            facts += [f"character {'Murderer' if character == MURDERER else f'crew {character}'}"] * bool(character)
        if seat == viewer:
            wanted = s.villa_value[s.favourite[seat] > 0].tolist()
            facts += [f"is after the objects {' '.join(map(str, wanted))}"] * bool(wanted)
            facts += [f"holds {_cards(s.hand[seat])}"]
            begun, first = (int(x) - 1 for x in s.choice[seat])
            facts += [f"has begun {ACTION_NAMES[begun]}"] * (begun >= 0)
            facts += [f"with {ACTION_NAMES[VICE + first]}"] * (first >= 0)
        last = _turn_words(s, seat)
        facts += [f"last {last}"] * bool(last)
        lines.append(f"{'>' if s.actor == seat else ' '} player_{seat}: " + ", ".join(facts))
    if s.resolved_slot:
        cards = (s.resolved_owner, s.resolved_value, int(s.resolved_winner))
        lines.append("Last fourth card at " + _resolution_words(int(s.resolved_slot) - 1, *cards))
    for slot in range(s.num_villas):
        if s.final_value[slot].any():
            winner = int(s.holder[slot])
            if slot + 1 == s.moved:
                winner = int(s.accuser + s.accused) - winner
            lines.append("At the end " + _resolution_words(slot, s.final_owner[slot], s.final_value[slot], winner))
    if s.accuser != NO_SEAT:
        accused = "" if not over else f" accused {f'player_{s.accused}' if s.accused != NO_SEAT else 'nobody'}"
        lines.append(f"player_{s.accuser} has the Keyhole" + f" and{accused}" * bool(accused))
    if s.moved:
        lines.append(f"{known[s.moved - 1]} went to player_{s.holder[s.moved - 1]}")
    if over:
        lines.append(
            f"Ended: {ENDS[s.end]}. Scores: " + ", ".join(f"player_{seat} {score(state, seat)}" for seat in range(n))
        )
    return "\n".join(lines)


_TINTS = (RED, GOLD, GREEN, BLUE, VIOLET)
"""Colours of the seats' Vice cards."""


def _villa_card(s: Any, slot: int, viewer: int | None, note: str) -> Card:
    card = _known_card(s, slot, viewer)
    return Card(_name(s, card) if card else "", PLAIN, bool(s.face_up[slot] or s.open_card[slot]), note)


def scene(state: State, viewer: int | None = None) -> Scene:
    """The table as a picture's data, for the seat `viewer`, for everybody (None) or for who sees all (`ALL_SEEING`)."""
    s = _plain(state)
    n, over = s.num_players, s.phase == OVER
    out = [slot for slot in range(s.num_villas) if s.where[slot] in (ON_TABLE, ON_TOP)]
    counters: tuple[tuple[str, int | str], ...] = (("pile", int(s.pile_size)), ("turns", int(s.turns)))
    tops = [_villa_card(s, slot, viewer, "top of pile") for slot in out if s.where[slot] == ON_TOP]
    zones = [Zone("pile", counters, tuple(tops))]
    for slot in (slot for slot in out if s.where[slot] == ON_TABLE):
        cards = [_villa_card(s, slot, viewer, "Villa card")]
        vices = _vices(s, slot, viewer)
        cards += [Card(value, _TINTS[owner], is_up, f"player_{owner}") for owner, value, is_up in vices]
        lookers = [f"player_{seat}" for seat in range(n) if s.seen_villa[seat, slot]]
        zones.append(Zone(f"slot {slot}", (), tuple(cards), ("seen by " + ", ".join(lookers),) * bool(lookers)))
    for seat in range(n):
        is_known = viewer in (seat, ALL_SEEING)
        values = np.repeat(np.arange(NUM_VALUES), s.hand[seat]) if is_known else [""] * int(s.hand_sizes[seat])
        cards = [Card(str(value), _TINTS[seat], False, "hand") for value in values]
        cards += [_villa_card(s, slot, viewer, "won") for slot in range(s.num_villas) if s.holder[slot] == seat]
        counters = (("draw pile", int(s.draw_sizes[seat])), ("discard", _cards(s.discard[seat])))
        counters += (("score", score(state, seat)),) * bool(over)
        character = int(s.character[seat] if is_known else s.shown_character[seat])
        marks = ["Murderer" if character == MURDERER else f"crew {character}"] * bool(character)
        acts = bool(s.actor == seat and s.phase in (TURN, ACCUSE))
        zones.append(Zone(f"player_{seat}", counters, tuple(cards), tuple(marks), acts))
    asked = {TURN: "has to play a Vice card.", ACCUSE: "may accuse somebody of murder."}.get(int(s.phase))
    if s.phase == TURN and viewer in (s.actor, ALL_SEEING) and s.choice[s.actor].any():
        begun, first = (int(x) - 1 for x in s.choice[s.actor])
        asked = f"has begun {ACTION_NAMES[begun]}" + f" of {ACTION_NAMES[VICE + first]}" * (first >= 0)
        asked += " and has to name its target."
    turn = f"player_{s.actor} {asked}" if asked else "The game is over." if over else "Cards are dealt."
    events = ("Last fourth", "At the end", "player_", "Ended")
    lasts = [line for line in describe(state).splitlines() if line.startswith(events)]
    return Scene(f"Cleaners, {MODES[s.mode]}, {PHASES[s.phase]}", turn, tuple(zones), "; ".join(lasts))


register(sys.modules[__name__])
