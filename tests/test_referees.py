"""The compiled rules and an independent referee, written from the rule page alone, play side by side."""

import importlib

import numpy as np
import pytest

from heist_envs import rules
from heist_envs.engine import row
from heist_envs.games import GAMES, load
from heist_envs.rules import CHANCE, TERMINAL
from tests import DECISIONS, tables


@pytest.mark.parametrize("name", GAMES)
def test_compiled_rules_and_referee_agree_on_legal_actions_turns_public_facts_and_returns(name):
    game = load(name)
    referee_module = importlib.import_module(f"tests.referees.{name}")
    facts = tables.facts(name)
    rng = np.random.default_rng(2026)
    decisions = 0
    while decisions < DECISIONS:
        options = tables.facts(name).random_options(rng)
        state = game.new_initial_state(**options)[0]
        referee = referee_module.Referee(**tables.facts(name).referee_options(options))
        mask = np.zeros(1, row(np.int8, game.NUM_ACTIONS))["values"][0]
        weights = np.zeros(1, row(np.int32, game.MAX_CHANCE_OUTCOMES))["values"][0]
        while True:
            player = rules.current_player(state)
            assert player == referee.current_player(), options
            assert facts.public(state) == referee.public(), options
            for seat in range(state.num_players):
                assert facts.private(state, seat) == referee.private(seat), options
            if player == TERMINAL:
                break
            if player == CHANCE:
                rules.chance_outcomes(state, weights)
                choices = {int(k): int(weights[k]) for k in np.flatnonzero(weights)}
                assert choices == referee.chance_outcomes(), options
            else:
                rules.legal_actions(state, mask)
                choices = {int(a): 1 for a in np.flatnonzero(mask)}
                assert list(choices) == referee.legal_actions(), options
                decisions += 1
            total = sum(choices.values())
            action = int(rng.choice(list(choices), p=[w / total for w in choices.values()]))
            rules.apply_action(state, action)
            referee.apply(action)
        payoffs = np.zeros(state.num_players, np.float32)
        rules.returns(state, payoffs)
        assert bool(rules.is_truncated(state)) == referee.truncated, options
        assert payoffs == pytest.approx(referee.returns(), abs=1e-6), options
