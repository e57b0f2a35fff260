"""The games' own words in French: none is missing, and nothing but words is changed."""

import re

import numpy as np
import pytest

from heist_envs import french, rendering
from heist_envs.games import GAMES, load
from heist_envs.scene import ALL_SEEING
from tests import kuhn, tables

every_game = pytest.mark.parametrize("name", GAMES)


def shown(scene):
    """All words of a picture but its sentences."""
    yield scene.title
    for zone in scene.zones:
        yield zone.label
        yield from zone.marks
        yield from [str(part) for counter in zone.counters for part in counter]
        yield from [part for card in zone.cards for part in (card.label, card.note)]


def english(game, text):
    """What is left of a text without the words that are said in French, numbers, seats and signs."""
    known = sorted(game.FRENCH | game.FRENCH_MARKS, key=len, reverse=True)
    left = re.sub(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))}|player_\d+)(?!\w)", "", text)
    return re.findall(r"[^\W\d]+", left)


@every_game
def test_every_word_of_zones_cards_and_actions_has_a_french_one(name):
    game, rng = load(name), np.random.default_rng(0)
    texts = {*game.ACTION_NAMES, *game.PHASES}
    for state, _ in tables.random_states(name, 3000, rng):
        for viewer in (ALL_SEEING, int(rng.integers(state.num_players))):
            texts.update(shown(game.scene(state, viewer)))
    assert {word for text in texts for word in english(game, text)} == set()
    said = " ".join(texts)
    unused = [word for word in game.FRENCH_MARKS if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said)]
    assert unused == []


@every_game
def test_a_french_picture_has_the_cards_and_seats_of_the_english_one(name):
    game, changed = load(name), 0
    for state, _ in tables.random_states(name, 300, np.random.default_rng(1)):
        seen = game.scene(state, 0)
        said = french.scene(game, seen)
        assert [zone.acts for zone in said.zones] == [zone.acts for zone in seen.zones]
        cards = [(card.tint, card.face_up, bool(card.label)) for zone in said.zones for card in zone.cards]
        assert cards == [(card.tint, card.face_up, bool(card.label)) for zone in seen.zones for card in zone.cards]
        assert re.findall(r"player_\d|\d+", rendering.svg(seen).split("<title>")[1].split("<")[0]) == re.findall(
            r"player_\d|\d+", said.title
        )
        changed += said != seen
    assert changed == 300


def test_a_phrase_goes_before_its_words_and_words_in_words_are_left():
    game = load("holdup")
    assert french.label(game, "NO REVOLVER") == "PAS DE RÉVOLVER"
    assert french.label(game, "REVOLVER +2 (player_1)") == "RÉVOLVER +2 (player_1)"
    assert french.label(game, "used the Revolver") == "a utilisé le Révolver"
    assert french.sentence(game, "player_1: 3 diamonds, joined, holds 7") == "player_1: 3 diamants, joined, holds 7"
    assert french.sentence(game, "JOINED or KEEPING") == "JOINED or KEEPING"
    accomplices = load("accomplices")
    assert french.sentence(accomplices, "hideout Ka J") == "Planque Clé a Pactole"
    assert french.rule(accomplices, "8. A success; the Traitor") == "8. A success; the Traître"


def test_a_game_without_french_words_is_left_as_it_is():
    assert french.label(kuhn, "BET the pile") == "BET the pile"
