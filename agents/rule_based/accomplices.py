"""Accomplices by rules: weigh in points what each card, partner, Alarm and theft is worth.

A point of one's own counts 1, a point of another less, but more the closer he is to the end. What somebody claims or offers
is believed as far as the cards that he has shown before allow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.games.accomplices import (
    ALARM,
    CHOOSE,
    CLAIM,
    JACKPOT,
    KEEP,
    LOOT,
    MAX_PLACES,
    MAX_PLAYERS,
    NO_CARD,
    NO_CLAIM,
    NUM_TREASURES,
    NUM_TYPES,
    OBSERVATION,
    OUTCOME,
    PASS,
    PLAY,
    SKELETON,
    SOUND,
    STEAL,
    SUCCESS,
    TAKE_PILE,
    TRAITOR,
    points,
)
from heist_envs.rules import Record, compiled


class Style(NamedTuple):
    """How a player departs from the plain truth."""

    volunteers: float
    """Probability of volunteering where it pays."""
    bluffs: float
    """Probability of volunteering a card that does not fit, to spoil a coup."""
    betrays: float
    """Probability of laying a Traitor where it may pay."""
    lies: float
    """Probability of claiming another half than the one led."""
    doubts: bool
    """Judges the others by the cards that they have shown."""
    sounds_at: float
    """Worth of a coup to the others from which an Alarm is sounded."""
    envy: float
    """Points that an accomplice's card is taken to bring him in the end: the more, the rather one takes the pile."""
    needs: float = 0.0
    """Worth that a card must have to be volunteered."""
    partner: int = 0
    """How many seats clockwise a partner sits, whose points count as one's own; 0 is nobody."""


STYLES = {
    "mixed": Style(1.0, 0.7, 0.9, 0.0, True, 0.75, 7.0),
    "honest": Style(1.0, 0.0, 0.0, 0.0, False, 0.9, 1.5),
    "bluffing": Style(0.8, 0.9, 0.3, 0.3, False, 0.9, 1.5),
    "never-volunteers": Style(0.0, 0.0, 0.5, 0.0, True, 0.9, 1.5),
    "betrayer": Style(0.7, 0.1, 1.0, 0.1, False, 1.5, 1.5),
}
HELD_OUT = {
    "always-volunteers": STYLES["honest"]._replace(needs=-100.0),
    "colluder-next": STYLES["mixed"]._replace(partner=1),
    "colluder-before": STYLES["mixed"]._replace(partner=-1),
}

_SEEN = OBSERVATION.record
NOBODY = -1
_WIN = 8.0
"""What reaching the target is worth in points."""


@compiled
def _gain(seen: Record, place: int, card: int) -> int:
    """What a card would add to a hideout."""
    before = points(seen, place)
    seen.hideouts[place, card] += 1
    after = points(seen, place)
    seen.hideouts[place, card] -= 1
    return after - before


@compiled
def _loss(seen: Record, place: int, card: int) -> int:
    """What a card in a hideout adds to it."""
    before = points(seen, place)
    seen.hideouts[place, card] -= 1
    after = points(seen, place)
    seen.hideouts[place, card] += 1
    return before - after


@compiled
def _own_worth(seen: Record, gain: float) -> float:
    return gain + (_WIN if seen.scores[0] + gain >= seen.target_score else 0.0)


@compiled
def _others_worth(seen: Record, place: int, gain: float, partner: int) -> float:
    """What points of another seat cost oneself: more the closer he is to the end; a partner's are like one's own."""
    others = -1.0
    for seat in range(MAX_PLAYERS):
        others += seen.seated[seat]
    close = (seen.scores[place] + gain) / seen.target_score
    cost = gain if place == partner else gain * (0.4 + close) / others
    cost += _WIN if close >= 1 else 0.0
    return float(-cost if place == partner else cost)


@compiled
def _mark(flags: NDArray[np.int8]) -> int:
    """Where a one-hot feature is set, or -1."""
    for k in range(len(flags)):
        if flags[k]:
            return k
    return -1


@compiled
def _rate(good: NDArray[np.int8], tried: NDArray[np.int8], place: int, prior: float) -> float:
    """How often a seat has done well, as far as its few tries say; what they leave open the other seats' tries tell."""
    others_good, others_tried = 5.0 * prior, 5.0
    for k in range(1, MAX_PLAYERS):
        others_good += max(0, good[k])
        others_tried += tried[k]
    return float((max(0, good[place]) + 3.0 * others_good / others_tried) / (tried[place] + 3.0))


