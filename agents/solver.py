"""Equilibria of small tables: counterfactual regret minimisation, best responses and NashConv, for any number of players.

    form = sequence_form(game_tree("holdup", preset="tiny"))
    minimizer = RegretMinimizer(form)
    minimizer.run(1000)
    print(deviation_gains(form, minimizer.average()))

A game's tree is brought into sequence form once (von Stengel, "Efficient computation of behavior strategies", 1996). A
*sequence* is a player's own choices up to a point: one number per (information set, action), and one per player for having
chosen nothing. With perfect recall all that an algorithm needs of the tree is, for each way the game may end, the last
sequence of every player and its payoffs times the probability of chance. One pass over the endings gives what each sequence
of a player is worth against the others; one pass over the player's information sets, last ones first, does the rest.

What it gives: for two players and payoffs that sum to zero, the average strategy comes ever closer to an equilibrium. With
three or more players nothing of the kind is promised: the average need not be an equilibrium nor come closer to one, an
equilibrium found need not be the only one, nor does playing one's part of it guarantee its value. There, `deviation_gains`
are the result: what each seat would win by changing alone, measured exactly for the very strategy that was found.

A *strategy* is float64 (num_sequences,), in the order of `SequenceForm.first`; a *plan* (num_sequences + num_players,) holds
for each sequence the product of a player's own probabilities along it, those of the empty sequences, 1, at the end.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance
from heist_envs.agents.agent import AnyAgent, probabilities
from heist_envs.agents.tree import Tree
from heist_envs.engine import Batch
from heist_envs.games import load
from heist_envs.rules import CHANCE, TERMINAL, compiled


class SequenceForm(NamedTuple):
    """A game as its sequences. Information sets have the numbers of the tree; each comes after those on the way to it."""

    players: NDArray[np.int16]
    """Who is to act at an information set, int16 (num_information_sets,)."""
    first: NDArray[np.int64]
    """Its first sequence; the actions follow one another, int64 (num_information_sets + 1,)."""
    parents: NDArray[np.int64]
    """The last sequence of its player before it, int64 (num_information_sets,)."""
    actions: NDArray[np.int16]
    """The game's action that ends a sequence, int16 (num_sequences,)."""
    leaves: NDArray[np.int32]
    """The last sequence of each player at each ending in which anything is won, int32 (num_players, num_leaves)."""
    gains: NDArray[np.float64]
    """The payoffs there times the probability of chance, float64 (num_players, num_leaves)."""


@compiled
def follow(
    nodes: NDArray[Any],
    first: NDArray[np.int64],
    parents: NDArray[np.int64],
    actions: NDArray[np.int16],
    sequences: NDArray[np.int32],
    shares: NDArray[np.float64],
) -> bool:
    """Write each node's sequences (num_nodes, num_players) and probability of chance from those of its parent.

    Returns:
        Whether all nodes of an information set come after the same sequence and offer the same actions: perfect recall.
    """
    recalls = True
    for k in range(len(nodes)):
        player, information_set = nodes[k].player, nodes[k].information_set
        if player >= 0:
            parent = parents[information_set]
            recalls &= parent < 0 or parent == sequences[k, player]
            recalls &= first[information_set + 1] - first[information_set] == nodes[k].num_children
            parents[information_set] = sequences[k, player]
        for i in range(nodes[k].num_children):
            child = nodes[k].first_child + i
            for seat in range(sequences.shape[1]):
                sequences[child, seat] = sequences[k, seat]
            shares[child] = shares[k] * nodes[child].share
            if player >= 0:
                sequence = first[information_set] + i
                recalls &= actions[sequence] < 0 or actions[sequence] == nodes[child].action
                actions[sequence] = nodes[child].action
                sequences[child, player] = sequence
    return recalls


def sequence_form(tree: Tree) -> SequenceForm:
    """The sequence form of a tree.

    Raises:
        ValueError: the information sets are not those of perfect recall.
    """
    nodes, n = tree.nodes, tree.payoffs.shape[1]
    decisions = np.flatnonzero(nodes["player"] >= 0)
    _, where = np.unique(nodes["information_set"][decisions], return_index=True)
    there = nodes[decisions[where]]
    first = np.concatenate([[0], np.cumsum(there["num_children"], dtype=np.int64)])
    parents = np.full(len(there), -1, np.int64)
    actions = np.full(first[-1], -1, np.int16)
    sequences = np.zeros((len(nodes), n), np.int32)
    sequences[0] = first[-1] + np.arange(n)
    shares = np.ones(len(nodes))
    if not follow(nodes, first, parents, actions, sequences, shares):
        raise ValueError("the information sets are not those of perfect recall")
    ends = np.flatnonzero((nodes["player"] == TERMINAL) & tree.payoffs.any(axis=1))
    return SequenceForm(
        there["player"].copy(),
        first,
        parents,
        actions,
        np.ascontiguousarray(sequences[ends].T),
        np.ascontiguousarray((tree.payoffs[ends].astype(np.float64) * shares[ends, None]).T),
    )


