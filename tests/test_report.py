"""The report: one page that needs nothing else and holds all results."""

import json
import pathlib
import re

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("markdown")

from heist_envs.benchmarks import report
from heist_envs.benchmarks.tables import load_results

RESULTS = pathlib.Path(__file__).parents[1] / "benchmarks" / "results"


@pytest.fixture(scope="module")
def page():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(RESULTS.parents[1])
        return report.page(RESULTS)


def test_the_page_refers_to_nothing_outside_itself(page):
    for attribute in re.findall(r"""(?:src|href)=["']([^"']*)""", page):
        assert attribute.startswith("#") or attribute.startswith("data:"), attribute
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_every_table_of_the_results_is_on_the_page(page):
    made = report.report(RESULTS)
    assert page.count("<table>") == len(re.findall(r"^\|[-:|]+\|$", made, re.MULTILINE)) > 20
    assert page.count("<h2") == page.count("</a></li>") == made.count("\n## ")


def test_every_plot_is_below_its_heading_and_drawn_from_the_results(page):
    for heading in report.PLOTS:
        after = page[re.search(rf"<h2[^>]*>{re.escape(heading)}</h2>", page).end() :]
        assert after.lstrip().startswith("<figure>"), heading
    assert page.count("<svg") == len(report.PLOTS) + 1  # and the map of Magpies


def test_plots_follow_the_numbers():
    [found] = load_results(RESULTS, "exploitability.json")
    figure = report.exploitability_plot([found])
    for table, axes in zip(found["tables"], figure.axes, strict=True):
        assert [bar.get_width() for bar in axes.patches] == [agent["nash_conv"] for agent in table["agents"]]
    report.plt.close(figure)


def test_without_results_the_page_is_empty_and_not_broken(tmp_path, capsys):
    report.main(["--results", str(tmp_path), "--out", str(tmp_path / "page.html")])
    assert "<svg" not in (tmp_path / "page.html").read_text()
    (tmp_path / "learning-full.json").write_text(json.dumps({"kind": "full", "runs": []}))
    assert report.learning_plot(load_results(tmp_path, "learning-*.json")) is None
