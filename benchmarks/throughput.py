"""How many decisions a second: a random legal action drawn, the step, observation and action mask written.

    python -m heist_envs.benchmarks.throughput

Everything is measured in turn, several rounds of it, and medians are given, since machines drift. The number to trust is
the ratio to OpenSpiel's leduc_poker driven from Python, measured in the same rounds where OpenSpiel is installed.

- batch: `engine.play_at_random`, all of it compiled, one thread.
- vector: `HeistVectorEnv.step` with buffers (`copy=False`) and the uniform agent, from Python, one thread.
- aec: `last`, a random legal action, `step`, through PettingZoo's order-enforcing wrapper.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pettingzoo.utils import OrderEnforcingWrapper

import heist_envs
from heist_envs import chance
from heist_envs.agents import UniformAgent
from heist_envs.games import GAMES, load

Measurement = Callable[[], int]
"""Does a piece of work and returns how many decisions it was."""

PIECE = 0.2
"""Seconds that one piece of work takes, about."""


def batch(game: str, num_players: int, num_envs: int) -> Measurement:
    """Whole decisions in compiled code."""
    games = heist_envs.make_vec(game, num_envs, num_players).batch
    games.reset(0)
    choices = chance.streams(chance.seeds(1, num_envs))
    steps = max(1, 2_000_000 // 2 // num_envs)

    def work() -> int:
        games.play_at_random(choices, steps)
        return steps * num_envs

    return work


def vector(game: str, num_players: int, num_envs: int) -> Measurement:
    """Steps of the batch from Python."""
    vec = heist_envs.make_vec(game, num_envs, num_players, copy=False)
    observation, _ = vec.reset(seed=0)
    agent, rng = UniformAgent(), np.random.default_rng(0)
    steps = max(1, 200_000 // num_envs)

    def work() -> int:
        for _ in range(steps):
            vec.step(agent.act(observation["observation"], observation["action_mask"], rng))
        return steps * num_envs

    return work


def aec(game: str, num_players: int) -> Measurement:
    """PettingZoo's loop."""
    env = OrderEnforcingWrapper(heist_envs.make(game, num_players))
    env.reset(seed=0)
    draw = random.Random(0).random
    decisions = 10_000

    def work() -> int:
        for _ in range(decisions):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
        return decisions

    return work


def leduc() -> Measurement:
    """OpenSpiel's leduc_poker from Python: observation and mask as the same NumPy arrays, a random legal action, step."""
    import pyspiel

    game = pyspiel.load_game("leduc_poker")
    draw = random.Random(0).random

    def work() -> int:
        decisions = 0
        for _ in range(4_000):
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(draw() * len(outcomes))][0])
                    continue
                np.array(state.observation_tensor(), np.float32)
                np.array(state.legal_actions_mask(), np.int8)
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                decisions += 1
        return decisions

    return work


def rates(measurements: dict[str, Measurement], rounds: int) -> dict[str, list[float]]:
    """Decisions a second of each measurement in each round, after one piece of work to warm up."""
    for work in measurements.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, work in measurements.items():
            start, decisions = time.perf_counter(), 0
            while time.perf_counter() - start < PIECE:
                decisions += work()
            found[name].append(decisions / (time.perf_counter() - start))
    return found


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
    names = ["heist-envs", "numpy", "numba", "gymnasium", "pettingzoo", "open_spiel"]
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


def measure(games: Sequence[str], sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """All numbers: per game, bytes and start times, and per measurement the median rate and ratio."""
    reference = {"leduc_poker": leduc()} if importlib.util.find_spec("pyspiel") else {}
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "rounds": rounds, "games": {}}
    for game in games:
        module = load(game)
        players = list(module.OPTIONS["num_players"].allowed)
        default = module.OPTIONS["num_players"].default
        works: dict[str, Measurement] = dict(reference)
        works |= {f"batch of {size}, {default} players": batch(game, default, size) for size in sizes}
        works |= {f"batch of 1024, {n} players": batch(game, n, 1024) for n in players if n != default}
        works |= {f"vector of 1024, {default} players": vector(game, default, 1024)}
        works |= {f"aec, {default} players": aec(game, default)}
        found = rates(works, rounds)
        base = found.get("leduc_poker")
        rows = {
            name: {
                "per_second": statistics.median(values),
                "ratio": None if base is None else statistics.median(v / b for v, b in zip(values, base, strict=True)),
            }
            for name, values in found.items()
        }
        result["games"][game] = {
            "state_bytes": module.STATE.itemsize,
            "observation_bytes": module.OBSERVATION.size,
            "seconds": start_times(game),
            "decisions": rows,
        }
    return result


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m heist_envs.benchmarks.throughput", description=__doc__.split("\n")[0])
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 64, 1024, 8192])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    result = measure(given.games, given.sizes, given.rounds)
    for game, found in result["games"].items():
        print(f"{game}: state {found['state_bytes']} bytes, observation {found['observation_bytes']} bytes")
        for name, seconds in found["seconds"].items():
            print(f"  {name:36} {seconds:12.2f} s")
        for name, row in found["decisions"].items():
            ratio = "" if row["ratio"] is None else f"  {row['ratio']:8.2f} x leduc_poker"
            print(f"  {name:36} {row['per_second']:12,.0f} decisions/s{ratio}")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
