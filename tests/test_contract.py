"""Laws that hold for every game at every table."""

import numpy as np
import pytest

import heist_envs
from heist_envs import rules
from heist_envs.engine import mask_of
from heist_envs.games import GAMES, load
from heist_envs.rules import CHANCE, TERMINAL
from tests import DECISIONS, tables

every_game = pytest.mark.parametrize("name", GAMES)


def players_of(name):
    allowed = load(name).OPTIONS["num_players"].allowed
    return list(allowed)


@every_game
def test_a_record_has_no_padding_so_that_its_bytes_are_a_key(name):
    for dtype in (load(name).STATE, load(name).OBSERVATION.record):
        assert dtype.itemsize == sum(dtype.fields[field][0].itemsize for field in dtype.names)


@every_game
def test_private_fields_belong_to_one_seat_each(name):
    game = load(name)
    for field in game.PRIVATE:
        shape = field[2] if isinstance(field[2], tuple) else (field[2],)
        assert shape[0] == game.MAX_PLAYERS


@every_game
def test_spaces_are_the_same_for_every_player_count_and_preset(name):
    envs = [heist_envs.make(name, num_players=n) for n in players_of(name)]
    envs += [heist_envs.make(name, preset=preset) for preset in load(name).PRESETS]
    first = envs[0]
    for env in envs:
        for agent in env.possible_agents:
            assert env.observation_space(agent) == first.observation_space("player_0")
            assert env.action_space(agent) == first.action_space("player_0")


@every_game
def test_the_layout_names_every_entry_once(name):
    layout = heist_envs.observation_layout(name)
    covered = np.concatenate([np.arange(layout.size)[feature.slice] for feature in layout.values()])
    assert covered.tolist() == list(range(layout.size))
    for feature in layout.values():
        assert feature.about
        assert len(range(layout.size)[feature.slice]) == np.prod(feature.shape, dtype=int)
    assert heist_envs.observation_layout(name, preset="tiny").size == layout.size
    with pytest.raises(TypeError, match="unknown option"):
        heist_envs.observation_layout(name, nonsense=1)
    with pytest.raises(TypeError, match="got unknown option 'num_player': did you mean 'num_players'"):
        heist_envs.observation_layout(name, num_player=3)
    with pytest.raises(ValueError, match=r"got num_players='3': allowed is . to ., not of type str"):
        heist_envs.observation_layout(name, num_players="3")


@every_game
def test_conservation_laws_hold_and_observations_stay_in_bounds(name):
    game = load(name)
    rng = np.random.default_rng(1)
    low, high = game.OBSERVATION.low, game.OBSERVATION.high
    seen = np.zeros(1, game.OBSERVATION.record)
    for state, _ in tables.random_states(name, DECISIONS, rng):
        game.check(state)
        player = int(rng.integers(state.num_players))
        rules.observe(state, player, seen[0])
        flat = seen.view(np.int8)
        assert ((flat >= low) & (flat <= high)).all()


@every_game
def test_whoever_is_asked_has_a_legal_action_and_each_one_leads_to_a_lawful_state(name):
    game = load(name)
    rng = np.random.default_rng(2)
    for state, action in tables.random_states(name, 3_000, rng):
        if action is None or rules.current_player(state) == CHANCE:
            continue
        legal = np.flatnonzero(mask_of(game, state))
        assert len(legal) > 0
        for each in legal:
            after = state.copy()
            rules.apply_action(after, each)
            game.check(after)
            assert after.tobytes() != state.tobytes()


@every_game
def test_a_step_with_an_action_that_the_mask_forbids_changes_nothing(name):
    rng = np.random.default_rng(3)
    for _ in range(30):
        env = heist_envs.make(name, **tables.facts(name).random_options(rng))
        env.reset(seed=int(rng.integers(1000)))
        for agent in env.agent_iter(200):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                break
            mask = observation["action_mask"]
            before = env.to_bytes()
            for action in np.flatnonzero(mask == 0):
                with pytest.raises(ValueError, match=f"got action {action}.* for {agent}: legal are"):
                    env.step(action)
            assert env.to_bytes() == before
            env.step(rng.choice(np.flatnonzero(mask)))


@every_game
def test_rewards_are_zero_sum_and_at_most_one(name):
    rng = np.random.default_rng(4)
    for state, action in tables.random_states(name, 20_000, rng):
        if action is None:
            payoffs = np.zeros(state.num_players, np.float32)
            rules.returns(state, payoffs)
            assert abs(payoffs).max() <= 1
            if not state.score_reward:
                assert payoffs.sum() == pytest.approx(0, abs=1e-6)


@every_game
def test_a_table_plays_the_same_game_again_after_reset(name):
    rng = np.random.default_rng(5)
    game = load(name)
    for _ in range(50):
        options = tables.facts(name).random_options(rng)
        fresh = game.new_initial_state(**options)
        played = fresh.copy()
        while rules.current_player(played[0]) != TERMINAL:
            table = tables.Table.__new__(tables.Table)
            table.game, table.state = game, played[0]
            chance = rules.current_player(played[0]) == CHANCE
            choices = list(table.outcomes()) if chance else np.flatnonzero(mask_of(game, played[0]))
            rules.apply_action(played[0], int(rng.choice(choices)))
        rules.reset(played[0])
        assert played.tobytes() == fresh.tobytes()


def test_a_game_that_lacks_a_rule_or_has_a_shadowed_field_is_refused():
    class Broken:
        __name__ = "broken"
        STATE = np.dtype((np.record, [("pot", np.int8)]))

    with pytest.raises(TypeError, match="lacks the rules"):
        rules.register(Broken)
    for rule in rules.RULES:
        setattr(Broken, rule, None)
    Broken.STATE = np.dtype((np.record, [("round", np.int8)]))
    with pytest.raises(TypeError, match="shadows"):
        rules.register(Broken)


def test_what_a_game_lacks_is_said_with_what_there_is():
    with pytest.raises(ValueError, match="got game 'poker': the games are " + ", ".join(map(repr, GAMES))):
        heist_envs.make("poker")
    assert heist_envs.GAMES == GAMES
    assert isinstance(heist_envs.GAMES, tuple)
