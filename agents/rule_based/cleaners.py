"""Cleaners by rules: judge every turn by what it changes in the odds of winning, or losing, each Villa card.

The worth of a Villa card that one does not know is the mean of what it may be. The odds at a Villa card grow with the sum of
one's Vice cards there, and are the flatter the more sides are free and the more cards lie face down unknown.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.games.cleaners import (
    KEYHOLE,
    MAX_PLAYERS,
    MOVE,
    MURDERER,
    NO_ACCUSATION,
    NO_ACTION,
    NOTHING,
    NUM_VALUES,
    NUM_VILLAS,
    ON_TABLE,
    PEEK_VICE,
    PEEK_VILLA,
    PLACE,
    SWAP,
    VICE,
    VILLA,
    WON,
)
from heist_envs.rules import Record, compiled


class Style(NamedTuple):
    """What a player looks at."""

    deny: float
    """Weight of what the others win, shared among them."""
    hide: float
    """Points for each step that a card laid face down is above the middle."""
    down: float
    """Points for any card laid face down."""
    fly: float
    """Points for any effect of a Fly."""
    curious: float
    """Points for looking at a Villa card that is worth fighting for."""
    keyhole: float
    """What the Keyhole is worth to him."""
    accuses: float
    """How sure he must be that an accusation pays: 0 accuses always, 1 where it pays on average."""
    heat: float = 2.6
    """How much a free side flattens the odds."""
    cost: float = 0.2
    """Points that a step in the value of a Vice card is worth elsewhere."""
    newcomer: float = 6.0
    """What somebody may still bring to free sides."""
    partner: int = 0
    """How many seats clockwise a partner sits, who may win what he is after; 0 is nobody."""


STYLES = {
    "mixed": Style(deny=1.0, hide=0.0, down=0.0, fly=-0.3, curious=0.4, keyhole=2.0, accuses=1.0),
    "greedy": Style(deny=0.0, hide=0.0, down=0.0, fly=-100.0, curious=0.0, keyhole=0.0, accuses=1.0, heat=0.5, cost=0.0),
    "hidden-bidder": Style(deny=0.5, hide=0.0, down=8.0, fly=-1.0, curious=0.0, keyhole=0.0, accuses=1.0),
    "fly-user": Style(deny=0.2, hide=0.0, down=0.0, fly=20.0, curious=3.0, keyhole=0.0, accuses=1.0),
    "detective": Style(deny=6.0, hide=0.0, down=0.0, fly=0.5, curious=1.5, keyhole=15.0, accuses=0.0),
}
HELD_OUT = {
    "colluder-next": STYLES["mixed"]._replace(partner=1),
    "colluder-before": STYLES["mixed"]._replace(partner=-1),
}

BONUS = 5
"""What an object that one's character is after adds, at an ordinary table."""
UNKNOWN = 5.0
"""The value of a Vice card that one does not know, as one expects it."""
MAX_STRENGTH = 4 * (NUM_VALUES - 1)
"""Of four Vice cards."""
OWNER, STRENGTH, HIDDEN = 0, 1, 2


@compiled
def _worth(seen: Record, card: int) -> float:
    """What a Villa card is worth to the observer; a Murderer turns the special cards round and is after them."""
    value = float(seen.villa_value[card - 1])
    if card == seen.special[KEYHOLE]:
        return value
    if seen.character[MURDERER]:
        for k in range(KEYHOLE):
            if card == seen.special[k]:
                return 4.0 - value
    return value + BONUS * float(seen.favourite[card - 1])


