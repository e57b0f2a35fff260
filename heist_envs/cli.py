"""The command line: `heist`."""

import argparse
import ast
import functools
import importlib
import importlib.metadata
import importlib.util
import os
import pathlib
import re
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

from heist_envs import chance, gambit, rules, terminal, watch
from heist_envs.command import AGENTS, Formatter, ended, launch
from heist_envs.games import GAMES, load
from heist_envs.replay import Replay, play


def _replay(given: argparse.Namespace) -> str:
    made = Replay.load(given.file)
    if given.html is not None:
        pathlib.Path(given.html).write_text(watch.page(made, given.seat), encoding="utf-8")
        return f"{given.html}: {made.game}-v{made.version}"
    if given.seat is not None:
        raise ValueError("got --seat without --html: what is printed is for who may see everything")
    state = made.verify()[0]
    lines = [f"{made.game}-v{made.version}, {len(made.moves)} moves, each as the rules play it: verified"]
    lines += [made.about] if made.about else []
    if given.moves:
        lines += [f"{k:4} {move.player:10} {move.name}" for k, move in enumerate(made.moves)]
    lines.append(str(load(made.game).describe(state)))
    paid = made.returns()
    lines.append("not over" if paid is None else "returns " + " ".join(f"{value:+.3f}" for value in paid))
    return "\n".join(lines)


def _announce() -> None:
    """Say so where the first game has to wait."""
    if not rules.is_compiled():
        print("the rules are compiled first: this takes a minute or more, once on this machine", file=sys.stderr)


def _record(given: argparse.Namespace) -> str:
    _announce()
    made = play(given.game, given.agents, given.seed, probabilities=True)
    made.save(given.out)
    return f"{given.out}: {len(made.moves)} moves of {made.game}-v{made.version}"


def _play(given: argparse.Namespace) -> str:
    opponents, seed, options = _company(given)
    _announce()
    terminal.play(given.game, opponents, seed, sys.stdin, sys.stdout, given.seat, given.save, **options)
    return f"played with --seed {seed}"


def _table(given: argparse.Namespace) -> str:
    from heist_envs import table  # it needs the extra [table]

    opponents, seed, options = _company(given)
    _announce()
    table.serve(given.game, opponents, seed, sys.stdout, given.seats, given.host, given.port, given.save, **options)
    return f"played with --seed {seed}"


def _company(given: argparse.Namespace) -> tuple[list[str], int, dict[str, Any]]:
    """The opponents, the seed and the options of a game with people."""
    seed = int(chance.seeds(None, 1)[0]) if given.seed is None else given.seed
    options = {"num_players": given.players, "preset": given.preset}
    return given.opponents.split(","), seed, {name: value for name, value in options.items() if value is not None}


def _add_company(one: argparse.ArgumentParser) -> None:
    one.add_argument("game", choices=GAMES)
    one.add_argument("--players", type=int, help="how many seats; the game's or the preset's default if not given")
    one.add_argument("--opponents", default="rule", help=f"clockwise from your left, over again if too few: {AGENTS}")
    one.add_argument("--seed", type=_number, help="of the cards and of all that is drawn; a new one if not given")
    one.add_argument("--preset", help="a smaller table, such as tiny")


def _seat(given: str) -> int:
    found = re.fullmatch(r"(?:player_)?(\d)", given)
    if not found:
        raise argparse.ArgumentTypeError(f"got {given!r}: a seat is player_0, player_1, …")
    return int(found[1])


def _number(given: str) -> int:
    if not given.isdecimal():
        raise argparse.ArgumentTypeError(f"got {given!r}: a seed is a whole number, at least 0")
    return int(given)


def _export(given: argparse.Namespace) -> str:
    text = gambit.efg(given.game, preset=given.preset)
    with open(given.out, "w") as file:
        file.write(text)
    return f"{given.out}: {text.count(chr(10)) - 1} nodes"


def _new_file(path: str) -> str:
    """The name of a file that can be made: found out before a game is played and not after it."""
    if pathlib.Path(path).is_dir():
        raise argparse.ArgumentTypeError(f"got {path!r}, which is a folder")
    if not pathlib.Path(path).parent.is_dir():
        raise argparse.ArgumentTypeError(f"got {path!r}: there is no folder {str(pathlib.Path(path).parent)!r}")
    return path


