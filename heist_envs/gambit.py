"""Export to Gambit's .efg, the format in which extensive games are exchanged.

    heist export holdup --preset tiny --out holdup.efg

Information sets are those of perfect recall; what chance deals to a hand is one event. Only small tables have a tree that
can be written: `heist_envs.agents.tree.count_tree` says how large one is.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from heist_envs import rules
from heist_envs.agents.tree import Tree, game_tree
from heist_envs.games import load

LARGEST_DENOMINATOR = 10**7
"""Of a probability: deals of a small table have far smaller ones, and a double tells them apart."""


def efg(game: str, **options: Any) -> str:
    """The tree of a table in Gambit's format; payoffs are the returns.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game, a value that is not allowed, or a tree too large to walk.
    """
    tree = game_tree(game, **options)
    words = " ".join(f"{name}={value}" for name, value in {"game": game, **options}.items())
    players = " ".join(f'"player_{seat}"' for seat in range(tree.payoffs.shape[1]))
    quoted = words.replace('"', "'")
    return "\n".join([f'EFG 2 R "{quoted}" {{ {players} }}', *_nodes(tree, load(game).ACTION_NAMES)]) + "\n"


def _nodes(tree: Tree, action_names: Sequence[str]) -> Iterator[str]:
    """A line per node, each before its children."""
    nodes, payoffs = tree.nodes, tree.payoffs
    of_player: list[dict[int, int]] = [{} for _ in range(payoffs.shape[1])]
    pending = [0]
    outcomes = chances = 0
    while pending:
        k = pending.pop()
        node = nodes[k]
        first, count = int(node["first_child"]), int(node["num_children"])
        children = range(first, first + count)
        pending += reversed(children)
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
            numbers = of_player[player]
            number = numbers.setdefault(int(node["information_set"]), len(numbers) + 1)
            listed = " ".join(f'"{action_names[nodes[c]["action"]]}"' for c in children)
            yield f'p "" {player + 1} {number} "" {{ {listed} }} 0'