@compiled
def _trust(seen: Record, place: int, style: Style, partner: int) -> float:
    """How likely it is that a leader has led what he claims."""
    if place == partner:
        return 1.0
    return _rate(seen.true_leads, seen.coups_led, place, 0.8) if style.doubts else 0.8


@compiled
def _reliability(seen: Record, place: int, style: Style, partner: int) -> float:
    """How likely it is that a volunteer's card fits."""
    if place == partner:
        return 1.0
    fitting = seen.times_chosen - seen.junk_shown - seen.traitors_shown
    return _rate(fitting, seen.times_chosen, place, 0.6) if style.doubts else 0.7


@compiled
def _unseen(seen: Record) -> NDArray[np.int64]:
    """How many cards of each type one has not seen, (NUM_TYPES,)."""
    unseen = np.zeros(NUM_TYPES, np.int64)
    for card in range(NUM_TYPES):
        unseen[card] = seen.deck[card] - seen.discard[card] - seen.hand[card]
        if card < NUM_TREASURES:
            for place in range(MAX_PLAYERS):
                unseen[card] -= seen.hideouts[place, card]
    return unseen


@compiled
def _share_that_fits(unseen: NDArray[np.int64], card: int) -> float:
    """The share, among unseen cards, of those that make a success with a card."""
    fitting = total = 0
    for other in range(NUM_TYPES):
        total += unseen[other]
        if OUTCOME[card, other] == SUCCESS:
            fitting += unseen[other]
    return max(0, fitting) / max(1, total)


@compiled
def _lead(seen: Record, legal: NDArray[np.int8], style: Style, first: float) -> int:
    """The card with the best prospect, or the Traitor."""
    if legal[PLAY + TRAITOR] and first < 0.6 * style.betrays:
        return PLAY + TRAITOR
    held = 0
    for place in range(1, MAX_PLAYERS):
        held += seen.hand_sizes[place]
    unseen = _unseen(seen)
    best, best_worth = -1, -1.0
    for card in range(NUM_TYPES):
        if not legal[PLAY + card]:
            continue
        worth = 0.02 if card in (ALARM, TRAITOR) else 0.05
        if card < NUM_TREASURES:
            found = 1.0 - np.exp(-held * _share_that_fits(unseen, card))
            worth = (0.15 + found) * _own_worth(seen, _gain(seen, 0, card))
            if card in (SKELETON, JACKPOT):
                worth *= 0.9
        if worth > best_worth:
            best, best_worth = card, worth
    return PLAY + best


@compiled
def _claim(seen: Record, legal: NDArray[np.int8], style: Style, first: float, second: float) -> int:
    """The truth; of a Traitor or an Alarm, a Key whose Loot one would like to have."""
    card = _mark(seen.face_down)
    if card < NUM_TREASURES and first >= style.lies:
        return CLAIM + card
    unseen = _unseen(seen)
    best, best_worth = -1, -1.0
    for claim in range(NUM_TREASURES):
        if legal[CLAIM + claim]:
            worth = second * 0.5
            if claim < LOOT:
                worth += _gain(seen, 0, LOOT + claim) * _share_that_fits(unseen, claim) * 10
            if worth > best_worth:
                best, best_worth = claim, worth
            second = (second * 7.3) % 1.0
    return CLAIM + best


@compiled
def _volunteer(seen: Record, legal: NDArray[np.int8], style: Style, partner: int, first: float, second: float) -> int:
    """A card that fits, a Traitor for the leader's Loot, junk to spoil the coup, or nothing."""
    leader, claim = _mark(seen.leader), _mark(seen.claim)
    trust = _trust(seen, leader, style, partner)
    leaders = _others_worth(seen, leader, _gain(seen, leader, claim), partner)
    best, best_worth = PASS, style.needs
    for card in range(NUM_TYPES):
        if not legal[PLAY + card]:
            continue
        worth = -1.0
        if card < NUM_TREASURES and OUTCOME[claim, card] == SUCCESS and first < style.volunteers:
            worth = trust * (_own_worth(seen, _gain(seen, 0, card)) - leaders) - (1.0 - trust) * 0.1
            if card >= LOOT and card != SKELETON:
                worth -= 0.1
        elif leader == partner:  # nothing is done against him
            worth = -1.0
        elif card == TRAITOR and claim >= LOOT and claim != SKELETON and first < style.betrays:
            worth = trust * (_own_worth(seen, _gain(seen, 0, claim)) + 0.5)
        elif second < style.bluffs or leaders >= _WIN:
            worth = trust * leaders * 0.5 - (0.3 if card in (TRAITOR, ALARM) else 0.07 * _gain(seen, 0, card))
            worth = max(worth, 0.01) if second < 0.3 * style.bluffs else worth
        if worth > best_worth:
            best, best_worth = PLAY + card, worth
    return best


