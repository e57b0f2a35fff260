"""Referee of Cleaners: a slow, plain, independent reading of the rule page.

Used only by tests, side by side with the compiled rules. Nothing here is
shared with them. Comments name the ruling a line follows: CLE-x is a gap of
section b, h.x a precision, a/f/g a section of the page.

Options are those of section g plus keyhole_value (h.12) and cap_terminates.
PRESETS holds section g's presets as options (num_players included). Cards of
`instant_win_cards` are written "weapon", "dog", "body", "keyhole", or as the
number of an object.

Chance
======
Chance deals one card at a time, in this order:

1. only with first_player="random": the first seat (outcome = seat);
2. the `num_face_up` objects that lie face up, one after another
   (outcome = index in `villa_types`, always an object);
3. the complete Villa pile from the top, V cards one after another
   (outcome = index in `villa_types`); position k of the pile is slot k;
4. unless mode is rookie, the character of seat 0, 1, ... (outcome = index in
   `character_types`); the two characters set aside are never dealt: a weight
   already sums over them;
5. the hand of seat 0, then of seat 1, ... (outcome = Vice value);
6. later, every refill (outcome = Vice value).

A single possible outcome is still asked. Steps 2 and 3 are hidden from
everybody apart from what public() shows. The weight of an outcome is the
number of such cards still to be dealt; the one exception is step 4 in the two
Murderer modes, where the weights are integers in the right proportion.

Canonical lists, all attributes of the referee:

* `villa_types`: objects ascending (as numbers), then those of "weapon",
  "dog", "body", "keyhole" that are in play. Every type is one card.
* `character_types`: the names of `characters` in the given order, then
  "Murderer" in the two Murderer modes. Every type is one card.
* `vice_types`: 0, 1, ..., 10 (0 is the Fly), whatever values are in play.

`chance_event` is None at decisions, else a tuple naming the event the next
card belongs to, e.g. ("ROOT",), ("CHARACTER", seat), ("HAND", seat),
("REFILL", seat, number): cards dealt under an equal tuple are one event.

public()
========
phase             "SETUP", "REFILL" (both: chance), "TURN" (also at the target
                  stages), "ACCUSE", "OVER"
actor             seat asked, None if nobody is
first_player      seat of the first turn, None until drawn
turns, max_turns  turns played and the cap
cap_reached       the cap has stopped the game
end               None, "instant", "villas", "empty", "stuck" (CLE-20), "cap":
                  what stopped the game ("cap" also if the final resolution
                  then brought an instant win; see winners)
villas            V dicts, one a slot: state "pile" / "table" / "won"; face_up
                  (None in the pile); card (its value if everybody knows it,
                  else None); winner (seat that won it); owner (seat that
                  holds it now: differs from winner only after an accusation);
                  seen (one bit a seat, face-down cards only); down and up:
                  two sub-slots each, None or a dict: owner, and seen (down:
                  one bit a seat) or value (up)
pile_size, pile_top   top is None (pile empty, or not shown) or a dict
                  face_up, card (None when face down)
hand_sizes, draw_sizes, won_counts    per seat (won: cards held now, so after
                  an accusation by owner, not by winner)
discards          per seat 11 counts by value
last_reshuffle    per seat 11 counts: his deck at his last reshuffle, the full
                  deck before the first
reshuffles        per seat the number of reshuffles so far
last_turns        per seat None or a dict with kind and
                  PLACE: slot, face_up, sub, value (None if face down)
                  PEEK_VILLA: slot        PEEK_VICE: card (slot, j)
                  MOVE: source (slot, j), slot, sub     SWAP: cards, two
                  (slot, j) in slot order               NOTHING: -
last_resolution   None or the last fourth-card resolution: slot, cards (sorted
                  (owner, value) pairs), down and up (the sub-slots as
                  (owner, value) or None), winner (None: nobody)
final_resolutions the same for each Villa card of the final resolution, in
                  slot order; [] before
accusation        None until answered; then accuser, accused (None: nobody),
                  slot (the object that moved or None), giver, receiver
characters, won_cards, scores, winners    None until over; won_cards (sorted
                  as in villa_types, per seat, after the accusation) also while
                  an open accusation is asked

private(seat)
=============
hand           sorted list (as it was at the turn's start until the turn ends)
character, favourites   name or None, sorted list
known_villas   slot -> card, face-down cards the seat has seen (table or won)
known_vices    (slot, j) -> value, face-down cards it has seen, its own too
own_down       sorted list of (slot, j, value): its own face-down cards
won            list of (slot, card) that it holds, by slot
stage          None or, for the seat asked, "ACTION", "VILLA", "VICE", "ACCUSE"
pending        None or the partial choice: ("PLACE", value, face_up),
               ("PEEK_VILLA",), ("PEEK_VICE",), ("MOVE",), ("MOVE", (s, j)),
               ("SWAP",), ("SWAP", (s, j))
"""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field

