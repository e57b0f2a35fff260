"""Hold-up tables for the tests of all games."""

import numpy as np

from heist_envs.games import holdup
from tests.planted import allowing, allowing_anyway, put, scalar, telling
from tests.tables import rule_based, uniform


def random_options(rng):
    def pick(*values):
        return values[rng.integers(len(values))]

    if rng.random() < 0.15:
        return {"preset": pick(*holdup.PRESETS)}
    n = pick(3, 4, 5, 6)
    options = {"num_players": n, "first_player": pick("random", *range(n))}
    if rng.random() < 0.7:
        count = int(rng.integers(n, 16))
        options |= {
            "pp_values": tuple(int(v) + 1 for v in rng.choice(15, count, replace=False)),
            "start_diamonds": int(rng.integers(2, 9)),
            "num_thieves": pick(1, 2, 3),
            "redraw_rounds": pick(0, 1, 2, 2),
            "loans": pick(True, True, False),
            "bribe_cost": pick(1, 2, 3),
            "loan": pick(1, 2, 3, 6),
            "loan_debt": pick(0, 4, 7),
            "penalty_thieves": pick(1, 2, 3),
            "penalty_diamonds": pick(1, 2, 3, 5),
            "revolver_penalty": pick("extra", "instead"),
            "revolver_needs_join": pick(True, False),
            "end_check": pick("round", "immediate"),
            "loan_bank": pick("unlimited", "box"),
            "join_order": pick("sequential", "simultaneous"),
            "max_rounds": pick(1, 2, 5, 60),
            "reward": pick("win", "score"),
        }
    return options


def referee_options(options):
    preset = options.get("preset")
    given = {name: value for name, value in options.items() if name != "preset"}
    own_cap = preset is not None and "max_rounds" not in given
    return (holdup.PRESETS[preset] if preset else {}) | given | {"cap_terminates": own_cap}


def _seat(seat):
    return None if seat == holdup.NO_SEAT else int(seat)


def public(state):
    n = int(state.num_players)
    if state.phase == holdup.DEAL and state.drawer == state.glove:
        # Until the first card of a deal the last round's table is left in sight (h.11); the referee clears it at once.
        state = state.copy()
        state.laid[:n] = holdup.NOT_ASKED
        for name in ("shown", "joined", "folded"):
            state[name][:] = 0
        state.target = state.shooter = holdup.NO_SEAT
    phase = holdup.PHASES[state.phase]
    showdown = None
    if state.showdown_winner != holdup.NO_SEAT:
        showdown = {
            "cards": [int(v) for v in state.showdown_card[:n]],
            "winner": int(state.showdown_winner),
            "pot": int(state.showdown_pot),
            "target": _seat(state.showdown_target),
            "penalty": {0: None, holdup.FLIP: "FLIP", holdup.PAY: "PAY"}[int(state.showdown_penalty)],
        }
    return {
        "phase": phase,
        "redraw_round": int(state.redraw_round) if phase == "DRAW" else None,
        "actor": _seat(state.actor) if state.drawer == holdup.NO_SEAT else None,
        "diamonds": [int(v) for v in state.diamonds[:n]],
        "thieves": [int(v) for v in state.thieves[:n]],
        "loan_taken": [bool(v) for v in state.loan_taken[:n]],
        "pot": int(state.pot),
        "glove": _seat(state.glove),
        "pile_size": int(state.pile_size),
        "laid": [[None if v == holdup.NOT_ASKED else int(v) for v in row] for row in state.laid[:n]],
        "shown": [int(v) for v in state.shown[:n]],
        "status": [
            ("undecided", "joined", "folded")[j + 2 * f] for j, f in zip(state.joined[:n], state.folded[:n], strict=True)
        ],
        "target": _seat(state.target),
        "shooter": _seat(state.shooter),
        "rounds": int(state.rounds),
        "showdown": showdown,
    }


def private(state, seat):
    answer = {0: None, holdup.JOIN: "JOIN", holdup.FOLD: "FOLD"}[int(state.answer[seat])]
    return {"card": int(state.card[seat]), "answer": answer}


def scramble(state, player, rng):
    """Put anything into what a player may not see: others' cards and answers, and the pile."""
    for seat in range(state.num_players):
        if seat != player:
            state.card[seat] = rng.integers(16)
            state.answer[seat] = rng.choice([0, holdup.JOIN, holdup.FOLD])
    state.pile[:] = rng.integers(2, size=15)


