"""PPO of RLlib (extra `[rllib]`), for more than one machine: one policy plays and learns all seats of a game.

    python -m heist_envs.training.rllib --game holdup --preset tiny --iterations 20
    python -m heist_envs.training.rllib --game holdup --runners 64 --address auto

Two routes lead from a game to RLlib's learner.

`HeistMultiAgentEnv` is the one for RLlib as it comes: any runner, module and algorithm of its new API stack takes it. Its
runner keeps Python objects for each decision of each agent, and its learner for each agent of each game; where games are
short, these cost far more than the games and the network together.

`BatchRunner` and `SeatAdvantages` are the other, and the default: a runner plays many games of one compiled batch, each to
its end, with one pass of the network for all of them, and hands on arrays (`Decisions`); the learner estimates advantages
along each seat's own decisions. The rest is RLlib's: its workers, its PPO, its spreading of weights.
"""

import itertools
import json
import pathlib
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

try:
    import ray
    import torch
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.connectors.connector_v2 import ConnectorV2
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.distribution.torch.torch_distribution import TorchCategorical
    from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
    from ray.rllib.core.rl_module.apis import ValueFunctionAPI
    from ray.rllib.core.rl_module.torch import TorchRLModule
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
    from ray.rllib.evaluation.postprocessing import Postprocessing
    from ray.rllib.utils.metrics import (
        ENV_RUNNER_RESULTS,
        EPISODE_LEN_MEAN,
        LEARNER_RESULTS,
        NUM_ENV_STEPS_SAMPLED,
        NUM_ENV_STEPS_SAMPLED_LIFETIME,
        NUM_EPISODES,
    )
    from ray.rllib.utils.postprocessing.value_predictions import compute_value_targets
except ModuleNotFoundError as missing:
    raise ImportError(f"this needs {missing.name}: pip install 'heist-envs[rllib]'") from missing

import heist_envs
from heist_envs.aec import observation_space
from heist_envs.agents.policy import PolicyAgent, card_of
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.command import CommandParser, launch
from heist_envs.engine import HOLD, Batch
from heist_envs.games import GAMES, load

SHARED = "shared"
"""The module that plays every seat."""
OWN_GAMES = 128
"""Games that RLlib's own runner plays together."""
NEVER = -1e9
"""The logit of an illegal action: its probability is 0, and the entropy and its gradient stay finite."""


@dataclass(frozen=True)
class Config:
    """Everything that a run depends on.

    Raises:
        ValueError: a number that is not allowed.
    """

    game: str = "holdup"
    num_players: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    iterations: int = 20
    runners: int = 2
    """Processes that play, on whatever machines Ray has; 0: the learner plays itself."""
    games: int = 128
    """Games that a runner plays together, each to its end: less than an iteration's decisions should be in them."""
    decisions: int = 8192
    """Least number of decisions, of all seats and runners together, to learn from in an iteration."""
    batch_size: int = 1024
    epochs: int = 4
    learning_rate: float = 1e-3
    entropy: float = 0.02
    clip: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.95
    hidden: tuple[int, ...] = (128, 128)

    def __post_init__(self) -> None:
        least = {"iterations": 0, "runners": 0, "games": 1, "decisions": 2, "batch_size": 2, "epochs": 1}
        for name, low in least.items():
            if getattr(self, name) < low:
                raise ValueError(f"got {name}={getattr(self, name)}: at least {low}")

    @property
    def table(self) -> dict[str, Any]:
        """The options of the game, the number of players among them where it is given."""
        return self.options if self.num_players is None else {"num_players": self.num_players, **self.options}


