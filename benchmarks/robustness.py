"""How an agent does among players whom it did not train with.

    python -m heist_envs.benchmarks.robustness --game holdup --agents ppo --json benchmarks/results/robustness-holdup.json

- scenarios: the agent in one seat of four, and a mixed company in the others, in all seatings. Training puts one kind of
  opponent at a table (`training.selfplay`), so that no scenario of two kinds was ever trained with; and it never meets the
  styles `HELD_OUT` of the rule-based agents, such as two colluders.
- mirror: two copies of the agent and two of the main rule-based style; what a copy gets.

How policies of several trainings do among one another is a cross table of theirs: those of other seeds may have settled on
other conventions, and then all but the diagonal, where a policy meets itself, is below 0:

    python -m heist_envs.benchmarks.tournament --game holdup --cross runs/*/average.safetensors --options num_players=4
"""

import functools
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from heist_envs.agents import make_agent
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import Score, interval, play_deals
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES

COLLUDERS = ("rule:colluder-next", "rule:colluder-before", "rule")
"""Two who play for one another, and a stranger. They sit side by side, so that each knows his partner."""
SCENARIOS: dict[str, dict[str, tuple[str, str, str]]] = {
    "accomplices": {
        "a traitor among honest players": ("rule:betrayer", "rule:honest", "rule:honest"),
        "an honest player among traitors": ("rule:honest", "rule:betrayer", "rule:betrayer"),
        "liars of whom one never volunteers": ("rule:bluffing", "rule:bluffing", "rule:never-volunteers"),
        "nobody volunteers": ("rule:never-volunteers",) * 3,
        "one who always volunteers": ("rule:always-volunteers", "rule", "rule"),
        "two colluders": COLLUDERS,
        "chance in one seat": ("uniform", "rule", "rule"),
    },
    "cleaners": {
        "a hidden bidder among the greedy": ("rule:hidden-bidder", "rule:greedy", "rule:greedy"),
        "fly users and a detective": ("rule:fly-user", "rule:fly-user", "rule:detective"),
        "one of each": ("rule:greedy", "rule:hidden-bidder", "rule:detective"),
        "two colluders": COLLUDERS,
        "chance in one seat": ("uniform", "rule", "rule"),
    },
    "magpies": {
        "a denier among cautious players": ("rule:denier", "rule:gap-0", "rule:gap-0"),
        "one bold among cautious players": ("rule:gap-3", "rule:gap-0", "rule:gap-0"),
        "one of each": ("rule:gap-0", "rule:gap-1", "rule:gap-2"),
        "two colluders": COLLUDERS,
        "chance in one seat": ("uniform", "rule", "rule"),
    },
    "holdup": {
        "a maniac among cautious players": ("rule:maniac", "rule:cautious", "rule:cautious"),
        "a bluffer among maniacs": ("rule:bluffing", "rule:maniac", "rule:maniac"),
        "one of each": ("rule:band", "rule:cautious", "rule:bluffing"),
        "two colluders": COLLUDERS,
        "chance in one seat": ("uniform", "rule", "rule"),
    },
}
"""Who sits in the other three seats."""
NUM_PLAYERS = 4
MIRROR = "two copies and two of the main style"


@functools.cache
def in_company(game: str, name: str, num_deals: int, seed: int) -> dict[str, Score]:
    """What an agent gets in each scenario, with 95% intervals clustered by deal."""
    agent = make_agent(name, game)
    company = {title: [make_agent(other, game) for other in others] for title, others in SCENARIOS[game].items()}
    return {title: interval(play_deals(game, [agent, *others], num_deals, seed)[:, 0]) for title, others in company.items()}


def scenarios(game: str, name: str, num_deals: int, seed: int = 0) -> dict[str, Any]:
    """What an agent gets in each scenario, and what the main rule-based style gets in its place.

    Args:
        game: the name of a game.
        name: of the agent (`make_agent`).
        num_deals: deals of each scenario, at least 2; each is played in all seatings.
        seed: of the first deal.

    Returns:
        Scenario -> `score` and `main style`; and `MIRROR`, where the main style would meet its like and get 0.

    Raises:
        ValueError: an unknown agent, or too few deals.
    """
    scores, usual = (in_company(game, one, num_deals, seed) for one in (name, "rule"))
    found = {title: {"score": scores[title], "main style": usual[title]} for title in scores}
    agent, main = make_agent(name, game), make_agent("rule", game)
    copies = play_deals(game, [agent, agent, main, main], num_deals, seed)[:, :2].mean(axis=1)
    return found | {MIRROR: {"score": interval(copies), "main style": Score(0.0, 0.0)}}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.robustness", __doc__)
    parser.add_argument("--game", choices=GAMES, required=True)
    parser.add_argument("--agents", nargs="+", default=["uniform"], help="names, or policy files")
    parser.add_argument("--deals", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default=None, help="write the result to this file")
    given = parser.parse_args(arguments)
    if given.deals < 2:
        parser.error("--deals: an interval needs at least 2")
    result: dict[str, Any] = {"commit": commit(), "machine": machine(), "seed": given.seed, "deals": given.deals}
    result |= {"game": given.game, "agents": given.agents}
    result["scenarios"] = {name: scenarios(given.game, name, given.deals, given.seed) for name in given.agents}
    for name, found in result["scenarios"].items():
        for title, row in found.items():
            print(f"{name}, {title}: {row['score']} (the main style {row['main style']})")
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
