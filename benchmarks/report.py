"""All results as one HTML page that needs nothing else: the tables of `tables.report`, with plots.

    python -m heist_envs.benchmarks.report --out docs/report.html

The tables and the plots are made from the JSON files under `benchmarks/results` and from nothing else.
"""

import html
import io
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

try:
    import markdown
    import matplotlib
    from matplotlib import pyplot as plt
except ImportError as missing:
    raise ImportError(f"the report needs {missing.name}: pip install 'heist-envs[report]'") from missing

from heist_envs.benchmarks.tables import DOCS, RESULTS, load_results, report
from heist_envs.benchmarks.throughput import BASE, way_of
from heist_envs.command import CommandParser, launch

BLUE, ORANGE, GREY = "#1f77b4", "#ff7f0e", "#8a8a8a"

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 0 auto; max-width: 1100px;
  padding: 1.5rem 1rem 4rem; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 1px solid #ddd; margin-top: 3rem; padding-top: 1.5rem; }
code { background: #f3f3f0; padding: .1em .3em; border-radius: 3px; overflow-wrap: anywhere; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; white-space: nowrap; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #e4e4e0; text-align: left; }
thead th { border-bottom: 2px solid #999; }
nav ul { columns: 2; padding-left: 1.2rem; } svg { max-width: 100%; height: auto; } figure { margin: 1rem 0; }
figcaption { color: #555; font-size: 13px; }
@media (max-width: 600px) { nav ul { columns: 1; } body { padding: 1rem .7rem 3rem; } }
"""


def speed_plot(results: Sequence[dict[str, Any]]) -> Any:
    """Decisions a second by way of playing with the default number of players, and of OpenSpiel, a panel per game."""
    games = results[0]["games"]
    figure, panels = plt.subplots(1, len(games), figsize=(3.2 * len(games), 3.6), squeeze=False, layout="constrained")
    beside = [(name, row) for name, row in results[0]["peers"].items() if name == BASE]
    for (game, found), axes in zip(games.items(), panels[0], strict=True):
        own = [(way_of(row), row) for row in found["decisions"] if row["players"] == found["players"]]
        colours = [BLUE] * len(own) + [GREY] * len(beside)
        axes.barh([name for name, _ in own + beside], [row["per_second"] for _, row in own + beside], color=colours)
        axes.invert_yaxis()
        axes.set(xscale="log", title=game, xlabel="decisions a second")
        axes.tick_params(labelsize=7)
    return figure


def cross_plot(results: Sequence[dict[str, Any]]) -> Any:
    """One of the row at a table of the column, at each game's table of four players: a panel per game."""
    figure, panels = plt.subplots(1, len(results), figsize=(4.2 * len(results), 4.0), squeeze=False, layout="constrained")
    for result, axes in zip(results, panels[0], strict=True):
        table = next((one for one in result["tables"] if one["options"]["num_players"] == 4), result["tables"][0])
        means = [[mean for mean, _ in row] for row in table["scores"]]
        names = [name.removeprefix("rule:") for name in result["agents"]]
        axes.imshow(means, cmap="RdBu", vmin=-1, vmax=1)
        for i, row in enumerate(means):
            for j, mean in enumerate(row):
                axes.text(j, i, f"{mean:+.2f}", ha="center", va="center", fontsize=6, color="w" if abs(mean) > 0.6 else "k")
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.set_title(result["game"] + ", " + ", ".join(f"{k} {v}" for k, v in table["options"].items()), fontsize=8)
    return figure


def exploitability_plot(results: Sequence[dict[str, Any]]) -> Any:
    """NashConv of each agent at each small table."""
    tables = [table for result in results for table in result["tables"]]
    figure, panels = plt.subplots(1, len(tables), figsize=(3.2 * len(tables), 2.6), squeeze=False, layout="constrained")
    for table, axes in zip(tables, panels[0], strict=True):
        axes.barh([one["agent"] for one in table["agents"]], [one["nash_conv"] for one in table["agents"]], color=BLUE)
        axes.invert_yaxis()
        axes.set(title=table["game"], xlabel="NashConv")
        axes.tick_params(labelsize=8)
    return figure


def learning_plot(results: Sequence[dict[str, Any]]) -> Any:
    """The curves on small tables: a panel per game, a colour per algorithm, a line per seed; averaged weights solid.

    None where no result is of small tables.
    """
    runs = [run for result in results if result["kind"] == "tiny" for run in result["runs"]]
    games = list(dict.fromkeys(run["game"] for run in runs))
    if not games:
        return None
    colours = dict(zip(dict.fromkeys(run["algorithm"] for run in runs), (BLUE, ORANGE), strict=False))
    figure, panels = plt.subplots(1, len(games), figsize=(3.4 * len(games), 3.4), sharey=True, squeeze=False)
    for game, axes in zip(games, panels[0], strict=True):
        for run in runs:
            if run["game"] == game:
                x = [done / 1e6 for done in run["decisions"]]
                for who, line in (("policy", ":"), ("average", "-")):
                    label = f"{run['algorithm']}, {'averaged weights' if who == 'average' else 'last weights'}"
                    shares = [100 * value / run["uniform"] for value in run[who]]
                    axes.plot(x, shares, line, color=colours[run["algorithm"]], lw=1, label=label)
        axes.axhline(5, color=GREY, lw=0.8)
        axes.set(title=f"{game}, tiny", xlabel="million decisions", yscale="log", ylim=(0.3, 120))
    panels[0, 0].set_ylabel("NashConv, % of the uniform strategy's")
    unique = dict(zip(*reversed(panels[0, 0].get_legend_handles_labels()), strict=True))
    figure.legend(unique.values(), unique, loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    return figure


PLOTS: dict[str, tuple[str, Callable[[Sequence[dict[str, Any]]], Any]]] = {
    "Speed": ("throughput.json", speed_plot),
    "Rule-based agents, one against many": ("cross-*.json", cross_plot),
    "What a best response wins": ("exploitability.json", exploitability_plot),
    "Learning": ("learning-*.json", learning_plot),
}
"""What is drawn below which heading of the report, from which results."""


def _svg(figure: Any, name: str) -> str:
    file = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):  # the same plot is the same text, and no two share their ids
        figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return _inline(file.getvalue(), name)


def _inline(svg: str, title: str) -> str:
    """A picture as part of a page."""
    return f"<figure>{svg[svg.index('<svg') :]}<figcaption>{html.escape(title)}</figcaption></figure>"


def page(results: pathlib.Path = RESULTS) -> str:
    """The whole page.

    Args:
        results: the folder of the JSON files.
    """
    body = markdown.markdown(report(results), extensions=["tables", "toc"], output_format="html")
    body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    for heading, (pattern, draw) in PLOTS.items():
        found = load_results(results, pattern)
        figure = draw(found) if found else None
        if figure is not None:
            title = (draw.__doc__ or "").splitlines()[0]
            before, found_heading, after = body.partition(f">{html.escape(heading)}</h2>")
            body = before + found_heading + _svg(figure, title) + after

    def picture(found: re.Match[str]) -> str:
        return _inline((DOCS / found["path"]).read_text(), html.unescape(found["alt"]))

    body = re.sub(r'<p><img alt="(?P<alt>[^"]*)" src="(?P<path>[^"]*\.svg)"></p>', picture, body)
    links = re.findall(r'<h2 id="([^"]*)">(.*?)</h2>', body)
    index = "<nav><ul>" + "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in links) + "</ul></nav>"
    body = body.replace("</h1>", f"</h1>{index}", 1)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>heist-envs: results</title>'
    style = f"<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}{style}</head><body>\n{body}\n</body></html>\n'


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.report", __doc__)
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="the folder of the JSON files")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the page")
    given = parser.parse_args(arguments)
    matplotlib.use("Agg")  # no display is needed
    given.out.write_text(page(given.results))
    print(f"{given.out}: {given.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    launch(main)
