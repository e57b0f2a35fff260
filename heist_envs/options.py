"""Options: what a table may change about a game, as checked constructor data."""

import difflib
import hashlib
import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


class Option(NamedTuple):
    """One keyword of `make`: its default, what is allowed, and the gap ruling or section it comes from."""

    default: Any
    allowed: range | tuple[Any, ...] | None
    """A range of ints, a tuple of values, or None where the game itself checks."""
    about: str

    def check(self, name: str, value: Any) -> Any:
        """The value in plain Python, or ValueError."""
        if self.allowed is None or (value is None and self.default is None):
            return value
        if isinstance(value, np.generic):
            value = value.item()
        if any(type(value) is type(one) and value == one for one in self.allowed):
            return value
        allowed = self.allowed
        words = f"{allowed.start} to {allowed.stop - 1}" if isinstance(allowed, range) else ", ".join(map(repr, allowed))
        kind = "" if type(value) in {type(one) for one in allowed} else f", not of type {type(value).__name__}"
        raise ValueError(f"got {name}={value!r}: allowed is {words}{kind}")


def resolve(
    game: str, table: Mapping[str, Option], presets: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The value of every option: the default, replaced by the preset's, replaced by what is given.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown preset, or a value that is not allowed.
    """
    given = dict(given)
    preset = given.pop("preset", None)
    if preset is not None and not (isinstance(preset, str) and preset in presets):
        raise ValueError(f"got preset={preset!r}: {game} has the presets {', '.join(map(repr, presets))}")
    unknown = [name for name in given if name not in table]
    if unknown:
        like = difflib.get_close_matches(unknown[0], table, 1)
        hint = f"did you mean {like[0]!r}? " if like else ""
        raise TypeError(f"got unknown option {unknown[0]!r}: {hint}{game} has the options preset, {', '.join(table)}")
    values = {name: option.default for name, option in table.items()}
    values.update(presets[preset] if preset is not None else {})
    values.update(given)
    return {name: table[name].check(name, value) for name, value in values.items()}


def options_hash(game: ModuleType, given: Mapping[str, Any]) -> str:
    """16 hexadecimal digits for a table: equal where every option of the game has the same value, however it was given.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown preset, or a value that is not allowed.
    """
    values = resolve(game.NAME, game.OPTIONS, game.PRESETS, given)
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
