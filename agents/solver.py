"""The tree of a small game, walked by the compiled rules.

python -m heist_envs.agents.solver --game holdup --preset tiny
"""

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.engine import flat, remember_action, row, update_keys
from heist_envs.games import GAMES, load
from heist_envs.rules import (
    CHANCE,
    TERMINAL,
    apply_action,
    chance_outcomes,
    compiled,
    current_player,
    legal_actions,
)

MAX_DEPTH = 400
"""Longest history, in actions and chance events, that `count_tree` walks."""


class TreeSize(NamedTuple):
    """How large a game is."""

    information_sets: int
    """Of all players together, with perfect recall."""
    decisions: int
    """Histories after which a player is to act."""
    terminals: int
    """Histories that end the game."""


@compiled
def walk_tree(
    stack: NDArray[Any],
    keys: NDArray[np.uint64],
    views: NDArray[np.uint64],
    choices: NDArray[np.bool_],
    chosen: NDArray[np.int64],
    rows: NDArray[Any],
    observations: NDArray[np.int8],
    mask: NDArray[Any],
    weights: NDArray[Any],
) -> tuple[int, int, int]:
    """Depth first over all histories from the state `stack[0]`; row d of each array is the history of length d."""
    found = {np.uint64(0)}
    decisions = terminals = depth = 0
    update_keys(stack[0], keys[0], views[0], rows, observations)
    fresh = True
    while depth >= 0:
        state = stack[depth]
        player = current_player(state)
        if fresh:
            choices[depth] = False
            chosen[depth] = -1
            if player == TERMINAL:
                terminals += 1
            elif player == CHANCE:
                chance_outcomes(state, weights[0].values)
                for k in range(len(weights[0].values)):
                    choices[depth, k] = weights[0].values[k] > 0
            else:
                decisions += 1
                found.add(keys[depth, player])
                legal_actions(state, mask[0].values)
                for k in range(len(mask[0].values)):
                    choices[depth, k] = mask[0].values[k] > 0
        chosen[depth] += 1
        while chosen[depth] < choices.shape[1] and not choices[depth, chosen[depth]]:
            chosen[depth] += 1
        fresh = chosen[depth] < choices.shape[1]
        if not fresh:
            depth -= 1
            continue
        if depth + 1 == len(stack):
            raise ValueError("a history is longer than MAX_DEPTH")
        stack[depth + 1] = state
        keys[depth + 1] = keys[depth]
        views[depth + 1] = views[depth]
        if player >= 0:
            remember_action(keys[depth + 1], player, chosen[depth])
        apply_action(stack[depth + 1], chosen[depth])
        depth += 1
        update_keys(stack[depth], keys[depth], views[depth], rows, observations)
    return len(found) - 1, decisions, terminals


def count_tree(game: str, **options: Any) -> TreeSize:
    """Count the histories and information sets of a game by walking its whole tree.

    Raises:
        ValueError: a history is longer than `MAX_DEPTH`, or the options are wrong.
    """
    module = load(game)
    states = module.new_initial_state(**options)
    n = int(states["num_players"][0])
    width = max(module.NUM_ACTIONS, module.MAX_CHANCE_OUTCOMES)
    rows = np.zeros(1, module.OBSERVATION.record)
    counts = walk_tree(
        np.repeat(states, MAX_DEPTH),
        np.zeros((MAX_DEPTH, n), np.uint64),
        np.zeros((MAX_DEPTH, n), np.uint64),
        np.zeros((MAX_DEPTH, width), np.bool_),
        np.zeros(MAX_DEPTH, np.int64),
        rows,
        flat(rows),
        np.zeros(1, row(np.int8, module.NUM_ACTIONS)),
        np.zeros(1, row(np.int32, module.MAX_CHANCE_OUTCOMES)),
    )
    return TreeSize(*counts)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m heist_envs.agents.solver", description=__doc__.split("\n")[0])
    parser.add_argument("--game", choices=GAMES, default="holdup")
    parser.add_argument("--preset", default="tiny")
    given = parser.parse_args(arguments)
    size = count_tree(given.game, preset=given.preset)
    print(f"{given.game} {given.preset}: " + ", ".join(f"{v:,} {k.replace('_', ' ')}" for k, v in size._asdict().items()))


if __name__ == "__main__":
    main()
