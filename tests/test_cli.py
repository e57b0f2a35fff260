"""The command `heist`: it lists what there is, and hands measuring and training on."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

from heist_envs import cli, rules
from heist_envs.command import CommandParser, ended, launch

PACKAGES = [one.package for one in cli.PASSED_ON.values()]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_with_a_main_is_listed_with_its_first_line(package, capsys):
    there = cli.commands_of(package)
    assert len(there) > 5
    for name, about in there.items():
        if name != "rllib":  # which needs Ray
            assert importlib.import_module(f"{package}.{name}").__doc__.startswith(about)
    command = next(name for name, one in cli.PASSED_ON.items() if one.package == package)
    assert cli.main([command]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in there)
    assert shown.startswith(f"usage: heist {command} NAME")
    assert f"example: heist {command} " in shown
    words = cli.PASSED_ON[command].example.split()
    assert words[1] == command
    assert words[2] in there


def test_what_follows_a_name_is_the_modules_own(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", "tournament", "--help"])
    assert ended.value.code == 0
    assert "--cross" in capsys.readouterr().out
    assert cli.main(["bench", "ratings", "/nowhere/at/all.json"]) == 1
    assert "heist: " in capsys.readouterr().err


@pytest.mark.parametrize("package", [*PACKAGES, "heist_envs.agents"])
def test_every_command_has_examples_whose_options_it_knows(package, capsys):
    for name in cli.commands_of(package):
        if name in ("rllib", "bot_process"):  # the one needs Ray, the other is for no person
            continue
        with pytest.raises(SystemExit):
            importlib.import_module(f"{package}.{name}").main(["--help"])
        options, examples = capsys.readouterr().out.split("examples:\n")
        assert len(examples.split()) > 2, name
        for line in examples.splitlines():
            assert line.startswith(f"    python -m {package}.{name}"), line
            assert all(re.search(rf"{word}\b(?!-)", options) for word in line.split() if word.startswith("--")), line


def test_help_says_what_an_option_is_that_is_not_given():
    parser = CommandParser(
        "heist_envs.benchmarks.nothing", "Says it.\n\n    python -m heist_envs.benchmarks.nothing --a 1\n"
    )
    parser.add_argument("--a", type=int, default=0)
    parser.add_argument("--b", type=int, default=5, help="so many")
    parser.add_argument("--c", help="none")
    parser.add_argument("--d", default=7, help="more; the default is another")
    text = " ".join(parser.format_help().split())
    assert "--a A default 0 --b B so many; default 5 --c C none --d D more; the default is another examples:" in text


def test_a_command_speaks_as_it_was_called(monkeypatch, capsys):
    for argv, spoken in (
        (["/usr/bin/heist"], "heist bench tournament"),
        (["x"], "python -m heist_envs.benchmarks.tournament"),
    ):
        monkeypatch.setattr(sys, "argv", argv)
        with pytest.raises(SystemExit):
            cli.main(["bench", "tournament", "--help"])
        out = capsys.readouterr().out
        assert f"usage: {spoken} " in out
        assert f"    {spoken} --game holdup --cross" in out


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (ValueError("got a: b"), 1, "heist: got a: b\n"),
        (FileNotFoundError(2, "No such file or directory", "x.json"), 1, "heist: x.json: No such file or directory\n"),
        (KeyboardInterrupt(), 130, "heist: stopped\n"),
        (None, 0, ""),
    ],
)
def test_a_command_ends_with_a_line_and_a_status(error, status, said, capsys):
    def command():
        if error:
            raise error

    with pytest.raises(SystemExit) as end:
        launch(command)
    assert (end.value.code, capsys.readouterr().err) == (status, said)


def test_an_error_of_the_program_itself_is_shown_whole():
    with pytest.raises(KeyError):
        ended(lambda: {}["nothing"])


def run_python(*words, **more):
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, **more)


def test_a_module_ends_as_heist_does_and_who_has_read_enough_may_go(tmp_path):
    done = run_python("heist_envs.benchmarks.tournament", "--agents", "rule", "--deals", "2")
    assert (done.returncode, done.stderr) == (1, "heist: got num_players=1: allowed is 3 to 6\n")
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "heist_envs.cli", "bench"]
    process = subprocess.Popen(words, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (process.communicate(timeout=300)[1], process.returncode) == ("", 0)


def test_an_unknown_name_is_answered_with_what_there_is(capsys):
    assert cli.main(["bench", "colour"]) == 1
    assert capsys.readouterr().out.startswith("heist: got 'colour': there are\n  behaviour ")


def test_a_library_that_is_missing_is_named(monkeypatch, capsys):
    def missing(name):
        raise ImportError("training needs torch: pip install 'heist-envs[train]'")

    monkeypatch.setattr(cli.importlib, "import_module", missing)
    assert cli.main(["train", "selfplay"]) == 1
    assert capsys.readouterr().err == "heist: training needs torch: pip install 'heist-envs[train]'\n"


def test_an_error_of_an_agent_of_ones_own_is_shown_whole(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "class Fails:\n    def __init__(self, game):\n        pass\n"
        "    def act(self, o, m, rng):\n        raise ValueError('mine')\n"
        "class One(Fails):\n    def act(self, o, m, rng):\n        return 0\n"
        "class Bare:\n    def act(self, o, m, rng):\n        pass\n"
    )

    def record(agent):
        return cli.main(["record", "holdup", agent, "rule", "rule", "--out", "game.json"])

    with pytest.raises(ValueError, match="mine"):
        record("mine:Fails")
    assert record("mine:One") == 1
    assert "heist: One gave actions of shape () for 1 games: one per game is needed" in capsys.readouterr().err
    assert record("mine:Bare") == 1
    assert "heist: got agent 'mine:Bare', which could not be made from the game's name" in capsys.readouterr().err


def test_who_plays_first_on_a_machine_is_told_why_he_waits(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(rules.numba.config, "CACHE_DIR", str(tmp_path))
    said = "the rules are compiled first: this takes a minute or more, once on this machine\n"
    words = ["record", "holdup", "nobody", "--out", str(tmp_path / "game.json")]
    assert cli.main(words) == 1
    assert capsys.readouterr().err.startswith(said)
    kept = rules._cache_folder(rules._package_of(pathlib.Path(rules.__file__))) / "made" / "rules.play-1.py311.nbi"
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert cli.main(words) == 1
    assert said not in capsys.readouterr().err