CHANCE = -1
OVER = -4

# f: the flat action numbers
PEEK_VILLA, PEEK_VICE, MOVE, SWAP, NOTHING = 22, 23, 24, 25, 26
VILLA_0 = 27
VICE_0 = 46
ACCUSE_0 = 84  # 84 + relative seat; 84 itself is "nobody"
EFFECTS = {PEEK_VILLA: "PEEK_VILLA", PEEK_VICE: "PEEK_VICE", MOVE: "MOVE", SWAP: "SWAP"}

VICE_TYPES = list(range(11))
SPECIALS = ["weapon", "dog", "body", "keyhole"]
MURDERER = "Murderer"
MAX_VILLAS = 19
SCORE_SCALE = 175.0

# a: the (up, down) counts met on a ring, with the facings that may come next
ACCEPTED = {
    (0, 0): ("up", "down"),
    (1, 0): ("down",),
    (0, 1): ("up",),
    (1, 1): ("up", "down"),
    (2, 0): ("down",),
    (2, 1): ("down",),
    (1, 2): ("up",),
}

# c
CREW = {
    "Crew A": (2, 5, 9, 10, 14),
    "Crew B": (2, 4, 6, 13, 15),
    "Crew C": (4, 5, 8, 11, 12),
    "Crew D": (1, 6, 7, 12, 14),
    "Crew E": (3, 7, 8, 9, 13),
    "Crew F": (1, 3, 10, 11, 15),
}

# g
_TINY = {
    "num_players": 2,
    "mode": "rookie",
    "vice_values": (1, 2),
    "num_flies": 1,
    "hand_size": 2,
    "objects": (1, 2),
    "num_face_up": 1,
    "weapon_value": -1,
    "dog_value": None,
    "n_start": 1,
    "villas_to_win": 1,
    "max_turns": 5,
    "cap_terminates": True,
}
PRESETS = {
    "tiny": dict(_TINY),
    "small": {**_TINY, "max_turns": 6},
    "micro": {**_TINY, "max_turns": 4},
    "three": {**_TINY, "vice_values": (1, 2, 3)},
}


@dataclass
class Vice:
    owner: int
    value: int
    seen: list  # one bit a seat; only of interest while face down


@dataclass
class Villa:
    card: object  # number of an object, or the name of a special card
    face_up: bool
    state: str = "pile"
    winner: int | None = None
    owner: int | None = None
    seen: list = field(default_factory=list)
    down: list = field(default_factory=lambda: [None, None])
    up: list = field(default_factory=lambda: [None, None])

    def counts(self) -> tuple[int, int]:
        return (
            sum(1 for vice in self.up if vice is not None),
            sum(1 for vice in self.down if vice is not None),
        )

    def accepts(self, facing) -> bool:
        return facing in ACCEPTED[self.counts()]

    def vices(self) -> list[Vice]:
        return [vice for vice in self.down + self.up if vice is not None]

    def put(self, vice, facing) -> int:
        # f: the lowest free sub-slot; h.5: holes are never closed up
        row = self.up if facing == "up" else self.down
        sub = row.index(None)
        row[sub] = vice
        return sub


@dataclass
class Player:
    draw: list  # unordered: chance says which card is on top
    full_deck: list
    hand: list = field(default_factory=list)
    discard: list = field(default_factory=list)
    character: str | None = None
    reshuffles: int = 0
    last_turn: dict | None = None


def _counts(values) -> list[int]:
    return [values.count(v) for v in VICE_TYPES]


