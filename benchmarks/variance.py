"""How many games do duplicate deals, and control variates beside them, save?

    python -m heist_envs.benchmarks.variance --json benchmarks/results/variance.json

Each style of a game's rule-based agent plays as one among copies of the main one. A ratio says how many times as many games
the plain way needs for an interval of the same width: it plays every game on a deal of its own, in each seat equally often.
All games that a scheme plays are counted, unless it is said that some are free. A thousand deals tell a ratio to about a
tenth.

- duplicate: what tournaments do, each deal once in each seating.
- control: the plain way, less what copies of the main agent alone earn in that seat on that deal, times the best
  coefficient; with those games counted, and free, as if that were known for nothing.
- duplicate and control: the same on top of duplicate deals is no help at all, since what copies of one agent earn adds up to
  nothing over the seats. So the control is here what another style earns on the same deals, the most useful one chosen after
  the event and free.

A deal fixes the seed of all chance in a game, but chance is drawn as play goes on. Once two line-ups have played differently
they see other cards, and what is left is luck that no game of another line-up knows of. To take that out one must value the
states of the very game that is played, before and after each chance event; nothing here does.
"""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import make_agent
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import baselines, one_table, play_seatings
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES

Rewards = NDArray[np.float64]


def duplicate(rewards: Rewards) -> float:
    """The ratio of duplicate deals, from what an agent earned by deal and seat, (num_deals, num_seats)."""
    return float(rewards.var(axis=0, ddof=1).mean() / (rewards.shape[1] * rewards.mean(axis=1).var(ddof=1)))


def control(rewards: Rewards, reference: Rewards) -> float:
    """The ratio of a control variate, both (num_deals, num_seats), whose own games are not counted."""
    centred, known = (values - values.mean(axis=0) for values in (rewards, reference))
    explained = (centred * known).sum() ** 2 / ((known**2).sum() * (centred**2).sum()) if known.any() else 0.0
    return float(1 / (1 - explained))


def savings(game: str, num_deals: int, seed: int = 0) -> dict[str, Any]:
    """All ratios for each style of a game at its default table."""
    options = one_table(game, {})
    n = options["num_players"]
    main, *styles = (name for name in baselines(game) if name.startswith("rule:"))
    made = {name: make_agent(name, game) for name in (main, *styles)}

    def earned(name: str) -> Rewards:
        return play_seatings(game, [made[name]] + [made[main]] * (n - 1), num_deals, seed, **options).rewards[:, 0]

    reference, rewards = earned(main), {name: earned(name) for name in styles}
    rows = []
    for name in styles:
        once = duplicate(rewards[name])
        by_deal = {other: values.mean(axis=1, keepdims=True) for other, values in rewards.items()}
        others = [control(by_deal[name], by_deal[other]) for other in styles if other != name]
        free = control(rewards[name], reference)
        ratios = {
            "duplicate": once,
            "control": free / 2,
            "control, free": free,
            "duplicate and control, free": once * max(others),
        }
        rows.append({"agent": name, "ratios": ratios})
    return {"game": game, "options": options, "many": main, "agents": rows}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.variance", __doc__)
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument("--deals", type=int, default=1000, help="of each style, each in every seating")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path, help="write the result to this file")
    given = parser.parse_args(arguments)
    if given.deals < 2:
        parser.error("--deals: a variance needs at least 2")
    tables = []
    for game in given.games:
        tables.append(savings(game, given.deals, given.seed))
        print(f"{game}, {tables[-1]['options']}: one among copies of {tables[-1]['many']}, games saved by a factor of")
        for row in tables[-1]["agents"]:
            ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items())
            print(f"  {row['agent']:24} {ratios}", flush=True)
    if given.json:
        result = {"commit": commit(), "machine": machine(), "deals": given.deals, "seed": given.seed, "tables": tables}
        given.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    launch(main)
