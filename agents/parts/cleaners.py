"""The parts of Cleaners: the Villa cards by slot, with the Vice cards around them."""

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.parts import Group
from heist_envs.games.cleaners import (
    IN_PILE,
    MAX_PLAYERS,
    MAX_VALUE,
    NUM_VALUES,
    NUM_VILLAS,
    ON_TABLE,
    ON_TOP,
    SPECIALS,
    VICE,
    VILLA,
    WON,
)
from heist_envs.layout import Layout
from heist_envs.rules import Record, compiled

_SUM = 4 * (NUM_VALUES - 1)
_SEATS = (MAX_PLAYERS,)

GROUPS = (
    Group(
        "slot",
        NUM_VILLAS,
        Layout(
            ("there", (), 0, 1, 1, "the Villa card is out of the pile, or in sight on top of it"),
            ("on_top", (), 0, 1, 1, "it is on top of the pile"),
            ("won", (), 0, 1, 1, "it is won"),
            ("face_up", (), 0, 1, 1, "it lies or lay face up"),
            ("known", (), 0, 1, 1, "the observer knows it"),
            ("value", (), -MAX_VALUE, MAX_VALUE, 15, "its points, or the mean of those that it may have"),
            ("favourite", (), 0, 1, 1, "the observer's character is after it"),
            ("special", (len(SPECIALS),), 0, 1, 1, "it is known to be: " + ", ".join(SPECIALS)),
            ("holder", _SEATS, 0, 1, 1, "who has won it, by place"),
            ("held", _SEATS, -MAX_VALUE, MAX_VALUE, 15, "its points where he sits who has won it, by place"),
            ("sums", _SEATS, 0, _SUM, 5, "known Vice cards there, by place of their owner"),
            ("hidden", _SEATS, 0, 2, 1, "Vice cards there that the observer does not know, by place of their owner"),
            ("takes", (2,), 0, 1, 1, "one more Vice card may be laid face down, face up"),
            ("free", (), 0, 4, 4, "free sides"),
            ("down", (2, MAX_PLAYERS), 0, 1, 1, "whose Vice card lies face down on each side"),
            ("down_value", (2,), 0, NUM_VALUES, 5, "value + 1 of each, if the observer knows it"),
            ("up", (2, MAX_PLAYERS), 0, 1, 1, "whose Vice card lies open on each side"),
            ("up_value", (2,), 0, NUM_VALUES, 5, "value + 1 of each"),
            ("old", (2,), 0, 1, 1, "face-down Vice cards laid before their owner's last reshuffle"),
            ("seen_villa", _SEATS, 0, 1, 1, "who has looked at the Villa card"),
            ("seen_vice", (MAX_PLAYERS, 2), 0, 1, 1, "who has looked at each face-down Vice card"),
            ("source", (2,), 0, 1, 1, "the face-down Vice card that the observer has named first"),
        ),
        (
            range(VILLA, VILLA + NUM_VILLAS),
            range(VICE, VICE + 2 * NUM_VILLAS, 2),
            range(VICE + 1, VICE + 2 * NUM_VILLAS, 2),
        ),
    ),
)
TOLD = (
    "known_villa", "known_vice", "up_value", "old", "where", "face_up", "down_owner", "up_owner", "holder",
    "seen_villa", "seen_vice", "source",
)  # fmt: skip


@compiled
def _mean_unknown(seen: Record) -> int:
    """The mean points of the Villa cards in the game that the observer has not seen, rounded to 0."""
    is_known = np.zeros(NUM_VILLAS + 1, np.bool_)
    for slot in range(NUM_VILLAS):
        is_known[seen.known_villa[slot]] = True
    total = cards = 0
    for card in range(1, NUM_VILLAS + 1):
        value = int(seen.villa_value[card - 1])
        if value != 0 and not is_known[card]:
            total += value
            cards += 1
    return int(total / max(1, cards))


@compiled
def look(rows: NDArray[np.void], slots: NDArray[np.void]) -> None:
    """What is seen of the parts in each observation of `rows`, into records of zeros, (N, T)."""
    for i in range(len(rows)):
        seen = rows[i]
        mean = _mean_unknown(seen)
        for slot in range(NUM_VILLAS):
            if seen.where[slot] != IN_PILE:
                _look_at(seen, slot, mean, slots[i, slot])


@compiled
def _look_at(seen: Record, slot: int, mean: int, part: Record) -> None:
    part.there = 1
    part.on_top = seen.where[slot] == ON_TOP
    part.won = seen.where[slot] == WON
    part.face_up = seen.face_up[slot]
    card = int(seen.known_villa[slot])
    part.value = mean
    if card > 0:
        part.known = 1
        part.value = seen.villa_value[card - 1]
        part.favourite = seen.favourite[card - 1]
        for k in range(len(SPECIALS)):
            part.special[k] = seen.special[k] == card
    if seen.holder[slot] > 0:
        part.holder[seen.holder[slot] - 1] = 1
        part.held[seen.holder[slot] - 1] = part.value
    downs = ups = 0
    for j in range(2):
        owner = int(seen.down_owner[slot, j])
        if owner > 0:
            downs += 1
            part.down[j, owner - 1] = 1
            part.down_value[j] = seen.known_vice[slot, j]
            if seen.known_vice[slot, j] > 0:
                part.sums[owner - 1] += seen.known_vice[slot, j] - 1
            else:
                part.hidden[owner - 1] += 1
            part.old[j] = seen.old[slot, j]
        owner = int(seen.up_owner[slot, j])
        if owner > 0:
            ups += 1
            part.up[j, owner - 1] = 1
            part.up_value[j] = seen.up_value[slot, j]
            part.sums[owner - 1] += seen.up_value[slot, j] - 1
        part.source[j] = seen.source[1 + 2 * slot + j]
        for place in range(MAX_PLAYERS):
            part.seen_vice[place, j] = seen.seen_vice[place, slot, j]
    if seen.where[slot] == ON_TABLE:
        part.free = 4 - downs - ups
        part.takes[0] = downs <= ups
        part.takes[1] = ups <= downs
    for place in range(MAX_PLAYERS):
        part.seen_villa[place] = seen.seen_villa[place, slot]
