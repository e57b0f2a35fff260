"""How the games go: length, ends, wins by seat, and what happens on the way.

    python -m heist_envs.benchmarks.statistics --json benchmarks/results/statistics.json

Every table is played by one kind of agent in all seats. The figures that a rule page gives stand beside the measured ones;
what explains a difference is said there too.
"""

import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import AnyAgent, decide, make_agent
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import every_table
from heist_envs.command import CommandParser, launch
from heist_envs.engine import Batch
from heist_envs.games import GAMES, accomplices, cleaners, holdup, load, magpies

BATCH = 2_000

Events = dict[str, NDArray[Any]]
"""By name, what one decision brought about in each game, a flag or a number (N,)."""


def _accomplices_events(before: NDArray[Any], actions: NDArray[np.int64], after: NDArray[Any]) -> Events:
    ended = after["coups"] > before["coups"]
    outcomes = {f"coups, {name}": ended & (after["last_outcome"] == k) for k, name in enumerate(accomplices.OUTCOMES) if k}
    return outcomes | {"coups with the pile": ended & (after["last_accomplice"] == accomplices.NO_SEAT)}


def _accomplices_ends(states: NDArray[Any]) -> Events:
    return {
        "the police": states["police_file"] == states["deck"][:, accomplices.ALARM],
        "a full hideout": states["scores"].max(axis=1) >= states["target_score"],
    }


def _cleaners_events(before: NDArray[Any], actions: NDArray[np.int64], after: NDArray[Any]) -> Events:
    return {"turns with a Fly": (actions >= cleaners.PEEK_VILLA) & (actions <= cleaners.NOTHING)}


def _cleaners_ends(states: NDArray[Any]) -> Events:
    ends = {name: states["end"] == k for k, name in enumerate(cleaners.ENDS) if k}
    return ends | {"Villa cards won": states["won_counts"].sum(axis=1)}


def _magpies_events(before: NDArray[Any], actions: NDArray[np.int64], after: NDArray[Any]) -> Events:
    ended = after["turns"] > before["turns"]
    ending = np.where(after["phase"] == magpies.OVER, after["ending"], after["last_ending"])
    return {f"thefts, {name}": ended & (ending == k) for k, name in enumerate(magpies.ENDINGS) if k}


def _magpies_ends(states: NDArray[Any]) -> Events:
    return {"reserve cards left": states["reserve_size"]}


def _holdup_events(before: NDArray[Any], actions: NDArray[np.int64], after: NDArray[Any]) -> Events:
    shot = (before["phase"] == holdup.SHOOTING) & (actions != holdup.NO_REVOLVER)
    ended = after["rounds"] > before["rounds"]
    return {
        "rounds with the Revolver": shot,
        "rounds won by its user": shot & ended & (after["glove"] == before["glove"]),
        "rounds won from the empty pile": (before["phase"] == holdup.DRAW)
        & (actions == holdup.REDRAW)
        & (before["pile_size"] == 0),
    }


def _holdup_ends(states: NDArray[Any]) -> Events:
    seated = np.arange(holdup.MAX_PLAYERS) < states["num_players"][:, None]
    return {
        "no Thief left to turn": states["ruined"] == 1,
        "no diamond left": ((states["diamonds"] == 0) & seated).any(axis=1),
    }


LENGTH = {"accomplices": "coups", "cleaners": "turns", "magpies": "turns", "holdup": "rounds"}
"""The field that counts what a game consists of."""
EVENTS: dict[str, Callable[[NDArray[Any], NDArray[np.int64], NDArray[Any]], Events]] = {
    "accomplices": _accomplices_events,
    "cleaners": _cleaners_events,
    "magpies": _magpies_events,
    "holdup": _holdup_events,
}
"""What happened by a decision."""
ENDS: dict[str, Callable[[NDArray[Any]], Events]] = {
    "accomplices": _accomplices_ends,
    "cleaners": _cleaners_ends,
    "magpies": _magpies_ends,
    "holdup": _holdup_ends,
}
"""How a finished game stands."""


class Figure(NamedTuple):
    """A figure that a rule page gives, to be compared with a measured one."""

    game: str
    agents: str
    """Who plays in all seats; the page's own players were other programs, with the same aim."""
    what: tuple[str, ...]
    """Where it stands in the result of `statistics`."""
    by_players: dict[int, float]
    note: str
    """What explains the difference; empty where there is none to speak of."""
    mode: str | None = None


