"""Magpies tables for the tests of all games."""

import numpy as np

from heist_envs.games import magpies
from tests.tables import rule_based, uniform


def _random_deck(rng, num_colours):
    """Any cards, some of one colour only, with at most one laurel a colour."""

    def card(rights):
        left = (None, "alarm", "feather")[rng.integers(3)]
        return int(rng.choice(4, p=[0.5, 0.25, 0.15, 0.1])), left, rights[rng.integers(len(rights))]

    plain = (None, None, "+card", 1, 2)
    deck = [card(plain) for _ in range(rng.integers(2, 11))]
    deck += [card(("laurel",))] * int(rng.integers(2))
    for _ in range(rng.integers(5)):
        deck.append((int(rng.integers(num_colours)), *card(plain)))
    return tuple(deck[k] for k in rng.permutation(len(deck)))


def random_options(rng):
    def pick(*values):
        return values[rng.integers(len(values))]

    if rng.random() < 0.15:
        return {"preset": pick(*magpies.PRESETS)}
    n = pick(2, 3, 4)
    options = {"num_players": n, "first_player": pick("random", *range(n))}
    if rng.random() < 0.7:
        spaces = pick(2, 3, 4, 5, 6, 7)
        colours = pick(1, 2, 3, 4, 5)
        pairs = [tuple(int(v) for v in rng.integers(21, size=2)) for _ in range(colours + 1)]
        options |= {
            "num_colours": colours,
            "board_length": spaces,
            "deck": pick(magpies.DECK, _random_deck(rng, colours)),
            "take_table": tuple(int(rng.integers(1, k + 1)) for k in range(1, spaces)),
            "alarms_for_raid": pick(1, 2, 3),
            "joker": pick(True, True, False),
            "tokens": pick((5, 2), (2, 7), pairs),
            "raid_before_plus": pick(True, False),
            "take_as_batch": pick(True, False),
            "reward": pick("win", "score"),
        }
        cards = sum(colours if len(entry) == 3 else 1 for entry in options["deck"])
        options["reserve_size"] = int(rng.integers(cards))
        try:
            magpies.new_initial_state(**options)
        except ValueError as error:
            if "nobody has a choice" not in str(error):
                raise
            return random_options(rng)
    return options


def referee_options(options):
    given = {name: value for name, value in options.items() if name != "preset"}
    return (magpies.PRESETS[options["preset"]] if "preset" in options else {}) | given


def _none_below_0(number):
    return None if number < 0 else int(number)


def _card(state, card):
    colour, face = card // magpies.TYPES_PER_COLOUR, int(state.face[card])
    flags = {name: bool(face >> k & 1) for k, name in enumerate(("plus", "alarm", "feather", "laurel"), start=2)}
    return {"type": int(card), "colour": int(colour), "triangles": face & 3, **flags, "points": face >> 6}


def _swept(state):
    if not state.swept.any():
        return []
    looks = magpies._looks(state.face)
    return [int(np.flatnonzero((looks == look).all(1) & (state.copies > 0))[0]) for look in state.swept if look.any()]


def _theft(ending, leader):
    return None if leader < 0 else (magpies.ENDINGS[ending], int(leader))


