"""The results tables of README and docs, written from `benchmarks/results`.

    python -m heist_envs.benchmarks.tables

No number there is written by hand.
"""

import functools
import json
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

from heist_envs.benchmarks.behaviour import cells as behaviour_cells
from heist_envs.benchmarks.ratings import intervals, ratings
from heist_envs.benchmarks.statistics import PAGE, Figure
from heist_envs.benchmarks.throughput import NUM_ENVS, WORKERS, Case, way_of
from heist_envs.benchmarks.tournament import Score
from heist_envs.command import CommandParser, launch

RESULTS = pathlib.Path("benchmarks/results")
README = pathlib.Path("README.md")
DOCS = pathlib.Path("docs")
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->"


def _machine(result: dict[str, Any]) -> str:
    machine = result["machine"]
    return f"{machine['cores']} cores {machine['processor']}, Python {machine['python']}, numba {machine['numba']}"


def speed_summary(result: dict[str, Any]) -> str:
    """One line per game."""
    lines = [
        f"**Speed.** Decisions a second on one core, medians of {result['rounds']} rounds; {_machine(result)}. "
        "A decision is a random legal action drawn, the step, observation and mask written. Machines drift: the ratio to "
        "OpenSpiel's leduc_poker from Python, measured in the same rounds, is what to trust.",
        "",
        f"| game | players | batch of {NUM_ENVS} | ratio | PettingZoo AEC | ratio | state, bytes | observation, bytes |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for game, found in result["games"].items():
        rows = [speed_of(found, "batch", NUM_ENVS), speed_of(found, "aec", 1)]
        cells = " | ".join(f"{row['per_second']:,.0f} | {_ratio(row)}" for row in rows)
        lines.append(
            f"| {game} | {found['players']} | {cells} | {found['bytes']['state']} | {found['bytes']['observation']} |"
        )
    return "\n".join([*lines, ""])


def speed_of(found: dict[str, Any], way: str, games: int) -> dict[str, Any]:
    """A game's row of one thread and its default number of players."""
    wanted = Case(way, found["players"], games, 1)._asdict()
    return next(row for row in found["decisions"] if wanted.items() <= row.items())


def _ratio(row: dict[str, Any]) -> str:
    return "" if row["ratio"] is None else f"{row['ratio']:.2f}"


def throughput_tables(result: dict[str, Any]) -> str:
    """All measurements of speed."""
    lines = [
        "## Speed",
        "",
        f"`python -m heist_envs.benchmarks.throughput`; medians of {result['rounds']} rounds; {_machine(result)}. "
        "Decisions a second; in brackets the ratio to OpenSpiel's leduc_poker from Python, and to plain writing of the same "
        "bytes, state, observation and mask.",
        "",
    ]
    for game, found in result["games"].items():
        cells: dict[str, dict[int, str]] = {}
        for row in found["decisions"]:
            ratios = "; ".join(f"{value:.3g}" for value in (row["ratio"], row["of_writing"]) if value is not None)
            cells.setdefault(way_of(row), {})[row["players"]] = f"{row['per_second']:,.0f} ({ratios})"
        players = list(dict.fromkeys(row["players"] for row in found["decisions"]))
        lines += [f"| {game} | " + " | ".join(f"{n} players" for n in players) + " |", "|---|" + "--:|" * len(players)]
        lines += [f"| {way} | " + " | ".join(by_players[n] for n in players) + " |" for way, by_players in cells.items()]
        lines.append("")
    return "\n".join(lines + _phase_table(result) + _size_table(result) + _peer_table(result))


def _phase_table(result: dict[str, Any]) -> list[str]:
    games = result["games"].items()
    phases = list(dict.fromkeys(phase for _, found in games for phase in found["phases"]))
    lines = [
        f"Nanoseconds of a decision by phase, in a batch of {NUM_ENVS}: the same games played with and without it; `choice` "
        "is the random legal action.",
        "",
        "| game | " + " | ".join([*phases, "all"]) + " |",
        "|---|" + "--:|" * (len(phases) + 1),
    ]
    for game, found in games:
        spent = [found["phases"][phase] for phase in phases]
        lines.append(f"| {game} | " + " | ".join(f"{each:.0f}" for each in (*spent, sum(spent))) + " |")
    return [*lines, ""]


def _size_table(result: dict[str, Any]) -> list[str]:
    first = next(iter(result["games"].values()))
    heads = [*(f"{name}, bytes" for name in first["bytes"]), *(f"{name}, s" for name in first["seconds"])]
    lines = [
        "Bytes of a decision; seconds to start; games that the main rule-based agent plays a second in all seats, "
        f"{WORKERS} workers.",
        "",
        "| game | " + " | ".join([*heads, "games a second", "10,000 games, s"]) + " |",
        "|---|" + "--:|" * (len(heads) + 2),
    ]
    for game, found in result["games"].items():
        cells = [*(str(size) for size in found["bytes"].values()), *(f"{value:.2f}" for value in found["seconds"].values())]
        played = found["tournament"]
        cells += [f"{played:,.0f}", f"{10_000 / played:.1f}"]
        lines.append(f"| {game} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _peer_table(result: dict[str, Any]) -> list[str]:
    if not result["peers"]:
        return []
    lines = [
        "Card games of other libraries in the same run, one process; OpenSpiel from Python.",
        "",
        "| library and game | decisions a second | ratio to leduc_poker |",
        "|---|--:|--:|",
    ]
    lines += [f"| {name} | {row['per_second']:,.0f} | {_ratio(row)} |" for name, row in result["peers"].items()]
    return [*lines, ""]


def play_tables(results: Sequence[dict[str, Any]]) -> str:
    """How the games go, and the rule pages' figures beside the measured ones."""
    lines = ["## How the games go", "", "`python -m heist_envs.benchmarks.statistics`", ""]
    for result in results:
        lines += [f"{result['num_games']:,} games a table from seed {result['seed']}; {_machine(result)}.", ""]
        for game in dict.fromkeys(table["game"] for table in result["tables"]):
            tables = [table for table in result["tables"] if table["game"] == game]
            ends, events = list(tables[0]["ends"]), list(tables[0]["events"])
            head = ["agents", "table", "length: mean, p99, max", "cut off", "shared", "score: mean, best", "wins by seat"]
            lines += [f"| {game}: " + " | ".join([*head, *ends, *events]) + " |", "|---" * (len(head + ends + events)) + "|"]
            for table in tables:
                length = table["length"]
                cells = [
                    table["agent"],
                    " ".join(str(value) for value in table["options"].values()),
                    f"{length['mean']:.1f}, {length['p99']:.0f}, {length['max']}",
                    _percent(table["truncated"]),
                    _percent(table["shared"]),
                    f"{table['score']:.1f}, {table['best score']:.1f}",
                    " ".join(_percent(share) for share in table["wins"]),
                    *(f"{table['ends'][name]:.3f}" for name in ends),
                    *(f"{table['events'][name]:.3f}" for name in events),
                ]
                lines.append("| " + " | ".join(cells) + " |")
            lines.append("")
    lines += [
        "### The rule pages' figures",
        "",
        "| game | agents | figure | page: measured, by players | why |",
        "|---|---|---|---|---|",
    ]
    for figure in PAGE:
        pairs = []
        for n, given in figure.by_players.items():
            pairs.append(f"{n}: {given:g}, {_measured(results, figure, n):.3g}")
        what = " ".join(str(part) for part in figure.what)
        lines.append(f"| {figure.game} | {figure.agents} | {what} | {'; '.join(pairs)} | {figure.note} |")
    return "\n".join([*lines, ""])


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _measured(results: Sequence[dict[str, Any]], figure: Figure, num_players: int) -> float:
    options = {"num_players": num_players} | ({"mode": figure.mode} if figure.mode else {})
    for result in results:
        for table in result["tables"]:
            if (table["game"], table["agent"], table["options"]) == (figure.game, figure.agents, options):
                value = table
                for part in figure.what:
                    value = value[part]
                return float(value)
    raise ValueError(f"no result has {figure}")


def cross_tables(results: Sequence[dict[str, Any]], title: str = "Rule-based agents, one against many") -> str:
    """Every agent as one against many of every other."""
    lines = [f"## {title}", "", "`python -m heist_envs.benchmarks.tournament --cross`", ""]
    for result in results:
        names = result["agents"]
        lines += [f"### {result['game']}", ""]
        lines += [
            f"One of the row at a table of the column, mean reward, {result['deals']:,} deals; {_machine(result)}.",
            "",
        ]
        for table in result["tables"]:
            lines += [f"| {_options(table)} | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
            for name, row in zip(names, table["scores"], strict=True):
                lines.append(f"| {name} | " + " | ".join(str(Score(*score)) for score in row) + " |")
            lines.append("")
    return "\n".join(lines)


def robustness_tables(results: Sequence[dict[str, Any]]) -> str:
    """What agents get in company that they did not train with."""
    lines = [
        "## Strange company",
        "",
        "`python -m heist_envs.benchmarks.robustness`; mean reward of the agent in one seat of four, in all seatings, and "
        "in brackets what the main style gets in its place; 95% intervals clustered by deal.",
        "",
    ]
    for result in results:
        titles = list(next(iter(result["scenarios"].values())))
        lines += [f"| {result['game']}, {result['deals']:,} deals | " + " | ".join(titles) + " |"]
        lines += ["|---|" + "--:|" * len(titles)]
        for name, found in result["scenarios"].items():
            cells = [f"{Score(*found[title]['score'])} ({found[title]['main style'][0]:+.3f})" for title in titles]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def leaderboard(results: Sequence[dict[str, Any]]) -> str:
    """The page that ranks agents at the default table of each game, as Markdown."""
    lines = [
        "# Leaderboard",
        "",
        "Agents at the default table of each game, each as one against many of each other, all seatings of every deal: "
        "`python -m heist_envs.benchmarks.tournament --game GAME --cross AGENT... --options num_players=4`. They are ranked "
        "by their rating, what each would earn against the hardest mixture of all of them: 0 is the best, and a copy of an "
        "agent moves nobody ([how](tournament.md)). The mean over the row says how much an agent wins from the others. "
        "Enter your own: [one Python file, or a policy](enter-a-bot.md).",
        "",
    ]
    for result in results:
        [table] = result["tables"]
        means = [[mean for mean, _ in row] for row in table["scores"]]
        rated, noise = ratings(means).tolist(), intervals(table["scores"])
        names = result["agents"]
        lines += [
            f"## {result['game'].capitalize()}",
            "",
            f"{_options(table)}; {result['deals']:,} deals; {_machine(result)}. One of the row among many of the column, "
            "mean reward, 95% interval clustered by deal.",
            "",
            "| | agent | rating | its 95% interval | mean | " + " | ".join(names) + " |",
            "|--:|---|--:|--:|--:|" + "--:|" * len(names),
        ]
        order = sorted(range(len(names)), key=lambda i: (-rated[i], -sum(means[i])))
        for place, i in enumerate(order, start=1):
            cells = " | ".join(str(Score(*score)) for score in table["scores"][i])
            between = "{:+.3f} to {:+.3f}".format(*noise[i])
            mean = sum(means[i]) / len(names)
            lines.append(f"| {place} | {names[i]} | {rated[i]:+.3f} | {between} | {mean:+.3f} | {cells} |")
        lines.append("")
    return "\n".join(lines)


def variance_tables(results: Sequence[dict[str, Any]]) -> str:
    """How many games duplicate deals and control variates save."""
    lines = ["## Games saved", ""]
    for result in results:
        names = list(result["tables"][0]["agents"][0]["ratios"])
        lines += [
            "`python -m heist_envs.benchmarks.variance`; one among copies of the main rule-based agent, "
            f"{result['deals']:,} deals in every seat. How many times as many games on deals of their own give an "
            "interval of the same width; a scheme saves games where this is above 1. Free: the games of the control are not "
            "counted.",
            "",
            "| table | agent | " + " | ".join(names) + " |",
            "|---|---|" + "--:|" * len(names),
        ]
        for table in result["tables"]:
            for row in table["agents"]:
                ratios = " | ".join(f"{row['ratios'][name]:.2f}" for name in names)
                lines.append(f"| {_table(table)} | {row['agent']} | {ratios} |")
        lines.append("")
    return "\n".join(lines)


def luck_tables(results: Sequence[dict[str, Any]]) -> str:
    """What is lost by the answers to DRAW or STOP in Magpies."""
    lines = ["## Push your luck", ""]
    for result in results:
        tiny, tables = result["tiny"], result["full deck"]
        sharers = list(dict.fromkeys(found["sharing"] for found in tiny["agents"]))
        lines += [
            "`python -m heist_envs.benchmarks.push_your_luck`, on Magpies. The regret of an answer is by how much it is "
            "worse than the best one, when the seat stops at its best later on.",
            "",
            f"The preset `tiny`, without approximation: the best play of both is worth "
            f"{tiny['value of the best play'][0]:+.4f} to the first player. What an agent loses in a game by its answers to "
            "DRAW or STOP, mean over seats and in terms of that value, and the mean regret of an answer; by who decides all "
            "else (`best play`: the opponent's answers too).",
            "",
            "| tiny | " + " | ".join(sharers) + " |",
            "|---|" + "--:|" * len(sharers),
        ]
        for name in dict.fromkeys(found["agent"] for found in tiny["agents"]):
            cells = [
                f"{found['lost']:.4f} = {_percent(found['share of the value'])}; {found['per decision']:.4f}"
                for found in tiny["agents"]
                if found["agent"] == name
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines += [
            "",
            f"The full deck, by the model of one theft (`agents.push_your_luck.Theft`): the mean regret of an answer in "
            f"self-play, {result['games']} games, in the worth of a card or in points. Another aim than the model's is no "
            "mistake.",
            "",
            "| full deck | " + " | ".join(f"{table['num_players']} players, {table['worth']}" for table in tables) + " |",
            "|---|" + "--:|" * len(tables),
        ]
        for k, found in enumerate(tables[0]["agents"]):
            cells = [f"{table['agents'][k]['per decision']:.3f}" for table in tables]
            lines.append(f"| {found['agent']} | " + " | ".join(cells) + " |")
        lines += ["", "![Where to draw on and where to stop, by cards laid and gap](pictures/push-your-luck.svg)", ""]
    return "\n".join(lines)


def behaviour_tables(results: Sequence[dict[str, Any]]) -> str:
    """How often agents bluff, call, betray, sound an alarm, risk a bust and stop, by what they know."""
    lines = [
        "## What agents do",
        "",
        "`python -m heist_envs.benchmarks.behaviour`; the agent in all seats. The share of yes to a question, by what the "
        "player who answers knows, and how often it is asked in a game. Where a yes pretends what is not so it is a bluff.",
        "",
    ]
    for result in results:
        lines += [
            f"In play, {result['num_games']:,} games from seed {result['seed']}; 95% intervals clustered by game."
            if "num_games" in result
            else f"Exactly, by the tree; agents that leave something to chance and do not say how much are asked "
            f"{result['draws']} times at each information set. CFR+ promises an equilibrium for two players only.",
            "",
        ]
        for table in result["tables"]:
            heads = [_table(table), "of what is known"]
            for agent in table["agents"]:
                exact = f", NashConv {agent['nash_conv']:.4f}" if "nash_conv" in agent else ""
                heads.append(agent["agent"] + exact)
            lines += ["| " + " | ".join(heads) + " |", "|---|---|" + "--:|" * len(table["agents"])]
            lines += ["| " + " | ".join(row) + " |" for row in behaviour_cells(table)]
            lines.append("")
    return "\n".join(lines)


def solve_tables(results: Sequence[dict[str, Any]]) -> str:
    """How small tables are solved."""
    head = ["table", "information sets", "uniform: NashConv", "CFR+: NashConv", "of uniform's", "iterations", "seconds"]
    head += ["gains by seat", "external sampling", "OpenSpiel's CFR+ (C++) on the same tree", "its judgement differs by"]
    head += ["and through its adapter"]
    lines = [
        "## Exact solutions",
        "",
        f"`python -m heist_envs.benchmarks.solve --adapter --programme`, and `--preset small --sampling --alone`; one core, "
        f"{_machine(results[0])}. CFR+ until its NashConv is a thousandth of the uniform strategy's; external sampling for "
        "a time, its iterations and what it came to of the uniform strategy's. With three or more players neither promises "
        "an equilibrium: the gains by seat, "
        "what each would win by changing alone, are what was measured.",
        "",
        "| " + " | ".join(head) + " |",
        "|---" + "|--:" * (len(head) - 1) + "|",
    ]
    for table in (table for result in results for table in result["tables"]):
        cfr, theirs = table["cfr_plus"], table.get("openspiel")
        beside = [""] * 4
        if "sampling" in table:
            drawn = table["sampling"]
            beside[0] = f"{drawn['iterations']:,} in {drawn['seconds']:.0f} s: {100 * drawn['share_of_uniform']:.1f}%"
        if theirs:
            off = max(theirs[name]["difference"] for name in ("uniform", "found"))
            beside[1:3] = [f"{theirs['ratio']:.0f} times as slow", f"{off:.0e}"]
        if "adapter" in table:
            beside[3] = f"{table['adapter']['difference']:.0e}"
        cells = [
            _table(table),
            f"{table['information_sets']:,}",
            f"{table['uniform']['nash_conv']:.4f}",
            f"{cfr['nash_conv']:.6f}",
            f"{100 * cfr['share_of_uniform']:.3f}%",
            f"{cfr['iterations']}",
            f"{cfr['seconds']:.1f}",
            _gains(cfr["gains"]),
            *beside,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, *_intervals(results), ""])


def _intervals(results: Sequence[dict[str, Any]]) -> list[str]:
    """What all equilibria of two players do at the information sets that were asked about."""
    lines = []
    for table in (table for result in results for table in result["tables"] if "programme" in table):
        solved = table["programme"]
        lines += [
            "",
            f"{_table(table)} as a linear programme: the value is {solved['value']:+.9f} for the first player, found in "
            f"{solved['seconds']:.1f} s. The least and the greatest probability of each action over all equilibria, at the "
            "most reached information sets of the kind, and that of CFR+:",
            "",
            "| seat | information set | what it is about | action | least | greatest | CFR+ |",
            "|--:|---|---|---|--:|--:|--:|",
        ]
        for row in solved["intervals"]:
            for action, (low, high) in row["actions"].items():
                about = f"{row['player']} | `{row['key']}` | {'; '.join(row['about'])}"
                lines.append(f"| {about} | {action} | {low:.4f} | {high:.4f} | {row['cfr_plus'][action]:.4f} |")
    return lines


def exploitability_tables(results: Sequence[dict[str, Any]]) -> str:
    """What each seat would win against agents at small tables."""
    lines = ["## What a best response wins", ""]
    for result in results:
        lines += [
            f"`python -m heist_envs.benchmarks.exploitability`; the agent in all seats, exact gains by seat. Agents that "
            f"leave something to chance and do not say how much are asked {result['draws']} times at each information set, "
            "which overstates the gains a little.",
            "",
            "| table | agent | gains by seat | NashConv |",
            "|---|---|--:|--:|",
        ]
        for table in result["tables"]:
            for row in table["agents"]:
                lines.append(f"| {_table(table)} | {row['agent']} | {_gains(row['gains'])} | {row['nash_conv']:.4f} |")
        lines.append("")
    return "\n".join(lines)


def search_tables(results: Sequence[dict[str, Any]]) -> str:
    """How fast IS-MCTS searches, and what it wins against rule-based agents."""
    lines = ["## IS-MCTS", ""]
    for result in results:
        lines += [
            f"`python -m heist_envs.benchmarks.search`; one core, {_machine(result)}; one searcher at a table of the main "
            f"rule-based agent, {result['deals']} deals in every seat, and the uniform agent in its place.",
            "",
            "| game | playout steps a second | a simulation, µs | players | simulations | IS-MCTS | uniform |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        for game, found in result["games"].items():
            speed = found["speed"]
            for match in found["matches"]:
                scores = " | ".join(str(Score(*match[who])) for who in ("score", "uniform"))
                lines.append(
                    f"| {game} | {speed['playout steps per second']:,.0f} | {1e6 * speed['seconds per simulation']:.1f} "
                    f"| {match['players']} | {match['simulations']} | {scores} |"
                )
        lines.append("")
    return "\n".join(lines)


def match_tables(results: Sequence[dict[str, Any]]) -> str:
    """What a trained policy wins among searchers."""
    lines = [
        "A trained policy in one seat, search in the others: `python -m heist_envs.benchmarks.tournament --agents`; mean "
        "reward over all seats, 95% interval clustered by deal.",
        "",
        "| game | policy | others | deals | policy's mean reward |",
        "|---|---|---|--:|--:|",
    ]
    for result in results:
        for match in result["results"]:
            policy, *others = match["line_up"]
            mean = Score(*match["agents"][policy]["score"])
            lines.append(f"| {result['game']} | {policy} | {', '.join(others)} | {match['deals']:,} | {mean} |")
    return "\n".join([*lines, ""])


def exploit_tables(results: Sequence[dict[str, Any]]) -> str:
    """What answers that were learned or searched win: lower bounds of the gain of a best response."""
    lines = [
        "## What a learned answer wins",
        "",
        "`python -m heist_envs.training.exploit`; one seat against copies of the target, mean reward over all seats. The "
        "best answer is a lower bound of the gain of a best response; where that is known, the share found is given. What a "
        "trained policy wins among searchers (above) is such a bound for IS-MCTS.",
        "",
        "| table | target | answers | lower bound | exact | found |",
        "|---|---|---|--:|--:|--:|",
    ]
    for row in (row for result in results for row in result["targets"]):
        answers = ", ".join(f"{one['answer']}: {one['mean']:+.3f} ± {one['half_width']:.3f}" for one in row["answers"])
        exact = f"{row['exact']['mean']:+.3f} | {row['share']:.0%}" if "exact" in row else " | "
        lines.append(f"| {_table(row)} | {row['target']} | {answers} | {row['lower_bound']:+.3f} | {exact} |")
    return "\n".join([*lines, ""])


def _share(row: dict[str, Any], who: str) -> str:
    """NashConv at the end of a run, of the uniform strategy's, and the decisions after which it stayed at 5% or less."""
    shares = [value / row["uniform"] for value in row[who]]
    late = [k for k, share in enumerate(shares) if share > 0.05]
    reached = late[-1] + 1 if late else 0
    words = f"{row['decisions'][reached] / 1e6:.1f} M" if reached < len(shares) else "not"
    return f"{shares[-1]:.1%} | {words}"


def learning_tables(results: Sequence[dict[str, Any]]) -> str:
    """What training comes to: exactly on small tables, by matches on full ones."""
    lines = [
        "## Learning",
        "",
        "`python -m heist_envs.training.study`; one row per seed.",
    ]
    for result in results:
        if result["kind"] == "tiny":
            lines += [
                "",
                "NashConv on the preset `tiny` at the end of the training, of the uniform strategy's, and the decisions "
                "after which it was never seen above 5% of it again. With three or more players it is the sum of what each "
                "seat would win alone, and no distance from an equilibrium.",
                "",
                "| game | algorithm | seed | decisions | last weights | 5% | averaged weights | 5% | seconds |",
                "|---|---|--:|--:|--:|--:|--:|--:|--:|",
            ]
            for row in result["runs"]:
                lines.append(
                    f"| {row['game']} | {row['algorithm']} | {row['seed']} | {row['decisions'][-1]:,} | "
                    f"{_share(row, 'policy')} | {_share(row, 'average')} | {row['seconds']:.0f} |"
                )
            lines += _learned_behaviour(result["runs"])
        else:
            names = list(result["runs"][0]["against"])
            lines += [
                "",
                f"From nothing, {result['runs'][0]['game']} with {result['runs'][0]['players']} players: mean reward of the "
                f"averaged policy in one seat against copies of a baseline, {result['runs'][0]['deals']:,} deals in all "
                "seatings, 95% interval.",
                "",
                "| seed | decisions | threads | minutes | " + " | ".join(names) + " |",
                "|--:|--:|--:|--:|" + "--:|" * len(names),
            ]
            for row in result["runs"]:
                scores = " | ".join(str(Score(**row["against"][n])) for n in names)
                about = f"{row['seed']} | {row['decisions']:,} | {row.get('threads', '')} | {row['seconds'] / 60:.1f}"
                lines.append(f"| {about} | {scores} |")
    return "\n".join([*lines, ""])


def _learned_behaviour(runs: Sequence[dict[str, Any]]) -> list[str]:
    """What the averaged policies of several seeds do at a small table, beside CFR+."""
    lines = []
    for game in dict.fromkeys(row["game"] for row in runs if "behaviour" in row):
        here = [row for row in runs if row["game"] == game and "behaviour" in row]
        names = list(dict.fromkeys(row["algorithm"] for row in here))
        lines += [
            "",
            f"What the averaged policies do, {game} `tiny`, all seats: the share of yes by what the player who answers "
            "knows; the mean over the seeds and their range.",
            "",
            "| | of what is known | " + " | ".join(names) + " | CFR+ |",
            "|---|---|" + "--:|" * (len(names) + 1),
        ]
        for k, one in enumerate(here[0]["behaviour"]):
            if one["learned"] is not None:
                by_name = [[row["behaviour"][k]["learned"] for row in here if row["algorithm"] == name] for name in names]
                cells = [f"{sum(r) / len(r):.3f} ({min(r):.3f} to {max(r):.3f})" for r in by_name]
                exact = "never asked" if one["CFR+"] is None else f"{one['CFR+']:.3f}"
                about = f"{one['question']} | {one['class']}{' (bluff)' * one['bluff']}"
                lines.append(f"| {about} | {' | '.join(cells)} | {exact} |")
        stopping = [(row["algorithm"], row["seed"], row["stopping"]) for row in here if "stopping" in row]
        if stopping:
            lines += ["", "What they lose by when they stop, of the game's value, by who decides all else:", ""]
            lines += [
                "| algorithm | seed | " + " | ".join(stopping[0][2]) + " |",
                "|---|--:|" + "--:|" * len(stopping[0][2]),
            ]
            for name, seed, found in stopping:
                lines.append(f"| {name} | {seed} | " + " | ".join(f"{share:.2%}" for share in found.values()) + " |")
    return lines


def training_speed_tables(results: Sequence[dict[str, Any]]) -> str:
    """Decisions a second, played and learned."""
    lines = []
    for result in results:
        lines += [
            "## Speed of training",
            "",
            f"`python -m heist_envs.training.throughput --threads {result['threads']}`; {_machine(result)}; decisions "
            "played and learned a second, beside MaskablePPO over one PettingZoo environment, in turn in one run: as it "
            "comes, with two layers of 64, and with our network, epochs and minibatches.",
            "",
            "| game | layers | numbers a part | self-play | usual | ratio | usual, our network | ratio |",
            "|---|---|--:|--:|--:|--:|--:|--:|",
        ]
        for game, row in result["games"].items():
            ours, *others = row["decisions a second"].values()
            layers = "-".join(map(str, row["hidden"]))
            beside = " | ".join(f"{speed:,.0f} | {ours / speed:.0f}" for speed in others)
            lines.append(f"| {game} | {layers} | {row['part_width'] or ''} | {ours:,.0f} | {beside} |")
    return "\n".join([*lines, ""])


def ray_tables(results: Sequence[dict[str, Any]]) -> str:
    """How fast PPO on Ray plays and learns, by RLlib's own runner and by ours."""
    lines = ["## Training on Ray", ""]
    for result in results:
        config = result["config"]
        lines += [
            f"`python -m heist_envs.training.rllib --json`; {_table(config)}, {config['runners']} runners, "
            f"at least {config['decisions']:,} decisions an iteration, both routes in turn, medians of {result['rounds']} "
            f"rounds; {_machine(result)}, Ray {result['machine']['ray']}.",
            "",
            "| route | decisions a second, played and learned from | ratio |",
            "|---|--:|--:|",
            *(f"| {name} | {row['per_second']:,.0f} | {_ratio(row)} |" for name, row in result["routes"].items()),
            "",
        ]
    return "\n".join(lines)


def _table(found: dict[str, Any]) -> str:
    return " ".join([found["game"], *(str(value) for value in found["options"].values())])


def _options(table: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in table["options"].items())


def _gains(gains: Sequence[float]) -> str:
    return " ".join(f"{gain:.5f}" for gain in gains)


def demo_table(results: list[dict[str, Any]]) -> str:
    """What the demo's policies earn against three copies of each baseline."""
    names = list(results[0]["tournament"])
    decisions = results[0]["card"]["decisions"]
    lines = [
        f"**Learning.** `make demo`: {decisions:,} decisions, {results[0]['card']['num_players']} players. Mean "
        f"reward of the policy in one seat against three copies of a baseline, {results[0]['deals']:,} deals in all "
        "four seatings, 95% interval clustered by deal (0 is even, +1 winning alone always).",
        "",
        "| seed | minutes | " + " | ".join(names) + " |",
        "|--:|--:|" + "--:|" * len(names),
    ]
    for result in results:
        seed = result["card"]["config"]["seed"]
        cells = " | ".join(str(Score(**result["tournament"][name])) for name in names)
        lines.append(f"| {seed} | {result['seconds'] / 60:.1f} | {cells} |")
    return "\n".join([*lines, ""])


def load_results(results: pathlib.Path, pattern: str) -> list[dict[str, Any]]:
    """The results in a folder whose files have such names, in the order of these."""
    return [json.loads(path.read_text()) for path in sorted(results.glob(pattern))]


def summary(results: pathlib.Path = RESULTS) -> str:
    """What stands in the README, as Markdown."""
    parts = [speed_summary(one) for one in load_results(results, "throughput.json")]
    demos = load_results(results, "demo-*.json")
    return "\n".join(parts + ([demo_table(demos)] if demos else []))


def report(results: pathlib.Path = RESULTS) -> str:
    """All results, as Markdown."""
    parts = ["# Results", "", "Made from `benchmarks/results` by `python -m heist_envs.benchmarks.tables`.", ""]
    parts += [throughput_tables(one) for one in load_results(results, "throughput.json")]
    made: dict[str, Callable[[Sequence[dict[str, Any]]], str]] = {
        "statistics-*.json": play_tables,
        "cross-*.json": cross_tables,
        "crossplay-*.json": functools.partial(cross_tables, title="Policies of several trainings among one another"),
        "robustness-*.json": robustness_tables,
        "variance.json": variance_tables,
        "behaviour-*.json": behaviour_tables,
        "solve-*.json": solve_tables,
        "exploitability.json": exploitability_tables,
        "search.json": search_tables,
        "search-*.json": match_tables,
        "exploit-*.json": exploit_tables,
        "push-your-luck.json": luck_tables,
        "learning-*.json": learning_tables,
        "training-throughput.json": training_speed_tables,
        "rllib.json": ray_tables,
    }
    for pattern, make in made.items():
        found = load_results(results, pattern)
        parts += [make(found)] if found else []
    return "\n".join(parts)


def with_tables(readme: str, made: str) -> str:
    """A README with the text between its two marks replaced.

    Raises:
        ValueError: the marks are missing.
    """
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the README lacks the marks {BEGIN.strip()!r} and {END!r}")
    return f"{before}{begin}{made}{end}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the tables into the README, the page of results and the leaderboard."""
    parser = CommandParser("heist_envs.benchmarks.tables", __doc__)
    parser.parse_args(arguments)
    README.write_text(with_tables(README.read_text(), summary()))
    (DOCS / "results.md").write_text(report())
    (DOCS / "leaderboard.md").write_text(leaderboard(load_results(RESULTS, "leaderboard-*.json")))


if __name__ == "__main__":
    launch(main)
