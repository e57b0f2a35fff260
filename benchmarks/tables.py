"""The results tables of the README, written from `benchmarks/results`.

python -m heist_envs.benchmarks.tables
"""

import json
import pathlib
from typing import Any

RESULTS = pathlib.Path("benchmarks/results")
README = pathlib.Path("README.md")
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->"


def throughput_table(result: dict[str, Any]) -> str:
    """Decisions a second and sizes."""
    machine = result["machine"]
    lines = [
        f"**Speed.** One core, medians of {result['rounds']} rounds; {machine['cores']} cores {machine['processor']}, "
        f"Python {machine['python']}, numba {machine['numba']}. A decision is a random legal action drawn, the step, "
        "observation and mask written. Machines drift: the ratio, measured in the same rounds, is what to trust.",
        "",
    ]
    for game, found in result["games"].items():
        reference = found["decisions"].get("leduc_poker")
        lines += [f"| {game} | decisions a second | ratio to OpenSpiel's leduc_poker from Python |", "|---|--:|--:|"]
        for name, row in found["decisions"].items():
            ratio = "" if reference is None else f"{row['ratio']:.2f}"
            lines.append(f"| {name} | {row['per_second']:,.0f} | {ratio} |")
        seconds = ", ".join(f"{name} {value:.2f} s" for name, value in found["seconds"].items())
        lines += [
            "",
            f"State {found['state_bytes']} bytes, observation {found['observation_bytes']} bytes; {seconds}.",
            "",
        ]
    return "\n".join(lines)


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
        scores = (result["tournament"][name] for name in names)
        cells = " | ".join(f"{s['mean']:+.3f} ± {s['half_width']:.3f}" for s in scores)
        lines.append(f"| {seed} | {result['seconds'] / 60:.1f} | {cells} |")
    return "\n".join([*lines, ""])


def tables(results: pathlib.Path = RESULTS) -> str:
    """All tables as Markdown."""
    parts = [throughput_table(json.loads((results / "throughput.json").read_text()))]
    demos = [json.loads(path.read_text()) for path in sorted(results.glob("demo-*.json"))]
    if demos:
        parts.append(demo_table(demos))
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


def main() -> None:
    """Write the tables into the README."""
    README.write_text(with_tables(README.read_text(), tables()))


if __name__ == "__main__":
    main()
