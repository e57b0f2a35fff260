"""Cleaners tables for the tests of all games."""

from types import SimpleNamespace

import numpy as np

from heist_envs.games import cleaners
from heist_envs.games.cleaners import FLY, MOVE, MURDERER, NO_CARD, NO_SEAT, NUM_VALUES, NUM_VILLAS, PEEK_VILLA, SWAP, WON
from tests.planted import allowing, allowing_anyway, put, scalar, telling
from tests.tables import rule_based, uniform

NAMES = [f"Crew {letter}" for letter in "ABCDEFGHIJ"]

# ----------------------------------------------------------------------------------------- tables


def random_options(rng):
    def pick(*values):
        return values[rng.integers(len(values))]

    if rng.random() < 0.15:
        return {"preset": pick(*cleaners.PRESETS)}
    n = pick(2, 3, 4, 5)
    mode = pick(*cleaners.MODES)
    options = {"num_players": n, "mode": mode, "first_player": pick("random", *range(n))}
    if rng.random() < 0.7:
        special = {
            "weapon_value": pick(-5, -5, -1, 0, 7, None),
            "dog_value": pick(-10, -10, 3, None),
            "body_value": pick(-15, -15, -15, 0, None),
            "keyhole_value": pick(0, 0, 0, 2, -3, None),
        }
        in_play = [
            name
            for name in cleaners.SPECIALS[: (2, 2, 3, 4)[cleaners.MODES.index(mode)]]
            if special[f"{name}_value"] is not None
        ]
        objects = sorted(int(v) + 1 for v in rng.choice(30, rng.integers(1, 20 - len(in_play)), replace=False))
        vice_values = sorted(int(v) + 1 for v in rng.choice(10, rng.integers(1, 11), replace=False))
        num_flies = pick(0, 1, 2, 3, 5)
        crew = int(rng.integers(n + 1, 11))
        wanted = [[v for v in objects if rng.random() < 0.3] for _ in range(crew)]
        most = max(map(len, wanted))
        options |= special | {
            "objects": tuple(objects),
            "vice_values": tuple(vice_values),
            "num_flies": num_flies,
            "hand_size": min(pick(1, 2, 3, 3, 5), len(vice_values) + num_flies),
            "num_face_up": int(rng.integers(len(objects) + 1)),
            "n_start": int(rng.integers(1, min(5, len(objects)) + 1)),
            "villas_to_win": pick(1, 2, 3, 4, 4, 19),
            "characters": {name: tuple(wants) for name, wants in zip(NAMES, wanted, strict=False)},
            "bonus": pick(5, 0, -2, tuple(range(0, 3 * most + 3, 3))),
            "instant_win_cards": tuple(card for card in [*in_play, objects[0]] if rng.random() < 0.4),
            "accusation_open": pick(True, False),
            "zero_presence_wins": pick(True, False),
            "fly_noop": pick(*cleaners.FLY_NOOPS),
            "show_pile_top": pick(True, False),
            "max_turns": pick(1, 7, 30, 500),
            "reward": pick("win", "score"),
        }
    return options


def referee_options(options):
    preset = options.get("preset")
    given = {name: value for name, value in options.items() if name != "preset"}
    own_cap = preset is not None and "max_turns" not in given
    return (cleaners.PRESETS[preset] if preset else {}) | given | {"cap_terminates": own_cap}


# ----------------------------------------------------------------------------------------- the referee's words


def _plain(state):
    """All fields as ints and lists, which a record gives one by one too slowly."""
    fields = zip(cleaners.STATE.names, state.item(), strict=True)
    return SimpleNamespace(**{name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in fields})


def _seat(seat):
    return None if seat == NO_SEAT else seat


def _card(s, card):
    """The referee's name of a Villa card."""
    if card == NO_CARD:
        return None
    return s.villa_value[card - 1] if card <= s.num_objects else cleaners.SPECIALS[s.special.index(card)]


def _character(character):
    return {0: None, MURDERER: "Murderer"}.get(character, NAMES[(character - 1) % len(NAMES)])


def _winner(s, slot):
    """Who won a Villa card: its holder, or who gave it away after the accusation."""
    return s.accuser + s.accused - s.holder[slot] if s.moved == slot + 1 else _seat(s.holder[slot])


def _villa(s, slot):
    seats = range(s.num_players)
    in_pile = s.where[slot] in (cleaners.IN_PILE, cleaners.ON_TOP)
    return {
        "state": {cleaners.ON_TABLE: "table", WON: "won"}.get(s.where[slot], "pile"),
        "face_up": None if in_pile else bool(s.face_up[slot]),
        "card": None if in_pile else _card(s, s.open_card[slot]),
        "winner": _winner(s, slot),
        "owner": _seat(s.holder[slot]),
        "seen": [bool(s.seen_villa[seat][slot]) for seat in seats],
        "down": [
            None if owner == NO_SEAT else {"owner": owner, "seen": [bool(s.seen_vice[seat][slot][j]) for seat in seats]}
            for j, owner in enumerate(s.down_owner[slot])
        ],
        "up": [
            None if owner == NO_SEAT else {"owner": owner, "value": value - 1}
            for owner, value in zip(s.up_owner[slot], s.up_value[slot], strict=True)
        ],
    }


