"""What agents do: which question is put in which state, in play and on the tree."""

import argparse
import json

import numpy as np
import pytest

from heist_envs import chance, rules
from heist_envs.agents import UniformAgent, make_agent, solver
from heist_envs.agents.tree import game_tree
from heist_envs.benchmarks import behaviour, solve
from heist_envs.benchmarks.behaviour import QUESTIONS, answers, bluffing_sets, rates_exactly, rates_in_play
from heist_envs.engine import mask_of
from heist_envs.games import GAMES, accomplices, cleaners, holdup, load, magpies
from tests import tables
from tests.test_statistics import Always


def question_of(game, name):
    (found,) = (question for question in QUESTIONS[game] if question.name == name)
    return found


def put(state, game):
    """What a state asks of the player who is to act: question, class and action -> how far the action is a yes."""
    player = np.array([rules.current_player(state)])
    legal = np.flatnonzero(mask_of(load(game), state))
    found = {}
    for question in QUESTIONS[game]:
        classes, yes = answers(question, state.reshape(1), player, np.zeros(len(legal), np.intp), legal)
        for action, number, extent in zip(legal, classes, yes, strict=True):
            if number >= 0:
                found[question.name, question.classes[number], load(game).ACTION_NAMES[action]] = float(extent)
    return found


def asked(state, game):
    """Question -> its classes here."""
    found = {}
    for question, name, _ in put(state, game):
        found.setdefault(question, set()).add(name)
    return found


# ------------------------------------------------------------------------------------------------ scenarios


def holdup_at_join(*cards, **options):
    table = tables.Table(holdup, num_players=len(cards), redraw_rounds=0, loans=False, **options)
    return table.chance(*(card - 1 for card in cards))


@pytest.mark.parametrize(
    ("card", "odds"),
    # Of C(14, 3) = 364 hands of the others, one card above and two below: 6 has 9 * 10, 7 has 8 * 15, 14 has 78.
    [(1, "poor"), (6, "poor"), (7, "fair"), (12, "fair"), (13, "fair"), (14, "poor"), (15, "poor")],
)
def test_joining_is_a_bluff_with_a_card_that_is_second_highest_less_often_than_one_time_in_four(card, odds):
    others = [value for value in (2, 3, 4) if value != card]
    state = holdup_at_join(card, *others, 5).state if len(others) == 2 else holdup_at_join(card, *others).state
    assert asked(state, "holdup") == {"joins": {f"card {card}"}, "joins with": {f"a {odds} chance"}}
    assert put(state, "holdup")["joins", f"card {card}", "JOIN"] == 1
    assert put(state, "holdup")["joins", f"card {card}", "FOLD"] == 0


def test_what_lies_open_counts_in_the_odds_of_a_card():
    table = holdup_at_join(15, 14, 2, 3)
    table.say("fold")  # 15 lies open: now none is above 14
    assert asked(table.state, "holdup")["joins with"] == {"a poor chance"}
    table = holdup_at_join(2, 3, 1, 4)
    table.say("fold fold")  # two play on: 1 is the lower of two for sure, which wins
    assert asked(table.state, "holdup")["joins with"] == {"a fair chance"}
    table.say("fold")  # and the last one wins unseen
    assert asked(table.state, "holdup")["joins with"] == {"a fair chance"}


def test_the_revolver_is_asked_by_whether_a_higher_card_can_be_forced():
    for own, known in ((9, "a higher card to force"), (12, "only lower cards to force")):
        table = holdup_at_join(own, 11, 2).say("join fold fold")
        assert asked(table.state, "holdup") == {"uses the Revolver": {known}}
        assert put(table.state, "holdup")["uses the Revolver", known, "REVOLVER +1"] == 1
        assert put(table.state, "holdup")["uses the Revolver", known, "NO REVOLVER"] == 0


