"""The README's examples run, and its numbers are those of the committed results."""

import pathlib
import re

import pytest

from heist_envs.benchmarks.tables import leaderboard, load_results, report, summary, with_tables

README = pathlib.Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_runs_and_is_short(code, capsys):
    assert len([line for line in code.splitlines() if line]) <= 10
    exec(compile(code, "README", "exec"), {})
    assert capsys.readouterr().out


def test_there_are_three_examples():
    assert len(EXAMPLES) == 3


def test_the_tables_are_those_of_the_committed_results():
    results = README.parent / "benchmarks" / "results"
    text = README.read_text()
    assert with_tables(text, summary(results)) == text
    assert (README.parent / "docs" / "results.md").read_text() == report(results)
    assert (README.parent / "docs" / "leaderboard.md").read_text() == leaderboard(
        load_results(results, "leaderboard-*.json")
    )


def test_a_readme_without_marks_is_refused():
    with pytest.raises(ValueError, match="lacks the marks"):
        with_tables("nothing here", "")
