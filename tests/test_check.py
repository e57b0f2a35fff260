"""`check_game` on our games, on somebody else's, and on ones that break a law each."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import heist_envs
from heist_envs.agents.tree import TreeSize, count_tree
from heist_envs.check import GameError
from heist_envs.games import GAMES, load
from tests import kuhn, tables


@pytest.mark.parametrize("name", GAMES)
def test_our_games_keep_the_contract_at_random_tables(name):
    rng = np.random.default_rng(0)
    options = [tables.facts(name).random_options(rng) for _ in range(10)]
    heist_envs.check_game(load(name), options, num_states=60)


def test_a_game_from_outside_keeps_it_and_plays_through_every_door():
    heist_envs.check_game(kuhn, [{"num_players": n} for n in (2, 3, 4)], num_states=300)
    env = heist_envs.make(kuhn, num_players=3)
    env.reset(seed=1)
    for agent in env.agent_iter():
        env.step(None if env.terminations[agent] else 1)
    vec = heist_envs.make_vec(kuhn, num_envs=8)
    vec.reset(seed=0)
    for _ in range(10):
        vec.step(np.ones(8, int))


def test_kuhn_poker_has_the_published_tree():
    assert count_tree(kuhn) == TreeSize(12, 24, 30)
    assert count_tree(kuhn, num_players=3) == TreeSize(48, 288, 312)  # as OpenSpiel's kuhn_poker(players=3)


SOURCE = pathlib.Path(kuhn.__file__).read_text()
# fmt: off
BROKEN = {
    "a mask that allows nothing": ("    mask[:] = 1\n", "    mask[:] = 0\n", "whoever is asked needs a legal action"),
    "a mask left as it was": ("    mask[:] = 1\n", "    mask[0] = 1\n", "legal_actions must write 0 or 1"),
    "a chance without weight": ("        weights[card] = state.pile[card]\n", "        weights[card] = 0\n", "one above 0"),
    "a feature left unwritten": ("    wide.clear(seen)\n", "    pass\n", "observe leaves entries"),
    "a view of another card": ("state.card[player] - 1] = 1\n", "state.card[0] - 1] = 1\n", "changes what that seat sees"),
    "a view out of bounds": ("    seen.first[(n - player) % n] = 1\n", "    seen.first[0] = 5\n", "out of the bounds"),
    "words about another card": ("{state.card[viewer]}", "{state.card}", "determinize changes the words"),
    "a card lost": ("        state.pile[action] = 0\n", "        state.pile[:] = 0\n", "the cards are"),
    "a move that does nothing": (
        "    state.last[state.actor]",
        "    if action == 0: return\n    state.last[state.actor]",
        "changes",
    ),
    "a reset that forgets a field": (
        "    state.moves = 0\n",
        "    state.moves = state.moves\n",
        "does not give the fresh state",
    ),
    "a look that changes the state": (
        "    return False\n",
        "    state.moves = 0\n    return False\n",
        "only looks has changed",
    ),
    "no returns": ("        payoffs[seat] = score(state, seat)\n", "        pass\n", "returns must write a number"),
    "a private field without owner": ('("card", np.int8, MAX_PLAYERS)', '("card", np.int8, 9)', "must be its owner"),
    "two actions of one name": ('"PASS", "BET"', '"BET", "BET"', "the same name"),
    "no check": ("def check(", "def checked(", "needs the function check"),
}
# fmt: on

RUN = """
import sys; sys.path.insert(0, {folder!r})
import heist_envs, other_kuhn
heist_envs.check_game(other_kuhn, [{{"num_players": 3}}], num_states=200)
"""


def run(folder, source, code):
    (folder / "other_kuhn.py").write_text(source)
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(
        [sys.executable, "-c", code.format(folder=str(folder))],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_law_is_named(what, tmp_path):
    right, wrong, message = BROKEN[what]
    assert SOURCE.count(right) == 1
    done = run(tmp_path, SOURCE.replace(right, wrong), RUN)
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1], done.stderr


def test_the_unbroken_copy_passes(tmp_path):
    assert run(tmp_path, SOURCE, RUN).returncode == 0


def test_an_edited_rule_is_not_played_by_stale_machine_code(tmp_path):
    code = """
import sys; sys.path.insert(0, {folder!r})
import heist_envs, other_kuhn, numpy as np
vec = heist_envs.make_vec(other_kuhn, num_envs=4)
vec.reset(seed=0)
for _ in range(3):
    rewards = vec.step(np.zeros(4, int))[1]
    if rewards.any(): print(abs(rewards).max())
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for source, paid in ((SOURCE, "1.0"), (SOURCE.replace("int(state.stakes[player])", "0"), "2.0")):
        (tmp_path / "other_kuhn.py").write_text(source)
        done = subprocess.run(
            [sys.executable, "-c", code.format(folder=str(tmp_path))],
            capture_output=True, text=True, env=environment, check=False,
        )  # fmt: skip
        assert done.stdout.splitlines()[:1] == [paid], done.stderr


def test_a_module_that_is_no_game_is_refused():
    with pytest.raises(GameError, match="needs NAME, a str"):
        heist_envs.check_game(pathlib)
