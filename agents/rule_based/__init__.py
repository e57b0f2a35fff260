"""Agents that play by rules of thumb: per game a module with `STYLES`, the first of which is the main one, and `decide`.

`HELD_OUT` has styles more, which no training plays against. Two of them are a pair: "colluder-next" plays for the next seat
clockwise as well, "colluder-before" for the one before, each by what its own seat sees.
"""

import importlib

import numpy as np
from numpy.typing import NDArray

from heist_envs.games import load

NUM_CHANCES = 4
"""Uniform random numbers in [0, 1) that a decision may use."""


class RuleBasedAgent:
    """Plays a game by rules of thumb, in one of the game's styles.

    Args:
        game: the name of a game.
        style: one of the `STYLES` or `HELD_OUT` of the game's module; None is the main one.

    Raises:
        ValueError: no game or style has this name.
    """

    def __init__(self, game: str, style: str | None = None) -> None:
        load(game)
        self.rules = importlib.import_module(f"heist_envs.agents.rule_based.{game}")
        styles = self.rules.STYLES | self.rules.HELD_OUT
        if style is not None and style not in styles:
            raise ValueError(f"got style {style!r}: the styles of {game} are {', '.join(map(repr, styles))}")
        self.style = next(iter(styles.values())) if style is None else styles[style]
        self.game, self.layout = game, load(game).OBSERVATION

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """See `Agent.act`."""
        if observations.dtype != np.int8 or observations.shape[1:] != (self.layout.size,):
            given = f"{observations.dtype} {observations.shape}"
            needed = f"int8 (N, {self.layout.size}), those of {self.game}"
            raise ValueError(f"got observations {given}: they must be {needed}")
        rows = np.ascontiguousarray(observations).view(self.layout.record)[:, 0]
        actions = np.zeros(len(rows), np.int64)
        chances = rng.random((len(rows), NUM_CHANCES))
        self.rules.decide(rows, np.ascontiguousarray(action_masks), self.style, chances, actions)
        return actions
