"""A person at the table, in the terminal: every answer is understood or refused, and only what the seat sees is told."""

import io
import re

import numpy as np
import pytest

from heist_envs import rules, terminal
from heist_envs.cli import main
from heist_envs.games import GAMES, load
from heist_envs.replay import Replay, play
from tests import tables
from tests.test_watch import SEAT, SHORT, twins


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """A game that is left asks for a file, for which an answer may be taken."""
    monkeypatch.chdir(tmp_path)


every_game = pytest.mark.parametrize("name", GAMES)


class First(io.StringIO):
    """A person who plays the first action of the list that was written last."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def readline(self):
        asked = self.out.getvalue()
        if not asked.endswith("\n> "):
            return "\n"
        menu = asked.rpartition("You may:\n")[2]
        return re.match(r" *(\d+): ", menu)[1] + "\n"


class Interrupt(io.StringIO):
    """A person who presses Ctrl-C."""

    def readline(self):
        raise KeyboardInterrupt


def sit(lines, **more):
    """A tiny game of Hold-up as player_1 with these lines to say: the replay, and all that was written."""
    source, out = (
        lines if isinstance(lines, io.StringIO) else io.StringIO("".join(f"{line}\n" for line in lines)),
        io.StringIO(),
    )
    made = terminal.play("holdup", ["uniform"], 3, source, out, 1, preset="tiny", **more)
    return made, out.getvalue()


@every_game
def test_a_whole_game_is_played_by_the_first_legal_action(name):
    out = io.StringIO()
    made = terminal.play(name, ["uniform", "rule"], 4, First(out), out, 2, num_players=3, **SHORT.get(name, {}))
    said = out.getvalue()
    assert made.returns() is not None
    assert made.agents == ["uniform", "rule", "person"]
    own = [move for move in made.moves if move.player == "player_2"]
    assert said.count("You may:") == len(own) > 3
    assert "legal are" not in said
    states = list(made.states())
    for state, move in zip(states, made.moves, strict=False):
        if move.player == "player_2":
            assert load(name).describe(state[0], 2) in said
    assert load(name).describe(states[-1][0], 2) in said
    assert re.search(r"The game is over: .*(wins|share the win)\.", said)
    # The cards and the others' answers are drawn as if an agent sat there.
    assert [move.name for move in made.moves[:3]] == [
        move.name for move in play(name, ["uniform", "rule", "uniform"], 4, **SHORT.get(name, {})).moves[:3]
    ]


@every_game
def test_two_games_that_a_seat_cannot_tell_apart_read_the_same(name):
    rng = np.random.default_rng(6)
    game, apart = load(name), 0
    for _ in range(6 if game.PRIVATE else 1):
        options, plays = twins(name, rng)
        read = []
        for numbers in plays:
            person = terminal.Person(game, SEAT, io.StringIO(), io.StringIO())
            table = tables.Table(game, **options)
            person.look(table.state)
            for number in numbers:
                rules.apply_action(table.state, number)
                person.look(table.state)
            read.append([*person.news(since=0), person.words()])
        assert read[0] == read[1]
        apart += plays[0] != plays[1]
    assert apart > 2 or not game.PRIVATE


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (["x"], "got the answer 'x', which means no legal action: legal are 0 KEEP, 1 REDRAW"),
        ([""], "means no legal action"),
        (["99", "-1"], "means no legal action"),
        (["keep redraw"], "means KEEP and REDRAW"),
        (["JOIN"], "means no legal action"),
        (["?"], "> 2. DRAW, twice round: KEEP, or REDRAW"),
        (["? "], "  7. PENALTY"),
        (["L"], "- The game begins.\n- Cards are dealt."),
    ],
)
def test_what_is_no_action_is_answered_and_changes_nothing(lines, answer):
    plain, short = sit(["keep", "join"])
    made, said = sit([*lines, " Keep ", *lines, "5"])
    assert said.count(answer) > short.count(answer)
    assert made.to_json() == plain.to_json()


def test_who_leaves_is_asked_for_a_file_until_one_can_be_written(tmp_path):
    file = tmp_path / "Game.json"
    made, said = sit(["keep", "q", str(tmp_path / "none" / "game.json"), str(file)])
    assert "Save a replay" in said
    assert "Another file's name" in said
    assert Replay.load(file).moves == made.moves
    assert made.returns() is None
    made, said = sit(["q", ""])
    assert said.endswith("or nothing: ")
    assert all(move.player != "player_1" for move in made.moves)


@pytest.mark.parametrize("lines", [[], ["keep"], ["?", "l"], Interrupt()])
def test_the_end_of_what_is_said_and_an_interrupt_leave_the_game_without_a_question(lines, tmp_path):
    made, said = sit(lines, file=str(tmp_path / "game.json"))
    assert made.returns() is None
    assert "Save a replay" not in said
    assert rules.current_player(Replay.load(tmp_path / "game.json").verify()[0]) == 1
    assert "Save a replay" not in sit(lines)[1]


def test_a_game_that_an_agent_cannot_go_on_with_is_kept(tmp_path, capsys):
    (tmp_path / "bot.py").write_text("def act(observation, action_mask):\n    raise ValueError('not today')")
    kept = tmp_path / "game.json"
    words = ["play", "holdup", "--opponents", str(tmp_path / "bot.py"), "--seat", "3", "--seed", "1", "--save", str(kept)]
    assert main(words) == 1
    said = capsys.readouterr()
    assert "forfeits: bot.py ended with status 1: ValueError: not today" in said.err
    assert "An agent has failed" in said.out
    assert Replay.load(kept).returns() is None
    with pytest.raises(SystemExit):
        main([*words[:-1], str(tmp_path / "nowhere" / "game.json")])
    assert "there is no folder" in capsys.readouterr().err


@every_game
def test_each_action_finds_its_rule(name):
    game = load(name)
    marked = set()
    for state in play(name, ["uniform"] * 3, seed=1, **SHORT.get(name, {})).states():
        if rules.current_player(state[0]) >= 0:
            page = terminal.rules_of_the_moment(game, state[0], {})
            marked |= {line for line in page if line.startswith("> ")}
            assert page[-1].endswith(f"docs/rules/{name}.md of the sources.")
    assert marked or name == "magpies"


def test_a_seat_a_game_or_opponents_that_do_not_fit_are_refused():
    for seat, opponents, message in ((3, ["rule"], "got seat 3"), (0, [], "no opponents"), (0, ["genius"], "got agent")):
        with pytest.raises(ValueError, match=message):
            terminal.play("holdup", opponents, 0, io.StringIO(), io.StringIO(), seat, num_players=3)


def test_the_command_line_plays_and_writes_pages(tmp_path, capsys, monkeypatch):
    file, page = str(tmp_path / "game.json"), tmp_path / "game.html"
    monkeypatch.setattr("sys.stdin", io.StringIO("keep\njoin\n"))
    assert main(["play", "holdup", "--preset", "tiny", "--seat", "player_1", "--seed", "3", "--save", file]) == 0
    assert "You are player_1." in capsys.readouterr().out
    assert main(["replay", file, "--html", str(page), "--seat", "player_1"]) == 0
    assert "as player_1 saw it" in page.read_text()
    assert main(["replay", file, "--html", str(page)]) == 0
    assert "with every card open" in page.read_text()
    assert main(["replay", file, "--seat", "1"]) == 1
    assert "got --seat without --html" in capsys.readouterr().err
    assert main(["play", "holdup", "--players", "9"]) == 1
    assert "got num_players=9" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["play", "holdup", "--opponents", "uniform"]) == 0
    assert re.search(r"played with --seed \d+", capsys.readouterr().out)
    with pytest.raises(SystemExit):
        main(["play", "holdup", "--seat", "me"])


@pytest.mark.parametrize("command", ["play", "table", "replay", "record", "export"])
def test_every_command_has_help_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert f"example: heist {command} " in capsys.readouterr().out
