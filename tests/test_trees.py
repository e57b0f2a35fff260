"""The trees of the small presets have the counts that the rule pages give."""

import pytest

from heist_envs.agents.tree import TreeSize, count_tree
from heist_envs.games import GAMES
from tests import DECISIONS, tables

LARGE = 2_000_000
"""Endings from which a tree is walked in the campaign only."""
TREES = [
    (name, options, TreeSize(*counts))
    for name in GAMES
    for options, counts in tables.facts(name).TREES
    if counts[2] < LARGE or DECISIONS >= 100_000
]


@pytest.mark.parametrize(("name", "options", "size"), TREES)
def test_trees_have_the_counts_of_section_g(name, options, size):
    counted = count_tree(name, **options)
    assert counted == TreeSize(*(given or found for given, found in zip(size, counted, strict=True)))


def test_a_tree_that_is_too_deep_is_refused():
    with pytest.raises(ValueError, match="longer than MAX_DEPTH"):
        count_tree("holdup", num_players=3, pp_values=(1, 2, 3), redraw_rounds=0, start_diamonds=20, max_rounds=120)
