"""IS-MCTS: seeded, blind to what its player cannot know, and sensible where the best play is known."""

import itertools

import numpy as np
import pytest

from heist_envs import chance, rules
from heist_envs.agents import Agent, ISMCTSAgent, Searcher, make_agent
from heist_envs.agents.agent import decide, guesses
from heist_envs.agents.ismcts import OBSERVERS
from heist_envs.benchmarks.tournament import play_deals
from heist_envs.engine import Batch, mask_of
from heist_envs.games import GAMES, load
from heist_envs.rules import TERMINAL
from tests import kuhn, tables

SIMULATIONS = 30
every_game = pytest.mark.parametrize("name", GAMES)
JACK, QUEEN, KING = 1, 2, 3


def rng(seed=0):
    return np.random.default_rng(seed)


def positions(name, count, seed):
    """States of the default table on random walks, in which a player has a choice."""
    game = load(name)
    walks = (
        state
        for state, _ in tables.random_states(name, 10**9, rng(seed), options={})
        if rules.current_player(state) >= 0 and mask_of(game, state).sum() > 1
    )
    return np.array(list(itertools.islice(walks, 0, 7 * count, 7)), game.STATE)


def dealt(cards, *moves):
    """Kuhn poker with two players, with these cards and moves."""
    table = tables.Table(kuhn, num_players=2)
    for action in [card - 1 for card in cards] + list(moves):
        rules.apply_action(table.state, action)
    return np.array([table.state], kuhn.STATE)


@every_game
def test_a_search_is_the_same_whatever_its_player_cannot_know(name):
    """The hidden facts are dealt anew, and the search from the same seed is the same, number by number."""
    states = positions(name, 8, seed=1)
    others = [states.copy() for _ in range(3)]
    for k, scrambled in enumerate(others):
        streams = chance.streams(chance.seeds(100 * k, len(states)))
        for state, stream in zip(scrambled, streams, strict=True):
            rules.determinize(state, rules.current_player(state), stream)
    assert name == "magpies" or any((one != states).any() for one in others)
    for observer in OBSERVERS:
        agent = ISMCTSAgent(name, simulations=SIMULATIONS, observer=observer)
        found = agent.search(states, rng())
        for scrambled in others:
            again = agent.search(scrambled, rng())
            assert found.visits.tobytes() == again.visits.tobytes()
            assert found.values.tobytes() == again.values.tobytes()


@every_game
def test_determinize_gives_the_same_state_whatever_the_player_cannot_know(name):
    """It reads nothing of what it redraws: from the same stream, all deals that look alike give one, byte for byte."""
    stream = chance.streams(chance.seeds(5, 1))
    for state, _ in tables.random_states(name, 2_000, rng(2)):
        if rules.current_player(state) == TERMINAL:
            continue
        for player in range(state.num_players):
            other = state.copy()
            rules.determinize(other, player, stream[0])
            drawn = []
            for one in (state.copy(), other):
                rules.determinize(one, player, chance.streams(chance.seeds(6, 1))[0])
                drawn.append(one.tobytes())
            assert drawn[0] == drawn[1], (state, player)


@every_game
def test_a_search_tries_legal_actions_only_and_leaves_the_states_as_they_are(name):
    states = positions(name, 8, seed=3)
    before = states.tobytes()
    found = ISMCTSAgent(name, simulations=SIMULATIONS).search(states, rng())
    assert states.tobytes() == before
    assert (found.visits.sum(axis=1) == SIMULATIONS).all()
    masks = np.array([mask_of(load(name), state) for state in states])
    assert (found.visits[masks == 0] == 0).all()
    assert (np.isnan(found.values).all(axis=2) == (found.visits == 0)).all()
    assert found.shares().sum(axis=1) == pytest.approx(1)


def test_the_same_generator_gives_the_same_search_and_another_one_another():
    states = positions("holdup", 8, seed=4)
    agent = ISMCTSAgent("holdup", simulations=SIMULATIONS)
    assert (agent.search(states, rng(1)).visits == agent.search(states, rng(1)).visits).all()
    assert (agent.search(states, rng(1)).visits != agent.search(states, rng(2)).visits).any()


