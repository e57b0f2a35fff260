"""Each numbered rule and each gap ruling is carried by a function and by a test."""

import pytest

from heist_envs.games import GAMES
from tests import trace


@pytest.mark.parametrize("name", GAMES)
def test_every_rule_is_carried_by_a_function_and_by_a_test(name):
    rows = trace.traces(name)
    assert trace.missing(rows) == []
    kinds = {rule.split(".")[0].split("-")[0] for rule, *_ in rows}
    assert len(kinds) == 4  # numbered rules, gap rulings, precisions and worked examples


@pytest.mark.parametrize("name", GAMES)
def test_code_and_tests_name_no_rule_that_the_page_does_not_list(name):
    known = {rule for rule, *_ in trace.traces(name)}
    for path, tests in ((f"heist_envs/games/{name}.py", False), (f"tests/games/test_{name}.py", True)):
        assert set(trace.carriers((trace.ROOT / path).read_text(), tests)) <= known


def test_the_table_in_docs_is_the_one_that_the_sources_give():
    assert trace.TABLE.read_text() == trace.table(), "run python -m tests.trace"


def test_a_rule_that_nobody_carries_is_found():
    rules = trace.listed("- **HOL-1** one\n- **HOL-2** two\n- **h.3** three\n- **e.4** four\ntext\n")
    inside = trace.carriers('"""HOL-1 h.3"""\nimport os  # HOL-2\n# HOL-2\ndef f(): "h.3"\nTABLE = 1  # HOL-9\n')
    tested = trace.carriers("def helper(): 'HOL-1'\ndef test_hol_2_is_two(): pass\ndef test_example_4(): pass\n", tests=True)
    assert inside == {"HOL-2": ["f"], "h.3": ["f"], "HOL-9": ["TABLE"]}
    assert tested == {"HOL-2": ["test_hol_2_is_two"], "e.4": ["test_example_4"]}
    rows = [(rule, what, inside.get(rule, []), tested.get(rule, [])) for rule, what in rules.items()]
    assert trace.missing(rows) == ["HOL-1", "h.3"]
