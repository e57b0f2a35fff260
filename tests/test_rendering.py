"""Pictures of the table: nothing cut off, nothing on top of something else, nothing that the viewer may not see."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import heist_envs
from heist_envs import chance, french, replay, rules
from heist_envs.games import GAMES, holdup, load
from heist_envs.rendering import NARROW, WIDTH, Box, Words, drawing, pixels, svg
from heist_envs.scene import ALL_SEEING, TINTS
from tests import tables

every_game = pytest.mark.parametrize("name", GAMES)


def extent(words, font_of):
    """The box of a line of text: left, top, right, bottom."""
    width = font_of(words.size).getlength(words.text)
    left = words.x - width / 2 if words.centred else words.x
    return left, words.y - 0.75 * words.size, left + width, words.y + 0.22 * words.size


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("width", [WIDTH, NARROW])
@every_game
def test_no_text_is_cut_off_or_lies_on_another(name, width):
    image_font = pytest.importorskip("PIL.ImageFont")
    fonts = {}

    def font_of(size):
        return fonts.setdefault(size, image_font.load_default(size))

    rng = np.random.default_rng(0)
    for number, (state, _) in enumerate(tables.random_states(name, 400 if width == WIDTH else 200, rng)):
        viewer = rng.choice([None, ALL_SEEING, *range(state.num_players)])
        scene = load(name).scene(state, viewer)
        scene = french.scene(load(name), scene) if number % 2 else scene
        height, parts = drawing(scene, width)
        boxes = [part for part in parts if isinstance(part, Box)]
        for box in boxes:
            assert 0 <= box.x <= box.x + box.width <= width
            assert 0 <= box.y <= box.y + box.height <= height
        texts = [extent(part, font_of) for part in parts if isinstance(part, Words)]
        for k, text in enumerate(texts):
            assert min(text) >= 0, scene
            assert (text[2] <= width, text[3] <= height) == (True, True), scene
            assert not any(overlap(text, other) for other in texts[:k]), scene
        assert {card.tint for zone in scene.zones for card in zone.cards} <= set(TINTS)


@every_game
def test_a_picture_says_whose_turn_it_is(name):
    rng = np.random.default_rng(1)
    asked = 0
    for state, _ in tables.random_states(name, 500, rng):
        scene = load(name).scene(state)
        player = rules.current_player(state)
        acting = [zone.label for zone in scene.zones if zone.acts]
        if player >= 0:
            assert acting == [f"player_{player}"]
            assert scene.turn.startswith(f"player_{player} ")
            assert len(scene.turn.split()) > 3
            asked += 1
        if player == rules.TERMINAL:
            assert acting == []
            assert "over" in scene.turn
    assert asked > 100


@every_game
def test_a_picture_shows_a_seat_nothing_that_it_may_not_know(name):
    rng = np.random.default_rng(2)
    stream = chance.streams(chance.seeds(2, 1))[0]
    game, facts = load(name), tables.facts(name)
    open_cards = 0
    for state, _ in tables.random_states(name, 500, rng):
        seat = int(rng.integers(state.num_players))
        own, everybody = svg(game.scene(state, seat)), svg(game.scene(state))
        open_cards += svg(game.scene(state, ALL_SEEING)) != everybody
        for scramble in (rules.determinize, facts.scramble):
            other = state.copy()
            scramble(other, seat, stream if scramble is rules.determinize else rng)
            assert svg(game.scene(other, seat)) == own
            assert svg(game.scene(other)) == everybody
    assert open_cards > 0 or not game.PRIVATE + game.HIDDEN


@every_game
def test_an_svg_is_well_formed_and_is_what_notebooks_show(name):
    env = heist_envs.make(name)
    assert env._repr_html_() is None
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        env.scene()
    env.reset(seed=0)
    assert env._repr_html_() == svg(env.scene())
    root = ET.fromstring(svg(env.scene("player_1")))
    assert root.get("width") == str(WIDTH)
    made = replay.play(name, ["uniform"] * 3, seed=0)
    assert ET.fromstring(made._repr_html_()).tag.endswith("svg")
    assert made.scene(0, None) != made.scene(len(made.moves))


@every_game
def test_rgb_array_is_a_picture_in_every_door(name):
    pytest.importorskip("PIL")
    for env in (
        heist_envs.make(name, render_mode="rgb_array"),
        heist_envs.parallel_env(name, render_mode="rgb_array"),
    ):
        env.reset(seed=0)
        picture = env.render()
        assert (picture.dtype, picture.shape[1:]) == (np.uint8, (WIDTH, 3))
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 5


def test_without_pillow_pixels_are_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    env = heist_envs.make("holdup", render_mode="rgb_array")
    env.reset(seed=0)
    with pytest.raises(ImportError, match=r"pip install 'heist-envs\[render\]'"):
        env.render()


def test_a_long_line_is_wrapped_and_markup_in_it_is_only_text():
    state = holdup.new_initial_state()[0]
    scene = holdup.scene(state)._replace(last="<b>" + " many words" * 40)
    height, _ = drawing(scene)
    assert height > drawing(holdup.scene(state))[0]
    assert "&lt;b&gt;" in svg(scene)
    assert pixels(scene).shape == (height, WIDTH, 3)
