"""`determinize` draws from the exact distribution of what a player cannot know, enumerated on the tiny trees."""

import numpy as np
import pytest
from scipy import stats

from heist_envs import chance, rules
from heist_envs.agents.tree import MAX_OUTCOMES, play_out_chance
from heist_envs.engine import flat, mask_of, remember_action, row, update_keys
from heist_envs.games import GAMES, load
from heist_envs.rules import TERMINAL
from tests import tables

DRAWS = 4_000
POSITIONS = 60
"""Positions per game; each is compared for every seat."""
LEVEL = 1e-6
"""A true hypothesis fails with this probability: a few hundred comparisons never do, and a wrong weight always does."""


class Walker:
    """Walks the histories of a table, with the running keys of perfect recall."""

    def __init__(self, name, **options):
        self.game, self.facts = load(name), tables.facts(name)
        self.root = self.game.new_initial_state(**options)
        self.level = np.zeros((2, MAX_OUTCOMES), self.game.STATE)
        self.octets = self.level.view(np.uint8).reshape(2, MAX_OUTCOMES, -1)
        self.shares = np.zeros((2, MAX_OUTCOMES))
        self.hashes = np.zeros(MAX_OUTCOMES, np.uint64)
        self.rows = np.zeros(1, self.game.OBSERVATION.record)
        self.weights = np.zeros(1, row(np.int32, self.game.MAX_CHANCE_OUTCOMES))
        n = int(self.root["num_players"][0])
        self.keys, self.views = np.zeros(n, np.uint64), np.zeros(n, np.uint64)

    def legal(self, state):
        return np.flatnonzero(mask_of(self.game, state))

    def after(self, state, keys, views, action=None):
        """What an action, or None at the root, leads to: (state, keys, views, what a player has learned, probability)."""
        self.level[0, 0] = state
        here = self.level[0, 0]
        keys, views = keys.copy(), views.copy()
        if action is not None:
            remember_action(keys, rules.current_player(state), action)
            rules.apply_action(here, action)
        update_keys(here, keys, views, self.rows, flat(self.rows))
        between = keys.copy()
        half, count = play_out_chance(self.level, self.octets, self.shares, self.hashes, self.weights)
        ends = [(self.level[half, i].copy(), float(self.shares[half, i])) for i in range(count)]
        for end, share in ends:
            own_keys, own_views = keys.copy(), views.copy()
            update_keys(end, own_keys, own_views, self.rows, flat(self.rows))
            yield end, own_keys, own_views, between, share

    def play(self, rng, length):
        """A random history: its last state, and per player all the keys that it has had, in order."""
        state, keys, views, passed = self.root[0], self.keys, self.views, []
        action = None
        for _ in range(length + 1):
            ends = list(self.after(state, keys, views, action))
            pick = rng.choice(len(ends), p=[share for *_, share in ends])
            state, keys, views, between, _ = ends[pick]
            passed += [between, keys]
            if rules.current_player(state) == TERMINAL:
                break
            action = int(rng.choice(self.legal(state)))
        return state, keys, passed

    def consistent(self, player, key, passed):
        """Every state that a player with this key may be in -> its weight, chance's share times blind others' copies."""
        path = {int(keys[player]) for keys in passed}
        found = {}
        pending = [
            (end, keys, views, share) for end, keys, views, _, share in self.after(self.root[0], self.keys, self.views)
        ]
        while pending:
            state, keys, views, weight = pending.pop()
            if int(keys[player]) not in path:
                continue
            if keys[player] == key:
                found[state.tobytes()] = found.get(state.tobytes(), 0.0) + weight
            actor = rules.current_player(state)
            if actor == TERMINAL:
                continue
            for action in self.legal(state):
                copies = self.facts.copies(state, int(action)) if actor != player else 1
                for end, own_keys, own_views, between, share in self.after(state, keys, views, int(action)):
                    if int(between[player]) in path:
                        pending.append((end, own_keys, own_views, weight * share * copies))
        return found


def pooled(observed, expected):
    """Cells of fewer than 5 expected draws taken together, since chi-square needs some in each."""
    small = expected < 5
    if small.sum() > 1:
        observed = np.append(observed[~small], observed[small].sum())
        expected = np.append(expected[~small], expected[small].sum())
    return observed, expected


TABLES = [(name, options) for name in GAMES for options in tables.facts(name).POSTERIORS]


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_determinize_has_the_exact_distribution_on_small_tables(name, options):
    rng = np.random.default_rng(7)
    stream = chance.streams(chance.seeds(7, 1))[0]
    walker = Walker(name, **options)
    compared = 0
    for _ in range(POSITIONS):
        state, keys, passed = walker.play(rng, int(rng.integers(1, 25)))
        if rules.current_player(state) == TERMINAL:
            continue
        for player in range(state.num_players):
            drawn = {}
            for _ in range(DRAWS):
                other = state.copy()
                rules.determinize(other, player, stream)
                drawn[other.tobytes()] = drawn.get(other.tobytes(), 0) + 1
            weights = walker.consistent(player, keys[player], passed)
            exact = {
                one: weight
                for one, weight in weights.items()
                if walker.facts.settled(np.frombuffer(one, walker.game.STATE)[0], player)
            }
            assert set(drawn) <= set(exact), "drawn, though the player knows better"
            if len(exact) > 1:
                expected = np.array(list(exact.values())) * DRAWS / sum(exact.values())
                cells = pooled(np.array([drawn.get(one, 0) for one in exact]), expected)
                assert stats.chisquare(*cells).pvalue > LEVEL, (state, player)
                compared += 1
    assert compared > 10
