"""How many decisions a second: a random legal action drawn, the step, observation and action mask written.

    python -m heist_envs.benchmarks.throughput

Everything is measured in turn, several rounds of it, and medians are given, since machines drift. The numbers to trust are
ratios within one run: to OpenSpiel's leduc_poker driven from Python, where OpenSpiel is installed, and to plain writing, as
fast as the machine fills as many bytes as a decision writes, state, observation and mask, in buffers of 1,024 games.

- batch: `engine.play_at_random`, all of it compiled; in two threads each plays a half of the games.
- vector: `HeistVectorEnv.step` with buffers (`copy=False`) and the uniform agent, from Python.
- aec: `last`, a random legal action, `step`, through PettingZoo's order-enforcing wrapper.
- phases: where the time of a decision of a batch goes (`phases`).
- tournament: games that four of the main rule-based agent, or as many as there are seats, play by two workers of
  `tournament`, which make their decisions together for many games.
- peers: card games of other libraries, as far as they are installed (`peers`), in rounds of their own.
"""

import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np
from pettingzoo.utils import OrderEnforcingWrapper

import heist_envs
from heist_envs import chance
from heist_envs.agents import UniformAgent
from heist_envs.benchmarks import peers, phases
from heist_envs.benchmarks.stopwatch import PIECE, Work, rates
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES, load

NUM_ENVS = 1024
"""Games in a batch where not every size is measured."""
WORKERS = 2
"""Threads beside one, and workers of a tournament."""
BASE = "OpenSpiel: leduc_poker"
WRITING = "plain writing"


class Case(NamedTuple):
    """One way to play a game."""

    way: str
    players: int
    games: int
    threads: int


def way_of(row: dict[str, Any]) -> str:
    """How a row of the speeds was played, in words."""
    of = "" if row["way"] == "aec" else f" of {row['games']:,}"
    return f"{row['way']}{of}" + ("" if row["threads"] == 1 else f", {row['threads']} threads")


