"""Golden playthroughs replay byte for byte; where one does not, the game's version must go up."""

import pytest

from heist_envs.games import GAMES, load
from heist_envs.replay import Replay
from tests.playthroughs import FOLDER, text_of
from tests.tables import facts

FILES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_playthrough_replays_byte_for_byte(path):
    text = path.read_text()
    made = Replay.from_json(text)
    assert made.version == load(made.game).VERSION
    assert made.to_json() == text


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_an_ordinary_an_edge_and_a_longest_playthrough(name):
    made = facts(name).PLAYTHROUGHS
    assert {"ordinary", "longest"} < set(made)
    assert {f"{name}_{which}" for which in made} == {path.stem for path in FILES if path.stem.startswith(name)}


@pytest.mark.parametrize(("name", "which"), [(name, which) for name in GAMES for which in facts(name).PLAYTHROUGHS])
def test_a_playthrough_is_what_its_maker_makes(name, which):
    """An agent that plays otherwise changes this one alone: then write the replays anew, and the version may stay."""
    assert (FOLDER / f"{name}_{which}.json").read_text() == text_of(name, which)
