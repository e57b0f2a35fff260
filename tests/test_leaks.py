"""No player sees what it may not: observation, mask and text are the same whatever the others hold."""

import types

import numpy as np
import pytest

from heist_envs import chance, rules
from heist_envs.engine import row
from heist_envs.games import GAMES, holdup, load
from heist_envs.rules import TERMINAL
from tests import DECISIONS, tables

every_game = pytest.mark.parametrize("name", GAMES)


def view(game, state, player):
    """All that reaches a player: observation, mask if it is to act, text."""
    seen = np.zeros(1, game.OBSERVATION.record)
    mask = np.zeros(1, row(np.int8, game.NUM_ACTIONS))["values"][0]
    game.observe(state, player, seen[0])
    if rules.current_player(state) == player:
        game.legal_actions(state, mask)
    return seen.tobytes() + mask.tobytes()


def leak(game, name, count, seed, text_every=20):
    """The first state, of `count`, in which scrambling what a player cannot know changes its view, or None.

    Two scrambles: `determinize`, which deals anew all that fits what the player knows; and, of what the player does not
    know, bytes that no deal could give, which also finds a view that reads a hidden field without showing it yet.
    """
    rng = np.random.default_rng(seed)
    stream = chance.streams(chance.seeds(seed, 1))[0]
    facts = tables.facts(name)
    for k, (state, _) in enumerate(tables.random_states(name, count, rng)):
        player = int(rng.integers(state.num_players))
        before = view(game, state, player)
        text = game.describe(state, player) if k % text_every == 0 else None
        for scramble in (
            lambda s, p=player: rules.determinize(s, p, stream),
            lambda s, p=player: facts.scramble(s, p, rng),
        ):
            other = state.copy()
            scramble(other)
            if view(game, other, player) != before:
                return state, player
            if text is not None and game.describe(other, player) != text:
                return state, player
            if text is not None and game.describe(other) != game.describe(state):
                return state, None
    return None


@every_game
def test_no_leak_over_many_random_states(name):
    assert leak(load(name), name, DECISIONS, seed=1) is None


def planted(game, plant):
    """A game with some of its functions replaced by ones that leak (`tests.planted`)."""
    leaky = types.SimpleNamespace(**{key: getattr(game, key) for key in dir(game) if not key.startswith("__")})
    vars(leaky).update(plant(game))
    return leaky


LEAKS = [(name, leak) for name in GAMES for leak in tables.facts(name).LEAKS]


@pytest.mark.parametrize(("name", "what"), LEAKS)
def test_a_planted_leak_is_caught(name, what):
    leaky = planted(load(name), tables.facts(name).LEAKS[what])
    assert leak(leaky, name, 5_000, seed=2, text_every=1) is not None


def test_the_scrambles_do_change_what_they_should():
    rng = np.random.default_rng(3)
    stream = chance.streams(chance.seeds(3, 1))[0]
    changed = dict.fromkeys(("card", "pile", "answer"), 0)
    for state, _ in tables.random_states("holdup", 10_000, rng):
        other = state.copy()
        rules.determinize(other, 0, stream)
        assert other.card[0] == state.card[0]
        assert other.answer[0] == state.answer[0]
        holdup.check(other)
        for field in changed:
            changed[field] += other[field].tobytes() != state[field].tobytes()
    assert min(changed.values()) > 100


@every_game
def test_determinize_keeps_the_state_lawful_and_all_that_is_public(name):
    game = load(name)
    rng = np.random.default_rng(4)
    stream = chance.streams(chance.seeds(4, 1))[0]
    public = [field[0] for field in game.PUBLIC]
    for state, _ in tables.random_states(name, DECISIONS // 2, rng):
        player = int(rng.integers(state.num_players))
        other = state.copy()
        rules.determinize(other, player, stream)
        if rules.current_player(state) != TERMINAL:
            game.check(other)
        assert all(other[field].tobytes() == state[field].tobytes() for field in public)
        assert view(game, other, player) == view(game, state, player)
