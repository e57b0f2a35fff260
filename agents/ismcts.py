"""Information-set Monte Carlo tree search (IS-MCTS), compiled, for any game.

Every simulation redraws what the acting player cannot know (`determinize`), goes down a tree of information sets, adds one
to it, plays on at random to the end, and gives every decision on its way the payoff of the player who took it: a value per
player, no sign flipped. After P. I. Cowling, E. J. Powley and D. Whitehouse, "Information Set Monte Carlo Tree Search",
IEEE Transactions on Computational Intelligence and AI in Games 4(2), 2012.

What is a node: the player to act, and all that the *observing* player has seen at the decisions of this simulation and has
done himself. Chance has no nodes; its outcomes are drawn by their weights and show in what is seen next. Observing is

- "each", every player for himself, as in the paper's MO-ISMCTS; but here the hand of the player who acts is a part of his
  node, so that others act on what they see, and know nothing of the searcher's cards. The legal actions of a node are
  always the same then;
- "one", the searching player, as in the paper's SO-ISMCTS: others' nodes do not tell their hands apart, of which there may
  be too many for a small budget, and they answer alike with every hand. What a player hides when he acts stays hidden:
  only its effects on the searcher's view part the nodes.

In a node an action that was never tried comes first, then the one of the highest upper confidence bound, which counts the
visits of the node in which the action was legal. In a new node, and after it, any legal action is played.

What it is not good at: the hidden cards are drawn as if others' past actions said nothing about them, and others are
expected to play at random beyond the tree. Nor does it converge to an equilibrium, since what a player should do depends on
what he would do elsewhere, which a search from one state does not see (V. Lisý, M. Lanctot and M. Bowling, "Online Monte
Carlo Counterfactual Regret Minimization for Search in Imperfect Information Games", AAMAS 2015).
"""

import functools
import math
import time
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance
from heist_envs.agents.agent import new_streams
from heist_envs.engine import flat, play, row
from heist_envs.games import load
from heist_envs.rules import (
    TERMINAL,
    Record,
    State,
    compiled,
    current_player,
    determinize,
    inlined,
    legal_actions,
    observe,
    returns,
)

OBSERVERS = ("each", "one")
MAX_NODES = 50_000
"""Information sets that a search by the clock keeps; it goes on with these."""
PIECE = 8
"""Simulations between two looks at the clock."""

STEP = np.dtype((np.record, [("node", np.int32), ("action", np.int16), ("player", np.int16)]))
"""A decision in the tree."""


@functools.cache
def _node(num_actions: int) -> np.dtype[Any]:
    """An information set: per action, the payoffs of the player who acts, summed, and how often it was played and legal."""
    fields = [
        ("key", np.uint64),
        ("payoff", np.float64, num_actions),
        ("visits", np.int32, num_actions),
        ("legal", np.int32, num_actions),
    ]
    return np.dtype((np.record, fields))


class Tree(NamedTuple):
    """What a search works in, allocated before it begins and used again for the next game."""

    nodes: NDArray[Any]
    """(num_nodes,), the root first."""
    slots: NDArray[np.int32]
    """Where each key's node is: its number + 1, or 0 for an empty slot."""
    path: NDArray[Any]
    """`STEP`, the decisions of this simulation in the tree."""
    state: NDArray[Any]
    """(1,), of this simulation."""
    keys: NDArray[np.uint64]
    """Per player, all that he has seen and done in this simulation."""
    seen: NDArray[Any]
    octets: NDArray[np.int8]
    """The same memory as `seen`."""
    mask: NDArray[Any]
    untried: NDArray[Any]
    weights: NDArray[Any]
    payoffs: NDArray[np.float32]
    bounds: NDArray[np.float64]
    """The lowest and the highest payoff of this search."""
    used: NDArray[np.int64]
    """Nodes in use."""


