"""The process of a bot, a program that `entrant.py` starts and that knows nothing of this package.

On its standard input come a length (uint32), so many bytes of JSON (`Entrant._begin`), and then for each decision
the observation and the mask, int8 (D,) and int8 (A,). On its standard output goes for each decision the action, int64. Both
numbers are little-endian. What goes wrong in the bot ends the process, with its traceback on the standard error.
"""

import importlib.util
import json
import os
import random
import resource
import signal
import sys
from typing import Any

NEW_PROCESSES = (
    "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen",
)  # fmt: skip
"""What the interpreter tells its audit hooks of, where somebody starts a program."""


def limit_resources(memory: int) -> None:
    """So many bytes of memory, no file written, no process or thread begun, no core left behind; none of it is undone.

    The system begins processes for root whatever the limit; the hook refuses them to everybody, where Python starts them.
    """
    limits = {resource.RLIMIT_AS: memory, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NPROC: 0, resource.RLIMIT_CORE: 0}
    for which, most in limits.items():
        hard = resource.getrlimit(which)[1]
        lowest = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (lowest, lowest))

    def refuse_processes(event: str, _: tuple[Any, ...]) -> None:
        if event in NEW_PROCESSES:
            raise PermissionError(f"a bot may start no process: {event}")

    sys.addaudithook(refuse_processes)


def load_bot(path: str) -> Any:
    """An instance of the class `Bot` of a file, or else the file as a module; it has `act`.

    Raises:
        AttributeError: it has no function `act`.
    """
    spec = importlib.util.spec_from_file_location("bot", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["bot"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    bot = module.Bot() if hasattr(module, "Bot") else module
    if not callable(getattr(bot, "act", None)):
        raise AttributeError("it has no function act(observation, action_mask), nor a class Bot with one")
    return bot


def main() -> None:
    """Set the bot up and answer until nobody asks any more."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)  # no file object: it is closed when the process has ended, not while it ends
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # what the bot prints is no answer
    about = json.loads(requests.read(int.from_bytes(requests.read(4), "little")))
    if sys.platform == "linux":
        limit_resources(about["memory"])
    # The one who asks ends a process that takes too long; this does where he is no longer there to do it.
    signal.setitimer(signal.ITIMER_REAL, about["first_patience"])

    sys.path.append(about["libraries"])
    import numpy as np  # within the limits

    random.seed(about["seed"])
    np.random.seed(about["seed"])  # noqa: NPY002 - the one that the bot may use
    bot = load_bot(about["bot"])
    if hasattr(bot, "setup"):
        layout = {name: (start, stop, tuple(shape)) for name, (start, stop, shape) in about["layout"].items()}
        bot.setup(about["game"], about["num_players"], layout)
    entries, size = about["entries"], about["entries"] + about["actions"]
    while len(asked := requests.read(size)) == size:
        if signal.getitimer(signal.ITIMER_REAL)[0] == 0:
            signal.setitimer(signal.ITIMER_REAL, about["patience"])
        seen = np.frombuffer(bytearray(asked), np.int8)
        action = bot.act(seen[:entries], seen[entries:])
        if isinstance(action, bool) or not isinstance(action, int | np.integer):
            raise TypeError(f"act gave {repr(action)[:80]} of type {type(action).__name__}: one integer is needed")
        os.write(answers, int(action).to_bytes(8, "little", signed=True))
        signal.setitimer(signal.ITIMER_REAL, 0)


if __name__ == "__main__":
    main()
