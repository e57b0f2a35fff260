"""The parts of a table that a network looks at one by one: what is seen of them, against a slow reading of the views."""

import itertools

import numpy as np
import pytest

import heist_envs
from heist_envs.agents.parts import groups_of, look, told
from heist_envs.games import GAMES, cleaners, load, magpies

WITH_PARTS = [game for game in GAMES if groups_of(game)]


def random_views(game, num_steps=60, **options):
    """Observations and masks on the way of random games, (N, D) and (N, A)."""
    vec = heist_envs.make_vec(game, 64, **options)
    seen, _ = vec.reset(seed=0)
    rng = np.random.default_rng(0)
    found = []
    for step in range(num_steps):
        if step % 7 == 0:
            found.append((seen["observation"].copy(), seen["action_mask"].copy()))
        seen, *_ = vec.step((rng.random(seen["action_mask"].shape) * seen["action_mask"]).argmax(axis=1))
    return tuple(np.concatenate(arrays) for arrays in zip(*found, strict=True))


def test_games_of_many_places_have_parts_and_the_others_none():
    assert WITH_PARTS == ["cleaners", "magpies"]
    assert look("holdup", random_views("holdup", 1)[0]) == []
    with pytest.raises(ValueError, match="poker"):
        groups_of("poker")


@pytest.mark.parametrize("game", WITH_PARTS)
def test_what_is_seen_of_the_parts_keeps_its_bounds(game):
    for group, seen in zip(groups_of(game), look(game, random_views(game)[0]), strict=True):
        assert next(iter(group.layout)) == "there"
        assert seen.shape[1:] == (group.size, group.layout.size)
        assert ((seen >= group.layout.low) & (seen <= group.layout.high)).all(), group.name
        assert not seen[seen[:, :, 0] == 0].any(), "something is seen of a part that is not there"
    assert set(told(game)) <= set(load(game).OBSERVATION)


@pytest.mark.parametrize("game", WITH_PARTS)
def test_a_legal_answer_that_means_a_part_means_one_that_is_there(game):
    views, masks = random_views(game)
    met = 0
    for group, seen in zip(groups_of(game), look(game, views), strict=True):
        for actions in group.actions:
            assert len(actions) == group.size
            legal = masks[:, actions.start : actions.stop : actions.step] > 0
            assert (seen[:, :, 0][legal] == 1).all()
            met += legal.sum()
    assert met > 100


def feature(name, view, game):
    one = game.OBSERVATION[name]
    return view[one.slice].reshape(one.shape).astype(int)


def part_features(group, parts):
    """By name, what is seen of a group's parts in one observation, (T, ...)."""
    return {name: parts[:, f.slice].reshape(len(parts), *f.shape).astype(int) for name, f in group.layout.items()}


def slow_leads(strengths, seats, more):
    """By how much each of 4 seats, were it alone `more` stronger, leads the best and the second best of the others."""
    made = np.zeros((4, 2), int)
    for place in range(seats):
        others = sorted(np.delete(strengths[:seats], place), reverse=True)
        made[place] = [strengths[place] + more - other for other in (*others, 0)[:2]]
    return made