def test_redraws_loans_bribes_and_the_penalty_have_their_own_knowledge():
    table = tables.Table(holdup, num_players=3).chance(8, 1, 3)
    assert asked(table.state, "holdup") == {"redraws": {"card 9"}}
    table.say("keep keep keep keep keep keep")
    assert asked(table.state, "holdup") == {"takes a loan": {"3 Thieves left"}}  # no Cop to bribe
    table.say("loan")
    assert asked(table.state, "holdup") == {"bribes": {"2 Thieves left"}}
    table.say("done done done join fold fold revolver-+2")  # 9 and 4: the lower of two wins
    assert asked(table.state, "holdup") == {"pays with Thieves": {"1 Thief left"}}


def accomplices_tiny(first, second, third):
    """Three hands of two cards, by name."""
    table = tables.Table(accomplices, preset="tiny")
    return table.chance(*(accomplices.CARD_NAMES.index(card) for card in (*first, *second, *third)))


def test_a_leader_lies_who_claims_another_card_than_he_has_led():
    table = accomplices_tiny(("Ka", "T"), ("Ba", "A"), ("Ka", "Ba"))
    assert asked(table.state, "accomplices") == {"leads a Traitor": {"who is level"}}
    table.say("play-ka")
    assert put(table.state, "accomplices") == {
        ("claims falsely", "a Key", "CLAIM Ka"): 0,
        ("claims falsely", "a Key", "CLAIM Ba"): 1,
    }
    table = accomplices_tiny(("Ka", "T"), ("Ba", "A"), ("Ka", "Ba")).say("play-t")
    assert asked(table.state, "accomplices") == {}  # whatever he claims is false


def test_a_volunteer_may_fit_or_bluff_or_betray():
    table = accomplices_tiny(("Ka", "A"), ("Ba", "A"), ("Ka", "T")).say("play-ka claim-ba")
    found = put(table.state, "accomplices")
    loot = "a Loot is claimed"
    assert {(name, action) for (name, known, action), yes in found.items() if yes and known == loot} == {
        ("volunteers junk", "PLAY Ba"),
        ("volunteers an Alarm", "PLAY A"),
    }
    table.say("pass")
    found = put(table.state, "accomplices")
    assert {(name, action) for (name, known, action), yes in found.items() if yes and known == loot} == {
        ("volunteers a card that fits", "PLAY Ka"),
        ("volunteers a Traitor", "PLAY T"),
    }


def test_the_pile_the_alarm_and_the_theft_are_asked_where_there_is_a_choice():
    table = accomplices_tiny(("Ka", "A"), ("Ba", "A"), ("Ka", "Ba")).say("play-ka claim-ka pass play-ba")
    assert asked(table.state, "accomplices") == {"takes the pile, no volunteer": {"a Key"}}
    table.say("choose-+2")
    assert asked(table.state, "accomplices") == {"sounds an Alarm": {"the game goes on"}}
    table = accomplices_tiny(("Ka", "T"), ("Ba", "Ka"), ("A", "Ba")).say("play-ka claim-ka play-ka pass choose-+1")
    assert "sounds an Alarm" not in asked(table.state, "accomplices")


def cleaners_tiny(hands):
    """The object 1 lies open on the table, the object 2 and the Weapon in the pile."""
    return tables.Table(cleaners, preset="tiny").chance(0, 0, 1, 2, *hands)


def test_low_cards_and_flies_face_down_are_bluffs():
    table = cleaners_tiny((0, 1, 1, 2))
    found = put(table.state, "cleaners")
    lays = {key[1:]: yes for key, yes in found.items() if key[0] == "lays face down, not open"}
    assert lays == {
        ("a Fly", "PLACE 0 DOWN"): 1,
        ("a Fly", "PLACE 0 UP"): 0,
        ("a low card", "PLACE 1 DOWN"): 1,
        ("a low card", "PLACE 1 UP"): 0,
    }


