"""The command `heist`: it lists what there is, and hands measuring and training on."""

import importlib
import pathlib
import re

import pytest

from heist_envs import cli, rules

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