@compiled
def _worths(seen: Record, style: Style, worths: NDArray[np.float64]) -> None:
    """Per slot, what its card is worth to the observer and to another player, (NUM_VILLAS, 2)."""
    mean = others = weights = 0.0
    for card in range(1, NUM_VILLAS + 1):
        unknown = seen.villa_value[card - 1] != 0 or card == seen.special[KEYHOLE]
        is_special = False
        for k in range(KEYHOLE + 1):
            is_special = is_special or card == seen.special[k]
        for slot in range(NUM_VILLAS):
            unknown = unknown and seen.known_villa[slot] != card
        weight = 0.0 if not unknown else 1.0 if is_special else 0.5  # half of the objects lie face up
        mean += weight * (_worth(seen, card) + (style.keyhole if card == seen.special[KEYHOLE] else 0.0))
        others += weight * seen.villa_value[card - 1]
        weights += weight
    for slot in range(NUM_VILLAS):
        card = int(seen.known_villa[slot])
        if card > 0:
            worths[slot, 0] = _worth(seen, card) + (style.keyhole if card == seen.special[KEYHOLE] else 0.0)
            worths[slot, 1] = seen.villa_value[card - 1]
        elif weights > 0:
            worths[slot, 0] = mean / weights
            worths[slot, 1] = others / weights


@compiled
def _read(seen: Record, table: NDArray[np.float64]) -> None:
    """The Vice cards as (slot, side, OWNER or STRENGTH or HIDDEN); sides 0 and 1 are face down, 2 and 3 open."""
    for slot in range(NUM_VILLAS):
        for j in range(2):
            known = seen.known_vice[slot, j]
            table[slot, j, OWNER] = seen.down_owner[slot, j]
            table[slot, j, STRENGTH] = known - 1 if known > 0 else UNKNOWN
            table[slot, j, HIDDEN] = known == 0 and seen.down_owner[slot, j] > 0
            table[slot, 2 + j, OWNER] = seen.up_owner[slot, j]
            table[slot, 2 + j, STRENGTH] = seen.up_value[slot, j] - 1


_MIND = np.dtype((
    np.record,
    [
        ("table", np.float64, (NUM_VILLAS, 4, 3)),  # see `_read`
        ("worths", np.float64, (NUM_VILLAS, 2)),  # see `_worths`
        ("promised", np.float64, NUM_VILLAS),  # what each Villa card promises as it lies
        ("strengths", np.float64, MAX_PLAYERS + 1),  # scratch of `_judge`, by player
        ("odds", np.float64, (5, 5, MAX_STRENGTH + 1)),  # found by `_odds`: by free sides, hidden cards and strength, or 0
        ("lead", np.float64),  # see `_lead`
        ("seats", np.int64),
        ("partner", np.int64),  # as the observer counts seats, or -1
    ],
))  # fmt: skip
"""What all judgements of a decision have in common. In a record: arrays would be counted at every call."""


@compiled
def _odds(mind: Record, style: Style, free: int, hidden: int, strength: float) -> float:
    """How much a strength counts where sides are free and cards hidden: exp(strength / heat), which is looked up."""
    found = mind.odds[free, hidden, int(strength)]
    if found == 0:
        found = np.exp(strength / (0.2 + style.heat * (free + 0.6 * hidden)))
        mind.odds[free, hidden, int(strength)] = found
    return float(found)


@compiled
def _judge(seen: Record, mind: Record, style: Style, slot: int) -> float:
    """What the Vice cards at a Villa card promise the observer, in points."""
    strengths, table = mind.strengths, mind.table
    for place in range(1, MAX_PLAYERS + 1):
        strengths[place] = 0
    free = hidden = 0
    for side in range(4):
        free += table[slot, side, OWNER] == 0
        hidden += table[slot, side, HIDDEN] > 0
        strengths[int(table[slot, side, OWNER])] += table[slot, side, STRENGTH]
    total = _odds(mind, style, free, hidden, style.newcomer) if free > 0 else 0.0
    own = friends = rivals = 0.0
    for place in range(1, MAX_PLAYERS + 1):
        if strengths[place] <= 0:
            continue
        tied = False
        if free == 0 and hidden == 0:
            for other in range(1, MAX_PLAYERS + 1):
                tied = tied or (other != place and strengths[other] == strengths[place])
        if not tied:
            odds = _odds(mind, style, free, hidden, strengths[place])
            total += odds
            if place == 1:
                own = odds
            elif place == mind.partner + 1:
                friends = odds
            else:
                rivals += odds
    if total == 0:
        return 0.0
    gain, others = mind.worths[slot, 0], mind.worths[slot, 1]
    if free == 0 and seen.won_counts[0] + 1 >= seen.villas_to_win:
        gain += 4.0 if mind.lead + gain > 0 else -8.0
    theirs = friends * others - rivals * others * style.deny / (mind.seats - 1)
    return float((own * gain + theirs) / total)


