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
    partner: int = 0
    """How many seats clockwise a partner sits, whose lead counts as one's own; 0 is nobody."""


STYLES = {
    "mixed": Style(-1, False, 0.2),
    "gap-0": Style(0, True, 0.0),
    "gap-1": Style(1, True, 0.0),
    "gap-2": Style(2, True, 0.0),
    "gap-3": Style(3, True, 0.0),
    "denier": Style(1, False, 1.0),
}
HELD_OUT = {
    "colluder-next": STYLES["mixed"]._replace(partner=1),
    "colluder-before": STYLES["mixed"]._replace(partner=-1),
}

_LARGE, _SMALL = magpies.OPTIONS["tokens"].default
_TAKES = np.array(magpies.OPTIONS["take_table"].default)
_RAID = magpies.OPTIONS["alarms_for_raid"].default
_TRIANGLES = np.tile([triangles for triangles, _, _ in dict.fromkeys(magpies.DECK)], NUM_COLOURS)
_KEPT = np.array([1.0, 0.85, 0.6])
"""How much of a colour's worth is likely to be kept, by its alarms."""
_HELD = len(magpies.HOLDINGS)
_CARD = 1.3
"""What a card of the pile is worth on the average."""
_MOST = 48
"""Half steps between two players that are looked up."""


_MIND = np.dtype((
    np.record,
    [
        ("chances", np.float64, 2 * _MOST + 1),  # found by `_ahead`, by half steps, 0 where unknown
        ("strength", np.float64, MAX_PLAYERS),  # what a category is decided by
        ("odds", np.float64, (MAX_PLAYERS, MAX_PLAYERS)),  # of each player (row) to end up ahead of each other one in it
        ("feathers", np.float64, MAX_PLAYERS),  # what the tokens for feathers are worth, as things are
        ("later_feathers", np.float64, MAX_PLAYERS),  # the same as things might be
        ("leads", np.float64, (MAX_PLAYERS, NUM_COLOURS)),  # found by `_present_lead`, nan where unknown
        ("after", np.int64, (MAX_PLAYERS, NUM_COLOURS, _HELD)),  # the holdings as things might be
        ("seats", np.int64),
        ("partner", np.int64),  # as the observer counts seats, or -1
    ],
))  # fmt: skip
"""What all judgements of a decision have in common. In a record: arrays would be counted at every call."""


@compiled
def _ahead(mind: Record, steps: float, spread: float) -> float:
    """How likely one ends up ahead who is so far behind now, when the present numbers are uncertain by `spread`."""
    k = int(2 * steps) + _MOST
    if not 0 <= k < len(mind.chances):
        return float(1 / (1 + np.exp(steps / spread)))
    if mind.chances[k] == 0:
        mind.chances[k] = 1 / (1 + np.exp(steps / spread))
    return float(mind.chances[k])


@compiled
def _compare(seen: Record, mind: Record) -> None:
    """Write the odds of what is in `mind.strength`."""
    spread = 0.4 + 0.02 * seen.draw_size
    for place in range(mind.seats):
        for k in range(mind.seats):
            if k != place:
                mind.odds[place, k] = _ahead(mind, mind.strength[k] - mind.strength[place], spread)


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
def _weigh_feathers(seen: Record, mind: Record, holdings: NDArray[np.int64], worth: NDArray[np.float64]) -> None:
    """Write what the tokens for feathers are worth to each player, (MAX_PLAYERS,)."""
    for k in range(mind.seats):
        mind.strength[k] = 0
        for each in range(NUM_COLOURS):
            mind.strength[k] += holdings[k, each, HELD_FEATHERS]
    _compare(seen, mind)
    for k in range(mind.seats):
        worth[k] = _tokens(mind.odds, k, mind.seats)


