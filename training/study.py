"""Does it learn? The same training over several seeds, judged exactly on small tables and by matches on full ones.

    python -m heist_envs.training.study tiny --json benchmarks/results/learning-tiny.json
    python -m heist_envs.training.study full --games holdup --json benchmarks/results/learning-holdup.json
    python -m heist_envs.training.study full --games holdup --config holdup-six --seeds 0 \\
        --json benchmarks/results/learning-six.json

- tiny: NashConv of the policy and of its average on the preset `tiny` of each game along the training, for PPO with entropy
  (`configs/tiny-ppo*.json`) and for magnetic mirror descent (`configs/tiny-mmd*.json`); then how often the averaged policy
  bluffs, betrays and stops, beside what CFR+ finds, and in Magpies what it loses by when it stops.
- full: from nothing with the game's own config, or another one of `configs`, then one seat of the averaged policy at a
  table of each rule-based style.

A run that the file already holds is not run again: a study that was stopped goes on.
"""

import json
import pathlib
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch

from heist_envs.agents.policy import PolicyAgent
from heist_envs.agents.push_your_luck import SmallGame
from heist_envs.agents.solver import nash_conv, strategy_of, uniform
from heist_envs.benchmarks.behaviour import rate_rows, rates_exactly
from heist_envs.benchmarks.push_your_luck import tiny_regrets
from heist_envs.benchmarks.solve import solved
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import Score, against_each, baselines
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES
from heist_envs.training.selfplay import CONFIGS, Config, Run, tiny_config, versions, walked

ALGORITHMS = ("PPO", "MMD")
FRESH = 3_000_000
"""The seed of the first deal that policies are judged on, far from those of training and of evaluations on the way."""


SECONDS = 60.0
"""After which CFR+ gives up; it takes a second or two."""


def curve(config: Config) -> dict[str, Any]:
    """NashConv along a run, and that of the uniform strategy; and what the averaged policy does in the end."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(replace(config, exact=True), pathlib.Path(folder) / "run")
        form = walked(config.game, {**config.options, "num_players": run.num_players}).form
        run.train()
        lines = (run.folder / "evaluation.jsonl").read_text().splitlines()
        stopping = {}
        if config.game == "magpies":
            regrets = tiny_regrets(SmallGame(**config.options), [str(run.folder / "average.safetensors")], config.seed)
            stopping = {"stopping": {found["sharing"]: found["share of the value"] for found in regrets["agents"]}}
    evaluations = [json.loads(line) for line in lines]
    return {
        "uniform": nash_conv(form, uniform(form)),
        "decisions": [one["decisions"] for one in evaluations],
        "policy": [one["policy"]["nash_conv"] for one in evaluations],
        "average": [one["average"]["nash_conv"] for one in evaluations],
        "gains": evaluations[-1]["average"]["gains"],
        "seconds": time.perf_counter() - start,
        "behaviour": behaviour(config, run.agent(averaged=True)),
        **stopping,
    }


def behaviour(config: Config, agent: PolicyAgent) -> list[dict[str, Any]]:
    """How often an agent in all seats answers yes to each question, exactly, and beside it the strategy that CFR+ finds."""
    tree, form = walked(config.game, {**config.options, "num_players": agent.card["num_players"]})
    learned = strategy_of([agent] * len(form.leaves), config.game, tree, form, 1, np.random.default_rng(config.seed))
    found = (rate_rows(rates_exactly(config.game, tree, form, s), 1) for s in (learned, solved(form, SECONDS)[1]))
    return [
        {
            "question": one["question"],
            "class": one["class"],
            "bluff": one["bluff"],
            "learned": one["rate"],
            "CFR+": two["rate"],
        }
        for one, two in zip(*found, strict=True)
    ]


def matches(config: Config, deals: int, folder: pathlib.Path | None = None) -> dict[str, Any]:
    """What the averaged policy of a run wins from each style, and how long the training took."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Run(config, (folder or pathlib.Path(scratch)) / f"{config.game}-{config.seed}")
        start = time.perf_counter()
        run.train()
        seconds = time.perf_counter() - start
        agent, n = run.agent(averaged=True), run.num_players
        lines = (run.folder / "evaluation.jsonl").read_text().splitlines()
    scores = against_each(config.game, agent, baselines(config.game), n, deals, FRESH, **config.options)
    return {
        "players": n,
        "decisions": run.model.num_timesteps,
        "seconds": seconds,
        "deals": deals,
        "against": {name: score._asdict() for name, score in scores.items()},
        "curve": [json.loads(line) for line in lines],
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.study", __doc__)
    parser.add_argument("kind", choices=("tiny", "full"))
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--seeds", nargs="+", type=int, default=None, help="default 0 to 4, or 0 to 2 on full games")
    parser.add_argument("--config", default=None, help="of full games, by its name in `configs`; default that of the game")
    parser.add_argument("--decisions", type=int, default=None, help="default as the config says")
    parser.add_argument("--threads", type=int, default=None, help="default as the config says")
    parser.add_argument("--deals", type=int, default=1000, help="that policies of full games are judged on")
    parser.add_argument("--folder", default=None, help="keep the runs of full games here")
    parser.add_argument("--json", required=True, help="the file of the result")
    given = parser.parse_args(arguments)
    file = pathlib.Path(given.json)
    result: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {"kind": given.kind, "runs": []}
    if result.get("kind") != given.kind:
        parser.error(f"{file} is not a study of {given.kind} tables")
    changes = {name: value for name in ("decisions", "threads") if (value := getattr(given, name)) is not None}
    for game in given.games:
        for seed in given.seeds or range(5 if given.kind == "tiny" else 3):
            for algorithm in ALGORITHMS if given.kind == "tiny" else ALGORITHMS[:1]:
                full = CONFIGS / f"{given.config or game}.json"
                own = tiny_config(algorithm.lower(), game) if given.kind == "tiny" else full
                config = Config.read(own, game=game, seed=seed, **changes)
                settings, usual = (json.loads(json.dumps(asdict(one))) for one in (config, Config()))
                if any(row["algorithm"] == algorithm and usual | row["config"] == settings for row in result["runs"]):
                    continue
                folder = pathlib.Path(given.folder) if given.folder else None
                found = curve(config) if given.kind == "tiny" else matches(config, given.deals, folder)
                about = {
                    "commit": commit(),
                    "machine": machine(),
                    "made_with": versions(),
                    "threads": torch.get_num_threads(),
                }
                result["runs"].append(
                    {"game": game, "algorithm": algorithm, "seed": seed, **about, **found, "config": settings}
                )
                file.write_text(json.dumps(result, indent=1) + "\n")
                print(words(result["runs"][-1]), flush=True)


def words(row: dict[str, Any]) -> str:
    """A run in a line."""
    start = f"{row['game']} {row['algorithm']} seed {row['seed']}, {row['seconds']:.0f} s: "
    if "against" in row:
        return start + ", ".join(f"{name} {Score(**score)}" for name, score in row["against"].items())
    policy, average = (100 * row[who][-1] / row["uniform"] for who in ("policy", "average"))
    return start + f"NashConv {policy:.1f}% of the uniform strategy's, of the averaged weights {average:.1f}%"


if __name__ == "__main__":
    launch(main)
