"""Games as a learner lives them: from one decision of its own to the next, while agents answer for the other seats."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.agent import AnyAgent, decide_together
from heist_envs.engine import HOLD, RESTART, Batch

MAX_SKIPPED = 1000
"""Games in a row that may go by without a question to the learner."""
EVERY_SEAT = -1
"""In place of a seat: all seats of this game learn, and nobody answers."""


class LearnerBatch:
    """N games, in each of which one seat learns, or every seat.

    With a batch that has autoreset, a finished game starts again in the same step. A game that begins and ends with no
    question to the learner is played and forgotten: it has nothing to teach.

    Args:
        batch: the games.
        seats: the seat that learns in each game, int (N,), `EVERY_SEAT` among them; None draws it anew for every game,
            all alike likely.
        agents: who may answer.
        answering: which of the agents answers for each place, int (N, num_players): in game i, for the seat k places to
            the left of the learner's, `agents[answering[i, k]]`.

    Attributes, of the last step:
        acted: the seat that took the decision, int8 (N,).
        rewards: what every seat got, float32 (N, num_players); 0 but where a game ended.
        terminations, truncations, ended (either of them): bool (N,).
        final_observations: what every seat saw last, int8 (N, num_players, D), of the games that ended.
        final_seats: the seat that had learned there, int (N,).
    """

    def __init__(
        self,
        batch: Batch,
        seats: NDArray[np.integer] | None,
        agents: Sequence[AnyAgent],
        answering: NDArray[np.integer],
    ) -> None:
        n = len(batch)
        self.batch = batch
        self.agents = list(agents)
        self.answering = np.asarray(answering)
        self._draws = seats is None
        self.seats = np.zeros(n, np.int64) if seats is None else np.array(seats, np.int64)
        self.final_seats = self.seats.copy()
        self.acted = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, batch.num_players), np.float32)
        self.terminations, self.truncations, self.ended = np.zeros((3, n), np.bool_)
        self.final_observations = np.zeros_like(batch.final_observations)
        self.rng = np.random.default_rng()

    def __len__(self) -> int:
        return len(self.batch)

    def own_rewards(self) -> NDArray[np.float32]:
        """What the learning seats got, float32 (N,); 0 but where a game ended."""
        return self.rewards[np.arange(len(self)), self.final_seats]

    def last_view(self, i: int) -> NDArray[np.int8]:
        """What the seat that had learned in game i, which has ended, saw last, int8 (D,)."""
        seen: NDArray[np.int8] = self.final_observations[i, self.final_seats[i]].copy()
        return seen

    def reset(self, seed: int | list[int] | None, rng: np.random.Generator) -> None:
        """Start all games (`Batch.reset`); the agents' chances, and the seats where they are drawn, come from `rng`.

        Raises:
            RuntimeError: `MAX_SKIPPED` games in a row end before the learner is asked anything; `step` too.
        """
        self.batch.reset(seed)
        self.rng = rng
        self._deal_seats(np.ones(len(self), np.bool_))
        self._answer()
        unasked = self.batch.terminations | self.batch.truncations
        skips = 0
        while not self.batch.autoreset and unasked.any():
            skips += 1
            self._refuse_endless(skips * unasked)
            self.batch.step(np.where(unasked, RESTART, HOLD))
            self._answer()
            unasked = self.batch.terminations | self.batch.truncations
        self._forget()

    def _refuse_endless(self, skipped: NDArray[np.integer]) -> None:
        if skipped.max() > MAX_SKIPPED:
            seat = self.seats[skipped.argmax()]
            raise RuntimeError(f"{MAX_SKIPPED} games in a row ended before player_{seat}, who learns, was asked")

    def _forget(self) -> None:
        self.rewards[:] = 0
        self.terminations[:] = self.truncations[:] = self.ended[:] = False

    def _deal_seats(self, games: NDArray[np.bool_]) -> None:
        if self._draws and games.any():
            self.seats[games] = self.rng.integers(self.batch.num_players, size=int(games.sum()))

    def step(self, actions: NDArray[np.int64]) -> None:
        """Play the learners' actions, which must be legal (`Batch.check_actions`), and all answers to them."""
        batch = self.batch
        self._forget()
        self.acted[:] = batch.players
        batch.step(actions)
        self._note_ends(np.ones(len(self), np.bool_))
        self._answer()

    def _note_ends(self, stepped: NDArray[np.bool_]) -> None:
        """Keep what the first end of a game in this step gave; a game that went by without a question does not count."""
        batch = self.batch
        over = stepped & (batch.terminations | batch.truncations)
        first = over & ~self.ended
        if first.any():
            self.rewards[first] = batch.rewards[first]
            self.terminations[first] = batch.terminations[first]
            self.truncations[first] = batch.truncations[first]
            self.final_observations[first] = batch.final_observations[first]
            self.final_seats[first] = self.seats[first]
            self.ended |= first
        self._deal_seats(over)

    def _answer(self) -> None:
        """Let the agents play until a learner is to act in every game."""
        batch = self.batch
        n = batch.num_players
        skipped = np.zeros(len(self), np.int64)
        while True:
            waiting = (self.seats != EVERY_SEAT) & (batch.players != self.seats)
            if not batch.autoreset:
                waiting &= ~(batch.terminations | batch.truncations)
            if not waiting.any():
                return
            places = (batch.players - self.seats) % n
            asked = np.where(waiting, self.answering[np.arange(len(self)), places], -1)
            batch.step(decide_together(self.agents, asked, batch, self.rng))
            self._note_ends(waiting)
            skipped += waiting & (batch.terminations | batch.truncations)
            self._refuse_endless(skipped)
