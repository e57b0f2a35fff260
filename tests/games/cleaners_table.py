"""Cleaners tables for the tests of all games."""

import numpy as np

from heist_envs.games import cleaners
from heist_envs.games.cleaners import FLY, MOVE, MURDERER, NO_CARD, NO_SEAT, NUM_VALUES, NUM_VILLAS, PEEK_VILLA, SWAP, WON
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
        in_play = [name for name in cleaners.SPECIALS[: (2, 2, 3, 4)[cleaners.MODES.index(mode)]] if special[f"{name}_value"] is not None]
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


def _seat(seat):
    return None if seat == NO_SEAT else int(seat)


def _card(state, card):
    """The referee's name of a Villa card."""
    if card == NO_CARD:
        return None
    if card <= state.num_objects:
        return int(state.villa_value[card - 1])
    return cleaners.SPECIALS[list(state.special).index(card)]


def _character(state, seat):
    character = int(state.character[seat])
    return {0: None, MURDERER: "Murderer"}.get(character, NAMES[(character - 1) % len(NAMES)])


def _winner(state, slot):
    """Who won a Villa card: its holder, or who gave it away after the accusation."""
    if state.moved == slot + 1:
        return int(state.accuser + state.accused - state.holder[slot])
    return _seat(state.holder[slot])


def _villa(state, slot):
    n = int(state.num_players)
    in_pile = state.where[slot] in (cleaners.IN_PILE, cleaners.ON_TOP)
    return {
        "state": {cleaners.ON_TABLE: "table", WON: "won"}.get(int(state.where[slot]), "pile"),
        "face_up": None if in_pile else bool(state.face_up[slot]),
        "card": None if in_pile else _card(state, state.open_card[slot]),
        "winner": _winner(state, slot),
        "owner": _seat(state.holder[slot]),
        "seen": [bool(v) for v in state.seen_villa[:n, slot]],
        "down": [
            None if owner == NO_SEAT else {"owner": int(owner), "seen": [bool(v) for v in state.seen_vice[:n, slot, j]]}
            for j, owner in enumerate(state.down_owner[slot])
        ],
        "up": [
            None if owner == NO_SEAT else {"owner": int(owner), "value": int(value) - 1}
            for owner, value in zip(state.up_owner[slot], state.up_value[slot], strict=True)
        ],
    }


def _top(state):
    slot = state.num_villas - state.pile_size
    if state.pile_size == 0 or state.where[slot] != cleaners.ON_TOP:
        return None
    return {"face_up": bool(state.face_up[slot]), "card": _card(state, state.open_card[slot])}


def _last_turn(row):
    kind, slot, side, other_slot, other_side, value = map(int, row)
    return {
        "": None,
        "PLACE": {"kind": "PLACE", "slot": slot - 1, "face_up": side >= 2, "sub": side % 2, "value": value - 1 if value else None},
        "PEEK VILLA": {"kind": "PEEK_VILLA", "slot": slot - 1},
        "PEEK VICE": {"kind": "PEEK_VICE", "card": (slot - 1, side)},
        "MOVE": {"kind": "MOVE", "source": (slot - 1, side), "slot": other_slot - 1, "sub": other_side},
        "SWAP": {"kind": "SWAP", "cards": [(slot - 1, side), (other_slot - 1, other_side)]},
        "NOTHING": {"kind": "NOTHING"},
    }[cleaners.TURN_KINDS[kind]]  # fmt: skip


def _resolution(slot, owners, values, winner):
    cards = [None if owner == NO_SEAT else (int(owner), int(value) - 1) for owner, value in zip(owners, values, strict=True)]
    return {
        "slot": slot,
        "cards": sorted(card for card in cards if card is not None),
        "down": cards[:2],
        "up": cards[2:],
        "winner": winner,
    }


def _accusation(state):
    if state.accuser == NO_SEAT or state.phase != cleaners.OVER:
        return None
    slot = int(state.moved) - 1
    moved = slot >= 0
    return {
        "accuser": int(state.accuser),
        "accused": _seat(state.accused),
        "slot": slot if moved else None,
        "giver": _winner(state, slot) if moved else None,
        "receiver": int(state.holder[slot]) if moved else None,
    }


