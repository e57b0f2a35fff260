"""The games' own words in French: cards, zones, actions.

A game's module has them in the terms of its source text: `FRENCH`, which are said everywhere, and `FRENCH_MARKS`, which
pictures say beside them. Sentences stay English, with the game's own words in French. What neither has, as in a game of
one's own without them, is left as it is.
"""

import functools
import re
from types import ModuleType

from heist_envs.scene import Scene, Zone


def label(game: ModuleType, text: str) -> str:
    """The words of a picture, or an action's name."""
    return _in_french(text, getattr(game, "FRENCH", {}) | getattr(game, "FRENCH_MARKS", {}))


def sentence(game: ModuleType, text: str) -> str:
    """A sentence, or the table in words."""
    return _in_french(text, getattr(game, "FRENCH", {}))


def rule(game: ModuleType, text: str) -> str:
    """Rules, in which a word of one letter is not the card of that name."""
    return _in_french(text, {word: said for word, said in getattr(game, "FRENCH", {}).items() if len(word) > 1})


def scene(game: ModuleType, seen: Scene) -> Scene:
    """A picture's data."""
    zones = tuple(_zone(game, zone) for zone in seen.zones)
    return Scene(label(game, seen.title), sentence(game, seen.turn), zones, sentence(game, seen.last))


def _zone(game: ModuleType, zone: Zone) -> Zone:
    return Zone(
        label(game, zone.label),
        tuple((label(game, name), label(game, value) if isinstance(value, str) else value) for name, value in zone.counters),
        tuple(card._replace(label=label(game, card.label), note=label(game, card.note)) for card in zone.cards),
        tuple(label(game, mark) for mark in zone.marks),
        zone.acts,
    )


def _in_french(text: str, words: dict[str, str]) -> str:
    return _any_of(tuple(words)).sub(lambda found: words[found[0]], text)


@functools.lru_cache(16)
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    """One of the words or phrases, a phrase before the words that it is made of; nothing where there are none."""
    longest_first = sorted(map(re.escape, words), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})(?!\w)" if words else "(?!)")
