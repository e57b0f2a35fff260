"""The only stepper: it plays chance, writes observations and masks, and starts finished games again."""

import functools
import importlib
import json
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, wide
from heist_envs.rules import (
    CHANCE,
    TERMINAL,
    Record,
    State,
    apply_action,
    chance_outcomes,
    compiled,
    current_player,
    inlined,
    is_truncated,
    legal_actions,
    observe,
    reset,
    returns,
)

RESTART = -1
"""In place of an action: start this game anew."""
BLOCK = 64
"""Games that random play goes through together: what they need stays in the processor's cache."""
AHEAD = 2
"""While a game is stepped, the one so many places further on is fetched into the processor's cache."""
HOLD = -2
"""In place of an action: leave this game as it is; its outputs keep their values."""


@functools.cache
def row(dtype: Any, size: int) -> np.dtype[Any]:
    """A record that holds one row of a buffer.

    Indexing an array of such records costs nothing in compiled code; a row of a 2-d array is an object of its own there,
    counted with atomic instructions, and its length is not known to the compiler. A row is filled up to a power of two, and
    to 16 entries.
    """
    nbytes = max(size, 16) * np.dtype(dtype).itemsize
    filled = 1 << (nbytes - 1).bit_length()
    return np.dtype((np.record, np.dtype({"names": ["values"], "formats": [(dtype, size)], "itemsize": filled})))


def flat(records: NDArray[Any]) -> NDArray[np.int8]:
    """Observations as flat int8, a view with one more axis."""
    return records.view(np.int8).reshape(*records.shape, records.dtype.itemsize)


def mask_of(game: ModuleType, state: State) -> NDArray[np.int8]:
    """1 for each legal action of the player who is to act, int8 (A,), in a new array."""
    mask: NDArray[np.int8] = np.zeros(1, row(np.int8, game.NUM_ACTIONS))["values"][0]
    legal_actions(state, mask)
    return mask


def weights_of(game: ModuleType, state: State) -> NDArray[np.int32]:
    """The weight of each outcome where chance is to act, int32 (MAX_CHANCE_OUTCOMES,), in a new array."""
    weights: NDArray[np.int32] = np.zeros(1, row(np.int32, game.MAX_CHANCE_OUTCOMES))["values"][0]
    chance_outcomes(state, weights)
    return weights


@inlined
def play(state: State, action: int, stream: Record, weights: Record) -> int:
    """Play an action and all that chance adds to it; the player who is to act then, or TERMINAL."""
    while True:
        apply_action(state, action)
        player = current_player(state)
        if player != CHANCE:
            return player
        chance_outcomes(state, weights.values)
        action = chance.draw(stream, weights)


@compiled
def play_chance(state: State, stream: Record, weights: Record) -> None:
    """Let chance act until a player must answer or the game is over."""
    if current_player(state) == CHANCE:
        chance_outcomes(state, weights.values)
        play(state, chance.draw(stream, weights), stream, weights)


@inlined
def _look(state: State, seen: Record, mask: Record) -> int:
    """Write what the player who is to act sees and may do; his seat.

    The mask of a finished game is all ones: nothing is to choose, and a masked distribution over it stays finite.
    """
    player = current_player(state)
    if player == TERMINAL:
        mask.values[:] = 1
        player = 0
    else:
        legal_actions(state, mask.values)
    observe(state, player, seen)
    return player


@compiled
def _conclude(state: State, rewards: NDArray[np.float32], final_observations: NDArray[Any]) -> None:
    returns(state, rewards)
    for player in range(len(rewards)):
        observe(state, player, final_observations[player])


