"""How many decisions a second are played and learned, beside the usual route, in one run.

    python -m heist_envs.training.throughput --json benchmarks/results/training-throughput.json

The usual route is MaskablePPO over one PettingZoo environment, wrapped so that whoever is to act is "the" agent: once as it
comes, with two layers of 64, 10 epochs and minibatches of 64, and once with the network, the epochs and the minibatches of
ours, so that nothing but the way of playing differs. Ours is a run of `selfplay` in which all seats learn. All play and
learn in turn, a few rounds of each; the ratio of their medians is what to trust, since machines drift.
"""

import json
import pathlib
import statistics
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

try:
    from sb3_contrib import MaskablePPO
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

import heist_envs
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES
from heist_envs.training.network import RegularizedPolicy
from heist_envs.training.selfplay import CONFIGS, Config, Run, versions


class WhoeverActs(gymnasium.Env[Any, Any]):
    """A PettingZoo environment as one agent's: the usual wrapper, which mixes the seats' rewards and is slow.

    It is here to be measured against and not to be used.
    """

    def __init__(self, game: str) -> None:
        self.env = heist_envs.make(game)
        agent = self.env.possible_agents[0]
        self.observation_space = self.env.observation_space(agent)["observation"]
        self.action_space = self.env.action_space(agent)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game."""
        super().reset(seed=seed)
        self.env.reset(seed)
        return self._seen()["observation"], {}

    def _seen(self) -> Any:
        return self.env.observe(self.env.agent_selection)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One decision of whoever is to act."""
        self.env.step(int(action))
        _, reward, terminated, truncated, _ = self.env.last(observe=False)
        return self._seen()["observation"], float(reward), terminated, truncated, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """Of whoever is to act."""
        mask: NDArray[np.bool_] = self._seen()["action_mask"].astype(bool)
        return mask


def models(run: Run) -> dict[str, MaskablePPO]:
    """What learns by self-play, and by the usual route."""
    c = run.config
    same: dict[str, Any] = {"policy_kwargs": run.model.policy_kwargs, "n_epochs": c.epochs, "batch_size": c.batch_size}
    return {
        "self-play": run.model,
        "usual": MaskablePPO("MlpPolicy", WhoeverActs(c.game), seed=c.seed, device="cpu"),
        "usual, our network": MaskablePPO(RegularizedPolicy, WhoeverActs(c.game), seed=c.seed, device="cpu", **same),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.throughput", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rollouts", type=int, default=4, help="of ours in a round")
    parser.add_argument("--decisions", type=int, default=2048, help="of the usual route in a round: rollouts of 2048")
    parser.add_argument("--threads", type=int, default=1, help="of the network, whoever learns")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "made_with": versions(), "threads": given.threads}
    result["games"] = {}
    for game in given.games:
        config = Config.read(CONFIGS / f"{game}.json", seed=given.seed, threads=given.threads, opponent_share=0.0)
        with tempfile.TemporaryDirectory() as folder:
            routes = models(Run(config, pathlib.Path(folder) / "run"))
            speeds: dict[str, list[float]] = {name: [] for name in routes}
            for k in range(given.rounds + 1):
                for name, model in routes.items():
                    decisions = given.rollouts * config.num_envs * config.steps if name == "self-play" else given.decisions
                    start, before = time.perf_counter(), model.num_timesteps
                    model.learn(decisions if k else 1, reset_num_timesteps=False)  # the first round compiles
                    speed = (model.num_timesteps - before) / (time.perf_counter() - start)
                    speeds[name] += [speed] * (k > 0)
        found = {name: statistics.median(values) for name, values in speeds.items()}
        result["games"][game] = {"decisions a second": found, "hidden": config.hidden, "part_width": config.part_width}
        times = ", ".join(f"{found['self-play'] / found[name]:.0f} times {name}" for name in list(found)[1:])
        print(f"{game}: {found['self-play']:,.0f} decisions a second played and learned: {times}", flush=True)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
