"""How fast pieces of work are: all of them in turn, several rounds, since machines drift."""

import time
from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

Work: TypeAlias = Callable[[], int]
"""Does a piece of work and returns how much it was: decisions, games."""

K = TypeVar("K")

PIECE = 0.2
"""Seconds that a piece of work is repeated for in each round, at least."""


def rates(works: Mapping[K, Work], rounds: int, piece: float = PIECE) -> dict[K, list[float]]:
    """How much of each work is done in a second in each round, after one piece of it to warm up.

    Args:
        works: what is measured, by name.
        rounds: how often each has its turn.
        piece: seconds that a turn takes at least.
    """
    for work in works.values():
        work()
    found: dict[K, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            start, done = time.perf_counter(), 0
            while done == 0 or time.perf_counter() - start < piece:
                done += work()
            found[name].append(done / (time.perf_counter() - start))
    return found
