"""Magpies by rules: draw while that is worth the risk, take what helps most in the race for the colours.

A colour is worth its tokens, as likely as the present numbers of cards make them, and the points on its cards, less the more
alarms there are. The values are those of the default deck and tokens; with other ones the agent plays on, less well.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.games import magpies
from heist_envs.games.magpies import (
    ALARM,
    DRAW,
    FEATHER,
    HELD_ALARMS,
    HELD_CARDS,
    HELD_FEATHERS,
    HELD_LAUREL,
    HELD_POINTS,
    JOKER,
    LAUREL,
    MAX_PLAYERS,
    MAX_SPACES,
    MAX_TRIANGLES,
    NUM_COLOURS,
    PASS,
    PLUS,
    POINTS,
    STOP,
    TAKE,
)
from heist_envs.rules import Record, compiled


class Style(NamedTuple):
    """How a player stops and takes."""

    stop_gap: int
    """Draws until the gap is at most this, or weighs the risk where it is negative."""
    plain: bool
    """Takes the card with the most points that is no third alarm, whatever the others have."""
    denies: float
    """The share of a card's worth to the next player in its worth, in place of that to oneself."""


STYLES = {
    "mixed": Style(-1, False, 0.2),
    "gap-0": Style(0, True, 0.0),
    "gap-1": Style(1, True, 0.0),
    "gap-2": Style(2, True, 0.0),
    "gap-3": Style(3, True, 0.0),
    "denier": Style(1, False, 1.0),
}

_LARGE, _SMALL = magpies.OPTIONS["tokens"].default
_TAKES = np.array(magpies.OPTIONS["take_table"].default)
_RAID = magpies.OPTIONS["alarms_for_raid"].default
_TRIANGLES = np.tile([triangles for triangles, _, _ in dict.fromkeys(magpies.DECK)], NUM_COLOURS)
_KEPT = np.array([1.0, 0.85, 0.6])
"""How much of a colour's worth is likely to be kept, by its alarms."""
_CARD = 1.3
"""What a card of the pile is worth on the average."""


@compiled
def _odds(strength: NDArray[np.float64], seats: int, spread: float) -> NDArray[np.float64]:
    """How likely each player (row) ends up ahead of each other one, when the present numbers are uncertain by `spread`."""
    odds = np.zeros((MAX_PLAYERS, MAX_PLAYERS))
    for place in range(seats):
        for k in range(seats):
            odds[place, k] = 1 / (1 + np.exp((strength[k] - strength[place]) / spread))
    return odds


@compiled
def _tokens(odds: NDArray[np.float64], place: int, seats: int) -> float:
    """What the tokens of a category are worth to a player."""
    first = 1.0
    for k in range(seats):
        if k != place:
            first *= odds[place, k]
    second = 0.0
    for ahead in range(seats):
        if ahead != place:
            only = odds[ahead, place]
            for k in range(seats):
                if k not in (place, ahead):
                    only *= odds[place, k]
            second += only
    return float(_LARGE * first + _SMALL * second)


@compiled
def _lead(seen: Record, holdings: NDArray[np.int64], place: int, colour: int, seats: int) -> float:
    """By how much a player's worth in a colour and in feathers is ahead of the mean of the others."""
    spread = 0.4 + 0.02 * seen.draw_size
    cards, feathers = np.zeros(MAX_PLAYERS), np.zeros(MAX_PLAYERS)
    for k in range(seats):
        cards[k] = holdings[k, colour, HELD_CARDS] + 0.5 * holdings[k, colour, HELD_LAUREL]
        for each in range(NUM_COLOURS):
            feathers[k] += holdings[k, each, HELD_FEATHERS]
    of_cards, of_feathers = _odds(cards, seats, spread), _odds(feathers, seats, spread)
    lead = 0.0
    for k in range(seats):
        kept = _KEPT[min(holdings[k, colour, HELD_ALARMS], 2)]
        worth = kept * (_tokens(of_cards, k, seats) + holdings[k, colour, HELD_POINTS])
        worth += _tokens(of_feathers, k, seats)
        lead += worth if k == place else -worth / (seats - 1)
    return lead