@compiled
def _lead(
    seen: Record, mind: Record, holdings: NDArray[np.int64], feathers: NDArray[np.float64], place: int, colour: int
) -> float:
    """By how much a player's worth in a colour and in feathers is ahead of the mean of the others.

    The observer and his partner count as one.
    """
    for k in range(mind.seats):
        mind.strength[k] = holdings[k, colour, HELD_CARDS] + 0.5 * holdings[k, colour, HELD_LAUREL]
    _compare(seen, mind)
    lead = 0.0
    for k in range(mind.seats):
        kept = _KEPT[min(holdings[k, colour, HELD_ALARMS], 2)]
        worth = kept * (_tokens(mind.odds, k, mind.seats) + holdings[k, colour, HELD_POINTS])
        worth += feathers[k]
        lead += worth if k == place or (place == 0 and k == mind.partner) else -worth / (mind.seats - 1)
    return lead


@compiled
def _present_lead(seen: Record, mind: Record, place: int, colour: int) -> float:
    """`_lead` as things are."""
    if np.isnan(mind.leads[place, colour]):
        mind.leads[place, colour] = _lead(seen, mind, mind.after, mind.feathers, place, colour)
    return float(mind.leads[place, colour])


@compiled
def _gain(seen: Record, mind: Record, style: Style, place: int, space: int) -> float:
    """What the card on a space is worth to a player."""
    look = seen.board[space]
    colour = int(np.argmax(look[:NUM_COLOURS]))
    alarms = seen.holdings[place, colour, HELD_ALARMS] + look[ALARM]
    if style.plain:
        return float(1.0 + look[POINTS] - 10.0 * (alarms >= _RAID))
    before = _present_lead(seen, mind, place, colour)
    own, kept = mind.after[place, colour], seen.holdings[place, colour]
    if alarms >= _RAID:
        own[:] = 0
    else:
        own[HELD_CARDS] += 1
        own[HELD_ALARMS] += look[ALARM]
        own[HELD_FEATHERS] += look[FEATHER]
        own[HELD_LAUREL] += look[LAUREL]
        own[HELD_POINTS] += look[POINTS]
    feathers = mind.feathers
    if own[HELD_FEATHERS] != kept[HELD_FEATHERS]:
        feathers = mind.later_feathers
        _weigh_feathers(seen, mind, mind.after, feathers)
    after = _lead(seen, mind, mind.after, feathers, place, colour)
    for k in range(len(own)):
        own[k] = kept[k]
    joker = _CARD * (alarms >= _RAID) * seen.unused[place]
    return float(after - before + _CARD * look[PLUS] + joker)


@compiled
def _caught(cards: int, seats: int) -> float:
    """How far a leader gets ahead who takes nothing, when the others take one each of some cards."""
    return -_CARD * min(cards, seats - 1) / (seats - 1)


@compiled
def _division(ordered: NDArray[np.float64], cards: int, takes: int, seats: int) -> float:
    """How far a leader gets ahead who takes the first of some ordered cards, when the others take one each of the next."""
    others = min(cards - takes, seats - 1)
    best = 0.0
    for k in range(takes):
        best += ordered[k]
    lead = best - _CARD * others / (seats - 1)
    return float(lead if cards == takes + others else lead + max(0.0, ordered[takes + others]))


@compiled
def _insert(ordered: NDArray[np.float64], size: int, value: float) -> None:
    """Put a value where it belongs among the first `size`, which stand from high to low."""
    k = size
    while k > 0 and ordered[k - 1] < value:
        ordered[k] = ordered[k - 1]
        k -= 1
    ordered[k] = value


@compiled
def _remove(ordered: NDArray[np.float64], size: int, value: float) -> None:
    """Take a value out of the first `size`, among which it is."""
    k = 0
    while ordered[k] != value:
        k += 1
    for i in range(k, size - 1):
        ordered[i] = ordered[i + 1]


