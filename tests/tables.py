"""What the tests of all games share: tables to play at, words for their facts, and scenarios as sentences."""

import importlib
from types import ModuleType

import numpy as np

from heist_envs import rules
from heist_envs.agents import make_agent
from heist_envs.engine import mask_of, weights_of
from heist_envs.games import load
from heist_envs.rules import CHANCE, TERMINAL


def facts(name):
    """What the tests of all games have to know about one of them.

    A module with

    - `random_options(rng)`: keywords of `make` for a random table;
    - `referee_options(options)`: the same table in the words of the referee, which knows no presets;
    - `public(state)` and `private(state, seat)`: the facts in the words of the referee;
    - `scramble(state, player, rng)`: puts anything into what the player may not see;
    - `copies(state, action)`: how many cards of the acting player's hand an action may mean;
    - `settled(state, player)`: whether `determinize` may leave this state;
    - SMALLEST, options of a table with a tree of some hundred nodes;
    - TREES, POSTERIORS, LEAKS and PLAYTHROUGHS, tables of cases.
    """
    return importlib.import_module(f"tests.games.{name}_table")


class Table:
    """One game, moved by hand: its record, with what a test asks of it."""

    def __init__(self, game: ModuleType, **options):
        self.game = game
        self.state = game.new_initial_state(**options)[0]

    def __getattr__(self, name):
        return getattr(self.state, name)

    @property
    def player(self):
        return rules.current_player(self.state)

    @property
    def over(self):
        return self.player == TERMINAL

    def legal(self):
        """The legal actions of whoever is asked, as words."""
        mask = mask_of(self.game, self.state)
        return {self.game.ACTION_NAMES[a].lower().replace(" ", "-") for a in np.flatnonzero(mask)}

    def outcomes(self):
        """The weights of chance, by outcome."""
        weights = weights_of(self.game, self.state)
        return {int(k): int(weights[k]) for k in np.flatnonzero(weights)}

    def say(self, words):
        """Play actions by name, each of which must be legal; chance must not be due."""
        names = [name.lower().replace(" ", "-") for name in self.game.ACTION_NAMES]
        for word in words.split():
            assert self.player >= 0, f"{word!r} where {self.player} is to act"
            assert word in self.legal(), f"{word!r} by player_{self.player}: legal are {self.legal()}"
            rules.apply_action(self.state, names.index(word))
            self.game.check(self.state)
        return self

    def chance(self, *outcomes):
        """Let chance do this, each of which must be possible."""
        for outcome in outcomes:
            assert self.player == CHANCE, f"outcome {outcome} where player_{self.player} is to act"
            assert outcome in self.outcomes(), f"outcome {outcome}: possible are {self.outcomes()}"
            rules.apply_action(self.state, outcome)
            self.game.check(self.state)
        return self

    def rewards(self):
        payoffs = np.zeros(self.state.num_players, np.float32)
        rules.returns(self.state, payoffs)
        return payoffs.tolist()

    def sees(self, player, feature):
        """One feature of what a player sees now, in its own shape."""
        seen = np.zeros(1, self.game.OBSERVATION.record)
        rules.observe(self.state, player, seen[0])
        return seen[0][feature]

    @property
    def truncated(self):
        return bool(rules.is_truncated(self.state))


def uniform(table, rng):
    """A legal action as a word, all alike likely: how a playthrough may decide."""
    return str(rng.choice(sorted(table.legal())))


def rule_based(table, rng):
    """The main rule-based agent's action as a word."""
    seen = np.zeros(1, table.game.OBSERVATION.record)
    rules.observe(table.state, table.player, seen[0])
    mask = mask_of(table.game, table.state)[None]
    action = make_agent("rule", table.game.NAME).act(seen.view(np.int8).reshape(1, -1), mask, rng)[0]
    return table.game.ACTION_NAMES[action].lower().replace(" ", "-")


def random_states(name, count, rng, options=None):
    """Yield `count` copies of states on random walks over random tables, chance and finished states among them.

    Each is (state, action or outcome that comes next or None).
    """
    game = load(name)
    made = 0
    while made < count:
        table = Table(game, **(facts(name).random_options(rng) if options is None else options))
        while made < count:
            player = table.player
            if player == TERMINAL:
                yield table.state.copy(), None
                made += 1
                break
            if player == CHANCE:
                weights = table.outcomes()
                pick = rng.integers(sum(weights.values()))
                for outcome, weight in weights.items():  # noqa: B007 - the one that the pick falls on
                    pick -= weight
                    if pick < 0:
                        break
                action = outcome
            else:
                legal = np.flatnonzero(mask_of(game, table.state))
                action = int(legal[rng.integers(len(legal))])
            yield table.state.copy(), action
            made += 1
            rules.apply_action(table.state, action)
