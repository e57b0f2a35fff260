"""Named, shaped slices of a flat int8 observation, and seats as a player counts them."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Feature(NamedTuple):
    """One named part of an observation: `observation[feature.slice].reshape(feature.shape)`."""

    slice: slice
    shape: tuple[int, ...]
    low: int
    high: int
    scale: int
    """A usual large value under the default rules: learners divide by it."""
    about: str
    """What it says, for the documentation."""


class Layout(Mapping[str, Feature]):
    """The features of a game's observation in their order.

    `Layout(("pot", (2,), 0, 127, 20, "what it says"), ...)`: name, shape, least and largest value, scale, description.
    The observation is written as a record with these fields (`record`) and read as a flat int8 array.
    """

    def __init__(self, *features: tuple[str, tuple[int, ...], int, int, int, str]) -> None:
        self._features: dict[str, Feature] = {}
        start = 0
        for name, shape, low, high, scale, about in features:
            stop = start + math.prod(shape)
            self._features[name] = Feature(slice(start, stop), shape, low, high, scale, about)
            start = stop
        self.size = start
        """Length D of the flat observation."""
        self.record = np.dtype((np.record, [(name, np.int8, f.shape) for name, f in self.items()]))
        """The observation as one record of int8 fields."""

    def __getitem__(self, name: str) -> Feature:
        return self._features[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __repr__(self) -> str:
        rows = (f"  {name}: {f.slice.start}:{f.slice.stop} {f.shape} {f.low}..{f.high}" for name, f in self.items())
        return "\n".join([f"Layout of {self.size} int8", *rows])

    def _spread(self, values: list[int], dtype: Any) -> NDArray[Any]:
        lengths = [math.prod(f.shape) for f in self.values()]
        return np.repeat(np.array(values, dtype), lengths)

    @property
    def low(self) -> NDArray[np.int8]:
        """The least value of every entry, int8 (D,)."""
        return self._spread([f.low for f in self.values()], np.int8)

    @property
    def high(self) -> NDArray[np.int8]:
        """The largest value of every entry, int8 (D,)."""
        return self._spread([f.high for f in self.values()], np.int8)

    @property
    def scale(self) -> NDArray[np.float32]:
        """What a learner may divide every entry by, float32 (D,)."""
        return self._spread([f.scale for f in self.values()], np.float32)


MAX_SEATS = 6


def _seats() -> Iterator[tuple[int, int, int, int]]:
    for n in range(1, MAX_SEATS + 1):
        for player in range(n):
            for k in range(MAX_SEATS):
                yield n, player, k, (player + k) % n if k < n else k


SEAT_AT = np.zeros((MAX_SEATS + 1, MAX_SEATS, MAX_SEATS), np.uint8)
"""`SEAT_AT[n, player, k]`: the seat k places to the left of a player among n; a place beyond n is its own seat, which is
empty. A table, since division is slow, and unsigned, since Numba then knows that the index does not count from the end.
"""
PLACE_OF = np.zeros((MAX_SEATS + 1, MAX_SEATS, MAX_SEATS), np.uint8)
"""`PLACE_OF[n, player, seat]`: how many places to the left of a player a seat is; the inverse of `SEAT_AT`."""
for _n, _player, _k, _seat in _seats():
    SEAT_AT[_n, _player, _k] = _seat
    PLACE_OF[_n, _player, _seat] = _k
