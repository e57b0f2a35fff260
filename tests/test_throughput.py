"""How speed is measured, and a floor under it: ratios within one run, since seconds depend on the machine."""

import pathlib

import numba
import numpy as np
import pytest

import heist_envs
from heist_envs import chance
from heist_envs.agents import UniformAgent
from heist_envs.benchmarks import peers, phases, tables, throughput
from heist_envs.benchmarks.stopwatch import rates
from heist_envs.engine import Batch
from heist_envs.games import GAMES
from tests import kuhn

RESULTS = pathlib.Path(__file__).parents[1] / "benchmarks" / "results"
[COMMITTED] = tables.load_results(RESULTS, "throughput.json")
SLACK = 5
"""A ratio may fall to so small a share of the committed one: machines differ, and a step ten times as slow is found."""

floor = pytest.mark.skipif(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK, reason="compiled code alone is fast")


def measured(works, name, base):
    """The ratio of two pieces of work, the median over short turns of both."""
    return throughput.ratios(rates(works, rounds=9, piece=0.03), base)[name]


def stepping(game, num_players, num_envs=1024, num_steps=100):
    """A batch's steps with actions that were drawn before: the engine and nothing else."""
    batch = heist_envs.make_vec(game, num_envs, num_players).batch
    actions = np.zeros((num_steps, num_envs), np.int64)
    batch.reset(0)
    for t in range(num_steps):
        actions[t] = UniformAgent().act(batch.observations, batch.masks, np.random.default_rng(t))
        batch.step(actions[t])

    def work():
        batch.reset(0)
        for each in actions:
            batch.step(each)
        return actions.size

    return work


@floor
@pytest.mark.parametrize("game", GAMES)
def test_a_batch_is_many_times_as_fast_as_one_game_at_a_time(game):
    committed = COMMITTED["games"][game]
    batch, one = (tables.speed_of(committed, *way)["per_second"] for way in (("batch", 1024), ("aec", 1)))
    case = throughput.Case("aec", committed["players"], 1, 1)
    found = measured({"batch": stepping(game, case.players), case: throughput.way(game, case)}, "batch", case)
    assert found > batch / one / SLACK


@floor
@pytest.mark.parametrize("game", GAMES)
def test_one_game_at_a_time_is_not_much_slower_than_a_small_game_of_openspiel(game):
    pytest.importorskip("pyspiel")
    case = throughput.Case("aec", COMMITTED["games"][game]["players"], 1, 1)
    works = {case: throughput.way(game, case), throughput.BASE: peers.openspiel("leduc_poker")}
    assert measured(works, case, throughput.BASE) > tables.speed_of(COMMITTED["games"][game], "aec", 1)["ratio"] / SLACK


def recorded(num_steps):
    batch = Batch(kuhn, np.repeat(kuhn.new_initial_state(num_players=3), 70), autoreset=True)  # more games than a block
    batch.reset(0)
    return phases.Recorded(batch, chance.streams(chance.seeds(1, 70)), num_steps)


def test_every_phase_is_measured_on_the_same_games_which_are_those_of_the_engine():
    record, engine = recorded(30), recorded(1).batch
    engine.reset(0)
    for actions in record.actions:
        engine.step(engine.check_actions(actions))
    actions, outcomes = record.actions.copy(), record.outcomes.copy()
    assert len(outcomes) > 70
    for level in phases.LEVELS.values():
        record.batch.states[:] = record.start[0][:1]
        record.play(level)
        assert record.batch.states.tobytes() == engine.states.tobytes()
        assert (record.actions == actions).all()
        assert (record.outcomes == outcomes).all()
    assert (record.batch.observations == engine.observations).all()
    assert (record.batch.masks == engine.masks).all()


def test_a_phase_does_what_those_before_it_do_and_one_thing_more():
    done = [sum(level) for level in phases.LEVELS.values()]
    assert done == list(range(len(phases.Phases._fields) + 1))
    for before, after in zip(phases.LEVELS.values(), list(phases.LEVELS.values())[1:], strict=False):
        assert all(b >= a for a, b in zip(before, after, strict=True))