def _top(s):
    slot = s.num_villas - s.pile_size
    if s.pile_size == 0 or s.where[slot] != cleaners.ON_TOP:
        return None
    return {"face_up": bool(s.face_up[slot]), "card": _card(s, s.open_card[slot])}


def _last_turn(row):
    kind, slot, side, other_slot, other_side, value = row
    place = {"kind": "PLACE", "slot": slot - 1, "face_up": side >= 2, "sub": side % 2, "value": value - 1 if value else None}
    return {
        "": None,
        "PLACE": place,
        "PEEK VILLA": {"kind": "PEEK_VILLA", "slot": slot - 1},
        "PEEK VICE": {"kind": "PEEK_VICE", "card": (slot - 1, side)},
        "MOVE": {"kind": "MOVE", "source": (slot - 1, side), "slot": other_slot - 1, "sub": other_side},
        "SWAP": {"kind": "SWAP", "cards": [(slot - 1, side), (other_slot - 1, other_side)]},
        "NOTHING": {"kind": "NOTHING"},
    }[cleaners.TURN_KINDS[kind]]


def _resolution(slot, owners, values, winner):
    cards = [None if owner == NO_SEAT else (owner, value - 1) for owner, value in zip(owners, values, strict=True)]
    lying = sorted(card for card in cards if card is not None)
    return {"slot": slot, "cards": lying, "down": cards[:2], "up": cards[2:], "winner": winner}


def _accusation(s):
    if s.accuser == NO_SEAT or s.phase != cleaners.OVER:
        return None
    slot = s.moved - 1 if s.moved else None
    return {
        "accuser": s.accuser,
        "accused": _seat(s.accused),
        "slot": slot,
        "giver": None if slot is None else _winner(s, slot),
        "receiver": None if slot is None else s.holder[slot],
    }


def public(state):
    s = _plain(state)
    n, over = s.num_players, s.phase == cleaners.OVER
    seats = range(n)
    phase = cleaners.PHASES[s.phase]
    phase = "SETUP" if s.phase < cleaners.START else {"START": "REFILL"}.get(phase, phase)
    won = [[slot for slot in range(NUM_VILLAS) if s.holder[slot] == seat] for seat in seats]
    open_won = over or (s.phase == cleaners.ACCUSE and s.accusation_open)
    scores = [cleaners.score(state, seat) for seat in seats] if over else None
    winners = None
    if over:
        alone = cleaners.instant_winner(state) if s.mode >= cleaners.MURDERER_MODE else NO_SEAT
        winners = [seat for seat in seats if scores[seat] == max(scores)] if alone == NO_SEAT else [alone]
    resolved = (s.resolved_slot - 1, s.resolved_owner, s.resolved_value, _seat(s.resolved_winner))
    return {
        "phase": phase,
        "actor": s.actor if phase in ("TURN", "ACCUSE") else None,
        "first_player": _seat(s.starter),
        "turns": s.turns,
        "max_turns": s.max_turns,
        "cap_reached": s.end == cleaners.CAP,
        "end": cleaners.ENDS[s.end] or None,
        "villas": [_villa(s, slot) for slot in range(s.num_villas)],
        "pile_size": s.pile_size,
        "pile_top": _top(s),
        "hand_sizes": s.hand_sizes[:n],
        "draw_sizes": s.draw_sizes[:n],
        "discards": s.discard[:n],
        "won_counts": s.won_counts[:n],
        "last_reshuffle": s.reshuffled[:n],
        "reshuffles": s.reshuffles[:n],
        "last_turns": [_last_turn(row) for row in s.last_turn[:n]],
        "last_resolution": _resolution(*resolved) if s.resolved_slot else None,
        "final_resolutions": [
            _resolution(slot, s.final_owner[slot], s.final_value[slot], _winner(s, slot))
            for slot in range(NUM_VILLAS)
            if any(s.final_value[slot])
        ],
        "accusation": _accusation(s),
        "characters": [_character(s.character[seat]) for seat in seats] if over else None,
        "won_cards": [[_card(s, card) for card in sorted(s.open_card[k] for k in won[seat])] for seat in seats]
        if open_won
        else None,
        "scores": scores,
        "winners": winners,
    }


