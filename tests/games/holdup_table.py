"""Hold-up tables for the tests of all games."""

from heist_envs.games import holdup


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
