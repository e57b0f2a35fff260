"""Pictures of a table: SVG, which needs nothing else, and an array of pixels, which needs Pillow. No display is needed."""

import html
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.scene import Card, Scene, Zone

WIDTH = 880
"""Of a picture, in pixels: a notebook's."""
MARGIN, GAP, LABEL_WIDTH = 14, 8, 150
CARD_WIDTH, CARD_HEIGHT, NOTE_HEIGHT = 46, 60, 15
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


def _card_width(card: Card) -> float:
    return max(CARD_WIDTH, 12 + 12 * CHARACTER * len(card.label), 4 + 10 * CHARACTER * len(card.note))


def _draw_card(card: Card, x: float, y: float) -> Iterator[Box | Words]:
    width = _card_width(card)
    known = bool(card.label)
    fill = FILLS[card.tint] if known else BACK
    yield Box(x, y, width, CARD_HEIGHT, fill, INK, 1 if card.face_up else 3)
    if known:
        yield Words(
            x + width / 2, y + CARD_HEIGHT / 2 + 5, card.label, 12 if len(card.label) > 3 else 16, True, centred=True
        )
    if card.note:
        yield Words(x + width / 2, y + CARD_HEIGHT + 12, card.note, 10, fill=FAINT, centred=True)


def _draw_zone(zone: Zone, top: float) -> tuple[float, list[Box | Words]]:
    """The zone's height and what is in it."""
    left, right = MARGIN + LABEL_WIDTH + GAP, WIDTH - MARGIN - GAP
    made: list[Box | Words] = []
    y = top + 20.0
    for line in _wrapped(zone.label, 14, LABEL_WIDTH):
        made.append(Words(MARGIN + GAP, y, line, 14, True))
        y += 17
    for mark in zone.marks:
        for line in _wrapped(mark, 12, LABEL_WIDTH):
            made.append(Words(MARGIN + GAP, y, line, 12, fill=ACTS_FRAME if zone.acts else FAINT))
            y += 15
    bottom = y
    y = top + 20
    counters = " · ".join(f"{name} {value}" for name, value in zone.counters)
    for line in _wrapped(counters, 13, right - left):
        made.append(Words(left, y, line, 13))
        y += 17
    x: float = left
    y -= 8
    row = CARD_HEIGHT + (NOTE_HEIGHT if any(card.note for card in zone.cards) else 0) + GAP
    for card in zone.cards:
        if x > left and x + _card_width(card) > right:
            x, y = left, y + row
        made += _draw_card(card, x, y)
        x += _card_width(card) + GAP
    bottom = max(bottom, y + row if zone.cards else y + 8)
    height = bottom - top
    frame = Box(MARGIN, top, WIDTH - 2 * MARGIN, height, ACTS if zone.acts else PANEL, ACTS_FRAME if zone.acts else BACK)
    return height, [frame._replace(line=3 if zone.acts else 1), *made]


def drawing(scene: Scene) -> tuple[int, list[Box | Words]]:
    """The picture's height, and its parts from back to front."""
    parts: list[Box | Words] = []
    y = 30.0
    for line in _wrapped(scene.title, 18, WIDTH - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 18, True))
        y += 24
    for line in _wrapped(scene.turn, 15, WIDTH - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 15, True, ACTS_FRAME))
        y += 20
    for line in _wrapped(scene.last, 12, WIDTH - 2 * MARGIN):
        parts.append(Words(MARGIN, y, line, 12, fill=FAINT))
        y += 16
    y -= 6
    for zone in scene.zones:
        height, inside = _draw_zone(zone, y)
        parts += inside
        y += height + GAP
    height = int(y + MARGIN - GAP)
    return height, [Box(0, 0, WIDTH, height, PAPER, PAPER), *parts]


def svg(scene: Scene) -> str:
    """The table as an SVG document."""
    height, parts = drawing(scene)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    # A narrow notebook shrinks it instead of cutting it off.
    fits = 'style="max-width: 100%; height: auto"'
    lines = [f'{head} {fits} font-family="DejaVu Sans, Verdana, Arial, sans-serif" role="img">']
    lines.append(f"<title>{html.escape(scene.title)}</title>")
    for part in parts:
        if isinstance(part, Box):
            place = f'x="{part.x:g}" y="{part.y:g}" width="{part.width:g}" height="{part.height:g}" rx="5"'
            lines.append(f'<rect {place} fill="{part.fill}" stroke="{part.frame}" stroke-width="{part.line:g}"/>')
        else:
            style = f'font-size="{part.size:g}"' + ' font-weight="bold"' * part.bold + ' text-anchor="middle"' * part.centred
            text = html.escape(part.text)
            lines.append(f'<text x="{part.x:g}" y="{part.y:g}" {style} fill="{part.fill}">{text}</text>')
    return "\n".join([*lines, "</svg>", ""])


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
