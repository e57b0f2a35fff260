"""The parts of Magpies: the cards on the board, the colours, and the unseen cards."""

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.parts import Group
from heist_envs.games.magpies import (
    DECK,
    DRAW,
    FEATHER,
    HELD_CARDS,
    HELD_FEATHERS,
    HELD_LAUREL,
    HOLDINGS,
    JOKER,
    LAUREL,
    MAX_CARDS,
    MAX_PLAYERS,
    MAX_SPACES,
    MAX_TRIANGLES,
    NUM_COLOURS,
    STOP,
    TAKE,
    TYPES_PER_COLOUR,
    WHITE,
)
from heist_envs.layout import Layout
from heist_envs.rules import Record, compiled

_LEAD = (MAX_PLAYERS, 2)
"""By how much each seat is ahead of the best and of the second best of the others."""

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
            ("lead", _LEAD, -127, 127, 4, "half cards by which each seat that took it would lead the best two others"),
            ("feather_lead", _LEAD, -127, 127, 4, "the same in feathers"),
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
            ("lead", _LEAD, -127, 127, 4, "half cards by which each seat leads the best and the second best of the others"),
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
def _measure(leads: NDArray[np.int8], strengths: NDArray[np.int64], seats: int, more: int) -> None:
    """Write the leads of every seat, were it alone `more` stronger."""
    for place in range(seats):
        best = second = 0
        for k in range(seats):
            if k != place:
                if strengths[k] > best:
                    best, second = strengths[k], best
                elif strengths[k] > second:
                    second = strengths[k]
        own = strengths[place] + more
        leads[place, 0] = min(127, max(-127, own - best))
        leads[place, 1] = min(127, max(-127, own - second))


@compiled
def look(rows: NDArray[np.void], spaces: NDArray[np.void], colours: NDArray[np.void], piles: NDArray[np.void]) -> None:
    """What is seen of the parts in each observation of `rows`, into records of zeros, (N, T)."""
    for i in range(len(rows)):
        seen = rows[i]
        seats = int(seen.seated.sum())
        strengths = np.zeros((NUM_COLOURS + 1, MAX_PLAYERS), np.int64)
        for place in range(seats):
            for colour in range(NUM_COLOURS):
                held = seen.holdings[place, colour]
                strengths[colour, place] = 2 * held[HELD_CARDS] + held[HELD_LAUREL]
                strengths[WHITE, place] += held[HELD_FEATHERS]
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
                    card.feathers[place] = strengths[WHITE, place]
                _measure(card.lead, strengths[colour], seats, 2 + look[LAUREL])
                _measure(card.feather_lead, strengths[WHITE], seats, look[FEATHER])
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
            if part.there:
                _measure(part.lead, strengths[colour], seats, 0)
        _look_at_piles(piles[i, 0], counts, seen)