def public(state):
    n, over = int(state.num_players), state.phase == cleaners.OVER
    seats = range(n)
    phase = cleaners.PHASES[state.phase]
    phase = "SETUP" if state.phase < cleaners.START else {"START": "REFILL"}.get(phase, phase)
    won = [[s for s in range(NUM_VILLAS) if state.holder[s] == seat] for seat in seats]
    open_won = over or (state.phase == cleaners.ACCUSE and state.accusation_open)
    scores = [cleaners.score(state, seat) for seat in seats]
    alone = cleaners.instant_winner(state) if state.mode >= cleaners.MURDERER_MODE else NO_SEAT
    winners = [seat for seat in seats if scores[seat] == max(scores)] if alone == NO_SEAT else [alone]
    return {
        "phase": phase,
        "actor": int(state.actor) if phase in ("TURN", "ACCUSE") else None,
        "first_player": _seat(state.starter),
        "turns": int(state.turns),
        "max_turns": int(state.max_turns),
        "cap_reached": bool(state.end == cleaners.CAP),
        "end": cleaners.ENDS[state.end] or None,
        "villas": [_villa(state, slot) for slot in range(state.num_villas)],
        "pile_size": int(state.pile_size),
        "pile_top": _top(state),
        "hand_sizes": state.hand_sizes[:n].tolist(),
        "draw_sizes": state.draw_sizes[:n].tolist(),
        "discards": state.discard[:n].tolist(),
        "won_counts": state.won_counts[:n].tolist(),
        "last_reshuffle": state.reshuffled[:n].tolist(),
        "reshuffles": state.reshuffles[:n].tolist(),
        "last_turns": [_last_turn(row) for row in state.last_turn[:n]],
        "last_resolution": _resolution(
            int(state.resolved_slot) - 1, state.resolved_owner, state.resolved_value, _seat(state.resolved_winner)
        )
        if state.resolved_slot
        else None,
        "final_resolutions": [
            _resolution(slot, state.final_owner[slot], state.final_value[slot], _winner(state, slot))
            for slot in range(NUM_VILLAS)
            if (state.final_owner[slot] != NO_SEAT).any()
        ],
        "accusation": _accusation(state),
        "characters": [_character(state, seat) for seat in seats] if over else None,
        "won_cards": [[_card(state, c) for c in sorted(state.open_card[s] for s in won[seat])] for seat in seats]
        if open_won
        else None,
        "scores": scores if over else None,
        "winners": winners if over else None,
    }