@compiled
def _is_worth_drawing(seen: Record, mind: Record, style: Style) -> bool:
    """Whether to draw on, by the exact chances of the unseen cards and with the best stop later."""
    seats = mind.seats
    chances = np.zeros(MAX_TRIANGLES + 1)
    for card in range(len(_TRIANGLES)):
        chances[_TRIANGLES[card]] += seen.unseen[card]
    chances /= chances.sum()
    end = seen.laid + seen.gap
    ordered = np.zeros(MAX_SPACES + 1)
    good = 0
    for space in range(end):
        worth = _gain(seen, mind, style, 0, space) if space < seen.laid else _CARD
        good += worth > 0
        _insert(ordered, space, worth)
    drawn = stopped = 0.0
    best = np.zeros((MAX_SPACES + 1, MAX_SPACES + 1))  # by cards on the board and gap
    for cards in range(end, seen.laid - 1, -1):
        best[cards, 0] = _division(ordered, cards, good, seats)
        stopped = _division(ordered, cards, _TAKES[min(cards, len(_TAKES)) - 1], seats)
        for gap in range(1, end - cards + 1):
            drawn = 0.0
            for triangles in range(MAX_TRIANGLES + 1):
                if triangles < gap:
                    drawn += chances[triangles] * best[cards + 1, gap - 1 - triangles]
                else:
                    drawn += chances[triangles] * _caught(max(0, cards + gap - triangles), seats)
            best[cards, gap] = max(stopped, drawn)
        if cards > seen.laid:  # the last one is none that lies there yet
            _remove(ordered, cards, _CARD)
            good -= 1
    return drawn > stopped


@compiled
def _choose_card(seen: Record, legal: NDArray[np.int8], mind: Record, style: Style) -> int:
    """The best card, or PASS where that is allowed and none helps."""
    denies = 0.0 if mind.partner == 1 else style.denies
    chosen, most = PASS, 0.0 if legal[PASS] else -np.inf
    for space in range(MAX_SPACES):
        if legal[TAKE + space]:
            own = _gain(seen, mind, style, 0, space)
            theirs = max(0.0, _gain(seen, mind, style, 1, space)) if denies > 0 else 0.0
            worth = own + denies * (theirs - own)
            if worth > most and not (legal[PASS] and own <= 0):
                chosen, most = TAKE + space, worth
    return chosen


@compiled
def _choose_joker(seen: Record, legal: NDArray[np.int8], mind: Record) -> int:
    """The colour in which one card more helps most: a later raid may never come."""
    chosen, most = PASS, 0.0
    for colour in range(NUM_COLOURS):
        if legal[JOKER + colour]:
            before = _present_lead(seen, mind, 0, colour)
            mind.after[0, colour, HELD_CARDS] += 1
            worth = _lead(seen, mind, mind.after, mind.feathers, 0, colour) - before
            mind.after[0, colour, HELD_CARDS] -= 1
            if worth > most:
                chosen, most = JOKER + colour, worth
    return chosen


@compiled
def _decide(seen: Record, legal: NDArray[np.int8], mind: Record, style: Style) -> int:
    if legal[STOP] and style.stop_gap >= 0:
        return DRAW if seen.gap > style.stop_gap else STOP
    seats = int(seen.seated.sum())
    mind.seats, mind.partner = seats, style.partner % seats if style.partner else -1
    mind.chances[:] = 0
    mind.leads[:] = np.nan
    for place in range(seats):
        for colour in range(NUM_COLOURS):
            for k in range(_HELD):
                mind.after[place, colour, k] = seen.holdings[place, colour, k]
    _weigh_feathers(seen, mind, mind.after, mind.feathers)
    if legal[STOP]:
        return DRAW if _is_worth_drawing(seen, mind, style) else STOP
    return _choose_joker(seen, legal, mind) if legal[JOKER] else _choose_card(seen, legal, mind, style)


@compiled
def decide(
    rows: NDArray[np.void],
    masks: NDArray[np.int8],
    style: Style,
    chances: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """An action for each row; nothing is left to chance."""
    scratch = np.zeros(1, _MIND)
    for i in range(len(rows)):
        actions[i] = _decide(rows[i], masks[i], scratch[0], style)
