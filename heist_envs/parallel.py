"""The parallel PettingZoo face, for libraries that step all agents at once: whoever is not to act plays NO_OP."""

from types import ModuleType
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from heist_envs.aec import RENDER_MODES, Observation, check_render_mode, observation_space, render
from heist_envs.engine import Batch


class HeistParallelEnv(ParallelEnv[str, Observation, int]):  # type: ignore[misc]
    """One game with agents `player_0`, `player_1`, … of which one acts at each step.

    Observations are `{"observation": int8 (D,), "action_mask": int8 (A + 1,)}`. The last action, `NO_OP`, is the only legal
    one of everybody who is not to act, and never legal for who is. The game ends for all at once, with all rewards.
    """

    def __init__(self, game: ModuleType, render_mode: str | None = None, **options: Any) -> None:
        check_render_mode(render_mode)
        self.metadata = {"name": f"{game.NAME}_v{game.VERSION}", "render_modes": list(RENDER_MODES)}
        self.render_mode = render_mode
        self.batch = Batch(game, game.new_initial_state(**options), autoreset=False)
        self.NO_OP = game.NUM_ACTIONS
        self.possible_agents = [f"player_{seat}" for seat in range(self.batch.num_players)]
        self.agents: list[str] = []
        seen = observation_space(game)["observation"]
        mask = spaces.Box(0, 1, (game.NUM_ACTIONS + 1,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self.NO_OP + 1) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> "spaces.Dict[Any]":
        """The same object for an agent every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same object for an agent every time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Start a new game; None goes on in the stream of the game before. `options` has no meaning here."""
        self.batch.reset(seed)
        self.agents = self.possible_agents[:]
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play the action of the agent who is to act. The others may be left out, or play NO_OP.

        Raises:
            TypeError: an action that is not an integer.
            ValueError: an action that is not legal, an unknown agent, or no game yet; nothing has been changed.
        """
        if not self.agents:
            raise ValueError("got actions without a running game: call reset() to start one")
        actor = self.possible_agents[self.batch.players[0]]
        for agent, action in actions.items():
            if agent not in self.agents:
                raise ValueError(f"got an action for {agent!r}: the agents are {', '.join(self.agents)}")
            if agent != actor and action != self.NO_OP:
                raise ValueError(f"got action {action!r} for {agent}: {actor} is to act, legal is {self.NO_OP} NO_OP")
        if actor not in actions:
            raise ValueError(f"got no action for {actor}, who is to act: {self.batch.legal_words(0)}")
        if isinstance(actions[actor], bool | np.bool_):
            raise TypeError(f"got action {actions[actor]!r} for {actor}: it must be an integer")
        batch = self.batch
        batch.step(batch.check_actions(np.asarray(actions[actor])[None]))
        agents = self.agents
        terminated, truncated = bool(batch.terminations[0]), bool(batch.truncations[0])
        over = terminated or truncated
        rewards = {agent: float(batch.rewards[0, seat]) if over else 0.0 for seat, agent in enumerate(agents)}
        observations = self._observations()
        if over:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return (
            observations,
            rewards,
            dict.fromkeys(agents, terminated),
            dict.fromkeys(agents, truncated),
            {agent: {} for agent in agents},
        )

    def _observations(self) -> dict[str, Observation]:
        batch = self.batch
        over = bool(batch.terminations[0] or batch.truncations[0])
        seen: NDArray[np.int8] = (batch.final_observations[0] if over else batch.observe_seats()[0]).copy()
        masks = np.zeros((batch.num_players, self.NO_OP + 1), np.int8)
        masks[:, self.NO_OP] = 1
        if not over:
            masks[batch.players[0]] = [*batch.masks[0], 0]
        return {
            agent: {"observation": seen[seat], "action_mask": masks[seat]} for seat, agent in enumerate(self.possible_agents)
        }

    def render(self) -> Any:
        """What everybody at the table sees: text in mode "ansi", pixels in mode "rgb_array", printed in mode "human"."""
        return render(self.batch, None, self.render_mode)

    def close(self) -> None:
        """Nothing is held open."""
