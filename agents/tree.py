"""The tree of a small game, walked by the compiled rules.

    python -m heist_envs.agents.tree --game holdup --preset tiny

The command counts its information sets, decisions and ends.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.chance import fold_bytes
from heist_envs.command import CommandParser, launch
from heist_envs.engine import first_keys, flat, remember_action, row, update_keys
from heist_envs.games import GAMES, load
from heist_envs.rules import (
    CHANCE,
    TERMINAL,
    apply_action,
    chance_outcomes,
    compiled,
    current_player,
    legal_actions,
    returns,
)

MAX_DEPTH = 400
"""Longest history, in actions, that `count_tree` walks."""
MAX_OUTCOMES = 20_000
"""Most different states that chance may lead to between two actions."""
MAX_PENDING = 50_000
"""Most histories that wait to be walked on."""


class TreeSize(NamedTuple):
    """How large a game is."""

    information_sets: int
    """Of all players together, with perfect recall."""
    decisions: int
    """Histories after which a player is to act."""
    terminals: int
    """Histories that end the game."""


@compiled
def play_out_chance(
    level: NDArray[Any],
    octets: NDArray[np.uint8],
    shares: NDArray[np.float64],
    hashes: NDArray[np.uint64],
    weights: NDArray[Any],
) -> tuple[int, int]:
    """All that chance may do from the state `level[0, 0]` until a player is to act or the game is over.

    Ways that end in the same state are one outcome: cards that come to a hand in another order are the same hand.

    Args:
        level: states (2, MAX_OUTCOMES); one row is spread into the other.
        octets: the same memory as bytes (2, MAX_OUTCOMES, state size).
        shares: probabilities, float64 (2, MAX_OUTCOMES).
        hashes: scratch, uint64 (MAX_OUTCOMES,).
        weights: scratch for the weights of chance, one row.

    Returns:
        The row of `level` and `shares` that holds the outcomes, and their number.
    """
    here, count = 0, 1
    shares[0, 0] = 1.0
    spreads = current_player(level[0, 0]) == CHANCE
    while spreads:
        spreads = False
        there, made = 1 - here, 0
        for i in range(count):
            state = level[here, i]
            acts = current_player(state) == CHANCE
            if acts:
                chance_outcomes(state, weights[0].values)
            total = 0
            for weight in weights[0].values:
                total += weight
            for k in range(len(weights[0].values) if acts else 1):
                if acts and weights[0].values[k] == 0:
                    continue
                if made == level.shape[1]:
                    raise ValueError("the game is too large to be walked: chance leads to more states than MAX_OUTCOMES")
                level[there, made] = state
                if acts:
                    apply_action(level[there, made], k)
                    spreads = spreads or current_player(level[there, made]) == CHANCE
                share = shares[here, i] * (weights[0].values[k] / total if acts else 1.0)
                hashed = fold_bytes(np.uint64(0), octets[there, made])
                hashes[made] = hashed
                same = 0
                while hashes[same] != hashed:
                    same += 1
                if same == made:
                    shares[there, made] = share
                    made += 1
                else:
                    shares[there, same] += share
        here, count = there, made
    return here, count


NODE = np.dtype((
    np.record,
    [
        ("share", np.float64),  # the probability of this node where its parent is chance, else 1
        ("parent", np.int32),  # -1 for the root
        ("first_child", np.int32),  # children follow one another, and come after their parent
        ("num_children", np.int32),
        ("information_set", np.int32),  # of a decision, else -1
        ("action", np.int16),  # that led here from a decision, or the number of chance's outcome
        ("player", np.int16),  # to act, or CHANCE or TERMINAL
    ],
))  # fmt: skip


class Tree(NamedTuple):
    """A game's whole tree. Chance that has one outcome only has no node."""

    nodes: NDArray[Any]
    """`NODE` (num_nodes,), the root first."""
    payoffs: NDArray[np.float32]
    """What each player gets at a node that is terminal, float32 (num_nodes, num_players)."""
    keys: NDArray[np.uint64]
    """The information sets of all players together, numbered in the order of the first visit: what `engine.update_keys`
    has for the seat that is to act there, uint64 (num_information_sets,)."""
    states: NDArray[Any]
    """A state of each information set, structured (num_information_sets,)."""


