"""Wide copies into an observation, on a record of fields of many widths, against plain indexing."""

import numpy as np
import pytest

from heist_envs import wide
from heist_envs.engine import row
from heist_envs.layout import Layout
from heist_envs.rules import compiled

STATE = np.dtype((
    np.record,
    [
        ("money", np.int16, 5),
        ("pot", np.int16),
        ("hands", np.int8, (5, 14)),
        ("laid", np.int8, (5, 2)),
        ("known", np.int8, (5, 3, 7)),
        ("owners", np.int8, (19, 2)),
        ("winner", np.int8, 3),
        ("leader", np.int8),
        ("nobody", np.int8),
        ("num_players", np.int8),
    ],
))  # fmt: skip
SEEN = Layout(
    ("before", (), 0, 1, 1, "must stay zero"),
    ("money", (5, 2), 0, 127, 1, "turned, 16 bits"),
    ("pot", (2,), 0, 127, 1, "copied, 16 bits"),
    ("hands", (5, 14), -128, 127, 1, "turned, rows wider than a vector"),
    ("laid", (5, 2), -128, 127, 1, "turned, within a vector"),
    ("known", (3, 7), -128, 127, 1, "own row"),
    ("owners", (19, 2), 0, 5, 1, "places, more than a vector"),
    ("winner", (3,), 0, 5, 1, "places, less than a vector"),
    ("leader", (5,), 0, 1, 1, "marked"),
    ("nobody", (5,), 0, 1, 1, "marked, no seat"),
    ("after", (), 0, 1, 1, "must stay zero"),
).record


@compiled
def show(state, player, seen):
    wide.clear(seen)
    wide.copy(state, seen, "pot")
    wide.turn(state, player, seen, "hands money laid")
    wide.own(state, player, seen, "known")
    wide.place(state, player, seen, "owners winner")
    wide.mark(state, player, seen, "leader nobody")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_each_copy_is_what_plain_indexing_gives(n):
    rng = np.random.default_rng(n)
    state = np.zeros(1, STATE)[0]
    seen = np.full(1, 77, np.int8).repeat(SEEN.itemsize).view(SEEN)[0]
    for field in ("hands", "laid", "known"):
        state[field] = rng.integers(-128, 128, size=state[field].shape)
    state.money = rng.integers(0, 2**14, size=5)
    for field in ("money", "hands", "laid"):
        state[field][n:] = 0  # empty seats
    state.pot = 12_345
    state.owners = rng.integers(-1, n, size=(19, 2))
    state.winner = rng.integers(-1, n, size=3)
    state.leader, state.nobody, state.num_players = n - 1, -1, n
    for player in range(n):
        show(state, player, seen)
        order = [(player + k) % n for k in range(n)]
        assert (seen.hands[:n] == state.hands[order]).all()
        assert (seen.laid[:n] == state.laid[order]).all()
        assert (seen.money[:n, 0] + 128 * seen.money[:n, 1].astype(int) == state.money[order]).all()
        assert not any(seen[field][n:].any() for field in ("hands", "laid", "money"))
        assert (seen.known == state.known[player]).all()
        assert int(seen.pot[0]) + 128 * int(seen.pot[1]) == 12_345
        for field in ("owners", "winner"):
            expected = [0 if seat < 0 else order.index(seat) + 1 for seat in state[field].flat]
            assert seen[field].ravel().tolist() == expected
        assert seen.leader.tolist() == [int(k == order.index(n - 1)) for k in range(5)]
        assert not seen.nobody.any()
        assert seen.before == seen.after == 0


@compiled
def counted(entries):
    return wide.count(entries)


@compiled
def found(entries, k):
    return wide.find(entries, k)


@pytest.mark.parametrize(("dtype", "size", "largest"), [
    (np.int8, 15, 1), (np.int8, 40, 1), (np.int32, 3, 5), (np.int32, 15, 9), (np.int32, 16, 9), (np.int32, 17, 9),
    (np.int32, 75, 3), (np.int32, 75, 10**7),
])  # fmt: skip
def test_count_and_find_are_the_sum_and_the_running_sum_of_a_row(dtype, size, largest):
    rng = np.random.default_rng(size)
    for _ in range(50):
        entries = np.zeros(1, row(dtype, size))
        values = entries["values"][0]
        values[:] = rng.integers(largest + 1, size=size) * rng.integers(2, size=size)
        values[rng.integers(size)] = 1
        total = int(values.sum())
        assert counted(entries[0]) == total
        running = values.cumsum()
        for k in {0, total - 1, *rng.integers(total, size=10).tolist(), *(running[running < total]).tolist()[:20]}:
            assert found(entries[0], int(k)) == np.searchsorted(running, k, side="right")


ROWS = np.dtype((np.record, [(name, np.int8, size) for name, size in (("a", 100), ("b", 90), ("c", 7), ("num_players", 1))]))


@compiled
def show_rows(state, seen):
    wide.copy(state, seen, "a b c")


def test_fields_that_follow_each_other_are_copied_whole():
    state = np.zeros(1, ROWS)[0]
    for name in "abc":
        state[name] = np.arange(len(state[name])) % 50 + ord(name) % 10
    seen = np.zeros(1, Layout(*((name, (len(state[name]),), 0, 127, 1, "copied") for name in "abc")).record)[0]
    show_rows(state, seen)
    assert all((seen[name] == state[name]).all() for name in "abc")
