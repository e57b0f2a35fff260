"""Hold-up by rules: play the band of middle cards, since the second highest wins.

The bands are the best ones of mixed tournaments between band players (rule page, section c): cards 3-10 of 15 with three
players, 6-12 with four, 8-13 with five, 8-14 with six. For other card values they are taken by rank.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.games.holdup import (
    BRIBE,
    DONE,
    FLIP,
    FOLD,
    JOIN,
    KEEP,
    LOAN,
    MAX_PLAYERS,
    NO_REVOLVER,
    NUM_CARDS,
    PAY,
    REDRAW,
    REVOLVER,
)
from heist_envs.rules import Record, compiled


class Style(NamedTuple):
    """How far a player departs from the plain band."""

    narrow: float
    """Share of the band that is cut off, half at each end."""
    bluff: float
    """Probability of joining, or of keeping a card, outside the band."""
    shoots: float
    """Probability of using the Revolver where it seems to help."""
    shoots_blindly: bool
    """Uses the Revolver on anybody, whatever the cards."""
    bribes_at: int
    """Bribes with this many Thieves or fewer."""
    partner: int = 0
    """How many seats clockwise a partner sits, whom he plays for as well; 0 is nobody."""


STYLES = {
    "band": Style(0.3, 0.0, 1.0, False, 0),
    "cautious": Style(0.8, 0.0, 0.0, False, 1),
    "bluffing": Style(0.3, 0.35, 1.0, False, 0),
    "maniac": Style(0.0, 1.0, 1.0, True, 2),
}
HELD_OUT = {
    "colluder-next": STYLES["band"]._replace(partner=1),
    "colluder-before": STYLES["band"]._replace(partner=-1),
}

_LOW = np.array([0, 0, 0, 2, 5, 7, 7]) / NUM_CARDS
_HIGH = np.array([0, 0, 0, 10, 12, 13, 14]) / NUM_CARDS
"""Edges of the band by number of players, as shares of the cards in the game."""


@compiled
def _rank(seen: Record, value: int) -> float:
    """The share of the cards in the game that are lower, counting half of the card itself."""
    below = total = 0
    for card in range(NUM_CARDS):
        total += seen.in_play[card]
        below += seen.in_play[card] and card + 1 < value
    return (below + 0.5) / total


@compiled
def _choose_target(seen: Record, legal: NDArray[np.int8], value: int, low: float, high: float, style: Style) -> int:
    """Force a folded card above one's own where one's own seems to be the highest: then it is second."""
    above = possible = others = 0
    for card in range(NUM_CARDS):
        rank = _rank(seen, card + 1)
        if seen.in_play[card] and not seen.face_up[card] and card + 1 != value and low <= rank <= high:
            possible += 1
            above += card + 1 > value
    for place in range(1, MAX_PLAYERS):
        others += seen.joined[place]
    seems_highest = others > 0 and 2 * others * above < possible
    for k in range(MAX_PLAYERS - 1):
        if legal[REVOLVER + k] and (style.shoots_blindly or (seems_highest and seen.shown[k + 1] > value)):
            return REVOLVER + k
    return NO_REVOLVER


@compiled
def _decide(seen: Record, legal: NDArray[np.int8], style: Style, first: float, second: float) -> int:
    """The action of one seat; `first` and `second` are uniform random numbers in [0, 1)."""
    players = folded = value = 0
    for place in range(MAX_PLAYERS):
        players += seen.seated[place]
        folded += seen.folded[place]
    for card in range(NUM_CARDS):
        if seen.card[card]:
            value = card + 1
    cut = style.narrow * (_HIGH[players] - _LOW[players]) / 2
    low, high = _LOW[players] + cut, _HIGH[players] - cut
    in_band = low <= _rank(seen, value) <= high
    bluffs = first < style.bluff
    partner = style.partner % players
    if legal[KEEP]:
        if seen.pile_size == 0:  # HOL-4: nothing left to draw wins at once
            return REDRAW
        return KEEP if in_band or bluffs else REDRAW
    if legal[DONE]:
        if legal[BRIBE] and seen.thieves[0] <= style.bribes_at:
            return BRIBE
        return LOAN if legal[LOAN] and seen.diamonds[0, 0] + seen.diamonds[0, 1] == 0 else DONE
    if legal[JOIN]:
        covers = partner > 0 and seen.joined[partner] and _rank(seen, value) > high  # above his card, which is second then
        return JOIN if in_band or bluffs or covers or folded == players - 1 else FOLD
    if legal[NO_REVOLVER]:
        return _choose_target(seen, legal, value, low, high, style) if second < style.shoots else NO_REVOLVER
    return PAY if legal[PAY] and seen.thieves[0] < 3 else FLIP


@compiled
def decide(
    rows: NDArray[np.void],
    masks: NDArray[np.int8],
    style: Style,
    chances: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """An action for each row; `chances` are uniform in [0, 1), (N, NUM_CHANCES)."""
    for i in range(len(rows)):
        actions[i] = _decide(rows[i], masks[i], style, chances[i, 0], chances[i, 1])
