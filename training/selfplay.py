"""Self-play with sb3-contrib's MaskablePPO: one network plays and learns all seats.

    python -m heist_envs.training.selfplay --game holdup --folder runs/holdup

Two faults of the usual wrapper are avoided. It pairs the next player's observation with this player's reward; here every
advantage is computed along one seat's own decisions (`seat_advantages`). And its defaults suit other problems: entropy 0.0
and batches of 64 do not learn to bluff; here the defaults of `Config` apply.

Self-play alone settles on some convention, and with more than two players nothing says that it does well against others who
keep another one: in Hold-up it drifts to a lower band of cards than the rule-based players' and then loses to three of them.
So in a share of the games (`opponent_share`) one seat learns and the others are played by fixed agents (`opponents`).

A run is a folder: config.json, TensorBoard and CSV metrics, evaluation.jsonl, the newest checkpoint, and the policy as
safetensors with a card. After a kill, `--resume` goes on from the checkpoint to the very same weights.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import safetensors
    import safetensors.torch
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger, make_output_format
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
    from tqdm import tqdm
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

import heist_envs
from heist_envs.agents import make_agent
from heist_envs.agents.learner import EVERY_SEAT, LearnerBatch
from heist_envs.agents.policy import PolicyAgent
from heist_envs.benchmarks.tournament import one_against_many
from heist_envs.games import GAMES, load
from heist_envs.options import options_hash
from heist_envs.rules import compiled
from heist_envs.sb3 import HeistVecEnv


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
    opponents: tuple[str, ...] = ("rule",)
    """Agents (`make_agent`) that play the other seats in some of the games, one kind a table."""
    opponent_share: float = 0.5
    """Share of the games in which they do."""
    decisions: int = 6_000_000
    """Decisions of the learning seats together."""
    num_envs: int = 512
    steps: int = 64
    """Decisions per game in each rollout."""
    batch_size: int = 4096
    epochs: int = 4
    learning_rate: float = 1e-3
    """At the start; it falls linearly to 0."""
    entropy: float = 0.02
    clip: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.95
    hidden: tuple[int, ...] = (128, 128)
    checkpoint_every: int = 500_000
    """Decisions between checkpoints."""
    evaluate_every: int = 500_000
    """Decisions between evaluations."""
    evaluation_deals: int = 200

    def __post_init__(self) -> None:
        least = {"decisions": 1, "num_envs": 1, "steps": 1, "batch_size": 2, "epochs": 1, "evaluation_deals": 2}
        for name, low in (least | {"checkpoint_every": 1, "evaluate_every": 1}).items():
            if getattr(self, name) < low:
                raise ValueError(f"got {name}={getattr(self, name)}: at least {low}")
        if not 0 <= self.opponent_share <= 1:
            raise ValueError(f"got opponent_share={self.opponent_share}: from 0 to 1")
        if self.opponent_share > 0 and not self.opponents:
            raise ValueError(f"got no opponents for opponent_share={self.opponent_share}: name some, or set the share to 0")
        if self.learning_rate <= 0 or self.entropy < 0:
            raise ValueError(f"got learning_rate={self.learning_rate}, entropy={self.entropy}: above 0, and at least 0")


class SelfPlayVecEnv(HeistVecEnv):
    """The batch as Stable-Baselines3 sees it: in each game, whoever of the learning seats is to act.

    In most games all seats learn. In the first `opponent_share` of them one seat does, another from game to game, and an
    opponent answers for the rest before the step is over.

    Rewards are for all seats, so the one number per game that a VecEnv returns is 0, and `SeatRolloutBuffer` takes who
    acted, the rewards and the ends of the last step from `games`.
    """

    def __init__(self, config: Config) -> None:
        vec = heist_envs.make_vec(config.game, config.num_envs, config.num_players, **config.options)
        pool = [make_agent(name, config.game) for name in config.opponents]
        games = np.arange(config.num_envs)
        answered = games < config.opponent_share * config.num_envs
        learning = np.where(answered, games // max(1, len(pool)) % vec.num_players, EVERY_SEAT)
        answering = np.repeat(games[:, None] % max(1, len(pool)), vec.num_players, axis=1)
        super().__init__(LearnerBatch(vec.batch, learning, pool, answering))
        self._no_rewards = np.zeros(config.num_envs, np.float32)
        self._no_infos: list[dict[str, Any]] = [{}] * config.num_envs

    def step_wait(self) -> Any:
        """One decision in every game."""
        self.games.step(self.games.batch.check_actions(self._actions))
        return self.games.batch.observations.copy(), self._no_rewards, self.games.ended.copy(), self._no_infos


@compiled
def seat_advantages(
    values: NDArray[np.float32],
    rewards: NDArray[np.float32],
    seats: NDArray[np.int8],
    ended: NDArray[np.bool_],
    last_values: NDArray[np.float32],
    gamma: float,
    gae_lambda: float,
    advantages: NDArray[np.float32],
) -> None:
    """Generalised advantage estimates (Schulman et al. 2016) along each seat's own decisions.

    From one decision of a seat to its next, in the same game, it collects all its rewards in between, whoever acted.

    Args:
        values: the value of each decision for the seat that took it, float32 (T, N).
        rewards: what every seat got by the step, float32 (T, N, num_players).
        seats: who took the decision, int8 (T, N).
        ended: the game ended with the step, bool (T, N).
        last_values: what the position after the last step is worth to each seat, float32 (N, num_players).
        gamma: discount per own decision.
        gae_lambda: of the estimate.
        advantages: written, float32 (T, N).
    """
    num_steps, num_envs, num_players = rewards.shape
    collected = np.zeros(num_players, np.float32)
    next_value = np.zeros(num_players, np.float32)
    next_advantage = np.zeros(num_players, np.float32)
    for i in range(num_envs):
        for player in range(num_players):
            next_value[player] = last_values[i, player]
            next_advantage[player] = 0
            collected[player] = 0
        for t in range(num_steps - 1, -1, -1):
            for player in range(num_players):
                if ended[t, i]:
                    next_value[player] = 0
                    next_advantage[player] = 0
                    collected[player] = 0
                collected[player] += rewards[t, i, player]
            seat = seats[t, i]
            delta = collected[seat] + gamma * next_value[seat] - values[t, i]
            advantages[t, i] = delta + gamma * gae_lambda * next_advantage[seat]
            next_advantage[seat] = advantages[t, i]
            next_value[seat] = values[t, i]
            collected[seat] = 0


class SeatRolloutBuffer(MaskableRolloutBuffer):
    """A rollout of all seats' decisions, with advantages along each seat's own."""

    def __init__(self, *args: Any, env: SelfPlayVecEnv, seed: int, **kwargs: Any) -> None:
        self.env = env
        self.rng = np.random.default_rng(seed)
        self.values_of: Callable[[NDArray[np.int8]], NDArray[np.float32]]
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        self.seats = np.zeros((self.buffer_size, self.n_envs), np.int8)
        self.seat_rewards = np.zeros((self.buffer_size, *self.env.games.rewards.shape), np.float32)
        self.ended = np.zeros((self.buffer_size, self.n_envs), np.bool_)

    def add(self, *args: Any, **kwargs: Any) -> None:
        """Take one decision of every game, and what the environment says of it."""
        self.seats[self.pos] = self.env.games.acted
        self.seat_rewards[self.pos] = self.env.games.rewards
        self.ended[self.pos] = self.env.games.ended
        super().add(*args, **kwargs)

    def compute_returns_and_advantage(self, last_values: Any, dones: Any) -> None:
        """Advantages and returns; what lies behind the rollout is worth what the network says of each seat's view."""
        views = self.env.games.batch.observe_seats()
        behind = self.values_of(views.reshape(-1, views.shape[-1])).reshape(self.n_envs, -1)
        seat_advantages(
            self.values,
            self.seat_rewards,
            self.seats,
            self.ended,
            behind,
            float(self.gamma),
            float(self.gae_lambda),
            self.advantages,
        )
        self.returns = self.advantages + self.values

    def get(  # type: ignore[override]  # as the parent class does
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """All decisions in random order, from a generator of the buffer's own."""
        names = ["observations", "actions", "values", "log_probs", "advantages", "returns", "action_masks"]
        if not self.generator_ready:
            for name in names:
                setattr(self, name, self.swap_and_flatten(getattr(self, name)))
            self.generator_ready = True
        total = self.buffer_size * self.n_envs
        order = self.rng.permutation(total)
        size = batch_size or total
        for start in range(0, total, size):
            if total - start > 1:  # advantages are divided by their deviation, which a single one has not
                yield self._get_samples(order[start : start + size])


class ScaledObservation(BaseFeaturesExtractor):
    """The observation divided by the scale of each feature."""

    def __init__(self, observation_space: Any, scale: NDArray[np.float32]) -> None:
        super().__init__(observation_space, features_dim=len(scale))
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.from_numpy(scale.copy()))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Float (N, D)."""
        return observations / self.scale


def policy_agent(model: MaskablePPO, card: dict[str, Any]) -> PolicyAgent:
    """The model's policy of this moment as an agent, in arrays of its own."""
    layers = [m for m in model.policy.mlp_extractor.policy_net if isinstance(m, torch.nn.Linear)]
    layers.append(model.policy.action_net)  # type: ignore[arg-type]
    weights = {}
    for k, layer in enumerate(layers):
        weights[f"layer{k}.weight"] = layer.weight.detach().cpu().numpy().copy()
        weights[f"layer{k}.bias"] = layer.bias.detach().cpu().numpy().copy()
    scale = model.policy.features_extractor.scale.cpu().numpy().copy()  # type: ignore[operator]
    return PolicyAgent(weights, scale, card)


