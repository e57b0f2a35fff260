"""Self-play with sb3-contrib's MaskablePPO: one network plays and learns all seats.

    python -m heist_envs.training.selfplay --game holdup --folder runs/holdup
    python -m heist_envs.training.selfplay --game cleaners --preset tiny --exact --pull 0.05

Two faults of the usual wrapper are avoided. It pairs the next player's observation with this player's reward; here every
advantage is computed along one seat's own decisions (`rollouts.seat_advantages`). And its defaults suit other problems:
entropy 0.0 and batches of 64 do not learn to bluff. What to use instead is in `configs/`, a file per game, which `--config`
reads; without it the game's own file is taken, and every option on the command line comes before the file.

With `pull` above 0 it is magnetic mirror descent (`network.RegularizedPolicy`): `magnet_rate` 1 pulls towards the previous
policy, less towards the moving average of the policies, and `entropy` towards the uniform one.

Self-play alone settles on some convention, and with more than two players nothing says that it does well against others who
keep another one: in Hold-up it drifts to a lower band of cards than the rule-based players' and then loses to three of them.
So in a share of the games (`opponent_share`) one seat learns and the others are played by agents of a pool: fixed ones
(`opponents`), and snapshots of the policy itself as it was before (`snapshots`).

A run is a folder: config.json, TensorBoard and CSV metrics, evaluation.jsonl, the newest checkpoint, and the policy and its
average as safetensors with a card. Ctrl-C ends it after the rollout that has begun, with a checkpoint; a second one at once.
After that, or after a kill, `--resume` goes on from the checkpoint to the very same weights.
"""

import ast
import functools
import importlib.metadata
import inspect
import json
import os
import pathlib
import platform
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import safetensors
    import safetensors.torch
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import Logger, make_output_format
    from tqdm import tqdm
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

import heist_envs
from heist_envs.agents import AnyAgent, UniformAgent, make_agent
from heist_envs.agents.policy import PolicyAgent, card_of
from heist_envs.agents.solver import SequenceForm, deviation_gains, sequence_form, strategy_of
from heist_envs.agents.tree import Tree, game_tree
from heist_envs.benchmarks.behaviour import rates_in_play
from heist_envs.benchmarks.tournament import against_each
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES, load
from heist_envs.training.network import RegularizedPolicy, policy_arguments
from heist_envs.training.rollouts import SeatRolloutBuffer, SelfPlayVecEnv, varying_entries

CONFIGS = pathlib.Path(__file__).parent / "configs"
"""Our own configs, `<game>.json` for the default table of each game."""


def tiny_config(algorithm: str, game: str) -> pathlib.Path:
    """The config of "ppo" or "mmd" for the preset `tiny`: the game's own, if there is one, or that for all games."""
    own = CONFIGS / f"tiny-{algorithm}-{game}.json"
    return own if own.exists() else CONFIGS / f"tiny-{algorithm}.json"


