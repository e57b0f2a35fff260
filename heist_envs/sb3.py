"""The Stable-Baselines3 face: many games in one process as a VecEnv, with action masks for sb3-contrib."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as missing:
    raise ImportError(f"this needs {missing.name}: pip install 'heist-envs[train]'") from missing

from heist_envs.aec import observation_space
from heist_envs.agents.learner import LearnerBatch
from heist_envs.single import Opponents, learner_batch


class HeistVecEnv(VecEnv):
    """N games in each of which one seat learns. `MaskablePPO("MlpPolicy", make_vec_env("holdup", 64))` is all it takes.

    Observations are flat, int8 (N, D). `env_method("action_masks")` is answered at once, int8 (N, A).
    """

    def __init__(self, games: LearnerBatch) -> None:
        game = games.batch.game
        super().__init__(len(games), observation_space(game)["observation"], spaces.Discrete(game.NUM_ACTIONS))
        self.games = games

    def reset(self) -> NDArray[np.int8]:
        """Start all games: game i from the seed given to `seed`, plus i; without one they go on in their streams."""
        seed = self._seeds[0]
        if seed is not None or not hasattr(self, "_rng"):
            self._rng = np.random.default_rng(seed)
        self.games.reset(seed, self._rng)
        self._reset_seeds()
        return self.games.batch.observations.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """One decision in every game; raises ValueError for an action that is not legal, and nothing has been changed."""
        games = self.games
        games.step(games.batch.check_actions(self._actions))
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in map(int, np.flatnonzero(games.ended)):
            infos[i]["terminal_observation"] = games.last_view(i)
            infos[i]["TimeLimit.truncated"] = bool(games.truncations[i])
        return games.batch.observations.copy(), games.own_rewards(), games.ended.copy(), infos

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """`action_masks`, one row per game, is the only method."""
        if method_name != "action_masks":
            raise AttributeError(f"got method {method_name!r}: only 'action_masks' is there")
        masks = self.games.batch.masks.astype(bool)
        return masks if indices is None else masks[np.atleast_1d(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """What SB3 asks of every environment: its render mode, and whether it has action masks."""
        count = self.num_envs if indices is None else len(np.atleast_1d(indices))
        known = {"action_masks": self.env_method, "render_mode": None, "spec": None}
        if attr_name not in known:
            raise AttributeError(f"got attribute {attr_name!r}: there are {', '.join(known)}")
        return [known[attr_name]] * count

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Nothing can be set."""
        raise AttributeError(f"got attribute {attr_name!r}: nothing can be set")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False] * self.num_envs

    def close(self) -> None:
        """Nothing is held open."""


def make_vec_env(
    game: str,
    num_envs: int = 1,
    num_players: int | None = None,
    opponents: Opponents = "rule",
    seat: int | str = "random",
    **options: Any,
) -> HeistVecEnv:
    """A VecEnv; arguments as for `heist_envs.single.HeistSingleEnv`, and `num_envs`."""
    return HeistVecEnv(learner_batch(game, num_envs, num_players, opponents, seat, True, **options))
