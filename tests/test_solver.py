"""The solver, judged by published values and by OpenSpiel."""

import importlib

import numpy as np
import pytest

from heist_envs import rules
from heist_envs.agents import ISMCTSAgent, UniformAgent, solver
from heist_envs.agents.tree import NODE, Tree, game_tree
from heist_envs.benchmarks.solve import adapter_table, file_table, judged
from heist_envs.engine import first_keys, flat, remember_action, update_keys
from heist_envs.gambit import written
from heist_envs.games import GAMES
from heist_envs.rules import TERMINAL
from tests import kuhn, leduc, tables

TABLES = {name: (name, tables.facts(name).SMALLEST) for name in GAMES} | {
    "kuhn": (kuhn, {}),
    "kuhn for 3": (kuhn, {"num_players": 3}),
    "leduc": (leduc, {}),
}
every_table = pytest.mark.parametrize("name", TABLES)


def solve(name, discounts=solver.CFR_PLUS, iterations=1000):
    form = form_of(name)
    minimizer = solver.RegretMinimizer(form, discounts)
    minimizer.run(iterations)
    return form, minimizer.average()


def tree_of(name):
    game, options = TABLES[name]
    return game_tree(game, **options)


def form_of(name):
    return solver.sequence_form(tree_of(name))


def some_strategy(form, seed=0):
    """One that takes every action, some of them rarely, and now and then none but one."""
    weights = np.random.default_rng(seed).random(len(form.actions)) ** 4
    return solver.normalized(form, np.where(weights < 0.01, 0, weights))


class Lowest:
    """Takes the legal action of the lowest number."""

    def act(self, observations, action_masks, rng):
        return action_masks.argmax(axis=1)


@every_table
def test_what_agents_do_at_every_information_set_is_a_strategy(name):
    tree, form = tree_of(name), form_of(name)
    lowest, seats = Lowest(), tree.payoffs.shape[1]
    mixed = solver.strategy_of(
        [lowest] + [UniformAgent()] * (seats - 1), TABLES[name][0], tree, form, 2, np.random.default_rng(0)
    )
    pure = np.zeros(len(form.actions))
    pure[form.first[:-1]] = 1
    first = np.repeat(form.players == 0, np.diff(form.first))
    assert (mixed == np.where(first, pure, solver.uniform(form))).all()


def test_a_searcher_is_asked_in_guesses_and_more_search_is_harder_to_exploit_in_kuhn_poker():
    tree, form = tree_of("kuhn"), form_of("kuhn")
    gaps = []
    for simulations in (1, 200):
        agents = [ISMCTSAgent(kuhn, simulations=simulations)] * 2
        strategy = solver.strategy_of(agents, kuhn, tree, form, 40, np.random.default_rng(0))
        gaps.append(solver.nash_conv(form, strategy))
    assert gaps[1] < 0.7 * gaps[0]


# ----------------------------------------------------------------------------------------- published values


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kuhn", 11 / 12),
        ("kuhn for 3", 33 / 16),  # as OpenSpiel computes it
        ("leduc", 4.747222222222222),  # as OpenSpiel computes it
    ],
)
def test_the_uniform_strategy_has_the_published_nash_conv(name, expected):
    form = form_of(name)
    assert solver.nash_conv(form, solver.uniform(form)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("name", "value", "off"), [("kuhn", -1 / 18, 1e-3), ("leduc", -0.085606424, 1e-3)])
def test_cfr_plus_finds_the_published_value(name, value, off):
    form, strategy = solve(name)
    assert solver.nash_conv(form, strategy) < off
    assert solver.expected_values(form, strategy) == pytest.approx([value, -value], abs=off)


@pytest.mark.parametrize("discounts", [solver.CFR, solver.CFR_PLUS, solver.LINEAR_CFR, solver.DISCOUNTED_CFR])
def test_every_variant_comes_closer_to_an_equilibrium(discounts):
    gaps = [solver.nash_conv(*solve("leduc", discounts, iterations)) for iterations in (50, 400)]
    assert 0 < gaps[1] < gaps[0] / 3 < 0.3


@pytest.mark.parametrize("name", ["kuhn", "kuhn for 3", "leduc"])
def test_sampling_comes_closer_too_and_repeats_itself_from_its_seed(name):
    tree = tree_of(name)
    form = solver.sequence_form(tree)
    made = []
    for seed in (1, 1, 2):
        sampling = solver.SamplingMinimizer(tree, form, seed)
        for _ in range(200):
            sampling.run(100)
        made.append(sampling.average())
    assert solver.nash_conv(form, made[0]) < 0.1 * solver.nash_conv(form, solver.uniform(form))
    assert (made[0] == made[1]).all()
    assert (made[0] != made[2]).any()


