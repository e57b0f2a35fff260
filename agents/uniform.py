"""The uniform agent: every legal action alike."""

import numpy as np
from numpy.typing import NDArray

from heist_envs.rules import compiled


@compiled
def choose(action_masks: NDArray[np.int8], fractions: NDArray[np.float64], actions: NDArray[np.int64]) -> None:
    """The legal action at a fraction in [0, 1) of the way through the legal actions of each row."""
    for i in range(len(action_masks)):
        legal = 0
        for allowed in action_masks[i]:
            legal += allowed
        skip = int(fractions[i] * legal)
        for action in range(action_masks.shape[1]):
            if action_masks[i, action]:
                if skip == 0:
                    actions[i] = action
                    break
                skip -= 1


class UniformAgent:
    """Plays each legal action with the same probability."""

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """See `Agent.act`."""
        actions = np.zeros(len(action_masks), np.int64)
        choose(action_masks, rng.random(len(action_masks)), actions)
        return actions

    def probabilities(self, observations: NDArray[np.int8], action_masks: NDArray[np.int8]) -> NDArray[np.float64]:
        """The probability of each action, float64 (N, A); 0 for illegal ones."""
        shares: NDArray[np.float64] = action_masks / action_masks.sum(axis=1, keepdims=True)
        return shares
