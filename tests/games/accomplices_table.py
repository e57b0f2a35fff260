"""Accomplices tables for the tests of all games."""

from heist_envs.games import accomplices
from heist_envs.games.accomplices import NO_CARD, NO_CLAIM, NO_SEAT
from tests.planted import allowing, put, scalar, telling
from tests.tables import rule_based, uniform


def random_options(rng):
    def pick(*values):
        return values[rng.integers(len(values))]

    if rng.random() < 0.15:
        return {"preset": pick(*accomplices.PRESETS)}
    n = pick(3, 4, 5, 6)
    options = {"num_players": n, "first_player": pick("random", *range(n))}
    if rng.random() < 0.2:
        return options
    options |= {
        "volunteer_order": pick("simultaneous", "sequential"),
        "alarm_window": pick("sequential", "simultaneous"),
        "wild_needs_real": pick(False, True),
        "reward": pick("win", "score"),
    }
    if rng.random() < 0.3:
        return options
    while True:  # often a deck that runs dry
        places = pick(1, 2, 3, 5)
        keys, loots = pick(0, 1, 2, 3, 6, 12), pick(0, 1, 2, 3, 6, 12)
        skeletons, jackpots, traitors, alarms = (pick(0, 1, 2, 5), pick(0, 1, 2, 5), pick(0, 1, 3, 6), pick(1, 2, 4, 7))
        hand = pick(1, 2, 3, 5, 8)
        cards = places * (keys + loots) + skeletons + jackpots + traitors + alarms
        if places * (keys + loots) + skeletons + jackpots > 0 and n * hand <= cards:
            break
    return options | {
        "num_places": places,
        "keys_per_place": keys,
        "loots_per_place": loots,
        "num_skeleton_keys": skeletons,
        "num_jackpots": jackpots,
        "num_traitors": traitors,
        "num_alarms": alarms,
        "hand_size": hand,
        "target_score": pick(1, 4, 10, 30, 100),
        "max_coups": pick(1, 3, 20, 60),
    }


def referee_options(options):
    preset = options.get("preset")
    given = {name: value for name, value in options.items() if name != "preset"}
    own_cap = preset is not None and "max_coups" not in given
    return (accomplices.PRESETS[preset] if preset else {}) | given | {"cap_terminates": own_cap}


def _seat(seat):
    return None if seat == NO_SEAT else int(seat)


def _card(card):
    return None if card == NO_CARD else int(card)


def _volunteers(state):
    """True and False where it is public who has volunteered, else None."""
    n, phase, leader = int(state.num_players), state.phase, int(state.leader)
    if not accomplices.VOLUNTEERING <= phase <= accomplices.BETRAYING:
        return [None] * n
    flags = [bool(v) for v in state.volunteers[:n]]
    if phase == accomplices.VOLUNTEERING:
        answered = [(leader + k) % n for k in range((state.actor - leader) % n)] if state.open_volunteers else [leader]
        flags = [flag if seat in answered else None for seat, flag in enumerate(flags)]
    return flags


