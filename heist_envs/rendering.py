"""Pictures of a table: SVG, which needs nothing else, and an array of pixels, which needs Pillow. No display is needed."""

import functools
import html
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.scene import Card, Scene, Zone

WIDTH = 880
"""Of a picture, in pixels: a notebook's."""
NARROW = 360
"""A telephone's."""
MARGIN, GAP, LABEL_WIDTH = 14, 8, 150
CARD_WIDTH, CARD_HEIGHT, NOTE_HEIGHT, NOTE_LINE = 46, 60, 15, 12
SHRINKS = "max-width: 100%; height: auto"
"""The style of an SVG document: a narrow notebook shrinks it instead of cutting it off."""
CHARACTER = 0.62
"""Width of a character in font sizes, on the safe side of every usual sans-serif font."""

INK, PAPER, PANEL, FAINT = "#22303c", "#f7f4ec", "#ffffff", "#5f6f7c"
ACTS, ACTS_FRAME = "#fff3cf", "#d18f00"
BACK = "#7c8a96"
FILLS = {
    "plain": "#ffffff",
    "red": "#f6c6c0",
    "gold": "#f8e3a1",
    "green": "#cbe7c8",
    "blue": "#c5dcf3",
    "violet": "#ddcff0",
}


class Box(NamedTuple):
    """A rounded rectangle, in pixels from the top left."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    frame: str = INK
    line: float = 1


class Words(NamedTuple):
    """A line of text; `x` is its left end, or its middle where it is centred, and `y` its baseline."""

    x: float
    y: float
    text: str
    size: float = 13
    bold: bool = False
    fill: str = INK
    centred: bool = False


def _wrapped(text: str, size: float, width: float) -> list[str]:
    """The text in lines that fit."""
    room = max(1, int(width / (size * CHARACTER)))
    lines: list[str] = []
    for word in text.split():
        if lines and len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _note(card: Card, room: float) -> list[str]:
    return _wrapped(card.note, 10, room - 4)


def _card_width(card: Card, room: float) -> float:
    note = max((len(line) for line in _note(card, room)), default=0)
    return max(CARD_WIDTH, 12 + 12 * CHARACTER * len(card.label), 4 + 10 * CHARACTER * note)


def _draw_card(card: Card, x: float, y: float, room: float) -> Iterator[Box | Words]:
    width = _card_width(card, room)
    known = bool(card.label)
    fill = FILLS[card.tint] if known else BACK
    yield Box(x, y, width, CARD_HEIGHT, fill, INK, 1 if card.face_up else 3)
    if known:
        yield Words(
            x + width / 2, y + CARD_HEIGHT / 2 + 5, card.label, 12 if len(card.label) > 3 else 16, True, centred=True
        )
    for k, line in enumerate(_note(card, room)):
        yield Words(x + width / 2, y + CARD_HEIGHT + NOTE_LINE * (k + 1), line, 10, fill=FAINT, centred=True)


@functools.lru_cache(1024)
def _draw_zone(zone: Zone, picture_width: int) -> tuple[float, tuple[Box | Words, ...]]:
    """The zone's height and what is in it, from its own top."""
    label_width = min(LABEL_WIDTH, 0.28 * picture_width)
    left, right = MARGIN + label_width + GAP, picture_width - MARGIN - GAP
    made: list[Box | Words] = []
    y = 20.0
    for line in _wrapped(zone.label, 14, label_width):
        made.append(Words(MARGIN + GAP, y, line, 14, True))
        y += 17
    for mark in zone.marks:
        for line in _wrapped(mark, 12, label_width):
            made.append(Words(MARGIN + GAP, y, line, 12, fill=ACTS_FRAME if zone.acts else FAINT))
            y += 15
    height = y
    y = 20
    counters = " · ".join(f"{name} {value}" for name, value in zone.counters)
    for line in _wrapped(counters, 13, right - left):
        made.append(Words(left, y, line, 13))
        y += 17
    x: float = left
    y -= 8
    notes = max((len(_note(card, right - left)) for card in zone.cards), default=0)
    row = CARD_HEIGHT + (NOTE_HEIGHT + NOTE_LINE * (notes - 1) if notes else 0) + GAP
    for card in zone.cards:
        if x > left and x + _card_width(card, right - left) > right:
            x, y = left, y + row
        made += _draw_card(card, x, y, right - left)
        x += _card_width(card, right - left) + GAP
    height = max(height, y + row if zone.cards else y + 8)
    fill, frame, line_width = (ACTS, ACTS_FRAME, 3) if zone.acts else (PANEL, BACK, 1)
    return height, (Box(MARGIN, 0, picture_width - 2 * MARGIN, height, fill, frame, line_width), *made)


