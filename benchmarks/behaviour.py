"""What agents do, as rates by what they know: bluff, call, betrayal, alarm, bust and stop.

    python -m heist_envs.benchmarks.behaviour --agents uniform rule --json benchmarks/results/behaviour-play.json
    python -m heist_envs.benchmarks.behaviour --preset tiny --exact --json benchmarks/results/behaviour-tiny.json

A question is a yes or no that the acting player's answer gives: does he join, does he lay the card face down? It is asked
class by class of what he knows himself, such as the card that he holds; a class in which a yes pretends what is not so is a
bluff. The agent plays all seats. In play its answers are counted, with 95% intervals clustered by game. At a table whose
tree is small enough (`--exact`) the rates are those of its strategy, weighted by how likely play comes to each information
set, and beside them stand those of the strategy that CFR+ finds: an equilibrium, as nearly as its NashConv says, for two
players; for three or more it promises none.
"""

import json
import math
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import AnyAgent, decide, make_agent
from heist_envs.agents.solver import SequenceForm, follow, realization_plan, sequence_form, strategy_of
from heist_envs.agents.tree import Tree, game_tree
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import NORMAL_95
from heist_envs.command import CommandParser, launch
from heist_envs.engine import Batch
from heist_envs.games import GAMES, accomplices, cleaners, holdup, load, magpies

BATCH = 2_000

ByAction: TypeAlias = Callable[[NDArray[Any], NDArray[np.intp]], NDArray[Any]]
"""Something about each action, by states (N,) and the players who are to act there, intp (N,): an array that broadcasts to
(N, num_actions). It reads what is public and what is those players' own, so that it is the same all over an information set.
Of actions that are not legal it may say anything."""


class Question(NamedTuple):
    """A yes or no about what a player does."""

    name: str
    classes: tuple[str, ...]
    """What may be known to him who answers."""
    bluffs: tuple[str, ...]
    """The classes in which a yes is a bluff."""
    sorts: ByAction
    """The class for which an action is an answer, integer; -1 for none. Mostly the same for all actions of a state."""
    yes: ByAction
    """How far an action is a yes: True or False, or a probability where chance has the last word."""


class Rates(NamedTuple):
    """How often the answer was yes; each float64 (num_classes,)."""

    question: Question
    asked: NDArray[np.float64]
    """Answers counted, or expected in a game."""
    yes: NDArray[np.float64]
    """Those of them that were a yes."""
    independent: NDArray[np.float64]
    """How many independent answers would tell as much; infinite where nothing is left to chance."""

    @property
    def rates(self) -> NDArray[np.float64]:
        """The share of yes; nan where nobody was asked."""
        share: NDArray[np.float64] = self.yes / np.where(self.asked > 0, self.asked, np.nan)
        return share

    @property
    def intervals(self) -> NDArray[np.float64]:
        """Both ends of a 95% interval (Wilson, "Probable inference", 1927), float64 (num_classes, 2)."""
        share, weight = self.rates, NORMAL_95**2 / np.where(self.asked > 0, self.independent, np.nan)
        half = np.sqrt(weight * share * (1 - share) + weight**2 / 4)
        ends: NDArray[np.float64] = np.stack([share + weight / 2 - half, share + weight / 2 + half], axis=-1)
        return ends / (1 + weight)[:, None]


# ------------------------------------------------------------------------------------------------ Words for questions


def _own(states: NDArray[Any], field: str, players: NDArray[np.intp]) -> NDArray[Any]:
    """The players' own rows of a field by seat."""
    mine: NDArray[Any] = states[field][np.arange(len(states)), players]
    return mine


def _where(asked: NDArray[Any], classes: NDArray[Any] | int) -> NDArray[np.int64]:
    """The same class for all actions, (N, 1), where the question is asked."""
    return np.where(asked, classes, -1)[:, None]


def _any_of(game: Any, *actions: int) -> ByAction:
    """A yes by actions that are always one."""
    yes = np.isin(np.arange(game.NUM_ACTIONS), actions)
    return lambda states, players: yes


def _up_to(count: int, what: str) -> tuple[str, ...]:
    """Names for 0, 1, ..., and `count` or more things."""
    return (f"no {what}", f"1 {what}", *(f"{k} {what}s" for k in range(2, count)), f"{count} or more {what}s")