def test_a_batch_of_games_is_searched_as_one_game_after_the_other():
    states = positions("holdup", 8, seed=5)
    agent = ISMCTSAgent("holdup", simulations=SIMULATIONS)
    together, generator = agent.search(states, rng(1)), rng(1)
    for i in range(len(states)):
        alone = agent.search(states[i : i + 1], generator)
        assert (alone.visits[0] == together.visits[i]).all()
        assert alone.values[0].tobytes() == together.values[i].tobytes()


def test_the_values_are_those_of_each_player():
    """Hold-up's win rewards sum to zero over the seats; after a fold in Kuhn poker who folded loses one."""
    found = ISMCTSAgent("holdup", simulations=SIMULATIONS).search(positions("holdup", 4, seed=6), rng())
    tried = found.visits > 0
    assert found.values[tried].sum(axis=1) == pytest.approx(0, abs=1e-5)
    facing_a_bet = ISMCTSAgent(kuhn, simulations=100).search(dealt([QUEEN, KING], kuhn.BET), rng())
    assert facing_a_bet.values[0, kuhn.PASS].tolist() == [1, -1]
    assert facing_a_bet.values[0, kuhn.BET, 0] == -facing_a_bet.values[0, kuhn.BET, 1]


@pytest.mark.parametrize("observer", OBSERVERS)
@pytest.mark.parametrize("other", [JACK, QUEEN, KING])
@pytest.mark.parametrize("opening", [[], [kuhn.PASS]])
def test_in_kuhn_poker_no_dominated_action_is_played(observer, other, opening):
    """Facing a bet, the King calls and the Jack folds, whatever the hidden card and the search's luck."""
    agent = ISMCTSAgent(kuhn, simulations=200, observer=observer)
    moves = [*opening, kuhn.BET]
    for own, best in ((KING, kuhn.BET), (JACK, kuhn.PASS)):
        if own != other:
            cards = [own, other] if opening else [other, own]
            for seed in range(20):
                assert agent.act_in(dealt(cards, *moves), rng(seed)).tolist() == [best]


def test_the_winning_move_of_the_empty_pile_is_found():
    """HOL: who redraws from the empty pile takes the pot, and with three cards for three players it is empty at once."""
    batch = Batch(load("holdup"), load("holdup").new_initial_state(num_players=3, pp_values=(1, 2, 3), max_rounds=1), False)
    batch.reset(0)
    assert ISMCTSAgent("holdup", simulations=200).act_in(batch.states, rng()).tolist() == [load("holdup").REDRAW]


def test_a_forced_move_is_simulated_once():
    state = next(
        state
        for state, _ in tables.random_states("accomplices", 10_000, rng(7), options={"preset": "tiny"})
        if rules.current_player(state) >= 0 and mask_of(load("accomplices"), state).sum() == 1
    )
    for budget in ({"simulations": 50}, {"milliseconds": 10_000}):
        found = ISMCTSAgent("accomplices", **budget).search(np.array([state], load("accomplices").STATE), rng())
        assert found.visits.sum() == 1


def test_a_budget_of_time_gives_at_least_a_simulation_and_ends():
    states = positions("holdup", 2, seed=8)
    for milliseconds in (1e-6, 5):
        found = ISMCTSAgent("holdup", milliseconds=milliseconds).search(states, rng())
        assert (found.visits.sum(axis=1) >= 1).all()


def test_a_tree_that_is_full_is_searched_on(monkeypatch):
    monkeypatch.setattr("heist_envs.agents.ismcts.MAX_NODES", 3)
    found = ISMCTSAgent("holdup", milliseconds=20).search(positions("holdup", 2, seed=9), rng())
    assert (found.visits.sum(axis=1) > 3).all()