@compiled
def walk_tree(
    pending: NDArray[Any],
    keys: NDArray[np.uint64],
    views: NDArray[np.uint64],
    depths: NDArray[np.int64],
    numbers: NDArray[np.int64],
    level: NDArray[Any],
    octets: NDArray[np.uint8],
    shares: NDArray[np.float64],
    hashes: NDArray[np.uint64],
    rows: NDArray[Any],
    observations: NDArray[np.int8],
    mask: NDArray[Any],
    weights: NDArray[Any],
    nodes: NDArray[Any],
    payoffs: NDArray[np.float32],
    set_keys: NDArray[np.uint64],
    set_states: NDArray[Any],
) -> tuple[int, int, int, int]:
    """Depth first over all histories from the state `pending[1]`; row k of each array is a history still to walk.

    `nodes`, `payoffs`, `set_keys` and `set_states` are filled if `nodes` has rows; else all is counted only.

    Returns:
        Information sets, decisions, terminals and nodes.
    """
    sets = {np.uint64(0): 0}
    decisions = terminals = 0
    keeps = len(nodes) > 0
    left, count = 1, 1  # histories that wait, row 0 being scratch for the one in hand; nodes
    player = current_player(pending[1])
    update_keys(pending[1], keys[1], views[1], rows, observations)
    if keeps:
        nodes[0].parent, nodes[0].share, nodes[0].action = -1, 1.0, -1
    while left > 0:
        pending[0], keys[0], views[0] = pending[left], keys[left], views[left]
        depth, node = depths[left], numbers[left]
        left -= 1
        player = current_player(pending[0])
        actions = 1  # chance is to act at the root only
        information_set = -1
        if player == TERMINAL:
            terminals += 1
            actions = 0
            if keeps:
                returns(pending[0], payoffs[node])
        elif player != CHANCE:
            decisions += 1
            information_set = sets.setdefault(keys[0, player], len(sets)) - 1
            if keeps:
                set_keys[information_set] = keys[0, player]
                set_states[information_set] = pending[0]
            legal_actions(pending[0], mask[0].values)
            actions = len(mask[0].values)
            if depth == MAX_DEPTH:
                raise ValueError("a history is longer than MAX_DEPTH")
        legal = 0
        for action in range(actions):
            legal += player == CHANCE or mask[0].values[action] != 0
        if keeps:
            nodes[node].player = player
            nodes[node].information_set = information_set
            nodes[node].first_child = count
            nodes[node].num_children = legal
        child = count
        count += legal if player != CHANCE else 0
        for action in range(actions):
            if player != CHANCE and mask[0].values[action] == 0:
                continue
            level[0, 0] = pending[0]
            first = left + 1
            keys[first], views[first] = keys[0], views[0]
            if player != CHANCE:
                remember_action(keys[first], player, action)
                apply_action(level[0, 0], action)
                update_keys(level[0, 0], keys[first], views[first], rows, observations)
            here, outcomes = play_out_chance(level, octets, shares, hashes, weights)
            if first + outcomes > len(pending):
                raise ValueError("more histories wait than MAX_PENDING")
            at = node if player == CHANCE else child
            if keeps and player != CHANCE:
                nodes[at].parent, nodes[at].share, nodes[at].action = node, 1.0, action
            spreads = player == CHANCE or outcomes > 1
            if spreads and keeps:
                nodes[at].player, nodes[at].information_set = CHANCE, -1
                nodes[at].first_child, nodes[at].num_children = count, outcomes
            for i in range(outcomes - 1, -1, -1):  # the first one last, since the others start from its keys
                k = first + i
                keys[k], views[k], depths[k] = keys[first], views[first], depth + 1
                pending[k] = level[here, i]
                update_keys(pending[k], keys[k], views[k], rows, observations)
                numbers[k] = count + i if spreads else at
                if spreads and keeps:
                    made = nodes[count + i]
                    made.parent, made.share, made.action = at, shares[here, i], i
            count += outcomes if spreads else 0
            child += 1
            left += outcomes
    return len(sets) - 1, decisions, terminals, count


def _walk(
    game: str | ModuleType, num_nodes: int, num_sets: int, options: dict[str, Any]
) -> tuple[tuple[int, int, int, int], Tree]:
    module = load(game)
    states = module.new_initial_state(**options)
    n = int(states["num_players"][0])
    rows = np.zeros(1, module.OBSERVATION.record)
    level = np.zeros((2, MAX_OUTCOMES), module.STATE)
    tree = Tree(
        np.zeros(num_nodes, NODE),
        np.zeros((num_nodes, n), np.float32),
        np.zeros(num_sets, np.uint64),
        np.zeros(num_sets, module.STATE),
    )
    counts = walk_tree(
        np.repeat(states, MAX_PENDING),
        np.tile(first_keys(n), (MAX_PENDING, 1)),
        np.zeros((MAX_PENDING, n), np.uint64),
        np.zeros(MAX_PENDING, np.int64),
        np.zeros(MAX_PENDING, np.int64),
        level,
        level.view(np.uint8).reshape(2, MAX_OUTCOMES, -1),
        np.zeros((2, MAX_OUTCOMES)),
        np.zeros(MAX_OUTCOMES, np.uint64),
        rows,
        flat(rows),
        np.zeros(1, row(np.int8, module.NUM_ACTIONS)),
        np.zeros(1, row(np.int32, module.MAX_CHANCE_OUTCOMES)),
        *tree,
    )
    return counts, tree


def count_tree(game: str | ModuleType, **options: Any) -> TreeSize:
    """Count the histories and information sets of a game by walking its whole tree.

    What chance does between two actions is one event, of which its outcome is seen and not the order of its cards.

    Raises:
        ValueError: the tree is larger than `MAX_DEPTH`, `MAX_OUTCOMES` or `MAX_PENDING`, or the options are wrong.
    """
    return TreeSize(*_walk(game, 0, 0, options)[0][:3])


def game_tree(game: str | ModuleType, **options: Any) -> Tree:
    """A game's whole tree in flat arrays.

    Raises:
        ValueError: as `count_tree`.
    """
    num_sets, _, _, num_nodes = _walk(game, 0, 0, options)[0]
    return _walk(game, num_nodes, num_sets, options)[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.agents.tree", __doc__)
    parser.add_argument("--game", choices=GAMES, default="holdup")
    parser.add_argument("--preset", default="tiny")
    given = parser.parse_args(arguments)
    size = count_tree(given.game, preset=given.preset)
    print(f"{given.game} {given.preset}: " + ", ".join(f"{v:,} {k.replace('_', ' ')}" for k, v in size._asdict().items()))


if __name__ == "__main__":
    launch(main)
