"""When to draw on in Magpies, exactly, and what our agents lose by their answers.

    python -m heist_envs.benchmarks.push_your_luck --json benchmarks/results/push-your-luck.json \\
        --picture docs/pictures/push-your-luck.svg

- tiny: the whole game, without approximation. Regret against the best answers to DRAW or STOP while all else is decided by
  the agent itself, by the uniform agent, by the main rule-based agent, or by the best play of all.
- full deck: the model of one theft of `agents.push_your_luck.Theft`. Its map as a picture, and regrets in self-play.
"""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import AnyAgent, decide, make_agent
from heist_envs.agents.push_your_luck import VALUATIONS, Cell, Regret, SmallGame, Theft, stopping_regret
from heist_envs.agents.rule_based.magpies import STYLES
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.benchmarks.tournament import interval
from heist_envs.command import AGENTS, CommandParser, launch
from heist_envs.engine import Batch
from heist_envs.games import magpies

JUDGED = ("uniform", *(f"rule:{style}" for style in STYLES))
SHARERS = ("itself", "uniform", "rule", "best play")
"""Who decides all that is not between DRAW and STOP."""
PLAYERS = range(magpies.MIN_PLAYERS, magpies.MAX_PLAYERS + 1)


def tiny_regrets(game: SmallGame, names: Sequence[str], seed: int) -> dict[str, Any]:
    """What each agent loses by its answers on tiny, by who shares, with the mean over seats in terms of the game's value."""
    best = game.best()
    value = best.values[0]
    agents = []
    for name in names:
        agent = make_agent(name, "magpies")
        for sharer in SHARERS:
            if sharer == "best play":
                played = game.policy([agent] * game.num_players, rng=np.random.default_rng(seed))
                found = [game.regret(seat, played, best.policy) for seat in range(game.num_players)]
            else:
                other = None if sharer == "itself" else make_agent(sharer, "magpies")
                found = stopping_regret(game, agent, other, seed=seed)
            agents.append({"agent": name, "sharing": sharer, **_summary(found, float(value[0]))})
    return {
        "options": {"preset": "tiny"},
        "decisions": len(game.decisions),
        "of them to draw or to stop": int(game.stopping.sum()),
        "value of the best play": value.tolist(),
        "agents": agents,
    }


def _summary(found: Sequence[Regret], value: float) -> dict[str, Any]:
    lost, asked = (float(np.mean([getattr(one, name) for one in found])) for name in ("lost", "asked"))
    seats = [{**one._asdict(), "per decision": one.per_decision} for one in found]
    return {"lost": lost, "per decision": lost / asked, "share of the value": lost / abs(value), "seats": seats}


def theft_regrets(agent: AnyAgent, thefts: Sequence[Theft], num_games: int, seed: int) -> NDArray[np.float64]:
    """How an agent that plays against itself answers DRAW or STOP by models of one theft.

    Returns:
        For each game how often it was asked, and per model the sum of its regrets: float64 (num_games, 1 + num_thefts).
    """
    batch = Batch(magpies, np.repeat(thefts[0].start.reshape(1), num_games), autoreset=False)
    batch.reset(seed)
    rng = np.random.default_rng(seed)
    found = np.zeros((num_games, 1 + len(thefts)))
    while True:
        rows = np.flatnonzero(~(batch.terminations | batch.truncations))
        if not len(rows):
            return found
        actions = np.zeros(num_games, np.int64)
        actions[rows] = decide(agent, batch, rows, rng)
        for i in rows[batch.masks[rows, magpies.STOP] == 1]:
            found[i, 0] += 1
            for k, theft in enumerate(thefts, start=1):
                answers = theft.answers(batch.states[i])
                found[i, k] += max(answers) - answers[actions[i]]
        batch.step(actions)


def full_deck(names: Sequence[str], num_games: int, seed: int) -> list[dict[str, Any]]:
    """For each number of players and valuation the map of the first theft, and what each agent loses in self-play."""
    tables = []
    for n in PLAYERS:
        thefts = [Theft(worth, num_players=n) for worth in VALUATIONS]
        regrets = {name: theft_regrets(make_agent(name, "magpies"), thefts, num_games, seed) for name in names}
        for k, (worth, theft) in enumerate(zip(VALUATIONS, thefts, strict=True), start=1):
            agents = [
                {
                    "agent": name,
                    "asked a game": float(found[:, 0].mean()),
                    "lost a game": interval(found[:, k])._asdict(),
                    "per decision": float(found[:, k].sum() / found[:, 0].sum()),
                }
                for name, found in regrets.items()
            ]
            cells = [cell._asdict() for cell in theft.map()]
            tables.append({"num_players": n, "worth": worth, "map": cells, "agents": agents})
    return tables


