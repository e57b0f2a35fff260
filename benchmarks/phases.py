"""Where the time of a decision goes: the same games, played with and without a phase.

Some hundred decisions of a batch are played once, and all that was drawn is written down: the actions and what chance did.
Then the very same games are played again from the same start by one compiled loop, which goes through blocks of games as
`engine.play_at_random` does, and which does more and more of the work itself:

    rules          the actions and the outcomes of chance are read from the record and applied, finished games start again
    chance         outcomes are weighed and drawn as well, to the same ones
    mask           and each decision's mask is written
    observation    and each decision's observation
    choice         and the action is drawn, to the same one: now it is all that `engine.play_at_random` does

A phase takes what the loop takes longer with it. All loops end in the same states, which the tests check. What a phase takes
depends a little on what is done beside it, since processors do several things at once; so the order is always this one.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import heist_envs
from heist_envs import chance, wide
from heist_envs.benchmarks.stopwatch import Work
from heist_envs.engine import AHEAD, BLOCK, RESTART, Batch, row
from heist_envs.rules import (
    CHANCE,
    TERMINAL,
    apply_action,
    chance_outcomes,
    compiled,
    current_player,
    legal_actions,
    observe,
    reset,
)

STEPS = 200
"""Decisions in each game of the record."""


class Phases(NamedTuple):
    """What is done anew, besides the rules; what is not is read from the record or left out."""

    chance: bool
    mask: bool
    observation: bool
    choice: bool


LEVELS = {
    "rules": Phases(False, False, False, False),
    "chance": Phases(True, False, False, False),
    "mask": Phases(True, True, False, False),
    "observation": Phases(True, True, True, False),
    "choice": Phases(True, True, True, True),
}
"""By the phase that is new in it."""


@compiled
def play_again(
    states: NDArray[Any],
    streams: NDArray[Any],
    choices: NDArray[Any],
    actions: NDArray[np.int64],
    outcomes: NDArray[np.int16],
    observations: NDArray[Any],
    masks: NDArray[Any],
    weights: NDArray[Any],
    phases: Phases,
) -> int:
    """Play recorded decisions, or play and record them.

    Args:
        states: structured (N,), and its buffers as in `engine.play_at_random`.
        actions: int64 (T, N), of each decision in each game; written where `phases.choice`.
        outcomes: int16 (M,), what chance did, in the order of play; written where `phases.chance`, as far as there is room.
        phases: what is done.

    Returns:
        How often chance acted.
    """
    last = len(states) - 1
    acted = 0
    for t in range(len(actions)):
        for start in range(0, len(states), BLOCK):
            block = range(start, min(start + BLOCK, len(states)))
            if phases.choice:
                for i in block:
                    actions[t, i] = chance.draw(choices[i], masks[i])
            for i in block:
                wide.prefetch(states[min(i + AHEAD, last)])
                state, action = states[i], actions[t, i]
                player = CHANCE
                while player < 0:
                    if action == RESTART:
                        reset(state)
                    else:
                        apply_action(state, action)
                    player = current_player(state)
                    if player == TERMINAL:
                        action = RESTART
                    elif player == CHANCE:
                        if phases.chance:
                            chance_outcomes(state, weights[0].values)
                            action = chance.draw(streams[i], weights[0])
                            if acted < len(outcomes):
                                outcomes[acted] = action
                        else:
                            action = np.int64(outcomes[acted])
                        acted += 1
            for i in block:
                wide.prefetch(observations[min(i + AHEAD, last)])
                if phases.mask:
                    legal_actions(states[i], masks[i].values)
                if phases.observation:
                    observe(states[i], current_player(states[i]), observations[i])
    return acted


class Recorded:
    """Some decisions of a batch that start in its present states, with all that was drawn in them.

    Args:
        batch: the games, which are played on.
        choices: the streams that random actions are drawn from, `chance.STREAM` (N,).
        num_steps: decisions of each game.
    """

    def __init__(self, batch: Batch, choices: NDArray[Any], num_steps: int) -> None:
        self.batch = batch
        self.choices = choices
        self.weights = np.zeros(1, row(np.int32, batch.game.MAX_CHANCE_OUTCOMES))
        self.start = [array.copy() for array in self._arrays()]
        self.actions = np.zeros((num_steps, len(batch)), np.int64)
        self.outcomes = np.zeros(0, np.int16)
        self.outcomes = np.zeros(self.play(LEVELS["choice"]), np.int16)
        self.play(LEVELS["choice"])

    def _arrays(self) -> list[NDArray[Any]]:
        return [self.batch.states, self.batch.streams, self.choices, self.batch.masks]

    def play(self, phases: Phases) -> int:
        """Play the decisions from the start; how often chance acted."""
        batch = self.batch
        for array, start in zip(self._arrays(), self.start, strict=True):
            array[...] = start
        acted: int = play_again(
            batch.states,
            batch.streams,
            self.choices,
            self.actions,
            self.outcomes,
            batch.observation_rows,
            batch.mask_rows,
            self.weights,
            phases,
        )
        return acted

    def work(self, phases: Phases) -> Work:
        """`play`, to be measured."""

        def work() -> int:
            self.play(phases)
            return self.actions.size

        return work


def works(game: str, num_players: int, num_envs: int) -> dict[str, Work]:
    """For each phase the loop that has it and those before it."""
    batch = heist_envs.make_vec(game, num_envs, num_players).batch
    batch.reset(0)
    choices = chance.streams(chance.seeds(1, num_envs))
    Recorded(batch, choices, STEPS)  # goes on to where games are at all stages
    record = Recorded(batch, choices, STEPS)
    return {name: record.work(phases) for name, phases in LEVELS.items()}
