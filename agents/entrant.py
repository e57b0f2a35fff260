"""A bot that somebody wrote, in a file of its own, run in a process of its own under limits (docs/enter-a-bot.md).

    python -m heist_envs.agents.entrant bot.py --game holdup

plays some games against the rule-based agent and says whether the bot would pass.

The limits are against accidents: a bot that hangs, crashes, floods or fills the memory costs itself the game and nobody else
anything. They are no prison: the process has the rights of the user who starts it.
"""

import contextlib
import json
import os
import pathlib
import selectors
import signal
import subprocess
import sys
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.agent import FORFEIT
from heist_envs.agents.learner import LearnerBatch
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.command import CommandParser, launch
from heist_envs.engine import HOLD, Batch
from heist_envs.games import GAMES, load

PROGRAM = pathlib.Path(__file__).with_name("bot_process.py")
LIBRARIES = str(pathlib.Path(np.__file__).parents[1])
"""Where NumPy is, and what was installed with it: an isolated interpreter does not look in every place where it may be."""
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
PASSED_ON = ("PATH", "LD_LIBRARY_PATH")
"""The environment variables that a bot's process is given; without the last one some interpreters do not start."""
ANSWER = 8
"""Bytes of an answer, one int64."""
PIECE = 1 << 16
"""Bytes that are read at once."""
TAIL = 4096
"""Bytes that are kept of what a bot writes, the last ones."""


class Limits(NamedTuple):
    """What a bot may use."""

    seconds: float = 1.0
    """For a decision, by the clock on the wall."""
    first_seconds: float = 10.0
    """For the start, the setup and the first decision together."""
    memory: int = 1 << 30
    """Bytes of addresses, the interpreter's and NumPy's 100 MB among them."""
    output: int = 1 << 20
    """Bytes written to standard output and error during a decision."""
    starts: int = 5
    """In a row that bring no legal answer; after them it is not started again."""


class Fault(Exception):  # noqa: N818 - an error of the bot's, not of this program
    """Why a bot forfeits: the words that follow its name."""


class Entrant:
    """A bot in a file (docs/enter-a-bot.md), asked in a process of its own.

    Where the bot gives no legal action within its limits, the answer is `FORFEIT`, the reason is added to `faults`, and the
    process is ended; the next decision, of another row or call, is asked of a new one.

    Args:
        path: the Python file.
        game: the name of a game, or its module.
        limits: what it may use.

    Attributes:
        faults: a reason for each decision that was forfeited, in their order.
        output: the end of what the process that failed last wrote, after a crash its traceback; where none has failed, of
            what the last process to be ended wrote.

    Raises:
        OSError: this system cannot end a process together with those that it started.
        ValueError: no game has this name, or there is no such file.
    """

    def __init__(self, path: str | os.PathLike[str], game: str | ModuleType, limits: Limits | None = None) -> None:
        self.path = pathlib.Path(path).absolute()
        self.game = load(game)
        self.limits = limits or Limits()
        self.faults: list[str] = []
        self.output = ""
        self._process: _Process | None = None
        self._num_players: int | None = None
        self._last = ""
        """The fault of the process that failed last."""
        self._fruitless = 0
        if self.path.suffix != ".py":
            raise ValueError(f"got bot {str(path)!r}: a bot is a file that ends in .py")
        if not self.path.is_file():
            raise ValueError(f"got bot {str(path)!r}: there is no such file")
        if not hasattr(os, "killpg"):
            raise OSError("a bot in a file needs Linux or macOS: neither its time nor its memory could be limited here")
        if sys.platform != "linux":
            warnings.warn(
                f"on {sys.platform} a bot's time and output are limited, its memory, files and processes are not",
                RuntimeWarning,
                stacklevel=2,
            )

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """See `Agent.act`; `FORFEIT` where the bot gave no legal action. The generator seeds what the bot draws from."""
        self._look_who_plays(observations)
        actions = np.full(len(action_masks), FORFEIT, np.int64)
        for i in range(len(actions)):
            try:
                actions[i] = self._decide(observations[i], action_masks[i], rng)
            except Fault as fault:
                self.faults.append(f"{self.path.name} {fault}")
                if self._process is not None:
                    self._last, self.output = str(fault), self._process.words
                self.close()
            except BaseException:  # an interrupt: the answer that is still to come must not be taken for the next one
                self.close()
                raise
        return actions

    def close(self) -> None:
        """End the process, and those that it started; the next decision begins a new one."""
        if self._process is not None:
            if not self.faults:
                self.output = self._process.words
            self._process.stop()
            self._process = None

    def _look_who_plays(self, observations: NDArray[np.int8]) -> None:
        """A bot is told the number of players when it is set up: at another table it is set up anew."""
        if "seated" in self.game.OBSERVATION and len(observations):
            num_players = int(observations[0, self.game.OBSERVATION["seated"].slice].sum())
            if num_players != self._num_players:
                self.close()
                self._num_players = num_players

    def _decide(self, observation: NDArray[np.int8], mask: NDArray[np.int8], rng: np.random.Generator) -> int:
        if self._process is None:
            if self._fruitless == self.limits.starts:
                times = f"{self._fruitless} times in a row it gave no legal answer"
                raise Fault(f"is not started again: {times}; the last time it {self._last}")
            self._fruitless += 1
            self._process = self._begin(int(rng.integers(1 << 32)))
        action = self._process.ask(observation.tobytes() + mask.tobytes())
        if not (0 <= action < len(mask) and mask[action]):
            names = self.game.ACTION_NAMES
            legal = ", ".join(f"{a} {names[a]}" for a in np.flatnonzero(mask))
            raise Fault(f"gave action {action}: legal are {legal}")
        self._fruitless = 0
        return action

    def _begin(self, seed: int) -> "_Process":
        layout = self.game.OBSERVATION
        about = {
            "bot": str(self.path),
            "libraries": LIBRARIES,
            "seed": seed,
            "memory": self.limits.memory,
            "patience": 2 * self.limits.seconds,
            "first_patience": 2 * self.limits.first_seconds,
            "game": self.game.NAME,
            "num_players": self._num_players,
            "entries": layout.size,
            "actions": self.game.NUM_ACTIONS,
            "layout": {name: (f.slice.start, f.slice.stop, f.shape) for name, f in layout.items()},
        }
        return _Process(self.path.parent, json.dumps(about).encode(), self.limits)