def magpies_after(*cards):
    """The leader draws cards with so many triangles."""
    game = {"num_colours": 1, "deck": [(k, None, None) for k in range(4) for _ in range(4)], "reserve_size": 0}
    table = tables.Table(magpies, num_players=2, **game)
    for k, triangles in enumerate(cards):
        table.say("draw" * (k > 0)).chance(triangles)
    return table


def test_the_row_and_the_gap_say_when_to_stop_and_what_the_risk_is():
    state = magpies_after(0).state
    assert asked(state, "magpies") == {"stops": {"1 laid, gap 6"}}
    state = magpies_after(2, 1).state
    assert asked(state, "magpies") == {"stops": {"2 laid, gap 2"}, "is caught at once": {"gap 2"}}
    # Four cards each of 0 to 3 triangles, two of them laid: 3 of two and 4 of three triangles catch him, of 14.
    found = put(state, "magpies")
    assert found["is caught at once", "gap 2", "DRAW"] == pytest.approx(7 / 14)
    assert found["is caught at once", "gap 2", "STOP"] == 0
    assert (found["stops", "2 laid, gap 2", "DRAW"], found["stops", "2 laid, gap 2", "STOP"]) == (0, 1)
    caught = 0
    for card, weight in magpies_after(2, 1).say("draw").outcomes().items():
        table = magpies_after(2, 1).say("draw").chance(card)
        caught += weight * (magpies.CAUGHT in (table.ending, table.last_ending))
    assert caught == 7


# ------------------------------------------------------------------------------------------------ laws


@pytest.mark.parametrize("game", GAMES)
def test_what_a_player_cannot_know_changes_no_class(game):
    rng, stream = np.random.default_rng(3), chance.streams(chance.seeds(3, 1))[0]
    questions = set()
    for state, _ in tables.random_states(game, 1_500, rng):
        player = rules.current_player(state)
        if player < 0:
            continue
        here = put(state, game)
        questions |= {name for name, *_ in here}
        other = state.copy()
        rules.determinize(other, player, stream)
        assert put(other, game) == here
        if game != "magpies":  # nothing is hidden there
            tables.facts(game).scramble(other, player, rng)
            assert put(other, game) == here
    assert questions >= {question.name for question in QUESTIONS[game]} - {"accuses"}


@pytest.mark.parametrize("game", GAMES)
def test_all_classes_have_different_names_and_bluffs_are_among_them(game):
    names = [(question.name, name) for question in QUESTIONS[game] for name in question.classes]
    assert len(set(names)) == len(names)
    assert all(set(question.bluffs) <= set(question.classes) for question in QUESTIONS[game])


# ------------------------------------------------------------------------------------------------ rates


@pytest.mark.parametrize(
    ("game", "action", "name", "rate"),
    [
        ("holdup", holdup.JOIN, "joins with", 1),
        ("holdup", holdup.FOLD, "joins with", 0),
        ("magpies", magpies.STOP, "stops", 1),
        ("magpies", magpies.DRAW, "stops", 0),
        ("accomplices", accomplices.SOUND, "sounds an Alarm", 1),
        ("accomplices", accomplices.PASS, "volunteers junk", 0),
        ("cleaners", cleaners.PEEK_VICE, "looks at a Vice card", 1),
    ],
)
def test_who_always_does_it_does_it_always(game, action, name, rate):
    found = {one.question.name: one for one in rates_in_play(Always(action), game, 30)}
    asked = found[name].asked > 0
    assert asked.any()
    assert (found[name].rates[asked] == rate).all()
    assert np.isnan(found[name].rates[~asked]).all()
    low, high = found[name].intervals[asked].T
    assert ((low <= rate + 1e-12) & (rate <= high + 1e-12) & (high - low > 0)).all()