def test_iterations_in_two_parts_are_the_same_as_in_one():
    form = form_of("leduc")
    minimizer = solver.RegretMinimizer(form, solver.DISCOUNTED_CFR)
    minimizer.run(7)
    minimizer.run(13)
    assert (minimizer.average() == solve("leduc", solver.DISCOUNTED_CFR, 20)[1]).all()


@every_table
def test_cfr_plus_takes_every_seat_its_gains(name):
    form, strategy = solve(name)
    before = solver.deviation_gains(form, solver.uniform(form))
    after = solver.deviation_gains(form, strategy)
    assert after.min() > -1e-12
    assert after.sum() < 1e-3 * before.sum()


# ----------------------------------------------------------------------------------------- best responses


def pure_strategies(form, player):
    """All of a player's ways to choose one action per information set, as arrays of sequences."""
    mine = np.flatnonzero(form.players == player)
    grids = np.meshgrid(*[np.arange(form.first[i], form.first[i + 1]) for i in mine], indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)


@pytest.mark.parametrize("player", [0, 1])
def test_a_best_response_is_the_best_of_all_pure_strategies(player):
    form = form_of("kuhn")
    strategy = some_strategy(form)
    value, answer = solver.best_response(form, player, strategy)
    mine = np.repeat(form.players == player, np.diff(form.first))
    values = []
    for chosen in pure_strategies(form, player):
        pure = np.where(mine, 0.0, strategy)
        pure[chosen] = 1.0
        values.append(solver.expected_values(form, pure)[player])
    assert value == pytest.approx(max(values), abs=1e-12)
    assert solver.expected_values(form, answer)[player] == pytest.approx(value, abs=1e-12)
    assert (answer[~mine] == strategy[~mine]).all()


def test_information_sets_that_forget_are_refused():
    tree = tree_of("kuhn")
    form = solver.sequence_form(tree)
    later = np.flatnonzero((form.players == 0) & (form.parents < len(form.actions)))
    forgetful = tree._replace(nodes=tree.nodes.copy())
    sets = forgetful.nodes["information_set"]
    sets[np.flatnonzero(sets == later[0])[0]] = later[1]  # as if the own card was forgotten
    with pytest.raises(ValueError, match="not those of perfect recall"):
        solver.sequence_form(forgetful)


# ----------------------------------------------------------------------------------------- OpenSpiel as the judge


@every_table
@pytest.mark.parametrize("strategy_of", [solver.uniform, some_strategy, None], ids=["uniform", "any", "CFR+"])
def test_openspiel_agrees_on_the_tree_the_best_responses_and_nash_conv_of_the_file(name, strategy_of):
    pyspiel = pytest.importorskip("pyspiel")
    tree = tree_of(name)
    form = solver.sequence_form(tree)
    strategy = strategy_of(form) if strategy_of else solve(name, iterations=5)[1]
    game = pyspiel.load_efg_game(written(tree, *TABLES[name]))
    assert judged(game, lambda s: file_table(tree, form, s), form, strategy)["difference"] < 1e-9


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_agrees_on_the_game_that_the_adapter_makes(name):
    pyspiel = pytest.importorskip("pyspiel")
    adapter = importlib.import_module("heist_envs.openspiel")
    tree = tree_of(name)
    form = solver.sequence_form(tree)
    game = adapter.load_game(name, **TABLES[name][1])
    strategy = some_strategy(form)
    theirs = pyspiel.nash_conv(game, adapter_table(tree, form, strategy))
    assert solver.nash_conv(form, strategy) == pytest.approx(theirs, abs=1e-9)


# Elsewhere regrets that are equal by the rules differ by rounding, and whether one is above 0 may decide an action.
@pytest.mark.parametrize("name", ["kuhn", "kuhn for 3", "leduc"])
def test_cfr_plus_goes_step_by_step_as_openspiels(name):
    pyspiel = pytest.importorskip("pyspiel")
    tree = tree_of(name)
    theirs = pyspiel.CFRPlusSolver(pyspiel.load_efg_game(written(tree, *TABLES[name])))
    for _ in range(5):
        theirs.evaluate_and_update_policy()
    form, strategy = solve(name, iterations=5)
    reached = solver.realization_plan(form, strategy)[form.parents] > 1e-12
    average = theirs.tabular_average_policy()
    for i, (state, policy) in enumerate(file_table(tree, form, strategy).items()):
        if reached[i]:
            known = dict(average.get_state_policy(state))
            for action, probability in policy:
                assert known[action] == pytest.approx(probability, abs=1e-9)