@compiled
def _lead(seen: Record) -> float:
    """Points that the observer is ahead of the best of the others, as far as he knows."""
    points = np.zeros(MAX_PLAYERS + 1)
    for slot in range(NUM_VILLAS):
        if seen.where[slot] == WON:
            card = int(seen.known_villa[slot])
            if card == 0:
                points[seen.holder[slot]] += 5.0
            elif seen.holder[slot] == 1:
                points[1] += _worth(seen, card)
            else:
                points[seen.holder[slot]] += seen.villa_value[card - 1]
    best = points[2]
    for place in range(3, MAX_PLAYERS + 1):
        best = max(best, points[place])
    return float(points[1] - best)


@compiled
def _takes(seen: Record, table: NDArray[np.float64], slot: int, is_up: int) -> bool:
    """Whether a Vice card may be laid at a slot with this facing."""
    ahead = 0
    for j in range(2):
        ahead += int(table[slot, 2 + j, OWNER] > 0) - int(table[slot, j, OWNER] > 0)
    return bool(seen.where[slot] == ON_TABLE and (ahead <= 0 if is_up else ahead >= 0))


@compiled
def _after_place(seen: Record, mind: Record, style: Style, slot: int, value: int, is_up: int) -> float:
    """What a card laid at a slot changes of what was promised."""
    table = mind.table
    side = 2 * is_up
    if table[slot, side, OWNER] > 0:
        side += 1
    kept = table[slot, side, STRENGTH]
    table[slot, side, OWNER], table[slot, side, STRENGTH] = 1, value
    after = _judge(seen, mind, style, slot)
    table[slot, side, OWNER], table[slot, side, STRENGTH] = 0, kept
    secret = 0.0 if is_up else style.down + style.hide * (value - UNKNOWN)
    return float(after - mind.promised[slot] - style.cost * value + secret)


@compiled
def _exchange(table: NDArray[np.float64], a: int, i: int, b: int, j: int) -> None:
    for k in range(3):
        table[a, i, k], table[b, j, k] = table[b, j, k], table[a, i, k]


@compiled
def _after_exchange(seen: Record, mind: Record, style: Style, a: int, i: int, b: int, j: int) -> float:
    """What the exchange of two face-down places, of which one may be empty, changes of what was promised."""
    _exchange(mind.table, a, i, b, j)
    after = _judge(seen, mind, style, a) + _judge(seen, mind, style, b)
    _exchange(mind.table, a, i, b, j)
    return float(after - (mind.promised[a] + mind.promised[b]))


@compiled
def _stake(table: NDArray[np.float64], slot: int) -> float:
    """How much a Villa card is fought for: the Vice cards there, the observer's twice."""
    stake = 0.0
    for side in range(4):
        stake += (table[slot, side, OWNER] > 0) + (table[slot, side, OWNER] == 1)
    return stake