class _Layout(NamedTuple):
    """A picture in parts that keep their look when they move."""

    height: int
    head: tuple[Box | Words, ...]
    zones: list[tuple[float, tuple[Box | Words, ...]]]
    """The top of each, and what is in it, from there."""


def _layout(scene: Scene, width: int) -> _Layout:
    parts: list[Box | Words] = []
    y = 30.0
    for line in _wrapped(scene.title, 18, width - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 18, True))
        y += 24
    for line in _wrapped(scene.turn, 15, width - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 15, True, ACTS_FRAME))
        y += 20
    for line in _wrapped(scene.last, 12, width - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 12, fill=FAINT))
        y += 16
    y -= 6
    zones = []
    for zone in scene.zones:
        height, inside = _draw_zone(zone, width)
        zones.append((y, inside))
        y += height + GAP
    bottom = int(y + MARGIN - GAP)
    return _Layout(bottom, (Box(0, 0, width, bottom, PAPER, PAPER), *parts), zones)


def drawing(scene: Scene, width: int = WIDTH) -> tuple[int, list[Box | Words]]:
    """The height of a picture of this width, from `NARROW` on, and its parts from back to front."""
    made = _layout(scene, width)
    return made.height, [*made.head, *(part._replace(y=part.y + top) for top, parts in made.zones for part in parts)]


def svg(scene: Scene, width: int = WIDTH) -> str:
    """The table as an SVG document."""
    return "\n".join([*svg_pieces(scene, width), ""])


def svg_pieces(scene: Scene, width: int = WIDTH) -> list[str]:
    """The SVG document cut in pieces, most of which are the same in the other pictures of a game."""
    made = _layout(scene, width)
    size = f'viewBox="0 0 {width} {made.height}" width="{width}" height="{made.height}"'
    style = f'style="{SHRINKS}" font-family="DejaVu Sans, Verdana, Arial, sans-serif"'
    pieces = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style} role="img">']
    pieces += [f"<title>{html.escape(scene.title)}</title>", _markup(made.head)]
    for top, parts in made.zones:
        pieces += [f'<g transform="translate(0,{top:g})">', _markup(parts) + "\n</g>"]
    return [*pieces, "</svg>"]


@functools.lru_cache(1024)
def _markup(parts: tuple[Box | Words, ...]) -> str:
    lines = []
    for part in parts:
        if isinstance(part, Box):
            place = f'x="{part.x:g}" y="{part.y:g}" width="{part.width:g}" height="{part.height:g}" rx="5"'
            lines.append(f'<rect {place} fill="{part.fill}" stroke="{part.frame}" stroke-width="{part.line:g}"/>')
        else:
            style = f'font-size="{part.size:g}"' + ' font-weight="bold"' * part.bold + ' text-anchor="middle"' * part.centred
            text = html.escape(part.text)
            lines.append(f'<text x="{part.x:g}" y="{part.y:g}" {style} fill="{part.fill}">{text}</text>')
    return "\n".join(lines)


def pixels(scene: Scene) -> NDArray[np.uint8]:
    """The table as an array of pixels, uint8 (height, width, 3).

    Raises:
        ImportError: Pillow is missing.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as missing:
        raise ImportError(f"render_mode='rgb_array' needs {missing.name}: pip install 'heist-envs[render]'") from missing
    height, parts = drawing(scene)
    image = Image.new("RGB", (WIDTH, height), PAPER)
    pen = ImageDraw.Draw(image)
    for part in parts:
        if isinstance(part, Box):
            corners = (part.x, part.y, part.x + part.width, part.y + part.height)
            pen.rounded_rectangle(corners, 5, part.fill, part.frame, max(1, round(part.line)))
        else:
            font: Any = ImageFont.load_default(part.size)
            anchor = "ms" if part.centred else "ls"
            pen.text(
                (part.x, part.y), part.text, part.fill, font, anchor, stroke_width=0.4 * part.bold, stroke_fill=part.fill
            )
    return np.asarray(image, np.uint8)
