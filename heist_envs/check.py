"""The contract, executed on a game: `check_game(module)` for whoever writes one of their own (docs/add-a-game.md)."""

from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, rules
from heist_envs.engine import row
from heist_envs.layout import MAX_SEATS

NAMES = {
    "NAME": str,
    "VERSION": int,
    "MIN_PLAYERS": int,
    "MAX_PLAYERS": int,
    "NUM_ACTIONS": int,
    "MAX_CHANCE_OUTCOMES": int,
    "ACTION_NAMES": tuple,
    "OPTIONS": Mapping,
    "PRESETS": Mapping,
    "PUBLIC": list,
    "PRIVATE": list,
    "HIDDEN": list,
}
"""What a game's module has besides its rules, `STATE`, `OBSERVATION` and the functions below."""
FUNCTIONS = ("new_initial_state", "check", "describe", "score")
MAX_MOVES = 100_000
"""A game that has not ended after so many moves is taken to be endless."""


class GameError(AssertionError):
    """A game breaks the contract."""


def _law(holds: Any, what: str) -> None:
    if not holds:
        raise GameError(what)


def check_game(
    game: ModuleType, tables: Iterable[Mapping[str, Any]] = ({},), num_states: int = 1_000, seed: int = 0
) -> None:
    """Walk through random games and demand every law of the contract.

    Args:
        game: the game's module, with its rules registered.
        tables: options of tables to play at; each gets `num_states` states.
        num_states: states to look at, chance events and finished games among them.
        seed: of the walk.

    Raises:
        GameError: the first law that is broken, in words.
    """
    _check_names(game)
    for options in tables:
        states = game.new_initial_state(**options)
        _law(states.dtype == game.STATE and states.shape == (1,), f"new_initial_state gave {states.dtype} {states.shape}")
        fresh = states[0].copy()
        rules.reset(states[0])
        _law(states[0] == fresh, f"reset changed a fresh state at the table {options}")
        rng = np.random.default_rng(seed)
        for state, final in _walk(game, fresh, num_states, rng):
            _check_state(game, state, rng)
            if final:
                again = state.copy()
                rules.reset(again)
                _law(again.tobytes() == fresh.tobytes(), f"reset after a game does not give the fresh state at {options}")


def _check_names(game: ModuleType) -> None:
    for name, kind in NAMES.items():
        _law(isinstance(getattr(game, name, None), kind), f"{game.__name__} needs {name}, a {kind.__name__}")
    for name in (*FUNCTIONS, *rules.RULES):
        _law(callable(getattr(game, name, None)), f"{game.__name__} needs the function {name}")
    dtypes = {"STATE": game.STATE, "OBSERVATION.record": game.OBSERVATION.record}
    for name, dtype in dtypes.items():
        size = sum(dtype.fields[field][0].itemsize for field in dtype.names)
        _law(dtype.itemsize == size, f"{name} has {dtype.itemsize - size} bytes of padding: wide fields go first")
    fields = [field[0] for field in game.PUBLIC + game.PRIVATE + game.HIDDEN]
    _law(list(game.STATE.names) == fields, "STATE must have the fields of PUBLIC, PRIVATE and HIDDEN, in this order")
    _law("num_players" in fields, "PUBLIC needs the field num_players")
    for name, _, shape in (field for field in game.PRIVATE if len(field) == 3):
        first = shape[0] if isinstance(shape, tuple) else shape
        _law(first == game.MAX_PLAYERS, f"the first axis of the PRIVATE field {name} must be its owner, {game.MAX_PLAYERS}")
    _law(all(len(field) == 3 for field in game.PRIVATE), "a PRIVATE field needs an entry for every seat")
    _law(game.MAX_PLAYERS <= MAX_SEATS, f"got {game.MAX_PLAYERS} players: at most {MAX_SEATS}")
    _law(len(game.ACTION_NAMES) == game.NUM_ACTIONS, "ACTION_NAMES needs a name for each action")
    _law(len(set(game.ACTION_NAMES)) == game.NUM_ACTIONS, "two actions have the same name")


