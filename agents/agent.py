"""What an agent is."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Agent(Protocol):
    """Decides for many seats at once, each from its own observation and nothing else."""

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A legal action per row.

        Args:
            observations: int8 (N, D), what the acting seat sees in each of N games.
            action_masks: int8 (N, A), 1 for each legal action, at least one in each row.
            rng: the only source of chance.

        Returns:
            int64 (N,)
        """
        ...