def _pending(state, seat):
    begun, first = int(state.choice[seat, 0]) - 1, int(state.choice[seat, 1]) - 1
    if begun < 0:
        return None
    if begun < PEEK_VILLA:
        return ("PLACE", begun // 2, begun % 2 == 1)
    name = (cleaners.ACTION_NAMES[begun].replace(" ", "_"),)
    return name if first < 0 else (*name, (first // 2, first % 2))


def _stage(state, seat):
    if state.actor != seat or state.phase not in (cleaners.TURN, cleaners.ACCUSE):
        return None
    begun, first = int(state.choice[seat, 0]) - 1, int(state.choice[seat, 1]) - 1
    if state.phase == cleaners.ACCUSE:
        return "ACCUSE"
    if begun < 0:
        return "ACTION"
    return "VICE" if begun in (cleaners.PEEK_VICE, SWAP) or (begun == MOVE and first < 0) else "VILLA"


def private(state, seat):
    arriving = state.arriving if state.actor == seat else 0 * state.arriving
    own = range(NUM_VILLAS)
    return {
        "hand": np.repeat(np.arange(11), state.hand[seat] + arriving).tolist(),
        "character": _character(state, seat),
        "favourites": [int(v) for v in state.villa_value[state.favourite[seat] > 0]],
        "known_villas": {s: _card(state, state.known_villa[seat, s]) for s in own if state.seen_villa[seat, s]},
        "known_vices": {
            (s, j): int(state.known_vice[seat, s, j]) - 1 for s in own for j in (0, 1) if state.known_vice[seat, s, j]
        },
        "own_down": [
            (s, j, int(state.known_vice[seat, s, j]) - 1) for s in own for j in (0, 1) if state.down_owner[s, j] == seat
        ],
        "won": [(s, _card(state, state.known_villa[seat, s])) for s in own if state.holder[s] == seat],
        "stage": _stage(state, seat),
        "pending": _pending(state, seat),
    }


def copies(state, action):
    """A Fly that is discarded may be any of those in the hand."""
    hand = state.hand[state.actor]
    if action < PEEK_VILLA:
        return int(hand[action // 2])
    return int(hand[FLY]) if action <= cleaners.NOTHING else 1


# ----------------------------------------------------------------------------------------- what a player cannot know


def scramble(state, player, rng):
    """Put anything into what a player may not see: others' cards, knowledge and choices, unseen Villa cards, facings."""
    over = state.phase == cleaners.OVER
    for seat in range(state.num_players):
        if seat == player:
            continue
        for name, most in (("hand", 14), ("draw", 14), ("known_villa", 20), ("known_vice", 12)):
            state[name][seat] = rng.integers(most, size=state[name][seat].shape)
        state.choice[seat] = rng.integers(28), rng.integers(39)
        if not over:  # characters are shown then
            state.character[seat] = rng.integers(MURDERER + 1)
            state.favourite[seat] = rng.integers(2, size=NUM_VILLAS)
    unknown = state.known_villa[player] == NO_CARD
    state.pile[unknown] = rng.integers(1, NUM_VILLAS + 1, size=unknown.sum())
    state.lies_up[:] = rng.integers(2, size=NUM_VILLAS)
    state.arriving[:] = rng.integers(3, size=NUM_VALUES)


def settled(state, player):
    """Whether `determinize` may leave this state: it takes back what another seat has begun."""
    return state.actor == player or not state.choice.any()


_MICRO_BASE = {"preset": "micro", "mode": "murderer", "body_value": None, "instant_win_cards": ("weapon",), "max_turns": 2}
POSTERIORS = [
    {"preset": "tiny"},
    {"preset": "micro", "show_pile_top": False, "zero_presence_wins": True, "fly_noop": "always"},
    _MICRO_BASE | {"characters": dict.fromkeys(NAMES[:3], (1,))},
]
"""Tables small enough to enumerate what a player may believe."""

TREES = [
    ({"preset": "micro"}, (2_618, 18_516, 45_184)),
    ({"preset": "tiny"}, (24_786, 158_548, 285_440)),
]
"""Options, and information sets, decisions and terminals by section g, with both orders of a SWAP."""


def showing(write):
    """An observation into which a leak writes something of the next player."""

    def observe(state, player, seen):
        cleaners.observe(state, player, seen)
        write(state, player, (player + 1) % state.num_players, seen)

    return {"observe": observe}


def allowing(write):
    """A mask into which a leak writes."""

    def legal_actions(state, mask):
        cleaners.legal_actions(state, mask)
        write(state, mask)

    return {"legal_actions": legal_actions}


def telling(words):
    """A text with something added."""

    def describe(state, viewer=None):
        return cleaners.describe(state, viewer) + words(state, viewer)

    return {"describe": describe}


def put(field, index, value):
    def write(state, player, other, seen):
        seen[field][index] = value(state, player, other)

    return write


def scalar(field, value):
    def write(state, player, other, seen):
        seen[field] = value(state, player, other)

    return write


def _next_slot(state):
    return min(int(state.num_villas - state.pile_size) + 1, NUM_VILLAS - 1)


LEAKS = {
    "what a face-down Villa card is": showing(put("open_card", 0, lambda s, p, o: s.pile[0])),
    "what is below the top of the pile": showing(scalar("pile_size", lambda s, p, o: s.pile[_next_slot(s)])),
    "how what is below the top of the pile lies": showing(
        put("where", 18, lambda s, p, o: s.lies_up[s.pile[_next_slot(s)] - 1])
    ),
    "which objects lie face up": showing(put("face_up", 18, lambda s, p, o: s.lies_up[0])),
    "another hand": showing(put("hand", 0, lambda s, p, o: s.hand[o, 0])),
    "another draw pile": showing(put("draw", 5, lambda s, p, o: s.draw[o, 5])),
    "the sum of all hands": showing(scalar("hand_size", lambda s, p, o: (s.hand @ np.arange(NUM_VALUES)).sum() % 100)),
    "what the next seat knows of the Vice cards": showing(put("known_vice", slice(None), lambda s, p, o: s.known_vice[o])),
    "what the next seat knows of the Villa cards": showing(put("known_villa", slice(None), lambda s, p, o: s.known_villa[o])),
    "the parity of the next seat's face-down cards": showing(put("old", (0, 0), lambda s, p, o: s.known_vice[o].sum() % 2)),
    "another character": showing(put("shown_character", 1, lambda s, p, o: s.character[o])),
    "who is the Murderer": showing(put("starter", 0, lambda s, p, o: s.character[o] == MURDERER)),
    "what others are after": showing(put("favourite", 18, lambda s, p, o: s.favourite[o].sum() % 2)),
    "whether a special card has been won": showing(
        scalar("moved", lambda s, p, o: int(((s.pile > s.num_objects) & (s.holder >= 0)).any()))
    ),
    "that the next seat has begun something": showing(put("seated", 0, lambda s, p, o: s.choice[o, 0] > 0)),
    "a hand that shrinks before the turn is complete": showing(
        put("hand_sizes", 1, lambda s, p, o: s.hand_sizes[o] - (s.choice[o, 0] > 0))
    ),
    "which card comes first in a refill": showing(put("hand", 3, lambda s, p, o: s.hand[p, 3] + s.arriving[3])),
    "a mask that knows the pile": allowing(
        lambda s, m: m.__setitem__(PEEK_VILLA, m[PEEK_VILLA] and s.pile[0] <= s.num_objects)
    ),
    "a mask that knows whether a face-down card is a Fly": allowing(
        lambda s, m: m.__setitem__(cleaners.SWAP, m[SWAP] and not (s.known_vice == 1).any())
    ),
    "a mask that knows another hand": allowing(lambda s, m: m.__setitem__(1, s.hand[(s.actor + 1) % s.num_players, 0] > 0)),
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
        2,
    ),
    "options": ("every option away from its default", _EVERY_OPTION, uniform, 5),
    "longest": ("Flies alone win nothing: to the cap", {"num_players": 2, "vice_values": ()}, _flies_and_ties, 0),
}
"""What it shows, options, who decides, and the seed."""
