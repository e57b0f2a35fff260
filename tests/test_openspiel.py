"""The OpenSpiel face and the Gambit export, judged by OpenSpiel."""

import contextlib
import re

import numpy as np
import pytest

import heist_envs
from heist_envs import chance, rules
from heist_envs.agents.tree import count_tree
from heist_envs.cli import main
from heist_envs.engine import row
from heist_envs.gambit import efg
from heist_envs.games import GAMES, load
from tests import tables

pyspiel = pytest.importorskip("pyspiel")

from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms import (  # noqa: E402
    best_response,
    cfr,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
)

from heist_envs import openspiel  # noqa: E402

every_game = pytest.mark.parametrize("name", GAMES)
TABLES = [*((name, "tiny") for name in GAMES), ("holdup", ""), ("holdup", "small"), ("holdup", "two_rounds")]
"""OpenSpiel copies every state many times, which takes minutes in a long game."""


def smallest(name):
    return openspiel.load_game(name, **tables.facts(name).SMALLEST)


def moves(state, rng):
    """The moves of a random game, each before it is played."""
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            move = int(rng.choice(outcomes, p=shares))
        else:
            move = int(rng.choice(state.legal_actions()))
        yield move
        state.apply_action(move)


@pytest.mark.parametrize(("name", "preset"), TABLES)
def test_openspiels_own_simulation_test_passes(name, preset, capfd):
    game = pyspiel.load_game(f"heist_{name}", {"preset": preset} if preset else {})
    with contextlib.redirect_stdout(None):
        pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@every_game
def test_a_seed_and_actions_give_the_same_states_as_in_pettingzoo(name):
    rng = np.random.default_rng(0)
    weights = np.zeros(1, row(np.int32, load(name).MAX_CHANCE_OUTCOMES))[0]
    for seed in range(2):
        aec = heist_envs.make(name)
        aec.reset(seed=seed)
        state = openspiel.load_game(name).new_initial_state()
        stream = chance.streams(chance.seeds(seed, 1))[0]
        while True:
            while state.is_chance_node():
                rules.chance_outcomes(state.record[0], weights.values)
                state.apply_action(chance.draw(stream, weights))
            assert state.record.tobytes() == aec.batch.states.tobytes()
            if state.is_terminal():
                break
            observation = aec.last()[0]
            assert state.current_player() == int(aec.agent_selection[-1])
            assert state.legal_actions_mask() == observation["action_mask"].tolist()
            assert state.observation_tensor() == observation["observation"].tolist()
            action = int(rng.choice(state.legal_actions()))
            assert state.action_to_string(action) == load(name).ACTION_NAMES[action]
            state.apply_action(action)
            aec.step(action)
        assert state.returns() == pytest.approx([aec.rewards[agent] for agent in aec.possible_agents])


@every_game
def test_information_states_have_one_string_one_tensor_and_one_set_of_actions(name):
    game = pyspiel.load_game(f"heist_{name}(preset=tiny)")
    rng = np.random.default_rng(1)
    by_string, by_tensor = {}, {}
    for _ in range(150):
        state = game.new_initial_state()
        for _ in moves(state, rng):
            if state.is_chance_node():
                continue
            player = state.current_player()
            text = state.information_state_string()
            tensor = tuple(state.information_state_tensor())
            facts = (tensor, tuple(state.legal_actions()), state.observation_string())
            assert by_string.setdefault(text, facts) == facts
            assert by_tensor.setdefault((player, tensor), text) == text
            assert state.observation_tensor() == list(tensor[: -openspiel.KEY_BITS])
    assert len(by_string) > 50


@every_game
def test_a_walk_through_openspiel_finds_the_information_sets_of_our_own(name):
    found = set()

    def walk(state):
        if state.is_terminal():
            return
        if not state.is_chance_node():
            found.add(state.information_state_string())
        for action in state.legal_actions():
            walk(state.child(action))

    walk(smallest(name).new_initial_state())
    assert len(found) == count_tree(name, **tables.facts(name).SMALLEST).information_sets


