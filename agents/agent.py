"""What an agent is, and how one is asked."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance
from heist_envs.engine import HOLD, Batch
from heist_envs.rules import current_player, determinize


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


@runtime_checkable
class OpenAgent(Protocol):
    """An agent that can say how likely it is to do what."""

    def probabilities(self, observations: NDArray[np.int8], action_masks: NDArray[np.int8]) -> NDArray[np.float64]:
        """The probability of each action, float64 (N, A); 0 for illegal ones."""
        ...


@runtime_checkable
class Searcher(Protocol):
    """Decides for many seats at once, each by playing on from a state that it takes its own for."""

    def act_in(self, states: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """A legal action per row.

        Args:
            states: structured (N,), in each of which a player is to act, with that player's own guess of all that it cannot
                know (`guesses`): who asks a searcher keeps the true states to himself. They are the searcher's to change.
            rng: the only source of chance.

        Returns:
            int64 (N,)
        """
        ...


AnyAgent: TypeAlias = Agent | Searcher

FORFEIT = -1
"""In place of an action: an agent with a list `faults` gives the game up, and has added the reason to it."""


def new_streams(rng: np.random.Generator, count: int) -> NDArray[Any]:
    """Streams of compiled code, `chance.STREAM` (count,), that follow from a generator."""
    return chance.streams(rng.integers(chance.MAX_SEED, size=count, dtype=np.uint64))


def guesses(states: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Copies of states, in which all that the player who is to act cannot know has been redrawn."""
    copies = states.copy()
    for copy, stream in zip(copies, new_streams(rng, len(copies)), strict=True):
        determinize(copy, current_player(copy), stream)
    return copies


def ask(
    agent: AnyAgent,
    states: NDArray[Any],
    rows: NDArray[np.intp],
    observations: NDArray[np.int8],
    action_masks: NDArray[np.int8],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """The actions of an agent of either kind, unchecked (`FORFEIT`); the states of `rows` reach nobody but as `guesses`."""
    if not hasattr(agent, "act_in"):  # `isinstance` takes 30 µs with a protocol, and this is asked at every decision
        return agent.act(observations, action_masks, rng)
    return agent.act_in(guesses(states[rows], rng), rng)


def refuse_forfeit(agent: AnyAgent, given: Any, who: str) -> None:
    """Nothing, if an agent has not given the game up.

    Raises:
        ValueError: it has, with its reason.
    """
    faults = getattr(agent, "faults", None)
    if given == FORFEIT and faults:
        raise ValueError(f"{who} forfeits: {faults[-1]}")


def answered(agent: AnyAgent, given: Any, number: int) -> NDArray[Any]:
    """What an agent gave for a number of games, if it is an integer for each.

    Raises:
        TypeError: it gave something else than integers.
        ValueError: it gave another number of them.
    """
    made, who = np.asarray(given), type(agent).__name__
    if not np.issubdtype(made.dtype, np.integer):
        raise TypeError(f"{who} gave actions of dtype {made.dtype}: they must be integers")
    if made.shape != (number,):
        raise ValueError(f"{who} gave actions of shape {made.shape} for {number} games: one per game is needed")
    return made


def decide(agent: AnyAgent, batch: Batch, rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """The actions of an agent for some games of a batch, int64 (len(rows),), from what the seats to act there see.

    Raises:
        TypeError: the agent gave something else than integers.
        ValueError: it gave another number of them, an illegal one, or forfeits.
    """
    masks = batch.masks[rows]
    given = answered(agent, ask(agent, batch.states, rows, batch.observations[rows], masks, rng), len(rows))
    who = type(agent).__name__
    inside = (given >= 0) & (given < masks.shape[1])
    illegal = np.flatnonzero(~inside | (masks[np.arange(len(rows)), np.where(inside, given, 0)] == 0))
    if len(illegal):
        i = illegal[0]
        refuse_forfeit(agent, given[i], who)
        raise ValueError(f"{who} gave action {given[i]}: {batch.legal_words(rows[i])}")
    return given.astype(np.int64)


def decide_together(
    agents: Sequence[AnyAgent],
    asked: NDArray[np.int64],
    batch: Batch,
    rng: np.random.Generator,
    decide: Callable[..., NDArray[np.int64]] = decide,
) -> NDArray[np.int64]:
    """The actions of several agents for the games of a batch, each asked once for all of its own, int64 (N,).

    Args:
        agents: in the order in which they are asked; one that stands here twice is asked once, in its first place.
        asked: the number of the agent that is to act in each game, int64 (N,); -1: nobody, and the action is HOLD.
        batch: the games.
        rng: the agents' only source of chance.
        decide: how one is asked.
    """
    actions = np.full(len(batch), HOLD)
    names = [id(agent) for agent in agents]
    first = np.array([names.index(name) for name in names])
    asked = np.where(asked >= 0, first[asked], -1)
    for k in np.unique(asked[asked >= 0]):
        rows = np.flatnonzero(asked == k)
        actions[rows] = decide(agents[k], batch, rows, rng)
    return actions


AGREEING = 8
"""An agent that gives the same actions this many times, in every game that it is asked about, leaves nothing to chance."""


def probabilities(
    agent: AnyAgent, batch: Batch, rows: NDArray[np.intp], draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """How likely an agent is to do what in some games of a batch, float64 (len(rows), A).

    Exact for an agent that says it (`OpenAgent`) and for one that leaves nothing to chance (`AGREEING`); of any other, how
    often it did what in `draws` answers in each game.
    """
    if isinstance(agent, OpenAgent):
        return agent.probabilities(batch.observations[rows], batch.masks[rows])
    counts = np.zeros((len(rows), batch.masks.shape[1]))
    for draw in range(1, draws + 1):
        counts[np.arange(len(rows)), decide(agent, batch, rows, rng)] += 1
        if draw == AGREEING and (counts.max(axis=1, initial=0) == draw).all():
            break
    shares: NDArray[np.float64] = counts / draw
    return shares
