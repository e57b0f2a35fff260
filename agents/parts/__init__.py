"""Parts of a table that are alike - spaces, colours, objects - as a network looks at them, one by one with the same weights.

What is to be known of each part is put together here, from the observation alone: whose cards lie at an object and how much
they come to, or what everybody holds in the colour of a card. A network over the whole observation must learn this anew for
every place. Per game a module with `GROUPS`, `TOLD` and `look`; a game without one has no such parts.
"""

import functools
import importlib
import importlib.util
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.games import load
from heist_envs.layout import Layout


class Group(NamedTuple):
    """Parts that are alike."""

    name: str
    size: int
    """How many there are, T."""
    layout: Layout
    """What is seen of each, F entries; the first one, `there`, is 0 for a part that is not in play now."""
    actions: tuple[range, ...] = ()
    """For each answer that means a part: the action that gives it, of every part in turn."""


def groups_of(game: str) -> tuple[Group, ...]:
    """The groups of a game; none where it has no module here.

    Raises:
        ValueError: no game has this name.
    """
    module = _module(game)
    return module.GROUPS if module else ()


def told(game: str) -> tuple[str, ...]:
    """The features of the observation that are wholly told by the parts."""
    module = _module(game)
    return module.TOLD if module else ()


def look(game: str, observations: NDArray[np.int8]) -> list[NDArray[np.int8]]:
    """What is seen of the parts of each group in observations, int8 (N, D): int8 (N, T, F) for each group."""
    n = len(observations)
    seen = [np.zeros((n, group.size), group.layout.record) for group in groups_of(game)]
    module = _module(game)
    if module:
        module.look(np.ascontiguousarray(observations).view(load(game).OBSERVATION.record)[:, 0], *seen)
    return [s.view(np.int8).reshape(n, g.size, g.layout.size) for s, g in zip(seen, groups_of(game), strict=True)]


@functools.cache
def _module(game: str) -> ModuleType | None:
    load(game)
    name = f"{__name__}.{game}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None