def batch(game: str, num_players: int, num_envs: int, num_threads: int) -> Work:
    """Whole decisions in compiled code, a share of the games in each thread."""
    shares = [heist_envs.make_vec(game, num_envs // num_threads, num_players).batch for _ in range(num_threads)]
    choices = [chance.streams(chance.seeds(seed, len(share))) for seed, share in enumerate(shares)]
    for seed, share in enumerate(shares):
        share.reset(seed)
    steps = max(1, 1_000_000 // num_envs)

    def work() -> int:
        with ThreadPoolExecutor(num_threads) as pool:
            list(pool.map(lambda share, drawn: share.play_at_random(drawn, steps), shares, choices))
        return steps * sum(map(len, shares))

    return work


def vector(game: str, num_players: int, num_envs: int, num_threads: int) -> Work:
    """Steps of the batch from Python."""
    vec = heist_envs.make_vec(game, num_envs, num_players, num_threads=num_threads, copy=False)
    observation, _ = vec.reset(seed=0)
    agent, rng = UniformAgent(), np.random.default_rng(0)
    steps = max(1, 200_000 // num_envs)

    def work() -> int:
        for _ in range(steps):
            vec.step(agent.act(observation["observation"], observation["action_mask"], rng))
        return steps * num_envs

    return work


def written(game: str) -> dict[str, int]:
    """The bytes that a decision writes."""
    module = load(game)
    return {"state": module.STATE.itemsize, "observation": module.OBSERVATION.size, "mask": module.NUM_ACTIONS}


def writing(game: str, num_envs: int = NUM_ENVS) -> Work:
    """As many decisions' bytes, and nothing but written."""
    buffer = np.zeros(num_envs * sum(written(game).values()), np.int8)

    def work() -> int:
        buffer.fill(1)
        return num_envs

    return work


def way(game: str, case: Case) -> Work:
    """A game played in one way."""
    if case.way == "aec":
        return peers.aec(OrderEnforcingWrapper(heist_envs.make(game, case.players)))
    return {"batch": batch, "vector": vector}[case.way](game, *case[1:])


def cases(num_players: int, sizes: Sequence[int]) -> list[Case]:
    """Every way to play with so many players."""
    found = [Case("aec", num_players, 1, 1)]
    for threads in (1, WORKERS):
        found += [Case("batch", num_players, size, threads) for size in sizes if size >= threads]
        found.append(Case("vector", num_players, NUM_ENVS, threads))
    return found


K = TypeVar("K")


def ratios(found: Mapping[K, Sequence[float]], base: K) -> dict[K, float | None]:
    """The median over rounds of each rate's ratio to a base in the same round; None where the base was not measured."""
    if base not in found:
        return dict.fromkeys(found)
    return {
        name: statistics.median(value / of for value, of in zip(values, found[base], strict=True))
        for name, values in found.items()
    }


def decisions(game: str, sizes: Sequence[int], rounds: int, piece: float) -> list[dict[str, Any]]:
    """Decisions a second in every way and with every number of players, each with its ratios to BASE and WRITING."""
    rows = []
    base = {BASE: peers.openspiel("leduc_poker")} if importlib.util.find_spec("pyspiel") else {}
    for num_players in load(game).OPTIONS["num_players"].allowed:
        chosen = cases(num_players, sizes)
        works = {case: way(game, case) for case in chosen}
        found = rates({**base, WRITING: writing(game), **works}, rounds, piece)
        to_base, to_writing = ratios(found, BASE), ratios(found, WRITING)
        rows += [
            {
                **case._asdict(),
                "per_second": statistics.median(found[case]),
                "ratio": to_base[case],
                "of_writing": to_writing[case],
            }
            for case in chosen
        ]
    return rows


def by_phase(game: str, rounds: int, piece: float) -> dict[str, float]:
    """Nanoseconds of a decision that each phase takes, the median over rounds: `phases` in a batch of NUM_ENVS."""
    found = rates(phases.works(game, load(game).OPTIONS["num_players"].default, NUM_ENVS), rounds, piece)
    times = 1e9 / np.array(list(found.values()))  # (phases, rounds)
    return dict(zip(found, np.median(np.diff(times, axis=0, prepend=0), axis=1).tolist(), strict=True))


def tournament(game: str, deals: int) -> Work:
    """Games of the main rule-based agent in all seats of the default table, all seatings of each deal."""
    from heist_envs.benchmarks.tournament import Settings, Tournament  # which imports this module

    num_players: int = load(game).OPTIONS["num_players"].default
    settings = Settings(game, ["rule"] * num_players, [{}], deals=deals)

    def work() -> int:
        Tournament(settings).play(WORKERS)
        return deals * num_players

    return work


_FIRST_STEP = """
import time; start = time.perf_counter()
import heist_envs
imported = time.perf_counter()
env = heist_envs.make({game!r}); env.reset(seed=0); env.step(int(env.last()[0]["action_mask"].argmax()))
print(imported - start, time.perf_counter() - start)
"""


def start_times(game: str) -> dict[str, float]:
    """Seconds of `import heist_envs`, and to the first step ever (nothing compiled yet) and in a later process."""
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(4):
            command = [sys.executable, "-c", _FIRST_STEP.format(game=game)]
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
            times.append([float(word) for word in done.stdout.split()])
    later = times[1:]
    return {
        "import": statistics.median(t[0] for t in later),
        "first step ever": times[0][1],
        "first step in a later process": statistics.median(t[1] for t in later),
    }


def machine() -> dict[str, Any]:
    """What it ran on, and the versions that matter."""
    names = ["heist-envs", "numpy", "numba", "gymnasium", "pettingzoo", "open_spiel", "rlcard", "pgx"]
    found = {name: importlib.metadata.version(name) for name in names if importlib.util.find_spec(_module(name))}
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **found,
    }


def _module(distribution: str) -> str:
    return {"heist-envs": "heist_envs", "open_spiel": "pyspiel"}.get(distribution, distribution)


def commit() -> str | None:
    """The commit of the sources, where they are a git checkout."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def measure(games: Sequence[str], sizes: Sequence[int], rounds: int, piece: float, deals: int) -> dict[str, Any]:
    """All numbers: per game bytes, start times and what is listed above, and the peers."""
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "rounds": rounds, "games": {}}
    for game in games:
        result["games"][game] = {
            "players": load(game).OPTIONS["num_players"].default,
            "bytes": written(game),
            "seconds": start_times(game),
            "decisions": decisions(game, sizes, rounds, piece),
            "phases": by_phase(game, rounds, piece),
            "tournament": statistics.median(rates({game: tournament(game, deals)}, rounds, piece)[game]),
        }
    found = rates(peers.peers(), rounds, piece)
    ratio = ratios(found, BASE)
    result["peers"] = {
        name: {"per_second": statistics.median(values), "ratio": ratio[name]} for name, values in found.items()
    }
    return result


def words(result: dict[str, Any]) -> str:
    """The result, line by line."""
    lines = []
    for game, found in result["games"].items():
        lines.append(f"{game}: " + ", ".join(f"{name} {size} bytes" for name, size in found["bytes"].items()))
        lines += [f"  {name:40} {seconds:12.2f} s" for name, seconds in found["seconds"].items()]
        for row in found["decisions"]:
            name = f"{row['players']} players, {way_of(row)}"
            lines.append(f"  {name:40} {_rate(row)}  {row['of_writing']:6.3f} x {WRITING}")
        lines += [f"  {name:40} {spent:12.1f} ns" for name, spent in found["phases"].items()]
        lines.append(f"  {'rule-based agents':40} {found['tournament']:12,.0f} games/s")
    lines += [f"{name:42} {_rate(row)}" for name, row in result["peers"].items()]
    return "\n".join(lines)


def _rate(row: dict[str, Any]) -> str:
    ratio = "" if row["ratio"] is None else f"  {row['ratio']:8.2f} x leduc_poker"
    return f"{row['per_second']:12,.0f} decisions/s{ratio}"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.throughput", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 64, 1024, 8192], help="games in a batch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--piece", type=float, default=PIECE, help="seconds of each measurement in each round, at least")
    parser.add_argument("--deals", type=int, default=2500, help="of each tournament")
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    result = measure(given.games, given.sizes, given.rounds, given.piece, given.deals)
    print(words(result))
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    launch(main)
