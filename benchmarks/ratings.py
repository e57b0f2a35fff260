"""Ratings from a cross table: what each agent would earn against the hardest mixture of all of them.

    python -m heist_envs.benchmarks.ratings benchmarks/results/cross-holdup.json

A cross table P says what one agent of the row earns among many of the column. Where one i sits among n - 1 copies of j, an
i is ahead of a j by P[i, j] n / (n - 1), since the game is zero-sum; where one j sits among copies of i, by -P[j, i] times
the same. So A = (P - P') / 2 is, up to that factor, by how much an i is ahead of a j, the mean of both tables. It is a
zero-sum game of two, in which each names an agent; with two players it is P itself.

A mixture p of agents that nobody is ahead of is an equilibrium of that game, and A p is what each agent earns against it.
There may be many such mixtures. The one that is asked for presses the agents down hardest: the best one as far as it goes,
which is to 0, then the best of the others as far as it goes, and so on. All mixtures that do so leave each agent the same,
and that is its rating: 0 for those whom no mixture beats, below 0 for others. So do the deviation ratings of Marris et al.
("Deviation ratings: a general, clone-invariant rating method", 2025), which rate any game; this is their case of a symmetric
zero-sum game of two.

- Who comes with a copy of himself changes no rating: a copy adds nothing to what mixtures can do.
- Agents that earn the same against all are rated alike, and so are all agents where every game is a draw.
- Who is ahead of each by less than another is, is rated below him.

A mean over the row moves with copies, and so does the mixture of most entropy ("Re-evaluating evaluation", Balduzzi et al.
2018) where there is more than one equilibrium: it gives a kind of agent more weight for each copy.

What these ratings cannot say. They know tables of one against many, nothing of tables of three kinds or of two against two,
and nothing of agents that were not entered. They are no measure of success in a weak field: only what the hardest mixture
does counts, so that who wins most from weak agents gains nothing by it, and a new agent lowers those whom it beats. They
are made from measured means and have their noise (`intervals`), which leans downwards: noise makes some mixture look hard.
"""

import json
import pathlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heist_envs.benchmarks.tournament import NORMAL_95
from heist_envs.command import CommandParser, launch

BINDING = 1e-6
"""A constraint whose multiplier is above this holds with equality in every solution; the largest is 1 / N at least."""


def ratings(payoffs: ArrayLike) -> NDArray[np.float64]:
    """The rating of each agent, float64 (N,), in the unit of the payoffs; the best is 0.

    Args:
        payoffs: what one of the row earns among many of the column, (N, N). The diagonal does not matter.

    Raises:
        ImportError: scipy is not installed.
        ValueError: the payoffs are not finite numbers (N, N).
    """
    try:
        from scipy.optimize import linprog
    except ImportError as missing:
        raise ImportError("ratings need scipy: pip install 'heist-envs[solve]'") from missing
    given = np.asarray(payoffs, np.float64)
    n = len(given)
    if given.shape != (n, n) or n == 0 or not np.isfinite(given).all():
        raise ValueError(f"got payoffs of shape {given.shape}: finite numbers (N, N) are needed")
    ahead = (given - given.T) / 2
    found = np.zeros(n)
    free = np.ones(n, np.bool_)
    while free.any():
        # The mixture, and the level that no agent still free is above: the lowest one.
        solved = linprog(
            np.append(np.zeros(n), 1.0),
            A_ub=np.column_stack([ahead, -free.astype(np.float64)]),
            b_ub=found,
            A_eq=[[1.0] * n + [0.0]],
            b_eq=[1.0],
            bounds=[(0, None)] * n + [(None, None)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solved.status != 0:
            raise ArithmeticError(f"the linear programme of the ratings was not solved: {solved.message}")
        pressed = free & (-solved.ineqlin.marginals > BINDING)
        found[pressed] = solved.x[-1]
        free &= ~pressed
    return np.round(found, 12) + 0.0  # less is the solver's noise; and no -0


def intervals(scores: ArrayLike, draws: int = 100, seed: int = 0) -> NDArray[np.float64]:
    """Where 95% of an agent's ratings lie when the table is measured again, float64 (N, 2).

    The parametric bootstrap (Efron and Tibshirani, "An introduction to the bootstrap", 1993, 6.5): every mean is drawn anew
    from the normal distribution about it that its half-width says, and the table is rated again. Entries are drawn
    independently, as if each match had deals of its own.

    Args:
        scores: mean and half-width of its 95% interval, (N, N, 2).
        draws: tables.
        seed: of the draws.
    """
    means, widths = np.moveaxis(np.asarray(scores, np.float64), -1, 0)
    rng = np.random.default_rng(seed)
    again = [ratings(means + widths / NORMAL_95 * rng.standard_normal(means.shape)) for _ in range(draws)]
    found: NDArray[np.float64] = np.quantile(again, [0.025, 0.975], axis=0).T
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.ratings", __doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="results of `tournament --cross --json`")
    given = parser.parse_args(arguments)
    for file in given.files:
        result = json.loads(file.read_text())
        if not isinstance(result, dict) or not isinstance(result.get("tables"), list):
            raise ValueError(f"{file} holds no finished cross table, as `tournament --cross --json` writes it")
        for table in result["tables"]:
            scores = np.array(table["scores"])
            means = scores[..., 0]
            rated, noise = ratings(means), intervals(scores)
            print(f"{result['game']}, {table['options']}: rating, its 95% interval, and mean over the row")
            for k in np.argsort(-rated, kind="stable"):
                low, high = noise[k]
                print(f"  {result['agents'][k]:30} {rated[k]:+.3f} ({low:+.3f} to {high:+.3f}) {means[k].mean():+.3f}")


if __name__ == "__main__":
    launch(main)
