"""All equilibria of a table for two players whose payoffs sum to zero, by linear programming. It needs scipy (`[solve]`).

In sequence form an equilibrium is a linear programme as large as the tree (Koller, Megiddo and von Stengel, "Fast algorithms
for finding randomized strategies in game trees", 1994): a plan x of one player (E x = e, x >= 0) that maximises what is left
to it when the other answers best, which by duality is the worth q of the other's empty sequence under F' q <= A' x. All
optimal plans together are one polytope, so what an equilibrium may do at an information set is an interval, and a single
equilibrium's frequency of a bluff says little: `frequency_intervals` gives the ends.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.solver import SequenceForm, normalized

try:
    from scipy import sparse
    from scipy.optimize import linprog
except ImportError as missing:
    raise ImportError(f"this needs {missing.name}: pip install 'heist-envs[solve]'") from missing

TOLERANCE = 1e-9
"""How much below the value of the game a plan may be worth and still count as optimal."""
LEAST_REACH = 1e-3
"""An own probability of coming to an information set below which an equilibrium counts as never coming there: where it
comes hardly ever, the tolerance would excuse whatever it does."""

PRECISION = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
"""Of HiGHS, the finest that it takes."""


class Programme(NamedTuple):
    """What one player's plan x and the worth q of the other's information sets have to satisfy, over the columns (x, q)."""

    own: NDArray[np.int64]
    """The sequences that are the columns x, the empty one last."""
    plans: Any
    """Sparse: what flows into an information set flows out, `plans @ x = 0`."""
    answers: Any
    """Sparse: no sequence of the other gives more than q says, `answers @ (x, q) <= 0`."""
    worth: int
    """The column of the q of the other's empty sequence: what the plan guarantees."""


class Optimum(NamedTuple):
    """An optimal plan of one player."""

    value: float
    """What it gets at least."""
    strategy: NDArray[np.float64]
    """Its strategy, float64 (num_sequences,); all actions alike where it does not come, and for the other player."""


def _flow(form: SequenceForm, player: int) -> tuple[NDArray[np.int64], Any]:
    """A player's sequences and, per information set of it, 1 for each sequence that leaves and -1 where it enters."""
    counts = np.diff(form.first)
    mine = np.flatnonzero(form.players == player)
    own = np.append(np.flatnonzero(np.repeat(form.players, counts) == player), len(form.actions) + player)
    rows = np.concatenate([np.repeat(np.arange(len(mine)), counts[mine]), np.arange(len(mine))])
    columns = np.searchsorted(own, np.concatenate([own[:-1], form.parents[mine]]))
    entries = np.concatenate([np.ones(len(own) - 1), -np.ones(len(mine))])
    return own, sparse.csr_matrix((entries, (rows, columns)), (len(mine), len(own)))


def programme(form: SequenceForm, player: int) -> Programme:
    """The constraints on a player's plan.

    Raises:
        ValueError: not two players, or payoffs that do not sum to zero.
    """
    if len(form.leaves) != 2 or np.abs(form.gains.sum(axis=0)).max(initial=0) > TOLERANCE:
        raise ValueError("got a game that is not for two players with payoffs that sum to zero")
    own, plans = _flow(form, player)
    others, flow = _flow(form, 1 - player)
    places = (np.searchsorted(others, form.leaves[1 - player]), np.searchsorted(own, form.leaves[player]))
    payoffs = sparse.csr_matrix((form.gains[player], places), (len(others), len(own)))
    # q of a sequence's information set is at most what its endings give and the q of the sets that follow; the empty
    # sequence is one action of an information set of its own, whose q comes last.
    first = sparse.csr_matrix(([1.0], ([0], [len(others) - 1])), (1, len(others)))
    answers = sparse.hstack([-payoffs, sparse.vstack([flow, first]).T], format="csr")
    return Programme(own, plans, answers, answers.shape[1] - 1)