def test_a_phase_is_left_out_where_it_is_not_asked_for():
    record = recorded(5)
    record.batch.observation_rows[:] = 0
    record.play(phases.LEVELS["mask"])
    assert not record.batch.observations.any()
    record.outcomes[:] = record.outcomes[::-1].copy()  # other cards than those that would be drawn
    turned = record.outcomes.copy()
    record.play(phases.LEVELS["chance"])
    assert (record.outcomes != turned).any()


def test_the_time_of_a_phase_is_the_difference_to_the_loop_without_it(monkeypatch):
    monkeypatch.setattr(phases, "works", lambda *_: {})
    loops = {"rules": [1e8, 2e8, 1e8], "chance": [5e7, 5e7, 2e7]}  # 10 and 5 ns, then 20 and 50 ns a decision
    monkeypatch.setattr(throughput, "rates", lambda *_: loops)
    assert throughput.by_phase("holdup", 3, 0.1) == pytest.approx({"rules": 10, "chance": 15})


def test_a_ratio_is_taken_within_a_round_and_not_across_rounds():
    found = {"one": [1.0, 100.0, 3.0], "other": [2.0, 400.0, 9.0]}
    assert throughput.ratios(found, "one") == {"one": 1.0, "other": 3.0}
    assert throughput.ratios(found, "missing") == {"one": None, "other": None}


def test_every_measurement_has_its_turn_in_every_round():
    turns = []
    works = {name: lambda name=name: turns.append(name) or 7 for name in "ab"}
    found = rates(works, rounds=3, piece=1e-9)
    assert "".join(turns) == "ab" + "ab" * 3  # once to warm up
    assert [len(values) for values in found.values()] == [3, 3]
    assert min(found["a"] + found["b"]) > 0


def test_other_libraries_are_measured_where_they_are_installed_and_never_needed(monkeypatch):
    titles = [f"{title}: {name}" for title, (_, _, names) in peers.PEERS.items() for name in names]
    assert throughput.BASE in titles
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: None)
    assert peers.peers() == {}
    monkeypatch.setattr(peers.importlib.util, "find_spec", lambda name: name == "somewhere" or None)
    there = {"Here": ("nowhere", len, ("x",)), "There": ("somewhere", str.upper, ("x", "y"))}
    monkeypatch.setattr(peers, "PEERS", there)
    assert peers.peers() == {"There: x": "X", "There: y": "Y"}


def test_the_command_measures_what_it_lists_and_its_tables_hold_it(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(throughput, "start_times", lambda game: {"import": 0.5})
    monkeypatch.setattr(throughput, "batch", lambda *_: lambda: 10)  # the real one takes long to compile
    monkeypatch.setattr(phases, "works", lambda *_: {"rules": lambda: 10, "mask": lambda: 5})
    monkeypatch.setattr(peers, "peers", lambda: {throughput.BASE: lambda: 1, "Other: game": lambda: 1})
    file = tmp_path / "throughput.json"
    words = ["--games", "holdup", "--sizes", "1", "2", "--rounds", "1", "--piece", "0.001", "--deals", "2", "--json"]
    throughput.main([*words, str(file)])
    [result] = tables.load_results(tmp_path, "throughput.json")
    found = result["games"]["holdup"]
    assert [(row["way"], row["games"], row["threads"]) for row in found["decisions"] if row["players"] == 5] == [
        ("aec", 1, 1), ("batch", 1, 1), ("batch", 2, 1), ("vector", 1024, 1), ("batch", 2, 2), ("vector", 1024, 2)
    ]  # fmt: skip
    assert {row["players"] for row in found["decisions"]} == {3, 4, 5, 6}
    assert found["tournament"] > 0
    made = tables.throughput_tables(result)
    for row in found["decisions"]:
        assert f"| {throughput.way_of(row)} | " in made
        assert f"{row['per_second']:,.0f} (" in made
    assert "| Other: game | " in made
    assert f"| {found['bytes']['state']} | {found['bytes']['observation']} | {found['bytes']['mask']} | 0.50 | " in made
    shown = capsys.readouterr().out
    assert "6 players, batch of 2, 2 threads" in shown
    assert f"{found['tournament']:12,.0f} games/s" in shown
