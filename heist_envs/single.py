"""The Gymnasium face: one seat of a game, or of many games, with agents in the other seats.

gymnasium.make("heist/holdup-v0", num_players=4, opponents="rule", seat="random")
gymnasium.make_vec("heist/holdup-v0", num_envs=512, opponents=["uniform", "rule", "rule:maniac"])

A step is one decision of the learner and all that follows until its next one. Its reward is what the learner got in between:
the whole return with the last step of a game, and 0 before.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from heist_envs.aec import RENDER_MODES, check_render_mode, observation_space, render
from heist_envs.agents import AnyAgent, make_agent
from heist_envs.agents.learner import LearnerBatch
from heist_envs.engine import Batch
from heist_envs.games import load

Opponents = str | AnyAgent | Sequence[str | AnyAgent]
"""An agent or its name (`make_agent`) for all other seats, or one for each of them, clockwise from the learner's left."""


def learner_batch(
    game: str,
    num_envs: int,
    num_players: int | None,
    opponents: Opponents,
    seat: int | str,
    autoreset: bool,
    **options: Any,
) -> LearnerBatch:
    """The games that the faces for one learning seat stand on.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game or agent, a seat that is not there, or a wrong number of opponents.
    """
    if not isinstance(num_envs, int | np.integer) or isinstance(num_envs, bool) or num_envs < 1:
        raise ValueError(f"got num_envs={num_envs!r}: it must be a whole number, at least 1")
    module = load(game)
    states = module.new_initial_state(**options if num_players is None else {"num_players": num_players, **options})
    n = int(states["num_players"][0])
    if seat != "random" and (not isinstance(seat, int | np.integer) or isinstance(seat, bool) or not 0 <= seat < n):
        raise ValueError(f"got seat={seat!r}: it is 'random' or one of 0 to {n - 1}")
    if isinstance(opponents, str) or not isinstance(opponents, Sequence):
        opponents = [opponents] * (n - 1)
    if len(opponents) != n - 1:
        raise ValueError(f"got {len(opponents)} opponents: give one for all, or one for each of the {n - 1} other seats")
    agents = [make_agent(one, game) if isinstance(one, str) else one for one in opponents]
    distinct = list({id(agent): agent for agent in agents}.values())
    places = [0, *(next(k for k, one in enumerate(distinct) if one is agent) for agent in agents)]
    seats = None if seat == "random" else np.full(num_envs, seat)
    batch = Batch(module, np.repeat(states, num_envs), autoreset)
    return LearnerBatch(batch, seats, distinct, np.tile(places, (num_envs, 1)))


class LegalActions(spaces.Discrete):
    """All actions by number; `sample()` without a mask draws one that is legal now."""

    def __init__(self, games: LearnerBatch) -> None:
        super().__init__(games.batch.game.NUM_ACTIONS)
        self._games = games

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """One action, as `Discrete.sample` gives it."""
        if mask is None and probability is None:
            mask = self._games.batch.masks[0]
        return super().sample(mask, probability)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, spaces.Discrete) and (self.n, self.start) == (other.n, other.start)

    __hash__ = None  # type: ignore[assignment]  # as Discrete


