"""Golden playthroughs: replays that stay the same byte for byte.

Each is made by one of a game's PLAYTHROUGHS (`tables.facts`); `python -m tests.playthroughs` writes them anew. When one
changes, the game's version must go up.
"""

import pathlib

import numpy as np

from heist_envs import replay, rules
from heist_envs.games import load
from heist_envs.rules import CHANCE
from tests.tables import Table, facts

FOLDER = pathlib.Path(__file__).parent


def text_of(game, name):
    """One of the game's PLAYTHROUGHS, played anew."""
    about, options, decide, seed = facts(game).PLAYTHROUGHS[name]
    module = load(game)
    table = Table(module, **options)
    words = [action.lower().replace(" ", "-") for action in module.ACTION_NAMES]
    outcome, rng = replay.drawn(module, seed), np.random.default_rng(seed)

    def choose(state):
        table.state = state
        module.check(state)
        chance_is_due = rules.current_player(state) == CHANCE
        return (outcome(state) if chance_is_due else words.index(decide(table, rng))), None

    return replay.record(game, options, choose, about=about, seed=seed).to_json()
