"""The contract: the rules that every game defines, callable on any game's state record.

A game is a module that defines the functions named in `RULES` on its own record type `STATE` and calls `register`.
Whoever imports a verb from here (`apply_action(state, action)`) need not know the game: the verb finds it by the
record's field names, in compiled code while compiling, in plain Python by a dictionary.
"""

import functools
import hashlib
import os
import pathlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numba
import numpy as np
from numba import types
from numba.extending import overload

Record: TypeAlias = np.record
State: TypeAlias = Record

CHANCE = -1
"""`current_player` of a state in which chance is to act."""
TERMINAL = -4
"""`current_player` of a finished game."""

P = ParamSpec("P")
R = TypeVar("R")

# Compiled and bounds-checked machine code of one source must not share a folder: Numba's own key leaves this flag out.
_FLAGS = b"boundscheck" if numba.config.BOUNDSCHECK else b""


def _package_of(source: pathlib.Path) -> pathlib.Path:
    """The outermost package folder around a source file, or the file itself where there is no package."""
    top = source
    while (top.parent / "__init__.py").exists():
        top = top.parent
    return top


@functools.cache
def _sources(top: pathlib.Path) -> bytes:
    files = sorted(top.rglob("*.py")) if top.is_dir() else [top]
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.digest()


def _cache_folder(top: pathlib.Path) -> pathlib.Path:
    """Where to keep machine code made from `top` and this package: a new folder whenever one of the sources changes.

    Numba looks only at the caller's own file, so that an edited rule would otherwise be played by a stale driver.
    """
    here = _package_of(pathlib.Path(__file__).resolve())
    stamp = hashlib.sha256(_sources(here) + _sources(top) + _FLAGS).hexdigest()[:12]
    beside = pathlib.Path(numba.config.CACHE_DIR) if numba.config.CACHE_DIR else here / "__pycache__"
    writable = os.access(beside if beside.exists() else beside.parent, os.W_OK)
    if not writable:
        local = {"win32": "LOCALAPPDATA"}.get(sys.platform, "XDG_CACHE_HOME")
        beside = pathlib.Path(os.environ.get(local) or pathlib.Path.home() / ".cache") / "heist_envs"
    return beside / f"numba-{stamp}"


def is_compiled() -> bool:
    """Whether machine code of this version has been kept on this machine; without it the first game takes long to begin."""
    here = _package_of(pathlib.Path(__file__).resolve())
    return any(_cache_folder(here).rglob("*.nbi"))


def state_dtype(fields: list[Any], file: str) -> np.dtype[Any]:
    """The `STATE` of a game outside this package: `state_dtype(PUBLIC + PRIVATE + HIDDEN, __file__)`.

    The engine's machine code is kept by record type, so the type of a foreign game carries a hash of the game's sources:
    an edited rule is then never played by stale code.
    """
    stamp = hashlib.sha256(_sources(_package_of(pathlib.Path(file).resolve()))).hexdigest()[:12]
    name, *kind = fields[0]
    return np.dtype((np.record, [((f"sources {stamp}", name), *kind), *fields[1:]]))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with Numba and keep the result on disk; under `NUMBA_DISABLE_JIT=1` leave it as it is.

    A function whose name begins with an underscore can be called from compiled code only, which saves compiling time.
    What was typed into a notebook has no file to tell its changes by, and is compiled anew in each process.
    """
    return _compile(function, forceinline=False)


def inlined(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into each of its callers: for what is short or has one caller, and is played all the time."""
    return _compile(function, forceinline=True)


def _compile(function: Callable[P, R], forceinline: bool) -> Callable[P, R]:
    source = pathlib.Path(function.__code__.co_filename).resolve()
    in_file = source.exists()
    before = numba.config.CACHE_DIR
    if in_file:
        numba.config.CACHE_DIR = str(_cache_folder(_package_of(source)))
    try:
        made: Callable[P, R] = numba.njit(
            cache=in_file,
            error_model="numpy",
            nogil=True,
            forceinline=forceinline,
            no_cfunc_wrapper=True,
            no_cpython_wrapper=function.__name__.startswith("_"),
        )(function)
        return made
    finally:
        numba.config.CACHE_DIR = before


_GAMES: dict[tuple[str, ...], ModuleType] = {}


def register(game: ModuleType) -> None:
    """Make a game's rules known to the verbs below.

    Raises:
        TypeError: a rule is missing, or a field's name would be shadowed by an attribute of `numpy.record`.
    """
    missing = [name for name in RULES if not hasattr(game, name)]
    if missing:
        raise TypeError(f"game {game.__name__!r} lacks the rules {missing}")
    shadowed = [name for name in game.STATE.names if hasattr(np.record, name)]
    if shadowed:
        raise TypeError(f"game {game.__name__!r} has fields that numpy.record shadows: {shadowed}")
    _GAMES[game.STATE.names] = game


# `state.dtype` of a numpy.record looks for an attribute first, which takes four microseconds.
_dtype_of: Callable[[Any], np.dtype[Any]] = np.generic.dtype.__get__


def _verb(name: str, forceinline: bool = True) -> Callable[..., Any]:
    def call(state: State, *args: Any) -> Any:
        return getattr(_GAMES[_dtype_of(state).names or ()], name)(state, *args)

    @overload(call, strict=False, jit_options={"forceinline": forceinline})
    def choose(state: Any, *args: Any) -> Any:
        if isinstance(state, types.Record):
            # A title (`state_dtype`) is listed beside the name of its field.
            names = tuple(field for field, about in state.fields.items() if about.title != field)
            return getattr(_GAMES[names], name).py_func
        return None

    call.__name__ = name
    return call


reset = _verb("reset", forceinline=False)
"""`reset(state)`: the state before the first chance event; options, which are data in the record, are kept."""
current_player = _verb("current_player")
"""`current_player(state) -> int`: the seat that is to act, `CHANCE` or `TERMINAL`."""
chance_outcomes = _verb("chance_outcomes")
"""`chance_outcomes(state, weights)`: the integer weight of every outcome into `weights`, int32 (MAX_CHANCE_OUTCOMES,)."""
legal_actions = _verb("legal_actions")
"""`legal_actions(state, mask)`: 1 for each legal action of the current player, else 0, into `mask`, int8 (NUM_ACTIONS,)."""
apply_action = _verb("apply_action")
"""`apply_action(state, action)`: an action of the current player or an outcome of chance. It must be a legal one."""
is_truncated = _verb("is_truncated", forceinline=False)
"""`is_truncated(state) -> bool`: a finished game was cut off by a cap that is only a safety net."""
returns = _verb("returns", forceinline=False)
"""`returns(state, payoffs)`: what each seat gets in a finished game, into `payoffs`, float32 (num_players,)."""
observe = _verb("observe")
"""`observe(state, player, seen)`: what a seat sees now, into every field of the record `seen` (`OBSERVATION.record`)."""
determinize = _verb("determinize", forceinline=False)
"""`determinize(state, player, stream)`: redraw what the seat cannot know, among all that fits what it knows."""

RULES = (
    "reset",
    "current_player",
    "chance_outcomes",
    "legal_actions",
    "apply_action",
    "is_truncated",
    "returns",
    "observe",
    "determinize",
)