class HeistSingleEnv(gymnasium.Env[Any, int]):
    """One seat of a game, which is a batch of one.

    Observations are `{"observation": int8 (D,), "action_mask": int8 (A,)}`; with `flat=True` the first of them alone, and
    the mask is `info["action_mask"]`. `action_masks()` gives it to sb3-contrib. `info["seat"]` is the learner's seat. A
    finished game's last observation is the learner's, with an all-ones mask. A game that ends before the learner was ever
    asked is played and forgotten; the next one starts in its place.

    Args:
        game: one of `heist_envs.GAMES`.
        num_players: the game's or the preset's default where None.
        opponents: an agent or its name for all other seats, or one for each, clockwise from the learner's left.
        seat: the learner's seat, or "random": drawn anew for every game.
        flat: a plain Box observation.
        render_mode: one of `RENDER_MODES` or None.
        **options: the game's options, and `preset`.

    Raises:
        TypeError: an unknown option.
        ValueError: a value that is not allowed.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium's own way

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        opponents: Opponents = "rule",
        seat: int | str = "random",
        flat: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        check_render_mode(render_mode)
        self.games = learner_batch(game, 1, num_players, opponents, seat, False, **options)
        self.render_mode = render_mode
        self.flat = flat
        space = observation_space(self.games.batch.game)
        self.observation_space = space["observation"] if flat else space
        self.action_space = LegalActions(self.games)  # type: ignore[assignment]  # Discrete gives numpy integers
        self._begun = self._over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a new game; None goes on in the streams of the game before. `options` has no meaning here."""
        super().reset(seed=seed)
        self.games.reset(seed, self.np_random)
        self._begun, self._over = True, False
        return self._observation(), self._info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action and all answers to it.

        Raises:
            TypeError: an action that is not an integer.
            ValueError: an action that is not legal, or no game to play it in; nothing has been changed.
        """
        if not self._begun or self._over:
            raise ValueError(f"got action {action!r} without a running game: call reset() to start one")
        if isinstance(action, bool | np.bool_):
            raise TypeError(f"got action {action!r}: it must be one integer; {self.games.batch.legal_words(0)}")
        self.games.step(self.games.batch.check_actions(np.asarray(action)[None]))
        self._over = bool(self.games.ended[0])
        reward = float(self.games.own_rewards()[0])
        if self.render_mode == "human":
            self.render()
        terminated, truncated = bool(self.games.terminations[0]), bool(self.games.truncations[0])
        return self._observation(), reward, terminated, truncated, self._info()

    def _observation(self) -> Any:
        games = self.games
        seen = games.last_view(0) if self._over else games.batch.observations[0].copy()
        return seen if self.flat else {"observation": seen, "action_mask": self.action_masks()}

    def action_masks(self) -> NDArray[np.int8]:
        """1 for each legal action, int8 (A,); all ones when the game is over."""
        masks: NDArray[np.int8] = self.games.batch.masks[0].copy()
        return masks

    def _seat(self) -> int:
        return int(self.games.final_seats[0] if self._over else self.games.seats[0])

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"seat": self._seat()}
        return info | {"action_mask": self.action_masks()} if self.flat else info

    def render(self) -> Any:
        """What the learner sees: text in mode "ansi", pixels in mode "rgb_array", printed in mode "human"."""
        if not self._begun:
            raise ValueError("nothing to render before the first reset(): call reset() to start a game")
        return render(self.games.batch, self._seat(), self.render_mode)


class HeistSingleVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """One seat in each of many games, stepped together; a finished game starts again in the same step.

    Arguments as for `HeistSingleEnv`, and `num_envs`. The old game's last observations are in `infos["final_obs"]` as
    Gymnasium gives them in autoreset mode SAME_STEP: an array (N,) of objects, None where no game ended, with
    `infos["_final_obs"]`, bool (N,). `infos["seat"]` is the learner's seat in each game.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        num_players: int | None = None,
        opponents: Opponents = "rule",
        seat: int | str = "random",
        flat: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"got render_mode={render_mode!r}: a batch is not rendered, allowed is None")
        self.games = learner_batch(game, num_envs, num_players, opponents, seat, True, **options)
        self.num_envs = num_envs
        self.flat = flat
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        space = observation_space(self.games.batch.game)
        self.single_observation_space = space["observation"] if flat else space
        self.single_action_space = spaces.Discrete(self.games.batch.game.NUM_ACTIONS)
        self.observation_space = gymnasium.vector.utils.batch_space(self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(self.single_action_space, num_envs)
        self._begun = False

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start all games anew: game i from seed + i, or from its own seed of a list; None goes on in its stream."""
        super().reset(seed=seed if seed is None or isinstance(seed, int) else int(seed[0]))
        self.games.reset(seed, self.np_random)
        self._begun = True
        return self._observations(), self._infos()

    def step(self, actions: Any) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """One decision of the learner in every game, integers (N,).

        Raises:
            TypeError: actions that are not integers.
            ValueError: a wrong shape, an action that is not legal, or no game yet; nothing has been changed.
        """
        if not self._begun:
            raise ValueError("got actions before the first reset(): call reset() to start the games")
        games = self.games
        games.step(games.batch.check_actions(actions))
        rewards = games.own_rewards().astype(np.float64)
        infos = self._infos()
        if games.ended.any():
            last = np.full(self.num_envs, None, object)
            for i in map(int, np.flatnonzero(games.ended)):
                seen = games.last_view(i)
                last[i] = seen if self.flat else {"observation": seen, "action_mask": np.ones_like(games.batch.masks[i])}
            infos |= {"final_obs": last, "_final_obs": games.ended.copy()}
        return self._observations(), rewards, games.terminations.copy(), games.truncations.copy(), infos

    def _observations(self) -> Any:
        batch = self.games.batch
        seen = batch.observations.copy()
        return seen if self.flat else {"observation": seen, "action_mask": batch.masks.copy()}

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {"seat": self.games.seats.copy()}
        return infos | {"action_mask": self.games.batch.masks.copy()} if self.flat else infos

    def action_masks(self) -> NDArray[np.int8]:
        """1 for each legal action, int8 (N, A)."""
        return self.games.batch.masks.copy()