def commands_of(package: str) -> dict[str, str]:
    """The modules of a package that are commands, by name, with what each says of itself in its first line."""
    found = importlib.util.find_spec(package)
    folder = pathlib.Path((found.submodule_search_locations or [""])[0]) if found else pathlib.Path()
    about = {}
    for path in sorted(folder.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "\ndef main(" in text:
            about[path.stem] = (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]
    return about


def _pass_on(word: str, given: Sequence[str]) -> int:
    """Run a module of a package as a command with all that follows its name; without a name list what there is."""
    package = PASSED_ON[word].package
    there = commands_of(package)
    if given and given[0] in there:
        return importlib.import_module(f"{package}.{given[0]}").main(given[1:]) or 0
    wrong = bool(given) and given[0] not in ("-h", "--help")
    head = f"heist: got {given[0]!r}: there are" if wrong else f"usage: heist {word} NAME [options]; its options: --help\n"
    lines = [f"  {name:16} {about}" for name, about in there.items()]
    print("\n".join([head, *lines, *([] if wrong else ["", f"example: {PASSED_ON[word].example}"])]), flush=True)
    return 1 if wrong else 0


class PassedOn(NamedTuple):
    """A command that hands all that follows it to the modules of a package."""

    package: str
    about: str
    example: str


PASSED_ON = {
    "bench": PassedOn(
        "heist_envs.benchmarks",
        "measure: speed, tournaments, exploitability, behaviour, …",
        "heist bench tournament --game holdup --agents ppo rule uniform bot.py --deals 100",
    ),
    "train": PassedOn(
        "heist_envs.training",
        "train: self-play, studies over seeds, …",
        "heist train selfplay --game holdup --decisions 1000000 --folder runs/mine",
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    parser = argparse.ArgumentParser("heist", description="Heist card games for reinforcement learning.")
    parser.add_argument("--version", action="version", version=f"heist-envs {importlib.metadata.version('heist-envs')}")
    kind: Any = functools.partial(argparse.ArgumentParser, formatter_class=Formatter)
    commands: Any = parser.add_subparsers(required=True, metavar="command", parser_class=kind)

    one = commands.add_parser(
        "play", help="take a seat yourself", epilog="example: heist play accomplices --players 4 --opponents rule,ppo"
    )
    _add_company(one)
    one.add_argument("--seat", type=_seat, help="yours, such as player_1; drawn if not given")
    one.add_argument("--save", type=_new_file, help="the file for a replay")
    one.set_defaults(run=_play)

    one = commands.add_parser(
        "table",
        help="play on a web page, alone or with others by link",
        epilog="example: heist table accomplices --players 4 --opponents rule,ppo --seats 2",
    )
    _add_company(one)
    one.add_argument("--seats", type=int, default=1, help="how many people play, each by a link of his own")
    one.add_argument("--host", default="127.0.0.1", help="the address to listen at; only this machine's own if not given")
    one.add_argument("--port", type=int, default=8000, help="0 for any that is free")
    one.add_argument("--save", type=pathlib.Path, metavar="FOLDER", help="keep a replay of each game there")
    one.set_defaults(run=_table)

    one = commands.add_parser(
        "replay",
        help="verify a replay move by move, or write it as a page",
        epilog="example: heist replay game.json --html game.html --seat player_1",
    )
    one.add_argument("file", help="a replay, as `heist record` writes it")
    one.add_argument("--moves", action="store_true", help="list the moves")
    one.add_argument("--html", type=_new_file, help="the page to write, which shows the game step by step")
    one.add_argument("--seat", type=_seat, help="the only seat whose eyes the page shows, such as player_1")
    one.set_defaults(run=_replay)

    one = commands.add_parser(
        "record", help="let agents play a game", epilog="example: heist record holdup rule rule uniform --out game.json"
    )
    one.add_argument("game", choices=GAMES)
    one.add_argument("agents", nargs="+", help=f"one per seat: {AGENTS}")
    one.add_argument("--seed", type=_number, default=0, help="of the cards and of all that is drawn; default 0")
    one.add_argument("--out", type=_new_file, required=True, help="the file to write")
    one.set_defaults(run=_record)

    one = commands.add_parser(
        "export", help="write a small game's tree for Gambit", epilog="example: heist export holdup --out tiny.efg"
    )
    one.add_argument("game", choices=GAMES)
    one.add_argument("--preset", default="tiny", help="the table, which must be small")
    one.add_argument("--out", type=_new_file, required=True, help="the file to write")
    one.set_defaults(run=_export)

    for name, passed in PASSED_ON.items():
        commands.add_parser(name, help=passed.about)

    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.path.append(os.getcwd())  # where `python -m` looks for somebody's own agents, too

    def command() -> int:
        if words and words[0] in PASSED_ON:
            return _pass_on(words[0], words[1:])
        given = parser.parse_args(words)
        print(given.run(given), flush=True)
        return 0

    return ended(command)


if __name__ == "__main__":
    launch(main)
