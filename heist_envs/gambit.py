"""Export to Gambit's .efg, the format in which extensive games are exchanged.

    heist export holdup --preset tiny --out holdup.efg

Information sets are those of perfect recall; what chance deals to a hand is one event. Only small tables have a tree that
can be written: `heist_envs.agents.tree.count_tree` says how large one is.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any

from numpy.typing import NDArray

from heist_envs import rules
from heist_envs.agents.tree import Tree, game_tree
from heist_envs.games import load

LARGEST_DENOMINATOR = 10**7
"""Of a probability: deals of a small table have far smaller ones, and a double tells them apart."""


def efg(game: str | ModuleType, **options: Any) -> str:
    """The tree of a table in Gambit's format; payoffs are the returns.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game, a value that is not allowed, or a tree too large to walk.
    """
    return written(game_tree(game, **options), game, options)


def written(tree: Tree, game: str | ModuleType, options: dict[str, Any]) -> str:
    """A tree that has been walked already in Gambit's format."""
    module = load(game)
    words = " ".join(f"{name}={value}" for name, value in {"game": module.NAME, **options}.items())
    players = " ".join(f'"player_{seat}"' for seat in range(tree.payoffs.shape[1]))
    quoted = words.replace('"', "'")
    return "\n".join([f'EFG 2 R "{quoted}" {{ {players} }}', *_nodes(tree, module.ACTION_NAMES)]) + "\n"


def preorder(nodes: NDArray[Any]) -> Iterator[int]:
    """The nodes as the file lists them, each before its children."""
    pending = [0]
    while pending:
        k = pending.pop()
        first, count = nodes[k]["first_child"], nodes[k]["num_children"]
        pending += range(first + count - 1, first - 1, -1)
        yield k


def set_numbers(tree: Tree) -> list[int]:
    """The number that each information set of a tree has in the file, where every player's are counted from 1."""
    counts = [0] * tree.payoffs.shape[1]
    numbers = [0] * len(tree.keys)
    for k in preorder(tree.nodes):
        player, information_set = int(tree.nodes[k]["player"]), int(tree.nodes[k]["information_set"])
        if player >= 0 and numbers[information_set] == 0:
            counts[player] += 1
            numbers[information_set] = counts[player]
    return numbers


def _nodes(tree: Tree, action_names: Sequence[str]) -> Iterator[str]:
    """A line per node, each before its children."""
    nodes, payoffs = tree.nodes, tree.payoffs
    numbers = set_numbers(tree)
    outcomes = chances = 0
    for k in preorder(nodes):
        node = nodes[k]
        first, count = int(node["first_child"]), int(node["num_children"])
        children = range(first, first + count)
        player = int(node["player"])
        if player == rules.TERMINAL:
            outcomes += 1
            paid = ", ".join(repr(float(payoff)) for payoff in payoffs[k])
            yield f't "" {outcomes} "" {{ {paid} }}'
        elif player == rules.CHANCE:
            chances += 1
            exact = [Fraction(float(nodes[c]["share"])).limit_denominator(LARGEST_DENOMINATOR) for c in children]
            if sum(exact) != 1:
                raise ValueError(f"the probabilities of a chance event, {exact}, do not add up to 1")
            listed = " ".join(f'"{i}" {share}' for i, share in enumerate(exact))
            yield f'c "" {chances} "" {{ {listed} }} 0'
        else:
            number = numbers[node["information_set"]]
            listed = " ".join(f'"{action_names[nodes[c]["action"]]}"' for c in children)
            yield f'p "" {player + 1} {number} "" {{ {listed} }} 0'