def _pending(begun, first):
    if begun < 0:
        return None
    if begun < PEEK_VILLA:
        return ("PLACE", begun // 2, begun % 2 == 1)
    name = (cleaners.ACTION_NAMES[begun].replace(" ", "_"),)
    return name if first < 0 else (*name, (first // 2, first % 2))


def _stage(s, seat, begun, first):
    if s.actor != seat or s.phase not in (cleaners.TURN, cleaners.ACCUSE):
        return None
    if s.phase == cleaners.ACCUSE:
        return "ACCUSE"
    if begun < 0:
        return "ACTION"
    return "VICE" if begun in (cleaners.PEEK_VICE, SWAP) or (begun == MOVE and first < 0) else "VILLA"


def private(state, seat):
    s = _plain(state)
    arriving = s.arriving if s.actor == seat else [0] * NUM_VALUES
    begun, first = s.choice[seat][0] - 1, s.choice[seat][1] - 1
    places = [(slot, j) for slot in range(NUM_VILLAS) for j in (0, 1)]
    known_villa, known_vice = s.known_villa[seat], s.known_vice[seat]
    return {
        "hand": [v for v in range(NUM_VALUES) for _ in range(s.hand[seat][v] + arriving[v])],
        "character": _character(s.character[seat]),
        "favourites": [v for v, wanted in zip(s.villa_value, s.favourite[seat], strict=True) if wanted],
        "known_villas": {k: _card(s, known_villa[k]) for k in range(NUM_VILLAS) if s.seen_villa[seat][k]},
        "known_vices": {(k, j): known_vice[k][j] - 1 for k, j in places if known_vice[k][j]},
        "own_down": [(k, j, known_vice[k][j] - 1) for k, j in places if s.down_owner[k][j] == seat],
        "won": [(k, _card(s, known_villa[k])) for k in range(NUM_VILLAS) if s.holder[k] == seat],
        "stage": _stage(s, seat, begun, first),
        "pending": _pending(begun, first),
    }


# ----------------------------------------------------------------------------------------- what a player cannot know


def scramble(state, player, rng):
    """Put anything into what a player may not see: others' cards, knowledge and choices, unseen Villa cards, facings."""
    most = {"hand": 14, "draw": 14, "known_villa": 20, "known_vice": 12, "choice": 28}
    if state.phase != cleaners.OVER:  # characters are shown then
        most |= {"character": MURDERER + 1, "favourite": 2}
    others = np.arange(cleaners.MAX_PLAYERS) != player
    for name, high in most.items():
        field = state[name]
        field[others] = rng.integers(high, size=(others.sum(), *field.shape[1:]))
    pile = state.pile
    unknown = state.known_villa[player] == NO_CARD
    pile[unknown] = rng.integers(1, NUM_VILLAS + 1, size=unknown.sum())
    state.lies_up[:] = rng.integers(2, size=NUM_VILLAS)
    state.arriving[:] = rng.integers(3, size=NUM_VALUES)


def copies(state, action):
    """How many Vice cards of the acting player's hand an action may mean: which of several Flies, the game does not ask."""
    hand = state.hand[state.actor]
    if action < PEEK_VILLA:
        return int(hand[action // 2])
    return int(hand[FLY]) if action <= cleaners.NOTHING else 1


def settled(state, player):
    """Whether `determinize` may leave this state: it takes back what another seat has begun."""
    return state.actor == player or not state.choice.any()


_MURDERER = {
    "preset": "micro", "mode": "murderer", "body_value": None, "characters": dict.fromkeys(NAMES[:3], (1,)),
    "instant_win_cards": ("weapon",), "show_pile_top": False, "fly_noop": "always",
}  # fmt: skip
POSTERIORS = [{"preset": "tiny"}, _MURDERER]
"""Tables small enough to enumerate what a player may believe."""

SMALLEST = {"preset": "tiny", "max_turns": 1}
"""A table that a slow solver in plain Python walks in seconds."""

TREES = [
    ({"preset": "micro"}, (2_618, 18_516, 45_184)),
    ({"preset": "tiny"}, (24_786, 158_548, 285_440)),
    ({"preset": "small"}, (None, 1_084_500, 2_026_240)),
    ({"preset": "three"}, (None, 1_874_128, 4_061_440)),
]
"""Options, and information sets, decisions and terminals by section g, with both orders of a SWAP; None: not given there."""


def _next_slot(state):
    return min(int(state.num_villas - state.pile_size) + 1, NUM_VILLAS - 1)


LEAKS = {
    "what a face-down Villa card is": put("face_up", 0, lambda s, p, o: s.pile[0] % 2),
    "what is below the top of the pile": scalar("pile_size", lambda s, p, o: s.pile[_next_slot(s)]),
    "how what is below the top of the pile lies": put("where", 18, lambda s, p, o: s.lies_up[s.pile[_next_slot(s)] - 1]),
    "which objects lie face up": put("face_up", 18, lambda s, p, o: s.lies_up[0]),
    "another hand": put("hand", 0, lambda s, p, o: s.hand[o, 0]),
    "another draw pile": put("draw", 5, lambda s, p, o: s.draw[o, 5]),
    "the sum of all hands": scalar("hand_size", lambda s, p, o: (s.hand @ np.arange(NUM_VALUES)).sum() % 100),
    "what the next seat knows of the Vice cards": put("known_vice", slice(None), lambda s, p, o: s.known_vice[o]),
    "what the next seat knows of the Villa cards": put("known_villa", slice(None), lambda s, p, o: s.known_villa[o]),
    "the parity of the next seat's face-down cards": put("old", (0, 0), lambda s, p, o: s.known_vice[o].sum() % 2),
    "another character": put("shown_character", 1, lambda s, p, o: s.character[o]),
    "who is the Murderer": scalar("starter", lambda s, p, o: s.character[o] == MURDERER),
    "what others are after": put("favourite", 18, lambda s, p, o: s.favourite[o].sum() % 2),
    "whether a special card has been won": scalar(
        "moved", lambda s, p, o: int(((s.pile > s.num_objects) & (s.holder >= 0)).any())
    ),
    "that the next seat has begun something": put("seated", 0, lambda s, p, o: s.choice[o, 0] > 0),
    "a hand that shrinks before the turn is complete": put(
        "hand_sizes", 1, lambda s, p, o: s.hand_sizes[o] - (s.choice[o, 0] > 0)
    ),
    "which card comes first in a refill": put("hand", 3, lambda s, p, o: s.hand[p, 3] + s.arriving[3]),
    "a mask that knows the pile": allowing(PEEK_VILLA, lambda s: s.pile[0] <= s.num_objects),
    "a mask that knows whether a face-down card is a Fly": allowing(SWAP, lambda s: not (s.known_vice == 1).any()),
    "a mask that knows another hand": allowing_anyway(1, lambda s: s.hand[(s.actor + 1) % s.num_players, 0] > 0),
    "a text that names a face-down card": telling(lambda s, viewer: f" {s.pile[0]}"),
    "a text that tells the next hand": telling(lambda s, viewer: f" {s.hand[((viewer or 0) + 1) % s.num_players]}"),
    "a text for everybody that names a character": telling(lambda s, v: f" {s.character[0]}" if v is None else ""),
    "a text that tells what is being chosen": telling(lambda s, viewer: f" {s.choice.any()}"),
}


def _flies_and_ties(table, rng):
    """Peek while there is something to peek at, and lay Flies, which win nothing."""
    legal = sorted(table.legal())
    for word in ("peek-vice", "peek-villa", "place-0-down", "place-0-up"):
        if word in legal:
            return word
    return legal[0]


def _to_the_fourth_card(table, rng):
    """Lay cards where most lie already."""
    legal = sorted(table.legal())
    places = [word for word in legal if word.startswith("place")]
    if places:
        return str(rng.choice(places))
    slots = [word for word in legal if word.startswith("villa")]

    def cards(word):
        slot = int(word.split("-")[1])
        return (table.up_owner[slot] >= 0).sum() + (table.down_owner[slot] >= 0).sum()

    return max(slots, key=cards) if slots else str(rng.choice(legal))


_EVERY_OPTION = {
    "num_players": 3, "first_player": "random", "mode": "detective", "vice_values": (1, 2, 4, 7, 9), "num_flies": 2,
    "hand_size": 2, "objects": (3, 4, 8, 12), "num_face_up": 2, "weapon_value": -4, "dog_value": None, "body_value": -9,
    "keyhole_value": 1, "n_start": 2, "villas_to_win": 3, "characters": dict.fromkeys(NAMES[:4], (3, 8)),
    "bonus": (0, 2, 7), "instant_win_cards": ("body", 12), "accusation_open": True, "zero_presence_wins": True,
    "fly_noop": "always", "show_pile_top": False, "max_turns": 60, "reward": "score",
}  # fmt: skip

PLAYTHROUGHS = {
    "ordinary": ("four players by the rules of thumb", {"num_players": 4}, rule_based, 1),
    "detective": ("five players to an accusation", {"num_players": 5, "mode": "detective"}, _to_the_fourth_card, 1),
    "instant": (
        "the Murderer wins at once",
        {"num_players": 2, "mode": "murderer", "instant_win_cards": ("body",)},
        _to_the_fourth_card,
        13,
    ),
    "options": ("every option away from its default", _EVERY_OPTION, uniform, 5),
    "longest": ("Flies alone win nothing: to the cap", {"num_players": 2, "vice_values": ()}, _flies_and_ties, 0),
}
"""What it shows, options, who decides, and the seed."""
