"""IS-MCTS: how fast it plays out games, and how it does against the main rule-based agent.

    python -m heist_envs.benchmarks.search --json benchmarks/results/search.json

- speed: decisions a second, on one core, that the searches of one batch play at random; medians of several rounds. The time
  is that of the whole search, the redrawing of hidden cards and the tree included.
- strength: the mean reward of one searcher at a table of rule-based agents, over all seats (`one_against_many`), with a 95%
  interval clustered by deal; the uniform agent at the same table is the line to compare with.
"""

import json
import pathlib
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from heist_envs.agents import ISMCTSAgent, UniformAgent, make_agent
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import one_against_many
from heist_envs.command import CommandParser, launch
from heist_envs.engine import Batch
from heist_envs.games import GAMES, load


def speed(game: str, simulations: int, rounds: int, seed: int = 0) -> dict[str, Any]:
    """Of searches from the first decisions of 4 deals at the default table."""
    module = load(game)
    batch = Batch(module, np.repeat(module.new_initial_state(), 4), autoreset=True)
    batch.reset(seed)
    ISMCTSAgent(game, simulations=2).search(batch.states, np.random.default_rng(seed))  # compiles
    agent, found = ISMCTSAgent(game, simulations=simulations), []
    for k in range(rounds):
        start = time.perf_counter()
        search = agent.search(batch.states, np.random.default_rng(seed + k))
        seconds = time.perf_counter() - start
        found.append((search.steps.sum() / seconds, seconds / search.visits.sum(), search.steps.sum() / search.visits.sum()))
    names = ("playout steps per second", "seconds per simulation", "steps per simulation")
    return dict(zip(names, (statistics.median(map(float, column)) for column in zip(*found, strict=True)), strict=True))


def strength(game: str, agent: ISMCTSAgent, num_players: int, num_deals: int, seed: int = 0) -> dict[str, Any]:
    """Of the agent, and of the uniform one, against rule-based agents."""
    rule = make_agent("rule", game)
    start = time.perf_counter()
    score = one_against_many(game, agent, rule, num_players, num_deals, seed)
    seconds = time.perf_counter() - start
    uniform = one_against_many(game, UniformAgent(), rule, num_players, num_deals, seed)
    return {"score": score, "uniform": uniform, "seconds": seconds}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.search", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--simulations", type=int, nargs="+", default=[1000], help="of each decision, in matches")
    parser.add_argument("--observer", default="each", help="'each' or 'one' (agents/ismcts.py)")
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--players", type=int, default=None, help="as few as the game allows where not given")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    if given.deals < 2:
        parser.error("--deals: an interval needs at least 2")
    result: dict[str, Any] = {
        "commit": commit(),
        "machine": machine(),
        "seed": given.seed,
        "deals": given.deals,
        "observer": given.observer,
        "games": {},
    }
    for game in given.games:
        fast = speed(game, 250, given.rounds, given.seed)
        print(f"{game}: " + ", ".join(f"{value:,.6g} {name}" for name, value in fast.items()), flush=True)
        players = given.players or min(load(game).OPTIONS["num_players"].allowed)
        matches = []
        for simulations in given.simulations:
            agent = ISMCTSAgent(game, simulations=simulations, observer=given.observer)
            match = strength(game, agent, players, given.deals, given.seed)
            matches.append({"players": players, "simulations": simulations, **match})
            print(
                f"  {simulations} simulations, {players} players: {match['score']} against rule-based agents, uniform "
                f"{match['uniform']}; {match['seconds']:.0f} s",
                flush=True,
            )
        result["games"][game] = {"speed": fast, "matches": matches}
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