def _whole_number(name, value, low, high):
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{name}={number} is outside {low}..{high}")
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
        mode="base",
        vice_values=tuple(range(1, 11)),
        num_flies=3,
        hand_size=3,
        objects=tuple(range(1, 16)),
        num_face_up=8,
        weapon_value=-5,
        dog_value=-10,
        body_value=-15,
        keyhole_value=0,
        n_start=3,
        villas_to_win=4,
        characters=None,
        bonus=5,
        instant_win_cards=("weapon", "dog", "body"),
        accusation_open=False,
        zero_presence_wins=False,
        fly_noop="fallback",
        show_pile_top=True,
        max_turns=500,
        reward="win",
        cap_terminates=False,
    ):
        self.n = _whole_number("num_players", num_players, 2, 5)
        if isinstance(first_player, str) and first_player == "random":
            self.first_player = "random"
        else:
            self.first_player = _whole_number("first_player", first_player, 0, self.n - 1)
        self.mode = _one_of("mode", mode, ("rookie", "base", "murderer", "detective"))
        self.with_murderer = self.mode in ("murderer", "detective")

        # h.13: bounds
        self.vice_deck = [_whole_number("vice_values", v, 1, 10) for v in vice_values]
        self.vice_deck += [0] * _whole_number("num_flies", num_flies, 0, None)
        self.vice_deck.sort()
        self.hand_size = _whole_number("hand_size", hand_size, 1, len(self.vice_deck))

        self.objects = sorted(_whole_number("objects", v, 1, None) for v in objects)
        if len(set(self.objects)) != len(self.objects):
            raise ValueError("objects must be distinct")  # h.11
        self.num_face_up = _whole_number("num_face_up", num_face_up, 0, len(self.objects))

        # a: which special cards a mode has; h.12: None takes one out
        printed = {"weapon": weapon_value, "dog": dog_value}
        if self.with_murderer:
            printed["body"] = body_value
        if self.mode == "detective":
            printed["keyhole"] = keyhole_value
        self.special_values = {
            name: _whole_number(name + "_value", value, None, None) for name, value in printed.items() if value is not None
        }
        self.villa_types = self.objects + [name for name in SPECIALS if name in self.special_values]
        if not 1 <= len(self.villa_types) <= MAX_VILLAS:
            raise ValueError(f"{len(self.villa_types)} Villa cards: must be 1..{MAX_VILLAS}")
        self.n_start = _whole_number("n_start", n_start, 1, len(self.villa_types))
        self.villas_to_win = _whole_number("villas_to_win", villas_to_win, 1, None)

        # c, CLE-1, CLE-25, h.13
        self.characters: dict[str, list[int]] = {}
        self.character_types: list[str] = []
        if self.mode != "rookie":
            given = CREW if characters is None else characters
            for name, favourites in dict(given).items():
                wanted = sorted(_whole_number("characters", v, 1, None) for v in favourites)
                if len(set(wanted)) != len(wanted):
                    raise ValueError(f"favourites of {name} must be distinct")
                self.characters[name] = wanted
            if MURDERER in self.characters:
                raise ValueError("the Murderer is not one of the crew")
            needed = self.n + 1 if self.with_murderer else self.n
            if len(self.characters) < needed:
                raise ValueError(f"characters needs at least {needed} names")
            self.character_types = list(self.characters)
            if self.with_murderer:
                self.character_types.append(MURDERER)  # CLE-24: no favourites

        # c, h.11
        most = max((len(f) for f in self.characters.values()), default=0)
        if isinstance(bonus, (list, tuple)):
            table = [_whole_number("bonus", b, None, None) for b in bonus]
            if self.mode != "rookie" and len(table) <= most:
                raise ValueError(f"bonus needs entries for 0..{most} favourites")
            self.bonus_table = table
        else:
            each = _whole_number("bonus", bonus, None, None)
            self.bonus_table = [each * k for k in range(most + 1)]

        # h.12
        self.instant_win_cards: list = []
        if self.with_murderer:
            for card in instant_win_cards:
                if card not in self.villa_types or isinstance(card, bool):
                    raise ValueError(f"instant_win_cards: {card!r} is not in play")
                self.instant_win_cards.append(card)

        self.accusation_open = bool(accusation_open)
        self.zero_presence_wins = bool(zero_presence_wins)
        self.fly_noop = _one_of("fly_noop", fly_noop, ("fallback", "always", "never"))
        self.show_pile_top = bool(show_pile_top)
        self.max_turns = _whole_number("max_turns", max_turns, 1, None)
        self.reward = _one_of("reward", reward, ("win", "score"))
        self.cap_terminates = bool(cap_terminates)
        self.vice_types = list(VICE_TYPES)

        self.players = [Player(list(self.vice_deck), _counts(self.vice_deck)) for _ in range(self.n)]
        self.face_up_objects: list = []
        self.villas: list[Villa] = []  # the whole pile, from its top
        self.next_slot = 0  # slots below have left the pile
        self.seat: int | None = None  # whose turn it is, or who refills
        self.turns = 0
        self.pending: tuple | None = None  # f: private to the actor
        self.skipped = 0
        self.refills = 0
        self.last_resolution: dict | None = None
        self.final_resolutions: list[dict] = []
        self.accusation: dict | None = None
        self.end: str | None = None
        self.instant_winner: int | None = None

        # phases: FIRST, FACE_UP, PILE, CHARACTER, HAND, START_REFILL, TURN, END_REFILL, ACCUSE, OVER
        self.phase = "FIRST"
        self.first_seat: int | None = None
        if self.first_player != "random":
            self._first_seat_known(self.first_player)

    # ------------------------------------------------------------------
    # what the harness asks

    @property
    def cap_reached(self) -> bool:
        return self.end == "cap"

    @property
    def truncated(self) -> bool:
        # h.3
        return self.phase == "OVER" and self.cap_reached and not self.cap_terminates

    @property
    def chance_event(self) -> tuple | None:
        if self.phase in ("FIRST", "FACE_UP", "PILE"):
            return ("ROOT",)
        if self.phase in ("CHARACTER", "HAND"):
            return (self.phase, self.seat)
        if self.phase in ("START_REFILL", "END_REFILL"):
            return ("REFILL", self.seat, self.refills)
        return None

    def current_player(self) -> int:
        if self.phase == "OVER":
            return OVER
        if self.phase in ("TURN", "ACCUSE"):
            return self.seat
        return CHANCE

    def chance_outcomes(self) -> dict[int, int]:
        if self.current_player() != CHANCE:
            return {}
        if self.phase == "FIRST":
            return dict.fromkeys(range(self.n), 1)
        if self.phase == "FACE_UP":
            left = [v for v in self.objects if v not in self.face_up_objects]
            return {self.villa_types.index(v): 1 for v in left}  # CLE-2
        if self.phase == "PILE":
            dealt = [villa.card for villa in self.villas]
            return {k: 1 for k, card in enumerate(self.villa_types) if card not in dealt}
        if self.phase == "CHARACTER":
            return self._character_weights()
        draw = self.players[self.seat].draw
        return {value: draw.count(value) for value in VICE_TYPES if value in draw}

    def legal_actions(self) -> list[int]:
        if self.phase == "ACCUSE":
            return list(range(ACCUSE_0, ACCUSE_0 + self.n))  # CLE-28
        if self.phase != "TURN":
            return []
        if self.pending is None:
            return self._stage_one()
        return sorted(self._targets())

    def apply(self, action) -> None:
        if isinstance(action, bool):
            raise ValueError(f"not an action: {action!r}")
        try:
            action = operator.index(action)
        except TypeError:
            raise ValueError(f"not an action: {action!r}") from None
        if self.phase == "OVER":
            raise ValueError("the game is over")
        if self.current_player() == CHANCE:
            if action not in self.chance_outcomes():
                raise ValueError(f"chance cannot give {action} in {self.phase}")
            self._chance(action)
            return
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in {self.phase}")
        if self.phase == "ACCUSE":
            self._accuse(action)
        elif self.pending is None:
            self._choose(action)
        else:
            self._target(action)

    def scores(self) -> list[int]:
        return [self._score(seat) for seat in range(self.n)]

    def winners(self) -> list[int]:
        if self.phase != "OVER":
            return []
        if self.instant_winner is not None:
            return [self.instant_winner]
        points = self.scores()
        return [seat for seat in range(self.n) if points[seat] == max(points)]

    def returns(self) -> list[float]:
        if self.phase != "OVER":
            return [0.0] * self.n
        if self.reward == "score":
            if self.instant_winner is not None:
                return [1.0 if s == self.instant_winner else -1.0 / (self.n - 1) for s in range(self.n)]
            points = self.scores()
            result = []
            for seat in range(self.n):
                others = [points[j] for j in range(self.n) if j != seat]
                value = (points[seat] - sum(others) / len(others)) / SCORE_SCALE
                result.append(max(-1.0, min(1.0, value)))  # h.13
            return result
        winners = self.winners()
        result = []
        for seat in range(self.n):
            weight = 1.0 / len(winners) if seat in winners else 0.0
            result.append((self.n * weight - 1.0) / (self.n - 1.0))
        return result

    def public(self) -> dict:
        over = self.phase == "OVER"
        asked = self.current_player()
        if over:
            phase = "OVER"
        elif self.phase in ("TURN", "ACCUSE"):
            phase = self.phase
        else:
            phase = "REFILL" if self.phase.endswith("REFILL") else "SETUP"
        won_are_open = over or (self.phase == "ACCUSE" and self.accusation_open)  # CLE-29, h.10
        ready = self.phase not in ("FIRST", "FACE_UP", "PILE")
        pile_size = len(self.villas) - self.next_slot if ready else len(self.villa_types)
        top = None
        if ready and pile_size > 0 and self.show_pile_top:  # CLE-3
            villa = self.villas[self.next_slot]
            top = {"face_up": villa.face_up, "card": villa.card if villa.face_up else None}
        return {
            "phase": phase,
            "actor": asked if asked >= 0 else None,
            "first_player": self.first_seat,
            "turns": self.turns,
            "max_turns": self.max_turns,
            "cap_reached": self.cap_reached,
            "end": self.end,
            "villas": [self._villa_seen_by_all(slot, won_are_open) for slot in range(len(self.villa_types))],
            "pile_size": pile_size,
            "pile_top": top,
            "hand_sizes": [len(p.hand) for p in self.players],
            "draw_sizes": [len(p.draw) for p in self.players],
            "discards": [_counts(p.discard) for p in self.players],  # CLE-21
            "won_counts": [len(self._won(seat)) for seat in range(self.n)],
            "last_reshuffle": [list(p.full_deck) for p in self.players],  # h.9
            "reshuffles": [p.reshuffles for p in self.players],
            "last_turns": [copy.deepcopy(p.last_turn) for p in self.players],
            "last_resolution": copy.deepcopy(self.last_resolution),
            "final_resolutions": copy.deepcopy(self.final_resolutions),
            "accusation": copy.deepcopy(self.accusation) if over else None,
            "characters": [p.character for p in self.players] if over else None,
            "won_cards": [self._won_cards(seat) for seat in range(self.n)] if won_are_open else None,
            "scores": self.scores() if over else None,
            "winners": self.winners() if over else None,
        }

    def private(self, seat) -> dict:
        player = self.players[seat]
        stage = None
        if self.current_player() == seat:
            stage = "ACCUSE" if self.phase == "ACCUSE" else self._stage()
        known_villas = {}
        known_vices = {}
        own_down = []
        for slot, villa in enumerate(self.villas):
            if villa.state != "pile" and not villa.face_up and villa.seen[seat]:
                known_villas[slot] = villa.card
            for sub, vice in enumerate(villa.down):
                if vice is not None and vice.seen[seat]:
                    known_vices[(slot, sub)] = vice.value
                if vice is not None and vice.owner == seat:
                    own_down.append((slot, sub, vice.value))
        return {
            "hand": sorted(player.hand),
            "character": player.character,
            "favourites": list(self.characters.get(player.character, [])),
            "known_villas": known_villas,
            "known_vices": known_vices,
            "own_down": own_down,
            "won": [(slot, villa.card) for slot, villa in self._won(seat)],
            "stage": stage,
            "pending": self.pending if stage is not None else None,
        }

    # ------------------------------------------------------------------
    # small questions

    def _table(self) -> list[tuple[int, Villa]]:
        return [(slot, villa) for slot, villa in enumerate(self.villas) if villa.state == "table"]

    def _won(self, seat) -> list[tuple[int, Villa]]:
        return [(slot, villa) for slot, villa in enumerate(self.villas) if villa.owner == seat]

    def _won_cards(self, seat) -> list:
        held = [villa.card for _, villa in self._won(seat)]
        return sorted(held, key=self.villa_types.index)

    def _face_down_vices(self) -> list[tuple[int, int]]:
        return [
            (slot, sub) for slot, villa in self._table() for sub, vice in enumerate(villa.down) if vice is not None
        ]  # CLE-6, CLE-7

    def _accepting(self, facing, other_than=None) -> list[int]:
        return [slot for slot, villa in self._table() if slot != other_than and villa.accepts(facing)]

    def _villa_seen_by_all(self, slot, won_are_open) -> dict:
        if slot >= self.next_slot:
            return {
                "state": "pile",
                "face_up": None,
                "card": None,
                "winner": None,
                "owner": None,
                "seen": [False] * self.n,
                "down": [None, None],
                "up": [None, None],
            }
        villa = self.villas[slot]
        known = villa.face_up or (villa.state == "won" and won_are_open)
        return {
            "state": villa.state,
            "face_up": villa.face_up,
            "card": villa.card if known else None,
            "winner": villa.winner,
            "owner": villa.owner,
            "seen": list(villa.seen),
            "down": [None if v is None else {"owner": v.owner, "seen": list(v.seen)} for v in villa.down],  # CLE-4
            "up": [None if v is None else {"owner": v.owner, "value": v.value} for v in villa.up],
        }

    def _card_value(self, card, is_murderer) -> int:
        if card in self.special_values:
            value = self.special_values[card]
            if is_murderer and card != "keyhole":
                return -value  # h.11
            return value  # CLE-26
        return card

    def _score(self, seat) -> int:
        player = self.players[seat]
        cards = self._won_cards(seat)
        total = sum(self._card_value(card, player.character == MURDERER) for card in cards)
        if player.character in self.characters:
            wanted = self.characters[player.character]
            total += self.bonus_table[sum(1 for card in cards if card in wanted)]  # CLE-30
        return total

    # ------------------------------------------------------------------
    # chance

    def _character_weights(self) -> dict[int, int]:
        dealt = [p.character for p in self.players if p.character is not None]
        crew = [name for name in self.characters if name not in dealt]
        if not self.with_murderer or MURDERER in dealt:
            weights = dict.fromkeys(crew, 1)
        else:
            # a, CLE-25: of n+2 shuffled cards `left` are undealt and one of them is the Murderer;
            # the others are any of the crew
            left = self.n + 2 - len(dealt)
            weights = dict.fromkeys(crew, left - 1)
            weights[MURDERER] = len(crew)
        return {k: weights[name] for k, name in enumerate(self.character_types) if name in weights}

    def _chance(self, outcome) -> None:
        if self.phase == "FIRST":
            self._first_seat_known(outcome)
        elif self.phase == "FACE_UP":
            self.face_up_objects.append(self.villa_types[outcome])
            self._next_in_root()
        elif self.phase == "PILE":
            card = self.villa_types[outcome]
            self.villas.append(Villa(card, card in self.face_up_objects, seen=[False] * self.n))
            self._next_in_root()
        elif self.phase == "CHARACTER":
            self.players[self.seat].character = self.character_types[outcome]
            self.seat += 1
            if self.seat == self.n:
                self._start_hands()
        else:
            player = self.players[self.seat]
            player.draw.remove(outcome)
            player.hand.append(outcome)
            if self.phase == "HAND":
                if len(player.hand) == self.hand_size:
                    self.seat += 1
                    if self.seat == self.n:
                        self._first_turn()
            else:
                self._refill_goes_on()

    def _first_seat_known(self, seat) -> None:
        self.first_seat = seat
        self.phase = "FACE_UP"
        self._next_in_root()

    def _next_in_root(self) -> None:
        if len(self.face_up_objects) < self.num_face_up:
            return
        self.phase = "PILE"
        if len(self.villas) < len(self.villa_types):
            return
        for _ in range(self.n_start):  # CLE-23
            self._bring_next_villa()
        self.seat = 0
        if self.mode == "rookie":
            self._start_hands()
        else:
            self.phase = "CHARACTER"

    def _start_hands(self) -> None:
        self.phase = "HAND"
        self.seat = 0

    def _bring_next_villa(self) -> None:
        if self.next_slot < len(self.villas):  # CLE-13
            self.villas[self.next_slot].state = "table"
            self.next_slot += 1

    # ------------------------------------------------------------------
    # refills

    def _start_refill(self, phase) -> None:
        self.phase = phase
        self.refills += 1
        self._refill_goes_on()

    def _refill_goes_on(self) -> None:
        player = self.players[self.seat]
        if len(player.hand) < self.hand_size:
            if not player.draw and player.discard:
                # CLE-22: a Fly that went there this turn comes along
                player.full_deck = _counts(player.discard)
                player.draw = player.discard
                player.discard = []
                player.reshuffles += 1
            if player.draw:
                return  # chance owes a card
        # the hand is full, or nothing is left to draw (CLE-19)
        if self.phase == "START_REFILL":
            self._after_start_refill()
        else:
            self._after_end_refill()

    # ------------------------------------------------------------------
    # turns

    def _first_turn(self) -> None:
        self.seat = self.first_seat
        self.skipped = 0
        self._start_refill("START_REFILL")

    def _after_start_refill(self) -> None:
        if self.players[self.seat].hand:
            self.skipped = 0
            self.pending = None
            self.phase = "TURN"
            return
        self.skipped += 1
        if self.skipped == self.n:
            self._stop("stuck")  # CLE-20, h.2
            return
        self.seat = (self.seat + 1) % self.n
        self._start_refill("START_REFILL")

    def _stage_one(self) -> list[int]:
        actions = []
        hand = self.players[self.seat].hand
        for value in VICE_TYPES:
            if value in hand:
                if self._accepting("down"):
                    actions.append(2 * value)
                if self._accepting("up"):
                    actions.append(2 * value + 1)
        if 0 in hand:
            effects = []
            downs = self._face_down_vices()
            if any(not villa.face_up for _, villa in self._table()):
                effects.append(PEEK_VILLA)
            if downs:
                effects.append(PEEK_VICE)
            if any(self._accepting("down", other_than=slot) for slot, _ in downs):
                effects.append(MOVE)
            if len({slot for slot, _ in downs}) >= 2:
                effects.append(SWAP)
            actions += effects
            # CLE-11, h.7
            if self.fly_noop == "always" or (self.fly_noop == "fallback" and not effects):
                actions.append(NOTHING)
        return sorted(actions)

    def _stage(self) -> str:
        if self.pending is None:
            return "ACTION"
        kind = self.pending[0]
        if kind in ("PLACE", "PEEK_VILLA") or (kind == "MOVE" and len(self.pending) == 2):
            return "VILLA"
        return "VICE"

    def _targets(self) -> list[int]:
        kind = self.pending[0]
        downs = self._face_down_vices()
        if kind == "PLACE":
            slots = self._accepting("up" if self.pending[2] else "down")
        elif kind == "PEEK_VILLA":
            slots = [slot for slot, villa in self._table() if not villa.face_up]  # CLE-6, h.6
        elif kind == "MOVE" and len(self.pending) == 2:
            slots = self._accepting("down", other_than=self.pending[1][0])  # CLE-9
        else:
            if kind == "PEEK_VICE":
                cards = downs  # h.6
            elif kind == "MOVE":
                cards = [(slot, sub) for slot, sub in downs if self._accepting("down", other_than=slot)]
            elif len(self.pending) == 1:
                cards = [(slot, sub) for slot, sub in downs if any(other != slot for other, _ in downs)]
            else:
                cards = [(slot, sub) for slot, sub in downs if slot != self.pending[1][0]]  # CLE-8
            return [VICE_0 + 2 * slot + sub for slot, sub in cards]
        return [VILLA_0 + slot for slot in slots]

    def _choose(self, action) -> None:
        if action < PEEK_VILLA:
            self.pending = ("PLACE", action // 2, action % 2 == 1)
        elif action == NOTHING:
            self._finish_turn({"kind": "NOTHING"}, fly=True)
            return
        else:
            self.pending = (EFFECTS[action],)
        self._single_targets()

    def _single_targets(self) -> None:
        # f: a target stage with one candidate is not asked
        targets = self._targets()
        if len(targets) == 1:
            self._target(targets[0])

    def _target(self, action) -> None:
        kind = self.pending[0]
        target = ((action - VICE_0) // 2, (action - VICE_0) % 2) if action >= VICE_0 else action - VILLA_0
        if kind in ("MOVE", "SWAP") and len(self.pending) == 1:
            self.pending = (kind, target)
            self._single_targets()
        elif kind == "PLACE":
            self._do_place(self.pending[1], self.pending[2], target)
        elif kind == "PEEK_VILLA":
            self.villas[target].seen[self.seat] = True
            self._finish_turn({"kind": kind, "slot": target}, fly=True)
        elif kind == "PEEK_VICE":
            self.villas[target[0]].down[target[1]].seen[self.seat] = True
            self._finish_turn({"kind": kind, "card": target}, fly=True)
        elif kind == "MOVE":
            self._do_move(self.pending[1], target)
        else:
            self._do_swap(self.pending[1], target)

    def _do_place(self, value, face_up, slot) -> None:
        self.players[self.seat].hand.remove(value)
        seen = [face_up or seat == self.seat for seat in range(self.n)]
        sub = self.villas[slot].put(Vice(self.seat, value, seen), "up" if face_up else "down")
        event = {
            "kind": "PLACE",
            "slot": slot,
            "face_up": face_up,
            "sub": sub,
            "value": value if face_up else None,
        }
        self._finish_turn(event, arrived_at=slot)

    def _do_move(self, source, slot) -> None:
        row = self.villas[source[0]].down
        vice = row[source[1]]
        row[source[1]] = None  # h.5
        sub = self.villas[slot].put(vice, "down")
        self._finish_turn({"kind": "MOVE", "source": source, "slot": slot, "sub": sub}, fly=True, arrived_at=slot)

    def _do_swap(self, first, second) -> None:
        row_a, row_b = self.villas[first[0]].down, self.villas[second[0]].down
        row_a[first[1]], row_b[second[1]] = row_b[second[1]], row_a[first[1]]
        self._finish_turn({"kind": "SWAP", "cards": sorted([first, second])}, fly=True)  # h.5

    # ------------------------------------------------------------------
    # end of a turn

    def _finish_turn(self, event, fly=False, arrived_at=None) -> None:
        player = self.players[self.seat]
        self.pending = None
        player.last_turn = event  # h.8
        if fly:
            player.hand.remove(0)
            player.discard.append(0)
        if arrived_at is not None:
            number = len(self.villas[arrived_at].vices())
            if number == 3:
                self._bring_next_villa()  # CLE-12
            elif number == 4:
                self.last_resolution = self._resolve(arrived_at)  # CLE-10

        # h.1, in this order
        self.turns += 1
        murderer = self._instant_win()
        if murderer is not None:
            self.instant_winner = murderer  # CLE-31: no final resolution
            self.end = "instant"
            self.phase = "OVER"
        elif any(len(self._won(seat)) >= self.villas_to_win for seat in range(self.n)):
            self._stop("villas")
        elif not self._table() and self.next_slot == len(self.villas):
            self._stop("empty")
        else:
            self._start_refill("END_REFILL")

    def _after_end_refill(self) -> None:
        if self.turns >= self.max_turns:
            self._stop("cap")  # CLE-33
            return
        self.seat = (self.seat + 1) % self.n
        self.skipped = 0
        self._start_refill("START_REFILL")

    def _resolve(self, slot) -> dict:
        villa = self.villas[slot]
        totals: dict[int, int] = {}
        for vice in villa.vices():
            totals[vice.owner] = totals.get(vice.owner, 0) + vice.value
        winner = self._highest_alone(totals)
        record = {
            "slot": slot,
            "cards": sorted((vice.owner, vice.value) for vice in villa.vices()),
            "down": [None if v is None else (v.owner, v.value) for v in villa.down],
            "up": [None if v is None else (v.owner, v.value) for v in villa.up],
            "winner": winner,
        }
        for vice in villa.vices():
            self.players[vice.owner].discard.append(vice.value)
        villa.down = [None, None]
        villa.up = [None, None]
        if winner is not None:
            villa.state = "won"
            villa.winner = winner
            villa.owner = winner
            if not villa.face_up:
                villa.seen[winner] = True  # h.4
        return record

    def _highest_alone(self, totals) -> int | None:
        # CLE-14 to CLE-18
        sums = [s for s in totals.values() if s > 0 or self.zero_presence_wins]
        for best in sorted(set(sums), reverse=True):
            level = [seat for seat, s in totals.items() if s == best]
            if len(level) == 1:
                return level[0]
        return None

    def _instant_win(self) -> int | None:
        if not self.instant_win_cards:
            return None  # h.12
        for seat, player in enumerate(self.players):
            if player.character == MURDERER:
                held = self._won_cards(seat)
                if all(card in held for card in self.instant_win_cards):
                    return seat
        return None

    # ------------------------------------------------------------------
    # end of the game

    def _stop(self, why) -> None:
        self.end = why
        # h.4: slot order, Villa cards without a Vice card are left
        for slot, villa in self._table():
            if villa.vices():
                self.final_resolutions.append(self._resolve(slot))
        self.instant_winner = self._instant_win()
        if self.instant_winner is None and self.mode == "detective":
            holder = self._keyhole_holder()
            if holder is not None and self.players[holder].character != MURDERER:  # CLE-27
                self.seat = holder
                self.phase = "ACCUSE"
                return
        self.phase = "OVER"

    def _keyhole_holder(self) -> int | None:
        for villa in self.villas:
            if villa.card == "keyhole":
                return villa.owner
        return None

    def _accuse(self, action) -> None:
        accuser = self.seat
        relative = action - ACCUSE_0
        self.accusation = {"accuser": accuser, "accused": None, "slot": None, "giver": None, "receiver": None}
        if relative > 0:
            accused = (accuser + relative) % self.n
            self.accusation["accused"] = accused
            if self.players[accused].character == MURDERER:
                giver, receiver = accused, accuser
            else:
                giver, receiver = accuser, accused
            held = [(villa.card, slot) for slot, villa in self._won(giver) if villa.card in self.objects]
            if held:
                _, slot = max(held)  # h.11
                self.villas[slot].owner = receiver
                self.accusation.update(slot=slot, giver=giver, receiver=receiver)
        self.phase = "OVER"
