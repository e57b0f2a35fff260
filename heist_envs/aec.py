"""The PettingZoo face: one game as an AECEnv, which is a batch of one."""

import operator
from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from heist_envs import rendering
from heist_envs.engine import Batch
from heist_envs.scene import Scene

RENDER_MODES = ("ansi", "rgb_array", "human")

Observation = dict[str, NDArray[np.int8]]


class HeistEnv(AECEnv[str, Observation, int]):  # type: ignore[misc]
    """One game with agents `player_0`, `player_1`, … in seat order.

    Observations are `{"observation": int8 (D,), "action_mask": int8 (A,)}`. The agent that is to act has at least one
    legal action; the mask of another is all zeros, and all ones once the game is over, when only `step(None)` is left.
    One agent may act several times running, and seats act out of order. All rewards come with the last step.

    The game is over for all at once: then each agent takes its `step(None)` in seat order. After that, and before the
    first `reset`, a step is an error. `reset(seed=None)` goes on in the random stream of the game before.

    The environment can be pickled and deep-copied; `to_bytes` and `load_bytes` save and restore it.
    """

    def __init__(self, game: ModuleType, render_mode: str | None = None, **options: Any) -> None:
        super().__init__()
        check_render_mode(render_mode)
        self.metadata = {
            "name": f"{game.NAME}_v{game.VERSION}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self.batch = Batch(game, game.new_initial_state(**options), autoreset=False)
        self.possible_agents = [f"player_{seat}" for seat in range(self.batch.num_players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: observation_space(game) for agent in self.possible_agents}
        self.action_spaces: dict[str, spaces.Space[int]] = {
            agent: spaces.Discrete(game.NUM_ACTIONS)  # type: ignore[misc]
            for agent in self.possible_agents
        }
        self.agents: list[str] = []
        self._action = np.zeros(1, np.int64)
        self._has_reset = False

    def observation_space(self, agent: str) -> "spaces.Dict[Any]":
        """The same object for an agent every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[int]:
        """The same object for an agent every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game. `options` is taken for PettingZoo's sake and has no meaning here."""
        self.batch.reset(seed)
        self._begin(removed=0)

    def _begin(self, removed: int) -> None:
        """Fill PettingZoo's dictionaries from the batch, with the first `removed` agents already gone."""
        self._has_reset = True
        self.agents = self.possible_agents[removed:]
        self._cumulative_rewards = {agent: float(self.batch.rewards[0, self._seats[agent]]) for agent in self.agents}
        self.rewards = dict.fromkeys(self.agents, 0.0) if removed else dict(self._cumulative_rewards)
        self.terminations = dict.fromkeys(self.agents, bool(self.batch.terminations[0]))
        self.truncations = dict.fromkeys(self.agents, bool(self.batch.truncations[0]))
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._select()

    def _select(self) -> None:
        self._over = bool(self.batch.terminations[0] or self.batch.truncations[0])
        if not self._over:
            self.agent_selection = self.possible_agents[self.batch.players[0]]
        elif self.agents:
            self.agent_selection = self.agents[0]

    def step(self, action: int | None) -> None:
        """Play the action of `agent_selection`; None once the game is over.

        Raises:
            TypeError: an action that is not an integer.
            ValueError: an action that is not legal, or no game to play it in; nothing has been changed.
        """
        if not self._has_reset:
            raise ValueError(f"got action {action!r} before the first reset(): call reset() to start a game")
        if not self.agents:
            raise ValueError(f"got action {action!r} in a finished game: call reset() to start another")
        agent = self.agent_selection
        if self._over:
            if action is not None:
                raise ValueError(f"got action {action!r} for {agent}, whose game is over: only None is allowed")
            self._was_dead_step(None)
            self._skip_agent_selection = None
            self._select()
            return
        chosen = self._legal(agent, action)
        self._cumulative_rewards[agent] = 0.0
        self._action[0] = chosen
        self.batch.step(self._action)
        self._select()
        if self._over:
            for seat, player in enumerate(self.possible_agents):
                self.rewards[player] = float(self.batch.rewards[0, seat])
                self._cumulative_rewards[player] += self.rewards[player]
                self.terminations[player] = bool(self.batch.terminations[0])
                self.truncations[player] = bool(self.batch.truncations[0])
        if self.render_mode == "human":
            self.render()

    def _legal(self, agent: str, action: Any) -> int:
        try:
            if isinstance(action, bool | np.bool_):
                raise TypeError
            chosen = operator.index(action)
        except TypeError:
            legal = self.batch.legal_words(0)
            raise TypeError(f"got action {action!r} for {agent}: it must be one integer; {legal}") from None
        if not (0 <= chosen < self.batch.masks.shape[1] and self.batch.masks[0, chosen]):
            raise ValueError(f"got action {chosen} for {agent}: {self.batch.legal_words(0)}")
        return chosen

    def observe(self, agent: str) -> Observation:
        """What an agent sees now, in arrays of its own.

        Raises:
            ValueError: no agent has this name, or there is no game yet.
        """
        if not self._has_reset:
            raise ValueError("nothing to observe before the first reset(): call reset() to start a game")
        seat = self._seat(agent)
        batch = self.batch
        if self._over:
            return {
                "observation": batch.final_observations[0, seat].copy(),
                "action_mask": batch.masks[0].copy(),
            }
        if agent == self.agent_selection:
            return {"observation": batch.observations[0].copy(), "action_mask": batch.masks[0].copy()}
        seen = batch.observe_seats()[0, seat]
        return {"observation": seen, "action_mask": np.zeros_like(batch.masks[0])}

    def last(self, observe: bool = True) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, rewards since its last action, termination, truncation and info of `agent_selection`.

        Raises:
            ValueError: there is no game, or all agents have left it.
        """
        if not self.agents:
            raise ValueError("there is no agent to ask: call reset() to start a game")
        return super().last(observe)  # type: ignore[no-any-return]

    def _seat(self, agent: str) -> int:
        if not isinstance(agent, str) or agent not in self._seats:
            raise ValueError(f"got agent {agent!r}: the agents are {', '.join(self.possible_agents)}")
        return self._seats[agent]

    def describe(self, agent: str | None = None) -> str:
        """The table in words, as an agent sees it; what everybody sees where None."""
        if not self._has_reset:
            raise ValueError("nothing to describe before the first reset(): call reset() to start a game")
        seat = None if agent is None else self._seat(agent)
        return str(self.batch.game.describe(self.batch.states[0], seat))

    def render(self) -> Any:
        """What everybody at the table sees: text in mode "ansi", pixels in mode "rgb_array", printed in mode "human".

        Raises:
            ImportError: mode "rgb_array" without Pillow.
            ValueError: there is no game yet.
        """
        if not self._has_reset:
            raise ValueError("nothing to render before the first reset(): call reset() to start a game")
        return render(self.batch, None, self.render_mode)

    def scene(self, agent: str | None = None) -> Scene:
        """The table as a picture's data, as an agent sees it; what everybody sees where None."""
        if not self._has_reset:
            raise ValueError("nothing to see before the first reset(): call reset() to start a game")
        seat = None if agent is None else self._seat(agent)
        seen: Scene = self.batch.game.scene(self.batch.states[0], seat)
        return seen

    def _repr_html_(self) -> str | None:
        """The table in a notebook, as everybody sees it."""
        return rendering.svg(self.scene()) if self._has_reset else None

    def close(self) -> None:
        """Nothing is held open."""

    def to_bytes(self) -> bytes:
        """The game as bytes, its random stream with it: `load_bytes` goes on from it identically."""
        if not self._has_reset:
            raise ValueError("nothing to save before the first reset(): call reset() to start a game")
        return self.batch.to_bytes() + bytes([len(self.possible_agents) - len(self.agents)])

    def load_bytes(self, data: bytes) -> None:
        """Go on from what `to_bytes` gave.

        Raises:
            TypeError: not bytes.
            ValueError: the data is of another game, version or number of players, or broken; nothing has been changed.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"got a save of type {type(data).__name__}: it must be bytes")
        if not len(data) or data[-1] > len(self.possible_agents):
            raise ValueError("got a save whose number of agents that have left is missing or too large")
        flags = bytes(data[-3:-1])  # the end-of-game flags of the one game
        if data[-1] and not any(flags):
            raise ValueError("got a save of a running game that agents have left")
        self.batch.load_bytes(data[:-1])
        self._begin(removed=data[-1])


def check_render_mode(render_mode: str | None) -> None:
    """Raises ValueError for a mode that is not there."""
    if render_mode not in (None, *RENDER_MODES):
        raise ValueError(f"got render_mode={render_mode!r}: allowed is None, {', '.join(map(repr, RENDER_MODES))}")


def render(batch: Batch, viewer: int | None, render_mode: str | None) -> Any:
    """The first table of a batch as a seat sees it, or everybody: text, pixels (uint8 (H, W, 3)), or printed text."""
    if render_mode is None:
        logger.warn(f"nothing is rendered: make the environment with a render_mode, one of {', '.join(RENDER_MODES)}")
        return None
    if render_mode == "rgb_array":
        return rendering.pixels(batch.game.scene(batch.states[0], viewer))
    text = str(batch.game.describe(batch.states[0], viewer))
    if render_mode == "human":
        print(text, end="\n\n")
    return text if render_mode == "ansi" else None


def observation_space(game: ModuleType) -> "spaces.Dict[Any]":
    """The space of what one seat sees and may do, the same for every player count and preset."""
    layout = game.OBSERVATION
    return spaces.Dict(
        {
            "observation": spaces.Box(layout.low, layout.high, dtype=np.int8),
            "action_mask": spaces.Box(0, 1, (game.NUM_ACTIONS,), np.int8),
        }
    )
