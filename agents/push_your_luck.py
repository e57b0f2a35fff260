"""Push your luck, exactly: in Magpies, when to draw on and when to stop, and what an agent loses by its own answers.

`SmallGame` is for a preset whose whole tree is walked. Everything is public in Magpies, so that backward induction is exact:
the best stopping of a seat while all other decisions (the sharing, and the other seats' stopping) are those of given agents,
or the best play of all seats.

`Theft` is for the full deck. With a fixed valuation of the cards and a fixed way to share them, one theft is an optimal
stopping problem over the undealt cards, and is solved without approximation. What it leaves out is said there.

Both measure the regret of an answer: by how much it is worse than the best one, when the seat stops at its best later on.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents.agent import AnyAgent, probabilities
from heist_envs.agents.tree import game_tree
from heist_envs.engine import Batch
from heist_envs.games import magpies
from heist_envs.rules import State, compiled

TIE = 1e-9
"""Values that differ by no more are the same."""

# ------------------------------------------------------------------------------------------------ a small game


@compiled
def induce(nodes: NDArray[Any], shares: NDArray[np.float64], free: NDArray[np.bool_], values: NDArray[np.float64]) -> None:
    """Backward induction: what each player gets from each node on, into `values` (num_nodes, num_players).

    Args:
        nodes: the tree.
        shares: the probability of each node, given its parent; the children of free nodes get it from here, 0 or 1.
        free: the nodes whose player takes what is best for him, the first such action where there are several.
        values: filled at the terminal nodes.
    """
    for node in range(len(nodes) - 1, -1, -1):
        children = range(nodes[node].first_child, nodes[node].first_child + nodes[node].num_children)
        if free[node]:
            best = nodes[node].first_child
            for child in children:
                shares[child] = 0.0
                if values[child, nodes[node].player] > values[best, nodes[node].player]:
                    best = child
            shares[best] = 1.0
        for player in range(values.shape[1] if nodes[node].num_children > 0 else 0):
            value = 0.0
            for child in children:
                value += shares[child] * values[child, player]
            values[node, player] = value


class Regret(NamedTuple):
    """What a seat loses in a game by its answers to DRAW or STOP, all else being fixed."""

    value: float
    """What it gets with the best answers."""
    lost: float
    """By how much it gets less with its own ones: the sum of its regrets, each as likely as it is reached."""
    asked: float
    """How often it is asked."""
    wrong: float
    """How often it gives an answer that is not the best."""
    worst: float
    """Its largest regret at a decision that it reaches."""

    @property
    def per_decision(self) -> float:
        """The mean regret of an answer."""
        return self.lost / self.asked if self.asked else 0.0


class SmallGame:
    """The whole tree of a small game of Magpies, and what is seen at each decision.

    Args:
        **options: of the game, as for `magpies.new_initial_state`.

    Attributes:
        nodes: `tree.NODE` (num_nodes,); a node's children come after it.
        decisions: the nodes at which a player is to act, int64 (num_decisions,).
        players: who, int64 (num_decisions,).
        stopping: where he is asked DRAW or STOP, bool (num_decisions,).
        batch: the game that stands at each decision, with what is seen and allowed there.

    A *policy* here is the probability of each node given its parent, float64 (num_nodes,); chance's are its own.

    Raises:
        ValueError: the game is too large (`tree.game_tree`), or the options are wrong.
    """

    def __init__(self, **options: Any) -> None:
        tree = game_tree(magpies, **options)
        self.nodes, self.payoffs = tree.nodes, tree.payoffs
        self.num_players = tree.payoffs.shape[1]
        self.decisions = np.flatnonzero(self.nodes["player"] >= 0)
        self.players = self.nodes["player"][self.decisions].astype(np.int64)
        if len(tree.keys) != len(self.decisions):
            raise AssertionError("two histories look alike, where everything is public")
        self._numbers = np.full(len(self.nodes), -1)
        self._numbers[self.decisions] = np.arange(len(self.decisions))
        self.batch = Batch(magpies, tree.states[self.nodes["information_set"][self.decisions]], autoreset=False)
        self.batch.look()
        self.stopping: NDArray[np.bool_] = self.batch.masks[:, magpies.STOP] == 1
        # Equal numbers for decisions at which the same is seen.
        self._views = np.unique(self.batch.observation_rows.view(f"V{magpies.OBSERVATION.size}"), return_inverse=True)[
            1
        ].reshape(-1)
        self._chosen = self._numbers[np.maximum(self.nodes["parent"], 0)]  # at which decision a node is chosen, or -1
        self._chosen[0] = -1

    def policy(
        self,
        stoppers: Sequence[AnyAgent],
        sharers: Sequence[AnyAgent] | None = None,
        draws: int = 100,
        rng: np.random.Generator | None = None,
    ) -> NDArray[np.float64]:
        """Agents as a policy.

        Args:
            stoppers: who answers DRAW or STOP for each seat.
            sharers: who decides all else for each seat; None: the same ones.
            draws: how often an agent is asked that neither says its probabilities nor is deterministic (`probabilities`).
            rng: what the agents draw from; None is a generator of seed 0.
        """
        rng = rng or np.random.default_rng(0)
        odds = np.zeros(self.batch.masks.shape)
        for seat in range(self.num_players):
            for agent, kind in ((stoppers[seat], self.stopping), ((sharers or stoppers)[seat], ~self.stopping)):
                asked = np.flatnonzero((self.players == seat) & kind)
                _, first, view = np.unique(self._views[asked], return_index=True, return_inverse=True)
                once = asked[first]  # histories that look alike are answered alike
                found = probabilities(agent, self.batch, once, draws, rng)
                odds[asked] = found[view.reshape(-1)]
        shares: NDArray[np.float64] = self.nodes["share"].copy()
        answers = self._chosen >= 0
        shares[answers] = odds[self._chosen[answers], self.nodes["action"][answers]]
        return shares

    def best(self, policy: NDArray[np.float64] | None = None, seat: int | None = None) -> "Solution":
        """The best answers to DRAW or STOP of a seat while all else goes by a policy; with neither, the best play of all.

        The best play of all seats is a subgame-perfect equilibrium: the only value that there is for two players.
        """
        free = np.zeros(len(self.nodes), np.bool_)
        mine = self.stopping & (self.players == seat) if policy is not None else np.ones(len(self.decisions), np.bool_)
        free[self.decisions[mine]] = True
        shares = self.nodes["share"].copy() if policy is None else policy.copy()
        values = self.payoffs.astype(np.float64)
        induce(self.nodes, shares, free, values)
        return Solution(shares, values)

    def values(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each seat gets in a game in which all decide by a policy, float64 (num_players,)."""
        values = self.payoffs.astype(np.float64)
        induce(self.nodes, policy.copy(), np.zeros(len(self.nodes), np.bool_), values)
        at_root: NDArray[np.float64] = values[0].copy()
        return at_root

    def reach(self, policy: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability that a game comes to each node, float64 (num_nodes,)."""
        found = policy.copy()
        found[0] = 1.0
        multiply_down(self.nodes, found)
        return found

    def regrets(
        self, seat: int, played: NDArray[np.float64], fixed: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """The regret of a seat's answers to DRAW or STOP, decision by decision.

        Args:
            seat: whose answers.
            played: the policy whose answers they are.
            fixed: the policy by which all else is decided; None: `played`.

        Returns:
            The seat's decisions between DRAW and STOP as indices into `decisions`; by how much the answer is worse than the
            best; how likely the game comes there.
        """
        mine = np.flatnonzero(self.stopping & (self.players == seat))
        fixed = played if fixed is None else fixed
        answered = np.isin(self._chosen, mine)
        mixed = np.where(answered, played, fixed)
        values = self.best(fixed, seat).values[:, seat]
        expected = np.bincount(self._chosen[answered], (mixed * values)[answered], len(self.decisions))
        return mine, values[self.decisions[mine]] - expected[mine], self.reach(mixed)[self.decisions[mine]]

    def regret(self, seat: int, played: NDArray[np.float64], fixed: NDArray[np.float64] | None = None) -> Regret:
        """The regret of a seat's answers to DRAW or STOP, summed up; arguments as for `regrets`."""
        mine, regrets, reach = self.regrets(seat, played, fixed)
        fixed = played if fixed is None else fixed
        best = self.best(fixed, seat)
        children = self.nodes["first_child"][self.decisions[mine], None] + np.arange(2)
        worse = best.values[children, seat] < best.values[children, seat].max(axis=1, keepdims=True) - TIE
        return Regret(
            value=float(best.values[0, seat]),
            lost=float(reach @ regrets),
            asked=float(reach.sum()),
            wrong=float(reach @ (played[children] * worse).sum(axis=1)),
            worst=float(regrets[reach > 0].max(initial=0.0)),
        )


class Solution(NamedTuple):
    """What backward induction finds."""

    policy: NDArray[np.float64]
    """The best play, and the given policy where nothing was free, float64 (num_nodes,)."""
    values: NDArray[np.float64]
    """What each player gets from each node on, float64 (num_nodes, num_players)."""


@compiled
def multiply_down(nodes: NDArray[Any], shares: NDArray[np.float64]) -> None:
    """Turn the probability of each node given its parent into that of coming there."""
    for node in range(1, len(nodes)):
        shares[node] *= shares[nodes[node].parent]


def stopping_regret(
    game: SmallGame,
    agent: AnyAgent,
    sharer: AnyAgent | None = None,
    opponent: AnyAgent | None = None,
    draws: int = 100,
    seed: int = 0,
) -> list[Regret]:
    """What an agent loses by its answers to DRAW or STOP in a small game, for each seat that it may have.

    Args:
        game: the game.
        agent: any agent.
        sharer: who takes the cards in its place, and in that of the opponents; None: each for itself.
        opponent: who sits in the other seats; None: the agent itself.
        draws: as for `SmallGame.policy`.
        seed: of what the agents draw.
    """
    n, rng = game.num_players, np.random.default_rng(seed)
    found = []
    for seat in range(n):
        seats: list[AnyAgent] = [opponent or agent] * n
        seats[seat] = agent
        played = game.policy(seats, None if sharer is None else [sharer] * n, draws, rng)
        found.append(game.regret(seat, played))
    return found


# ------------------------------------------------------------------------------------------------ one theft of any deck


@compiled
def lead_after(worth: NDArray[np.float64], laid: int, takes: int, caught: bool, others: int) -> float:
    """By how much the leader gets ahead of the mean of the others when all take the card that is worth most.

    Args:
        worth: of the cards on the board.
        laid: how many of them count.
        takes: how many the leader takes first.
        caught: he may not take one more after the others.
        others: how many players beside him.
    """
    ordered = np.sort(worth[:laid])[::-1]
    theirs = min(laid - takes, others)
    lead = 0.0
    for k in range(laid):
        if k < takes or (k == takes + theirs and not caught):
            lead += ordered[k]
        elif k < takes + theirs:
            lead -= ordered[k] / others
    return lead


@compiled
def draw_on(
    triangles: NDArray[np.int64],
    worth: NDArray[np.float64],
    left: NDArray[np.int64],
    board: NDArray[np.float64],
    laid: int,
    gap: int,
    takes: NDArray[np.int64],
    others: int,
) -> float:
    """The lead to expect from DRAW, when the leader stops at his best later on.

    Args:
        triangles, worth: of each kind of card.
        left: how many undealt cards of each kind there are, at least one in all.
        board: what the cards on the board are worth, with room for more.
        laid: how many they are.
        gap: free spaces, at least 1.
        takes: how many cards the leader takes after a stop at 1, 2, ... cards.
        others: how many players beside him.
    """
    undealt = left.sum()
    expected = 0.0
    for kind in range(len(left)):
        if left[kind] == 0:
            continue
        board[laid] = worth[kind]
        after = gap - 1 - triangles[kind]
        if after < 0:  # a.2: as many cards go as the inspector has gone too far
            lead = lead_after(board, max(0, laid + 1 + after), 0, True, others)
        elif after == 0:
            lead = lead_after(board, laid + 1, laid + 1, False, others)
        else:
            lead = lead_after(board, laid + 1, takes[laid], False, others)
            if undealt > 1:
                left[kind] -= 1
                lead = max(lead, draw_on(triangles, worth, left, board, laid + 1, after, takes, others))
                left[kind] += 1
        expected += lead * left[kind] / undealt
    return expected


class Answers(NamedTuple):
    """What the two answers are worth."""

    draw: float
    stop: float


class Cell(NamedTuple):
    """The first answers of a theft that come at a number of cards laid and a gap."""

    laid: int
    gap: int
    chance: float
    """That a leader who never stops comes there."""
    advantage: float
    """Of DRAW over STOP, the mean over the ways to come there."""
    draws: float
    """The share of these ways in which DRAW is better, each as likely as it is."""


class Theft:
    """One theft as a problem of optimal stopping, solved by dynamic programming over the undealt cards.

    The model: a card is worth a fixed number, at least 0; everybody takes the card that is worth most, the leader as many as
    the rules allow; the leader wants to be ahead of the mean of the other players in this theft.

    Exact within the model: the next card is any of the undealt ones, each alike likely (h.10), the cards that the inspector
    sweeps are the last ones laid, and the leader may stop later. With cards that are all worth the same, the state is the
    cards laid, the gap and the undealt cards by triangles, and it does not matter which card is taken; else the order in
    which they were laid belongs to the state, since it decides what is swept.

    Left out: what a colour, a feather, an alarm, a laurel's tie or a +card is worth to whom, and that the next player leads.

    Args:
        worth: of each card, float64 (NUM_TYPES,), or "cards", each worth 1, or "points", those printed on it and an even
            share of all tokens. Few different values, since each is a branch.
        **options: of the game, as for `magpies.new_initial_state`.

    Attributes:
        start: the initial state.
        triangles, worth: of each kind of card; kinds differ in one of both.

    Raises:
        ValueError: a worth that is negative or not finite, or an unknown valuation.
    """

    def __init__(self, worth: NDArray[np.float64] | str = "cards", **options: Any) -> None:
        self.start = magpies.new_initial_state(**options)[0]
        given = valuation(worth, self.start) if isinstance(worth, str) else np.asarray(worth, np.float64)
        if given.shape != (magpies.NUM_TYPES,) or not np.isfinite(given).all() or (given < 0).any():
            raise ValueError(f"got worth={worth!r}: {magpies.NUM_TYPES} finite numbers, at least 0")
        pairs, kinds = np.unique(np.stack([self.start.face & 3, given]), axis=1, return_inverse=True)
        in_deck = self.start.copies > 0
        used, self._kinds = np.unique(kinds.reshape(-1)[in_deck], return_inverse=True)
        self._in_deck = in_deck
        self.triangles: NDArray[np.int64] = pairs[0, used].astype(np.int64)
        self.worth: NDArray[np.float64] = pairs[1, used]
        self._worth_of = given
        self._takes = self.start.take_table.astype(np.int64)
        self._others = int(self.start.num_players) - 1

    def undealt(self, state: State) -> NDArray[np.int64]:
        """How many undealt cards of each kind there are."""
        return np.bincount(self._kinds, state.unseen[self._in_deck], len(self.worth)).astype(np.int64)

    def answers(self, state: State) -> Answers:
        """What DRAW and STOP are worth in a state in which the leader is asked.

        Raises:
            ValueError: he is not.
        """
        if state.phase != magpies.STEALING or state.owed:
            raise ValueError("the leader is not asked to draw on or to stop")
        laid = int(state.laid)
        return self._answers(self.undealt(state), self._worth_of[state.card_at[:laid]], magpies.gap_of(state))

    def _answers(self, left: NDArray[np.int64], laid: Sequence[float] | NDArray[np.float64], gap: int) -> Answers:
        board = np.zeros(magpies.MAX_SPACES)
        board[: len(laid)] = laid
        stop = lead_after(board, len(laid), int(self._takes[len(laid) - 1]), False, self._others)
        draw = draw_on(self.triangles, self.worth, left, board, len(laid), gap, self._takes, self._others)
        return Answers(draw, stop)

    def thefts(self) -> Iterator[tuple[float, int, int, Answers]]:
        """All ways to come to a decision in the first theft: their chance if nobody stops, cards laid, gap, and answers."""

        def walk(chance: float, laid: list[float], gap: int) -> Iterator[tuple[float, int, int, Answers]]:
            if laid:
                yield chance, len(laid), gap, self._answers(left, laid, gap)
            undealt = left.sum()
            for kind in np.flatnonzero(left):
                after = gap - 1 - int(self.triangles[kind])
                if after > 0 and undealt > 1:
                    share = chance * left[kind] / undealt
                    left[kind] -= 1
                    yield from walk(share, [*laid, float(self.worth[kind])], after)
                    left[kind] += 1

        left = self.undealt(self.start)
        return walk(1.0, [], int(self.start.board_length))

    def map(self) -> list[Cell]:
        """Where to draw on and where to stop in the first theft, by cards laid and gap."""
        found: dict[tuple[int, int], list[tuple[float, float]]] = {}
        for chance, laid, gap, (draw, stop) in self.thefts():
            found.setdefault((laid, gap), []).append((chance, draw - stop))
        cells = []
        for (laid, gap), ways in sorted(found.items()):
            chances, advantages = np.array(ways).T
            mean = float(chances @ advantages / chances.sum())
            better = advantages > TIE
            draws = 1.0 if better.all() else float(chances @ better / chances.sum())  # free of rounding where it is all
            cells.append(Cell(laid, gap, float(chances.sum()), mean, draws))
        return cells


VALUATIONS = ("cards", "points")


def valuation(name: str, start: State) -> NDArray[np.float64]:
    """What each card is worth, float64 (NUM_TYPES,): "cards" or "points", as for `Theft`.

    Raises:
        ValueError: another name.
    """
    if name == "cards":
        return np.ones(magpies.NUM_TYPES)
    if name == "points":
        share = start.tokens[[*range(start.num_colours), magpies.WHITE]].sum() / start.copies.sum()
        points: NDArray[np.float64] = (start.face >> 6) + float(share)
        return points
    raise ValueError(f"got worth={name!r}: it is one of {', '.join(map(repr, VALUATIONS))}, or an array")
