"""The batch face: many games stepped together, in Gymnasium's words."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from heist_envs.aec import Observation, observation_space
from heist_envs.engine import Batch


class HeistVectorEnv:
    """N games of one kind. Each step takes one action per game, from the seat `agent_selection` names there.

    A finished game starts again in the same step (autoreset mode SAME_STEP): rewards, terminations and truncations are
    the old game's, the observation is the new game's first, and the old game's last observations are in
    `infos["final_obs"]`, int8 (K, num_players, D), one row for each True of `infos["_final_obs"]`, bool (N,).
    """

    def __init__(self, game: ModuleType, num_envs: int, num_threads: int, copy: bool, **options: Any) -> None:
        for name, value in (("num_envs", num_envs), ("num_threads", num_threads)):
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
                raise ValueError(f"got {name}={value!r}: it must be a whole number, at least 1")
        self.metadata = {"name": f"{game.NAME}_v{game.VERSION}", "autoreset_mode": AutoresetMode.SAME_STEP}
        self.batch = Batch(game, np.repeat(game.new_initial_state(**options), num_envs), autoreset=True)
        self.num_envs = int(num_envs)
        self.num_players = self.batch.num_players
        self.possible_agents = [f"player_{seat}" for seat in range(self.num_players)]
        self.single_observation_space = observation_space(game)
        self.single_action_space = spaces.Discrete(game.NUM_ACTIONS)
        self._copy = copy
        self._num_threads = min(int(num_threads), self.num_envs)
        self._pool: ThreadPoolExecutor | None = None
        self._shares: list[tuple[slice, Batch]] = []
        """What each thread steps."""
        self._has_reset = False

    @property
    def states(self) -> NDArray[Any]:
        """The games themselves, structured (N,): `states["pot"]` is an (N,) array."""
        return self.batch.states

    @property
    def agent_selection(self) -> NDArray[np.int8]:
        """The seat to act in each game, int8 (N,)."""
        return self._out(self.batch.players)

    def reset(
        self, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start all games anew: game i from seed + i, or from its own seed of a list; None goes on in its stream.

        `options` is taken for Gymnasium's sake and has no meaning here.
        """
        self.batch.reset(seed)
        self._has_reset = True
        return self._observation(), {}

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One decision in every game.

        Args:
            actions: integers (N,), legal ones.

        Returns:
            Observation and mask of the seat now to act, (N, D) and (N, A) int8; rewards float32 (N, num_players);
            terminations and truncations, bool (N,); infos.

        Raises:
            TypeError: actions that are not integers.
            ValueError: a wrong shape, an action that is not legal, or no game yet; nothing has been changed.
        """
        if not self._has_reset:
            raise ValueError("got actions before the first reset(): call reset() to start the games")
        self._step(self.batch.check_actions(actions))
        batch = self.batch
        ended = batch.terminations | batch.truncations
        infos: dict[str, Any] = {}
        if ended.any():
            infos = {"final_obs": batch.final_observations[ended], "_final_obs": ended}
        return (
            self._observation(),
            self._out(batch.rewards),
            self._out(batch.terminations),
            self._out(batch.truncations),
            infos,
        )

    def _step(self, actions: NDArray[np.int64]) -> None:
        if self._num_threads == 1:
            self.batch.step(actions)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._num_threads - 1)
            cuts = np.linspace(0, self.num_envs, self._num_threads + 1).astype(int)
            rows = [slice(a, b) for a, b in itertools.pairwise(cuts)]
            self._shares = [(part, self.batch.part(part)) for part in rows]
        (own, first), *others = self._shares
        running = [self._pool.submit(batch.step, actions[part]) for part, batch in others]
        first.step(actions[own])
        for each in running:
            each.result()

    def _observation(self) -> Observation:
        return {"observation": self._out(self.batch.observations), "action_mask": self._out(self.batch.masks)}

    def _out(self, buffer: NDArray[Any]) -> NDArray[Any]:
        return buffer.copy() if self._copy else buffer

    def to_bytes(self) -> bytes:
        """All games with their random streams: `load_bytes` goes on from them identically."""
        if not self._has_reset:
            raise ValueError("nothing to save before the first reset(): call reset() to start the games")
        return self.batch.to_bytes()

    def load_bytes(self, data: bytes) -> Observation:
        """Go on from what `to_bytes` gave; the observation of the seats to act.

        Raises:
            ValueError: the data is of something else or broken; nothing has been changed.
        """
        self.batch.load_bytes(data)
        self._has_reset = True
        return self._observation()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool, self._shares = None, []

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_pool": None, "_shares": []}
