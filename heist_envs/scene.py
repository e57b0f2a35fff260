"""What a table looks like, as data: zones with cards, counters and marks. A game makes it, `rendering` draws it."""

from typing import NamedTuple

ALL_SEEING = -1
"""In place of a viewing seat: somebody who sees every card. None sees what everybody at the table does."""

PLAIN, RED, GOLD, GREEN, BLUE, VIOLET = "plain", "red", "gold", "green", "blue", "violet"
TINTS = (PLAIN, RED, GOLD, GREEN, BLUE, VIOLET)


class Card(NamedTuple):
    """One card."""

    label: str
    """What is on it; nothing for a card that lies face down and that the viewer does not know."""
    tint: str = PLAIN
    """One of `TINTS`."""
    face_up: bool = True
    """Whether it lies open; one that the viewer knows all the same has a label and a dark frame."""
    note: str = ""
    """A few words below it."""


class Zone(NamedTuple):
    """A part of the table: a player's place, or the middle."""

    label: str
    counters: tuple[tuple[str, int | str], ...] = ()
    cards: tuple[Card, ...] = ()
    marks: tuple[str, ...] = ()
    """Short words about its state, such as "joined"."""
    acts: bool = False
    """Whether it is this player's turn."""


class Scene(NamedTuple):
    """A whole table."""

    title: str
    turn: str
    """Whose turn it is, and why, as a sentence."""
    zones: tuple[Zone, ...]
    last: str = ""
    """What happened last, as a sentence."""