class HeistMultiAgentEnv(MultiAgentEnv):
    """One game for RLlib as it comes, with agents `player_0`, `player_1`, … of which one acts at each step.

    Observations are `{"observations": int8 (D,), "action_mask": int8 (A,)}`, of the agent that is to act alone. With the
    last step every agent that has acted gets its last observation, with an all-ones mask, and its reward; one that was
    never asked has no part in the episode.

    Args:
        config: game, the name; table, the options of the game.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        self.env = heist_envs.make(config["game"], **config["table"])
        self.possible_agents = self.env.possible_agents
        seen = observation_space(load(config["game"]))
        space = spaces.Dict({"observations": seen["observation"], "action_mask": seen["action_mask"]})
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = self.env.action_spaces
        self.agents: list[str] = []
        self._acted: set[str] = set()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Start a new game; None goes on in the stream of the game before. `options` has no meaning here."""
        self.env.reset(seed)
        self.agents = list(self.possible_agents)
        self._acted = set()
        return self._look([self.env.agent_selection]), {}

    def step(self, actions: dict[str, int]) -> tuple[Any, Any, Any, Any, Any]:
        """Play the action of the agent who is to act.

        Raises:
            TypeError: an action that is not an integer.
            ValueError: an action that is not legal; nothing has been changed.
        """
        env = self.env
        agent = env.agent_selection
        env.step(actions[agent])
        self._acted.add(agent)
        terminated, truncated = env.terminations[agent], env.truncations[agent]
        if not (terminated or truncated):
            # RLlib wants a reward, if only 0, of an agent that acts several times running.
            return self._look([env.agent_selection]), {agent: 0.0}, {"__all__": False}, {"__all__": False}, {}
        there = [one for one in self.possible_agents if one in self._acted]
        self.agents = []
        rewards = {one: env.rewards[one] for one in there}
        return (
            self._look(there),
            rewards,
            dict.fromkeys([*there, "__all__"], terminated),
            dict.fromkeys([*there, "__all__"], truncated),
            {},
        )

    def _look(self, agents: list[str]) -> dict[str, dict[str, NDArray[np.int8]]]:
        seen = {agent: self.env.observe(agent) for agent in agents}
        return {a: {"observations": s["observation"], "action_mask": s["action_mask"]} for a, s in seen.items()}


def perceptron(sizes: Sequence[int]) -> torch.nn.Sequential:
    """Linear layers from each size to the next with ReLU between them."""
    layers: list[torch.nn.Module] = []
    for before, after in itertools.pairwise(sizes):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1])


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):
    """A policy and a value network over the scaled observation; illegal actions have probability 0.

    `model_config` has scale, what each observation entry is divided by, and hidden, the sizes of the hidden layers.
    """

    def setup(self) -> None:
        """Make the networks."""
        scale, hidden = self.model_config["scale"], self.model_config["hidden"]
        self.register_buffer("scale", torch.tensor(scale, dtype=torch.float32))
        self.policy = perceptron([len(scale), *hidden, self.action_space.n])
        self.value = perceptron([len(scale), *hidden, 1])
        self.action_dist_cls = TorchCategorical

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        logits = self.policy(seen["observations"] / self.scale)
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(seen["action_mask"] == 0, NEVER)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """What each observation is worth to who sees it, float (N,)."""
        values: torch.Tensor = self.value(batch[Columns.OBS]["observations"] / self.scale)[:, 0]
        return values


@dataclass
class Decisions:
    """All decisions in some whole games, ordered by game, then seat, then time: what a runner hands to the learner.

    RLlib asks of an experience only its length. An object of its own for each seat of each game would cost more to make, to
    send and to read than all the rest together.
    """

    games: NDArray[np.int32]
    """(M,); seats, int8 (M,)."""
    seats: NDArray[np.int8]
    observations: NDArray[np.int8]
    """(M, D); action_masks, int8 (M, A)."""
    action_masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    """(M,)."""
    logits: NDArray[np.float32]
    """(M, A), of the policy that took them."""
    rewards: NDArray[np.float32]
    """(M,): what the seat got from this decision to its next one, the whole return with its last."""

    def __len__(self) -> int:
        return len(self.games)

    @property
    def ends(self) -> NDArray[np.bool_]:
        """Which are the last of their seat in their game, bool (M,)."""
        return np.append((np.diff(self.games) != 0) | (np.diff(self.seats) != 0), True)