# ------------------------------------------------------------------------------------------------ Hold-up

_CARDS = tuple(f"card {value}" for value in range(1, holdup.NUM_CARDS + 1))
_WAYS = np.array([[math.comb(n, k) for k in range(holdup.MAX_PLAYERS)] for n in range(holdup.NUM_CARDS + 1)])


def _by_card(phase: int) -> ByAction:
    return lambda states, players: _where(states["phase"] == phase, _own(states, "card", players) - 1)


def _second_highest(states: NDArray[Any], players: NDArray[np.intp]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The probability that the own card takes the pot if all who have not folded take part, and how many those are.

    The others' cards are taken to be any of those that do not lie open, all alike likely (HOL-12: of two the lower wins).
    """
    own, cards = _own(states, "card", players)[:, None], np.arange(1, holdup.NUM_CARDS + 1)
    unseen = (states["in_play"] == 1) & (states["face_up"] == 0)
    above, below = (unseen & (cards > own)).sum(axis=1), (unseen & (cards < own)).sum(axis=1)
    rivals = states["num_players"] - states["folded"].sum(axis=1) - 1
    ways = above * _WAYS[below, np.maximum(0, rivals - 1)]
    share = np.where(rivals > 0, ways / np.maximum(1, _WAYS[above + below, np.maximum(0, rivals)]), 1.0)
    return share, rivals + 1


def _by_odds(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    asked = states["phase"] == holdup.JOINING
    found = np.full(len(states), -1)
    share, participants = _second_highest(states[asked], players[asked])
    found[asked] = share * participants < 1
    return found[:, None]


def _by_forceable(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    higher = (states["folded"] == 1) & (states["diamonds"] >= 1) & (states["shown"] > _own(states, "card", players)[:, None])
    return _where(states["phase"] == holdup.SHOOTING, higher.any(axis=1))


def _by_thieves(phase: int) -> ByAction:
    return lambda states, players: _where(states["phase"] == phase, _own(states, "thieves", players))


_THIEVES = ("no Thief left", "1 Thief left", "2 Thieves left", "3 Thieves left")
_FORCES = range(holdup.REVOLVER, holdup.REVOLVER + holdup.MAX_PLAYERS - 1)

_HOLDUP = (
    Question("redraws", _CARDS, (), _by_card(holdup.DRAW), _any_of(holdup, holdup.REDRAW)),
    Question("bribes", _THIEVES, (), _by_thieves(holdup.CORRUPT), _any_of(holdup, holdup.BRIBE)),
    Question("takes a loan", _THIEVES, (), _by_thieves(holdup.CORRUPT), _any_of(holdup, holdup.LOAN)),
    Question("joins", _CARDS, (), _by_card(holdup.JOINING), _any_of(holdup, holdup.JOIN)),
    Question(
        "joins with",
        ("a fair chance", "a poor chance"),  # poor: a smaller one than it would be with equal chances for all
        ("a poor chance",),
        _by_odds,
        _any_of(holdup, holdup.JOIN),
    ),
    Question(
        "uses the Revolver",
        ("only lower cards to force", "a higher card to force"),
        (),
        _by_forceable,
        _any_of(holdup, *_FORCES),
    ),
    Question("pays with Thieves", _THIEVES, (), _by_thieves(holdup.PENALTY), _any_of(holdup, holdup.FLIP)),
)

# ------------------------------------------------------------------------------------------------ Accomplices

_KINDS = ("a Key", "a Loot", "a joker", "a Traitor", "an Alarm")
_KIND = np.array([0] * 5 + [1] * 5 + [2] * 2 + [3, 4, -1])
"""By type of card, NO_CARD last."""
_IS_LOOT = np.isin(np.arange(accomplices.NUM_TREASURES + 1), [*range(accomplices.LOOT, 10), accomplices.JACKPOT])
_CLAIMED = ("a Key is claimed", "a Loot is claimed")


def _by_led(phase: int) -> ByAction:
    return lambda states, players: _where(states["phase"] == phase, _KIND[_own(states, "face_down", players)])


def _by_score(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    others = np.where(np.arange(accomplices.MAX_PLAYERS) == players[:, None], -1, states["scores"]).max(axis=1)
    return _where(states["phase"] == accomplices.LEADING, np.sign(others - _own(states, "scores", players)) + 1)


def _by_claim(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    return _where(states["phase"] == accomplices.VOLUNTEERING, _IS_LOOT[states["claim"]])


def _claims_falsely(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.bool_]:
    truth = accomplices.CLAIM + _own(states, "face_down", players)
    different: NDArray[np.bool_] = np.arange(accomplices.NUM_ACTIONS) != truth[:, None]
    return different


def _lays_treasure(fitting: bool) -> ByAction:
    """A card that makes a success of the claim, or one that does not; neither a Traitor nor an Alarm."""

    def yes(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.bool_]:
        fits = accomplices.OUTCOME[states["claim"], : accomplices.NUM_TREASURES] == accomplices.SUCCESS
        lays = np.zeros((len(states), accomplices.NUM_ACTIONS), np.bool_)
        lays[:, accomplices.PLAY : accomplices.PLAY + accomplices.NUM_TREASURES] = fits == fitting
        return lays

    return yes


def _by_last_alarm(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    last = states["police_file"] + 1 == states["deck"][:, accomplices.ALARM]
    return _where(states["phase"] == accomplices.SOUNDING, last)


def _by_role(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    return _where(states["phase"] == accomplices.BETRAYING, players == states["leader"])


def _lays(card: int) -> ByAction:
    return _any_of(accomplices, accomplices.PLAY + card)


_STANDINGS = ("who is ahead", "who is level", "who is behind")
_ACCOMPLICES = (
    Question("leads a Traitor", _STANDINGS, (), _by_score, _lays(accomplices.TRAITOR)),
    Question("leads an Alarm", _STANDINGS, _STANDINGS, _by_score, _lays(accomplices.ALARM)),
    # Of a Traitor or an Alarm the claim cannot be true: whoever leads one has no choice any more.
    Question("claims falsely", _KINDS, _KINDS[:3], _by_led(accomplices.CLAIMING), _claims_falsely),
    Question("volunteers a card that fits", _CLAIMED, (), _by_claim, _lays_treasure(fitting=True)),
    Question("volunteers junk", _CLAIMED, _CLAIMED, _by_claim, _lays_treasure(fitting=False)),
    Question("volunteers an Alarm", _CLAIMED, _CLAIMED, _by_claim, _lays(accomplices.ALARM)),
    Question("volunteers a Traitor", _CLAIMED, (), _by_claim, _lays(accomplices.TRAITOR)),
    Question(
        "takes the pile, no volunteer",
        _KINDS,
        (),
        _by_led(accomplices.CHOOSING),
        _any_of(accomplices, accomplices.TAKE_PILE),
    ),
    Question(
        "sounds an Alarm",
        ("the game goes on", "it ends the game"),
        (),
        _by_last_alarm,
        _any_of(accomplices, accomplices.SOUND),
    ),
    Question(
        "steals from the hideout",
        ("as accomplice", "as leader"),
        (),
        _by_role,
        _any_of(accomplices, *range(accomplices.STEAL, accomplices.NUM_ACTIONS)),
    ),
)

# ------------------------------------------------------------------------------------------------ Cleaners

_PLACES = np.arange(cleaners.PLACE, cleaners.PLACE + 2 * cleaners.NUM_VALUES)
_LOW_CARDS = ("a Fly", "a low card")


def _begins(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.bool_]:
    begins: NDArray[np.bool_] = (states["phase"] == cleaners.TURN) & (_own(states, "choice", players)[:, 0] == 0)
    return begins


def _by_value(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    """Low is the lower half of the values that everybody has, rounded down."""
    rank = (states["deck"][:, 1:] > 0).cumsum(axis=1)
    kinds = np.where(2 * rank <= rank[:, -1:], 1, 2)
    found = np.full((len(states), cleaners.NUM_ACTIONS), -1)
    found[:, _PLACES] = np.repeat(np.insert(kinds, cleaners.FLY, 0, axis=1), 2, axis=1)
    return np.where(_begins(states, players)[:, None], found, -1)


def _by_hidden(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    owners = states["down_owner"].reshape(len(states), -1)
    others = ((owners != cleaners.NO_SEAT) & (owners != players[:, None])).sum(axis=1)
    return _where(_begins(states, players), np.minimum(others, len(_HIDDEN) - 1))


def _by_objects(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    mine, card = states["holder"] == players[:, None], _own(states, "known_villa", players)
    has = (mine & (card > 0) & (card <= states["num_objects"][:, None])).any(axis=1)
    return _where(states["phase"] == cleaners.ACCUSE, has)


_HIDDEN = tuple(f"{name} of others" for name in _up_to(3, "hidden card"))
_ACCUSES = range(cleaners.NO_ACCUSATION + 1, cleaners.NUM_ACTIONS)

_CLEANERS = (
    Question(
        "lays face down, not open",
        (*_LOW_CARDS, "a high card"),
        _LOW_CARDS,
        _by_value,
        _any_of(cleaners, *_PLACES[::2].tolist()),
    ),
    Question("looks at a Villa card", _HIDDEN, (), _by_hidden, _any_of(cleaners, cleaners.PEEK_VILLA)),
    Question("looks at a Vice card", _HIDDEN, (), _by_hidden, _any_of(cleaners, cleaners.PEEK_VICE)),
    Question("moves or swaps Vice cards", _HIDDEN, (), _by_hidden, _any_of(cleaners, cleaners.MOVE, cleaners.SWAP)),
    Question("accuses", ("has no object to lose", "has an object to lose"), (), _by_objects, _any_of(cleaners, *_ACCUSES)),
)

# ------------------------------------------------------------------------------------------------ Magpies

_STOPS = [(laid, gap) for laid in range(1, magpies.MAX_SPACES) for gap in range(1, magpies.MAX_SPACES - laid + 1)]
_STOP_NUMBER = np.full((magpies.MAX_SPACES + 1, magpies.MAX_SPACES + 1), -1)
_STOP_NUMBER[tuple(np.transpose(_STOPS))] = np.arange(len(_STOPS))


def _gaps(states: NDArray[Any]) -> NDArray[np.int64]:
    gaps: NDArray[np.int64] = states["inspector"].astype(np.int64) - states["laid"] - 1
    return gaps


def _by_row(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    """By cards laid and the gap to the inspector."""
    asked = states["phase"] == magpies.STEALING
    return _where(asked, _STOP_NUMBER[states["laid"], np.where(asked, _gaps(states), 0)])


def _by_gap(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    """Where a card may catch him: one of at least as many triangles as there are free spaces."""
    return _where((states["phase"] == magpies.STEALING) & (_gaps(states) <= magpies.MAX_TRIANGLES), _gaps(states) - 1)


def _is_caught(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.float64]:
    """What chance makes of DRAW: the share of such cards among the unseen ones (h.10: it does not matter in which pile)."""
    catching = (states["face"] & 3) >= _gaps(states)[:, None]
    caught = np.zeros((len(states), magpies.NUM_ACTIONS))
    unseen = states["unseen"].astype(np.int64)
    caught[:, magpies.DRAW] = (unseen * catching).sum(axis=1) / np.maximum(1, unseen.sum(axis=1))
    return caught


def _by_cards_left(phase: int) -> ByAction:
    return lambda states, players: _where(states["phase"] == phase, np.minimum(states["cards_left"], 3))


def _by_last_turn(states: NDArray[Any], players: NDArray[np.intp]) -> NDArray[np.int64]:
    return _where(states["phase"] == magpies.TURNING, states["last_turn"])


_LEFT = _up_to(3, "card")
_TAKES = range(magpies.TAKE, magpies.TAKE + magpies.MAX_SPACES)
_JOKERS = range(magpies.JOKER, magpies.JOKER + magpies.NUM_COLOURS)

_MAGPIES = (
    Question("stops", tuple(f"{k} laid, gap {gap}" for k, gap in _STOPS), (), _by_row, _any_of(magpies, magpies.STOP)),
    Question("is caught at once", ("gap 1", "gap 2", "gap 3"), (), _by_gap, _is_caught),
    Question("leaves cards after a coup", _LEFT, (), _by_cards_left(magpies.COUP_TAKING), _any_of(magpies, magpies.PASS)),
    Question("takes one more card", _LEFT, (), _by_cards_left(magpies.EXTRA), _any_of(magpies, *_TAKES)),
    Question("makes a joker", ("before the last turn", "in the last turn"), (), _by_last_turn, _any_of(magpies, *_JOKERS)),
)

QUESTIONS: dict[str, tuple[Question, ...]] = {
    "accomplices": _ACCOMPLICES,
    "cleaners": _CLEANERS,
    "magpies": _MAGPIES,
    "holdup": _HOLDUP,
}

# ------------------------------------------------------------------------------------------------ Rates


def answers(
    question: Question, states: NDArray[Any], players: NDArray[np.intp], rows: NDArray[np.intp], actions: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """What legal actions answer to a question.

    A class is asked only where it is open: where the legal answers for it are neither all a full yes nor all a full no.

    Args:
        question: one of the game's.
        states: structured (N,), in each of which a player is to act.
        players: who, intp (N,).
        rows: of all legal actions in all the states the number of the state, intp (L,).
        actions: and the action, intp (L,).

    Returns:
        By legal action, (L,): the class for which it is an answer, or -1, and how far it is a yes.
    """
    yes = question.yes(states, players)
    shape = len(states), yes.shape[-1]
    classes = np.broadcast_to(question.sorts(states, players), shape)[rows, actions].astype(np.int64)
    extent = np.broadcast_to(yes, shape)[rows, actions].astype(np.float64)
    places = rows * (len(question.classes) + 1) + classes + 1
    total, count = np.bincount(places, extent), np.bincount(places)
    is_open = (total > 0) & (total < count)
    return np.where(is_open[places], classes, -1), extent


def rates_in_play(agent: AnyAgent, game: str, num_games: int, seed: int = 0, **options: Any) -> list[Rates]:
    """Count the answers of an agent that plays all seats.

    Answers within a game hang together: the spread of the rates is taken between games.

    Args:
        agent: plays for every seat.
        game: the name of a game.
        num_games: at least 2; game k has the seed `seed + k`.
        seed: of the first game, and of the agent's chances.
        **options: of the game.

    Raises:
        ValueError: fewer than two games, no such game, or wrong options.
        TypeError: an unknown option.
    """
    module = load(game)
    if num_games < 2:
        raise ValueError(f"got num_games={num_games}: an interval needs at least 2")
    rng = np.random.default_rng(seed)
    counts = [np.zeros((2, num_games, len(question.classes))) for question in QUESTIONS[game]]
    for start in range(0, num_games, BATCH):
        size = min(BATCH, num_games - start)
        batch = Batch(module, np.repeat(module.new_initial_state(**options), size), autoreset=False)
        batch.reset([seed + start + k for k in range(size)])
        while True:
            rows = np.flatnonzero(~(batch.terminations | batch.truncations))
            if not len(rows):
                break
            chosen = np.zeros(size, np.int64)
            chosen[rows] = decide(agent, batch, rows, rng)
            where, actions = np.nonzero(batch.masks[rows])
            states, players = batch.states[rows], batch.players[rows].astype(np.intp)
            taken = np.flatnonzero(actions == chosen[rows][where])
            for question, count in zip(QUESTIONS[game], counts, strict=True):
                classes, extent = answers(question, states, players, where, actions)
                found = taken[classes[taken] >= 0]
                games = start + rows[where[found]]
                count[0, games, classes[found]] += 1
                count[1, games, classes[found]] += extent[found]
            batch.step(chosen)
    return [_clustered(question, *count) for question, count in zip(QUESTIONS[game], counts, strict=True)]


def _clustered(question: Question, asked: NDArray[np.float64], yes: NDArray[np.float64]) -> Rates:
    """Rates from counts by game, each float64 (num_games, num_classes).

    The variance of a ratio of sums over games says how many independent answers would give the same; never more than there
    were, since few alike ones say nothing of their spread.
    """
    found = Rates(question, asked.sum(axis=0), yes.sum(axis=0), asked.sum(axis=0))
    share = np.nan_to_num(found.rates)
    spread = ((yes - share * asked) ** 2).sum(axis=0) * len(asked) / (len(asked) - 1)
    variance = spread / np.maximum(1, found.asked) ** 2
    independent = np.divide(share * (1 - share), variance, out=found.asked.copy(), where=variance > 0)
    return found._replace(independent=np.minimum(found.asked, independent))


def reach(tree: Tree, form: SequenceForm, strategy: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely play comes to each information set where all follow the strategy, float64 (num_information_sets,)."""
    players = tree.payoffs.shape[1]
    sequences, shares = np.zeros((len(tree.nodes), players), np.int32), np.ones(len(tree.nodes))
    sequences[0] = len(strategy) + np.arange(players)
    follow(tree.nodes, form.first, form.parents.copy(), form.actions.copy(), sequences, shares)
    decisions = np.flatnonzero(tree.nodes["player"] >= 0)
    chances = shares[decisions] * realization_plan(form, strategy)[sequences[decisions]].prod(axis=1)
    there: NDArray[np.float64] = np.bincount(tree.nodes["information_set"][decisions], chances).astype(np.float64)
    return there


def rates_exactly(game: str, tree: Tree, form: SequenceForm, strategy: NDArray[np.float64]) -> list[Rates]:
    """The rates of a strategy that all players follow, without counting.

    Args:
        game: the name of a game.
        tree: of a table of it.
        form: the tree's sequence form.
        strategy: float64 (num_sequences,), of all players.
    """
    sets, actions = _legal(form)
    weights = reach(tree, form, strategy)[sets] * strategy
    found = []
    for question in QUESTIONS[game]:
        classes, extent = answers(question, tree.states, form.players.astype(np.intp), sets, actions)
        there, size = classes >= 0, len(question.classes)
        asked, yes = np.zeros(size), np.zeros(size)
        np.add.at(asked, classes[there], weights[there])
        np.add.at(yes, classes[there], (weights * extent)[there])
        found.append(Rates(question, asked, yes, np.full(size, np.inf)))
    return found


def _legal(form: SequenceForm) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The legal actions of all information sets, as `answers` takes them: one for each sequence."""
    return np.repeat(np.arange(len(form.players)), np.diff(form.first)), form.actions.astype(np.intp)


def bluffing_sets(game: str, tree: Tree, form: SequenceForm, strategy: NDArray[np.float64]) -> dict[int, list[str]]:
    """The information sets in which a bluff is open, with its question and class in words, the most reached first.

    Args:
        game: the name of a game.
        tree: of a table of it.
        form: the tree's sequence form.
        strategy: float64 (num_sequences,), of all players: what makes a set reached.
    """
    sets, actions = _legal(form)
    words: dict[int, list[str]] = {}
    for question in QUESTIONS[game]:
        if question.bluffs:
            classes, _ = answers(question, tree.states, form.players.astype(np.intp), sets, actions)
            for number in (question.classes.index(name) for name in question.bluffs):
                for i in np.unique(sets[classes == number]).tolist():
                    words.setdefault(i, []).append(f"{question.name}: {question.classes[number]}")
    chances = reach(tree, form, strategy)
    return {i: words[i] for i in sorted(words, key=lambda i: (-chances[i], i))}


# ------------------------------------------------------------------------------------------------ The command


def rate_rows(found: Sequence[Rates], per_game: float) -> list[dict[str, Any]]:
    """What was found, class by class, for JSON."""
    rows = []
    for one in found:
        for k, name in enumerate(one.question.classes):
            rows.append(
                {
                    "question": one.question.name,
                    "class": name,
                    "bluff": name in one.question.bluffs,
                    "asked": float(one.asked[k] / per_game),
                    "rate": float(one.rates[k]) if one.asked[k] > 0 else None,
                    "interval": one.intervals[k].tolist() if one.asked[k] > 0 else None,
                }
            )
    return rows


def in_play(game: str, names: Sequence[str], num_games: int, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The rates of agents in play at one table; `asked` is by game.

    Raises:
        ValueError: an unknown agent, or as `rates_in_play`.
    """
    agents = []
    for name in names:
        found = rates_in_play(make_agent(name, game), game, num_games, seed, **options)
        agents.append({"agent": name, "rates": rate_rows(found, num_games)})
    return {"game": game, "options": options, "agents": agents}


def exactly(game: str, names: Sequence[str], draws: int, seconds: float, seed: int = 0, **options: Any) -> dict[str, Any]:
    """The rates of agents, and of what CFR+ finds, at a table that is small enough to walk its tree.

    Args:
        game: the name of a game.
        names: of agents (`make_agent`).
        draws: how often an agent is asked at an information set that says no probabilities.
        seconds: after which CFR+ gives up.
        seed: of what the agents draw.
        **options: of the game.

    Raises:
        ValueError: an unknown agent, wrong options, or a tree that is too large.
    """
    from heist_envs.benchmarks.solve import solved  # which looks for bluffs itself

    tree = game_tree(game, **options)
    form = sequence_form(tree)
    players = tree.payoffs.shape[1]
    agents: list[dict[str, Any]] = []
    for name in names:
        rng = np.random.default_rng(seed)
        strategy = strategy_of([make_agent(name, game)] * players, game, tree, form, draws, rng)
        agents.append({"agent": name, "rates": rate_rows(rates_exactly(game, tree, form, strategy), 1)})
    found, strategy = solved(form, seconds)
    rates = rate_rows(rates_exactly(game, tree, form, strategy), 1)
    agents.append({"agent": "CFR+", "nash_conv": float(found["nash_conv"]), "rates": rates})
    return {"game": game, "options": options, "players": players, "agents": agents}


def cells(table: dict[str, Any]) -> list[list[str]]:
    """A table's rows in words: question, class, and for each agent the rate and how often it is asked in a game.

    Classes that no agent came to are left out.
    """
    lines = []
    for rows in zip(*(agent["rates"] for agent in table["agents"]), strict=True):
        if any(row["asked"] > 0 for row in rows):
            lines.append([rows[0]["question"], rows[0]["class"] + " (bluff)" * rows[0]["bluff"], *map(_cell, rows)])
    return lines


def _cell(row: dict[str, Any]) -> str:
    if row["rate"] is None:
        return "never asked"
    low, high = row["interval"]
    often = f"{row['asked']:.2g}" if row["asked"] < 10 else f"{row['asked']:.0f}"
    width = "" if low == high else f" ({low:.3f} to {high:.3f})"
    return f"{row['rate']:.3f}{width}, {often} a game"


def _print(table: dict[str, Any]) -> None:
    heads = ["", "", *(agent["agent"] for agent in table["agents"])]
    rows = [heads, *cells(table)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(heads))]
    print(f"{table['game']} {table['options']}")
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for agent in table["agents"]:
        if "nash_conv" in agent:
            promise = "an equilibrium as nearly as that" if table["players"] == 2 else "which promises no equilibrium here"
            print(f"  {agent['agent']}: NashConv {agent['nash_conv']:.6f}, {promise}")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.behaviour", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument(
        "--agents", nargs="+", default=["uniform", "rule"], help="names, or policy files; each plays all seats"
    )
    parser.add_argument("--preset", default=None, help="a small table; without it the default one")
    parser.add_argument("--exact", action="store_true", help="by the tree, with CFR+ beside; needs a small --preset")
    parser.add_argument("--num-games", type=int, default=2_000)
    parser.add_argument(
        "--draws", type=int, default=200, help="with --exact: answers of an agent that says no probabilities"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="with --exact: CFR+ gives up after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    if given.num_games < 2:
        parser.error("--num-games: an interval needs at least 2")
    if given.draws < 1:
        parser.error("--draws: at least 1")
    if given.exact and given.preset is None:
        parser.error("--exact needs --preset, such as tiny: the tree must be small")
    options = {"preset": given.preset} if given.preset else {}
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "seed": given.seed}
    result |= {"draws": given.draws} if given.exact else {"num_games": given.num_games}
    result["tables"] = []
    for game in given.games:
        if given.exact:
            table = exactly(game, given.agents, given.draws, given.seconds, given.seed, **options)
        else:
            table = in_play(game, given.agents, given.num_games, given.seed, **options)
        result["tables"].append(table)
        _print(table)
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