def new_tree(game: ModuleType, num_players: int, num_nodes: int) -> Tree:
    """An empty tree of at most `num_nodes` information sets."""
    seen = np.zeros(1, game.OBSERVATION.record)
    return Tree(
        nodes=np.zeros(num_nodes, _node(game.NUM_ACTIONS)),
        slots=np.zeros(2 * num_nodes, np.int32),
        path=np.zeros(num_nodes + 1, STEP),
        state=np.zeros(1, game.STATE),
        keys=np.zeros(num_players, np.uint64),
        seen=seen,
        octets=flat(seen),
        mask=np.zeros(1, row(np.int8, game.NUM_ACTIONS)),
        untried=np.zeros(1, row(np.int8, game.NUM_ACTIONS)),
        weights=np.zeros(1, row(np.int32, game.MAX_CHANCE_OUTCOMES)),
        payoffs=np.zeros(num_players, np.float32),
        bounds=np.zeros(2),
        used=np.zeros(1, np.int64),
    )


@inlined
def _select(node: Record, tree: Tree, stream: Record, exploration: float) -> int:
    """The action to try in a node: one that never was, else the one with the highest upper confidence bound."""
    untried = 0
    mask, fresh = tree.mask[0], tree.untried[0]
    for action in range(len(mask.values)):
        is_fresh = mask.values[action] != 0 and node.visits[action] == 0
        fresh.values[action] = is_fresh
        untried += is_fresh
    if untried > 0:
        return chance.draw(stream, fresh)
    # A spread of 0, all payoffs being the same so far, must not end the trying.
    width = exploration * max(tree.bounds[1] - tree.bounds[0], 1e-9)
    best, chosen = -np.inf, 0
    for action in range(len(mask.values)):
        if mask.values[action]:
            visits = node.visits[action]
            bound = node.payoff[action] / visits + width * math.sqrt(math.log(node.legal[action]) / visits)
            if bound > best:
                best, chosen = bound, action
    return chosen


@inlined
def _arrive(state: State, observer: int, player: int, tree: Tree) -> int:
    """The number of a decision's node, which is added if it is not there; -1 where the tree is full."""
    observe(state, observer, tree.seen[0])
    key = chance.fold_bytes(chance.fold(tree.keys[observer], observer), tree.octets[0])
    tree.keys[observer] = key
    key = chance.fold(key, player)
    k = chance.slot(key, len(tree.slots))
    while tree.slots[k] != 0 and tree.nodes[tree.slots[k] - 1].key != key:
        k = k + 1 if k + 1 < len(tree.slots) else 0
    if tree.slots[k] == 0:
        if tree.used[0] == len(tree.nodes):
            return -1
        tree.used[0] += 1
        tree.slots[k] = tree.used[0]
        made = tree.nodes[tree.used[0] - 1]
        made.key = key
        made.payoff[:] = 0
        made.visits[:] = 0
        made.legal[:] = 0
    number = int(tree.slots[k]) - 1
    node = tree.nodes[number]
    for action in range(len(node.legal)):
        node.legal[action] += tree.mask[0].values[action] != 0
    return number


@compiled
def _simulate(root: State, stream: Record, tree: Tree, exploration: float, observed_by_each: bool, max_steps: int) -> int:
    """One simulation from a guess at the root; the payoffs are in the tree's. The number of decisions played at random."""
    state = tree.state[0]
    tree.state[0] = root
    searcher = current_player(root)
    determinize(state, searcher, stream)
    for seat in range(len(tree.keys)):
        tree.keys[seat] = np.uint64(0)
    depth = steps = 0
    player = searcher
    in_tree = True
    while player != TERMINAL and steps != max_steps:  # one loop for both parts: what it calls is compiled into it
        legal_actions(state, tree.mask[0].values)
        number, known, observer = -1, tree.used[0], player if observed_by_each else searcher
        if in_tree:
            number = _arrive(state, observer, player, tree)
            in_tree = 0 <= number < known
        if in_tree:
            action = _select(tree.nodes[number], tree, stream, exploration)
        else:
            action = chance.draw(stream, tree.mask[0])
            steps += 1
        if number >= 0:
            step = tree.path[depth]
            step.node, step.action, step.player = number, action, player
            depth += 1
            if observer == player:
                tree.keys[observer] = chance.fold(tree.keys[observer], action + 1)
        player = play(state, action, stream, tree.weights[0])
    returns(state, tree.payoffs)
    for payoff in tree.payoffs:
        tree.bounds[0] = min(tree.bounds[0], payoff)
        tree.bounds[1] = max(tree.bounds[1], payoff)
    for k in range(depth):
        taken = tree.path[k]
        node = tree.nodes[taken.node]
        node.visits[taken.action] += 1
        node.payoff[taken.action] += tree.payoffs[taken.player]
    return steps