_THUMB = "the page's players follow other rules of thumb"
_SPOILS = "our main style wins more by volunteering junk, so most coups of four such players fail and games are long"
_HONEST = "closer to the page's players, who seldom spoil a coup; with three there is less choice of partners, and more fail"
_LAYS_NONE = "honest players seldom lay a Traitor"
_GREEDY = "the page's players are greedy and played with zero_presence_wins=True"
_BORROWS = "uniform players borrow as often as not, which the page's did not; the independent referee gives ours"
PAGE = [
    Figure("accomplices", "rule", ("length", "mean"), {3: 17, 4: 19, 5: 22, 6: 25}, _SPOILS),
    Figure("accomplices", "rule:honest", ("length", "mean"), {3: 17, 4: 19, 5: 22, 6: 25}, _HONEST),
    Figure("accomplices", "rule:honest", ("events", "coups, SUCCESS"), {3: 0.47, 4: 0.57, 5: 0.61, 6: 0.64}, _HONEST),
    Figure("accomplices", "rule:honest", ("events", "coups, BETRAYAL"), {3: 0.13, 4: 0.15, 5: 0.17, 6: 0.20}, _LAYS_NONE),
    Figure("accomplices", "rule:honest", ("events", "coups, FAIL"), {3: 0.39, 4: 0.27, 5: 0.21, 6: 0.16}, _HONEST),
    Figure("accomplices", "rule:honest", ("ends", "a full hideout"), {3: 0.87, 4: 0.81, 5: 0.65, 6: 0.42}, _THUMB),
    Figure("accomplices", "rule:honest", ("best score",), {3: 10, 4: 10, 5: 10, 6: 10}, ""),
    Figure("cleaners", "uniform", ("length", "mean"), {2: 44, 3: 52, 4: 59, 5: 67}, "", "base"),
    Figure("cleaners", "rule", ("length", "mean"), {2: 34, 3: 46, 4: 56, 5: 64}, _GREEDY, "base"),
    Figure("cleaners", "rule", ("score",), {2: 35, 3: 31, 4: 28, 5: 25}, _GREEDY, "base"),
    Figure("cleaners", "rule", ("best score",), {2: 46, 3: 47, 4: 46, 5: 44}, _GREEDY, "base"),
    Figure("magpies", "uniform", ("length", "mean"), {2: 40, 3: 40, 4: 40}, ""),
    Figure("magpies", "rule:gap-1", ("length", "mean"), {2: 20.5, 3: 20.5, 4: 20.5}, ""),
    Figure("magpies", "rule:gap-1", ("events", "thefts, caught"), {2: 0.16, 3: 0.16, 4: 0.16}, ""),
    Figure("magpies", "rule:gap-1", ("events", "thefts, coup"), {2: 0.28, 3: 0.28, 4: 0.28}, ""),
    Figure("magpies", "rule:gap-1", ("score",), {2: 34, 3: 25, 4: 19}, ""),
    Figure("magpies", "rule:gap-1", ("best score",), {2: 40, 3: 32, 4: 27}, ""),
    Figure("holdup", "uniform", ("length", "mean"), {3: 6.6, 4: 5.3, 5: 4.6, 6: 3.7}, _BORROWS),
    Figure("holdup", "rule", ("length", "mean"), {3: 6.3, 4: 5.0, 5: 4.5, 6: 4.4}, _THUMB),
]
"""The figures of the rule pages' sections c."""


def statistics(game: str, agent: AnyAgent, num_games: int, seed: int = 0, **options: Any) -> dict[str, Any]:
    """Play games with one kind of agent in every seat.

    Args:
        game: the name of a game.
        agent: plays for every seat.
        num_games: at least 1; game k has the seed `seed + k`.
        seed: of the first game, and of the agent's chances.
        **options: of the game.

    Returns:
        `length` (mean, 99th percentile and largest), `truncated`, `shared` (the shares of games cut off and of games with
        several winners), `wins` (by seat, a shared win counted in parts), `score` and `best score` (means), `ends` (shares
        of games) and `events` (shares of rounds, coups or turns).
    """
    module = load(game)
    rng = np.random.default_rng(seed)
    states = module.new_initial_state(**options)
    n = int(states["num_players"][0])
    wins, lengths, truncated, shared, scores, best = np.zeros(n), [], 0, 0, 0.0, 0.0
    events: dict[str, float] = {}
    ends: dict[str, float] = {}
    for start in range(0, num_games, BATCH):
        count = min(BATCH, num_games - start)
        batch = Batch(module, np.repeat(states, count), autoreset=False)
        batch.reset([seed + start + k for k in range(count)])
        while True:
            rows = np.flatnonzero(~(batch.terminations | batch.truncations))
            if len(rows) == 0:
                break
            before = batch.states[rows]
            actions = np.zeros(count, np.int64)
            actions[rows] = decide(agent, batch, rows, rng)
            batch.step(actions)
            for name, happened in EVENTS[game](before, actions[rows], batch.states[rows]).items():
                events[name] = events.get(name, 0) + float(happened.sum())
        for name, happened in ENDS[game](batch.states).items():
            ends[name] = ends.get(name, 0) + float(happened.sum())
        winners = batch.rewards == batch.rewards.max(axis=1, keepdims=True)
        wins += (winners / winners.sum(axis=1, keepdims=True)).sum(axis=0)
        shared += int((winners.sum(axis=1) > 1).sum())
        truncated += int(batch.truncations.sum())
        lengths.append(batch.states[LENGTH[game]].astype(np.int64))
        points = np.array([[module.score(state, seat) for seat in range(n)] for state in batch.states])
        scores += float(points.mean(axis=1).sum())
        best += float(points.max(axis=1).sum())
    length = np.concatenate(lengths)
    return {
        "length": {"mean": length.mean(), "p99": float(np.percentile(length, 99)), "max": int(length.max())},
        "truncated": truncated / num_games,
        "shared": shared / num_games,
        "wins": (wins / num_games).tolist(),
        "score": scores / num_games,
        "best score": best / num_games,
        "ends": {name: value / num_games for name, value in ends.items()},
        "events": {name: value / int(length.sum()) for name, value in events.items()},
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.statistics", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--agents", nargs="+", default=["uniform", "rule"])
    parser.add_argument("--num-games", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    if given.num_games < 1:
        parser.error("--num-games: at least 1")
    found = []
    for game in given.games:
        for name in given.agents:
            agent = make_agent(name, game)
            for options in every_table(game):
                figures = statistics(game, agent, given.num_games, given.seed, **options)
                found.append({"game": game, "agent": name, "options": options, **figures})
                print(json.dumps(found[-1]))
    if given.json:
        result = {
            "commit": commit(),
            "machine": machine(),
            "num_games": given.num_games,
            "seed": given.seed,
            "tables": found,
        }
        pathlib.Path(given.json).write_text(json.dumps(result | {"tables": found}, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
