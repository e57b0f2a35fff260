"""The main job, end to end: train by self-play, play the tournament, and show on one page what was learned.

    python -m heist_envs.training.demo

The page is one self-contained HTML file: the table against every baseline, the learning curve, and the bluffing.
"""

import base64
import html
import io
import json
import pathlib
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from heist_envs.agents import AnyAgent, make_agent
from heist_envs.benchmarks.behaviour import Rates, rates_in_play
from heist_envs.benchmarks.tournament import Score, against_each, baselines
from heist_envs.command import CommandParser, launch
from heist_envs.games import holdup
from heist_envs.training.selfplay import CONFIGS, Config, Run, versions

try:
    import matplotlib
    from matplotlib import pyplot as plt
except ImportError as missing:
    raise ImportError(f"the demo needs {missing.name}: pip install 'heist-envs[train]'") from missing
matplotlib.use("Agg")  # no display is needed

PLAYERS = 4
BASELINES = baselines("holdup")
EVALUATION_SEED = 2 * 10**6
"""Deals of the final table: others than those of the learning curve."""


def tournament_table(agent: AnyAgent, num_deals: int) -> dict[str, Score]:
    """The mean reward of an agent against a table of each baseline, over all seats."""
    return against_each("holdup", agent, BASELINES, PLAYERS, num_deals, EVALUATION_SEED)


def _learning_curve(evaluations: list[dict[str, Any]]) -> Any:
    figure, (reward, bluff) = plt.subplots(1, 2, figsize=(10, 3.4))
    x = [e["decisions"] / 1e6 for e in evaluations]
    means = np.array([e["policy"]["against"]["rule"]["mean"] for e in evaluations])
    widths = np.array([e["policy"]["against"]["rule"]["half_width"] for e in evaluations])
    reward.plot(x, means, color="tab:blue")
    reward.fill_between(x, means - widths, means + widths, color="tab:blue", alpha=0.2)
    reward.axhline(0, color="grey", lw=0.8)
    reward.set(title="Mean reward against three rule-based players", xlabel="million decisions", ylabel="mean reward, 95%")
    bluff.plot(x, [e["policy"]["rates"].get("joins with, a poor chance", np.nan) for e in evaluations], color="tab:red")
    bluff.set(title="Joining with a poor chance to win", xlabel="million decisions", ylabel="share of such JOIN questions")
    bluff.set_ylim(0, 1)
    figure.tight_layout()
    return figure


def _joining_chart(policy: Rates, rule: Rates) -> Any:
    figure, axes = plt.subplots(figsize=(10, 3.4))
    values = np.arange(1, holdup.NUM_CARDS + 1)
    axes.bar(values - 0.2, policy.rates, 0.4, label="policy", color="tab:blue")
    axes.bar(values + 0.2, rule.rates, 0.4, label="rule-based", color="lightgrey")
    axes.set(
        title="Who joins with which card, in self-play", xlabel="own card", ylabel="share", xticks=values, ylim=(0, 1.05)
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.tight_layout()
    return figure


def _picture(figure: Any, alt: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    plt.close(figure)
    return f'<img alt="{alt}" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Hold-up, learned by self-play</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
table {{ border-collapse: collapse }} td, th {{ padding: .25rem 1rem; text-align: left; border-bottom: 1px solid #ddd }}
td.number {{ font-variant-numeric: tabular-nums; text-align: right }} img {{ max-width: 100% }} code {{ font-size: 90% }}
</style></head><body>
<h1>Hold-up, learned by self-play</h1>
<p>{decisions:,} decisions in {minutes:.1f} minutes, seed {seed}. One network learned all four seats,
in some games beside rule-based players.</p>
<h2>Tournament</h2>
<p>The policy in one seat, three copies of the opponent in the others; {deals:,} deals, each played in all four seats.
Mean reward (+1 is winning alone, &minus;1/3 losing) with a 95% interval clustered by deal.</p>
<table><tr><th>three opponents</th><th>mean reward</th><th>95% interval</th></tr>{rows}</table>
<h2>Learning curve</h2>{curve}
<h2>Bluffing</h2>
<p>The second highest card wins, so low cards and the highest ones usually lose. To join with a card whose chance is less
than an equal share of the pot is a bluff: the policy did so in {bluffs:.0%} of the cases, the rule-based player in
{rule_bluffs:.0%}.</p>{chart}
<h2>How it was made</h2><pre><code>{made}</code></pre>
</body></html>
"""


def _joins(agent: AnyAgent) -> dict[str, Rates]:
    found = rates_in_play(agent, "holdup", num_games=2000, num_players=PLAYERS)
    return {one.question.name: one for one in found}


def write_page(run: Run, path: pathlib.Path, num_deals: int, seconds: float) -> dict[str, Score]:
    """Play the final tournament, write the page, and return the table."""
    agent = run.agent()
    table = tournament_table(agent, num_deals)
    evaluations = [json.loads(line) for line in (run.folder / "evaluation.jsonl").read_text().splitlines()]
    policy, rule = (_joins(player) for player in (agent, make_agent("rule", "holdup")))
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td class=number>{s.mean:+.3f}</td>"
        f"<td class=number>{s.mean - s.half_width:+.3f} to {s.mean + s.half_width:+.3f}</td></tr>"
        for name, s in table.items()
    )
    page = _PAGE.format(
        decisions=run.model.num_timesteps,
        minutes=seconds / 60,
        seed=run.config.seed,
        deals=num_deals,
        rows=rows,
        curve=_picture(_learning_curve(evaluations), "learning curve"),
        bluffs=policy["joins with"].rates[1],
        rule_bluffs=rule["joins with"].rates[1],
        chart=_picture(_joining_chart(policy["joins"], rule["joins"]), "share of JOIN by own card"),
        made=html.escape(json.dumps({"config": asdict(run.config), "versions": versions()}, indent=2)),
    )
    path.write_text(page)
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.demo", __doc__)
    parser.add_argument("--folder", default=None, help="where the run and the page go; default runs/demo-<time>")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --folder")
    parser.add_argument("--seed", type=int, default=0)
    own = Config.read(CONFIGS / "holdup.json", num_players=PLAYERS)
    parser.add_argument("--decisions", type=int, default=own.decisions, help="of the learning seats together")
    parser.add_argument("--num-envs", type=int, default=own.num_envs, help="games played at once")
    parser.add_argument("--deals", type=int, default=1000, help="deals of the final tournament")
    given = parser.parse_args(arguments)
    if given.resume and given.folder is None:
        parser.error("--resume needs --folder, the run to go on with")
    folder = pathlib.Path(given.folder or f"runs/demo-{time.strftime('%Y%m%d-%H%M%S')}")
    config = replace(own, seed=given.seed, decisions=given.decisions, num_envs=given.num_envs)
    run = Run.resumed(folder) if given.resume else Run(config, folder)
    print(f"training on {run.config.decisions:,} decisions; the run is kept in {folder}")
    start = time.perf_counter()
    run.train()
    seconds = time.perf_counter() - start
    page = folder / "report.html"
    table = write_page(run, page, given.deals, seconds)
    print(f"\nmean reward of the policy against three opponents, {given.deals:,} deals in four seatings, 95% interval:")
    for name, score in table.items():
        print(f"  {name:16} {score}")
    summary = {name: {"mean": score.mean, "half_width": score.half_width} for name, score in table.items()}
    result = {"card": run.card, "seconds": seconds, "deals": given.deals, "tournament": summary}
    (folder / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    print(f"\nthe page is at {page.resolve()}")


if __name__ == "__main__":
    launch(main)