@inlined
def _has_choice(node: Record) -> bool:
    """Whether several actions are legal in a node."""
    actions = 0
    for legal in node.legal:
        actions += legal > 0
    return actions > 1


@compiled
def search_games(
    states: NDArray[Any],
    streams: NDArray[Any],
    tree: Tree,
    simulations: int,
    goes_on: bool,
    exploration: float,
    observed_by_each: bool,
    max_steps: int,
    visits: NDArray[np.int64],
    payoffs: NDArray[np.float64],
    steps: NDArray[np.int64],
) -> None:
    """Search one game after the other; a forced move is simulated once.

    Args:
        states: (N,), a player is to act in each.
        streams: `chance.STREAM` (N,).
        tree: scratch; or the tree so far, of the one game, where the search goes on.
        simulations: of each game.
        goes_on: add to what was found before.
        exploration, observed_by_each, max_steps: see `ISMCTSAgent`.
        visits: how often each action was played at the root, int64 (N, A).
        payoffs: what each player got after each action, summed, float64 (N, A, num_players).
        steps: decisions played at random, int64 (N,).
    """
    for i in range(len(states)):
        if not goes_on:
            tree.slots[:] = 0
            tree.used[0] = 0
            tree.bounds[0], tree.bounds[1] = np.inf, -np.inf
            visits[i] = 0
            payoffs[i] = 0
            steps[i] = 0
        for k in range(simulations):
            if k == 1 and not _has_choice(tree.nodes[0]):
                break
            steps[i] += _simulate(states[i], streams[i], tree, exploration, observed_by_each, max_steps)
            action = tree.path[0].action
            visits[i, action] += 1
            for seat in range(len(tree.payoffs)):
                payoffs[i, action, seat] += tree.payoffs[seat]


class Search(NamedTuple):
    """What searches from N states have found."""

    visits: NDArray[np.int64]
    """How often each action was tried, int64 (N, A); 0 for an illegal one."""
    values: NDArray[np.float64]
    """The mean payoff of each player after each action, float64 (N, A, num_players); nan where it was not tried."""
    steps: NDArray[np.int64]
    """Decisions that were played at random, int64 (N,)."""

    def shares(self) -> NDArray[np.float64]:
        """The share of each action in the visits, float64 (N, A)."""
        shares: NDArray[np.float64] = self.visits / self.visits.sum(axis=1, keepdims=True)
        return shares

    def best(self, players: NDArray[np.integer]) -> NDArray[np.int64]:
        """The action of most visits, int64 (N,); of several, the one that is worth most to the player who acts."""
        own = np.take_along_axis(self.values, players[:, None, None], axis=2)[:, :, 0]
        most = self.visits == self.visits.max(axis=1, keepdims=True)
        actions: NDArray[np.int64] = np.where(most, own, -np.inf).argmax(axis=1)
        return actions