Measure = Callable[[PolicyAgent], dict[str, float]]


class Run:
    """One training run in a folder: `Run(config, folder).train()`, or `Run.resumed(folder).train()`.

    `measure(agent)` adds numbers of the caller's own to each evaluation.

    Raises:
        FileExistsError: the folder already holds a run.
    """

    def __init__(
        self, config: Config, folder: str | pathlib.Path, measure: Measure | None = None, _resume: bool = False
    ) -> None:
        self.config = config
        self.measure = measure or (lambda agent: {})
        self.folder = pathlib.Path(folder)
        self._checkpoint = self.folder / "checkpoint.safetensors"
        if (self.folder / "config.json").exists() and not _resume:
            raise FileExistsError(f"{self.folder} already holds a run: give another folder, or --resume to go on")
        self.env = SelfPlayVecEnv(config)
        self.env.seed(config.seed)
        self.num_players = self.env.games.batch.num_players
        self.model = self._new_model()
        self.folder.mkdir(parents=True, exist_ok=True)
        if _resume:
            self._load_checkpoint()
        else:
            (self.folder / "config.json").write_text(json.dumps(asdict(config), indent=2) + "\n")
        done = self.model.num_timesteps
        self._forget_evaluations_after(done)
        # One CSV file for each part of a run that was interrupted: SB3's writer begins its file anew.
        outputs = [("tensorboard", ""), ("csv", f"-{done}")]
        self.model.set_logger(Logger(str(self.folder), [make_output_format(k, str(self.folder), s) for k, s in outputs]))

    @classmethod
    def resumed(cls, folder: str | pathlib.Path, measure: Measure | None = None) -> "Run":
        """The run in a folder, at its newest checkpoint, or at its beginning where it had none.

        Raises:
            FileNotFoundError: the folder holds no run.
        ValueError: its config or checkpoint is not one of this version.
        """
        path = pathlib.Path(folder) / "config.json"
        if not path.exists():
            raise FileNotFoundError(f"{folder} holds no run to resume: it has no config.json")
        try:
            saved = json.loads(path.read_text())
            config = Config(**{**saved, "hidden": tuple(saved["hidden"]), "opponents": tuple(saved["opponents"])})
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is not the config of a run of this version: {error}") from error
        return cls(config, folder, measure, _resume=True)

    def _new_model(self) -> MaskablePPO:
        c = self.config
        scale = load(c.game).OBSERVATION.scale
        model = MaskablePPO(
            "MlpPolicy",
            self.env,
            learning_rate=lambda remaining: c.learning_rate * remaining,
            n_steps=c.steps,
            batch_size=c.batch_size,
            n_epochs=c.epochs,
            gamma=c.gamma,
            gae_lambda=c.gae_lambda,
            clip_range=c.clip,
            ent_coef=c.entropy,
            seed=c.seed,
            device="cpu",
            rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"env": self.env, "seed": c.seed},
            policy_kwargs={
                "net_arch": list(c.hidden),
                "activation_fn": torch.nn.ReLU,
                "features_extractor_class": ScaledObservation,
                "features_extractor_kwargs": {"scale": scale},
            },
        )

        def values_of(observations: NDArray[np.int8]) -> NDArray[np.float32]:
            with torch.no_grad():
                made: NDArray[np.float32] = model.policy.predict_values(torch.from_numpy(observations)).numpy()[:, 0]
                return made

        model.rollout_buffer.values_of = values_of  # type: ignore[attr-defined]
        return model

    @property
    def card(self) -> dict[str, Any]:
        """What the policy of this moment is."""
        module = load(self.config.game)
        return {
            "game": module.NAME,
            "version": module.VERSION,
            "num_players": self.num_players,
            "options": self.config.options,
            "options_hash": options_hash(module, {"num_players": self.num_players, **self.config.options}),
            "decisions": int(self.model.num_timesteps),
            "config": asdict(self.config),
            "made_with": versions(),
        }

    def agent(self) -> PolicyAgent:
        """The policy of this moment."""
        return policy_agent(self.model, self.card)

    def train(self, callback: BaseCallback | None = None) -> PolicyAgent:
        """Train to the end of the configured decisions and save the policy.

        After Ctrl-C the policy of that moment is saved, and `resumed` goes on from the newest checkpoint.
        """
        watch = _Watch(self)
        remaining = self.config.decisions - self.model.num_timesteps
        try:
            if remaining > 0:
                callbacks: list[BaseCallback] = [watch] if callback is None else [watch, callback]
                self.model.learn(remaining, callback=callbacks, reset_num_timesteps=self.model.num_timesteps == 0)
            if watch.interrupted:
                print(f"\nstopped; from the newest checkpoint go on with --resume --folder {self.folder}")
            else:
                self.save_checkpoint()
        finally:
            watch.close()
            self.model.logger.close()
        agent = self.agent()
        agent.save(self.folder / "policy.safetensors")
        return agent

    def save_checkpoint(self) -> None:
        """Write all that the next decision depends on, at once or not at all.

        It holds where the games stand between two rollouts, so it is called there (`_Watch`).
        """
        optimizer = self.model.policy.optimizer.state_dict()
        tensors = {f"policy.{name}": tensor for name, tensor in self.model.policy.state_dict().items()}
        for k, moments in optimizer["state"].items():
            tensors |= {f"optimizer.{k}.{name}": torch.as_tensor(value) for name, value in moments.items()}
        tensors["torch_rng"] = torch.get_rng_state()
        tensors["games"] = torch.frombuffer(bytearray(self.env.games.batch.to_bytes()), dtype=torch.uint8)
        buffer = self.model.rollout_buffer
        counters = {
            "num_timesteps": int(self.model.num_timesteps),
            "n_updates": int(self.model._n_updates),
            "opponent_rng": self.env.games.rng.bit_generator.state,
            "buffer_rng": buffer.rng.bit_generator.state,  # type: ignore[attr-defined]
        }
        fresh = self._checkpoint.with_suffix(".new")
        tensors = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
        safetensors.torch.save_file(tensors, fresh, metadata={"counters": json.dumps(counters)})
        os.replace(fresh, self._checkpoint)

    def _load_checkpoint(self) -> None:
        if not self._checkpoint.exists():
            return
        model = self.model
        with safetensors.safe_open(self._checkpoint, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
            counters = json.loads((file.metadata() or {}).get("counters", "{}"))
        moments = sum(name.startswith("optimizer.") for name in tensors)
        if not counters or moments != 3 * len(list(model.policy.parameters())):
            raise ValueError(f"{self._checkpoint} is not a checkpoint of this run: counters or optimizer state are missing")
        prefix = "policy."
        model.policy.load_state_dict({n[len(prefix) :]: t for n, t in tensors.items() if n.startswith(prefix)})
        optimizer = model.policy.optimizer.state_dict()
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                _, k, moment = name.split(".")
                optimizer["state"].setdefault(int(k), {})[moment] = tensor
        model.policy.optimizer.load_state_dict(optimizer)
        torch.set_rng_state(tensors["torch_rng"])
        games = self.env.games
        games.batch.load_bytes(tensors["games"].numpy().tobytes())
        games.rng = np.random.default_rng()
        games.rng.bit_generator.state = counters["opponent_rng"]
        model._last_obs = games.batch.observations.copy()
        model._last_episode_starts = np.zeros(self.config.num_envs, np.bool_)
        model.num_timesteps = counters["num_timesteps"]
        model._n_updates = counters["n_updates"]
        model.rollout_buffer.rng.bit_generator.state = counters["buffer_rng"]  # type: ignore[attr-defined]

    def _forget_evaluations_after(self, decisions: int) -> None:
        """What was evaluated between the checkpoint and a kill will be evaluated again."""
        path = self.folder / "evaluation.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        kept = [line for line in lines if decisions and json.loads(line)["decisions"] <= decisions]
        path.write_text("".join(line + "\n" for line in kept))

    def evaluate(self) -> dict[str, Any]:
        """The mean reward of the policy, over all seats, against the main rule-based agent in the others."""
        rule = make_agent("rule", self.config.game)
        c = self.config
        agent = self.agent()
        score = one_against_many(c.game, agent, rule, self.num_players, c.evaluation_deals, seed=10**6, **c.options)
        return {
            "decisions": int(self.model.num_timesteps),
            "reward_against_rule": score.mean,
            "half_width": score.half_width,
            **self.measure(agent),
        }


class _Watch(BaseCallback):
    """Between rollouts: the progress bar, evaluations and checkpoints; and Ctrl-C ends the training at the next decision."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self.interrupted = False
        self._at_ctrl_c: Any = None
        start = run.model.num_timesteps
        self.bar = tqdm(total=run.config.decisions, initial=start, unit=" decisions", unit_scale=True, smoothing=0.1)
        every = run.config.checkpoint_every, run.config.evaluate_every
        # Multiples, so that an interrupted run is looked at at the same moments as a whole one.
        self.next_checkpoint, self.next_evaluation = ((start // n + 1) * n for n in every)
        if start == 0:
            self.next_evaluation = 0

    def _on_rollout_start(self) -> None:
        now = self.run.model.num_timesteps
        self.bar.update(now - self.bar.n)
        if now >= self.next_evaluation:
            self.next_evaluation += self.run.config.evaluate_every
            self.record(self.run.evaluate())
        if now >= self.next_checkpoint:
            self.next_checkpoint += self.run.config.checkpoint_every
            self.run.save_checkpoint()

    def record(self, evaluation: dict[str, Any]) -> None:
        """To evaluation.jsonl, TensorBoard and the bar."""
        with (self.run.folder / "evaluation.jsonl").open("a") as file:
            file.write(json.dumps(evaluation) + "\n")
        self.logger.record("evaluation/reward_against_rule", evaluation["reward_against_rule"])
        self.bar.set_postfix_str(f"vs rule {evaluation['reward_against_rule']:+.3f}")

    def _on_training_start(self) -> None:
        # An exception would be lost where a signal comes while machine code is made; only the main thread gets signals.
        if threading.current_thread() is threading.main_thread():
            self._at_ctrl_c = signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number: int, frame: Any) -> None:
        self.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one does not wait

    def _on_training_end(self) -> None:
        self.bar.update(self.run.model.num_timesteps - self.bar.n)
        if not self.interrupted:
            self.record(self.run.evaluate())

    def _on_step(self) -> bool:
        return not self.interrupted

    def close(self) -> None:
        self.bar.close()
        if self._at_ctrl_c is not None:
            signal.signal(signal.SIGINT, self._at_ctrl_c)


def versions() -> dict[str, str]:
    """Of Python and of what a result depends on."""
    names = ["heist-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib"]
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m heist_envs.training.selfplay", description=__doc__.split("\n")[0])
    default = Config()
    parser.add_argument("--game", choices=GAMES, default=default.game)
    parser.add_argument("--folder", default=None, help="where the run is kept; default runs/<game>-<time>")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --folder")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--preset", default=None)
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--opponents", nargs="*", default=list(default.opponents), help="agents for the other seats")
    parser.add_argument("--opponent-share", type=float, default=default.opponent_share, help="share of games with them")
    parser.add_argument("--decisions", type=int, default=default.decisions)
    parser.add_argument("--num-envs", type=int, default=default.num_envs)
    parser.add_argument("--steps", type=int, default=default.steps)
    parser.add_argument("--batch-size", type=int, default=default.batch_size)
    parser.add_argument("--epochs", type=int, default=default.epochs)
    parser.add_argument("--learning-rate", type=float, default=default.learning_rate)
    parser.add_argument("--entropy", type=float, default=default.entropy)
    parser.add_argument("--evaluate-every", type=int, default=default.evaluate_every)
    parser.add_argument("--checkpoint-every", type=int, default=default.checkpoint_every)
    given = parser.parse_args(arguments)
    if given.resume:
        if given.folder is None:
            parser.error("--resume needs --folder, the run to go on with")
        run = Run.resumed(given.folder)
    else:
        config = Config(
            game=given.game,
            num_players=given.players,
            options={} if given.preset is None else {"preset": given.preset},
            seed=given.seed,
            opponents=tuple(given.opponents),
            opponent_share=given.opponent_share,
            decisions=given.decisions,
            num_envs=given.num_envs,
            steps=given.steps,
            batch_size=given.batch_size,
            epochs=given.epochs,
            learning_rate=given.learning_rate,
            entropy=given.entropy,
            evaluate_every=given.evaluate_every,
            checkpoint_every=given.checkpoint_every,
        )
        run = Run(config, given.folder or f"runs/{given.game}-{time.strftime('%Y%m%d-%H%M%S')}")
    run.train()
    print(f"the run is in {run.folder}")


if __name__ == "__main__":
    main()