def public(state):
    n = int(state.num_players)
    phase = accomplices.PHASES[state.phase]
    last = None
    if state.last_outcome != accomplices.NO_OUTCOME:
        led, answered = int(state.last_leader_card), _card(state.last_accomplice_card)
        betrayal = state.last_outcome == accomplices.BETRAYAL
        by_leader = led == accomplices.TRAITOR
        last = {
            "leader": int(state.last_leader),
            "claim": int(state.last_claim),
            "volunteers": [bool(v) for v in state.last_volunteers[:n]],
            "accomplice": "pile" if state.last_accomplice == NO_SEAT else int(state.last_accomplice),
            "leader_card": led,
            "accomplice_card": answered,
            "outcome": accomplices.OUTCOMES[state.last_outcome],
            "sounder": _seat(state.last_sounder),
            "traitor": int(state.last_leader if by_leader else state.last_accomplice) if betrayal else None,
            "loot_choice": ("STEAL" if state.last_stolen else "KEEP") if betrayal else None,
            "loot": _card(state.last_loot),
        }
    chosen = phase in ("REVEAL", "ALARM", "BETRAY")
    revealed = state.leader_card != NO_CARD
    return {
        "phase": phase,
        "actor": _seat(state.actor),
        "leader": _seat(state.leader),
        "coups": int(state.coups),
        "max_coups": int(state.max_coups),
        "claim": None if state.claim == NO_CLAIM else int(state.claim),
        "volunteers": _volunteers(state),
        "accomplice": ("pile" if state.accomplice == NO_SEAT else int(state.accomplice)) if chosen else None,
        "revealed": (int(state.leader_card), int(state.accomplice_card)) if revealed else None,
        "alarm_answers": ["PASS" if v else None for v in state.declined[:n]],
        "hideouts": [[int(v) for v in row] for row in state.hideouts[:n]],
        "scores": [int(v) for v in state.scores[:n]],
        "discard": [int(v) for v in state.discard],
        "file": int(state.police_file),
        "num_alarms": int(state.deck[accomplices.ALARM]),
        "pile_size": int(state.pile_size),
        "hand_sizes": [int(v) for v in state.hand_sizes[:n]],
        "reshuffles": int(state.reshuffles),
        "shuffled_in": [int(v) for v in state.shuffled_in],
        "drawn_since": [int(v) for v in state.drawn_since[:n]],
        "last_coup": last,
    }


def private(state, seat):
    hand = state.hand[seat] + (state.drawing if seat == state.drawer else 0)
    answered = state.answer[seat] == accomplices.YES if state.answer[seat] != accomplices.NO_ANSWER else None
    volunteering = state.phase == accomplices.VOLUNTEERING
    return {
        "hand": [card for card in range(accomplices.NUM_TYPES) for _ in range(hand[card])],
        "face_down": _card(state.face_down[seat]),
        "volunteer_answer": {None: None, False: "PASS", True: "LAID"}[answered] if volunteering else None,
        "alarm_answer": None if volunteering else {None: None, False: "PASS", True: "SOUND"}[answered],
    }


def scramble(state, player, rng):
    """Put anything into what a player may not see: others' hands, cards face down, answers and draws, and the pile."""
    for seat in range(state.num_players):
        if seat != player:
            state.hand[seat] = rng.integers(9, size=accomplices.NUM_TYPES)
            state.drawn[seat] = rng.integers(9, size=accomplices.NUM_TYPES)
            state.face_down[seat] = rng.integers(NO_CARD + 1)
            state.answer[seat] = rng.integers(3)
    state.pile[:] = rng.integers(9, size=accomplices.NUM_TYPES)
    state.drawing[:] = rng.integers(9, size=accomplices.NUM_TYPES)


def copies(state, action):
    """How many cards of the acting player's hand an action may mean: those of the type, or the Alarms."""
    if action < accomplices.CLAIM:
        return int(state.hand[state.actor, action])
    return int(state.hand[state.actor, accomplices.ALARM]) if action == accomplices.SOUND else 1


def settled(state, player):
    """Whether `determinize` may leave this state: it may leave any, since everybody sees whenever somebody has chosen."""
    return True


POSTERIORS = [
    {"preset": "tiny"},
    {"preset": "tiny", "volunteer_order": "sequential"},
    {"preset": "small"},
]
"""Tables small enough to enumerate what a player may believe."""

TREES = [
    ({"preset": "tiny"}, (82_992, 674_171, 869_060)),
    ({"preset": "small"}, (87_906, 797_500, 915_104)),
    ({"preset": "micro"}, (3_641, 107_544, 173_520)),
]
"""Options, and information sets, decisions and terminals by section g."""


SMALLEST = {
    "num_players": 3, "num_places": 1, "keys_per_place": 2, "loots_per_place": 1, "num_skeleton_keys": 0,
    "num_jackpots": 0, "num_traitors": 0, "num_alarms": 1, "hand_size": 1, "max_coups": 1,
}  # fmt: skip
"""A table that a slow solver in plain Python walks in seconds."""