def public(state):
    n, colours = int(state.num_players), int(state.num_colours)
    types = colours * magpies.TYPES_PER_COLOUR
    phase = magpies.PHASES[state.phase]
    lies = np.bincount(state.card_at[state.card_at >= 0], minlength=magpies.NUM_TYPES)
    held = state.holdings[:n, :colours].astype(int)
    joker = held[:, :, magpies.HELD_JOKER]
    previous = _theft(state.last_ending, state.last_leader)
    present = _theft(state.ending, state.leader)
    return {
        "phase": phase,
        "interrupted": magpies.PHASES[state.interrupted] if phase == "JOKER" else None,
        "raided_colour": _none_below_0(state.raided),
        "actor": None if state.owed else _none_below_0(state.actor),
        "leader": _none_below_0(state.leader),
        "to_take": int(state.to_take) if "TAKE" in (phase, magpies.PHASES[state.interrupted]) else 0,
        "board": [_card(state, c) if p else None for c, p in zip(state.card_at, state.present, strict=True)][
            : state.board_length
        ],
        "inspector": int(state.inspector),
        "k": int(state.laid),
        "gap": int(state.inspector - state.laid - 1),
        "ending": magpies.ENDINGS[state.ending],
        "draw_size": int(state.draw_size),
        "reserve_size": int(state.reserve_size),
        "last_turn": bool(state.last_turn),
        "cards": held[:, :, magpies.HELD_CARDS].tolist(),
        "alarms": held[:, :, magpies.HELD_ALARMS].tolist(),
        "feathers": held[:, :, magpies.HELD_FEATHERS].tolist(),
        "laurel": held[:, :, magpies.HELD_LAUREL].astype(bool).tolist(),
        "points": held[:, :, magpies.HELD_POINTS].tolist(),
        "characters": [
            "unused" if u else int(j.argmax()) if j.any() else "lost" for u, j in zip(state.unused[:n], joker, strict=True)
        ],
        "discard": (state.copies - state.unseen - lies - state.collection.sum(0))[:types].tolist(),
        "unseen": state.unseen[:types].tolist(),
        "turns": int(state.turns),
        "due_plus": int(state.due),
        "batch": sorted(int(c) for c, chosen in zip(state.card_at, state.chosen, strict=True) if chosen),
        "previous_theft": previous,
        "last_theft": previous if state.ending == magpies.RUNNING else present,
        "swept": _swept(state) or None,
        "last_chain": (int(state.chain_owner), np.repeat(np.arange(magpies.NUM_TYPES), state.chain).tolist())
        if state.chain_owner >= 0
        else None,
        "last_raid": (int(state.raid_owner), int(state.raid_colour)) if state.raid_owner >= 0 else None,
    }


def private(state, seat):
    return {}


def scramble(state, player, rng):
    """Nothing is secret but the order of the piles, and that is not in the state."""


def copies(state, action):
    """How many cards of the acting player's hand an action may mean: there are no hands."""
    return 1


def settled(state, player):
    """Whether `determinize` may leave this state: it leaves every state as it is."""
    return True


POSTERIORS = []
"""There is nothing to believe: every player knows the state."""

SMALLEST = {"preset": "tiny", "num_colours": 1}
"""A table that a slow solver in plain Python walks in seconds."""

TREES = [
    ({"preset": "tiny"}, (86_762, 86_762, 124_976)),
    ({"preset": "small"}, (380_372, 380_372, 560_936)),
]
"""Options, and information sets, decisions and terminals by section g; all is public, so that the first two are the same."""

LEAKS = {}
"""None can be planted: the state holds nothing that a player may not see."""


def _one_card_a_turn(table, rng):
    return "stop" if "stop" in table.legal() else uniform(table, rng)


def _draws_on(table, rng):
    return "draw" if "draw" in table.legal() else uniform(table, rng)


_EVERY_OPTION = {
    "num_players": 3, "first_player": "random", "num_colours": 3, "board_length": 5, "reserve_size": 6,
    "deck": (
        (0, "alarm", "+card"), (0, None, 1), (1, "alarm", 2), (1, "feather", "+card"), (2, None, "laurel"), (2, 0, None, 2),
    ),
    "take_table": (1, 2, 2, 3), "alarms_for_raid": 2, "joker": False, "tokens": ((4, 3), (6, 1), (5, 2), (9, 4)),
    "raid_before_plus": True, "take_as_batch": True, "reward": "score",
}  # fmt: skip

PLAYTHROUGHS = {
    "ordinary": ("four players by the rules of thumb", {"num_players": 4}, rule_based, 1),
    "raids": ("raids at two alarms, jokers and +cards", {"num_players": 2, "alarms_for_raid": 2}, uniform, 3),
    "last_cards": ("both piles run out in the last turn", {"num_players": 2, "reserve_size": 0}, _draws_on, 2),
    "options": ("every option away from its default", _EVERY_OPTION, uniform, 5),
    "longest": ("one card a turn: 75 turns", {"num_players": 3}, _one_card_a_turn, 0),
}
"""What it shows, options, who decides, and the seed."""