class ISMCTSAgent:
    """Plays the action that a search tried most.

    Args:
        game: the name of a game, or its module.
        simulations: of each decision; 1000 where no time is given either.
        milliseconds: instead: search each decision so long, at least one simulation. The result depends on the machine.
        exploration: how far a bound lies above a mean, in units of the spread between the lowest and the highest payoff that
            this search has met, so that it holds for rewards of any scale.
        observer: "each" or "one", see above.
        max_steps: decisions of a random playout, after which the game is scored as it stands; None plays to the end.
        margin: aim at the margin of points (`reward="score"`) whatever the table rewards: it tells more of a playout.

    Raises:
        ValueError: no game has this name, both or a wrong budget, a game that has no margin of points, or another argument
            that is not as above.
    """

    def __init__(
        self,
        game: str | ModuleType,
        simulations: int | None = None,
        milliseconds: float | None = None,
        exploration: float = 0.7,
        observer: str = "each",
        max_steps: int | None = None,
        margin: bool = False,
    ) -> None:
        self.game = load(game)
        if simulations is not None and milliseconds is not None:
            raise ValueError("got both simulations and milliseconds: one of them is the budget")
        if simulations is None and milliseconds is None:
            simulations = 1000
        for name, value in (("simulations", simulations), ("max_steps", max_steps)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"got {name}={value!r}: it must be a whole number, at least 1")
        if milliseconds is not None and not 0 < milliseconds < math.inf:
            raise ValueError(f"got milliseconds={milliseconds!r}: it must be above 0")
        if not 0 <= exploration < math.inf:
            raise ValueError(f"got exploration={exploration!r}: it must be at least 0")
        if observer not in OBSERVERS:
            raise ValueError(f"got observer={observer!r}: allowed is {', '.join(map(repr, OBSERVERS))}")
        if margin and "score_reward" not in self.game.STATE.names:
            raise ValueError(f"got margin={margin!r}: {self.game.NAME} has no reward for the margin of points")
        self.margin = margin
        self.simulations = simulations
        self.milliseconds = milliseconds
        self.exploration = exploration
        self.observer = observer
        self.max_steps = max_steps

    @classmethod
    def from_budget(cls, game: str | ModuleType, budget: str | None) -> "ISMCTSAgent":
        """With a budget in words: "1000" simulations, "50ms", or None for the default.

        Raises:
            ValueError: no game has this name, or these are no such words.
        """
        if budget is None:
            return cls(game)
        number = budget.removesuffix("ms")
        if not (number.isascii() and number.isdigit()):
            raise ValueError(
                f"got budget {budget!r}: it is a number of simulations such as '1000', or a time such as '50ms'"
            )
        return cls(game, milliseconds=int(number)) if budget.endswith("ms") else cls(game, simulations=int(number))

    def act_in(self, states: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
        """See `Searcher.act_in`."""
        return self.search(states, rng).best(np.array([current_player(state) for state in states]))

    def policy(self, states: NDArray[Any], rng: np.random.Generator, repeats: int = 1) -> NDArray[np.float64]:
        """The mean share of each action in the visits of `repeats` searches from each state, float64 (N, A)."""
        shares: NDArray[np.float64] = np.mean([self.search(states, rng).shares() for _ in range(repeats)], axis=0)
        return shares

    def search(self, states: NDArray[Any], rng: np.random.Generator) -> Search:
        """Search from each state, structured (N,), for the player who is to act there.

        The states may be true ones: what that player cannot know is redrawn before it is looked at. One generator gives
        searches of one game after the other the same as one search of all of them, where the budget is in simulations.
        """
        if self.margin:
            states = states.copy()
            states["score_reward"] = 1
        n, seats = len(states), int(states["num_players"][0])
        if (states["num_players"] != seats).any():
            raise ValueError("got states of tables with different numbers of players")
        visits = np.zeros((n, self.game.NUM_ACTIONS), np.int64)
        payoffs = np.zeros((n, self.game.NUM_ACTIONS, seats))
        steps = np.zeros(n, np.int64)
        tree = new_tree(self.game, seats, MAX_NODES if self.simulations is None else self.simulations)
        streams = new_streams(rng, n)

        def go_on(games: slice, simulations: int, goes_on: bool) -> None:
            search_games(
                states[games],
                streams[games],
                tree,
                simulations,
                goes_on,
                self.exploration,
                self.observer == "each",
                -1 if self.max_steps is None else self.max_steps,
                visits[games],
                payoffs[games],
                steps[games],
            )

        if self.simulations is not None:
            go_on(slice(None), self.simulations, False)
        else:
            for i in range(n):
                one = slice(i, i + 1)
                end = time.perf_counter() + (self.milliseconds or 0) / 1000
                go_on(one, PIECE, False)
                while visits[i].sum() > 1 and time.perf_counter() < end:  # a forced move has had its one simulation
                    go_on(one, PIECE, True)
        with np.errstate(invalid="ignore"):
            values = payoffs / visits[:, :, None]
        return Search(visits, values, steps)