def test_a_playout_that_is_cut_is_scored_as_the_game_stands():
    states = positions("holdup", 4, seed=10)
    long = ISMCTSAgent("holdup", simulations=SIMULATIONS).search(states, rng())
    short = ISMCTSAgent("holdup", simulations=SIMULATIONS, max_steps=5).search(states, rng())
    assert (short.steps <= 5 * SIMULATIONS).all()
    assert short.steps.sum() < long.steps.sum() / 3
    assert np.isfinite(short.values[short.visits > 0]).all()


def test_the_policy_is_the_mean_share_of_several_searches():
    states = positions("holdup", 3, seed=11)
    agent = ISMCTSAgent("holdup", simulations=SIMULATIONS)
    generator = rng(1)
    shares = [agent.search(states, generator).shares() for _ in range(4)]
    assert agent.policy(states, rng(1), repeats=4) == pytest.approx(np.mean(shares, axis=0))


def test_a_searcher_is_given_guesses_and_not_the_true_state():
    """Whoever asks a searcher has redrawn the hidden facts before, so that no searcher can look."""

    class Spy:
        def __init__(self):
            self.given = None

        def act_in(self, states, rng):
            self.given = states.copy()
            states["num_players"] = 0  # a searcher may do with them what it likes
            return np.array([mask_of(load("holdup"), state).argmax() for state in self.given])

    module, spy = load("holdup"), Spy()
    batch = Batch(module, np.repeat(module.new_initial_state(), 200), autoreset=True)
    batch.reset(0)
    before = batch.states.tobytes()
    decide(spy, batch, np.arange(200), rng())
    assert batch.states.tobytes() == before
    own, seats = batch.players.astype(int), np.arange(200)
    assert (spy.given["card"][seats, own] == batch.states["card"][seats, own]).all()
    others = (own + 1) % 4
    assert (spy.given["card"][seats, others] == batch.states["card"][seats, others]).mean() < 0.3
    again = guesses(batch.states, rng())
    assert again.tobytes() == spy.given.tobytes()


def test_a_searcher_plays_a_tournament_beside_other_agents():
    agent = make_agent("ismcts:5", "holdup")
    assert isinstance(agent, Searcher)
    assert not isinstance(make_agent("uniform", "holdup"), Searcher)
    assert not hasattr(agent, "act"), "an agent of the other kind is asked by its observations"
    assert hasattr(Agent, "act")
    by_deal = play_deals("holdup", [agent, make_agent("rule", "holdup"), make_agent("uniform", "holdup")], 2)
    assert by_deal.sum(axis=1) == pytest.approx(0, abs=1e-5)


def test_the_margin_of_points_may_be_aimed_at_whatever_the_reward():
    states = positions("holdup", 3, seed=12)
    found = ISMCTSAgent("holdup", simulations=SIMULATIONS, margin=True).search(states, rng())
    states["score_reward"] = 1
    same = ISMCTSAgent("holdup", simulations=SIMULATIONS).search(states, rng())
    assert found.values.tobytes() == same.values.tobytes()
    with pytest.raises(ValueError, match="kuhn has no reward for the margin"):
        ISMCTSAgent(kuhn, margin=True)


def test_names_say_the_budget():
    assert make_agent("ismcts", "holdup").simulations == 1000
    assert make_agent("ismcts:50", "holdup").simulations == 50
    assert make_agent("ismcts:50ms", "holdup").milliseconds == 50
    for budget in ("much", "0", "-3", "1.5", "0ms", "ms"):
        with pytest.raises(ValueError, match="got "):
            make_agent(f"ismcts:{budget}", "holdup")


@pytest.mark.parametrize(
    "wrong",
    [
        {"simulations": 0},
        {"simulations": 2.5},
        {"simulations": True},
        {"simulations": 5, "milliseconds": 5},
        {"milliseconds": float("nan")},
        {"milliseconds": -1},
        {"exploration": -0.1},
        {"exploration": float("inf")},
        {"observer": "none"},
        {"max_steps": 0},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ValueError, match="got "):
        ISMCTSAgent("holdup", **wrong)