@compiled
def _choose_turn(seen: Record, legal: NDArray[np.int8], mind: Record, style: Style) -> int:
    """The next answer of the best turn among those that go on from what has been begun."""
    table = mind.table
    mind.worths[:] = 0
    mind.promised[:] = 0
    _read(seen, table)
    _worths(seen, style, mind.worths)
    mind.lead = _lead(seen)
    for slot in range(NUM_VILLAS):
        if seen.where[slot] == ON_TABLE:
            mind.promised[slot] = _judge(seen, mind, style, slot)
    begun = first = NO_ACTION
    for k in range(VILLA):
        if seen.choice[k + 1]:
            begun = k
    for k in range(2 * NUM_VILLAS):
        if seen.source[k + 1]:
            first = k
    best, answer = -1e9, NO_ACTION
    for kind in range(PLACE, PEEK_VILLA):
        if not (legal[kind] or begun == kind):
            continue
        for slot in range(NUM_VILLAS):
            if _takes(seen, table, slot, kind & 1):
                gain = _after_place(seen, mind, style, slot, kind >> 1, kind & 1)
                if gain > best:
                    best, answer = gain, kind if begun == NO_ACTION else VILLA + slot
    if legal[NOTHING] and style.fly - 0.1 > best:
        best, answer = style.fly - 0.1, NOTHING
    for slot in range(NUM_VILLAS):
        if (legal[PEEK_VILLA] or begun == PEEK_VILLA) and seen.where[slot] == ON_TABLE and not seen.face_up[slot]:
            gain = style.fly + (style.curious * _stake(table, slot) / 2 if seen.known_villa[slot] == 0 else -1.0)
            if gain > best:
                best, answer = gain, PEEK_VILLA if begun == NO_ACTION else VILLA + slot
    for card in range(2 * NUM_VILLAS):
        a, i = card >> 1, card & 1
        if table[a, i, OWNER] == 0:
            continue
        if legal[PEEK_VICE] or begun == PEEK_VICE:
            gain = style.fly + (style.curious * _stake(table, a) / 3 if table[a, i, HIDDEN] else -1.0)
            if gain > best:
                best, answer = gain, PEEK_VICE if begun == NO_ACTION else VICE + card
        if first not in (NO_ACTION, card):
            continue
        for b in range(NUM_VILLAS):
            if (legal[MOVE] or begun == MOVE) and a != b and _takes(seen, table, b, 0):
                j = 0 if table[b, 0, OWNER] == 0 else 1
                gain = style.fly + _after_exchange(seen, mind, style, a, i, b, j)
                if gain > best:
                    best = gain
                    answer = MOVE if begun == NO_ACTION else VICE + card if first == NO_ACTION else VILLA + b
            if first == NO_ACTION and b < a:
                continue  # that swap has been judged the other way round
            for j in range(2):
                if (legal[SWAP] or begun == SWAP) and a != b and table[b, j, OWNER] > 0:
                    gain = style.fly + _after_exchange(seen, mind, style, a, i, b, j)
                    if gain > best:
                        best = gain
                        answer = SWAP if begun == NO_ACTION else VICE + card if first == NO_ACTION else VICE + 2 * b + j
    return answer


@compiled
def _choose_accusation(seen: Record, style: Style, seats: int, partner: int) -> int:
    """Accuse the likeliest Murderer if his best object is worth the risk of one's own."""
    own = 0.0
    specials = np.zeros(MAX_PLAYERS + 1)
    highest = np.zeros(MAX_PLAYERS + 1)
    for slot in range(NUM_VILLAS):
        holder = seen.holder[slot]
        card = int(seen.known_villa[slot])
        value = 10.0 if card == 0 else float(seen.villa_value[card - 1])
        for k in range(KEYHOLE + 1):
            if card > 0 and card == seen.special[k]:
                specials[holder] += k < KEYHOLE
                value = 0.0
        highest[holder] = max(highest[holder], value)
    own = highest[1]
    best, answer = 0.0, NO_ACCUSATION
    for place in range(2, seats + 1):
        if place == partner + 1:
            continue
        guilty = min(0.9, (1.0 + 1.5 * specials[place]) / (seats + 1))
        gain = guilty * highest[place] - style.accuses * (1.0 - guilty) * own
        if gain > best:
            best, answer = gain, NO_ACCUSATION + place - 1
    return answer


@compiled
def decide(
    rows: NDArray[np.void],
    masks: NDArray[np.int8],
    style: Style,
    chances: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """An action for each row; `chances` are uniform in [0, 1), (N, NUM_CHANCES)."""
    scratch = np.zeros(1, _MIND)
    for i in range(len(rows)):
        seen, mind = rows[i], scratch[0]
        seats = int(seen.seated.sum())
        mind.seats, mind.partner = seats, style.partner % seats if style.partner else -1
        if masks[i, NO_ACCUSATION]:
            actions[i] = _choose_accusation(seen, style, seats, mind.partner)
        else:
            actions[i] = _choose_turn(seen, masks[i], mind, style)