# ------------------------------------------------------------------------------------------------ Strategies


def uniform(form: SequenceForm) -> NDArray[np.float64]:
    """The strategy that takes all actions alike."""
    counts = np.diff(form.first)
    return np.repeat(1 / counts, counts)


def normalized(form: SequenceForm, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The strategy with probabilities in proportion to weights (num_sequences,); all actions alike where all are 0."""
    totals = np.repeat(np.add.reduceat(weights, form.first[:-1]), np.diff(form.first))
    return np.where(totals > 0, weights / np.where(totals > 0, totals, 1), uniform(form))


def strategy_of(
    agents: Sequence[AnyAgent], game: str | ModuleType, tree: Tree, form: SequenceForm, draws: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """What agents do, one for each seat, as a strategy.

    Args:
        agents: asked once for each information set and draw, in a state of it; a searcher gets guesses, as always.
        game: the name of the game, or its module.
        tree: of a table of it.
        form: the tree's sequence form.
        draws: how often an agent is asked that says no probabilities and leaves something to chance (`probabilities`).
        rng: what the agents draw from.
    """
    batch = Batch(load(game), tree.states.copy(), autoreset=False)
    batch.look()
    strategy = np.zeros(len(form.actions))
    sets = np.repeat(np.arange(len(form.players)), np.diff(form.first))
    for agent in {id(agent): agent for agent in agents}.values():
        seats = [seat for seat, one in enumerate(agents) if one is agent]
        rows = np.flatnonzero(np.isin(form.players, seats))
        odds = np.zeros(batch.masks.shape)
        odds[rows] = probabilities(agent, batch, rows, draws, rng)
        strategy += odds[sets, form.actions]
    return strategy


def realization_plan(form: SequenceForm, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """The plan of a strategy, for all players."""
    plan = np.ones(len(strategy) + len(form.leaves))
    for player in range(len(form.leaves)):
        realize(form, player, strategy, plan)
    return plan


@compiled
def realize(form: SequenceForm, player: int, strategy: NDArray[np.float64], plan: NDArray[np.float64]) -> None:
    """Write a player's part of the plan."""
    for i in range(len(form.players)):
        if form.players[i] == player:
            before = plan[form.parents[i]]
            for s in range(form.first[i], form.first[i + 1]):
                plan[s] = before * strategy[s]


# ------------------------------------------------------------------------------------------------ Best responses


@compiled
def collect(form: SequenceForm, player: int, plan: NDArray[np.float64], worth: NDArray[np.float64]) -> None:
    """Write what the endings right after each of a player's sequences give, weighted by all others and chance.

    `worth`, float64 as long as a plan, becomes the counterfactual value of each sequence once those of later information
    sets are added, last ones first.
    """
    worth[:] = 0
    for k in range(form.leaves.shape[1]):
        gain = form.gains[player, k]
        for seat in range(len(form.leaves)):
            if seat != player:
                gain *= plan[form.leaves[seat, k]]
        worth[form.leaves[player, k]] += gain


@compiled
def evaluate(form: SequenceForm, player: int, strategy: NDArray[np.float64], worth: NDArray[np.float64]) -> None:
    """Complete `worth` for a player who goes on by the strategy."""
    for i in range(len(form.players) - 1, -1, -1):
        if form.players[i] == player:
            for s in range(form.first[i], form.first[i + 1]):
                worth[form.parents[i]] += strategy[s] * worth[s]


@compiled
def respond(form: SequenceForm, player: int, strategy: NDArray[np.float64], worth: NDArray[np.float64]) -> None:
    """Complete `worth` for a player who goes on as well as can be, and write that into the strategy: exact, one pass.

    A best action at an information set depends on later ones only, since all that leads there is remembered.
    """
    for i in range(len(form.players) - 1, -1, -1):
        if form.players[i] == player:
            best = form.first[i]
            for s in range(form.first[i], form.first[i + 1]):
                strategy[s] = 0.0
                if worth[s] > worth[best]:
                    best = s
            strategy[best] = 1.0
            worth[form.parents[i]] += worth[best]


def expected_values(form: SequenceForm, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each player gets where all play the strategy, float64 (num_players,)."""
    plan = realization_plan(form, strategy)
    chances = np.prod([plan[leaves] for leaves in form.leaves], axis=0)
    values: NDArray[np.float64] = form.gains @ chances
    return values


def best_response(form: SequenceForm, player: int, strategy: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """The most that a player can get against the strategy of the others, and the strategy with that player's best actions.

    Where its own play or the others' never comes, the first action is taken.
    """
    plan = realization_plan(form, strategy)
    worth, answer = np.zeros_like(plan), strategy.copy()
    collect(form, player, plan, worth)
    respond(form, player, answer, worth)
    return float(worth[len(strategy) + player]), answer


def deviation_gains(form: SequenceForm, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each player would gain by changing alone to a best response, float64 (num_players,); all 0 in an equilibrium."""
    best = [best_response(form, player, strategy)[0] for player in range(len(form.leaves))]
    return np.array(best) - expected_values(form, strategy)


def nash_conv(form: SequenceForm, strategy: NDArray[np.float64]) -> float:
    """The sum of the deviation gains (Lanctot et al., "A unified game-theoretic approach", 2017)."""
    return float(deviation_gains(form, strategy).sum())


# ------------------------------------------------------------------------------------------------ Regret minimisation


class Discounts(NamedTuple):
    """How iteration t counts (Brown and Sandholm, "Solving imperfect-information games via discounted regret", 2019).

    After iteration t, regrets above 0 are multiplied by t**alpha / (t**alpha + 1), those below by t**beta / (t**beta + 1);
    its strategy counts t**gamma in the average.
    """

    alpha: float
    beta: float
    gamma: float


NEVER, AT_ONCE = float("inf"), float("-inf")
CFR = Discounts(NEVER, NEVER, 0.0)
"""Zinkevich et al., "Regret minimization in games with incomplete information", 2007."""
CFR_PLUS = Discounts(NEVER, AT_ONCE, 1.0)
"""Tammelin, "Solving large imperfect information games using CFR+", 2014: no regret below 0, and linear averaging."""
LINEAR_CFR = Discounts(1.0, 1.0, 1.0)
DISCOUNTED_CFR = Discounts(1.5, 0.0, 2.0)
"""Both by Brown and Sandholm."""


@compiled
def kept(iteration: float, exponent: float) -> float:
    """The factor of `Discounts`; infinite exponents keep all or nothing from the first iteration on."""
    if np.isinf(exponent):
        return 1.0 if exponent > 0 else 0.0
    power: float = iteration**exponent
    return power / (power + 1)


@compiled
def match_regrets(first: int, last: int, regrets: NDArray[np.float64], strategy: NDArray[np.float64]) -> None:
    """Take each action in proportion to its regret above 0, or all alike (Hart and Mas-Colell, 2000)."""
    total = 0.0
    for s in range(first, last):
        total += max(regrets[s], 0.0)
    for s in range(first, last):
        strategy[s] = max(regrets[s], 0.0) / total if total > 0 else 1 / (last - first)


@compiled
def minimize_regret(
    form: SequenceForm,
    regrets: NDArray[np.float64],
    average: NDArray[np.float64],
    strategy: NDArray[np.float64],
    plan: NDArray[np.float64],
    worth: NDArray[np.float64],
    done: int,
    iterations: int,
    alpha: float,
    beta: float,
    gamma: float,
) -> None:
    """Iterations over all the game, after `done` earlier ones. The players are updated in turn, each against the newest
    strategies of the others.

    Args:
        form: the game.
        regrets: and `average`, the sum of weighted plans, and `strategy`: float64 (num_sequences,).
        average: see above.
        strategy: see above.
        plan: of the strategy; `worth` is scratch as long as it.
        worth: see above.
        done: iterations so far.
        iterations: how many to add.
        alpha: with beta and gamma, `Discounts`.
        beta: see above.
        gamma: see above.
    """
    for t in range(done + 1, done + iterations + 1):
        above, below, weight = kept(t, alpha), kept(t, beta), float(t) ** gamma
        for player in range(len(form.leaves)):
            collect(form, player, plan, worth)
            for i in range(len(form.players) - 1, -1, -1):
                if form.players[i] != player:
                    continue
                value = 0.0
                for s in range(form.first[i], form.first[i + 1]):
                    value += strategy[s] * worth[s]
                    average[s] += weight * plan[s]
                worth[form.parents[i]] += value
                for s in range(form.first[i], form.first[i + 1]):
                    regret = regrets[s] + worth[s] - value
                    regrets[s] = regret * (above if regret > 0 else below)
                match_regrets(form.first[i], form.first[i + 1], regrets, strategy)
            realize(form, player, strategy, plan)


class RegretMinimizer:
    """Counterfactual regret minimisation under way.

    Args:
        form: the game.
        discounts: the variant.
    """

    def __init__(self, form: SequenceForm, discounts: Discounts = CFR_PLUS) -> None:
        self.form, self.discounts = form, discounts
        self.iterations = 0
        self.strategy = uniform(form)
        self.regrets, self.weights = np.zeros_like(self.strategy), np.zeros_like(self.strategy)
        self._plan = realization_plan(form, self.strategy)
        self._worth = np.zeros_like(self._plan)

    def run(self, iterations: int) -> None:
        """Go on for so many iterations."""
        arrays = (self.regrets, self.weights, self.strategy, self._plan, self._worth)
        minimize_regret(self.form, *arrays, self.iterations, iterations, *self.discounts)
        self.iterations += iterations

    def average(self) -> NDArray[np.float64]:
        """The average strategy so far, which is what comes close to an equilibrium."""
        return normalized(self.form, self.weights)


# ------------------------------------------------------------------------------------------------ Sampling


@compiled
def sample_externally(
    nodes: NDArray[Any],
    payoffs: NDArray[np.float32],
    form: SequenceForm,
    regrets: NDArray[np.float64],
    strategy: NDArray[np.float64],
    streams: NDArray[Any],
    visited: NDArray[np.int32],
    above: NDArray[np.int32],
    values: NDArray[np.float64],
    iterations: int,
) -> None:
    """Iterations of a walk per player in which only that player's actions are all tried, the others' and chance's drawn.

    Args:
        nodes: with `payoffs`, the tree.
        payoffs: see above.
        form: its sequence form.
        regrets: and `strategy`: float64 (num_sequences,).
        strategy: see above.
        streams: `chance.STREAM` (1,).
        visited: scratch as long as `nodes`, as are `above`, the place of a node's parent among those visited, and `values`.
        above: see above.
        values: see above.
        iterations: how many.
    """
    for turn in range(iterations * len(form.leaves)):
        player = turn % len(form.leaves)
        visited[0], count, k = 0, 1, 0
        while k < count:  # breadth first; the list grows while it is read
            node = nodes[visited[k]]
            values[k] = payoffs[visited[k], player] if node.player == TERMINAL else 0.0
            begin, end = 0, node.num_children
            if node.player != player and node.num_children > 0:
                left = chance.fraction(streams[0])
                for i in range(node.num_children):
                    begin = i
                    left -= (
                        nodes[node.first_child + i].share
                        if node.player == CHANCE
                        else strategy[form.first[node.information_set] + i]
                    )
                    if left < 0:
                        break
                end = begin + 1
            for i in range(begin, end):
                visited[count], above[count] = node.first_child + i, k
                count += 1
            k += 1
        for k in range(count - 1, 0, -1):
            here, before = nodes[visited[k]], nodes[visited[above[k]]]
            if before.player == player:
                s = form.first[before.information_set] + visited[k] - before.first_child
                values[above[k]] += strategy[s] * values[k]
            else:
                values[above[k]] += values[k]
        for k in range(1, count):
            before = nodes[visited[above[k]]]
            if before.player == player:
                s = form.first[before.information_set] + visited[k] - before.first_child
                regrets[s] += values[k] - values[above[k]]
        for k in range(count):
            here = nodes[visited[k]]
            if here.player == player:
                i = here.information_set
                match_regrets(form.first[i], form.first[i + 1], regrets, strategy)


class SamplingMinimizer:
    """External sampling (Lanctot et al., "Monte Carlo sampling for regret minimization in extensive games", 2009).

    An iteration costs a few walks down the tree, however wide chance and the others are. Each call of `run` adds the plans
    of its last strategy to the average, which is then one over evenly spaced iterations, for any number of players.
    """

    def __init__(self, tree: Tree, form: SequenceForm, seed: int) -> None:
        self.tree, self.form = tree, form
        self.iterations = 0
        self.strategy = uniform(form)
        self.regrets, self.weights = np.zeros_like(self.strategy), np.zeros_like(self.strategy)
        self._streams = chance.streams(chance.seeds(seed, 1))
        size = len(tree.nodes)
        self._scratch = (np.zeros(size, np.int32), np.zeros(size, np.int32), np.zeros(size))

    def run(self, iterations: int) -> None:
        """Go on for so many iterations, the same number in every call."""
        sample_externally(
            self.tree.nodes,
            self.tree.payoffs,
            self.form,
            self.regrets,
            self.strategy,
            self._streams,
            *self._scratch,
            iterations,
        )
        self.weights += realization_plan(self.form, self.strategy)[: len(self.weights)]
        self.iterations += iterations

    def average(self) -> NDArray[np.float64]:
        """The average strategy so far."""
        return normalized(self.form, self.weights)