def draw_map(tables: Sequence[dict[str, Any]], file: pathlib.Path) -> None:
    """The stopping maps of the full deck as a picture.

    Raises:
        ImportError: matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as missing:
        raise ImportError("the picture needs matplotlib: pip install 'heist-envs[train]'") from missing
    matplotlib.use("Agg")  # no display is needed
    from matplotlib import pyplot as plt

    plt.rcParams["svg.hashsalt"] = "push your luck"  # the same picture is the same file
    most = max(abs(cell["advantage"]) for table in tables for cell in table["map"])
    figure, grid = plt.subplots(len(VALUATIONS), len(PLAYERS), figsize=(15, 10), layout="constrained", squeeze=False)
    for table in tables:
        axes = grid[VALUATIONS.index(table["worth"]), PLAYERS.index(table["num_players"])]
        spaces = magpies.MAX_SPACES
        shown = np.full((spaces - 1, spaces - 1), np.nan)
        for one in table["map"]:
            cell = Cell(**one)
            shown[cell.gap - 1, cell.laid - 1] = cell.advantage
            word = "stop" if cell.draws == 0 else "draw" if cell.draws == 1 else f"draw in\n{cell.draws:.0%}"
            dark = abs(cell.advantage) > 0.6 * most
            axes.text(
                cell.laid, cell.gap, f"{word}\n{cell.advantage:+.2f}", ha="center", va="center", fontsize=8.5,
                color="white" if dark else "black",
            )  # fmt: skip
        image = axes.imshow(
            shown, cmap="RdBu", vmin=-most, vmax=most, origin="lower", extent=(0.5, spaces - 0.5, 0.5, spaces - 0.5)
        )
        axes.set(
            title=f"{table['num_players']} players, worth by {table['worth']}", xlabel="cards laid", ylabel="gap",
            xticks=range(1, spaces), yticks=range(1, spaces),
        )  # fmt: skip
        axes.spines[["top", "right"]].set_visible(False)
    bar = figure.colorbar(image, ax=grid, shrink=0.6)
    bar.set_label("by how much DRAW is better than STOP (blue: draw, red: stop)")
    title = "Magpies, first theft of a game: draw on or stop?"
    figure.suptitle(f"{title} ('draw in 67%': in so many cases, by the cards laid)")
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
    plt.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.push_your_luck", __doc__)
    parser.add_argument("--agents", nargs="+", default=JUDGED, help=AGENTS)
    parser.add_argument("--games", type=int, default=60, help="games of each agent with the full deck, at least 2")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=pathlib.Path, help="write the result to this file")
    parser.add_argument("--picture", type=pathlib.Path, help="write the stopping map to this file, .svg or .png")
    given = parser.parse_args(arguments)
    if given.games < 2:
        parser.error("--games: an interval needs at least 2")
    tiny = tiny_regrets(SmallGame(preset="tiny"), given.agents, given.seed)
    print(f"tiny: the best play is worth {tiny['value of the best play'][0]:+.4f} to the first player")
    for found in tiny["agents"]:
        print(
            f"  {found['agent']:14} sharing: {found['sharing']:10} loses {found['lost']:.4f} a game and "
            f"{found['per decision']:.4f} a decision, {found['share of the value']:.1%} of the game's value"
        )
    tables = full_deck(given.agents, given.games, given.seed)
    for table in tables:
        print(f"full deck, {table['num_players']} players, worth by {table['worth']}, {given.games} games")
        for found in table["agents"]:
            print(f"  {found['agent']:14} loses {found['per decision']:.3f} a decision, {found['asked a game']:.1f} a game")
    if given.json:
        result = {"commit": commit(), "machine": machine(), "seed": given.seed, "games": given.games}
        given.json.write_text(json.dumps({**result, "tiny": tiny, "full deck": tables}, indent=1) + "\n")
    if given.picture:
        draw_map(tables, given.picture)


if __name__ == "__main__":
    launch(main)