def _solve(objective: NDArray[np.float64], at_most: Any, equal: Any, constants: NDArray[np.float64], num_plans: int) -> Any:
    """Maximise over non-negative plans and free worths, with right-hand sides 0 for the inequalities."""
    limits: list[tuple[float | None, float | None]] = [(0.0, None)] * num_plans
    limits[-1] = (0.0, 1 / LEAST_REACH)  # the empty sequence, which is 1 where plans are not scaled
    limits += [(None, None)] * (len(objective) - num_plans)
    return linprog(-objective, at_most, np.zeros(at_most.shape[0]), equal, constants, limits, options=PRECISION)


def _wide(matrix: Any, columns: int) -> Any:
    """A matrix with columns of zeros added."""
    return sparse.hstack([matrix, sparse.csr_matrix((matrix.shape[0], columns - matrix.shape[1]))], format="csr")


def _unit(columns: int, entries: dict[int, float]) -> Any:
    return sparse.csr_matrix((list(entries.values()), ([0] * len(entries), list(entries))), (1, columns))


def optimum(form: SequenceForm, player: int) -> Optimum:
    """An optimal strategy of one player; those of both are an equilibrium, and their values sum to zero.

    Raises:
        ValueError: not two players, or payoffs that do not sum to zero.
        RuntimeError: the solver gave up.
    """
    task = programme(form, player)
    size, num_plans = task.answers.shape[1], len(task.own)
    objective = np.zeros(size)
    objective[task.worth] = 1
    equal = sparse.vstack([_wide(task.plans, size), _unit(size, {num_plans - 1: 1.0})], format="csr")
    constants = np.append(np.zeros(len(task.plans.indptr) - 1), 1.0)
    found = _solve(objective, task.answers, equal, constants, num_plans)
    if found.status != 0:
        raise RuntimeError(f"no optimum was found: {found.message}")
    plan = np.zeros(len(form.actions))
    plan[task.own[:-1]] = found.x[: num_plans - 1].clip(0)
    return Optimum(-float(found.fun), normalized(form, plan))


def frequency_intervals(form: SequenceForm, value: float, sets: Sequence[int]) -> list[NDArray[np.float64] | None]:
    """The least and the greatest probability of each action at some information sets, over all equilibria.

    A probability is that of the action given that its player's own earlier choices lead to the information set. Equilibria
    in which they never do (`LEAST_REACH`) say nothing about it and are left out; where that is all of them, there is no
    interval: None. Whether the opponent or chance leads there does not matter: these are Nash equilibria, free where it is
    no loss. The ratio of two sequences is made linear by the substitution of Charnes and Cooper (1962). The ends are exact
    to about `TOLERANCE / LEAST_REACH`.

    Args:
        form: a game for two players whose payoffs sum to zero.
        value: what its first player gets in an equilibrium (`optimum`).
        sets: numbers of information sets.

    Returns:
        Per information set, float64 (num_actions, 2).

    Raises:
        ValueError: not two players, or payoffs that do not sum to zero.
        RuntimeError: the solver gave up.
    """
    tasks = [programme(form, player) for player in (0, 1)]
    return [_intervals(form, tasks[form.players[i]], value if form.players[i] == 0 else -value, i) for i in sets]


def _intervals(form: SequenceForm, task: Programme, value: float, information_set: int) -> NDArray[np.float64] | None:
    """All plans are scaled so that the sequence before the information set has 1: the empty one then is a variable."""
    size, num_plans = task.answers.shape[1], len(task.own)
    before = int(np.searchsorted(task.own, form.parents[information_set]))
    optimal = _unit(size, {task.worth: -1.0, num_plans - 1: value - TOLERANCE})
    at_most = sparse.vstack([task.answers, optimal], format="csr")
    equal = sparse.vstack([_wide(task.plans, size), _unit(size, {before: 1.0})], format="csr")
    constants = np.append(np.zeros(equal.shape[0] - 1), 1.0)
    ends = []
    for s in range(form.first[information_set], form.first[information_set + 1]):
        objective = np.zeros(size)
        objective[np.searchsorted(task.own, s)] = 1
        for sign in (-1, 1):
            found = _solve(sign * objective, at_most, equal, constants, num_plans)
            if found.status == 2:  # infeasible
                return None
            if found.status != 0:
                raise RuntimeError(f"no interval was found: {found.message}")
            ends.append(-sign * float(found.fun))
    return np.array(ends).reshape(-1, 2).clip(0, 1)