def test_who_draws_on_is_caught_as_often_as_the_unseen_cards_say():
    """The expected number of busts is what is counted in play."""
    from heist_envs.benchmarks.statistics import statistics

    agent = make_agent("rule:gap-1", "magpies")
    (caught,) = (one for one in rates_in_play(agent, "magpies", 400) if one.question.name == "is caught at once")
    played = statistics("magpies", agent, 400)
    busts = played["events"]["thefts, caught"] * played["length"]["mean"]
    assert caught.yes.sum() / 400 == pytest.approx(busts, rel=0.06)


def test_the_interval_is_that_of_games_and_covers_the_truth():
    """Answers that are all alike within a game tell no more than one each."""
    rng = np.random.default_rng(0)
    question, covered = question_of("magpies", "is caught at once"), 0
    for _ in range(1_000):
        asked = rng.integers(1, 9, (300, 3)).astype(float)
        found = behaviour._clustered(question, asked, asked * (rng.random((300, 3)) < 0.3))
        assert (found.independent < 400).all()  # of some 1,350 answers
        covered += (found.intervals[:, 0] <= 0.3) & (found.intervals[:, 1] >= 0.3)
    assert ((covered >= 930) & (covered <= 970)).all()


@pytest.fixture(scope="module")
def trees():
    made = {}

    def tree_of(game, **options):
        key = (game, *options.items())
        if key not in made:
            tree = game_tree(game, **options)
            made[key] = tree, solver.sequence_form(tree)
        return made[key]

    return tree_of


SMALL = {
    "holdup": {"preset": "tiny"},
    "accomplices": {"preset": "micro"},
    "cleaners": {"preset": "tiny"},
    "magpies": {"preset": "tiny"},
}


DRAWS = {"holdup": 16, "accomplices": 1_000, "cleaners": 16, "magpies": 16}
"""Leads are few information sets, so that the guess at each of them counts."""


@pytest.mark.parametrize("name", ["uniform", "rule"])
@pytest.mark.parametrize("game", GAMES)
def test_the_tree_and_play_give_the_same_rates(trees, game, name):
    tree, form = trees(game, **SMALL[game])
    agent, players = make_agent(name, game), tree.payoffs.shape[1]
    strategy = solver.strategy_of([agent] * players, game, tree, form, DRAWS[game], np.random.default_rng(1))
    played, compared = rates_in_play(agent, game, 4_000, 1, **SMALL[game]), 0
    for exact, counted in zip(rates_exactly(game, tree, form, strategy), played, strict=True):
        assert exact.question is counted.question
        assert counted.asked / 4_000 == pytest.approx(exact.asked, rel=0.15, abs=0.02)
        assert np.allclose(exact.intervals.T, exact.rates, equal_nan=True)
        often = counted.asked > 30
        low, high = counted.intervals[often].T
        slack = 0.6 * (high - low)  # dozens of intervals of 95%: some miss, none by far
        assert ((low - slack <= exact.rates[often]) & (exact.rates[often] <= high + slack)).all()
        compared += often.sum()
    assert compared >= 5


def test_play_reaches_each_information_set_along_the_tree(trees):
    tree, form = trees("cleaners", preset="micro")
    strategy = solver.normalized(form, np.random.default_rng(0).random(len(form.actions)))
    chances, expected = np.ones(len(tree.nodes)), np.zeros(len(form.players))
    for k, node in enumerate(tree.nodes.tolist()):
        share, _, first, children, information_set, _, player = node
        chances[k] *= share
        for i in range(children):
            chances[first + i] = chances[k] * (strategy[form.first[information_set] + i] if player >= 0 else 1)
        if player >= 0:
            expected[information_set] += chances[k]
    assert behaviour.reach(tree, form, strategy) == pytest.approx(expected)