@every_game
def test_cfr_mccfr_best_response_and_exploitability_run(name):
    game = smallest(name)
    uniform = exploitability.nash_conv(game, spiel_policy.UniformRandomPolicy(game))
    solver = cfr.CFRSolver(game)
    for _ in range(5):
        solver.evaluate_and_update_policy()
    assert -1e-9 <= exploitability.nash_conv(game, solver.average_policy()) < uniform
    sampling = external_sampling_mccfr.ExternalSamplingSolver(game)
    for _ in range(5):
        sampling.iteration()
    assert exploitability.nash_conv(game, sampling.average_policy()) > -1e-9
    response = best_response.BestResponsePolicy(game, 0, spiel_policy.UniformRandomPolicy(game))
    assert response.value(game.new_initial_state()) >= -1e-9


@every_game
def test_is_mcts_plays_a_tiny_game(name):
    game = pyspiel.load_game(f"heist_{name}(preset=tiny)")
    rng = np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(game, mcts.RandomRolloutEvaluator(1, rng), uct_c=1.0, max_simulations=5, random_state=rng)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, shares = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(outcomes, p=shares)))
        else:
            action = bot.step(state)
            assert action in state.legal_actions()
            state.apply_action(action)


@every_game
def test_a_resampled_state_cannot_be_told_from_the_real_one(name):
    game = openspiel.load_game(name)
    rng = np.random.default_rng(2)
    changed = 0
    state = game.new_initial_state()
    for _ in moves(state, rng):
        if state.is_chance_node():
            continue
        for player in range(game.num_players()):
            other = state.resample_from_infostate(player, rng.random)
            assert other.information_state_string(player) == state.information_state_string(player)
            assert other.observation_tensor(player) == state.observation_tensor(player)
            changed += other.record.tobytes() != state.record.tobytes()
    assert changed > 0 or not load(name).PRIVATE + load(name).HIDDEN


def test_parameters_that_do_not_fit_are_refused():
    for call, error in [
        (lambda: openspiel.load_game("poker"), "got game 'poker'"),
        (lambda: openspiel.load_game("holdup", colour="red"), "unknown option 'colour'"),
        (lambda: openspiel.load_game("holdup", preset="huge"), "got preset='huge'"),
        (lambda: pyspiel.load_game("heist_holdup", {"options": "[1]"}), "a JSON object is needed"),
    ]:
        with pytest.raises((TypeError, ValueError, pyspiel.SpielError), match=error):
            call()


# ----------------------------------------------------------------------------------------- Gambit


@every_game
def test_a_gambit_file_loaded_back_has_the_same_nash_conv(name):
    options = tables.facts(name).SMALLEST
    exported = pyspiel.load_efg_game(efg(name, **options))
    direct = openspiel.load_game(name, **options)
    for game in (exported, direct):
        assert game.num_players() == direct.num_players()
    values = [exploitability.nash_conv(game, spiel_policy.UniformRandomPolicy(game)) for game in (exported, direct)]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    assert values[0] > 0


def test_a_gambit_file_is_written_line_by_line(tmp_path):
    assert main(["export", "holdup", "--preset", "tiny", "--out", str(tmp_path / "tiny.efg")]) == 0
    lines = (tmp_path / "tiny.efg").read_text().splitlines()
    size = count_tree("holdup", preset="tiny")
    kinds = [line[0] for line in lines[1:]]
    assert (kinds.count("p"), kinds.count("t")) == (size.decisions, size.terminals)
    sets = {tuple(re.match(r'p "" (\d+) (\d+) ', line).groups()) for line in lines if line[0] == "p"}
    assert len(sets) == size.information_sets
    assert lines[0] == 'EFG 2 R "game=holdup preset=tiny" { "player_0" "player_1" "player_2" }'


def test_a_table_that_is_not_there_is_refused_and_nothing_is_written(tmp_path, capsys):
    assert main(["export", "holdup", "--preset", "huge", "--out", str(tmp_path / "x.efg")]) == 1
    assert "got preset='huge'" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