def _is_like(value: Any, example: Any) -> bool:
    """Of the same kind; a whole number will do for a fraction. What was read from a file may be anything."""
    if isinstance(example, tuple):
        return isinstance(value, tuple) and all(_is_like(entry, example[0]) for entry in value)
    return type(value) is type(example) or (type(example) is float and type(value) is int)


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
    """Agents (`make_agent`) of the pool."""
    snapshots: int = 0
    """And so many policies of this run, as it was when it had them made."""
    snapshot_every: int = 500_000
    """Decisions between two snapshots; the newest takes the place of the oldest."""
    opponent_share: float = 0.5
    """Share of the games in which one seat learns and the pool plays the others, one agent a table."""
    decisions: int = 6_000_000
    """Decisions of the learning seats together, filled up to whole rollouts of `num_envs` times `steps`."""
    num_envs: int = 512
    steps: int = 64
    """Decisions per game in each rollout."""
    batch_size: int = 4096
    epochs: int = 4
    learning_rate: float = 1e-3
    """At the start; it falls linearly to 0."""
    entropy: float = 0.02
    """Coefficient of the entropy at the start."""
    entropy_end: float = 0.02
    """And at the end; linear in between."""
    score_scale: float = 0.0
    """Learn from the scores instead of who wins, which says more of each game: reward="score" times this; 0: do not."""
    score_until: float = 1.0
    """Share of the decisions after which who wins is learned from all the same."""
    pull: float = 0.0
    """Coefficient of the distance from the magnet, at the start and at the end."""
    magnet_rate: float = 0.05
    """Share of the way to the policy that the magnet goes after each rollout."""
    average_rate: float = 0.05
    """The same of the averaged copy of the weights, which is the plain average at first."""
    clip: float = 0.2
    gamma: float = 1.0
    gae_lambda: float = 0.95
    hidden: tuple[int, ...] = (128, 128)
    """Widths of the layers."""
    shared: int = 1
    """So many of them, from the first one on, serve both policy and value: more are faster."""
    codes: bool = False
    """Give the network each value of an entry of its own, too (`network.SharedLayers`): slower, and better where entries are
    the numbers of cards and seats."""
    part_width: int = 0
    """Look at the parts of the table one by one, too, with so many numbers for each (`network.SharedLayers`); 0: do not.
    Only in games that have parts (`agents.parts`)."""
    exact: bool = False
    """Walk the game's tree, which must be small, and find the exact gains of a best response at every evaluation."""
    checkpoint_every: int = 500_000
    """Decisions between checkpoints."""
    evaluate_every: int = 500_000
    """Decisions between evaluations."""
    evaluation_deals: int = 200
    """Deals against each of the baselines, in all seatings."""
    baselines: tuple[str, ...] = ("rule",)
    """Agents that evaluations play against."""
    evaluation_games: int = 200
    """Games of the policy with itself, in which its bluffs, betrayals and stops are counted; 0 for none."""
    threads: int = 1
    """Of torch: more win little with networks of this size, and lose very much where other programs want the cores."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            example = {} if one.name == "options" else one.default
            if not _is_like(value, example) and not (one.name == "num_players" and type(value) is int):
                raise ValueError(f"got {one.name}={json.dumps(value)}: it must be such as {json.dumps(example)}")
        least = {"decisions": 1, "num_envs": 1, "steps": 1, "batch_size": 2, "epochs": 1, "evaluation_deals": 2}
        least |= {"checkpoint_every": 1, "evaluate_every": 1, "snapshot_every": 1, "snapshots": 0, "evaluation_games": 0}
        for name, low in (least | {"threads": 1, "entropy": 0, "entropy_end": 0, "pull": 0}).items():
            if getattr(self, name) < low:
                raise ValueError(f"got {name}={getattr(self, name)}: at least {low}")
        for name in ("opponent_share", "magnet_rate", "average_rate", "gamma", "gae_lambda", "score_until"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"got {name}={getattr(self, name)}: from 0 to 1")
        if self.opponent_share > 0 and not self.opponents and not self.snapshots:
            raise ValueError(f"got no opponents for opponent_share={self.opponent_share}: name some, or set the share to 0")
        for name in ("part_width", "score_scale"):
            if getattr(self, name) < 0:
                raise ValueError(f"got {name}={getattr(self, name)}: at least 0")
        for name in ("learning_rate", "clip"):
            if getattr(self, name) <= 0:
                raise ValueError(f"got {name}={getattr(self, name)}: above 0")
        if not self.hidden or min(self.hidden) < 1:
            raise ValueError(f"got hidden={self.hidden}: the widths of one layer or more, each at least 1")
        if not 1 <= self.shared <= len(self.hidden):
            raise ValueError(f"got shared={self.shared}: from 1 to {len(self.hidden)}, so many as `hidden` has layers")

    @classmethod
    def read(cls, path: str | pathlib.Path, **changes: Any) -> "Config":
        """A config from a JSON file, a run's `config.json` or the card of its policy; `changes` come before what is there.

        Raises:
            ValueError: it is not such a file, or has a value that is not allowed.
        """
        try:
            given = json.loads(pathlib.Path(path).read_text())
            if isinstance(given, dict):
                given = given.get("config", given)
            if not isinstance(given, dict):
                raise ValueError("it is not a JSON object")
            unknown = given.keys() - {one.name for one in fields(cls)}
            if unknown:
                raise ValueError(f"it has {sorted(unknown)}; there are {[one.name for one in fields(cls)]}")
            lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
            config = cls(**{**given, **lists})
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is not the config of a run of this version: {error}") from error
        return replace(config, **changes)


class Table(NamedTuple):
    """A small table, walked through."""

    tree: Tree
    form: SequenceForm


def walked(game: str, options: dict[str, Any]) -> Table:
    """The tree of a small table, which is walked once a process."""
    return _walked(game, json.dumps(options, sort_keys=True))


@functools.cache
def _walked(game: str, options: str) -> Table:
    tree = game_tree(game, **json.loads(options))
    return Table(tree, sequence_form(tree))


def exact_gains(agent: AnyAgent, game: str, options: dict[str, Any], draws: int = 1, seed: int = 0) -> NDArray[np.float64]:
    """What each seat of a small table would gain against an agent in all other seats, float64 (num_players,).

    An agent that says no probabilities is asked `draws` times at each information set (`solver.strategy_of`).
    """
    tree, form = walked(game, options)
    seats = [agent] * tree.payoffs.shape[1]
    return deviation_gains(form, strategy_of(seats, game, tree, form, draws, np.random.default_rng(seed)))


def network_arguments(config: Config, num_players: int) -> dict[str, Any]:
    """`policy_arguments` of the network that a config describes, at a table of so many players."""
    kept, codes = varying_entries(load(config.game), **{**config.options, "num_players": num_players})
    codes = codes if config.codes else codes[:0]
    return policy_arguments(config.game, kept, codes, config.hidden, config.shared, config.part_width)


class Run:
    """One training run in a folder: `Run(config, folder).train()`, or `Run.resumed(folder).train()`.

    Raises:
        FileExistsError: the folder already holds a run.
        ValueError: `exact` gains are wanted of a game whose tree is too large.
    """

    def __init__(self, config: Config, folder: str | pathlib.Path, _resume: bool = False) -> None:
        self.config = config
        self.folder = pathlib.Path(folder)
        self._checkpoint = self.folder / "checkpoint.safetensors"
        if (self.folder / "config.json").exists() and not _resume:
            raise FileExistsError(f"{self.folder} already holds a run: give another folder, or --resume to go on")
        torch.set_num_threads(config.threads)
        vec = heist_envs.make_vec(config.game, config.num_envs, config.num_players, **config.options)
        self.num_players = vec.num_players
        if config.exact:
            self._walk()
        self._score_reward = bool(vec.batch.states["score_reward"][0])  # an option of the table
        named = {name: make_agent(name, config.game) for name in config.opponents}
        fixed = [named[name] for name in config.opponents]
        # The places of the snapshots, which the untrained policy takes first, as soon as it is made.
        pool = [*fixed, *[UniformAgent()] * config.snapshots]
        self.env = SelfPlayVecEnv(vec.batch, pool, config.opponent_share)
        self.env.seed(config.seed)
        self.model = self._new_model()
        self.policy: RegularizedPolicy = self.model.policy  # type: ignore[assignment]
        for slot in range(config.snapshots):
            self.take_snapshot(slot)
        self.folder.mkdir(parents=True, exist_ok=True)
        if _resume:
            self._load_checkpoint()
        else:
            (self.folder / "config.json").write_text(json.dumps(asdict(config), indent=2) + "\n")
        self._forget_evaluations_after(self.model.num_timesteps)

    def _walk(self) -> None:
        """Walk the table's tree, so that one that is too large is refused before anything is written."""
        try:
            walked(self.config.game, {**self.config.options, "num_players": self.num_players})
        except ValueError as error:
            raise ValueError(f"exact gains need a small table, such as --preset tiny: {error}") from error

    @classmethod
    def resumed(cls, folder: str | pathlib.Path) -> "Run":
        """The run in a folder, at its newest checkpoint, or at its beginning where it had none.

        Raises:
            FileNotFoundError: the folder holds no run.
            ValueError: its config or checkpoint is not one of this version.
        """
        path = pathlib.Path(folder) / "config.json"
        if not path.exists():
            raise FileNotFoundError(f"{folder} holds no run to resume: it has no config.json")
        config = Config.read(path)
        return cls(config, folder, _resume=True)

    def _new_model(self) -> MaskablePPO:
        c = self.config
        model = MaskablePPO(
            RegularizedPolicy,
            self.env,
            learning_rate=lambda remaining: c.learning_rate * max(0.0, remaining),  # the last rollout may go beyond the end
            n_steps=c.steps,
            batch_size=c.batch_size,
            n_epochs=c.epochs,
            gamma=c.gamma,
            gae_lambda=c.gae_lambda,
            clip_range=c.clip,
            ent_coef=1.0,  # the policy's regulariser has its own coefficients
            seed=c.seed,
            device="cpu",
            rollout_buffer_class=SeatRolloutBuffer,
            rollout_buffer_kwargs={"env": self.env, "seed": c.seed},
            policy_kwargs=network_arguments(c, self.num_players),
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
        c = self.config
        training = {"decisions": int(self.model.num_timesteps), "config": asdict(c), "made_with": versions()}
        return card_of(c.game, self.num_players, c.options, **training)

    def agent(self, averaged: bool = False) -> PolicyAgent:
        """The policy of this moment, or its running average."""
        return self.policy.agent(self.card, averaged)

    def take_snapshot(self, slot: int) -> None:
        """Let the policy of this moment play in this place of the pool from now on."""
        self.env.games.agents[len(self.config.opponents) + slot] = self.agent()

    def train(self, callback: BaseCallback | None = None) -> PolicyAgent:
        """Train to the end of the configured decisions; save the policy and its average.

        After Ctrl-C the rollout that has begun is played and learned from; then a checkpoint and the policy are saved, and
        `resumed` goes on from there.
        """
        done = self.model.num_timesteps
        # One CSV file for each part of a run that was interrupted: SB3's writer begins its file anew.
        outputs = [("tensorboard", ""), ("csv", f"-{done}")]
        self.model.set_logger(Logger(str(self.folder), [make_output_format(k, str(self.folder), s) for k, s in outputs]))
        watch = _Watch(self)
        remaining = self.config.decisions - done
        try:
            if remaining > 0:
                callbacks: list[BaseCallback] = [watch] if callback is None else [watch, callback]
                self.model.learn(remaining, callback=callbacks, reset_num_timesteps=done == 0)
            if watch.stopped:
                print(f"\nstopped; go on with --resume --folder {self.folder}")
            else:
                self.save_checkpoint()
        finally:
            watch.close()
            self.model.logger.close()
        agent = self.agent()
        agent.save(self.folder / "policy.safetensors")
        self.agent(averaged=True).save(self.folder / "average.safetensors")
        return agent

    @property
    def has_checkpoint(self) -> bool:
        """Whether `resumed` would go on from one; else it begins anew."""
        return self._checkpoint.exists()

    @property
    def _snapshots(self) -> list[PolicyAgent]:
        return self.env.games.agents[len(self.config.opponents) :]  # type: ignore[return-value]

    def save_checkpoint(self) -> None:
        """Write all that the next decision depends on, at once or not at all.

        It holds where the games stand between two rollouts, so it is called there (`_Watch`).
        """
        optimizer = self.model.policy.optimizer.state_dict()
        tensors = {f"policy.{name}": tensor for name, tensor in self.model.policy.state_dict().items()}
        for k, moments in optimizer["state"].items():
            tensors |= {f"optimizer.{k}.{name}": torch.as_tensor(value) for name, value in moments.items()}
        for k, snapshot in enumerate(self._snapshots):
            tensors |= {f"snapshot.{k}.{name}": torch.from_numpy(array) for name, array in snapshot.weights.items()}
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
        fresh.write_bytes(safetensors.torch.save(tensors, metadata={"counters": json.dumps(counters)}))
        os.replace(fresh, self._checkpoint)

    def _load_checkpoint(self) -> None:
        if not self.has_checkpoint:
            return
        model = self.model
        try:
            with safetensors.safe_open(self._checkpoint, "pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
                counters = json.loads((file.metadata() or {}).get("counters", "{}"))
        except safetensors.SafetensorError as error:
            raise ValueError(f"{self._checkpoint} is not a checkpoint: {error}") from error
        moments = sum(name.startswith("optimizer.") for name in tensors)
        if not counters or moments != 3 * sum(weights.requires_grad for weights in model.policy.parameters()):
            raise ValueError(f"{self._checkpoint} is not a checkpoint of this run: counters or optimizer state are missing")
        prefix = "policy."
        model.policy.load_state_dict({n[len(prefix) :]: t for n, t in tensors.items() if n.startswith(prefix)})
        optimizer = model.policy.optimizer.state_dict()
        for name, tensor in tensors.items():
            if name.startswith("optimizer."):
                _, k, moment = name.split(".")
                optimizer["state"].setdefault(int(k), {})[moment] = tensor
        model.policy.optimizer.load_state_dict(optimizer)
        for k, snapshot in enumerate(self._snapshots):
            for name in snapshot.weights:
                snapshot.weights[name] = tensors[f"snapshot.{k}.{name}"].numpy()
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
        """What the policy and its average are worth at this moment."""
        found = {"policy": self._measures(self.agent()), "average": self._measures(self.agent(averaged=True))}
        return {"decisions": int(self.model.num_timesteps), **found}

    def _measures(self, agent: PolicyAgent) -> dict[str, Any]:
        """Mean rewards over all seats against each baseline in the other seats, exact gains where the tree is small, and how
        often the agent bluffs, betrays and stops when it plays with itself: the rate of each question and class that came.
        """
        c = self.config
        scores = against_each(c.game, agent, c.baselines, self.num_players, c.evaluation_deals, seed=10**6, **c.options)
        found: dict[str, Any] = {"against": {name: score._asdict() for name, score in scores.items()}}
        if c.exact:
            gains = exact_gains(agent, c.game, {**c.options, "num_players": self.num_players})
            found |= {"gains": gains.tolist(), "nash_conv": float(gains.sum())}
        if c.evaluation_games:
            options = {**c.options, "num_players": self.num_players}
            rates = rates_in_play(agent, c.game, max(2, c.evaluation_games), 10**6, **options)
            found["rates"] = {
                f"{one.question.name}, {name}": rate
                for one in rates
                for name, rate in zip(one.question.classes, one.rates.tolist(), strict=True)
                if not np.isnan(rate)
            }
        return found

    def set_rewards(self) -> None:
        """Those of the next rollout: by score, or those of the table."""
        c = self.config
        by_score = c.score_scale > 0 and self.model.num_timesteps < c.score_until * c.decisions
        self.env.games.batch.states["score_reward"] = by_score or self._score_reward
        self.model.rollout_buffer.reward_scale = c.score_scale if by_score else 1.0  # type: ignore[attr-defined]

    def set_coefficients(self) -> None:
        """Those of the next update, after a rollout: linear from the beginning to the end of the run."""
        c, done = self.config, min(1.0, self.model.num_timesteps / self.config.decisions)
        self.policy.entropy = c.entropy + (c.entropy_end - c.entropy) * done
        self.policy.pull = c.pull
        rollouts = self.model.num_timesteps // (c.num_envs * c.steps)
        self.policy.move_magnet(c.magnet_rate)
        self.policy.move_average(max(c.average_rate, 1 / rollouts))


class _Watch(BaseCallback):
    """Between rollouts: the progress bar, evaluations and checkpoints; and the end, with a checkpoint, after Ctrl-C."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self.stopped = False
        """By Ctrl-C, with a checkpoint of that moment."""
        self._interrupted = False
        self._at_ctrl_c: Any = None
        start = run.model.num_timesteps
        self.bar = tqdm(total=run.config.decisions, initial=start, unit=" decisions", unit_scale=True, smoothing=0.1)
        c = run.config
        # Multiples, so that an interrupted run is looked at at the same moments as a whole one.
        every = c.checkpoint_every, c.evaluate_every, c.snapshot_every
        self.next_checkpoint, self.next_evaluation, self.next_snapshot = ((start // n + 1) * n for n in every)
        if start == 0:
            self.next_evaluation = 0

    def _on_rollout_start(self) -> None:
        run, c = self.run, self.run.config
        now = run.model.num_timesteps
        self.bar.update(now - self.bar.n)
        run.set_rewards()
        if now >= self.next_evaluation:
            self.next_evaluation += c.evaluate_every
            self.record(run.evaluate())
        if now >= self.next_snapshot and c.snapshots:
            run.take_snapshot(self.next_snapshot // c.snapshot_every % c.snapshots)
            self.next_snapshot += c.snapshot_every
        self.stopped = self._interrupted  # read once: another moment of it would be without its checkpoint
        if now >= self.next_checkpoint or self.stopped:
            self.next_checkpoint += c.checkpoint_every
            run.save_checkpoint()

    def _on_rollout_end(self) -> None:
        self.run.set_coefficients()

    def record(self, evaluation: dict[str, Any]) -> None:
        """To evaluation.jsonl, TensorBoard and the bar."""
        with (self.run.folder / "evaluation.jsonl").open("a") as file:
            file.write(json.dumps(evaluation) + "\n")
        words = []
        for who in ("policy", "average"):
            numbers = {f"vs {name}": score["mean"] for name, score in evaluation[who]["against"].items()}
            if "nash_conv" in evaluation[who]:
                numbers["NashConv"] = evaluation[who]["nash_conv"]
            for name, number in numbers.items():
                self.logger.record(f"evaluation/{who} {name}", number)
            for name, rate in evaluation[who].get("rates", {}).items():
                self.logger.record(f"behaviour of the {who}/{name}", rate)
            words += [f"{who} " + ", ".join(f"{name} {number:+.3f}" for name, number in numbers.items())] * bool(numbers)
        if words:
            self.bar.set_postfix_str(f"at {evaluation['decisions'] / 1e6:.2f}M " + "; ".join(words))

    def _on_training_start(self) -> None:
        # An exception would be lost where a signal comes while machine code is made; only the main thread gets signals.
        if threading.current_thread() is threading.main_thread():
            self._at_ctrl_c = signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, number: int, frame: Any) -> None:
        self._interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one does not wait
        self.bar.set_description_str("stopping after this rollout", refresh=False)

    def _on_training_end(self) -> None:
        self.bar.update(self.run.model.num_timesteps - self.bar.n)
        if not self.stopped:
            self.record(self.run.evaluate())

    def _on_step(self) -> bool:
        return not self.stopped

    def close(self) -> None:
        self.bar.close()
        if self._at_ctrl_c is not None:
            signal.signal(signal.SIGINT, self._at_ctrl_c)


def versions() -> dict[str, str]:
    """Of Python and of what a result depends on."""
    names = ["heist-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib"]
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


def _abouts(kind: type) -> dict[str, str]:
    """What stands under the fields of a class, by name."""
    made, name = {}, None
    for line in ast.parse(inspect.getsource(kind)).body[0].body:  # type: ignore[attr-defined]
        match line:
            case ast.Expr(ast.Constant(str(text))) if name:
                made[name] = " ".join(text.split())
        name = ast.unparse(line.target) if isinstance(line, ast.AnnAssign) else None
    return made


def _value(words: str) -> Any:
    """A value of a config's field from the command line."""
    try:
        made = json.loads(words)
    except ValueError:
        return words
    return int(made) if isinstance(made, float) and made.is_integer() else made  # 1e6 is a whole number


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser(
        "heist_envs.training.selfplay", __doc__, usage="%(prog)s [--game GAME] [options, the config's where not given]"
    )
    parser.add_argument("--game", choices=GAMES, help="default that of --config, else holdup")
    parser.add_argument("--config", help="a JSON file, such as the card of a policy; default the game's own")
    parser.add_argument("--folder", default=None, help="where the run is kept; default runs/<game>-<time>")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --folder")
    parser.add_argument("--players", type=int, default=None, dest="num_players")
    parser.add_argument("--preset", default=None)
    parser.add_argument("--exact", action="store_true", default=None, help="exact gains at every evaluation: small tables")
    abouts = _abouts(Config)
    for one in fields(Config):
        if one.name not in ("game", "num_players", "options", "exact"):
            several = "*" if isinstance(getattr(Config(), one.name), tuple) else None
            parser.add_argument(f"--{one.name.replace('_', '-')}", type=_value, nargs=several, help=abouts.get(one.name))
    given = vars(parser.parse_args(arguments))
    game, file, folder, resume, preset = (given.pop(name) for name in ("game", "config", "folder", "resume", "preset"))
    changes: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in given.items() if v is not None}
    changes |= ({"game": game} if game else {}) | ({"options": {"preset": preset}} if preset else {})
    if resume and folder is None:
        parser.error("--resume needs --folder, the run to go on with")
    if resume and (changes or file):
        parser.error(f"--resume goes on with the settings of {folder}/config.json: give no others")
    try:
        try:
            if resume:
                run = Run.resumed(folder)
            else:
                config = Config.read(file or CONFIGS / f"{game or 'holdup'}.json", **changes)
                run = Run(config, folder or f"runs/{config.game}-{time.strftime('%Y%m%d-%H%M%S')}")
        except (OSError, TypeError, ValueError) as error:
            parser.error(str(error))
        if resume and run.model.num_timesteps >= run.config.decisions:
            print(f"the run in {folder} has had its {run.config.decisions:,} decisions: there is nothing to go on with")
            return
        c, again = run.config, "" if run.has_checkpoint or not resume else "no checkpoint yet, from the beginning: "
        print(f"{again}{c.game} with {run.num_players} players, {c.decisions:,} decisions, kept in {run.folder}")
        run.train()
    except KeyboardInterrupt:
        parser.exit(130, "\nstopped at once; --resume goes on from the newest checkpoint, without one from the beginning\n")
    print(f"the run is in {run.folder}")


if __name__ == "__main__":
    launch(main)