def test_bluffing_sets_are_those_where_a_bluff_is_open_the_most_reached_first(trees):
    tree, form = trees("cleaners", preset="micro")
    strategy = solver.uniform(form)
    found = bluffing_sets("cleaners", tree, form, strategy)
    chances = behaviour.reach(tree, form, strategy)[list(found)]
    assert (np.diff(chances) <= 0).all()
    question = question_of("cleaners", "lays face down, not open")
    for i, words in list(found.items())[:50]:
        known = asked(tree.states[i], "cleaners")[question.name] & set(question.bluffs)
        assert set(words) == {f"{question.name}: {name}" for name in known} != set()
    others = set(range(len(form.players))) - set(found)
    for i in list(others)[:200]:
        assert not asked(tree.states[i], "cleaners").get(question.name, set()) & set(question.bluffs)
    tree, form = trees("magpies", **tables.facts("magpies").SMALLEST)
    assert bluffing_sets("magpies", tree, form, solver.uniform(form)) == {}


# ------------------------------------------------------------------------------------------------ beside the programme


@pytest.mark.parametrize(("game", "about"), [("cleaners", "lays face down, not open: a "), ("magpies", "a first decision")])
def test_the_linear_programme_is_asked_where_a_bluff_is_open(trees, game, about):
    pytest.importorskip("scipy")
    tree, form = trees(game, **({"preset": "micro"} if game == "cleaners" else tables.facts(game).SMALLEST))
    _, strategy = solve.solved(form, 20)
    found = solve.by_programme(tree, form, game, strategy)
    assert found["intervals"]
    for row in found["intervals"]:
        assert all(words.startswith(about) for words in row["about"])
        for action, (low, high) in row["actions"].items():
            assert 0 <= low <= high + 1e-6 <= 1 + 2e-6
            assert low - 0.1 <= row["cfr_plus"][action] <= high + 0.1
    assert found["value"] == pytest.approx(solver.expected_values(form, strategy)[0], abs=0.01)


def test_three_players_have_no_programme_and_the_command_says_so():
    given = argparse.Namespace(seconds=2, alone=True, adapter=False, programme=True, sampling=False)
    found = solve.measure("holdup", tables.facts("holdup").SMALLEST, given)
    assert "programme" not in found
    assert "no linear programme gives one" in " ".join(solve.lines(found))


# ------------------------------------------------------------------------------------------------ the command


def test_the_command_prints_and_writes_the_rates(tmp_path, capsys):
    file = tmp_path / "behaviour.json"
    behaviour.main([*["--games", "magpies", "--agents", "rule", "--num-games", "20", "--seed", "3", "--json"], str(file)])
    [table] = json.loads(file.read_text())["tables"]
    [agent] = table["agents"]
    (row,) = (row for row in agent["rates"] if (row["question"], row["class"]) == ("stops", "4 laid, gap 1"))
    assert row["interval"][0] <= row["rate"] <= row["interval"][1]
    assert row["asked"] > 0
    said = capsys.readouterr().out
    assert "4 laid, gap 1" in said
    assert "in the last turn" in said or "joker" not in said


def test_the_command_sets_cfr_beside_the_agents(tmp_path, capsys):
    file = tmp_path / "behaviour.json"
    words = "--games cleaners --agents uniform --preset micro --exact --seconds 5 --json"
    behaviour.main([*words.split(), str(file)])
    [table] = json.loads(file.read_text())["tables"]
    assert [agent["agent"] for agent in table["agents"]] == ["uniform", "CFR+"]
    said = capsys.readouterr().out
    assert "(bluff)" in said
    assert "an equilibrium as nearly as that" in said


@pytest.mark.parametrize("words", ["--num-games 1", "--exact", "--exact --preset tiny --draws 0"])
def test_the_command_refuses_what_makes_no_sense(words):
    with pytest.raises(SystemExit):
        behaviour.main(words.split())


def test_bad_input_is_an_error():
    with pytest.raises(ValueError, match="num_games=1"):
        rates_in_play(UniformAgent(), "holdup", 1)
    with pytest.raises(ValueError, match="chess"):
        rates_in_play(UniformAgent(), "chess", 10)
    with pytest.raises(TypeError, match="colour"):
        rates_in_play(UniformAgent(), "holdup", 10, colour="red")