def copies(state, action):
    """How many cards of the acting player's hand an action may mean: one card is held, and none is chosen."""
    return 1


def settled(state, player):
    """Whether `determinize` may leave this state: it may leave any, since nobody is ever in the middle of a choice."""
    return True


POSTERIORS = [
    {"preset": "tiny"},
    {"preset": "tiny", "join_order": "simultaneous"},
    {"preset": "tiny", "revolver_needs_join": False},
]
"""Tables small enough to enumerate what a player may believe."""

SMALLEST = {
    "num_players": 3, "pp_values": (1, 2, 3, 4), "redraw_rounds": 0, "loans": False, "max_rounds": 1,
}  # fmt: skip
"""A table that a slow solver in plain Python walks in seconds."""

TREES = [
    ({"preset": "tiny"}, (31_306, 52_480, 58_480)),
    ({"preset": "small"}, (774_870, 1_381_200, 1_493_280)),
    ({"preset": "two_rounds"}, (111_385, 261_600, 318_600)),
    ({"preset": "tiny", "revolver_needs_join": False}, (56_086, 81_040, 91_120)),
    ({"preset": "tiny", "join_order": "simultaneous"}, (20_656, 52_480, 58_480)),
    ({"preset": "tiny", "end_check": "immediate", "start_diamonds": 2}, (7_314, 14_400, 16_320)),
]
"""Options, and information sets, decisions and terminals by section g."""


LEAKS = {
    "a hidden card in the entry of an empty seat": put("shown", 5, lambda s, p, o: s.card[o]),
    "the next player's card in place of a shown one": put("showdown_card", 1, lambda s, p, o: s.card[o]),
    "whether a card is higher than one's own": scalar("redraw_round", lambda s, p, o: s.card[o] > s.card[p]),
    "the parity of a hidden card": put("answer", 0, lambda s, p, o: s.card[o] % 2),
    "the sum of all hands": scalar("max_rounds", lambda s, p, o: s.card.sum() % 100),
    "the lowest card of the pile": scalar("pile_size", lambda s, p, o: int(np.argmax(s.pile))),
    "whether the highest card is still in the pile": put("face_up", 14, lambda s, p, o: s.pile[14]),
    "who holds the highest card": put("actor", 0, lambda s, p, o: np.argmax(s.card) == p),
    "the order of the seats by card": put("seated", 1, lambda s, p, o: np.argsort(s.card)[1] > 2),
    "an answer before all are in": put("joined", 1, lambda s, p, o: s.answer[o] == holdup.JOIN),
    "a fold before all are in": put("folded", 1, lambda s, p, o: s.answer[o] == holdup.FOLD),
    "a mask that knows the pile": allowing(holdup.REDRAW, lambda s: s.pile[0]),
    "a mask that knows another hand": allowing_anyway(holdup.JOIN, lambda s: s.card[(s.actor + 1) % 3] > 7),
    "a text that names a hidden card": telling(lambda s, viewer: f" {s.card[((viewer or 0) + 1) % s.num_players]}"),
    "a text for everybody that names the viewer-less card": telling(lambda s, v: f" {s.card[0]}" if v is None else ""),
    "a text that lists the pile": telling(lambda s, viewer: f" {np.flatnonzero(s.pile)}"),
}


def _redraws(table, rng):
    return "redraw" if "redraw" in table.legal() else uniform(table, rng)


def _one_after_another(table, rng):
    if "no-revolver" in table.legal():
        return "no-revolver"
    return "join" if table.rounds % 3 == table.player else "fold"


_EVERY_OPTION = {
    "num_players": 3, "first_player": "random", "join_order": "simultaneous", "end_check": "immediate",
    "revolver_needs_join": False, "revolver_penalty": "instead", "loan_bank": "box", "reward": "score",
}  # fmt: skip

PLAYTHROUGHS = {
    "ordinary": ("four players by the rules of thumb", {"num_players": 4}, rule_based, 1),
    "empty_pile": ("six players redraw till the pile is empty", {"num_players": 6}, _redraws, 3),
    "options": ("every option away from its default", _EVERY_OPTION, uniform, 5),
    "longest": (
        "one joins at a time, to the cap",
        {"num_players": 3, "redraw_rounds": 0, "loans": False},
        _one_after_another,
        0,
    ),
}
"""What it shows, options, who decides, and the seed."""
