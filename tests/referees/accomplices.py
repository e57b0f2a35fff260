"""Referee of Accomplices: a slow, plain, independent reading of the rule page.

Used only by tests, side by side with the compiled rules. Nothing here is
shared with them. Comments name the ruling a line follows: ACC-x is a gap of
section b, h.x a precision, a/c/f/g a section of the page.

Card types, in the canonical order that chance outcomes, hands and counts use
(the same at every table, whatever the number of places):

    0-4    K0..K4  Key of place 0..4
    5-9    B0..B4  Loot of place 0..4
    10     P       skeleton key, a Key of any place
    11     J       jackpot, a Loot of any place
    12     T       Traitor
    13     A       Alarm

PLAY actions 0-13 are the card types. Claims are numbered 0..11 in the order
of actions 14-25: Key 0..4, Loot 0..4, skeleton key, jackpot.

Chance gives one card at a time: the outcome is the card type, its weight the
number of such cards left in the pile (the order inside the pile is never
fixed beforehand, so a shuffled discard simply becomes the pile). Three kinds
of chance move give a card: DEAL (seat 0 first, a hand at a time), REVEAL (the
card turned as accomplice) and RESOLVE (the refill, from the leader clockwise).
``chance_recipient`` says whose hand the next card goes to, None for a turned
card. With ``first_player="random"`` the very first outcome is the seat.

public() -> dict, the same for everybody:

    phase         SETUP | DEAL | LEAD | CLAIM | VOLUNTEER | CHOOSE | REVEAL |
                  ALARM | BETRAY | RESOLVE | OVER (SETUP, DEAL, REVEAL and
                  RESOLVE are only ever seen while chance is to act)
    actor         seat that is asked, None at chance and at the end
    leader        seat leading the coup under way (at RESOLVE and OVER: the
                  coup just played); None at SETUP
    coups         coups completed
    max_coups     the cap
    claim         claim number 0..11 of the coup under way, None before it
    volunteers    per seat True / False, None while not public; the leader's
                  is False from VOLUNTEER on; all None outside a coup
    accomplice    seat or "pile" once chosen, else None
    revealed      None, or (leader's card, accomplice's card) of the coup
                  under way; never set at RESOLVE and OVER
    alarm_answers per seat "PASS" if declined openly in this coup, else None
    hideouts      per seat 12 counts (types 0..11)
    scores        per seat
    discard       14 counts
    file          Alarms in the police file
    num_alarms    Alarms in the deck
    pile_size     cards in the pile
    hand_sizes    per seat, as everybody sees them (h.4)
    reshuffles    number of times the discard became the pile
    shuffled_in   14 counts, what went in at the last one
    drawn_since   per seat, cards drawn to the hand since the last one
    last_coup     None before the first, then a dict:
                  leader, claim, volunteers (per seat bool), accomplice
                  (seat or "pile"), leader_card, accomplice_card (None when
                  there was no card to turn), outcome ("SUCCESS",
                  "BETRAYAL", "FAIL", "RUNG"), sounder (seat or None),
                  traitor (seat or None), loot_choice ("KEEP", "STEAL" or
                  None), loot (type kept or stolen, or None)

private(seat) -> dict, what only that seat knows:

    hand             sorted card types, without the card laid face down
    face_down        own card lying face down, else None
    volunteer_answer "PASS" or "LAID" from the answer until all have answered
    alarm_answer     "PASS" or "SOUND", simultaneous window only, from the
                     answer until all have answered
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations

MAX_PLACES = 5

# the canonical card types
KEY_OF_PLACE = 0  # + place
LOOT_OF_PLACE = 5  # + place
SKELETON = 10
JACKPOT = 11
TRAITOR = 12
ALARM_CARD = 13
NUM_TYPES = 14
NUM_HIDEOUT_TYPES = 12
TYPE_NAMES = ["K0", "K1", "K2", "K3", "K4", "B0", "B1", "B2", "B3", "B4", "P", "J", "T", "A"]

# f: the flat action numbers; 0..13 play that type
FIRST_CLAIM = 14
NUM_CLAIMS = 12
PASS = 26
SOUND = 27
TAKE_PILE = 28
FIRST_CHOICE = 29  # relative seats 1..5, seen from the leader
KEEP = 34
FIRST_STEAL = 35  # five Loots, then the jackpot

CHANCE = -1
OVER = -4
PILE = "pile"

SCORE_SCALE = 14
EXTRA_SCALE = 4

# g: a preset's own cap ends that game properly (h.1), so it is in the data;
# whoever overrides max_coups must also set cap_terminates back to False
PRESETS = {
    "tiny": {
        "num_players": 3,
        "num_places": 1,
        "keys_per_place": 2,
        "loots_per_place": 2,
        "num_skeleton_keys": 0,
        "num_jackpots": 0,
        "num_traitors": 1,
        "num_alarms": 2,
        "hand_size": 2,
        "target_score": 3,
        "max_coups": 2,
        "cap_terminates": True,
    },
    "small": {
        "num_players": 3,
        "num_places": 1,
        "keys_per_place": 3,
        "loots_per_place": 3,
        "num_skeleton_keys": 0,
        "num_jackpots": 0,
        "num_traitors": 1,
        "num_alarms": 1,
        "hand_size": 2,
        "target_score": 3,
        "max_coups": 2,
        "cap_terminates": True,
    },
    "micro": {
        "num_players": 3,
        "num_places": 2,
        "keys_per_place": 2,
        "loots_per_place": 1,
        "num_skeleton_keys": 0,
        "num_jackpots": 0,
        "num_traitors": 1,
        "num_alarms": 1,
        "hand_size": 2,
        "target_score": 3,
        "max_coups": 1,
        "cap_terminates": True,
    },
}


@dataclass
class Player:
    hand: list = field(default_factory=list)
    hideout: list = field(default_factory=list)
    face_down: int | None = None
    volunteer: bool | None = None
    alarm: str | None = None
    drawn_since: int = 0


@dataclass
class Coup:
    """What the coup under way has shown or decided so far."""

    claim: int | None = None
    volunteers: list | None = None  # set when all have answered
    accomplice: object = None  # seat or PILE
    turned: bool = False
    x: int | None = None
    y: int | None = None
    outcome: str | None = None
    sounder: int | None = None
    traitor: int | None = None
    loot_choice: str | None = None
    loot: int | None = None


def is_key(card) -> bool:
    return card is not None and (card < LOOT_OF_PLACE or card == SKELETON)


def is_loot(card) -> bool:
    return card is not None and (LOOT_OF_PLACE <= card < SKELETON or card == JACKPOT)


def makes_a_coup(one, other) -> bool:
    """a: a Key and a Loot of one place, wilds fitting anything."""
    if is_loot(one):
        one, other = other, one
    if not (is_key(one) and is_loot(other)):
        return False
    if one == SKELETON or other == JACKPOT:
        return True
    return one - KEY_OF_PLACE == other - LOOT_OF_PLACE


def counts_of(cards, length=NUM_TYPES) -> list[int]:
    counts = [0] * length
    for card in cards:
        counts[card] += 1
    return counts


# ----------------------------------------------------------------------
# worth of a hideout, by trying every grouping


@cache
def _most_pairs(keys, wilds, needs_real) -> int:
    best = 0
    for place, count in enumerate(keys):
        rest = list(keys)
        if count >= 2:
            rest[place] = count - 2
            best = max(best, 1 + _most_pairs(tuple(sorted(rest)), wilds, needs_real))
        if count >= 1 and wilds >= 1:
            rest[place] = count - 1
            best = max(best, 1 + _most_pairs(tuple(sorted(rest)), wilds - 1, needs_real))
    if wilds >= 2 and not needs_real:  # ACC-26, h.12
        best = max(best, 1 + _most_pairs(keys, wilds - 2, needs_real))
    return best


@cache
def _most_families(loots, wilds, needs_real) -> int:
    if len(loots) < 3:
        return 0  # a: there are no three different places
    best = 0
    present = [place for place, count in enumerate(loots) if count]
    for real in (0, 1, 2, 3):
        if 3 - real > wilds or (real == 0 and needs_real):  # ACC-26, h.12
            continue
        for places in combinations(present, real):
            rest = list(loots)
            for place in places:
                rest[place] -= 1
            rest = tuple(sorted(rest))
            best = max(best, 1 + _most_families(rest, wilds - (3 - real), needs_real))
    return best


def hideout_score(cards, num_places=MAX_PLACES, wild_needs_real=False) -> int:
    counts = counts_of(cards)
    keys = tuple(sorted(counts[KEY_OF_PLACE : KEY_OF_PLACE + num_places]))
    loots = tuple(sorted(counts[LOOT_OF_PLACE : LOOT_OF_PLACE + num_places]))
    pairs = _most_pairs(keys, counts[SKELETON], wild_needs_real)
    families = _most_families(loots, counts[JACKPOT], wild_needs_real)
    alone = len(cards) - 2 * pairs - 3 * families
    return 4 * pairs + 7 * families + alone  # ACC-25


# ----------------------------------------------------------------------
# options


def _whole_number(name, value, low, high=None):
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if number < low or (high is not None and number > high):
        upper = "any" if high is None else high
        raise ValueError(f"{name}={number} is outside {low}..{upper}")
    return number


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, not {value!r}")
    return value


class Referee:
    def __init__(
        self,
        num_players=4,
        *,
        first_player=0,
        num_places=5,
        keys_per_place=6,
        loots_per_place=6,
        num_skeleton_keys=3,
        num_jackpots=3,
        num_traitors=6,
        num_alarms=None,
        hand_size=5,
        target_score=10,
        max_coups=200,
        volunteer_order="simultaneous",
        alarm_window="sequential",
        wild_needs_real=False,
        reward="win",
        cap_terminates=False,
    ):
        self.n = _whole_number("num_players", num_players, 3, 6)  # ACC-1
        if isinstance(first_player, str):
            self.first_player = _one_of("first_player", first_player, ("random",))
        else:
            self.first_player = _whole_number("first_player", first_player, 0, self.n - 1)
        # h.1
        self.num_places = _whole_number("num_places", num_places, 1, MAX_PLACES)
        self.keys_per_place = _whole_number("keys_per_place", keys_per_place, 0, 12)
        self.loots_per_place = _whole_number("loots_per_place", loots_per_place, 0, 12)
        self.num_skeleton_keys = _whole_number("num_skeleton_keys", num_skeleton_keys, 0, 12)
        self.num_jackpots = _whole_number("num_jackpots", num_jackpots, 0, 12)
        self.num_traitors = _whole_number("num_traitors", num_traitors, 0, 12)
        if num_alarms is None:
            num_alarms = self.n
        self.num_alarms = _whole_number("num_alarms", num_alarms, 1, 12)
        self.hand_size = _whole_number("hand_size", hand_size, 1, 8)
        self.target_score = _whole_number("target_score", target_score, 1)
        self.max_coups = _whole_number("max_coups", max_coups, 1)
        self.volunteer_order = _one_of("volunteer_order", volunteer_order, ("simultaneous", "sequential"))
        self.alarm_window = _one_of("alarm_window", alarm_window, ("sequential", "simultaneous"))
        self.wild_needs_real = bool(wild_needs_real)
        self.reward = _one_of("reward", reward, ("win", "score"))
        self.cap_terminates = bool(cap_terminates)

        self.deck = self._build_deck()
        if len(self.deck) < self.n * self.hand_size:
            raise ValueError("the deck is too small for the hands")  # h.1
        if not self._claim_choices():
            raise ValueError("no card of this deck can be claimed")  # h.1

        self.players = [Player() for _ in range(self.n)]
        self.pile = list(self.deck)
        self.discard: list[int] = []
        self.file = 0
        self.leader: int | None = None
        self.coups = 0
        self.coup: Coup | None = None
        self.last_coup: dict | None = None
        self.reshuffles = 0
        self.shuffled_in = [0] * NUM_TYPES
        self.waiting: list[int] = []  # seats still to be asked or served
        self.ending: str | None = None  # "police", "ten" or "cap"
        self.truncated = False

        if self.first_player == "random":
            self.phase = "SETUP"  # h.7
        else:
            self.phase = ""
            self.leader = self.first_player  # ACC-3
            self._start_deal()

    def _build_deck(self) -> list[int]:
        deck = []
        for place in range(self.num_places):
            deck += [KEY_OF_PLACE + place] * self.keys_per_place
            deck += [LOOT_OF_PLACE + place] * self.loots_per_place
        deck += [SKELETON] * self.num_skeleton_keys
        deck += [JACKPOT] * self.num_jackpots
        deck += [TRAITOR] * self.num_traitors
        deck += [ALARM_CARD] * self.num_alarms
        return sorted(deck)

    # ------------------------------------------------------------------
    # what the harness asks

    def current_player(self) -> int:
        if self.phase == "OVER":
            return OVER
        if self._chance_is_next():
            return CHANCE
        return self._actor()

    @property
    def chance_recipient(self) -> int | None:
        return self.waiting[0] if self.phase in ("DEAL", "RESOLVE") else None

    def chance_outcomes(self) -> dict[int, int]:
        if not self._chance_is_next():
            return {}
        if self.phase == "SETUP":
            return dict.fromkeys(range(self.n), 1)
        return {card: self.pile.count(card) for card in sorted(set(self.pile))}

    def legal_actions(self) -> list[int]:
        if self.phase == "OVER" or self._chance_is_next():
            return []
        if self.phase == "LEAD":
            return sorted(set(self.players[self.leader].hand))
        if self.phase == "CLAIM":
            return self._claim_choices()
        if self.phase == "VOLUNTEER":
            # ACC-24, f: asked also with an empty hand
            return [*sorted(set(self.players[self._actor()].hand)), PASS]
        if self.phase == "CHOOSE":
            return self._accomplice_choices()
        if self.phase == "ALARM":
            return [PASS, SOUND] if ALARM_CARD in self.players[self._actor()].hand else [PASS]
        if self.phase == "BETRAY":
            return self._betray_choices()
        raise AssertionError(self.phase)

    def apply(self, action: int) -> None:
        if isinstance(action, bool):
            raise ValueError(f"not an action: {action!r}")
        try:
            action = operator.index(action)
        except TypeError:
            raise ValueError(f"not an action: {action!r}") from None
        if self.phase == "OVER":
            raise ValueError("the game is over")
        if self._chance_is_next():
            if action not in self.chance_outcomes():
                raise ValueError(f"chance cannot give {action} in {self.phase}")
            if self.phase == "SETUP":
                self.leader = action
                self._start_deal()
            elif self.phase == "DEAL":
                self._card_dealt(action)
            elif self.phase == "REVEAL":
                self._card_turned(action)
            else:
                self._card_drawn(action)
            return
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in {self.phase}")
        if self.phase == "LEAD":
            self._answer_lead(action)
        elif self.phase == "CLAIM":
            self._answer_claim(action)
        elif self.phase == "VOLUNTEER":
            self._answer_volunteer(action)
        elif self.phase == "CHOOSE":
            self._answer_choose(action)
        elif self.phase == "ALARM":
            self._answer_alarm(action)
        else:
            self._answer_betray(action)

    def scores(self) -> list[int]:
        return [hideout_score(p.hideout, self.num_places, self.wild_needs_real) for p in self.players]

    def winners(self) -> list[int]:
        """a, ACC-27, ACC-28: points, then Keys and skeleton keys, then shared."""
        points = self.scores()
        if self.ending == "ten":
            running = [seat for seat in range(self.n) if points[seat] >= self.target_score]
        else:
            running = list(range(self.n))
        most_points = max(points[seat] for seat in running)
        running = [seat for seat in running if points[seat] == most_points]
        keys = {seat: sum(1 for card in self.players[seat].hideout if is_key(card)) for seat in running}
        most_keys = max(keys.values())
        return [seat for seat in running if keys[seat] == most_keys]

    def returns(self) -> list[float]:
        if self.phase != "OVER":
            return [0.0] * self.n
        if self.reward == "score":
            points = self.scores()
            scale = max(SCORE_SCALE, self.target_score + EXTRA_SCALE)  # h.13
            result = []
            for seat in range(self.n):
                others = [points[j] for j in range(self.n) if j != seat]
                result.append((points[seat] - sum(others) / len(others)) / scale)
            return result
        winners = self.winners()
        result = []
        for seat in range(self.n):
            weight = 1.0 / len(winners) if seat in winners else 0.0
            result.append((self.n * weight - 1.0) / (self.n - 1.0))
        return result

    def public(self) -> dict:
        asked = self.current_player()
        coup = self.coup
        return {
            "phase": self.phase,
            "actor": asked if asked >= 0 else None,
            "leader": self.leader,
            "coups": self.coups,
            "max_coups": self.max_coups,
            "claim": coup.claim if coup else None,
            "volunteers": self._volunteers_as_seen(),
            "accomplice": coup.accomplice if coup else None,
            "revealed": (coup.x, coup.y) if coup and coup.turned else None,
            "alarm_answers": [p.alarm if self.alarm_window == "sequential" else None for p in self.players],
            "hideouts": [counts_of(p.hideout, NUM_HIDEOUT_TYPES) for p in self.players],
            "scores": self.scores(),
            "discard": counts_of(self.discard),
            "file": self.file,
            "num_alarms": self.num_alarms,
            "pile_size": len(self.pile),
            "hand_sizes": self._hand_sizes_as_seen(),
            "reshuffles": self.reshuffles,
            "shuffled_in": list(self.shuffled_in),
            "drawn_since": [p.drawn_since for p in self.players],
            "last_coup": self._last_coup_as_seen(),
        }

    def private(self, seat) -> dict:
        player = self.players[seat]
        volunteer_answer = None
        if self.phase == "VOLUNTEER" and seat != self.leader and player.volunteer is not None:
            volunteer_answer = "LAID" if player.volunteer else "PASS"
        return {
            "hand": sorted(player.hand),
            "face_down": player.face_down,
            "volunteer_answer": volunteer_answer,
            "alarm_answer": player.alarm if self.alarm_window == "simultaneous" else None,
        }

    # ------------------------------------------------------------------
    # small questions

    def _clockwise_from_leader(self) -> list[int]:
        return [(self.leader + step) % self.n for step in range(self.n)]

    def _chance_is_next(self) -> bool:
        return self.phase in ("SETUP", "DEAL", "REVEAL", "RESOLVE")

    def _actor(self) -> int:
        if self.phase in ("VOLUNTEER", "ALARM"):
            return self.waiting[0]
        if self.phase == "BETRAY":
            return self.coup.traitor
        return self.leader

    def _claim_choices(self) -> list[int]:
        # ACC-4, ACC-5, g: any claim about a type that is in the deck
        return [FIRST_CLAIM + card for card in range(NUM_CLAIMS) if card in self.deck]

    def _accomplice_choices(self) -> list[int]:
        choices = []
        if self.pile or self.discard:  # ACC-9, ACC-24
            choices.append(TAKE_PILE)
        for relative in range(1, self.n):
            if self.coup.volunteers[(self.leader + relative) % self.n]:
                choices.append(FIRST_CHOICE + relative - 1)
        return choices

    def _victim(self) -> int:
        # ACC-15
        return self.coup.accomplice if self.coup.traitor == self.leader else self.leader

    def _revealed_loot(self) -> int:
        return self.coup.y if self.coup.traitor == self.leader else self.coup.x

    def _betray_choices(self) -> list[int]:
        present = self.players[self._victim()].hideout
        choices = [KEEP]
        for position, card in enumerate([*range(LOOT_OF_PLACE, LOOT_OF_PLACE + MAX_PLACES), JACKPOT]):
            if card in present:  # ACC-13
                choices.append(FIRST_STEAL + position)
        return choices

    def _volunteers_as_seen(self) -> list:
        if self.coup is None:
            return [None] * self.n
        if self.coup.volunteers is not None:
            return list(self.coup.volunteers)
        if self.phase != "VOLUNTEER":
            return [None] * self.n
        if self.volunteer_order == "sequential":
            return [p.volunteer for p in self.players]  # h.3
        return [False if seat == self.leader else None for seat in range(self.n)]  # ACC-7

    def _last_coup_as_seen(self) -> dict | None:
        if self.last_coup is None:
            return None
        return {**self.last_coup, "volunteers": list(self.last_coup["volunteers"])}

    def _hand_sizes_as_seen(self) -> list[int]:
        # h.4: a laid card counts until the volunteers have all answered
        sizes = []
        for player in self.players:
            size = len(player.hand)
            if self.phase in ("CLAIM", "VOLUNTEER") and player.face_down is not None:
                size += 1
            sizes.append(size)
        return sizes

    # ------------------------------------------------------------------
    # small effects

    def _make_card_available(self) -> bool:
        """ACC-23, ACC-24: False when pile and discard are both empty."""
        if not self.pile and self.discard:
            self.pile = self.discard
            self.discard = []
            self.reshuffles += 1
            self.shuffled_in = counts_of(self.pile)
            for player in self.players:
                player.drawn_since = 0  # h.6
        return bool(self.pile)

    def _game_over(self, ending) -> None:
        self.phase = "OVER"
        self.ending = ending
        self.waiting = []
        self.truncated = ending == "cap" and not self.cap_terminates  # h.1

    # ------------------------------------------------------------------
    # DEAL

    def _start_deal(self) -> None:
        self.phase = "DEAL"
        self.waiting = list(range(self.n))  # h.5

    def _card_dealt(self, card) -> None:
        self.pile.remove(card)
        hand = self.players[self.waiting[0]].hand
        hand.append(card)
        if len(hand) == self.hand_size:
            self.waiting.pop(0)
        if not self.waiting:
            self._start_lead(self.leader)

    # ------------------------------------------------------------------
    # LEAD, CLAIM

    def _start_lead(self, wanted) -> None:
        # ACC-6, ACC-24, h.9: an empty-handed seat is passed over. One seat can
        # always lead, since an Alarm outside the file is in a hand, or can be drawn.
        self.leader = next((wanted + step) % self.n for step in range(self.n) if self.players[(wanted + step) % self.n].hand)
        self.coup = Coup()
        for player in self.players:
            player.volunteer = None
            player.alarm = None
        self.phase = "LEAD"

    def _answer_lead(self, card) -> None:
        player = self.players[self.leader]
        player.hand.remove(card)
        player.face_down = card
        self.phase = "CLAIM"
        if len(self._claim_choices()) == 1:
            self._answer_claim(self._claim_choices()[0])  # h.10

    def _answer_claim(self, action) -> None:
        self.coup.claim = action - FIRST_CLAIM
        self.phase = "VOLUNTEER"
        self.players[self.leader].volunteer = False
        self.waiting = self._clockwise_from_leader()[1:]  # h.3

    # ------------------------------------------------------------------
    # VOLUNTEER, CHOOSE

    def _answer_volunteer(self, action) -> None:
        player = self.players[self.waiting.pop(0)]
        if action == PASS:
            player.volunteer = False
        else:
            player.hand.remove(action)
            player.face_down = action
            player.volunteer = True
        if not self.waiting:
            self._start_choose()

    def _start_choose(self) -> None:
        self.coup.volunteers = [p.volunteer for p in self.players]
        self.phase = "CHOOSE"
        choices = self._accomplice_choices()
        if not any(self.coup.volunteers):
            self._answer_choose(TAKE_PILE)  # e.29; with no card anywhere see h.8
        elif len(choices) == 1:
            self._answer_choose(choices[0])  # a

    def _answer_choose(self, action) -> None:
        if action == TAKE_PILE:
            self.coup.accomplice = PILE
        else:
            self.coup.accomplice = (self.leader + action - FIRST_CHOICE + 1) % self.n
        # ACC-10: the rejected go back unseen
        for seat, player in enumerate(self.players):
            if self.coup.volunteers[seat] and seat != self.coup.accomplice:
                player.hand.append(player.face_down)
                player.face_down = None
        if self.coup.accomplice != PILE:
            accomplice = self.players[self.coup.accomplice]
            card = accomplice.face_down
            accomplice.face_down = None
            self._reveal(card)
        elif self._make_card_available():
            self.phase = "REVEAL"
        else:
            self._reveal(None)  # ACC-24, h.8

    # ------------------------------------------------------------------
    # REVEAL

    def _card_turned(self, card) -> None:
        self.pile.remove(card)
        self._reveal(card)

    def _reveal(self, y) -> None:
        coup = self.coup
        coup.x = self.players[self.leader].face_down
        self.players[self.leader].face_down = None
        coup.y = y
        coup.turned = True
        if coup.accomplice == PILE:
            if coup.y == ALARM_CARD:
                coup.outcome = "RUNG"  # ACC-20, h.11: whatever x is
            elif makes_a_coup(coup.x, coup.y):
                coup.outcome = "SUCCESS"
            else:
                coup.outcome = "FAIL"  # also with a Traitor, or with no card at all
        elif makes_a_coup(coup.x, coup.y):
            coup.outcome = "SUCCESS"
        elif coup.x == TRAITOR and is_loot(coup.y):
            coup.outcome = "BETRAYAL"
            coup.traitor = self.leader
        elif coup.y == TRAITOR and is_loot(coup.x):
            coup.outcome = "BETRAYAL"
            coup.traitor = coup.accomplice
        else:
            coup.outcome = "FAIL"  # ACC-11, ACC-12, ACC-19
        if coup.outcome == "SUCCESS":
            self._start_alarm()
        elif coup.outcome == "BETRAYAL":
            self._start_betray()  # ACC-18: no window
        else:
            self._resolve()

    # ------------------------------------------------------------------
    # ALARM

    def _start_alarm(self) -> None:
        self.phase = "ALARM"
        # ACC-16, ACC-17: with the pile as accomplice all but the leader are outside
        self.waiting = [seat for seat in self._clockwise_from_leader()[1:] if seat != self.coup.accomplice]

    def _answer_alarm(self, action) -> None:
        seat = self.waiting.pop(0)
        self.players[seat].alarm = "SOUND" if action == SOUND else "PASS"
        if self.alarm_window == "sequential" and action == SOUND:
            self.waiting = []  # ACC-16: one Alarm a coup
        if self.waiting:
            return
        for nearest in self._clockwise_from_leader()[1:]:  # h.3
            if self.players[nearest].alarm == "SOUND":
                self.coup.sounder = nearest
                break
        self._resolve()

    # ------------------------------------------------------------------
    # BETRAY

    def _start_betray(self) -> None:
        self.phase = "BETRAY"
        if self._betray_choices() == [KEEP]:
            self._answer_betray(KEEP)  # ACC-14, h.10

    def _answer_betray(self, action) -> None:
        coup = self.coup
        if action == KEEP:
            coup.loot_choice = "KEEP"
            coup.loot = self._revealed_loot()
        else:
            coup.loot_choice = "STEAL"
            position = action - FIRST_STEAL
            coup.loot = JACKPOT if position == MAX_PLACES else LOOT_OF_PLACE + position
        self._resolve()

    # ------------------------------------------------------------------
    # RESOLVE

    def _resolve(self) -> None:
        self.phase = "RESOLVE"
        self._move_cards()  # (1)
        self._record_coup()
        if self.file >= self.num_alarms:
            self._game_over("police")  # (2), ACC-21, ACC-22
        elif max(self.scores()) >= self.target_score:
            self._game_over("ten")  # (3)
        elif self.coups >= self.max_coups:
            self._game_over("cap")  # (3b), h.2, ACC-28
        else:
            self.waiting = self._clockwise_from_leader()  # (4), h.5
            self._continue_refill()

    def _move_cards(self) -> None:
        coup = self.coup
        leader = self.players[self.leader]
        if coup.outcome == "SUCCESS":
            if coup.sounder is not None:
                self.players[coup.sounder].hand.remove(ALARM_CARD)
                self.file += 1
                self.discard += [coup.x, coup.y]
            else:
                leader.hideout.append(coup.x)
                if coup.accomplice == PILE:
                    self.discard.append(coup.y)
                else:
                    self.players[coup.accomplice].hideout.append(coup.y)
        elif coup.outcome == "BETRAYAL":
            self.discard.append(TRAITOR)
            if coup.loot_choice == "STEAL":
                self.players[self._victim()].hideout.remove(coup.loot)
                self.discard.append(self._revealed_loot())
            self.players[coup.traitor].hideout.append(coup.loot)
        elif coup.outcome == "RUNG":
            self.file += 1
            self.discard.append(coup.x)
        else:
            self.discard.append(coup.x)
            if coup.y is not None:
                self.discard.append(coup.y)

    def _record_coup(self) -> None:
        coup = self.coup
        self.coups += 1  # h.8, h.9
        self.last_coup = {
            "leader": self.leader,
            "claim": coup.claim,
            "volunteers": list(coup.volunteers),
            "accomplice": coup.accomplice,
            "leader_card": coup.x,
            "accomplice_card": coup.y,
            "outcome": coup.outcome,
            "sounder": coup.sounder,
            "traitor": coup.traitor,
            "loot_choice": coup.loot_choice,
            "loot": coup.loot,
        }
        # h.11: from here on the coup is the last coup
        self.coup = None
        for player in self.players:
            player.volunteer = None
            player.alarm = None

    def _continue_refill(self) -> None:
        while self.waiting:
            if len(self.players[self.waiting[0]].hand) >= self.hand_size:
                self.waiting.pop(0)
            elif self._make_card_available():
                return
            else:
                self.waiting = []  # ACC-24
        self._start_lead((self.leader + 1) % self.n)  # (5)

    def _card_drawn(self, card) -> None:
        self.pile.remove(card)
        player = self.players[self.waiting[0]]
        player.hand.append(card)
        if self.reshuffles:
            player.drawn_since += 1  # h.6
        self._continue_refill()
