"""How long a table takes to solve, how exactly, and beside OpenSpiel on the same tree.

    python -m heist_envs.benchmarks.solve --games magpies --json benchmarks/results/solve-magpies.json

CFR+ runs on one core until NashConv is a thousandth of the uniform strategy's; the seconds are those of the iterations and
of the checks between them, without compiling and without walking the tree, which is given apart. Where OpenSpiel is
installed, its CFR+ (C++) runs on the same tree in Gambit's format, and its best responses judge ours: the uniform strategy
and the one found. `--adapter` has them judged through `heist_envs.openspiel` too, rules and all, which takes minutes.
`--programme` gives two players' exact value, and the intervals of equilibrium frequencies where a bluff is open; tables of
more players it leaves out. `--sampling` has external-sampling MCCFR run as long as CFR+ may: it is for trees of which
one iteration over all is long, such as those of `--preset small`.
"""

import argparse
import importlib.util
import itertools
import json
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.solver import (
    RegretMinimizer,
    SamplingMinimizer,
    SequenceForm,
    best_response,
    deviation_gains,
    expected_values,
    nash_conv,
    sequence_form,
    uniform,
)
from heist_envs.agents.tree import Tree, game_tree
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.command import CommandParser, launch
from heist_envs.gambit import preorder, set_numbers, written
from heist_envs.games import GAMES, load

Table = dict[str, list[tuple[int, float]]]
"""A strategy as OpenSpiel has it: information state -> (action, probability)."""

GOAL = 1e-3
"""Of the uniform strategy's NashConv."""


def table(form: SequenceForm, strategy: NDArray[np.float64], names: Sequence[str], actions: Sequence[int]) -> Table:
    """A strategy by the names of information sets and numbers of actions (one for each of our sequences)."""
    pairs = list(zip(actions, strategy.tolist(), strict=True))
    return {name: pairs[form.first[i] : form.first[i + 1]] for i, name in enumerate(names)}


def file_table(tree: Tree, form: SequenceForm, strategy: NDArray[np.float64]) -> Table:
    """A strategy for the tree that OpenSpiel has read from Gambit's format.

    It numbers actions by their names as they first come in the file, and gives those of a node in ascending order to its
    children, whatever their names.
    """
    names = [f"{player}-{player}-{k}-" for player, k in zip(form.players, set_numbers(tree), strict=True)]
    numbers: dict[int, int] = {}
    for k in preorder(tree.nodes):
        if tree.nodes[k]["player"] >= 0:
            i = tree.nodes[k]["information_set"]
            for action in form.actions[form.first[i] : form.first[i + 1]].tolist():
                numbers.setdefault(action, len(numbers))
    found = [numbers[action] for action in form.actions.tolist()]
    for begin, end in itertools.pairwise(form.first.tolist()):
        found[begin:end] = sorted(found[begin:end])
    return table(form, strategy, names, found)


def adapter_table(tree: Tree, form: SequenceForm, strategy: NDArray[np.float64]) -> Table:
    """A strategy for the game that `heist_envs.openspiel` makes."""
    names = [f"player_{player} {int(key):016x}" for player, key in zip(form.players, tree.keys, strict=True)]
    return table(form, strategy, names, form.actions.tolist())


def judged(game: Any, table_of: Callable[[NDArray[np.float64]], Table], form: SequenceForm, strategy: Any) -> dict[str, Any]:
    """NashConv and best-response values by OpenSpiel, and how far ours are from them.

    Its own `nash_conv` would walk the tree once more for each best response.
    """
    import pyspiel

    start = time.perf_counter()
    given = pyspiel.TabularPolicy(table_of(strategy))
    root = game.new_initial_state()
    responses = [pyspiel.TabularBestResponse(game, p, given).value_from_state(root) for p in range(game.num_players())]
    theirs = sum(responses) - sum(pyspiel.expected_returns(root, given, -1, True))
    ours = [best_response(form, player, strategy)[0] for player in range(len(form.leaves))]
    return {
        "nash_conv": theirs,
        "best_responses": responses,
        "difference": max(abs(theirs - nash_conv(form, strategy)), *np.abs(np.subtract(ours, responses)).tolist()),
        "seconds": time.perf_counter() - start,
    }


