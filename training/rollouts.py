"""Rollouts in which all seats learn: many games at once, and credit along each seat's own decisions."""

from collections.abc import Callable, Generator, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

from heist_envs.agents import AnyAgent
from heist_envs.agents.learner import EVERY_SEAT, LearnerBatch
from heist_envs.engine import Batch
from heist_envs.rules import compiled
from heist_envs.sb3 import HeistVecEnv


def varying_entries(game: ModuleType, **options: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What was ever different in random games at a table.

    An entry that varies so rarely that it is missed is one that a policy will not look at.

    Returns:
        The entries of the observation that vary, ascending, int64 (V,); and each (entry, value) that came, of the entries
        that took more than two values, in order, int64 (K, 2).
    """
    batch = Batch(game, np.repeat(game.new_initial_state(**options), NUM_LOOKED_AT), autoreset=True)
    batch.reset(0)
    rng = np.random.default_rng(0)
    entries = np.arange(batch.observations.shape[1])
    came = np.zeros((len(entries), 256), np.bool_)
    for _ in range(STEPS_LOOKED_AT):
        came[entries, batch.observations.astype(np.int64) - LOWEST] = True
        batch.step((rng.random(batch.masks.shape) * batch.masks).argmax(axis=1))
    counts = came.sum(axis=1)
    entry, value = np.nonzero(came & (counts > 2)[:, None])
    return np.flatnonzero(counts > 1), np.stack([entry, value + LOWEST], axis=1)


LOWEST = -128
"""That an entry of an observation can be."""
NUM_LOOKED_AT, STEPS_LOOKED_AT = 256, 400
"""Games, and decisions in each, in which entries that vary are looked for."""


class SelfPlayVecEnv(HeistVecEnv):
    """The batch as Stable-Baselines3 sees it: in each game, whoever of the learning seats is to act.

    In most games all seats learn. In the first `share` of them one seat does, another from game to game, and an opponent of
    the pool answers for the rest before the step is over: one opponent a table.

    Rewards are for all seats, so the one number per game that a VecEnv returns is 0, and `SeatRolloutBuffer` takes who
    acted, the rewards and the ends of the last step from `games`. An opponent may be exchanged at any time, in
    `games.agents`.
    """

    def __init__(self, batch: Batch, pool: Sequence[AnyAgent], share: float) -> None:
        n = len(batch)
        games = np.arange(n)
        kinds = max(1, len(pool))
        learning = np.where(games < share * n, games // kinds % batch.num_players, EVERY_SEAT)
        answering = np.repeat(games[:, None] % kinds, batch.num_players, axis=1)
        super().__init__(LearnerBatch(batch, learning, pool, answering))
        self._no_rewards = np.zeros(n, np.float32)
        self._no_infos: list[dict[str, Any]] = [{}] * n

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """The masks of all games as one, bool (1, N, A): MaskablePPO stacks what it gets, which takes long row by row."""
        return super().env_method(method_name, *args, indices=indices, **kwargs)[None]

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
        self.reward_scale = 1.0
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
        self.seat_rewards[self.pos] = self.env.games.rewards * self.reward_scale
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