class BatchRunner(MultiAgentEnvRunner):
    """Plays many games of one compiled batch with one pass of the network for all of them.

    RLlib sends it weights and asks it for samples as it does with its own.
    """

    def make_env(self) -> None:
        """RLlib's environment, which says the spaces, and the games."""
        super().make_env()
        given = self.config.env_config
        module = load(given["game"])
        states = np.repeat(module.new_initial_state(**given["table"]), given["games"])
        self.batch = Batch(module, states, autoreset=False)
        self.batch.reset(None if self._seed is None else self._seed * given["games"])

    def sample(self, **kwargs: Any) -> list[Decisions]:
        """Play every game to its end; the decisions in them."""
        played = play_games(self.batch, self.module[SHARED])
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED, len(played), reduce="sum")
        self.metrics.log_value(NUM_ENV_STEPS_SAMPLED_LIFETIME, len(played), reduce="lifetime_sum", with_throughput=True)
        self.metrics.log_value(NUM_EPISODES, len(self.batch), reduce="sum")
        self.metrics.log_value(EPISODE_LEN_MEAN, len(played) / len(self.batch), reduce="mean")
        return [played]


def play_games(batch: Batch, policy: MaskedPolicy) -> Decisions:
    """Start all games anew and play each to its end; the batch must not have autoreset."""
    batch.reset()
    actions = np.full(len(batch), HOLD)
    steps = []
    while len(rows := np.flatnonzero(~(batch.terminations | batch.truncations))):
        seen, masks = batch.observations[rows], batch.masks[rows]
        given = {"observations": torch.from_numpy(seen), "action_mask": torch.from_numpy(masks)}
        with torch.inference_mode():
            logits = policy.forward_exploration({Columns.OBS: given})[Columns.ACTION_DIST_INPUTS]
            chosen = TorchCategorical(logits=logits).sample().numpy()
        steps.append((rows.astype(np.int32), batch.players[rows], seen, masks, chosen, logits.numpy()))
        actions[rows] = chosen
        batch.step(actions)
        actions[rows] = HOLD
    columns = [np.concatenate(column) for column in zip(*steps, strict=True)]
    order = np.lexsort((columns[1], columns[0]))  # stable: time stays in order
    games, seats, observations, action_masks, taken, said = (column[order] for column in columns)
    rewards = np.zeros(len(order), np.float32)
    played = Decisions(games, seats, observations, action_masks, taken, said, rewards)
    last = played.ends
    played.rewards[last] = batch.rewards[played.games[last], played.seats[last]]
    return played


class SeatAdvantages(ConnectorV2):
    """The learner's batch from `Decisions`, with advantages along each seat's own decisions, brought to mean 0, deviation 1.

    A game that is cut off at its limit is over like any other, with rewards for all, so nothing is guessed beyond an end.
    """

    def __init__(self, *spaces: Any, gamma: float, gae_lambda: float) -> None:
        super().__init__(*spaces)
        self.gamma = gamma
        self.gae_lambda = gae_lambda

    def __call__(self, *, rl_module: Any, episodes: list[Decisions], **kwargs: Any) -> dict[str, Any]:
        """Columns of the one module, tensors (M, …)."""
        module = rl_module[SHARED].unwrapped()

        def column(name: str) -> torch.Tensor:
            joined = np.concatenate([getattr(one, name) for one in episodes])
            return torch.from_numpy(joined).to(module.scale.device)

        batch = {
            Columns.OBS: {"observations": column("observations"), "action_mask": column("action_masks")},
            Columns.ACTIONS: column("actions"),
            Columns.ACTION_DIST_INPUTS: column("logits"),
        }
        with torch.no_grad():
            values = module.compute_values(batch)
        targets = torch.from_numpy(
            compute_value_targets(
                values=values.cpu().numpy(),
                rewards=column("rewards").cpu().numpy(),
                terminateds=column("ends").cpu().numpy().astype(np.float32),
                truncateds=np.zeros(len(values), np.float32),
                gamma=self.gamma,
                lambda_=self.gae_lambda,
            )
        ).to(values.device)
        advantages = targets - values
        batch[Columns.ACTION_LOGP] = TorchCategorical(logits=batch[Columns.ACTION_DIST_INPUTS]).logp(batch[Columns.ACTIONS])
        batch[Postprocessing.VALUE_TARGETS] = targets
        batch[Postprocessing.ADVANTAGES] = (advantages - advantages.mean()) / advantages.std().clamp(min=1e-4)
        return {SHARED: batch}


