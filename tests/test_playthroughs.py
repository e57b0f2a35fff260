"""Golden playthroughs replay byte for byte; where one does not, the game's version must go up."""

import json

import pytest

from heist_envs.games import GAMES, load
from tests.playthroughs import FOLDER, replay
from tests.tables import facts

TEXTS = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_playthrough_replays_byte_for_byte(path):
    text = path.read_text()
    head = json.loads(text.splitlines()[0])
    assert head["version"] == load(head["game"]).VERSION
    assert replay(text) == text


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_an_ordinary_an_edge_and_a_longest_playthrough(name):
    made = facts(name).PLAYTHROUGHS
    assert {"ordinary", "longest"} < set(made)
    assert {f"{name}_{which}" for which in made} == {path.stem for path in TEXTS if path.stem.startswith(name)}


def test_a_changed_move_is_named_with_its_line():
    text = (FOLDER / "holdup_longest.txt").read_text()
    lines = text.splitlines()
    lines[4] = lines[4].replace("JOIN", "PAY")
    with pytest.raises(AssertionError, match="'pay' by player_0: legal are"):
        replay("\n".join(lines))
    lines = text.splitlines()
    lines[4] = lines[4].replace("player_0", "player_1")
    with pytest.raises(AssertionError, match="line 5: player_1 moves where player_0 is to"):
        replay("\n".join(lines))
