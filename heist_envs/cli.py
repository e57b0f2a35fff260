"""The command line: `heist`."""

import argparse
import sys
from collections.abc import Sequence

from heist_envs import gambit
from heist_envs.games import GAMES, load
from heist_envs.replay import Replay, ReplayError, play


def _replay(given: argparse.Namespace) -> str:
    made = Replay.load(given.file)
    state = made.verify()[0]
    lines = [f"{made.game}-v{made.version}, {len(made.moves)} moves, each as the rules play it: verified"]
    lines += [made.about] if made.about else []
    if given.moves:
        lines += [f"{k:4} {move.player:10} {move.name}" for k, move in enumerate(made.moves)]
    lines.append(str(load(made.game).describe(state)))
    paid = made.returns()
    lines.append("not over" if paid is None else "returns " + " ".join(f"{value:+.3f}" for value in paid))
    return "\n".join(lines)


def _record(given: argparse.Namespace) -> str:
    made = play(given.game, given.agents, given.seed, probabilities=True)
    made.save(given.out)
    return f"{given.out}: {len(made.moves)} moves of {made.game}-v{made.version}"


def _export(given: argparse.Namespace) -> str:
    text = gambit.efg(given.game, preset=given.preset)
    with open(given.out, "w") as file:
        file.write(text)
    return f"{given.out}: {text.count(chr(10)) - 1} nodes"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status."""
    parser = argparse.ArgumentParser("heist", description="Heist card games for reinforcement learning.")
    commands = parser.add_subparsers(required=True, metavar="command")

    one = commands.add_parser(
        "replay", help="verify a replay move by move", epilog="example: heist replay game.json --moves"
    )
    one.add_argument("file", help="a replay, as `heist record` writes it")
    one.add_argument("--moves", action="store_true", help="list the moves")
    one.set_defaults(run=_replay)

    one = commands.add_parser(
        "record", help="let agents play a game", epilog="example: heist record holdup rule rule uniform --out game.json"
    )
    one.add_argument("game", choices=GAMES)
    one.add_argument(
        "agents", nargs="+", help="one per seat: uniform, rule, rule:STYLE, ismcts:500, ismcts:50ms, a policy file"
    )
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--out", required=True, help="the file to write")
    one.set_defaults(run=_record)

    one = commands.add_parser(
        "export", help="write a small game's tree for Gambit", epilog="example: heist export holdup --out tiny.efg"
    )
    one.add_argument("game", choices=GAMES)
    one.add_argument("--preset", default="tiny")
    one.add_argument("--out", required=True, help="the file to write")
    one.set_defaults(run=_export)

    given = parser.parse_args(arguments)
    try:
        print(given.run(given))
    except (ReplayError, OSError, ValueError, TypeError) as error:
        print(f"heist: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