def ppo_config(config: Config, batched: bool = True) -> PPOConfig:
    """RLlib's own configuration, by the one route or the other (`batched`)."""
    ppo = (
        PPOConfig()
        .environment(
            HeistMultiAgentEnv,
            env_config={"game": config.game, "table": config.table, "games": config.games},
            disable_env_checking=True,  # the check plays without the mask
        )
        # Steps are counted by decisions: counted by agents, one that is missing from an episode breaks the average.
        .multi_agent(policies={SHARED}, policy_mapping_fn=lambda *_, **__: SHARED, count_steps_by="env_steps")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    SHARED: RLModuleSpec(
                        MaskedPolicy,
                        model_config={
                            "scale": load(config.game).OBSERVATION.scale.tolist(),
                            "hidden": list(config.hidden),
                        },
                    )
                }
            )
        )
        .env_runners(num_env_runners=config.runners)
        .learners(num_learners=0, num_gpus_per_learner=0)
        .training(
            train_batch_size_per_learner=config.decisions,
            minibatch_size=config.batch_size,
            num_epochs=config.epochs,
            lr=config.learning_rate,
            entropy_coeff=config.entropy,
            clip_param=config.clip,
            gamma=config.gamma,
            lambda_=config.gae_lambda,
            use_kl_loss=False,
            vf_loss_coeff=0.5,
            vf_clip_param=float("inf"),
            grad_clip=0.5,
        )
        .debugging(seed=config.seed)
    )
    if not batched:
        # Its runner goes through all that a fragment has gathered at every step: many games at once and short fragments.
        fragment = max(1, min(8, config.decisions // (OWN_GAMES * max(1, config.runners))))
        return ppo.env_runners(num_envs_per_env_runner=OWN_GAMES, rollout_fragment_length=fragment)

    def advantages(*spaces: Any) -> SeatAdvantages:
        return SeatAdvantages(*spaces, gamma=config.gamma, gae_lambda=config.gae_lambda)

    return ppo.env_runners(env_runner_cls=BatchRunner).learners(
        learner_connector=advantages, add_default_connectors_to_learner_pipeline=False
    )


def policy_agent(weights: Mapping[str, NDArray[np.float32]], card: dict[str, Any]) -> PolicyAgent:
    """The policy of a `MaskedPolicy` as an agent, from the module's state."""
    layers = sorted({int(name.split(".")[1]) for name in weights if name.startswith("policy.")})
    named = {
        f"layer{k}.{part}": np.array(weights[f"policy.{layer}.{part}"])
        for k, layer in enumerate(layers)
        for part in ("weight", "bias")
    }
    return PolicyAgent(named, np.array(weights["scale"]), card)


def iterate(algorithm: Any) -> dict[str, float]:
    """One iteration: its decisions, its seconds, and the entropy of the policy.

    Raises:
        RuntimeError: all runners failed.
    """
    start = time.perf_counter()
    result = algorithm.train()
    if ENV_RUNNER_RESULTS not in result:
        raise RuntimeError("no runner could play: what stopped them is in Ray's log")
    return {
        "decisions": int(result[ENV_RUNNER_RESULTS][NUM_ENV_STEPS_SAMPLED]),
        "seconds": time.perf_counter() - start,
        "entropy": float(result[LEARNER_RESULTS][SHARED]["entropy"]),
    }


def learn(
    config: Config, batched: bool = True, watch: Callable[[dict[str, float]], None] = lambda row: None
) -> tuple[PolicyAgent, list[dict[str, float]]]:
    """Train on the Ray that this process is connected to (`ray.init`).

    Args:
        config: the run.
        batched: by `BatchRunner`, or else by RLlib's own runner.
        watch: called with what `iterate` says of each iteration.

    Returns:
        The policy, and what `iterate` said.
    """
    algorithm = ppo_config(config, batched).build_algo()
    rows: list[dict[str, float]] = []
    try:
        for _ in range(config.iterations):
            rows.append(iterate(algorithm))
            watch(rows[-1])
        weights = algorithm.learner_group.get_weights()[SHARED]
    finally:
        algorithm.stop()
    players = int(load(config.game).new_initial_state(**config.table)["num_players"][0])
    done = int(sum(row["decisions"] for row in rows))
    card = card_of(
        config.game, players, config.options, decisions=done, config=asdict(config), made_with={"ray": ray.__version__}
    )
    return policy_agent(weights, card), rows


def compare(config: Config, rounds: int = 6) -> dict[str, Any]:
    """Decisions a second, played and learned from, by both routes in turn; Ray must have room for the runners of both.

    Medians over the rounds but the first. Machines drift: the ratio within a round is what to trust.
    """
    routes = {"RLlib's runner": False, "BatchRunner": True}
    algorithms = {name: ppo_config(config, batched).build_algo() for name, batched in routes.items()}
    rates: dict[str, list[float]] = {name: [] for name in routes}
    try:
        for _ in range(rounds):
            for name, algorithm in algorithms.items():
                row = iterate(algorithm)
                rates[name].append(row["decisions"] / row["seconds"])
    finally:
        for algorithm in algorithms.values():
            algorithm.stop()
    base = rates["RLlib's runner"]
    return {
        "commit": commit(),
        "machine": machine() | {"ray": ray.__version__, "torch": torch.__version__},
        "config": asdict(config),
        "rounds": rounds - 1,
        "routes": {
            name: {
                "per_second": statistics.median(found[1:]),
                "ratio": statistics.median(a / b for a, b in zip(found[1:], base[1:], strict=True)),
            }
            for name, found in rates.items()
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.rllib", __doc__)
    default = Config()
    parser.add_argument("--game", choices=GAMES, default=default.game)
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--preset", default=None)
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--iterations", type=int, default=default.iterations)
    parser.add_argument("--runners", type=int, default=default.runners, help="processes that play, on all machines together")
    parser.add_argument("--games", type=int, default=default.games, help="games that each of them plays together")
    parser.add_argument("--decisions", type=int, default=default.decisions, help="decisions to learn from in an iteration")
    parser.add_argument(
        "--address", default=None, help="a running Ray cluster, 'auto' on one of its machines; else this one"
    )
    parser.add_argument("--folder", default=None, help="where the policy is kept; default runs/rllib-<game>-<time>")
    parser.add_argument("--json", default=None, help="measure both routes as well, and write what they do a second here")
    given = parser.parse_args(arguments)
    config = Config(
        game=given.game,
        num_players=given.players,
        options={} if given.preset is None else {"preset": given.preset},
        seed=given.seed,
        iterations=given.iterations,
        runners=given.runners,
        games=given.games,
        decisions=given.decisions,
    )
    folder = pathlib.Path(given.folder or f"runs/rllib-{given.game}-{time.strftime('%Y%m%d-%H%M%S')}")
    if (folder / "policy.safetensors").exists():
        raise FileExistsError(f"{folder} already holds a policy: give another folder")
    # The learner waits while the runners play, so that two runners keep two cores busy.
    room = max(1, config.runners) * (1 if given.json is None else 2)
    here = {"num_cpus": room, "include_dashboard": False} if given.address is None else {}
    ray.init(address=given.address or "local", **here)
    try:

        def watch(row: dict[str, float]) -> None:
            rate = row["decisions"] / row["seconds"]
            print(f"{row['decisions']:.0f} decisions, {rate:,.0f} a second, entropy {row['entropy']:.3f}", flush=True)

        agent, rows = learn(config, watch=watch)
        folder.mkdir(parents=True, exist_ok=True)
        agent.save(folder / "policy.safetensors")
        (folder / "iterations.json").write_text(json.dumps(rows, indent=2) + "\n")
        if given.json is not None:
            found = compare(config)
            pathlib.Path(given.json).write_text(json.dumps(found, indent=2) + "\n")
            print(json.dumps(found["routes"], indent=2))
    finally:
        ray.shutdown()
    print(f"the policy is in {folder}")


if __name__ == "__main__":
    launch(main)