def test_a_card_of_magpies_comes_with_what_everybody_has_of_its_colour():
    views = np.concatenate([random_views("magpies", num_players=players)[0] for players in (2, 4)])
    spaces, colours, piles = look("magpies", views)
    for i, view in enumerate(views):
        board, holdings = feature("board", view, magpies), feature("holdings", view, magpies)
        present, unseen = feature("present", view, magpies), feature("unseen", view, magpies).reshape(5, 15)
        seen = part_features(groups_of("magpies")[0], spaces[i])
        assert (seen["there"] == present).all()
        held = np.einsum("sc,pck->spk", board[:, :5] * present[:, None], holdings)
        assert (seen["held"] == held).all()
        assert (seen["shows"] == board[:, 5:] * present[:, None]).all()
        assert (seen["feathers"] == present[:, None] * holdings[:, :, magpies.HELD_FEATHERS].sum(axis=1)).all()
        seats = int(feature("seated", view, magpies).sum())
        strong = 2 * holdings[:, :, magpies.HELD_CARDS] + holdings[:, :, magpies.HELD_LAUREL]
        feathers = holdings[:, :, magpies.HELD_FEATHERS].sum(axis=1)
        for space in np.flatnonzero(present):
            look_of = board[space]
            more = 2 + look_of[magpies.LAUREL]
            assert (seen["lead"][space] == slow_leads(strong[:, look_of[:5].argmax()], seats, more)).all()
            assert (seen["feather_lead"][space] == slow_leads(feathers, seats, look_of[magpies.FEATHER])).all()
        assert (seen["chosen"] == feature("chosen", view, magpies) * present).all()
        of_colour = part_features(groups_of("magpies")[1], colours[i])
        assert (of_colour["held"] == holdings.transpose(1, 0, 2)).all()
        assert (of_colour["unseen"] == unseen).all()
        for colour in np.flatnonzero(of_colour["there"]):
            assert (of_colour["lead"][colour] == slow_leads(strong[:, colour], seats, 0)).all()
        assert (of_colour["raided"] == feature("raided", view, magpies)).all()
        triangles = np.array([t for t, _, _ in dict.fromkeys(magpies.DECK)])
        shares = [100 * int(unseen[:, triangles == t].sum()) // max(1, int(unseen.sum())) for t in range(4)]
        assert part_features(groups_of("magpies")[2], piles[i])["odds"][0].tolist() == shares


def test_the_piles_of_magpies_come_with_how_a_theft_may_go_on():
    views, masks = random_views("magpies")
    thefts = np.flatnonzero(masks[:, magpies.DRAW])
    assert len(thefts) > 50
    piles = look("magpies", views)[2]
    for i in thefts:
        gap, laid = (int(feature(name, views[i], magpies)) for name in ("gap", "laid"))
        unseen = feature("unseen", views[i], magpies)
        each = [t for t, _, _ in dict.fromkeys(magpies.DECK)] * 5
        cards = np.repeat(each, unseen).tolist()
        seen = part_features(groups_of("magpies")[2], piles[i])
        assert seen["laid"][0].tolist() == [k == laid for k in range(8)]
        for name, draws in (("next", [(a,) for a in cards]), ("second", list(itertools.permutations(cards, 2)))):
            ends = [0, 0, 0]
            for drawn in draws:
                left = gap
                for triangles in drawn:
                    if left > 0:
                        left -= 1 + triangles
                ends[0 if left > 0 else 1 if left == 0 else 2] += 1
            if draws:
                assert seen[name][0].tolist() == [100 * one // len(draws) for one in ends]


def slow_slot(view, slot):
    """What there is to say of one Villa card of Cleaners, in words."""
    f = {name: feature(name, view, cleaners) for name in cleaners.OBSERVATION}
    sums, hidden = [0] * 5, [0] * 5
    for owner, value in zip(f["down_owner"][slot], f["known_vice"][slot], strict=True):
        if owner and value:
            sums[owner - 1] += value - 1
        elif owner:
            hidden[owner - 1] += 1
    for owner, value in zip(f["up_owner"][slot], f["up_value"][slot], strict=True):
        if owner:
            sums[owner - 1] += value - 1
    card = f["known_villa"][slot]
    seen = set(f["known_villa"].tolist())
    unseen = [int(v) for k, v in enumerate(f["villa_value"], start=1) if v and k not in seen]
    value = int(f["villa_value"][card - 1]) if card else int(sum(unseen) / max(1, len(unseen)))
    downs, ups = (f["down_owner"][slot] > 0).sum(), (f["up_owner"][slot] > 0).sum()
    on_table = f["where"][slot] == cleaners.ON_TABLE
    return {
        "sums": sums,
        "hidden": hidden,
        "known": int(card > 0),
        "value": value,
        "favourite": int(card > 0 and f["favourite"][card - 1]),
        "special": [int(card > 0 and card == special) for special in f["special"]],
        "takes": [int(on_table and downs <= ups), int(on_table and ups <= downs)],
        "free": int(4 - downs - ups) if on_table else 0,
        "won": int(f["where"][slot] == cleaners.WON),
        "on_top": int(f["where"][slot] == cleaners.ON_TOP),
        "held": [value * int(f["holder"][slot] == k + 1) for k in range(5)],
        "source": f["source"][1 + 2 * slot : 3 + 2 * slot].tolist(),
        "face_up": int(f["face_up"][slot]),
        "down_value": f["known_vice"][slot].tolist(),
        "up_value": f["up_value"][slot].tolist(),
        "old": f["old"][slot].tolist(),
        "seen_villa": f["seen_villa"][:, slot].tolist(),
        "seen_vice": f["seen_vice"][:, slot].tolist(),
        "holder": [int(f["holder"][slot] == k + 1) for k in range(5)],
        "down": [[int(owner == k + 1) for k in range(5)] for owner in f["down_owner"][slot]],
        "up": [[int(owner == k + 1) for k in range(5)] for owner in f["up_owner"][slot]],
    }


@pytest.mark.parametrize("mode", ["base", "detective"])
def test_a_villa_card_of_cleaners_comes_with_whose_vice_cards_lie_there_and_what_they_come_to(mode):
    views, _ = random_views("cleaners", 100, mode=mode, num_players=3)
    [slots] = look("cleaners", views)
    there = 0
    for i in range(0, len(views), 11):
        seen = part_features(groups_of("cleaners")[0], slots[i])
        for slot in range(cleaners.NUM_VILLAS):
            if feature("where", views[i], cleaners)[slot] != cleaners.IN_PILE:
                there += 1
                expected = slow_slot(views[i], slot)
                assert expected.keys() | {"there"} == seen.keys()
                for name, value in expected.items():
                    assert seen[name][slot].tolist() == value, name
            else:
                assert not any(value[slot].any() for value in seen.values())
    assert there > 100
