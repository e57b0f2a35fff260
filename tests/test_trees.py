"""The trees of the small presets have the counts that the rule pages give."""

import pytest

from heist_envs.agents.solver import TreeSize, count_tree


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"preset": "tiny"}, TreeSize(31_306, 52_480, 58_480)),
        ({"preset": "small"}, TreeSize(774_870, 1_381_200, 1_493_280)),
        ({"preset": "two_rounds"}, TreeSize(111_385, 261_600, 318_600)),
        ({"preset": "tiny", "revolver_needs_join": False}, TreeSize(56_086, 81_040, 91_120)),
        ({"preset": "tiny", "join_order": "simultaneous"}, TreeSize(20_656, 52_480, 58_480)),
        ({"preset": "tiny", "end_check": "immediate", "start_diamonds": 2}, TreeSize(7_314, 14_400, 16_320)),
    ],
)
def test_holdup_trees_have_the_counts_of_section_g(options, size):
    assert count_tree("holdup", **options) == size


def test_a_tree_that_is_too_deep_is_refused():
    with pytest.raises(ValueError, match="longer than MAX_DEPTH"):
        count_tree("holdup", num_players=3, pp_values=(1, 2, 3), redraw_rounds=0, start_diamonds=20, max_rounds=120)
