"""Referee of Magpies: a slow, plain, independent reading of the rule page.

Used only by tests, side by side with the compiled rules. Nothing here is
shared with them. Comments name the ruling a line follows: MAG-x is a gap of
section b, h.x a precision, a/c/f/g a section of the page.

Card types, in canonical order
    ``referee.card_types`` is the list of distinct cards, each a plain tuple
    (colour, triangles, left, right), left one of None, "alarm", "feather",
    right one of None, "+card", "laurel", 1, 2. The order is colour by colour
    (0 first); within a colour, the order in which the types first appear in
    the option ``deck`` read from its first entry to its last (an entry without
    a colour counts for every colour at its place). Cards that are alike are
    one type; ``referee.copies[t]`` says how many the deck has of type t. Type
    15*c + j is the j-th of colour c (f: five colours times 15 types); a number
    that a deck does not use is None with 0 copies. With the default deck it is
    the j-th distinct row of the table of section c: rows 0, 3, 4, 6, ..., 17.

Chance
    ``first_player="random"``: the first outcome is the first leader (a seat,
    weight 1 each). Every other chance event is one card turned up, from
    either pile: outcome = card type, weight = how many of it are unseen (in
    the draw pile and the reserve together: nobody knows the split).

Deck entries
    (triangles, left, right) for a card of every colour, or (colour,
    triangles, left, right) for one single card; None, "", "-" and "none" all
    say that a corner is empty; "plus" is another name of "+card", "1" and "2"
    other names of 1 and 2.

public(): seats and colours are absolute numbers, cards are type numbers
    phase            "SETUP", "STEAL", "COUP_TAKE", "TAKE", "SHARE", "EXTRA",
                     "JOKER", "OVER". While chance owes a card: "STEAL" for
                     the board, else the phase in which the card was gained
    interrupted      the phase that JOKER interrupts, else None
    raided_colour    during JOKER the colour just raided, else None
    actor            the seat that must act, None at chance and at the end
    leader           the seat whose turn it is (None in SETUP)
    to_take          picks that TAKE still asks for, 0 elsewhere (h.2)
    board            one entry a space: None, or a dict with type, colour,
                     triangles, alarm, feather, plus, laurel, points
    inspector, k, gap    fixed through SHARING and in the end state (h.1)
    ending           "running", "stopped", "caught", "coup"
    draw_size, reserve_size
    last_turn        whether the last card of the draw pile has been revealed
    cards, alarms, feathers, laurel, points    [seat][colour]; a joker is in
                     cards; laurel is True or False
    characters       [seat]: "unused", "lost", or the joker's colour
    discard, unseen  number of cards of each type
    turns            turns finished
    due_plus         +cards not drawn yet in the gain being resolved
    batch            cards chosen and not joined yet (take_as_batch), by number
    previous_theft   None or (ending, leader) of the turn before this one
    last_theft       None or (ending, leader) of the latest theft that ended:
                     the present turn's own from its SHARING on
    swept            None or the cards that the inspector took off the board
                     when somebody was last caught, left to right
    last_chain       None or (owner, cards): reserve cards drawn by the last
                     gain that drew any, by number
    last_raid        None or (owner, colour)

private(seat) is empty: all is public.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

# f: the flat action numbers
DRAW, STOP = 0, 1
FIRST_SPACE = 2  # 2..8: the card on space 1..7
PASS = 9
FIRST_JOKER = 10  # 10..14: the character becomes a joker of colour 0..4

CHANCE = -1
OVER = -4

SCORE_SCALE = 75.0

# c: the same eighteen cards in each colour
DEFAULT_DECK = (
    (0, None, None),
    (0, None, None),
    (0, None, None),
    (0, None, 1),
    (0, "alarm", None),
    (0, "alarm", None),
    (0, "alarm", 1),
    (0, "alarm", "+card"),
    (0, "feather", None),
    (1, None, None),
    (1, None, 1),
    (1, None, "+card"),
    (1, "alarm", None),
    (1, "feather", None),
    (2, "alarm", 2),
    (2, "feather", 1),
    (2, None, "laurel"),
    (3, "feather", 2),
)

# g: for the caller to merge with his own options, which win (h.8)
PRESETS = {
    "tiny": {
        "num_players": 2,
        "deck": ((0, "alarm", None), (1, "alarm", "+card"), (2, "feather", "laurel")),
        "num_colours": 2,
        "board_length": 3,
        "reserve_size": 1,
        "take_table": (1, 1),
        "alarms_for_raid": 2,
        "tokens": (5, 2),
    },
    "small": {
        "num_players": 2,
        "deck": ((0, "feather", 1), (0, "alarm", "+card"), (1, "alarm", 2)),
        "num_colours": 2,
        "board_length": 3,
        "reserve_size": 1,
        "take_table": (1, 1),
        "alarms_for_raid": 2,
        "tokens": (5, 2),
    },
}


@dataclass
class Player:
    num_colours: int
    character: object = "unused"  # "unused", "lost", or a colour
    collection: list = field(default_factory=list)  # by colour: card types

    def __post_init__(self):
        self.collection = [[] for _ in range(self.num_colours)]


@dataclass
class Gain:
    """One card, or one batch of cards, on its way through +cards and raids."""

    owner: int
    due: int = 0  # +cards seen and not drawn yet
    next_colour: int = 0  # colours below have been checked for a raid
    has_drawn: bool = False


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


def _as_list(name, value):
    if isinstance(value, (str, bytes)):
        raise ValueError(f"{name} must be a sequence, not {value!r}")
    try:
        return list(value)
    except TypeError:
        raise ValueError(f"{name} must be a sequence, not {value!r}") from None


def _corner(side, value):
    names = {None: None, "": None, "-": None, "none": None}
    if side == "left":
        names.update({"alarm": "alarm", "feather": "feather"})
    else:
        names.update({"+card": "+card", "plus": "+card", "laurel": "laurel", 1: 1, 2: 2, "1": 1, "2": 2})
    if isinstance(value, bool) or not isinstance(value, (str, int, type(None))) or value not in names:
        raise ValueError(f"deck: {value!r} is no {side} corner")
    return names[value]


class Referee:
    def __init__(
        self,
        num_players=4,
        *,
        first_player=0,
        deck=DEFAULT_DECK,
        num_colours=5,
        board_length=7,
        reserve_size=15,
        take_table=(1, 1, 1, 2, 2, 4),
        alarms_for_raid=3,
        joker=True,
        tokens=(5, 2),
        raid_before_plus=False,
        take_as_batch=False,
        reward="win",
    ):
        # bounds: d and MAG-3 for the table size, g and h.8 for the rest
        self.n = _whole_number("num_players", num_players, 2, 4)
        if isinstance(first_player, str):
            if first_player != "random":
                raise ValueError(f"first_player must be a seat or 'random', not {first_player!r}")
            self.first_player = "random"
        else:
            self.first_player = _whole_number("first_player", first_player, 0, self.n - 1)
        self.num_colours = _whole_number("num_colours", num_colours, 1, 5)
        self.board_length = _whole_number("board_length", board_length, 2, 7)
        self._read_deck(deck)
        self.deck_size = sum(self.copies)
        self.reserve_at_start = _whole_number("reserve_size", reserve_size, 0, self.deck_size - 1)
        table = _as_list("take_table", take_table)
        if len(table) != self.board_length - 1:
            raise ValueError("take_table needs board_length - 1 entries")
        self.take_table = [_whole_number("take_table", table[i], 1, i + 1) for i in range(len(table))]
        self.alarms_for_raid = _whole_number("alarms_for_raid", alarms_for_raid, 1)
        self.joker = bool(joker)
        self._read_tokens(tokens)
        self.raid_before_plus = bool(raid_before_plus)
        self.take_as_batch = bool(take_as_batch)
        if reward not in ("win", "score"):
            raise ValueError(f"reward must be 'win' or 'score', not {reward!r}")
        self.reward = reward

        self.players = [Player(self.num_colours) for _ in range(self.n)]
        if not self.joker:
            for player in self.players:
                player.character = "lost"  # h.3
        self.unseen = list(self.copies)
        self.discard = [0] * len(self.card_types)
        self.reserve_size = self.reserve_at_start
        self.draw_size = self.deck_size - self.reserve_at_start
        self.board: list = [None] * self.board_length
        self.k = 0
        self.inspector = self.board_length + 1  # h.1: the recess
        self.ending = "running"
        self.last_turn = False
        self.leader: int | None = None
        self.to_take = 0
        self.leader_done = False
        self.sharers: list = []
        self.extra_done = False
        self.batch: list = []
        self.gain: Gain | None = None
        self.raided_colour: int | None = None
        # "seat", "board card", "reserve card": chance; "answer", "joker": a player
        self.awaited = ""
        self.turns = 0
        self.truncated = False  # h.6: never
        self.previous_theft = None
        self.last_theft = None
        self.swept = None
        self.last_chain = None
        self.last_raid = None

        if self.first_player == "random":
            self.phase = "SETUP"
            self.awaited = "seat"
        else:
            self.phase = ""
            self.leader = self.first_player
            self._start_turn()

    # ------------------------------------------------------------------
    # reading the data

    def _read_deck(self, deck) -> None:
        # h.7
        cards = []
        for entry in _as_list("deck", deck):
            parts = _as_list("deck entry", entry)
            if len(parts) == 3:
                colours = list(range(self.num_colours))
            elif len(parts) == 4:
                colours = [_whole_number("deck colour", parts[0], 0, self.num_colours - 1)]
                parts = parts[1:]
            else:
                raise ValueError(f"deck: {entry!r} has neither three nor four parts")
            triangles = _whole_number("deck triangles", parts[0], 0, 3)
            left = _corner("left", parts[1])
            right = _corner("right", parts[2])
            for colour in colours:
                cards.append((colour, triangles, left, right))
        if not 1 <= len(cards) <= 90:
            raise ValueError(f"deck: {len(cards)} cards, not 1..90")
        self.card_types = []
        self.copies = []
        for colour in range(self.num_colours):
            here = [card for card in cards if card[0] == colour]
            kinds = list(dict.fromkeys(here))
            if len(kinds) > 15:
                raise ValueError(f"deck: more than 15 types in colour {colour}")
            if sum(1 for card in here if card[3] == "laurel") > 1:
                raise ValueError(f"deck: more than one laurel in colour {colour}")
            for kind in kinds:
                self.card_types.append(kind)
                self.copies.append(here.count(kind))
            unused = 15 * (colour + 1) - len(self.card_types)
            self.card_types += [None] * unused
            self.copies += [0] * unused

    def _read_tokens(self, tokens) -> None:
        # h.7: the pair at the end is for the white tokens
        given = _as_list("tokens", tokens)
        if len(given) == 2 and not any(isinstance(part, (list, tuple)) for part in given):
            given = [given] * (self.num_colours + 1)
        if len(given) != self.num_colours + 1:
            raise ValueError("tokens: one pair, or one pair a colour and one for white")
        self.tokens = []
        for pair in given:
            pair = _as_list("tokens", pair)
            if len(pair) != 2:
                raise ValueError("tokens: each entry is a pair (large, small)")
            self.tokens.append(tuple(_whole_number("tokens", value, 0, 20) for value in pair))

    # ------------------------------------------------------------------
    # what the harness asks

    def current_player(self) -> int:
        if self.phase == "OVER":
            return OVER
        if self._chance_is_next():
            return CHANCE
        return self._actor()

    def chance_outcomes(self) -> dict[int, int]:
        if not self._chance_is_next():
            return {}
        if self.awaited == "seat":
            return dict.fromkeys(range(self.n), 1)
        return {kind: count for kind, count in enumerate(self.unseen) if count > 0}

    def legal_actions(self) -> list[int]:
        if self.phase == "OVER" or self._chance_is_next():
            return []
        if self.awaited == "joker":
            # h.3
            return [PASS] + [FIRST_JOKER + colour for colour in range(self.num_colours)]
        if self.phase == "STEAL":
            return [DRAW, STOP]
        takes = [FIRST_SPACE + space for space in self._spaces_with_a_card()]
        if self.phase in ("COUP_TAKE", "EXTRA"):
            return [*takes, PASS]  # MAG-8, MAG-9
        return takes  # TAKE, and MAG-19 for SHARE

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
            if self.awaited == "seat":
                self.leader = action
                self._start_turn()
            elif self.awaited == "board card":
                self._board_card(action)
            else:
                self._reserve_card(action)
        else:
            if action not in self.legal_actions():
                raise ValueError(f"action {action} is not legal in {self.public()['phase']}")
            if self.awaited == "joker":
                self._answer_joker(action)
            elif self.phase == "STEAL":
                self._answer_steal(action)
            elif self.phase == "COUP_TAKE":
                self._answer_coup_take(action)
            elif self.phase == "TAKE":
                self._answer_take(action)
            elif self.phase == "SHARE":
                self._answer_share(action)
            else:
                self._answer_extra(action)
        self._go_on()

    def scores(self) -> list[int]:
        # h.10
        total = [0] * self.n
        for colour in range(self.num_colours):
            counts = [self._count(seat, colour) for seat in range(self.n)]
            laurel = None
            for seat in range(self.n):
                if self._has_laurel(seat, colour):
                    laurel = seat
            for seat, value in enumerate(award(counts, laurel, self.tokens[colour])):
                total[seat] += value
        feathers = [sum(self._feathers(seat, c) for c in range(self.num_colours)) for seat in range(self.n)]
        for seat, value in enumerate(award(feathers, None, self.tokens[-1])):  # MAG-25
            total[seat] += value
        for seat in range(self.n):
            total[seat] += sum(self._points(seat, colour) for colour in range(self.num_colours))
        return total

    def returns(self) -> list[float]:
        if self.phase != "OVER":
            return [0.0] * self.n
        points = self.scores()
        if self.reward == "score":
            result = []
            for seat in range(self.n):
                others = [points[j] for j in range(self.n) if j != seat]
                value = (points[seat] - sum(others) / len(others)) / SCORE_SCALE
                result.append(max(-1.0, min(1.0, value)))
            return result
        best = max(points)
        winners = points.count(best)
        result = []
        for seat in range(self.n):
            weight = 1.0 / winners if points[seat] == best else 0.0
            result.append((self.n * weight - 1.0) / (self.n - 1.0))
        return result

    def public(self) -> dict:
        asked = self.current_player()
        at_joker = self.awaited == "joker"
        seats = range(self.n)
        colours = range(self.num_colours)
        return {
            "phase": "JOKER" if at_joker else self.phase,
            "interrupted": self.phase if at_joker else None,
            "raided_colour": self.raided_colour if at_joker else None,
            "actor": asked if asked >= 0 else None,
            "leader": self.leader,
            "to_take": self.to_take,
            "board": [None if kind is None else self._describe(kind) for kind in self.board],
            "inspector": self.inspector,
            "k": self.k,
            "gap": self._gap(),
            "ending": self.ending,
            "draw_size": self.draw_size,
            "reserve_size": self.reserve_size,
            "last_turn": self.last_turn,
            "cards": [[self._count(s, c) for c in colours] for s in seats],
            "alarms": [[self._alarms(s, c) for c in colours] for s in seats],
            "feathers": [[self._feathers(s, c) for c in colours] for s in seats],
            "laurel": [[self._has_laurel(s, c) for c in colours] for s in seats],
            "points": [[self._points(s, c) for c in colours] for s in seats],
            "characters": [player.character for player in self.players],
            "discard": list(self.discard),
            "unseen": list(self.unseen),
            "turns": self.turns,
            "due_plus": self.gain.due if self.gain is not None else 0,
            "batch": sorted(self.batch),
            "previous_theft": self.previous_theft,
            "last_theft": self.last_theft,
            "swept": None if self.swept is None else list(self.swept),
            "last_chain": None if self.last_chain is None else (self.last_chain[0], sorted(self.last_chain[1])),
            "last_raid": self.last_raid,
        }

    def private(self, seat) -> dict:
        return {}

    # ------------------------------------------------------------------
    # small questions

    def _chance_is_next(self) -> bool:
        return self.awaited in ("seat", "board card", "reserve card")

    def _actor(self) -> int:
        if self.awaited == "joker":
            return self.gain.owner
        if self.phase == "SHARE":
            return self.sharers[0]
        return self.leader

    def _gap(self) -> int:
        return self.inspector - self.k - 1

    def _spaces_with_a_card(self) -> list[int]:
        # from 0; h.1: what remains keeps its space
        return [space for space in range(self.board_length) if self.board[space] is not None]

    def _describe(self, kind) -> dict:
        colour, triangles, left, right = self.card_types[kind]
        return {
            "type": kind,
            "colour": colour,
            "triangles": triangles,
            "alarm": left == "alarm",
            "feather": left == "feather",
            "plus": right == "+card",
            "laurel": right == "laurel",
            "points": self._printed(kind),
        }

    def _printed(self, kind) -> int:
        right = self.card_types[kind][3]
        if right == "laurel":
            return 1  # MAG-26
        return right if right in (1, 2) else 0

    def _held(self, seat, colour) -> list:
        return [self.card_types[kind] for kind in self.players[seat].collection[colour]]

    def _count(self, seat, colour) -> int:
        # MAG-17
        joker = 1 if self.players[seat].character == colour else 0
        return len(self.players[seat].collection[colour]) + joker

    def _alarms(self, seat, colour) -> int:
        return sum(1 for card in self._held(seat, colour) if card[2] == "alarm")  # MAG-29

    def _feathers(self, seat, colour) -> int:
        return sum(1 for card in self._held(seat, colour) if card[2] == "feather")

    def _has_laurel(self, seat, colour) -> bool:
        return any(card[3] == "laurel" for card in self._held(seat, colour))

    def _points(self, seat, colour) -> int:
        return sum(self._printed(kind) for kind in self.players[seat].collection[colour])

    # ------------------------------------------------------------------
    # the motor: goes on until somebody, or chance, must speak

    def _go_on(self) -> None:
        while self.awaited == "" and self.phase != "OVER":
            if self.gain is not None:
                self._go_on_with_gain()
            elif self.phase == "COUP_TAKE":
                self._go_on_with_coup_take()
            elif self.phase == "TAKE":
                self._go_on_with_take()
            elif self.phase == "SHARE":
                self._go_on_with_share()
            elif self.phase == "EXTRA":
                self._go_on_with_extra()
            else:
                raise AssertionError(self.phase)

    # ------------------------------------------------------------------
    # THEFT

    def _start_turn(self) -> None:
        self.phase = "STEAL"
        self.board = [None] * self.board_length
        self.k = 0
        self.inspector = self.board_length + 1
        self.ending = "running"
        self.to_take = 0
        self.leader_done = False
        self.sharers = []
        self.extra_done = False
        self.awaited = "board card"

    def _board_card(self, kind) -> None:
        self.awaited = ""
        self.unseen[kind] -= 1
        if self.draw_size > 0:
            self.draw_size -= 1
            if self.draw_size == 0:
                self.last_turn = True
        else:
            self.reserve_size -= 1  # a.1: the last theft goes on with the reserve
        self.board[self.k] = kind
        self.k += 1
        # MAG-4: his whole way; a.2: never beyond the first space
        self.inspector = max(1, self.inspector - self.card_types[kind][1])
        if self.inspector <= self.k:
            self._caught()
        elif self.inspector == self.k + 1:
            self._theft_ends("coup")  # MAG-6, MAG-7
        elif self.draw_size + self.reserve_size == 0:
            self._theft_ends("stopped")  # MAG-10: nothing to ask
        else:
            self.awaited = "answer"

    def _answer_steal(self, action) -> None:
        if action == DRAW:
            self.awaited = "board card"
        else:
            self.awaited = ""
            self._theft_ends("stopped")

    def _caught(self) -> None:
        self.swept = []
        for space in range(self.inspector - 1, self.k):
            self.swept.append(self.board[space])
            self.discard[self.board[space]] += 1
            self.board[space] = None
        self.k = self.inspector - 1  # h.1
        self._theft_ends("caught")  # MAG-31

    def _theft_ends(self, ending) -> None:
        self.ending = ending
        self.last_theft = (ending, self.leader)
        self.sharers = [(self.leader + step) % self.n for step in range(1, self.n)]
        if ending == "caught":
            self.phase = "SHARE"
        elif ending == "coup":
            self.phase = "COUP_TAKE"
        else:
            self.phase = "TAKE"
            self.to_take = self.take_table[self.k - 1]

    # ------------------------------------------------------------------
    # SHARING

    def _lift(self, space):
        kind = self.board[space]
        self.board[space] = None
        return kind

    def _leader_takes(self, space) -> None:
        kind = self._lift(space)
        if self.take_as_batch:
            self.batch.append(kind)  # h.5
        else:
            self._start_gain(self.leader, [kind])  # MAG-30

    def _close_leaders_take(self) -> None:
        if self.batch:
            cards = self.batch
            self.batch = []
            self._start_gain(self.leader, cards)
        else:
            self.phase = "SHARE"

    def _go_on_with_coup_take(self) -> None:
        if self.leader_done or not self._spaces_with_a_card():
            self._close_leaders_take()
        else:
            self.awaited = "answer"  # f: asked for the last card too

    def _answer_coup_take(self, action) -> None:
        self.awaited = ""
        if action == PASS:
            self.leader_done = True
        else:
            self._leader_takes(action - FIRST_SPACE)

    def _go_on_with_take(self) -> None:
        if self.to_take == 0:
            self._close_leaders_take()
        elif len(self._spaces_with_a_card()) == 1:
            self._answer_take(FIRST_SPACE + self._spaces_with_a_card()[0])  # f
        else:
            self.awaited = "answer"

    def _answer_take(self, action) -> None:
        self.awaited = ""
        self.to_take -= 1  # h.2
        self._leader_takes(action - FIRST_SPACE)

    def _go_on_with_share(self) -> None:
        if not self.sharers or not self._spaces_with_a_card():
            self.phase = "EXTRA"
        elif len(self._spaces_with_a_card()) == 1:
            self._answer_share(FIRST_SPACE + self._spaces_with_a_card()[0])  # f
        else:
            self.awaited = "answer"

    def _answer_share(self, action) -> None:
        self.awaited = ""
        seat = self.sharers.pop(0)
        self._start_gain(seat, [self._lift(action - FIRST_SPACE)])

    def _go_on_with_extra(self) -> None:
        if self.extra_done or self.ending == "caught" or not self._spaces_with_a_card():
            self._end_turn()
        else:
            self.awaited = "answer"  # MAG-9; f: asked for a single card too

    def _answer_extra(self, action) -> None:
        self.awaited = ""
        self.extra_done = True
        if action != PASS:
            self._start_gain(self.leader, [self._lift(action - FIRST_SPACE)])

    def _end_turn(self) -> None:
        for space in self._spaces_with_a_card():
            self.discard[self._lift(space)] += 1  # MAG-27
        self.turns += 1
        if self.last_turn:
            self.phase = "OVER"  # h.1: k, inspector and ending stay
            return
        self.previous_theft = (self.ending, self.leader)
        self.leader = (self.leader + 1) % self.n
        self._start_turn()

    # ------------------------------------------------------------------
    # a gain: +cards, raids, joker

    def _start_gain(self, owner, cards) -> None:
        self.gain = Gain(owner)
        for kind in cards:
            self._joins(kind)

    def _joins(self, kind) -> None:
        colour, _, _, right = self.card_types[kind]  # MAG-14: no inspector here
        self.players[self.gain.owner].collection[colour].append(kind)
        if right == "+card":
            self.gain.due += 1
        self.gain.next_colour = 0

    def _go_on_with_gain(self) -> None:
        gain = self.gain
        raids_checked = gain.next_colour == self.num_colours
        # MAG-11: +cards before raids, or (h.4) raids before each +card
        if gain.due > 0 and (raids_checked or not self.raid_before_plus):
            if self.reserve_size > 0:
                self.awaited = "reserve card"
            else:
                gain.due = 0  # MAG-12
        elif not raids_checked:
            colour = gain.next_colour  # MAG-18
            gain.next_colour += 1
            if self._alarms(gain.owner, colour) >= self.alarms_for_raid:  # h.3
                self._raid(gain.owner, colour)
        else:
            self.gain = None

    def _reserve_card(self, kind) -> None:
        self.awaited = ""
        gain = self.gain
        gain.due -= 1
        self.unseen[kind] -= 1
        self.reserve_size -= 1
        if not gain.has_drawn:
            gain.has_drawn = True
            self.last_chain = (gain.owner, [])  # h.6
        self.last_chain[1].append(kind)
        self._joins(kind)

    def _raid(self, owner, colour) -> None:
        player = self.players[owner]
        for kind in player.collection[colour]:
            self.discard[kind] += 1  # MAG-13: what came by +card stays elsewhere
        player.collection[colour] = []
        if player.character == colour:
            player.character = "lost"  # MAG-16
        self.last_raid = (owner, colour)
        if player.character == "unused":
            self.raided_colour = colour
            self.awaited = "joker"  # MAG-15

    def _answer_joker(self, action) -> None:
        self.awaited = ""
        self.raided_colour = None
        if action != PASS:
            self.players[self.gain.owner].character = action - FIRST_JOKER


def award(counts, laurel, pair) -> list[int]:
    """Tokens of one category: counts by seat, the laurel's seat or None."""
    large, small = pair
    ranked = sorted((seat for seat in range(len(counts)) if counts[seat] >= 1), key=lambda s: -counts[s])  # MAG-20
    places: list = []
    for seat in ranked:
        if places and counts[places[-1][0]] == counts[seat]:
            places[-1].append(seat)
        else:
            places.append([seat])
    in_order: list = []
    for tied in places:
        if len(tied) > 1 and laurel in tied:
            in_order.append([laurel])  # MAG-23
            in_order.append([seat for seat in tied if seat != laurel])
        else:
            in_order.append(tied)  # MAG-24
    tokens = [0] * len(counts)
    if not in_order:
        return tokens
    first = in_order[0]
    if len(first) == 1:
        tokens[first[0]] = large
        if len(in_order) > 1 and len(in_order[1]) <= 2:  # MAG-32
            for seat in in_order[1]:
                tokens[seat] = small
    elif len(first) == 2:
        for seat in first:
            tokens[seat] = small  # MAG-21
    return tokens  # MAG-22
