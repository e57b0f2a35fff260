"""Random numbers: one splitmix64 stream per game, the only randomness of the engine.

A stream is one uint64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). All 64-bit
arithmetic of the package is here, explicitly typed: Numba turns uint64 mixed with a plain int into a float.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from heist_envs import wide
from heist_envs.rules import Record, compiled, inlined

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)

STREAM = np.dtype((np.record, [("word", np.uint64)]))
"""A random stream is a record, so that what draws from it takes it as a state is taken: by reference."""

MAX_SEED = 2**63 - 1


def _mix(z: Any) -> Any:
    """The splitmix64 finaliser, on a word or an array of words: a bijection that looks random."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


mix = inlined(_mix)


@inlined
def _next_32(stream: Record) -> np.uint64:
    stream.word += _GOLDEN
    return mix(stream.word) >> _32


@inlined
def below(stream: Record, n: int) -> int:
    """A uniform integer in [0, n), n < 2**32, from a stream: exact, by Lemire's multiplication with rejection."""
    size = np.uint64(n)
    product = _next_32(stream) * size
    if (product & _LOW_32) < size:
        biased = (_LOW_32 + np.uint64(1)) % size
        while (product & _LOW_32) < biased:
            product = _next_32(stream) * size
    return np.int64(product >> _32)  # type: ignore[return-value]  # int() of a uint64 is one in Numba


@inlined
def fraction(stream: Record) -> float:
    """A uniform multiple of 2**-32 in [0, 1) from a stream."""
    return np.int64(_next_32(stream)) / 4294967296.0


@inlined
def draw(stream: Record, row: Record) -> int:
    """An index drawn with probability proportional to its entry in a row (`engine.row`) of flags or of int32 weights.

    The entries are the field `values` of a record, since then their number is known to the compiler.
    """
    return wide.find(row, below(stream, wide.count(row)))


@inlined
def fold(key: np.uint64, value: int | np.uint64) -> np.uint64:
    """A running 64-bit key with one more value in it."""
    return mix((key ^ np.uint64(value)) * _MIX_1 + _GOLDEN)


@compiled
def fold_bytes(key: np.uint64, octets: NDArray[Any]) -> np.uint64:
    """A running 64-bit key with all entries of an array of int8 or uint8 in it, eight at a time."""
    for start in range(0, len(octets), 8):
        word = np.uint64(0)
        for k in range(start, min(start + 8, len(octets))):
            word |= np.uint64(int(octets[k]) & 255) << np.uint64(8 * (k - start))
        key = fold(key, word)
    return key


@inlined
def slot(key: np.uint64, size: int) -> int:
    """Where in a table of `size` entries, size < 2**32, a key is looked for first: as good as drawn by lot."""
    return np.int64(((key >> _32) * np.uint64(size)) >> _32)  # type: ignore[return-value]  # as in `below`


if numba.config.DISABLE_JIT:  # NumPy's scalars warn where 64-bit arithmetic wraps around, which is meant here.
    wraps_around = np.errstate(over="ignore")
    mix, _next_32, fold = wraps_around(mix), wraps_around(_next_32), wraps_around(fold)


def streams(seeds: NDArray[np.uint64]) -> NDArray[Any]:
    """One stream per seed, `STREAM` (N,). Equal seeds give equal streams, and neighbouring seeds unrelated ones."""
    with np.errstate(over="ignore"):
        words: NDArray[np.uint64] = _mix(seeds.astype(np.uint64) + _GOLDEN)
    return words.view(STREAM)


def seeds(seed: int | list[int] | None, num_envs: int) -> NDArray[np.uint64]:
    """The seed of each game: `seed + i` for game i, the given ones for a list, fresh from the system for None.

    Raises:
        TypeError: not an int, a list of ints or None.
        ValueError: a negative seed, one above `MAX_SEED`, or a list of another length than `num_envs`.
    """
    if seed is None:
        first = secrets.randbits(62)
        chosen: Sequence[int] = range(first, first + num_envs)
    elif isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        chosen = range(int(seed), int(seed) + num_envs)
    elif isinstance(seed, list | tuple) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
        if len(seed) != num_envs:
            raise ValueError(f"got {len(seed)} seeds for {num_envs} games: give one seed, or one per game")
        if not all(isinstance(s, int | np.integer) and not isinstance(s, bool) for s in seed):
            raise TypeError(f"got seeds {list(seed)!r}: each must be an int")
        chosen = [int(s) for s in seed]
    else:
        raise TypeError(f"got seed {seed!r}: it must be an int, a list of one int per game, or None")
    wrong = [s for s in (min(chosen), max(chosen)) if not 0 <= s <= MAX_SEED]
    if wrong:
        raise ValueError(f"got seed {wrong[0]}: seeds run from 0 to {MAX_SEED} (2**63 - 1), one per game")
    return np.array(chosen, np.uint64)