A, T = accomplices.ALARM, accomplices.TRAITOR

LEAKS = {
    "the next player's Alarms": put("hand", A, lambda s, p, o: s.hand[o, A]),
    "a hand in the place of an empty seat": put("scores", 5, lambda s, p, o: s.hand[o, 0]),
    "another's card face down": put("face_down", NO_CARD, lambda s, p, o: s.face_down[o] == T),
    "the leader's card before it is revealed": put("leader_card", T, lambda s, p, o: s.face_down[s.leader] == T),
    "whether the leader has lied": scalar("last_stolen", lambda s, p, o: s.claim == s.face_down[s.leader]),
    "who has volunteered before all have answered": put("volunteers", 1, lambda s, p, o: s.face_down[o] != NO_CARD),
    "another's answer": put("answer", 2, lambda s, p, o: s.answer[o] == accomplices.YES),
    "the number of a rejected volunteer's card": put("last_volunteers", 0, lambda s, p, o: s.hand[o].argmax() % 2),
    "how many cards somebody really holds": put("hand_sizes", 1, lambda s, p, o: s.hand[o].sum()),
    "the Traitors in the pile": scalar("target_score", lambda s, p, o: s.pile[T]),
    "whether the pile has an Alarm": put("discard", A, lambda s, p, o: s.pile[A] > 0),
    "what another has drawn since the reshuffle": put("shuffled_in", 0, lambda s, p, o: s.drawn[o].argmax()),
    "a card on its way to a hand": put("discard", 0, lambda s, p, o: s.drawing[0]),
    "the Traitors of all hands together": scalar("police_file", lambda s, p, o: s.hand[:, T].sum()),
    "a mask that knows the pile": allowing(accomplices.TAKE_PILE, lambda s: s.pile[A] == 0),
    "a mask that knows another hand": allowing(accomplices.PASS, lambda s: s.hand[(s.actor + 1) % 3, A] == 0),
    "a mask that knows the leader's card": allowing(accomplices.PASS, lambda s: s.face_down[s.leader] != T),
    "a text that names a hidden hand": telling(lambda s, viewer: f" {s.hand[((viewer or 0) + 1) % s.num_players]}"),
    "a text that lists the pile": telling(lambda s, viewer: f" {s.pile}"),
    "a text that names cards face down": telling(lambda s, viewer: f" {s.face_down[((viewer or 0) + 1) % s.num_players]}"),
}


def _always_fails(table, rng):
    """Lead and volunteer what never fits, and never take the pile."""
    legal = table.legal()
    harmless = [word for word in ("play-a", "play-t", "play-p", *(f"play-k{place}" for place in "abcde")) if word in legal]
    chosen = [word for word in sorted(legal) if word.startswith("choose")]
    return next(iter(harmless + chosen + (["pass"] if "pass" in legal else []) + sorted(legal)))


_EVERY_OPTION = {
    "num_players": 3, "first_player": "random", "volunteer_order": "sequential", "alarm_window": "simultaneous",
    "wild_needs_real": True, "reward": "score", "num_places": 3, "keys_per_place": 3, "loots_per_place": 4,
    "num_skeleton_keys": 4, "num_jackpots": 4, "num_traitors": 2, "num_alarms": 3, "hand_size": 4, "target_score": 14,
}  # fmt: skip

_DRY = {
    "num_players": 6, "num_places": 2, "keys_per_place": 8, "loots_per_place": 8, "num_skeleton_keys": 0, "num_jackpots": 0,
    "num_traitors": 0, "num_alarms": 1, "hand_size": 5, "target_score": 60, "max_coups": 60,
}  # fmt: skip

PLAYTHROUGHS = {
    "ordinary": ("four players by the rules of thumb", {"num_players": 4}, rule_based, 1),
    "dry": ("six players with a deck that runs dry", _DRY, uniform, 3),
    "options": ("every option away from its default", _EVERY_OPTION, uniform, 5),
    "longest": ("coups that always fail, to the cap", {"num_players": 3}, _always_fails, 0),
}
"""What it shows, options, who decides, and the seed."""
