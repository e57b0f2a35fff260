"""The parts of Magpies: the cards on the board, the colours, and the unseen cards."""

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.parts import Group
from heist_envs.games.magpies import (
    DECK,
    DRAW,
    HELD_FEATHERS,
    HOLDINGS,
    JOKER,
    MAX_CARDS,
    MAX_PLAYERS,
    MAX_SPACES,
    MAX_TRIANGLES,
    NUM_COLOURS,
    STOP,
    TAKE,
    TYPES_PER_COLOUR,
)
from heist_envs.layout import Layout
from heist_envs.rules import Record, compiled

_HELD = ("held", (MAX_PLAYERS, len(HOLDINGS)), 0, 127, 4, "what every seat has of the colour: " + ", ".join(HOLDINGS))

GROUPS = (
    Group(
        "space",
        MAX_SPACES,
        Layout(
            ("there", (), 0, 1, 1, "a card lies there"),
            ("chosen", (), 0, 1, 1, "it has been chosen in a batch"),
            ("shows", (6,), 0, MAX_TRIANGLES, 1, "triangles, +card, alarm, feather, laurel, points"),
            _HELD,
            ("feathers", (MAX_PLAYERS,), 0, 127, 4, "feathers of every seat, in all colours"),
        ),
        (range(TAKE, TAKE + MAX_SPACES),),
    ),
    Group(
        "colour",
        NUM_COLOURS,
        Layout(
            ("there", (), 0, 1, 1, "somebody has a card of it, or may still get one"),
            _HELD,
            (
                "unseen",
                (TYPES_PER_COLOUR,),
                0,
                MAX_CARDS,
                2,
                "cards of it in the two piles, in the order of the deck",
            ),
            ("raided", (), 0, 1, 1, "during JOKER: it was just raided"),
        ),
        (range(JOKER, JOKER + NUM_COLOURS),),
    ),
    Group(
        "piles",
        1,
        Layout(
            ("there", (), 0, 1, 1, "cards are left"),
            ("odds", (MAX_TRIANGLES + 1,), 0, 100, 100, "percent of the unseen cards that have 0, 1, 2, 3 triangles"),
            ("next", (3,), 0, 100, 100, "percent of them with which a theft goes on, is a coup d'éclat, is caught"),
            ("second", (3,), 0, 100, 100, "the same of two cards in a row, the second one drawn if it goes on"),
            ("laid", (MAX_SPACES + 1,), 0, 1, 1, "so many cards lie on the board"),
        ),
        (range(DRAW, DRAW + 1), range(STOP, STOP + 1)),
    ),
)
TOLD = ("present", "chosen", "board", "holdings", "raided")

_TRIANGLES = np.tile([triangles for triangles, _, _ in dict.fromkeys(DECK)], NUM_COLOURS)


@compiled
def _ends(counts: NDArray[np.int64], gap: int) -> tuple[int, int, int]:
    """With how many of the unseen cards, `counts` by triangles, a theft goes on, is a coup d'éclat, is caught."""
    on = coup = caught = 0
    for triangles in range(MAX_TRIANGLES + 1):
        if gap > 1 + triangles:
            on += counts[triangles]
        elif gap == 1 + triangles:
            coup += counts[triangles]
        else:
            caught += counts[triangles]
    return on, coup, caught


@compiled
def _look_at_piles(pile: Record, counts: NDArray[np.int64], seen: Record) -> None:
    left, gap = counts.sum(), seen.gap
    if left == 0:
        return
    pile.there = 1
    pile.laid[seen.laid] = 1
    for triangles in range(MAX_TRIANGLES + 1):
        pile.odds[triangles] = 100 * counts[triangles] // left
    if gap == 0:
        return
    once = _ends(counts, gap)
    for k in range(3):
        pile.next[k] = 100 * once[k] // left
    if left == 1:
        return
    on, coup, caught = 0, once[1] * (left - 1), once[2] * (left - 1)
    for triangles in range(min(gap - 1, MAX_TRIANGLES + 1)):
        first = counts[triangles]
        if first > 0:
            counts[triangles] -= 1
            then = _ends(counts, gap - 1 - triangles)
            counts[triangles] += 1
            on, coup, caught = on + first * then[0], coup + first * then[1], caught + first * then[2]
    for k, pairs in enumerate((on, coup, caught)):
        pile.second[k] = 100 * pairs // (left * (left - 1))


@compiled
def look(rows: NDArray[np.void], spaces: NDArray[np.void], colours: NDArray[np.void], piles: NDArray[np.void]) -> None:
    """What is seen of the parts in each observation of `rows`, into records of zeros, (N, T)."""
    for i in range(len(rows)):
        seen = rows[i]
        for space in range(MAX_SPACES):
            if seen.present[space]:
                card, look = spaces[i, space], seen.board[space]
                card.there = 1
                card.chosen = seen.chosen[space]
                for k in range(6):
                    card.shows[k] = look[NUM_COLOURS + k]
                colour = 0
                while look[colour] == 0:
                    colour += 1
                for place in range(MAX_PLAYERS):
                    for what in range(len(HOLDINGS)):
                        card.held[place, what] = seen.holdings[place, colour, what]
                    for each in range(NUM_COLOURS):
                        card.feathers[place] += seen.holdings[place, each, HELD_FEATHERS]
        counts = np.zeros(MAX_TRIANGLES + 1, np.int64)
        for colour in range(NUM_COLOURS):
            part = colours[i, colour]
            for k in range(TYPES_PER_COLOUR):
                card_type = colour * TYPES_PER_COLOUR + k
                number = seen.unseen[card_type]
                part.unseen[k] = number
                part.there |= number > 0
                counts[_TRIANGLES[card_type]] += number
            for place in range(MAX_PLAYERS):
                for what in range(len(HOLDINGS)):
                    part.held[place, what] = seen.holdings[place, colour, what]
                    part.there |= part.held[place, what] > 0
            part.raided = seen.raided[colour]
        _look_at_piles(piles[i, 0], counts, seen)