@compiled
def _choose(seen: Record, legal: NDArray[np.int8], style: Style, partner: int, first: float) -> int:
    """The volunteer, or the pile, that promises most."""
    card = _mark(seen.face_down)
    loot = card == JACKPOT or LOOT <= card < SKELETON
    best, best_worth = -1, -1000.0
    if legal[TAKE_PILE]:
        own = _own_worth(seen, _gain(seen, 0, card)) if card < NUM_TREASURES else 0.0
        best, best_worth = TAKE_PILE, own * _share_that_fits(_unseen(seen), card)
    for k in range(MAX_PLAYERS - 1):
        if legal[CHOOSE + k]:
            place = k + 1
            fits = _reliability(seen, place, style, partner)
            if card == TRAITOR:
                worth = fits * 2.0
            elif card >= NUM_TREASURES:
                worth = 0.01
            else:
                worth = fits * (_own_worth(seen, _gain(seen, 0, card)) - _others_worth(seen, place, style.envy, partner))
                if loot:
                    worth -= 0.3 * (1.0 - fits) * _others_worth(seen, place, _gain(seen, place, card), partner)
            worth += 0.01 * ((first * (k + 3)) % 1.0)
            if worth > best_worth:
                best, best_worth = CHOOSE + k, worth
    return best


@compiled
def _sound(seen: Record, style: Style, partner: int) -> int:
    """Spoil what brings the others much; the last Alarm only where that wins."""
    leader, accomplice = _mark(seen.leader), _mark(seen.accomplice)
    harm = _others_worth(seen, leader, _gain(seen, leader, _mark(seen.leader_card)), partner)
    if accomplice > 0:
        harm += _others_worth(seen, accomplice, _gain(seen, accomplice, _mark(seen.accomplice_card)), partner)
    if seen.police_file + 1 == seen.deck[ALARM]:
        best = 0
        for place in range(1, MAX_PLAYERS):
            best = max(best, seen.scores[place])
        return SOUND if seen.scores[0] > best or (seen.scores[0] == best and harm >= _WIN) else PASS
    return SOUND if harm >= style.sounds_at else PASS


@compiled
def _betray(seen: Record, legal: NDArray[np.int8], partner: int) -> int:
    """Keep or steal what is worth most, less to oneself than to the victim."""
    led, answered = _mark(seen.leader_card), _mark(seen.accomplice_card)
    victim = _mark(seen.accomplice) if led == TRAITOR else _mark(seen.leader)
    best, best_worth = KEEP, _own_worth(seen, _gain(seen, 0, answered if led == TRAITOR else led))
    for k in range(MAX_PLACES + 1):
        card = LOOT + k if k < MAX_PLACES else JACKPOT
        if legal[STEAL + k]:
            worth = _own_worth(seen, _gain(seen, 0, card)) + _others_worth(seen, victim, _loss(seen, victim, card), partner)
            if worth > best_worth:
                best, best_worth = STEAL + k, worth
    return best


@compiled
def _decide(seen: Record, legal: NDArray[np.int8], style: Style, chances: NDArray[np.float64]) -> int:
    partner = style.partner % int(seen.seated.sum()) if style.partner else NOBODY
    if legal[KEEP]:
        return _betray(seen, legal, partner)
    if legal[SOUND]:
        return _sound(seen, style, partner)
    if seen.claim[NO_CLAIM]:
        if seen.face_down[NO_CARD]:
            return _lead(seen, legal, style, chances[0])
        return _claim(seen, legal, style, chances[0], chances[1])
    if seen.leader[0]:
        return _choose(seen, legal, style, partner, chances[0])
    if seen.leader_card[NO_CARD]:
        return _volunteer(seen, legal, style, partner, chances[0], chances[1])
    return PASS


@compiled
def decide(
    rows: NDArray[np.void],
    masks: NDArray[np.int8],
    style: Style,
    chances: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """An action for each row; `chances` are uniform in [0, 1), (N, NUM_CHANCES)."""
    scratch = np.zeros(1, _SEEN)  # hideouts are tried out in it
    for i in range(len(rows)):
        scratch[0] = rows[i]
        actions[i] = _decide(scratch[0], masks[i], style, chances[i])
