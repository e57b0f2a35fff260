"""Pages to watch a game: they step, jump and look through other eyes, and tell a seat nothing that it may not know."""

import functools
import json
import re

import numpy as np
import pytest

from heist_envs import rules, watch
from heist_envs.games import GAMES, holdup, load
from heist_envs.rendering import NARROW, WIDTH, svg
from heist_envs.replay import Left, Replay, play, record
from heist_envs.scene import ALL_SEEING, Card, Scene, Zone
from heist_envs.story import news, outcome, spoken
from tests import tables

every_game = pytest.mark.parametrize("name", GAMES)
SEAT = 1


def data_of(page):
    """What a page keeps, as its script reads it."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])


def choices(table):
    """Number -> name of what may happen now."""
    if table.player == rules.CHANCE:
        return {outcome: str(outcome) for outcome in table.outcomes()}
    names = [name.lower().replace(" ", "-") for name in table.game.ACTION_NAMES]
    return {names.index(word): word for word in table.legal()}


def after(table, number):
    """The table after this has happened, and all that SEAT can tell about it."""
    made = tables.Table.__new__(tables.Table)
    made.game, made.state = table.game, table.state.copy()
    rules.apply_action(made.state, number)
    return made, (made.player, table.game.scene(made.state, SEAT), table.game.describe(made.state, SEAT))


def twins(name, rng, most=60):
    """Two plays of one table, as numbers of what happens, that SEAT cannot tell apart: they differ here and there.

    They end where what differs comes to light.
    """
    game, options = load(name), tables.facts(name).random_options(rng)
    one, other = tables.Table(game, **options), tables.Table(game, **options)
    plays: list[tuple[int, int]] = []
    while not one.over and len(plays) < most:
        number = int(rng.choice(sorted(choices(one))))
        next_one, view = after(one, number)
        candidates = [number] if one.player == SEAT else rng.permutation(sorted(choices(other))).tolist()
        to_differ = rng.random() < 0.3
        for candidate in sorted(candidates, key=lambda k: (k == number) == to_differ):
            next_other, other_view = after(other, candidate)
            if other_view == view:
                break
        else:
            break
        one, other = next_one, next_other
        plays.append((number, candidate))
    return options, list(zip(*plays, strict=True))


def replayed(name, options, numbers, share):
    """The replay of a play; SEAT's policy is the same in all, and the others' say `share`."""
    left = iter(numbers)

    def choose(state):
        number = next(left, None)
        if number is None:
            raise Left
        player = rules.current_player(state)
        if player == rules.CHANCE:
            return number, None
        return number, {load(name).ACTION_NAMES[number]: 0.125 if player == SEAT else share}

    agents = [
        f"agent {0 if seat == SEAT else share}" for seat in range(load(name).new_initial_state(**options)["num_players"][0])
    ]
    return record(name, options, choose, agents=agents, seed=int(1e6 * share), about=f"about {share}")


def pages_of_twins(name, count):
    """Pages for SEAT of games that it cannot tell apart, and how many of their moves are different ones."""
    rng = np.random.default_rng(5)
    for _ in range(count):
        options, plays = twins(name, rng)
        made = [replayed(name, options, numbers, share) for numbers, share in zip(plays, (0.3141, 0.2718), strict=True)]
        yield [watch.page(one, SEAT) for one in made], sum(a != b for a, b in zip(*plays, strict=True)), len(plays[0])


@every_game
def test_two_games_that_a_seat_cannot_tell_apart_have_the_same_page(name):
    game = load(name)
    has_secrets = bool(game.PRIVATE + game.HIDDEN)
    different = moves = 0
    for (one, other), apart, length in pages_of_twins(name, 10 if has_secrets else 2):
        assert one == other
        different, moves = different + apart, moves + length
    assert moves > 50
    assert different > 10 or not has_secrets


@pytest.mark.parametrize("eyes", ["scene", "describe"])
def test_eyes_that_see_too_much_change_the_page(eyes, monkeypatch):
    look = getattr(holdup, eyes)
    leaks = {
        "scene": lambda state, viewer=None: look(state, ALL_SEEING),
        "describe": lambda state, viewer=None: look(state, viewer) + f"\nOf player_0: {state.card[0]}",
    }
    rng = np.random.default_rng(5)
    found = [(options, plays) for options, plays in (twins("holdup", rng) for _ in range(6)) if plays[0] != plays[1]]
    monkeypatch.setattr(holdup, eyes, leaks[eyes])
    pages = [[watch.page(replayed("holdup", options, one, 0.5), SEAT) for one in plays] for options, plays in found]
    assert any(one != other for one, other in pages)


def test_a_page_for_a_seat_says_nothing_of_what_stands_beside_the_game():
    made = play("holdup", ["uniform", "rule:band", "rule:maniac"], seed=77123, probabilities=True, about="player_0 bluffs")
    own, full = watch.page(made, SEAT), watch.page(made)
    for secret in ("77123", "bluffs", "maniac", "uniform", *(move.digest for move in made.moves)):
        assert secret not in own
    assert all(word in full for word in ("77123", "bluffs", "maniac", "rule:band"))
    assert "rule:band" in own
    [eyes] = data_of(own)["eyes"]
    assert {choice[0] for choice in eyes["choices"] if choice} == {"player_1"}
    assert "numbers" not in eyes
    assert [one["name"] for one in data_of(full)["eyes"]] == ["everything", "player_0", "player_1", "player_2"]


@functools.cache
def whole(name):
    """A game in which every policy says what it thinks, its page, and what the page keeps."""
    made = play(name, ["uniform"] * 3, seed=2, probabilities=True, **SHORT.get(name, {}))
    page = watch.page(made)
    return made, page, data_of(page)


SHORT = {"accomplices": {"max_coups": 6}, "magpies": {"num_colours": 2}, "cleaners": {"max_turns": 25}}
"""Tables at which random players come to an end soon."""


def words(data, pieces):
    """The pieces of a text."""
    return ["\n".join(data["lines"][line] for line in data["pieces"][piece]) for piece in pieces]


@every_game
def test_who_sees_everything_has_a_step_for_each_decision_and_words_for_what_chance_does(name):
    made, _, data = whole(name)
    everything = data["eyes"][0]
    decided = [choice for choice in everything["choices"] if choice]
    moves = [move for move in made.moves if move.player != "chance"]
    assert [choice[0] for choice in decided] == [move.player for move in moves]
    assert all(choice[1].startswith(move.name) for choice, move in zip(decided, moves, strict=True))
    assert all(sum(choice[2].values()) == pytest.approx(1, abs=0.01) for choice in decided)
    said = [line for step in everything["news"] for line in words(data, step)]
    assert sum(line.startswith("Chance: ") for line in said) > 10
    for eyes in data["eyes"]:
        assert eyes["numbers"] == sorted(set(eyes["numbers"]))
        assert eyes["numbers"][-1] == len(made.moves)
        assert len({len(eyes[kind]) for kind in ("wide", "narrow", "words", "news", "down", "turns", "choices")}) == 1


@every_game
def test_a_page_keeps_every_line_once_and_its_pictures_are_those_of_the_renderer(name):
    made, page, data = whole(name)
    assert len(set(data["lines"])) == len(data["lines"])
    assert len({tuple(piece) for piece in data["pieces"]}) == len(data["pieces"])
    pictures = [words(data, picture) for eyes in data["eyes"] for kind in ("wide", "narrow") for picture in eyes[kind]]
    assert len(page) < sum(len(line) for picture in pictures for line in picture) / 5
    for eyes, viewer in zip(data["eyes"], (ALL_SEEING, 0, 1, 2), strict=True):
        for step in (0, len(eyes["numbers"]) // 2, -1):
            drawn = "\n".join(words(data, eyes["wide"][step])) + "\n"
            assert drawn == svg(made.scene(eyes["numbers"][step], viewer))


def test_a_claim_is_held_against_the_card_that_was_laid():
    down = (
        Card("Kb", face_up=False, note="laid"),
        Card("T", face_up=False, note="hand"),
        Card("", face_up=False, note="hand"),
    )
    lies = Zone("player_0", (), down, ("leads", "claims Ka"))
    honest = Zone("player_1", (), down, ("claims Kb",))
    silent = Zone("player_2", (), (Card("Ka", note="hideout"),), ("claims Ka",))
    assert list(watch.face_down(Scene("", "", (lies, honest, silent)))) == [
        ("player_0", "leads, claims Ka (a lie)", "laid: Kb; hand: T"),
        ("player_1", "claims Kb (true)", "laid: Kb; hand: T"),
    ]


def test_news_are_the_facts_that_were_not_there_before():
    before = "Game, round 1: DEAL, pot 3\nF> player_0: 3 diamonds, won 2 (a, b)\nLast: x, y\nplain"
    after = "Game, round 1: JOIN, pot 4\n F player_0: 2 diamonds, won 2 (a, b)\nLast: x, z\nplain, new"
    assert news([before], [after]) == ["table: pot 4", "player_0: 2 diamonds", "Last: x, z", "plain, new"]
    assert news([before], [before]) == []
    assert news([before] * 2, [after, after + "\nplayer_0: late"])[1] == "player_0: 2 diamonds, late"


def test_seats_counted_to_the_left_are_named():
    assert spoken("REVOLVER +2", 3, 4) == "REVOLVER +2 (player_1)"
    assert spoken("KEEP", 3, 4) == "KEEP"
    assert outcome([1, -1, -0.5]) == "player_0 wins"
    assert outcome([0.5, -1, 0.5, 0.5]) == "player_0, player_2 and player_3 share the win"


def test_a_seat_that_is_not_there_and_words_that_look_like_markup_do_no_harm():
    whole_game = play("holdup", ["uniform"] * 3, seed=1, about="</script><b>[[DATA]]")
    part = Replay("holdup", whole_game.version, whole_game.options, whole_game.moves[:10], about=whole_game.about)
    page = watch.page(part)
    assert "not over" in data_of(page)["facts"]
    assert "</script><b>[[DATA]]" in data_of(page)["facts"]
    with pytest.raises(ValueError, match="got seat 3: the seats are player_0 to player_2"):
        watch.page(part, 3)


PICTURE = "document.querySelector('#table svg').outerHTML"
PLACE = "document.getElementById('place').textContent"


@every_game
def test_the_page_steps_by_keys_jumps_by_slider_and_looks_through_other_eyes(name, browser, tmp_path):
    _, page, data = whole(name)
    (tmp_path / "game.html").write_text(page, encoding="utf-8")
    for width in (1280, 390):
        browser.open(tmp_path / "game.html", width)
        end = len(data["eyes"][0]["choices"]) - 1
        assert browser.ask(PLACE) == f"0 of {end}"
        places = []
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft"):
            browser.press(key)
            places.append(int(browser.ask(PLACE).split()[0]))
        assert places == [1, 2, 1, end, end, 0, 0]
        browser.ask("{ const s = document.getElementById('slider'); s.value = 20; s.dispatchEvent(new Event('input')) }")
        assert browser.ask(PLACE) == f"20 of {end}"
        browser.ask("document.getElementById('slider').focus()")
        browser.press("ArrowRight")
        assert browser.ask(PLACE) == f"21 of {end}"
        open_cards = browser.ask(PICTURE)
        browser.ask(
            "{ const s = document.getElementById('eyes'); s.value = 'player_1'; s.dispatchEvent(new Event('change')) }"
        )
        assert browser.ask("location.hash").startswith("#eyes=player_1&step=")
        assert (browser.ask(PICTURE) != open_cards) == bool(load(name).PRIVATE)
        assert browser.ask("document.documentElement.scrollWidth") == width
        assert browser.ask(f"{PICTURE}.includes('viewBox=\"0 0 {WIDTH if width > 640 else NARROW} ')")
    assert browser.complaints == []


def test_the_bars_of_the_page_are_the_probabilities(browser, tmp_path):
    _, page, data = whole("holdup")
    (tmp_path / "game.html").write_text(page, encoding="utf-8")
    step, choice = next((k, choice) for k, choice in enumerate(data["eyes"][0]["choices"]) if choice)
    browser.open(f"{(tmp_path / 'game.html').as_uri()}#eyes=everything&step={step}", 1280)
    assert browser.ask("document.getElementById('chooses').textContent") == f"{choice[0]} chooses {choice[1]}"
    bars = (
        "[...document.querySelectorAll('.bar')].map(bar => [bar.firstChild.textContent, bar.querySelector('i').style.width])"
    )
    assert browser.ask(bars) == [[name, f"{100 * share:g}%"] for name, share in choice[2].items()]
    assert browser.ask("document.querySelector('.taken').firstChild.textContent") == choice[1]
    labels = "[...document.querySelectorAll('button, input, select')].every(one => one.labels?.length || one.ariaLabel)"
    assert browser.ask(labels)
