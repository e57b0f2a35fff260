"""A tournament: every agent in every seat, on the same deals, with honest intervals.

    python -m heist_envs.benchmarks.tournament --game holdup --agents rule uniform uniform uniform
    python -m heist_envs.benchmarks.tournament --game holdup --cross --json benchmarks/results/cross-holdup.json

A line-up of n agents plays each deal n times, turned by one seat each time (duplicate). What an agent earns on one deal,
averaged over its seats, is one observation; deals are independent, so the interval is clustered by deal.
"""

import argparse
import json
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import AnyAgent, RuleBasedAgent, decide, make_agent
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.engine import Batch
from heist_envs.games import GAMES, load

NORMAL_95 = 1.96
"""Half-width of a 95% interval in standard errors; hundreds of deals make the normal distribution good enough."""


class Score(NamedTuple):
    """A mean reward and the half-width of its 95% interval."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"


def interval(by_deal: NDArray[np.float64]) -> Score:
    """The mean over deals, (num_deals,), with its 95% interval.

    Raises:
        ValueError: fewer than two deals.
    """
    if len(by_deal) < 2:
        raise ValueError(f"got {len(by_deal)} deal: an interval needs at least 2")
    return Score(float(by_deal.mean()), float(NORMAL_95 * by_deal.std(ddof=1) / np.sqrt(len(by_deal))))


def play_deals(game: str, agents: Sequence[AnyAgent], num_deals: int, seed: int = 0, **options: Any) -> NDArray[np.float64]:
    """Play each deal with the line-up in all its rotations.

    Args:
        game: the name of a game.
        agents: one per seat; an agent that is named twice is asked for both seats together.
        num_deals: deals, of seeds `seed`, `seed + 1`, …; agents draw from a generator of their own.
        seed: of the first deal, and of the agents' chances.
        **options: of the game. The number of players is the number of agents.

    Returns:
        Mean reward over the rotations of each agent on each deal, float64 (num_deals, num_agents).

    Raises:
        TypeError, ValueError: too few or too many agents, no deal, or an agent that gives no legal action (`decide`).
    """
    module = load(game)
    n = len(agents)
    if num_deals < 1:
        raise ValueError(f"got num_deals={num_deals}: at least 1")
    if options.get("num_players", n) != n:
        raise ValueError(f"got num_players={options['num_players']} for {n} agents: one agent per seat")
    states = np.repeat(module.new_initial_state(**{**options, "num_players": n}), num_deals * n)
    batch = Batch(module, states, autoreset=False)
    batch.reset([seed + deal for deal in range(num_deals) for _ in range(n)])
    rotation = np.tile(np.arange(n), num_deals)  # agent j sits in seat (j + rotation) % n
    distinct = {id(agent): agent for agent in agents}
    of_seat = np.array([list(distinct).index(id(agent)) for agent in agents])
    rng = np.random.default_rng(seed)
    while True:
        playing = ~(batch.terminations | batch.truncations)
        if not playing.any():
            break
        acting = np.where(playing, of_seat[(batch.players - rotation) % n], -1)
        actions = np.zeros(len(batch), np.int64)
        for k, agent in enumerate(distinct.values()):
            rows = np.flatnonzero(acting == k)
            if len(rows):
                actions[rows] = decide(agent, batch, rows, rng)
        batch.step(actions)
    seats = (np.arange(n) + rotation[:, None]) % n
    rewards = np.take_along_axis(batch.rewards, seats, axis=1).astype(np.float64)
    by_deal: NDArray[np.float64] = rewards.reshape(num_deals, n, n).mean(axis=1)
    return by_deal


def one_against_many(
    game: str, agent: AnyAgent, opponent: AnyAgent, num_players: int, num_deals: int, seed: int = 0, **options: Any
) -> Score:
    """The mean reward of one agent at a table of copies of another, over all seats."""
    by_deal = play_deals(game, [agent] + [opponent] * (num_players - 1), num_deals, seed, **options)
    return interval(by_deal[:, 0])


def against_each(
    game: str, agent: AnyAgent, names: Sequence[str], num_players: int, num_deals: int, seed: int = 0, **options: Any
) -> dict[str, Score]:
    """`one_against_many` for each of several opponents, by name (`make_agent`)."""
    return {
        name: one_against_many(game, agent, make_agent(name, game), num_players, num_deals, seed, **options)
        for name in names
    }


def baselines(game: str) -> list[str]:
    """The agents that results are given against: the uniform one and every rule-based style."""
    return ["uniform", *(f"rule:{style}" for style in RuleBasedAgent(game).rules.STYLES)]


def every_table(game: str) -> Iterator[dict[str, Any]]:
    """The options of the tables that results are given for: each number of players, in each mode where there are modes."""
    options = load(game).OPTIONS
    for mode in options["mode"].allowed if "mode" in options else [None]:
        for n in options["num_players"].allowed:
            yield {"num_players": n} | ({"mode": mode} if mode else {})


def cross_table(game: str, names: Sequence[str], num_deals: int, seed: int = 0, **options: Any) -> list[list[Score]]:
    """The mean reward of each agent (row) as one against many of each other (column)."""
    made = {name: make_agent(name, game) for name in names}
    n = options.pop("num_players")
    return [
        [one_against_many(game, made[one], made[many], n, num_deals, seed, **options) for many in names] for one in names
    ]


def _cross(game: str, num_deals: int, seed: int, file: str | None) -> None:
    names = baselines(game)
    found = []
    for options in every_table(game):
        scores = cross_table(game, names, num_deals, seed, **options)
        found.append({"options": options, "scores": scores})
        print(f"{options}: one of the row against many of the column")
        print(" " * 24 + "".join(f"{name:>24}" for name in names))
        for name, row in zip(names, scores, strict=True):
            print(f"{name:24}" + "".join(f"{score!s:>24}" for score in row))
    if file:
        result = {"commit": commit(), "machine": machine(), "game": game, "deals": num_deals, "seed": seed, "agents": names}
        pathlib.Path(file).write_text(json.dumps(result | {"tables": found}, indent=1) + "\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser("python -m heist_envs.benchmarks.tournament", description=__doc__.split("\n")[0])
    parser.add_argument("--game", choices=GAMES, default="holdup")
    parser.add_argument(
        "--agents", nargs="+", help="one per seat: uniform, rule, rule:STYLE, ismcts:500, ismcts:50ms, a policy file"
    )
    parser.add_argument("--cross", action="store_true", help="instead: uniform and every style, each against each")
    parser.add_argument("--json", default=None, help="write the cross table to this file")
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.deals < 2:
        parser.error("--deals: an interval needs at least 2")
    if given.cross == bool(given.agents):
        parser.error("either --agents or --cross")
    if given.cross:
        _cross(given.game, given.deals, given.seed, given.json)
        return
    made = {name: make_agent(name, given.game) for name in given.agents}
    by_deal = play_deals(given.game, [made[name] for name in given.agents], given.deals, given.seed)
    print(f"{given.deals} deals, each in {len(given.agents)} seatings; mean reward with a 95% interval clustered by deal")
    for j, name in enumerate(given.agents):
        print(f"  {name:30} {interval(by_deal[:, j])}")


if __name__ == "__main__":
    main()
