"""What one pair of eyes sees of a game, step by step, with what is new in each step in words.

Everything here comes from a game's `scene` and `describe` for the viewer, and from the viewer's own decisions. So two games
that a seat cannot tell apart give it the same story, to the last byte.
"""

import re
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

from heist_envs.rules import State
from heist_envs.scene import ALL_SEEING, Scene

NOTHING = "nothing new to see"


class Choice(NamedTuple):
    """A decision of the viewer, or of anybody where he sees everything."""

    player: str
    name: str
    probabilities: dict[str, float] | None = None
    """What the player's policy gave each legal action, where it is known."""


class Step(NamedTuple):
    """A moment of the game."""

    number: int
    """Moves before it, those that the viewer does not see counted too: it is for who sees everything."""
    scene: Scene
    words: str
    news: tuple[str, ...]
    """What has happened since the step before."""
    choice: Choice | None = None
    """What is decided now."""


class Story:
    """The steps of a game for a seat, or for who sees all (`ALL_SEEING`).

    A step is a moment in which the viewer sees that somebody has to decide, that the game has come to another phase, or that
    it is over. Cards that are dealt one by one in between are told together.
    """

    def __init__(self, module: ModuleType, viewer: int) -> None:
        self.steps: list[Step] = []
        self._module = module
        self._viewer = viewer
        self._count = -1
        self._texts: list[str] = []
        """At the last step, one for each pair of eyes that the viewer looks through."""
        self._answered: list[str] = []
        """The same right after the decision of the last step, if there was one."""

    def see(self, state: State, last: bool = False) -> None:
        """Look at the state before the first move, and at each that a move leads to; `last` is where the game was left."""
        self._count += 1
        scene: Scene = self._module.scene(state, self._viewer)
        before = self.steps[-1] if self.steps else None
        has_answered = before is not None and before.choice is not None
        is_moment = last or before is None or scene.title != before.scene.title or any(zone.acts for zone in scene.zones)
        if not is_moment and not (has_answered and not self._answered):
            return
        all_seeing = self._viewer == ALL_SEEING
        viewers = range(int(state.num_players)) if all_seeing else (self._viewer,)
        texts = [str(self._module.describe(state, viewer)) for viewer in viewers]
        if has_answered:
            self._answered = self._answered or texts
        if is_moment and (before is None or has_answered or scene != before.scene or texts != self._texts):
            told = self._news(texts) if before else ["The game begins."]
            words = str(self._module.describe(state)) if all_seeing else texts[0]
            self.steps.append(Step(self._count, scene, words, tuple(told)))
            self._texts, self._answered = texts, []

    def choose(self, choice: Choice) -> None:
        """Note what is decided in the last step."""
        self.steps[-1] = self.steps[-1]._replace(choice=choice)

    def _news(self, texts: list[str]) -> list[str]:
        before = self.steps[-1]
        told = [] if self._viewer == ALL_SEEING else [before.scene.turn]
        since = self._texts
        if before.choice is not None:
            told = [f"{before.choice.player} plays {before.choice.name}", *news(since, self._answered)]
            since = self._answered
        # Every decision is a step of who sees everything, so that chance alone did the rest.
        rest = ["Chance: " * (self._viewer == ALL_SEEING) + line for line in news(since, texts)]
        return told + (rest or [NOTHING] * (before.choice is None))


def news(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """What a table's words (`describe`) say that they did not say before, by what it is about.

    Of a player, and of the first line, which is about the table, only the facts that are new; any other line whole.

    Args:
        before: the words for each of some viewers.
        after: the same, later.
    """
    found: dict[str, dict[str, None]] = {}
    for one, other in zip(before, after, strict=True):
        known = _facts(one)
        for name, facts in _facts(other).items():
            found.setdefault(name, {}).update((fact, None) for fact in facts if fact not in known.get(name, []))
    return [f"{name}: {', '.join(facts)}".removeprefix(": ") for name, facts in found.items() if facts]


def _facts(text: str) -> dict[str, list[str]]:
    """The facts of a table's words by what they are about."""
    top, *lines = text.splitlines()
    made = {"table": [fact for fact in _split(top) if ":" not in fact]}  # the fact with a colon is the phase
    for line in lines:
        plain = re.sub(r"^\s*[A-Z]?>?\s+", "", line)  # without the marks of who leads and who acts
        name, colon, rest = plain.partition(": ")
        if re.fullmatch(r"player_\d+", name):
            made[name] = _split(rest)
        else:
            made.setdefault(name if colon else "", []).append(rest if colon else plain)
    return made


def _split(line: str) -> list[str]:
    return re.split(r", (?![^(]*\))", line)  # not inside brackets


def spoken(name: str, player: int, num_players: int) -> str:
    """An action's name, with the seat that it means where it counts seats to the left of its player."""
    found = re.search(r"\+(\d)$", name)
    return f"{name} (player_{(player + int(found[1])) % num_players})" if found else name


def outcome(returns: Sequence[float]) -> str:
    """Who has won, from what each seat got."""
    winners = [f"player_{seat}" for seat, paid in enumerate(returns) if paid == max(returns)]
    return f"{winners[0]} wins" if len(winners) == 1 else f"{', '.join(winners[:-1])} and {winners[-1]} share the win"