@compiled
def step_games(
    states: NDArray[Any],
    streams: NDArray[Any],
    actions: NDArray[np.int64],
    players: NDArray[np.int8],
    observations: NDArray[Any],
    masks: NDArray[Any],
    rewards: NDArray[np.float32],
    terminations: NDArray[np.bool_],
    truncations: NDArray[np.bool_],
    final_observations: NDArray[Any],
    weights: NDArray[Any],
    autoreset: bool,
) -> None:
    """One decision in every game. A finished game starts again in the same step, or stays as it is and is skipped."""
    last = len(states) - 1
    for i in range(len(states)):
        wide.prefetch(states[min(i + AHEAD, last)])
        wide.prefetch(observations[min(i + AHEAD, last)])
        if actions[i] == HOLD:
            continue
        state = states[i]
        if terminations[i] or truncations[i]:
            if not autoreset and actions[i] != RESTART:
                continue
            rewards[i] = 0
            terminations[i] = truncations[i] = False
        if actions[i] == RESTART:
            reset(state)
            play_chance(state, streams[i], weights[0])
        elif play(state, actions[i], streams[i], weights[0]) == TERMINAL:
            _conclude(state, rewards[i], final_observations[i])
            truncations[i] = is_truncated(state)
            terminations[i] = not truncations[i]
            if autoreset:
                reset(state)
                play_chance(state, streams[i], weights[0])
        players[i] = _look(state, observations[i], masks[i])


@compiled
def look_at_games(
    states: NDArray[Any],
    players: NDArray[np.int8],
    observations: NDArray[Any],
    masks: NDArray[Any],
    rewards: NDArray[np.float32],
    final_observations: NDArray[Any],
) -> None:
    """Write all buffers anew from the states."""
    for i in range(len(states)):
        players[i] = _look(states[i], observations[i], masks[i])
        if current_player(states[i]) == TERMINAL:
            _conclude(states[i], rewards[i], final_observations[i])


@compiled
def play_at_random(
    states: NDArray[Any],
    streams: NDArray[Any],
    choices: NDArray[Any],
    observations: NDArray[Any],
    masks: NDArray[Any],
    weights: NDArray[Any],
    actions: NDArray[np.int64],
    num_steps: int,
) -> None:
    """Random legal actions, drawn from the streams `choices`, for `num_steps` decisions in each game, round the games.

    Every decision is a whole one: observation and mask are written, and a finished game starts again.
    """
    last = len(states) - 1
    for _ in range(num_steps):
        for start in range(0, len(states), BLOCK):
            block = range(start, min(start + BLOCK, len(states)))
            for i in block:
                actions[i] = chance.draw(choices[i], masks[i])
            for i in block:
                wide.prefetch(states[min(i + AHEAD, last)])
                state = states[i]
                if play(state, actions[i], streams[i], weights[0]) == TERMINAL:
                    reset(state)
                    play_chance(state, streams[i], weights[0])
            for i in block:
                wide.prefetch(observations[min(i + AHEAD, last)])
                _look(states[i], observations[i], masks[i])


@compiled
def first_illegal(actions: NDArray[np.int64], masks: NDArray[np.int8], playing: NDArray[np.bool_]) -> int:
    """The first game in play whose action its mask does not allow, or -1."""
    for i in range(len(actions)):
        if playing[i] and (actions[i] < 0 or actions[i] >= masks.shape[1] or not masks[i, actions[i]]):
            return i
    return -1


@compiled
def observe_seats(states: NDArray[Any], seen: NDArray[Any]) -> None:
    """What every seat of every game sees now, into records (N, num_players)."""
    for i in range(len(states)):
        for player in range(seen.shape[1]):
            observe(states[i], player, seen[i, player])


def first_keys(num_players: int) -> NDArray[np.uint64]:
    """The information-state keys of seats that have seen nothing, uint64 (num_players,): no two seats share one."""
    return np.arange(1, num_players + 1, dtype=np.uint64)


@compiled
def update_keys(
    state: State,
    keys: NDArray[np.uint64],
    views: NDArray[np.uint64],
    rows: NDArray[Any],
    observations: NDArray[np.int8],
) -> None:
    """Fold what is new in each seat's observation into its information-state key.

    A key stands for all that the seat has seen and done (perfect recall): call this after every transition, with
    `remember_action` before it for the acting seat. An unchanged view adds nothing.

    Args:
        state: the state after the transition.
        keys: the running keys, uint64 (num_players,).
        views: the last observation of each seat as a key, uint64 (num_players,).
        rows: scratch, one observation record (1,).
        observations: the same memory as int8 (1, D).
    """
    for player in range(len(keys)):
        observe(state, player, rows[0])
        view = chance.fold_bytes(np.uint64(0), observations[0])
        if view != views[player]:
            views[player] = view
            keys[player] = chance.mix(keys[player] ^ chance.mix(view))