# ----------------------------------------------------------------------------------------- linear programmes


def set_of(tree, game, deals, moves):
    """The number of the information set of whoever is to act after these deals and moves."""
    state = game.new_initial_state()[0]
    rows = np.zeros(1, game.OBSERVATION.record)
    keys, views = first_keys(state.num_players), np.zeros(state.num_players, np.uint64)
    update_keys(state, keys, views, rows, flat(rows))
    for deal in deals:
        rules.apply_action(state, deal)
    update_keys(state, keys, views, rows, flat(rows))
    for move in moves:
        remember_action(keys, rules.current_player(state), move)
        rules.apply_action(state, move)
        update_keys(state, keys, views, rows, flat(rows))
    (number,) = np.flatnonzero(tree.keys == keys[rules.current_player(state)])
    return int(number)


J, Q, K = range(3)
PASS, BET = kuhn.PASS, kuhn.BET
KUHN = {  # own card, moves: the least and the greatest frequency of a bet (Kuhn, "A simplified two-person poker", 1950)
    (J, ()): (0, 1 / 3),
    (Q, ()): (0, 0),
    (K, ()): (0, 1),
    (J, (PASS, BET)): (0, 0),
    (Q, (PASS, BET)): (1 / 3, 2 / 3),
    (K, (PASS, BET)): (1, 1),
    (J, (PASS,)): (1 / 3, 1 / 3),
    (Q, (PASS,)): (0, 0),
    (K, (PASS,)): (1, 1),
    (J, (BET,)): (0, 0),
    (Q, (BET,)): (1 / 3, 1 / 3),
    (K, (BET,)): (1, 1),
}


@pytest.fixture
def equilibria():
    pytest.importorskip("scipy")
    return importlib.import_module("heist_envs.agents.equilibria")


@pytest.mark.parametrize(
    ("name", "value"), [("kuhn", -1 / 18), ("leduc", -0.085606424), ("magpies", None), ("cleaners", None)]
)
def test_the_linear_programme_agrees_in_value(equilibria, name, value):
    form, strategy = solve(name)
    best = [equilibria.optimum(form, player) for player in (0, 1)]
    assert best[0].value == pytest.approx(-best[1].value, abs=1e-8)
    first = np.repeat(form.players == 0, np.diff(form.first))
    assert solver.nash_conv(form, np.where(first, best[0].strategy, best[1].strategy)) < 1e-8
    gap = solver.nash_conv(form, strategy)
    assert solver.expected_values(form, strategy)[0] == pytest.approx(best[0].value, abs=gap + 1e-8)
    if value is not None:
        assert best[0].value == pytest.approx(value, abs=1e-8)


def test_the_frequencies_of_all_equilibria_of_kuhn_poker_are_the_known_family(equilibria):
    tree = tree_of("kuhn")
    form = solver.sequence_form(tree)
    sets = []
    for own, moves in KUHN:
        other = (own + 1) % 3
        sets.append(set_of(tree, kuhn, (other, own) if len(moves) == 1 else (own, other), moves))
    assert sorted(sets) == list(range(12))
    for found, known in zip(equilibria.frequency_intervals(form, -1 / 18, sets), KUHN.values(), strict=True):
        assert found[BET] == pytest.approx(known, abs=1e-5)
        assert found[PASS] == pytest.approx([1 - known[1], 1 - known[0]], abs=1e-5)


def test_where_no_equilibrium_comes_there_is_no_interval(equilibria):
    nodes = np.zeros(5, NODE)
    nodes["share"], nodes["information_set"], nodes["player"] = 1, -1, TERMINAL
    for k, first, number in ((0, 1, 0), (1, 3, 1)):  # to lose and choose how, or to get nothing
        nodes[k]["player"], nodes[k]["information_set"], nodes[k]["first_child"], nodes[k]["num_children"] = (
            0,
            number,
            first,
            2,
        )
        nodes[first + 1]["action"] = 1
    payoffs = np.array([[0, 0], [0, 0], [0, 0], [-1, 1], [-1, 1]], np.float32)
    form = solver.sequence_form(Tree(nodes, payoffs, np.zeros(2, np.uint64), np.zeros(2)))
    first, second = equilibria.frequency_intervals(form, 0.0, [0, 1])
    assert first == pytest.approx(np.array([[0, 0], [1, 1]]), abs=1e-6)
    assert second is None


def test_three_players_have_no_linear_programme(equilibria):
    with pytest.raises(ValueError, match="not for two players"):
        equilibria.optimum(form_of("kuhn for 3"), 0)
