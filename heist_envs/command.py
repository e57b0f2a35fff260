"""What every command has in common: its help, and how it ends."""

import argparse
import os
import pathlib
import sys
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from heist_envs import agents

AGENTS = "uniform, rule, rule:STYLE, ismcts:500, ismcts:50ms, ppo, a policy file, bot.py, module:object"
"""What may stand for an agent (`make_agent`)."""
_BY_NAME = {"heist_envs.benchmarks": "heist bench", "heist_envs.training": "heist train"}
"""Packages whose modules `heist` runs by their name."""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Says what an option is if it is not given."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        said = action.help or ""
        nothing = action.default is None or action.default is False or action.default in ([], argparse.SUPPRESS)
        unsaid = nothing or not action.option_strings or "default" in said
        return said if unsaid else f"{said}; default %(default)s"


class CommandParser(argparse.ArgumentParser):
    """Of a module that is a command: what its docstring says in the first line, and its examples below the options.

    Args:
        module: its full name; under `python -m` it has another one itself.
        doc: its docstring. Each indented line that runs this module is an example.
        **more: as `argparse.ArgumentParser` has it.
    """

    def __init__(self, module: str, doc: str, **more: Any) -> None:
        lines = doc.splitlines()
        examples = "\n".join(line for line in lines if f"{line} ".startswith(f"    python -m {module} "))
        program, package = f"python -m {module}", module.rpartition(".")[0]
        if pathlib.Path(sys.argv[0]).name == "heist" and package in _BY_NAME:
            program = f"{_BY_NAME[package]} {module.rpartition('.')[2]}"
            examples = examples.replace(f"python -m {module}", program)
        super().__init__(
            program,
            description=lines[0],
            epilog=f"examples:\n{examples}",
            formatter_class=Formatter,
            **more,
        )

    def add_argument(self, *names: Any, **more: Any) -> argparse.Action:
        """As argparse has it; an option of which nothing else is said still says its default."""
        if more.get("default") is not None:
            more.setdefault("help", "default %(default)s")
        return super().add_argument(*names, **more)


def ended(command: Callable[[], int | None]) -> int:
    """The exit status of a command, whose errors are said in a line; those of somebody's own agent are shown whole."""
    try:
        return command() or 0
    except BrokenPipeError:  # who reads its output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ImportError, OSError, ValueError, TypeError) as error:
        names = {frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)}
        if names & agents.IMPORTED:
            raise
        words = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"heist: {words}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("heist: stopped", file=sys.stderr)
        return 130


def launch(command: Callable[[], int | None]) -> NoReturn:
    """End the process as a command ends."""
    sys.exit(ended(command))