class _Process:
    """A bot at work: started with what it is told about the game, asked, ended.

    Attributes:
        tail: the end of what it wrote to standard output and error.
        stop: ends it with all of its process group; called by itself when nobody holds the process any more.
    """

    def __init__(self, folder: pathlib.Path, about: bytes, limits: Limits) -> None:
        self._process = process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-u", str(PROGRAM)],  # isolated, no bytecode written, unbuffered
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder,
            env=ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ},
            start_new_session=True,
        )
        self._selector = selectors.DefaultSelector()
        self.stop = weakref.finalize(self, _stop, process, self._selector)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._requests, self._answers, self._output = process.stdin, process.stdout.fileno(), process.stderr.fileno()
        os.set_blocking(self._output, False)
        self._selector.register(self._answers, selectors.EVENT_READ)
        self._selector.register(self._output, selectors.EVENT_READ)
        self._limits = limits
        self._seconds = limits.first_seconds
        self._unsent = len(about).to_bytes(4, "little") + about
        self.tail = b""

    @property
    def words(self) -> str:
        """The end of what it wrote."""
        return self.tail.decode(errors="replace")

    def ask(self, request: bytes) -> int:
        """The answer to a request, any int64.

        Raises:
            Fault: there is none; the process has been ended.
        """
        answer = b""
        may_write = self._limits.output
        deadline = time.monotonic() + self._seconds
        with contextlib.suppress(BrokenPipeError):  # it has ended, which shows below
            self._requests.write(self._unsent + request)
        while len(answer) < ANSWER:
            left = deadline - time.monotonic()
            ready = self._selector.select(left) if left > 0 else []
            if not ready:
                raise self._fault(f"took longer than {self._seconds:g} s")
            for key, _ in ready:
                if key.fd == self._output:
                    may_write -= self._read_output()
                    if may_write < 0:
                        raise self._fault(f"wrote more than {self._limits.output:,} bytes")
                elif piece := os.read(self._answers, ANSWER - len(answer)):
                    answer += piece
                else:
                    raise self._fault("gave no more answers")
        self._unsent = b""
        self._seconds = self._limits.seconds
        return int.from_bytes(answer, "little", signed=True)

    def _read_output(self) -> int:
        """Keep the end of what was written; how many bytes were read, 0 where nothing is left."""
        try:
            piece = os.read(self._output, PIECE)
        except BlockingIOError:
            return 0
        if not piece and self._output in self._selector.get_map():
            self._selector.unregister(self._output)
        self.tail = (self.tail + piece)[-TAIL:]
        return len(piece)

    def _fault(self, words: str) -> Fault:
        """End the process and say why: that it ended by itself and with which last words, or else `words`."""
        status = _kill(self._process)
        left = PIECE * 16  # what a pipe may hold at most
        while left > 0 and (size := self._read_output()):
            left -= size
        if status in (-signal.SIGKILL, -signal.SIGALRM):
            return Fault(words)
        last = "".join(c for c in self.tail.decode(errors="replace").rstrip().rpartition("\n")[2] if c.isprintable())[:200]
        if "MemoryError" in last:
            last += f" (it may use {self._limits.memory >> 20} MiB)"
        how = f"ended with status {status}" if status >= 0 else f"was ended by a signal ({signal.strsignal(-status)})"
        return Fault(f"{how}: {last}" if last else how)


