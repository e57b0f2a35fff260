"""The parser of a module that is a command, `python -m heist_envs.…`: its docstring says what it does, and how."""

import argparse
from typing import Any


class CommandParser(argparse.ArgumentParser):
    """What the module says in its first line, and its examples below the options.

    Args:
        module: its full name; under `python -m` it has another one itself.
        doc: its docstring. Each indented line that runs this module is an example.
        **more: as `argparse.ArgumentParser` has it.
    """

    def __init__(self, module: str, doc: str, **more: Any) -> None:
        lines = doc.splitlines()
        examples = [line for line in lines if f"{line} ".startswith(f"    python -m {module} ")]
        super().__init__(
            f"python -m {module}",
            description=lines[0],
            epilog="\n".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **more,
        )