def solved(form: SequenceForm, seconds: float) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """CFR+ until the goal is reached or time is up, and the average strategy."""
    first = uniform(form)
    RegretMinimizer(form).run(1)  # compiles
    goal = GOAL * nash_conv(form, first)
    start = time.perf_counter()
    minimizer, iterating, strategy = RegretMinimizer(form), 0.0, first
    while nash_conv(form, strategy) > goal and time.perf_counter() - start < seconds:
        before = time.perf_counter()
        minimizer.run(max(10, minimizer.iterations // 10))
        iterating += time.perf_counter() - before
        strategy = minimizer.average()
    gains = deviation_gains(form, strategy)
    found = {
        "iterations": minimizer.iterations,
        "seconds": time.perf_counter() - start,
        "seconds_per_iteration": iterating / minimizer.iterations,
        "nash_conv": gains.sum(),
        "share_of_uniform": gains.sum() * GOAL / goal,
        "gains": gains.tolist(),
        "values": expected_values(form, strategy).tolist(),
    }
    return found, strategy


def sampled(tree: Tree, form: SequenceForm, seconds: float, seed: int = 0) -> dict[str, Any]:
    """What external sampling comes to in a time, that of the sampling alone."""
    SamplingMinimizer(tree, form, seed).run(1)  # compiles
    minimizer, spent = SamplingMinimizer(tree, form, seed), 0.0
    while spent < seconds:
        before = time.perf_counter()
        minimizer.run(SAMPLES)
        spent += time.perf_counter() - before
    gains = deviation_gains(form, minimizer.average())
    return {
        "iterations": minimizer.iterations,
        "seconds": spent,
        "nash_conv": gains.sum(),
        "share_of_uniform": gains.sum() / nash_conv(form, uniform(form)),
        "gains": gains.tolist(),
    }


SAMPLES = 2_000
"""Iterations of external sampling between two strategies that count in its average."""


def beside_openspiel(tree: Tree, form: SequenceForm, name: str, options: dict[str, Any], strategy: Any) -> dict[str, Any]:
    """OpenSpiel's CFR+ and its judgement on the same tree."""
    import pyspiel

    start = time.perf_counter()
    game = pyspiel.load_efg_game(written(tree, name, options))
    loaded = time.perf_counter() - start
    solver = pyspiel.CFRPlusSolver(game)
    rounds = []
    for _ in range(3):  # in turn, since machines drift
        before = time.perf_counter()
        solver.evaluate_and_update_policy()
        theirs = time.perf_counter() - before
        minimizer = RegretMinimizer(form)
        before = time.perf_counter()
        minimizer.run(10)
        rounds.append((theirs, (time.perf_counter() - before) / 10))
    return {
        "seconds_to_load": loaded,
        "seconds_per_iteration": float(np.median([theirs for theirs, _ in rounds])),
        "ratio": float(np.median([theirs / ours for theirs, ours in rounds])),
        "uniform": judged(game, lambda s: file_table(tree, form, s), form, uniform(form)),
        "found": judged(game, lambda s: file_table(tree, form, s), form, strategy),
    }


def by_programme(tree: Tree, form: SequenceForm, name: str, strategy: NDArray[np.float64]) -> dict[str, Any]:
    """The exact value for two players, and what all equilibria do where a bluff is open.

    Args:
        tree: of the table.
        form: its sequence form.
        name: of the game.
        strategy: an approximate equilibrium, which says where play mostly comes and what stands beside the intervals.

    Returns:
        `value`, `seconds` for it, `seconds_in_all`, and `intervals`: those of the action frequencies at the most reached
        information sets with a bluff (`bluffing_sets`), or in a game without any at the players' first decisions.
    """
    from heist_envs.agents.equilibria import frequency_intervals, optimum
    from heist_envs.benchmarks.behaviour import bluffing_sets

    start = time.perf_counter()
    value = optimum(form, 0).value
    took = time.perf_counter() - start
    first = np.flatnonzero(form.parents >= len(form.actions)).tolist()
    sought = bluffing_sets(name, tree, form, strategy) or {i: ["a first decision"] for i in first}
    sets = list(sought)[:SETS]
    names = load(name).ACTION_NAMES
    found = []
    for i, interval in zip(sets, frequency_intervals(form, value, sets), strict=True):
        if interval is not None:
            here = slice(form.first[i], form.first[i + 1])
            words = [names[action] for action in form.actions[here]]
            found.append(
                {
                    "player": int(form.players[i]),
                    "key": f"{int(tree.keys[i]):016x}",
                    "about": sought[i],
                    "actions": dict(zip(words, interval.tolist(), strict=True)),
                    "cfr_plus": dict(zip(words, strategy[here].tolist(), strict=True)),
                }
            )
    return {"value": value, "seconds": took, "seconds_in_all": time.perf_counter() - start, "intervals": found}


SETS = 8
"""Information sets of which the intervals are sought, two programmes per action each."""


def measure(name: str, options: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """All about one table."""
    start = time.perf_counter()
    tree = game_tree(name, **options)
    walked = time.perf_counter() - start
    start = time.perf_counter()
    form = sequence_form(tree)
    gains = deviation_gains(form, uniform(form))
    found, strategy = solved(form, given.seconds)
    result: dict[str, Any] = {
        "game": name,
        "options": options,
        "nodes": len(tree.nodes),
        "information_sets": len(form.players),
        "sequences": len(form.actions),
        "endings": form.leaves.shape[1],
        "seconds_to_walk": walked,
        "uniform": {"nash_conv": gains.sum(), "gains": gains.tolist()},
        "cfr_plus": found,
    }
    if not given.alone and importlib.util.find_spec("pyspiel"):
        result["openspiel"] = beside_openspiel(tree, form, name, options, strategy)
        if given.adapter:
            from heist_envs.openspiel import load_game

            game = load_game(name, **options)
            result["adapter"] = judged(game, lambda s: adapter_table(tree, form, s), form, strategy)
    if given.sampling:
        result["sampling"] = sampled(tree, form, given.seconds)
    if given.programme and len(form.leaves) == 2:
        result["programme"] = by_programme(tree, form, name, strategy)
    return result


def lines(found: dict[str, Any]) -> Iterator[str]:
    """A result in words."""
    cfr = found["cfr_plus"]
    yield f"{found['game']} {found['options']}: {found['nodes']:,} nodes, {found['information_sets']:,} information sets"
    yield f"  uniform: NashConv {found['uniform']['nash_conv']:.6f}, gains by seat {np.round(found['uniform']['gains'], 6)}"
    yield (
        f"  CFR+: {cfr['iterations']} iterations, {cfr['seconds']:.2f} s, NashConv {cfr['nash_conv']:.6f} "
        f"({100 * cfr['share_of_uniform']:.3f}% of uniform's), gains by seat {np.round(cfr['gains'], 6)}, "
        f"values {np.round(cfr['values'], 6)}"
    )
    if len(cfr["gains"]) > 2:
        yield (
            "  with three or more players this is what was measured: CFR promises no equilibrium there, and no linear "
            "programme gives one"
        )
    if "sampling" in found:
        theirs = found["sampling"]
        yield (
            f"  external sampling: {theirs['iterations']:,} iterations, {theirs['seconds']:.0f} s, NashConv "
            f"{theirs['nash_conv']:.6f} ({100 * theirs['share_of_uniform']:.2f}% of uniform's)"
        )
    if "openspiel" in found:
        theirs = found["openspiel"]
        yield (
            f"  OpenSpiel's CFR+ on the same tree: {theirs['seconds_per_iteration']:.3f} s an iteration, ours "
            f"{theirs['ratio']:.1f} times as fast; its NashConv and best responses differ by "
            f"{max(theirs['uniform']['difference'], theirs['found']['difference']):.1e}"
        )
    if "adapter" in found:
        judge = found["adapter"]
        yield f"  through the adapter they differ by {judge['difference']:.1e}, after {judge['seconds']:.0f} s"
    if "programme" in found:
        yield f"  linear programme: value {found['programme']['value']:.9f}, {found['programme']['seconds']:.1f} s"
        for row in found["programme"]["intervals"]:
            ends = ", ".join(
                f"{action} {low:.4f}..{high:.4f} (CFR+ {row['cfr_plus'][action]:.4f})"
                for action, (low, high) in row["actions"].items()
            )
            yield f"    player_{row['player']} {row['key']}, {'; '.join(row['about'])}: {ends}"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.solve", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--seconds", type=float, default=60.0, help="give up after this time")
    parser.add_argument("--alone", action="store_true", help="leave OpenSpiel out, which takes long on large trees")
    parser.add_argument("--adapter", action="store_true", help="have OpenSpiel play our rules, too: minutes")
    parser.add_argument("--sampling", action="store_true", help="external sampling beside it, for --seconds")
    parser.add_argument("--programme", action="store_true", help="solve games of two players by linear programming, too")
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "tables": []}
    for game in given.games:
        found = measure(game, {"preset": given.preset}, given)
        print("\n".join(lines(found)), flush=True)
        result["tables"].append(found)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    launch(main)