@compiled
def remember_action(keys: NDArray[np.uint64], player: int, action: int) -> None:
    """Fold a seat's own action into its information-state key."""
    keys[player] = chance.fold(keys[player], action + 1)


class Batch:
    """N games of one kind with their random streams and buffers: what every face stands on.

    Args:
        game: the module of a game.
        states: structured array (N,), from `game.new_initial_state`.
        autoreset: a finished game starts again in the same step; else it stays finished and ignores its actions.

    Attributes, all of them buffers that the next step overwrites:
        states: structured (N,); streams: `chance.STREAM` (N,); players: int8 (N,), the seat to act;
        observations: int8 (N, D) and masks: int8 (N, A) of that seat; rewards: float32 (N, num_players);
        terminations, truncations: bool (N,); final_observations: int8 (N, num_players, D), written where a game ended.
    """

    def __init__(self, game: ModuleType, states: NDArray[Any], autoreset: bool) -> None:
        n = len(states)
        self.game = game
        self.autoreset = autoreset
        self.num_players = int(states["num_players"][0])
        self.states = states
        self.streams = chance.streams(chance.seeds(None, n))
        self.players = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, self.num_players), np.float32)
        self.terminations = np.zeros(n, np.bool_)
        self.truncations = np.zeros(n, np.bool_)
        self.observation_rows = np.zeros(n, game.OBSERVATION.record)
        self.mask_rows = np.zeros(n, row(np.int8, game.NUM_ACTIONS))
        self.final_rows = np.zeros((n, self.num_players), game.OBSERVATION.record)
        self._add_views()

    def _add_views(self) -> None:
        """The rows as plain arrays over the same memory, and scratch of this batch's own."""
        self.observations = flat(self.observation_rows)
        self.masks: NDArray[np.int8] = self.mask_rows["values"]
        self.final_observations = flat(self.final_rows)
        self._weights = np.zeros(1, row(np.int32, self.game.MAX_CHANCE_OUTCOMES))

    def __len__(self) -> int:
        return len(self.states)

    def __getstate__(self) -> dict[str, Any]:
        views = ("observations", "masks", "final_observations", "_weights")
        fields = {name: value for name, value in vars(self).items() if name not in views}
        return {**fields, "game": self.game.__name__}  # a module does not pickle

    def __setstate__(self, fields: dict[str, Any]) -> None:
        vars(self).update(fields, game=importlib.import_module(fields["game"]))
        self._add_views()

    def part(self, rows: slice) -> "Batch":
        """A view of some of the games: stepping it steps them in place."""
        view = object.__new__(Batch)
        for name, value in vars(self).items():
            setattr(view, name, value[rows] if isinstance(value, np.ndarray) else value)
        view._add_views()
        return view

    def observe_seats(self) -> NDArray[np.int8]:
        """What each seat sees now, int8 (N, num_players, D), in a new array."""
        rows = np.zeros((len(self), self.num_players), self.game.OBSERVATION.record)
        observe_seats(self.states, rows)
        return flat(rows)

    def reset(self, seed: int | list[int] | None = None) -> None:
        """Start every game anew, from its own seed (`chance.seeds`), or going on in its stream where seed is None."""
        if seed is not None:
            self.streams[:] = chance.streams(chance.seeds(seed, len(self)))
        self.terminations[:] = self.truncations[:] = False
        self.rewards[:] = 0
        self.step(np.full(len(self), RESTART))

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play `actions`, int64 (N,), which must be legal (`check_actions`)."""
        step_games(
            self.states,
            self.streams,
            actions,
            self.players,
            self.observation_rows,
            self.mask_rows,
            self.rewards,
            self.terminations,
            self.truncations,
            self.final_rows,
            self._weights,
            self.autoreset,
        )

    def play_at_random(self, choices: NDArray[Any], num_steps: int) -> None:
        """`num_steps` random decisions in each game, drawn from `chance.streams` (N,)."""
        actions = np.zeros(len(self), np.int64)
        play_at_random(
            self.states, self.streams, choices, self.observation_rows, self.mask_rows, self._weights, actions, num_steps
        )

    def check_actions(self, actions: Any) -> NDArray[np.int64]:
        """The actions as int64 (N,).

        Raises:
            TypeError: not integers.
            ValueError: a wrong shape, or an action that is not legal; nothing has been changed.
        """
        given = np.asarray(actions)
        if given.shape != (len(self),):
            raise ValueError(f"got actions of shape {given.shape}: one integer per game is needed, shape ({len(self)},)")
        if given.dtype.kind not in "iu":
            raise TypeError(f"got actions of dtype {given.dtype}: they must be integers, 0 to {self.masks.shape[1] - 1}")
        # An unsigned number too large for int64 must not wrap around into a legal one.
        made = given.astype(np.int64) if given.dtype != np.uint64 else np.minimum(given, 2**62).astype(np.int64)
        playing = np.full(len(self), self.autoreset) | ~(self.terminations | self.truncations)
        i = first_illegal(made, self.masks, playing)
        if i >= 0:
            where = f" in game {i}" if len(self) > 1 else ""
            raise ValueError(f"got action {given[i]}{where} for player_{self.players[i]}: {self.legal_words(i)}")
        made[~playing] = HOLD
        return made

    def legal_words(self, i: int) -> str:
        """The legal actions of game i, for an error message."""
        names = self.game.ACTION_NAMES
        return "legal are " + ", ".join(f"{a} {names[a]}" for a in np.flatnonzero(self.masks[i]))

    def to_bytes(self) -> bytes:
        """The games as bytes: a header, then states and streams. `load_bytes` goes on from them identically."""
        return _header(self) + self.states.tobytes() + self.streams.tobytes() + _flags(self).tobytes()

    def load_bytes(self, data: bytes) -> None:
        """Go on from what `to_bytes` gave, of the same game, version and number of games and players.

        Raises:
            TypeError: not bytes.
            ValueError: the data is of something else or broken; nothing has been changed.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"got a save of type {type(data).__name__}: it must be bytes")
        header = _header(self)
        found, _, body = bytes(data).partition(b"\n")
        if found + b"\n" != header:
            raise ValueError(f"got a save of {found[:200]!r}: this is {header.strip()!r}")
        sizes = [self.states.nbytes, self.streams.nbytes, 2 * len(self)]
        if len(body) != sum(sizes):
            raise ValueError(f"got a save of {len(body)} bytes after its header: {sum(sizes)} are needed")
        first, second = sizes[0], sizes[0] + sizes[1]
        states = np.frombuffer(body[:first], self.states.dtype).copy()
        flags = np.frombuffer(body[second:], np.uint8)
        if flags.max(initial=0) > 1:
            raise ValueError("got a save whose end-of-game flags are neither 0 nor 1")
        for state, terminated, truncated in zip(states, *flags.reshape(2, -1), strict=True):
            self._check_saved(state, bool(terminated), bool(truncated))
        self.states[:] = states
        self.streams[:] = np.frombuffer(body[first:second], chance.STREAM)
        self.terminations[:], self.truncations[:] = flags.reshape(2, -1).astype(bool)
        self.look()

    def look(self) -> None:
        """Write all buffers anew, after the states were set from outside."""
        self.rewards[:] = 0
        look_at_games(self.states, self.players, self.observation_rows, self.mask_rows, self.rewards, self.final_rows)

    def _check_saved(self, state: State, terminated: bool, truncated: bool) -> None:
        """A saved state must be lawful and wait for a player, or be over where finished games stay so."""
        self.game.check(state)
        player = current_player(state)
        if state.num_players != self.num_players:
            raise ValueError(f"got a save with {state.num_players} players: this has {self.num_players}")
        if player == CHANCE or (player == TERMINAL and self.autoreset):
            raise ValueError("got a save of a game in which no player is to act")
        if (terminated and truncated) or (not self.autoreset and (terminated or truncated) != (player == TERMINAL)):
            raise ValueError("got a save whose end-of-game flags are not those of its game")


def _header(batch: Batch) -> bytes:
    fields = {
        "game": batch.game.NAME,
        "version": batch.game.VERSION,
        "num_envs": len(batch),
        "num_players": batch.num_players,
        "state_bytes": batch.states.dtype.itemsize,
    }
    return json.dumps(fields).encode() + b"\n"


def _flags(batch: Batch) -> NDArray[np.bool_]:
    return np.concatenate([batch.terminations, batch.truncations])