def _kill(process: "subprocess.Popen[bytes]") -> int:
    """End a process with its group; its exit status, its own where it had ended before."""
    if process.returncode is None:  # it has not been waited for, so that nobody else can have its number
        with contextlib.suppress(ProcessLookupError, PermissionError):  # some systems say so of one that has ended
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _stop(process: "subprocess.Popen[bytes]", selector: selectors.BaseSelector) -> None:
    _kill(process)
    selector.close()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


class Report(NamedTuple):
    """What a bot did in some games."""

    games: int
    seconds: list[float]
    """How long each decision took, the start in the first one."""
    mean_reward: float
    """0 for a game that it forfeited."""
    faults: list[str]
    output: str
    """`Entrant.output`"""

    def __str__(self) -> str:
        if self.faults:
            lines = [f"would not pass: {len(self.faults)} of {self.games} games forfeited"]
            lines += [f"  {count} times: {fault}" for fault, count in Counter(self.faults).items()]  # the first cause first
            return "\n".join(lines + ["what it wrote last:", self.output] * bool(self.output))
        first, *others = self.seconds
        later = 1e3 * np.array(others or [0.0])
        return (
            f"would pass: {self.games} games, {len(self.seconds)} decisions, no fault\n"
            f"  start and first decision {first:.3f} s, then {later.mean():.2f} ms each, {later.max():.2f} ms at most\n"
            f"  mean reward {self.mean_reward:+.2f} against the rule-based agent; so few games say little of strength"
        )


def check(
    path: str | os.PathLike[str],
    game: str,
    num_games: int = 20,
    num_players: int | None = None,
    seed: int = 0,
    limits: Limits | None = None,
) -> Report:
    """Let a bot play some games, in all seats in turn, the main rule-based agent in the others.

    Args:
        path: the Python file.
        game: the name of a game.
        num_games: games, each of which ends where the bot forfeits it.
        num_players: the game's default where None.
        seed: of the games and of all that the agents draw.
        limits: what the bot may use.

    Raises:
        ValueError: no game has this name, there is no such file, or a number that is not allowed.
    """
    bot = Entrant(path, game, limits)
    options = {} if num_players is None else {"num_players": num_players}
    batch = Batch(bot.game, np.repeat(bot.game.new_initial_state(**options), num_games), autoreset=False)
    seats = np.arange(num_games) % batch.num_players
    table = LearnerBatch(batch, seats, [RuleBasedAgent(game)], np.zeros((num_games, batch.num_players), np.int64))
    rng = np.random.default_rng(seed)
    table.reset(seed, rng)
    playing, rewards, seconds = np.ones(num_games, np.bool_), np.zeros(num_games), []
    with contextlib.closing(bot):
        while playing.any():
            actions = np.full(num_games, HOLD)
            for row in np.flatnonzero(playing):
                begin = time.perf_counter()
                actions[row] = bot.act(batch.observations[[row]], batch.masks[[row]], rng)[0]
                seconds.append(time.perf_counter() - begin)
            playing &= actions != FORFEIT
            table.step(np.where(playing, actions, HOLD))
            ended = playing & table.ended
            rewards[ended] = table.own_rewards()[ended]
            playing &= ~ended
    return Report(num_games, seconds, float(rewards.mean()), bot.faults, bot.output)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0 where the bot would pass."""
    have = Limits()
    limits = (
        f"It has {have.seconds:g} s for a decision, {have.first_seconds:g} s for its start and the first one, "
        f"{have.memory >> 20} MiB of memory,\n{have.output >> 20} MiB of output a decision, and {have.starts} starts in "
        "a row without a legal answer. One that hangs takes\nall of that before it is reported."
    )
    parser = CommandParser("heist_envs.agents.entrant", __doc__)
    parser.description = f"{parser.description}\n\n{limits}"
    parser.add_argument("bot", help="a Python file")
    parser.add_argument("--game", choices=GAMES, default="holdup")
    parser.add_argument("--games", type=int, default=20, help="how many")
    parser.add_argument("--players", type=int, default=None, help="the game's default if not given")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.games < 1:
        parser.error("--games: at least 1")
    try:
        report = check(given.bot, given.game, given.games, given.players, given.seed)
    except ValueError as error:
        parser.error(str(error))
    print(given.bot, report)
    return 1 if report.faults else 0


if __name__ == "__main__":
    launch(main)
