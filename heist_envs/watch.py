"""A replay as one page to look at: no network, no other file.

    from heist_envs import watch
    pathlib.Path("game.html").write_text(watch.page(made))             # for who may see everything
    pathlib.Path("mine.html").write_text(watch.page(made, seat=1))     # for player_1 alone

A page for one seat is written from that seat's story (`story`) and its own decisions only: nothing else is in its source.
"""

import html
import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from heist_envs import rendering
from heist_envs.games import load
from heist_envs.replay import CHANCE_NAME, Move, Replay
from heist_envs.scene import ALL_SEEING, Scene
from heist_envs.story import Choice, Step, Story, outcome, spoken

TEMPLATE = pathlib.Path(__file__).with_name("watch.html")

DARK = {
    rendering.INK: "#ece8dd",
    rendering.PAPER: "#161c22",
    rendering.PANEL: "#212a33",
    rendering.FAINT: "#a3b1bd",
    rendering.ACTS: "#3b3216",
    rendering.ACTS_FRAME: "#f0b53c",
    rendering.BACK: "#566470",
    rendering.FILLS["red"]: "#743028",
    rendering.FILLS["gold"]: "#6b5514",
    rendering.FILLS["green"]: "#2d5c33",
    rendering.FILLS["blue"]: "#28517a",
    rendering.FILLS["violet"]: "#50407a",
}
"""The colours of the pictures where the reader's screen is dark."""


def page(replay: Replay, seat: int | None = None) -> str:
    """The page, as HTML.

    Args:
        replay: a game, over or not.
        seat: whose eyes alone it shows; None for everybody's, and for those that see everything.

    Raises:
        ReplayError: the replay breaks at a move.
        ValueError: there is no such seat.
    """
    states = list(replay.states())
    num_players = int(states[0]["num_players"][0])
    if seat is not None and seat not in range(num_players):
        raise ValueError(f"got seat {seat}: the seats are player_0 to player_{num_players - 1}")
    viewers = [ALL_SEEING, *range(num_players)] if seat is None else [seat]
    texts = _Texts()
    stories = {viewer: _steps(replay, states, viewer) for viewer in viewers}
    data: dict[str, Any] = {"eyes": [_eye(texts, viewer, steps, seat) for viewer, steps in stories.items()]}
    data |= {"facts": list(_facts(replay, seat)), **texts.tables()}
    name = stories[viewers[0]][0].scene.title.partition(",")[0]
    title = f"{name}, with every card open" if seat is None else f"{name}, as player_{seat} saw it"
    # No "<" can end the element that the data stands in.
    filled = {
        "TITLE": html.escape(title),
        "DARK": dark(),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, value in filled.items():
        text = text.replace(f"[[{name}]]", value)
    return text


def _steps(replay: Replay, states: Sequence[Any], viewer: int) -> list[Step]:
    story = Story(load(replay.game), viewer)
    for number, state in enumerate(states):
        story.see(state[0], last=number == len(replay.moves))
        move = replay.moves[number] if number < len(replay.moves) else None
        if move and move.player != CHANCE_NAME and viewer in (ALL_SEEING, _seat(move)):
            story.choose(_choice(move, int(state[0].num_players)))
    return story.steps


def _seat(move: Move) -> int:
    return int(move.player.removeprefix("player_"))


def _choice(move: Move, num_players: int) -> Choice:
    shares = move.probabilities and {spoken(name, _seat(move), num_players): p for name, p in move.probabilities.items()}
    return Choice(move.player, spoken(move.name, _seat(move), num_players), shares)


def _facts(replay: Replay, seat: int | None) -> Iterator[str]:
    """What stands above the game. Seed and words about it may tell what a seat must not know, and so may others' names."""
    yield f"{replay.game}-v{replay.version}"
    yield from [f"{name} {value}" for name, value in replay.options.items()]
    yield from [f"player_{k}: {name}" for k, name in enumerate(replay.agents) if seat in (None, k)]
    if seat is None:
        yield from [f"seed {replay.seed}"] * (replay.seed is not None) + [replay.about] * bool(replay.about)
    paid = replay.returns()
    yield "not over" if paid is None else outcome(paid)


class _Texts:
    """Texts, each as the numbers of its pieces, and each piece as the numbers of its lines: most come again and again."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._pieces: dict[str, int] = {}
        self._packed: list[list[int]] = []

    def pack(self, pieces: Sequence[str]) -> list[int]:
        """The numbers of a text's pieces."""
        return [self._number(piece) for piece in pieces]

    def _number(self, piece: str) -> int:
        if piece not in self._pieces:
            self._pieces[piece] = len(self._pieces)
            self._packed.append([self._lines.setdefault(line, len(self._lines)) for line in piece.split("\n")])
        return self._pieces[piece]

    def tables(self) -> dict[str, Any]:
        """What the numbers stand for."""
        return {"lines": list(self._lines), "pieces": self._packed}


def _eye(texts: _Texts, viewer: int, steps: Sequence[Step], seat: int | None) -> dict[str, Any]:
    """What the page keeps of one pair of eyes."""
    scenes = [step.scene for step in steps]
    made = {
        "name": "everything" if viewer == ALL_SEEING else f"player_{viewer}",
        "wide": [texts.pack(rendering.svg_pieces(scene)) for scene in scenes],
        "narrow": [texts.pack(rendering.svg_pieces(scene, rendering.NARROW)) for scene in scenes],
        "words": [texts.pack(step.words.splitlines()) for step in steps],
        "news": [texts.pack(step.news) for step in steps],
        "down": [texts.pack([part for row in face_down(scene) for part in row]) for scene in scenes],
        "turns": [texts.pack([scene.turn]) for scene in scenes],
        "choices": [step.choice for step in steps],
    }
    # How many moves there were is more than a seat sees.
    return made if seat is not None else made | {"numbers": [step.number for step in steps]}


def face_down(scene: Scene) -> Iterator[tuple[str, str, str]]:
    """What lies face down and the viewer knows all the same: whose, what the table says about it, and what it is."""
    for zone in scene.zones:
        known: dict[str, list[str]] = {}
        for card in zone.cards:
            if card.label and not card.face_up:
                known.setdefault(card.note, []).append(card.label)
        if known:
            said = ", ".join(_judged(mark, known.get("laid", [])) for mark in zone.marks)
            yield zone.label, said, "; ".join(f"{note}: {' '.join(labels)}" for note, labels in known.items())


def _judged(mark: str, laid: list[str]) -> str:
    """A mark, and whether it is true where it claims what a card is that was laid face down."""
    claim = mark.removeprefix("claims ")
    return mark if claim == mark or not laid else f"{mark} ({'true' if laid == [claim] else 'a lie'})"


def dark() -> str:
    """The style of pictures in an element of the class `table` where the reader's screen is dark."""
    rules = [f'.table [{kind}="{light}"]{{{kind}:{dark}}}' for light, dark in DARK.items() for kind in ("fill", "stroke")]
    return "\n".join(rules)
