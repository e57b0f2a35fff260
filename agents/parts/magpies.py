"""The parts of Magpies: the cards on the board, the colours, and the unseen cards."""

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.parts import Group
from heist_envs.games.magpies import (
    DECK,
    HELD_FEATHERS,
    HOLDINGS,
    JOKER,
    MAX_CARDS,
    MAX_PLAYERS,
    MAX_SPACES,
    MAX_TRIANGLES,
    NUM_COLOURS,
    TAKE,
    TYPES_PER_COLOUR,
)
from heist_envs.layout import Layout
from heist_envs.rules import compiled

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
        ),
    ),
)
TOLD = ("present", "chosen", "board", "holdings", "raided")

_TRIANGLES = np.tile([triangles for triangles, _, _ in dict.fromkeys(DECK)], NUM_COLOURS)


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
        left = 0
        counts = np.zeros(MAX_TRIANGLES + 1, np.int64)
        for colour in range(NUM_COLOURS):
            part = colours[i, colour]
            for k in range(TYPES_PER_COLOUR):
                card_type = colour * TYPES_PER_COLOUR + k
                number = seen.unseen[card_type]
                part.unseen[k] = number
                part.there |= number > 0
                left += number
                counts[_TRIANGLES[card_type]] += number
            for place in range(MAX_PLAYERS):
                for what in range(len(HOLDINGS)):
                    part.held[place, what] = seen.holdings[place, colour, what]
                    part.there |= part.held[place, what] > 0
            part.raided = seen.raided[colour]
        if left > 0:
            piles[i, 0].there = 1
            for triangles in range(MAX_TRIANGLES + 1):
                piles[i, 0].odds[triangles] = 100 * counts[triangles] // left
