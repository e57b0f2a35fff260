"""The games. This dictionary is the one hand-kept list of the package."""

import importlib
from types import ModuleType

VERSIONS = {"accomplices": 0, "cleaners": 0, "magpies": 0, "holdup": 0}
"""Name -> behaviour version, the N of `heist/<name>-vN`: it changes whenever a golden playthrough does."""

GAMES = tuple(VERSIONS)
"""Names of the games."""


def load(name: str | ModuleType) -> ModuleType:
    """The module of a game, with its rules registered; a module, of somebody's own game, is given back.

    Raises:
        ValueError: no game has this name.
    """
    if isinstance(name, ModuleType):
        return name
    if name not in GAMES:
        raise ValueError(f"got game {name!r}: the games are {', '.join(map(repr, GAMES))}")
    return importlib.import_module(f"heist_envs.games.{name}")