@compiled
def _gain(seen: Record, place: int, space: int, seats: int, style: Style) -> float:
    """What the card on a space is worth to a player."""
    look = seen.board[space]
    colour = int(np.argmax(look[:NUM_COLOURS]))
    alarms = seen.holdings[place, colour, HELD_ALARMS] + look[ALARM]
    if style.plain:
        return float(1.0 + look[POINTS] - 10.0 * (alarms >= _RAID))
    after = seen.holdings.astype(np.int64)
    before = _lead(seen, after, place, colour, seats)
    if alarms >= _RAID:
        after[place, colour] = 0
    else:
        after[place, colour, HELD_CARDS] += 1
        after[place, colour, HELD_ALARMS] += look[ALARM]
        after[place, colour, HELD_FEATHERS] += look[FEATHER]
        after[place, colour, HELD_LAUREL] += look[LAUREL]
        after[place, colour, HELD_POINTS] += look[POINTS]
    joker = _CARD * (alarms >= _RAID) * seen.unused[place]
    return float(_lead(seen, after, place, colour, seats) - before + _CARD * look[PLUS] + joker)


@compiled
def _caught(cards: int, seats: int) -> float:
    """How far a leader gets ahead who takes nothing, when the others take one each of some cards."""
    return -_CARD * min(cards, seats - 1) / (seats - 1)


@compiled
def _division(worth: NDArray[np.float64], takes: int, seats: int) -> float:
    """How far a leader gets ahead who takes the best cards of these, when the others take one each of the next."""
    ordered = np.sort(worth)[::-1]
    others = min(len(worth) - takes, seats - 1)
    lead = float(ordered[:takes].sum()) - _CARD * others / (seats - 1)
    return lead if len(worth) == takes + others else lead + max(0.0, float(ordered[takes + others]))


@compiled
def _is_worth_drawing(seen: Record, seats: int, style: Style) -> bool:
    """Whether to draw on, by the exact chances of the unseen cards and with the best stop later."""
    chances = np.zeros(MAX_TRIANGLES + 1)
    for card in range(len(_TRIANGLES)):
        chances[_TRIANGLES[card]] += seen.unseen[card]
    chances /= chances.sum()
    worth = np.full(MAX_SPACES, _CARD)
    for space in range(seen.laid):
        worth[space] = _gain(seen, 0, space, seats, style)
    drawn = stopped = 0.0
    end = seen.laid + seen.gap
    best = np.zeros((MAX_SPACES + 1, MAX_SPACES + 1))  # by cards on the board and gap
    for cards in range(end, seen.laid - 1, -1):
        best[cards, 0] = _division(worth[:cards], (worth[:cards] > 0).sum(), seats)
        stopped = _division(worth[:cards], _TAKES[cards - 1], seats)
        for gap in range(1, end - cards + 1):
            drawn = 0.0
            for triangles in range(MAX_TRIANGLES + 1):
                if triangles < gap:
                    drawn += chances[triangles] * best[cards + 1, gap - 1 - triangles]
                else:
                    drawn += chances[triangles] * _caught(len(worth[: cards + gap - triangles]), seats)
            best[cards, gap] = max(stopped, drawn)
    return drawn > stopped


@compiled
def _choose_card(seen: Record, legal: NDArray[np.int8], seats: int, style: Style) -> int:
    """The best card, or PASS where that is allowed and none helps."""
    chosen, most = PASS, 0.0 if legal[PASS] else -np.inf
    for space in range(MAX_SPACES):
        if legal[TAKE + space]:
            own = _gain(seen, 0, space, seats, style)
            theirs = max(0.0, _gain(seen, 1, space, seats, style)) if style.denies > 0 else 0.0
            worth = own + style.denies * (theirs - own)
            if worth > most and not (legal[PASS] and own <= 0):
                chosen, most = TAKE + space, worth
    return chosen


@compiled
def _choose_joker(seen: Record, legal: NDArray[np.int8], seats: int) -> int:
    """The colour in which one card more helps most: a later raid may never come."""
    chosen, most = PASS, 0.0
    for colour in range(NUM_COLOURS):
        if legal[JOKER + colour]:
            after = seen.holdings.astype(np.int64)
            before = _lead(seen, after, 0, colour, seats)
            after[0, colour, HELD_CARDS] += 1
            worth = _lead(seen, after, 0, colour, seats) - before
            if worth > most:
                chosen, most = JOKER + colour, worth
    return chosen


@compiled
def _decide(seen: Record, legal: NDArray[np.int8], style: Style) -> int:
    seats = int(seen.seated.sum())
    if legal[STOP]:
        if style.stop_gap >= 0:
            return DRAW if seen.gap > style.stop_gap else STOP
        return DRAW if _is_worth_drawing(seen, seats, style) else STOP
    return _choose_joker(seen, legal, seats) if legal[JOKER] else _choose_card(seen, legal, seats, style)


@compiled
def decide(
    rows: NDArray[np.void],
    masks: NDArray[np.int8],
    style: Style,
    chances: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """An action for each row; nothing is left to chance."""
    for i in range(len(rows)):
        actions[i] = _decide(rows[i], masks[i], style)