def _walk(game: ModuleType, start: Any, count: int, rng: np.random.Generator) -> Iterator[tuple[Any, bool]]:
    seen = 0
    while seen < count:
        state = start.copy()
        for _ in range(MAX_MOVES):
            player = rules.current_player(state)
            yield state.copy(), player == rules.TERMINAL
            seen += 1
            if player == rules.TERMINAL or seen >= count:
                break
            weights = _weights(game, state) if player == rules.CHANCE else legal(game, state)
            rules.apply_action(state, int(rng.choice(len(weights), p=weights / weights.sum())))
        else:
            raise GameError(f"a game has not ended after {MAX_MOVES} moves")


def _weights(game: ModuleType, state: Any) -> NDArray[np.int32]:
    weights: NDArray[np.int32] = np.full(1, -7, row(np.int32, game.MAX_CHANCE_OUTCOMES))["values"][0]
    rules.chance_outcomes(state, weights)
    _law((weights >= 0).all() and weights.sum() > 0, f"chance_outcomes must write every weight, and one above 0: {weights}")
    return weights


def legal(game: ModuleType, state: Any) -> NDArray[np.int8]:
    """The mask of whoever is to act, int8 (A,).

    Raises:
        GameError: it is not 0 and 1, or allows nothing.
    """
    mask: NDArray[np.int8] = np.full(1, 7, row(np.int8, game.NUM_ACTIONS))["values"][0]
    rules.legal_actions(state, mask)
    _law(((mask == 0) | (mask == 1)).all(), f"legal_actions must write 0 or 1 for every action: {mask}")
    _law(mask.any(), "whoever is asked needs a legal action")
    return mask


def _check_state(game: ModuleType, state: Any, rng: np.random.Generator) -> None:
    before = state.copy()
    player = rules.current_player(state)
    n = int(state.num_players)
    _law(player in (rules.CHANCE, rules.TERMINAL) or 0 <= player < n, f"current_player gave {player}")
    game.check(state)
    seat = int(rng.integers(n))
    view = _view(game, state, seat)
    words = game.describe(state, seat)
    other = state.copy()
    rules.determinize(other, seat, chance.streams(chance.seeds(int(rng.integers(2**60)), 1))[0])
    game.check(other)
    _law(_view(game, other, seat) == view, f"determinize for seat {seat} changes what that seat sees")
    _law(game.describe(other, seat) == words, f"determinize changes the words for seat {seat}")
    for name in (field[0] for field in game.PUBLIC):
        _law(other[name].tobytes() == state[name].tobytes(), f"determinize changes the public field {name}")
    _law(rules.current_player(other) == player, "determinize changes who is to act")
    if player == rules.TERMINAL:
        payoffs = np.full(n, np.nan, np.float32)
        rules.returns(state, payoffs)
        _law(np.isfinite(payoffs).all(), f"returns must write a number for every seat: {payoffs}")
        rules.is_truncated(state)
    elif player == rules.CHANCE:
        _check_moves(game, state, np.flatnonzero(_weights(game, state)))
    else:
        _check_moves(game, state, np.flatnonzero(legal(game, state)))
    _law(state.tobytes() == before.tobytes(), "a rule that only looks has changed the state")


def _check_moves(game: ModuleType, state: Any, moves: NDArray[np.intp]) -> None:
    for move in moves:
        after = state.copy()
        rules.apply_action(after, int(move))
        game.check(after)
        _law(after.tobytes() != state.tobytes(), f"move {move} changes nothing")


def _view(game: ModuleType, state: Any, player: int) -> bytes:
    """What a player sees: a feature that `observe` leaves unwritten would differ between two calls."""
    seen = np.zeros(2, game.OBSERVATION.record)
    octets = seen.view(np.int8).reshape(2, -1)
    octets[1] = 99
    rules.observe(state, player, seen[0])
    rules.observe(state, player, seen[1])
    wrong = np.flatnonzero(octets[0] != octets[1])
    _law(not len(wrong), f"observe leaves entries {wrong.tolist()} unwritten")
    low, high = game.OBSERVATION.low, game.OBSERVATION.high
    out = np.flatnonzero((octets[0] < low) | (octets[0] > high))
    _law(not len(out), f"observation entries {out.tolist()} are out of the bounds of OBSERVATION")
    view: bytes = octets[0].tobytes()
    return view
