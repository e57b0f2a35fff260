"""Accomplices: a Key and a Loot of one place make a coup, half of it led face down and half of it volunteered.

Numbers such as a.3 (the list below), ACC-12 and h.3 are those of docs/rules/accomplices.md, each where its rule is carried.

Cards: Ka to Ke are the Keys of the places a to e, Ba to Be their Loots (booty); P is a skeleton key and J a jackpot, which
fit every place; T is a Traitor, A an Alarm.

A coup, led by each seat in turn, clockwise:

1. DEAL, before the first coup: five cards each; the rest is the pile.
2. LEAD: the leader lays a card face down.
3. CLAIM: he says what it is and which half is missing. It may be a lie.
4. VOLUNTEER: the others PASS or lay a card face down, all at once.
5. CHOOSE: the leader takes a volunteer or the top of the PILE as accomplice; the other volunteers take their card back.
6. REVEAL: both cards are turned. Key and Loot of one place are a SUCCESS, the Traitor and a Loot a BETRAYAL, all else FAILs.
7. ALARM, at a success: an outsider may SOUND one; both cards are discarded, and the Alarm goes to the police file.
8. A success that nobody spoils: each of the two keeps his own card in his hideout.
9. BETRAY: the Traitor KEEPs the revealed Loot or STEALs one from the other's hideout.
10. The pile as accomplice: a drawn Alarm rings, a Traitor makes the coup fail, and only the leader keeps a card.
11. The hands are filled up again. An empty pile is made anew from the discard.
12. Points of a hideout: 1 a card, 4 two Keys of one place, 7 three Loots of three places; jokers fit anywhere.
13. The game ends with the last Alarm in the file or with ten points in a hideout; most points win.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, wide
from heist_envs.conventions import check_first_player, left_of, reward_scores, reward_winners, seat_of
from heist_envs.games import VERSIONS
from heist_envs.layout import Layout
from heist_envs.options import Option, resolve
from heist_envs.rules import CHANCE, TERMINAL, Record, State, compiled, inlined, register
from heist_envs.scene import ALL_SEEING, GOLD, GREEN, PLAIN, RED, VIOLET, Card, Scene, Zone

# ---------------------------------------------------------------------------------------------------- spec

NAME = "accomplices"
VERSION = VERSIONS[NAME]

MIN_PLAYERS, MAX_PLAYERS = 3, 6
MAX_PLACES = 5
KEY, LOOT, SKELETON, JACKPOT, TRAITOR, ALARM, NO_CARD = 0, 5, 10, 11, 12, 13, 14
"""Types of cards. KEY + l and LOOT + l are those of place l, in 0..4; the skeleton key and the jackpot fit every place."""
NUM_TYPES = 14
NUM_TREASURES = 12
"""The types before the Traitor: what a hideout may hold, and what may be claimed."""
NO_CLAIM = 12
CARD_NAMES = ("Ka", "Kb", "Kc", "Kd", "Ke", "Ba", "Bb", "Bc", "Bd", "Be", "P", "J", "T", "A")
NO_SEAT = -1

PLAY, CLAIM, PASS, SOUND, TAKE_PILE, CHOOSE, KEEP, STEAL = 0, 14, 26, 27, 28, 29, 34, 35
"""Actions. PLAY + type, CLAIM + type, CHOOSE + k for the seat k + 1 to the left, STEAL + l for a Loot of place l."""
STEAL_JACKPOT = STEAL + MAX_PLACES
NUM_ACTIONS = 41
MAX_CHANCE_OUTCOMES = NUM_TYPES
"""Outcomes of chance: the type of the card drawn, the seat for `first_player="random"`."""

PHASES = ("SETUP", "DEAL", "LEAD", "CLAIM", "VOLUNTEER", "CHOOSE", "REVEAL", "ALARM", "BETRAY", "RESOLVE", "OVER")
SETUP, DEAL, LEADING, CLAIMING, VOLUNTEERING, CHOOSING, REVEAL, SOUNDING, BETRAYING, RESOLVE, OVER = range(len(PHASES))

OUTCOMES = ("none", "SUCCESS", "BETRAYAL", "FAIL", "RUNG")  # h.11
NO_OUTCOME, SUCCESS, BETRAYAL, FAIL, RUNG = range(len(OUTCOMES))
NO_ANSWER, NO, YES = range(3)

RANDOM = -1
VOLUNTEER_ORDERS = ALL_AT_ONCE, IN_TURN = ("simultaneous", "sequential")
ALARM_WINDOWS = ("sequential", "simultaneous")
REWARDS = WIN, SCORE = ("win", "score")
MAX_COUNT, MAX_HAND, MAX_TARGET, MAX_COUPS = 12, 8, 100, 1000
MOST_COUNTED = 127
BEST_CARD = 5
"""Most points that one card may bring: the third Loot of a family. So nobody ends more than 4 above the target."""

OPTIONS = {
    "num_players": Option(4, range(MIN_PLAYERS, MAX_PLAYERS + 1), "ACC-1: players, 3 to 6"),
    "first_player": Option(0, ("random", *range(MAX_PLAYERS)), "ACC-3: the seat that leads first, or 'random'"),
    "num_places": Option(5, range(1, MAX_PLACES + 1), "ACC-2: places"),
    "keys_per_place": Option(6, range(MAX_COUNT + 1), "ACC-2: Keys of each place"),
    "loots_per_place": Option(6, range(MAX_COUNT + 1), "ACC-2: Loots of each place"),
    "num_skeleton_keys": Option(3, range(MAX_COUNT + 1), "ACC-2: skeleton keys, Keys of any place"),
    "num_jackpots": Option(3, range(MAX_COUNT + 1), "ACC-2: jackpots, Loots of any place"),
    "num_traitors": Option(6, range(MAX_COUNT + 1), "ACC-2: Traitors"),
    "num_alarms": Option(None, range(1, MAX_COUNT + 1), "h.1: Alarms; None is one per player"),
    "hand_size": Option(5, range(1, MAX_HAND + 1), "cards in a full hand"),
    "target_score": Option(10, range(1, MAX_TARGET + 1), "points in a hideout that end the game"),
    "max_coups": Option(200, range(1, MAX_COUPS + 1), "ACC-28: coups after which the game is cut off"),
    "volunteer_order": Option(ALL_AT_ONCE, VOLUNTEER_ORDERS, "ACC-7: volunteers answer unseen, or in the open one by one"),
    "alarm_window": Option(IN_TURN, ALARM_WINDOWS, "ACC-16: outsiders answer in the open one by one, or unseen"),
    "wild_needs_real": Option(False, (False, True), "ACC-26: a pair or family needs at least one card of its own"),
    "reward": Option(WIN, REWARDS, "win: (n w - 1) / (n - 1); score: h.13, (own score - mean of the others) / scale"),
}

_TINY = {
    "num_players": 3,
    "num_places": 1,
    "keys_per_place": 2,
    "loots_per_place": 2,
    "num_skeleton_keys": 0,
    "num_jackpots": 0,
    "num_traitors": 1,
    "num_alarms": 2,
    "hand_size": 2,
    "target_score": 3,
    "max_coups": 2,
}
PRESETS: dict[str, dict[str, Any]] = {
    "tiny": _TINY,
    "small": {**_TINY, "keys_per_place": 3, "loots_per_place": 3, "num_alarms": 1},
    "micro": {**_TINY, "num_places": 2, "loots_per_place": 1, "num_alarms": 1, "max_coups": 1},
}


_KEYS = (*range(KEY, LOOT), SKELETON)
_LOOTS = (*range(LOOT, SKELETON), JACKPOT)


def _outcome(one: int, other: int) -> int:
    """a.6: what two cards come to, whichever of them was led.

    ACC-11: two Traitors FAIL; ACC-12: so does a Traitor with a Key; ACC-19: an Alarm laid in a coup does not ring.
    """
    for key, loot in ((one, other), (other, one)):
        if loot in _LOOTS and key == TRAITOR:
            return BETRAYAL  # ACC-13: the jackpot included
        if loot in _LOOTS and key in _KEYS and (key == SKELETON or loot == JACKPOT or loot - LOOT == key - KEY):
            return SUCCESS
    return FAIL


OUTCOME = np.array([[_outcome(one, other) for other in range(NUM_TYPES)] for one in range(NUM_TYPES)], np.int8)
"""`OUTCOME[card, card]`. It also says which cards fit a claim: those that would make a success of it."""

# ---------------------------------------------------------------------------------------------------- state

FLAG = np.int8
"""0 or 1: Numba takes no array of bool in a record."""
TYPE = np.uint8
"""One of a few: unsigned, since Numba then knows that an index does not count from the end."""

PUBLIC = [
    # Options, kept by `reset`, and the game.
    ("max_coups", np.int16),
    ("coups", np.int16),
    ("pile_size", np.int16),
    ("reshuffles", np.int16),
    ("drawn_since", np.int16, MAX_PLAYERS),  # h.6: cards drawn to the hand since the last reshuffle
    ("num_places", np.int8),
    ("hand_size", np.int8),
    ("target_score", np.int8),
    ("open_volunteers", FLAG),
    ("hidden_alarms", FLAG),
    ("wild_needs_real", FLAG),
    ("seated", FLAG, MAX_PLAYERS),  # an option: the seats below num_players
    ("deck", np.int8, NUM_TYPES),  # an option
    ("discard", np.int8, NUM_TYPES),
    ("shuffled_in", np.int8, NUM_TYPES),  # at the last reshuffle
    ("police_file", np.int8),
    ("last_stolen", FLAG),
    ("hideouts", np.int8, (MAX_PLAYERS, NUM_TREASURES)),
    ("scores", np.int8, MAX_PLAYERS),
    ("hand_sizes", np.int8, MAX_PLAYERS),  # h.4: as everybody sees them
    # Behaviour of each seat, counted up to MOST_COUNTED.
    ("coups_led", np.int8, MAX_PLAYERS),
    ("true_leads", np.int8, MAX_PLAYERS),
    ("times_chosen", np.int8, MAX_PLAYERS),
    ("junk_shown", np.int8, MAX_PLAYERS),
    ("traitors_shown", np.int8, MAX_PLAYERS),
    ("alarms_sounded", np.int8, MAX_PLAYERS),
    # The coup.
    ("phase", TYPE),
    ("actor", np.int8),  # NO_SEAT where chance is to act
    ("drawer", np.int8),  # the seat whose hand is being filled
    ("on_its_way", np.int8),  # cards that it has drawn, but not taken up
    ("leader", np.int8),
    ("claim", TYPE),
    ("accomplice", np.int8),
    ("leader_card", TYPE),  # once revealed
    ("accomplice_card", TYPE),
    ("volunteers", FLAG, MAX_PLAYERS),
    ("declined", FLAG, MAX_PLAYERS),  # outsiders who let a success pass in the open
    # The last coup (section f), to which last_stolen belongs.
    ("last_volunteers", FLAG, MAX_PLAYERS),
    ("last_leader", np.int8),
    ("last_claim", TYPE),
    ("last_accomplice", np.int8),  # NO_SEAT: the pile
    ("last_leader_card", TYPE),
    ("last_accomplice_card", TYPE),
    ("last_outcome", TYPE),
    ("last_sounder", np.int8),
    ("last_loot", TYPE),  # kept or stolen
    # More options.
    ("num_players", np.int8),
    ("first_player", np.int8),
    ("only_claim", TYPE),
    ("cap_terminates", FLAG),
    ("score_reward", FLAG),
    # What else everybody knows.
    ("truncated", FLAG),
    ("turned", np.int8, NUM_TYPES),  # accomplices from the pile since the last reshuffle
    ("laid", np.int8, (MAX_PLAYERS, NUM_TYPES)),  # shown by a seat that had drawn since then
]
PRIVATE = [
    ("hand", np.int8, (MAX_PLAYERS, NUM_TYPES)),  # without the card that lies face down
    ("face_down", TYPE, MAX_PLAYERS),
    ("answer", TYPE, MAX_PLAYERS),  # NO_ANSWER, NO or YES, while answers come in
    ("drawn", np.int8, (MAX_PLAYERS, NUM_TYPES)),  # since the last reshuffle, and in the refill in which it fell
]
HIDDEN = [
    ("pile", np.int8, NUM_TYPES),
    ("drawing", np.int8, NUM_TYPES),  # drawn in this refill: it comes to the drawer's hand all together
    # Scratch of `determinize`, else zero.
    ("old", np.int8, NUM_TYPES),
    ("slots", np.int8, (MAX_PLAYERS, 2)),
]
STATE = np.dtype((np.record, PUBLIC + PRIVATE + HIDDEN))

# ---------------------------------------------------------------------------------------------------- setup


def new_initial_state(**given: Any) -> NDArray[Any]:
    """A state before the first chance event, as an array of one record: `OPTIONS` by name, and `preset`.

    Raises:
        TypeError: an unknown option.
        ValueError: a value that is not allowed, or values that do not fit together.
    """
    o = resolve(NAME, OPTIONS, PRESETS, given)
    n = o["num_players"]
    check_first_player(o)
    alarms = o["num_alarms"] if o["num_alarms"] is not None else n  # a.1
    states = np.zeros(1, STATE)
    state = states[0]
    for name in ("num_players", "num_places", "hand_size", "target_score", "max_coups", "wild_needs_real"):
        state[name] = o[name]
    state.first_player = RANDOM if o["first_player"] == "random" else o["first_player"]
    state.seated[:n] = True
    state.deck[KEY : KEY + o["num_places"]] = o["keys_per_place"]
    state.deck[LOOT : LOOT + o["num_places"]] = o["loots_per_place"]
    state.deck[SKELETON:] = o["num_skeleton_keys"], o["num_jackpots"], o["num_traitors"], alarms
    claims = np.flatnonzero(state.deck[:NUM_TREASURES])
    state.only_claim = claims[0] if len(claims) == 1 else NO_CLAIM
    state.open_volunteers = o["volunteer_order"] == IN_TURN
    state.hidden_alarms = o["alarm_window"] == "simultaneous"
    state.cap_terminates = "max_coups" not in given and given.get("preset") is not None  # h.1
    state.score_reward = o["reward"] == SCORE
    cards = int(state.deck.sum())
    if cards < n * o["hand_size"]:  # h.1
        raise ValueError(f"got {cards} cards: {n} players with hand_size={o['hand_size']} need {n * o['hand_size']}")
    if len(claims) == 0:
        raise ValueError("got no Key, Loot, skeleton key or jackpot: at least one is needed, to be claimed")
    reset(state)
    return states


@compiled
def reset(state: State) -> None:
    state.coups_led[:] = 0
    state.true_leads[:] = 0
    state.times_chosen[:] = 0
    state.junk_shown[:] = 0
    state.traitors_shown[:] = 0
    state.alarms_sounded[:] = 0
    state.coups = 0
    state.reshuffles = 0
    state.hideouts[:] = 0
    state.scores[:] = 0
    state.discard[:] = 0
    state.police_file = 0
    state.shuffled_in[:] = 0
    state.hand_sizes[:] = 0
    state.hand[:] = 0
    state.face_down[:] = NO_CARD
    state.answer[:] = NO_ANSWER
    state.pile_size = 0
    for card in range(NUM_TYPES):
        state.pile[card] = state.deck[card]
        state.pile_size += state.deck[card]
        state.drawing[card] = 0
    state.truncated = False
    state.last_leader = NO_SEAT
    state.last_claim = NO_CLAIM
    state.last_volunteers[:] = False
    state.last_accomplice = NO_SEAT
    state.last_leader_card = NO_CARD
    state.last_accomplice_card = NO_CARD
    state.last_outcome = NO_OUTCOME
    state.last_sounder = NO_SEAT
    state.last_loot = NO_CARD
    state.last_stolen = False
    _forget_draws(state)
    _clear_coup(state)
    state.leader = state.first_player
    state.actor = NO_SEAT
    state.drawer = 0  # h.5
    state.on_its_way = 0
    state.phase = DEAL
    if state.first_player == RANDOM:  # h.7
        state.drawer = NO_SEAT
        state.phase = SETUP


@compiled
def _forget_draws(state: State) -> None:
    """h.6: what is counted from one reshuffle to the next."""
    state.drawn_since[:] = 0
    state.turned[:] = 0
    state.laid[:] = 0
    state.drawn[:] = 0


@inlined
def _clear_coup(state: State) -> None:
    state.claim = NO_CLAIM
    state.volunteers[:] = False
    state.declined[:] = False
    state.accomplice = NO_SEAT
    state.leader_card = NO_CARD
    state.accomplice_card = NO_CARD


# ---------------------------------------------------------------------------------------------------- turn


@compiled
def current_player(state: State) -> int:
    if state.actor != NO_SEAT:
        return int(state.actor)
    return TERMINAL if state.phase == OVER else CHANCE


@compiled
def chance_outcomes(state: State, weights: NDArray[np.int32]) -> None:
    if state.phase == SETUP:
        for k in range(NUM_TYPES):
            weights[k] = k < state.num_players
    else:
        for card in range(NUM_TYPES):
            weights[card] = state.pile[card]


@compiled
def legal_actions(state: State, mask: NDArray[np.int8]) -> None:
    mask[:] = 0
    player = state.actor
    if state.phase == LEADING or state.phase == VOLUNTEERING:
        for card in range(NUM_TYPES):
            mask[PLAY + card] = state.hand[player, card] > 0
        mask[PASS] = state.phase == VOLUNTEERING  # ACC-6: a leader must lead; ACC-8: a volunteer says nothing
    elif state.phase == CLAIMING:  # ACC-4, ACC-5: any half that the deck has, held or not
        for card in range(NUM_TREASURES):
            mask[CLAIM + card] = state.deck[card] > 0
    elif state.phase == CHOOSING:
        for k in range(state.num_players - 1):
            mask[CHOOSE + k] = state.volunteers[seat_of(state, state.leader + 1 + k)]
        mask[TAKE_PILE] = not _is_dry(state)  # ACC-9, ACC-24
    elif state.phase == SOUNDING:
        mask[PASS] = 1
        mask[SOUND] = state.hand[player, ALARM] > 0
    elif state.phase == BETRAYING:
        mask[KEEP] = 1
        for place in range(MAX_PLACES):  # ACC-13; h.10: also the type that was just revealed
            mask[STEAL + place] = state.hideouts[_partner(state), LOOT + place] > 0
        mask[STEAL_JACKPOT] = state.hideouts[_partner(state), JACKPOT] > 0


@compiled
def apply_action(state: State, action: int) -> None:
    if state.phase == LEADING:
        _lead(state, action)
    elif state.phase == CLAIMING:
        _claim(state, action)
    elif state.phase == VOLUNTEERING:
        _answer_volunteering(state, action)
    elif state.phase == CHOOSING:
        _choose(state, action)
    elif state.phase == REVEAL:
        state.pile[action] -= 1
        state.pile_size -= 1
        _reveal(state, action)
    elif state.phase == SOUNDING:
        _answer_alarm(state, action)
    elif state.phase == BETRAYING:
        _betray(state, action)
    elif state.phase == SETUP:
        state.leader = action
        state.phase = DEAL
        state.drawer = 0
    else:
        _draw(state, action)


@inlined
def _lay_face_down(state: State, player: int, card: int) -> None:
    state.hand[player, card] -= 1
    state.face_down[player] = card


@inlined
def _lead(state: State, card: int) -> None:
    """a.2. h.10: a claim that is the only one is made at once."""
    _lay_face_down(state, state.actor, card)
    state.phase = CLAIMING
    if state.only_claim != NO_CLAIM:
        _claim(state, CLAIM + state.only_claim)


@inlined
def _claim(state: State, action: int) -> None:
    """a.3"""
    state.claim = action - CLAIM
    state.phase = VOLUNTEERING
    state.actor = left_of(state, state.leader)  # h.3


@inlined
def _answer_volunteering(state: State, action: int) -> None:
    """a.4. ACC-7: in the open or unseen; h.3: who has nothing to lay is asked too."""
    player = state.actor
    state.answer[player] = NO
    if action != PASS:
        _lay_face_down(state, player, action)
        state.answer[player] = YES
        if state.open_volunteers:
            state.volunteers[player] = True
    state.actor = left_of(state, player)
    if state.actor == state.leader:
        _close_volunteering(state)


@inlined
def _close_volunteering(state: State) -> None:
    """h.4: now the cards on the table count as laid."""
    leader = state.leader
    volunteers = volunteer = 0
    for seat in range(state.num_players):
        state.volunteers[seat] = state.answer[seat] == YES
        state.hand_sizes[seat] -= state.answer[seat] == YES
        state.answer[seat] = NO_ANSWER
        if state.volunteers[seat]:
            volunteers += 1
            volunteer = seat
    state.hand_sizes[leader] -= 1
    if volunteers == 0:
        _take_pile(state)
    elif volunteers == 1 and _is_dry(state):
        _take_volunteer(state, volunteer)
    else:
        state.phase = CHOOSING


@inlined
def _choose(state: State, action: int) -> None:
    """a.5"""
    if action == TAKE_PILE:
        _take_pile(state)
    else:
        _take_volunteer(state, seat_of(state, state.leader + 1 + action - CHOOSE))


@compiled
def _take_volunteer(state: State, accomplice: int) -> None:
    state.accomplice = accomplice
    _take_cards_back(state)
    card = state.face_down[accomplice]
    state.face_down[accomplice] = NO_CARD
    _reveal(state, card)


@compiled
def _take_pile(state: State) -> None:
    """a.10. ACC-24, h.8: without a card to turn the coup fails."""
    _take_cards_back(state)
    if _has_card(state):
        state.phase = REVEAL
        state.actor = NO_SEAT
    else:
        _reveal(state, NO_CARD)


@inlined
def _take_cards_back(state: State) -> None:
    """ACC-10: unseen."""
    for seat in range(state.num_players):
        if state.volunteers[seat] and seat != state.accomplice:
            state.hand[seat, state.face_down[seat]] += 1
            state.hand_sizes[seat] += 1
            state.face_down[seat] = NO_CARD


@inlined
def _show(state: State, seat: int, card: int) -> None:
    """For `determinize`: before a seat has drawn from the new pile, what it shows is an old card."""
    if state.drawn_since[seat] > 0:
        state.laid[seat, card] += 1


@compiled
def _reveal(state: State, card: int) -> None:
    """a.6: the leader's card and the accomplice's are turned."""
    leader, accomplice = state.leader, state.accomplice
    led = state.face_down[leader]
    state.face_down[leader] = NO_CARD
    state.leader_card = led
    state.accomplice_card = card
    _show(state, leader, led)
    outcome = FAIL if card == NO_CARD else int(OUTCOME[led, card])
    if accomplice != NO_SEAT:
        _show(state, accomplice, card)
    elif card != NO_CARD:  # a.10
        state.turned[card] += 1
        if card == ALARM:
            outcome = RUNG  # ACC-20: whatever was led
        elif outcome == BETRAYAL:
            outcome = FAIL
    if outcome == SUCCESS:  # ACC-17: also with the pile as accomplice
        state.phase = SOUNDING
        state.actor = leader
        _ask_next_outsider(state)
    elif outcome == BETRAYAL:  # ACC-15: the Traitor may be either of the two
        state.actor = leader if led == TRAITOR else accomplice
        if _has_loot(state, _partner(state)):
            state.phase = BETRAYING
        else:  # ACC-14, h.10
            _betray(state, KEEP)
    elif outcome == RUNG:
        state.police_file += 1
        state.discard[led] += 1
        _end_coup(state, RUNG, NO_SEAT, NO_CARD, False)
    else:  # ACC-18: nobody is asked for an Alarm
        _discard_both(state)
        _end_coup(state, FAIL, NO_SEAT, NO_CARD, False)


@inlined
def _discard_both(state: State) -> None:
    state.discard[state.leader_card] += 1
    if state.accomplice_card != NO_CARD:
        state.discard[state.accomplice_card] += 1


@inlined
def _ask_next_outsider(state: State) -> None:
    """h.3: clockwise from the leader's left; the leader himself when all have been asked."""
    state.actor = left_of(state, state.actor)
    if state.actor == state.accomplice:
        state.actor = left_of(state, state.actor)


@inlined
def _answer_alarm(state: State, action: int) -> None:
    """a.7. ACC-16, h.3: one after another until one sounds; or all unseen, and the nearest to the leader's left pays."""
    player = state.actor
    sounder = NO_SEAT
    if state.hidden_alarms:
        state.answer[player] = YES if action == SOUND else NO
    elif action == SOUND:
        sounder = player
    else:
        state.declined[player] = True
    _ask_next_outsider(state)
    if state.actor != state.leader and sounder == NO_SEAT:
        return
    for k in range(state.num_players - 1, 0, -1):
        seat = seat_of(state, state.leader + k)
        if state.answer[seat] == YES:
            sounder = seat
        state.answer[seat] = NO_ANSWER
    if sounder == NO_SEAT:
        _keep_both(state)
        return
    state.hand[sounder, ALARM] -= 1
    state.hand_sizes[sounder] -= 1
    _show(state, sounder, ALARM)
    state.police_file += 1
    _discard_both(state)
    _end_coup(state, SUCCESS, sounder, NO_CARD, False)


@inlined
def _keep_both(state: State) -> None:
    """a.8, a.10"""
    _put_in_hideout(state, state.leader, state.leader_card)
    if state.accomplice != NO_SEAT:
        _put_in_hideout(state, state.accomplice, state.accomplice_card)
    else:
        state.discard[state.accomplice_card] += 1
    _end_coup(state, SUCCESS, NO_SEAT, NO_CARD, False)


@inlined
def _put_in_hideout(state: State, seat: int, card: int) -> None:
    state.hideouts[seat, card] += 1
    state.scores[seat] = points(state, seat)


@inlined
def _partner(state: State) -> int:
    """The other of leader and accomplice than the one who is asked."""
    return state.accomplice if state.actor == state.leader else state.leader


@inlined
def _has_loot(state: State, seat: int) -> bool:
    loots = state.hideouts[seat, JACKPOT]
    for place in range(MAX_PLACES):
        loots += state.hideouts[seat, LOOT + place]
    return bool(loots > 0)


@compiled
def _betray(state: State, action: int) -> None:
    """a.9"""
    traitor, victim = state.actor, _partner(state)
    revealed = state.accomplice_card if state.leader_card == TRAITOR else state.leader_card
    loot = revealed
    state.discard[TRAITOR] += 1
    if action != KEEP:
        loot = JACKPOT if action == STEAL_JACKPOT else LOOT + action - STEAL
        state.hideouts[victim, loot] -= 1
        state.scores[victim] = points(state, victim)
        state.discard[revealed] += 1
    _put_in_hideout(state, traitor, loot)
    _end_coup(state, BETRAYAL, NO_SEAT, loot, action != KEEP)


# ---------------------------------------------------------------------------------------------------- end


@compiled
def points(state: State, seat: int) -> int:
    """a.12: the value of a hideout when its cards are grouped as well as can be.

    ACC-25: a joker in no group is one point, ACC-26: a group may be of jokers alone. h.12: unless `wild_needs_real`.
    """
    jokers, jackpots = int(state.hideouts[seat, SKELETON]), int(state.hideouts[seat, JACKPOT])
    cards = jokers + jackpots
    pairs = odd = loots = 0
    for place in range(MAX_PLACES):
        keys, here = int(state.hideouts[seat, KEY + place]), int(state.hideouts[seat, LOOT + place])
        cards += keys + here
        pairs += keys // 2
        odd += keys % 2
        loots += here
    joined = min(jokers, odd)
    among_jokers = (jokers - joined) // 2
    if state.wild_needs_real:  # two jokers part a pair of Keys into two
        among_jokers = min(among_jokers, pairs)
    pairs += joined + among_jokers
    most = 0
    if state.num_places >= 3:
        most = (loots + jackpots) // 3
        if state.wild_needs_real:
            most = min(most, loots)
    families = 0
    while families < most and _loots_in(state, seat, families + 1) + jackpots >= 3 * (families + 1):
        families += 1
    return cards + 2 * pairs + 4 * families


@inlined
def _loots_in(state: State, seat: int, families: int) -> int:
    """How many Loots of a hideout may lie in so many families: at most one of each place in each."""
    loots = 0
    for place in range(MAX_PLACES):
        loots += min(int(state.hideouts[seat, LOOT + place]), families)
    return loots


@compiled
def _end_coup(state: State, outcome: int, sounder: int, loot: int, stolen: bool) -> None:
    """h.11: the coup becomes the last one. ACC-22, h.2: then the ends are checked: file, target, cap."""
    _count_behaviour(state, sounder)
    state.last_leader = state.leader
    state.last_claim = state.claim
    for seat in range(MAX_PLAYERS):
        state.last_volunteers[seat] = state.volunteers[seat]
    state.last_accomplice = state.accomplice
    state.last_leader_card = state.leader_card
    state.last_accomplice_card = state.accomplice_card
    state.last_outcome = outcome
    state.last_sounder = sounder
    state.last_loot = loot
    state.last_stolen = stolen
    _clear_coup(state)
    state.coups += 1
    state.actor = NO_SEAT
    state.phase = OVER
    if state.police_file == state.deck[ALARM]:  # a.13, ACC-21
        return
    for seat in range(state.num_players):
        if state.scores[seat] >= state.target_score:
            return
    if state.coups == state.max_coups:  # ACC-28
        state.truncated = not state.cap_terminates
        return
    state.phase = RESOLVE
    state.drawer = state.leader
    _fill_hands(state)


@inlined
def _count_behaviour(state: State, sounder: int) -> None:
    """Public memory of section f. Junk is an accomplice's card that neither fits the claim nor is a Traitor."""
    leader, accomplice = state.leader, state.accomplice
    led, answered = state.leader_card, state.accomplice_card
    _count(state.coups_led, leader, True)
    _count(state.true_leads, leader, led == state.claim)
    _count(state.traitors_shown, leader, led == TRAITOR)
    if accomplice != NO_SEAT:
        _count(state.times_chosen, accomplice, True)
        _count(state.traitors_shown, accomplice, answered == TRAITOR)
        _count(state.junk_shown, accomplice, answered != TRAITOR and OUTCOME[state.claim, answered] != SUCCESS)
    if sounder != NO_SEAT:
        _count(state.alarms_sounded, sounder, True)


@inlined
def _count(counts: NDArray[np.int8], seat: int, happened: bool) -> None:
    counts[seat] += happened and counts[seat] < MOST_COUNTED


@inlined
def _is_dry(state: State) -> bool:
    """Whether pile and discard are both empty."""
    if state.pile_size > 0:
        return False
    for card in range(NUM_TYPES):
        if state.discard[card] > 0:
            return False
    return True


@inlined
def _has_card(state: State) -> bool:
    """Whether the pile has a card to draw. a.11, ACC-24: an empty one is made anew from the discard."""
    if state.pile_size > 0:
        return True
    if _is_dry(state):
        return False
    _reshuffle(state)
    return True


@compiled
def _reshuffle(state: State) -> None:
    """ACC-23: only when a card is needed."""
    for card in range(NUM_TYPES):
        state.pile[card] = state.shuffled_in[card] = state.discard[card]
        state.pile_size += state.discard[card]
        state.discard[card] = 0
    state.reshuffles += 1
    _forget_draws(state)


@inlined
def _draw(state: State, card: int) -> None:
    """a.11. h.5: what a seat draws is one event, also when a reshuffle falls into it."""
    seat = state.drawer
    state.pile[card] -= 1
    state.pile_size -= 1
    state.hand_sizes[seat] += 1
    state.drawn_since[seat] += state.reshuffles > 0
    if state.hand_sizes[seat] < state.hand_size and _has_card(state):
        state.drawing[card] += 1
        state.on_its_way += 1
        return
    _take_up(state, seat, card, 1)
    if state.on_its_way > 0:
        for waiting in range(NUM_TYPES):
            _take_up(state, seat, waiting, state.drawing[waiting])
            state.drawing[waiting] = 0
        state.on_its_way = 0
    state.drawer = left_of(state, seat)
    if state.drawer == _first_drawer(state):
        _begin_coup(state)
    else:
        _fill_hands(state)


@inlined
def _take_up(state: State, seat: int, card: int, number: int) -> None:
    state.hand[seat, card] += number
    if state.reshuffles > 0:
        state.drawn[seat, card] += number


@inlined
def _first_drawer(state: State) -> int:
    """h.5: hands are dealt from seat 0, and filled up from the leader."""
    return 0 if state.phase == DEAL else int(state.leader)


@inlined
def _fill_hands(state: State) -> None:
    """From the drawer clockwise, find a hand that is not full; where none is, or no card is left, the next coup begins."""
    while state.hand_sizes[state.drawer] >= state.hand_size or not _has_card(state):
        state.drawer = left_of(state, state.drawer)
        if state.drawer == _first_drawer(state):
            _begin_coup(state)
            return


@inlined
def _begin_coup(state: State) -> None:
    """ACC-3: clockwise. h.9: a seat without a card is passed over, which is no coup."""
    leader = state.leader if state.phase == DEAL else left_of(state, state.leader)
    while state.hand_sizes[leader] == 0:
        leader = left_of(state, leader)
    state.leader = state.actor = leader
    state.drawer = NO_SEAT
    state.phase = LEADING


@compiled
def score(state: State, player: int) -> int:
    return int(state.scores[player])


@compiled
def is_truncated(state: State) -> bool:
    return bool(state.truncated)


@inlined
def _keys(state: State, seat: int) -> int:
    """ACC-27: skeleton keys count."""
    keys = int(state.hideouts[seat, SKELETON])
    for place in range(MAX_PLACES):
        keys += int(state.hideouts[seat, KEY + place])
    return keys


@compiled
def returns(state: State, payoffs: NDArray[np.float32]) -> None:
    """a.13: most points, then most Keys, then a shared victory."""
    for seat in range(state.num_players):
        payoffs[seat] = int(state.scores[seat])
        if not state.score_reward:
            payoffs[seat] = 1000 * int(state.scores[seat]) + _keys(state, seat)
    if state.score_reward:
        reward_scores(payoffs, max(14, int(state.target_score) + 4))  # h.13
    else:
        reward_winners(payoffs)


# ---------------------------------------------------------------------------------------------------- eyes

_SEATS = (MAX_PLAYERS,)
_TYPES = (NUM_TYPES,)
_ONE_CARD = (NUM_TYPES + 1,)
_PAIRS = (MAX_PLAYERS, 2)
_COUNT = "as (x % 128, x // 128)"
_BY_TYPE = "by type: Ka-Ke, Ba-Be, P, J, T, A"

OBSERVATION = Layout(
    ("hand", _TYPES, 0, MAX_COUNT, 2, f"own hand, without the card laid face down, {_BY_TYPE}"),
    ("phase", (len(PHASES),), 0, 1, 1, "phase, one-hot: " + ", ".join(PHASES)),
    ("claim", (NUM_TREASURES + 1,), 0, 1, 1, "what the leader says he has led, one-hot: Ka-Ke, Ba-Be, P, J, none"),
    ("leader_card", _ONE_CARD, 0, 1, 1, "the leader's card once revealed, one-hot by type, or none"),
    ("accomplice_card", _ONE_CARD, 0, 1, 1, "the accomplice's card once revealed, one-hot by type, or none"),
    ("face_down", _ONE_CARD, 0, 1, 1, "own card that lies face down, one-hot by type, or none"),
    ("answer", (3,), 0, 1, 1, "own answer while others are still asked, one-hot: none, PASS, a card or SOUND"),
    ("actor", _SEATS, 0, 1, 1, "who is asked"),
    ("leader", _SEATS, 0, 1, 1, "who leads the coup"),
    ("accomplice", _SEATS, 0, 1, 1, "who was chosen; nobody is the pile from REVEAL on"),
    ("last_leader", _SEATS, 0, 1, 1, "last coup: who led"),
    ("last_accomplice", _SEATS, 0, 1, 1, "last coup: who was chosen; nobody is the pile"),
    ("last_sounder", _SEATS, 0, 1, 1, "last coup: whose Alarm spoiled it"),
    ("last_claim", (NUM_TREASURES + 1,), 0, 1, 1, "last coup: his claim"),
    ("last_leader_card", _ONE_CARD, 0, 1, 1, "last coup: the leader's card"),
    ("last_accomplice_card", _ONE_CARD, 0, 1, 1, "last coup: the accomplice's card"),
    ("last_outcome", (len(OUTCOMES),), 0, 1, 1, "last coup, one-hot: " + ", ".join(OUTCOMES)),
    ("last_loot", _ONE_CARD, 0, 1, 1, "last coup: the Loot that a Traitor kept or stole"),
    ("max_coups", (2,), 0, 127, 100, f"the cap, {_COUNT}"),
    ("coups", (2,), 0, 127, 20, f"completed coups, {_COUNT}"),
    ("pile_size", (2,), 0, 127, 60, f"cards left to draw, {_COUNT}"),
    ("reshuffles", (2,), 0, 127, 2, f"how often the discard became the pile, {_COUNT}"),
    ("num_places", (), 0, MAX_PLACES, 5, "places"),
    ("hand_size", (), 0, MAX_HAND, 5, "cards in a full hand"),
    ("target_score", (), 0, MAX_TARGET, 10, "points that end the game"),
    ("open_volunteers", (), 0, 1, 1, "volunteers answer in turn, in the open"),
    ("hidden_alarms", (), 0, 1, 1, "outsiders answer unseen"),
    ("wild_needs_real", (), 0, 1, 1, "a pair or family needs a card of its own"),
    ("seated", _SEATS, 0, 1, 1, "seats in the game; all features by seat start with the observer and go clockwise"),
    ("deck", _TYPES, 0, MAX_COUNT, 6, f"all cards of the game, {_BY_TYPE}"),
    ("discard", _TYPES, 0, MAX_COUNT, 4, f"the discard, {_BY_TYPE}"),
    ("shuffled_in", _TYPES, 0, MAX_COUNT, 4, f"what became the pile at the last reshuffle, {_BY_TYPE}"),
    ("police_file", (), 0, MAX_COUNT, 4, "Alarms in the police file"),
    ("last_stolen", (), 0, 1, 1, "last coup: it was stolen from the other's hideout"),
    ("hideouts", (MAX_PLAYERS, NUM_TREASURES), 0, MAX_COUNT, 2, "hideouts by seat and type: Ka-Ke, Ba-Be, P, J"),
    ("volunteers", _SEATS, 0, 1, 1, "who has volunteered, once all have answered"),
    ("declined", _SEATS, 0, 1, 1, "outsiders who let this success pass in the open"),
    ("last_volunteers", _SEATS, 0, 1, 1, "last coup: who volunteered"),
    ("scores", _SEATS, 0, MAX_TARGET + BEST_CARD - 1, 10, "points by seat"),
    ("hand_sizes", _SEATS, 0, MAX_HAND, 5, "cards in hand; those laid count until all volunteers have answered"),
    ("drawn_since", _PAIRS, 0, 127, 10, f"cards drawn to the hand since then by seat, {_COUNT}"),
    ("coups_led", _SEATS, 0, MOST_COUNTED, 10, "coups led by seat"),
    ("true_leads", _SEATS, 0, MOST_COUNTED, 10, "those in which the card was the one claimed"),
    ("times_chosen", _SEATS, 0, MOST_COUNTED, 10, "times chosen as accomplice by seat"),
    ("junk_shown", _SEATS, 0, MOST_COUNTED, 10, "those with a card that did not fit the claim and was no Traitor"),
    ("traitors_shown", _SEATS, 0, MOST_COUNTED, 10, "Traitors revealed as leader or accomplice by seat"),
    ("alarms_sounded", _SEATS, 0, MOST_COUNTED, 10, "Alarms sounded by seat"),
)


@compiled
def observe(state: State, player: int, seen: Record) -> None:
    wide.clear(seen)
    wide.own(state, player, seen, "hand")
    wide.mark(state, player, seen, "actor leader accomplice last_leader last_accomplice last_sounder")
    wide.copy(state, seen, "max_coups coups pile_size reshuffles")
    wide.copy(state, seen, "num_places hand_size target_score open_volunteers hidden_alarms wild_needs_real")
    wide.copy(state, seen, "seated deck discard shuffled_in police_file last_stolen")
    wide.turn(state, player, seen, "hideouts volunteers declined last_volunteers scores hand_sizes")
    wide.turn(state, player, seen, "drawn_since coups_led true_leads times_chosen junk_shown traitors_shown alarms_sounded")
    seen.face_down[state.face_down[player]] = 1
    seen.answer[state.answer[player]] = 1
    seen.phase[state.phase] = 1
    seen.claim[state.claim] = 1
    seen.leader_card[state.leader_card] = 1
    seen.accomplice_card[state.accomplice_card] = 1
    seen.last_claim[state.last_claim] = 1
    seen.last_leader_card[state.last_leader_card] = 1
    seen.last_accomplice_card[state.last_accomplice_card] = 1
    seen.last_outcome[state.last_outcome] = 1
    seen.last_loot[state.last_loot] = 1


OLD, FRESH = 0, 1
"""Cards that were dealt before the last reshuffle, and cards that were in the pile which it made."""
CORRECTED_TRIES, MAX_TRIES = 300, 1000


@compiled
def determinize(state: State, player: int, stream: Record) -> None:
    """Deal anew what the player has not seen, all arrangements of the cards alike likely that fit what he knows.

    A card face down is any card of its owner's hand; a hidden answer is PASS or any card, and PASS or SOUND of one who
    holds an Alarm. After a reshuffle the pile, and what was drawn from it, is what was shuffled in. Of a card that a seat
    has shown since it may be unknown whether it was an old or a fresh one: it is drawn which, in proportion to the
    arrangements, exactly for a few cards. Approximate are: many such cards (drawn one after another, without `_part`'s
    correction), when a seat with fresh cards showed them, and what was known before the last reshuffle about who held which
    old card.
    """
    state.drawing[:] = 0
    tries = 0
    while not _part(state, player, stream, tries):
        tries += 1
    for seat in range(state.num_players):
        waiting = int(state.on_its_way) if seat == state.drawer else 0
        if seat != player:
            state.hand[seat] = 0
        for age in (FRESH, OLD):
            for _ in range(state.slots[seat, age]):
                card = _take(stream, state.pile if age == FRESH else state.old)
                if waiting > 0:
                    state.drawing[card] += 1
                    waiting -= 1
                else:
                    state.hand[seat, card] += 1
                    state.drawn[seat, card] += age == FRESH and state.reshuffles > 0
        if seat != player:
            _answer_anew(state, seat, stream)
    state.slots[:] = 0


@compiled
def _part(state: State, player: int, stream: Record, tries: int) -> bool:
    """Part the unseen cards into `old` ones and the fresh ones of the `pile`, and count the `slots` for each in each hand.

    The cards that a seat has shown, or the player drawn himself, are taken out one by one, each from one of the two by the
    number of arrangements. With several that may be either this is made exact by rejection: False asks for another try.
    After `CORRECTED_TRIES` any one is good, and after `MAX_TRIES`, which no game has been seen to need, age is ignored.
    """
    shuffled = state.reshuffles > 0 and tries < MAX_TRIES
    olds = freshs = 0
    for card in range(NUM_TYPES):
        both = _unseen(state, player, card)
        fresh = both
        if shuffled:
            for seat in range(state.num_players):
                both += _shown(state, player, seat, card)
            fresh = int(state.shuffled_in[card]) - int(state.turned[card])
        if fresh < 0 or fresh > both:
            return False
        state.pile[card] = fresh
        state.old[card] = both - fresh
        freshs += fresh
        olds += both - fresh
    for seat in range(state.num_players):
        cards = _hidden_cards(state, player, seat)
        fresh = cards
        if shuffled:
            for card in range(NUM_TYPES):
                cards += _shown(state, player, seat, card)
            fresh = int(state.drawn_since[seat])
        if fresh < 0 or fresh > cards:
            return False
        state.slots[seat, FRESH] = fresh
        state.slots[seat, OLD] = cards - fresh
        if seat != player:
            state.drawn[seat] = 0
    if not shuffled:
        return True
    likelihood = 1.0
    smaller = 0
    for mixed in range(2):  # first the seats whose hidden cards are all of one age: they say the same in every try
        for seat in range(state.num_players):
            if (state.slots[seat, OLD] > 0 and state.slots[seat, FRESH] > 0) != mixed:
                continue
            for card in range(NUM_TYPES):
                for _ in range(_shown(state, player, seat, card)):
                    old, fresh = int(state.old[card]), int(state.pile[card])
                    old_slots, fresh_slots = int(state.slots[seat, OLD]), int(state.slots[seat, FRESH])
                    from_old, from_fresh = old_slots * old * max(1, freshs), fresh_slots * fresh * max(1, olds)
                    if from_old + from_fresh == 0:
                        return False
                    if mixed == 1:
                        most = (old_slots + fresh_slots) * (old + fresh) * max(1, olds) * max(1, freshs)
                        likelihood *= (from_old + from_fresh) * max(1, smaller) / most
                        smaller -= 1
                    if chance.below(stream, from_old + from_fresh) < from_old:
                        state.slots[seat, OLD] -= 1
                        state.old[card] -= 1
                        olds -= 1
                    else:
                        state.slots[seat, FRESH] -= 1
                        state.pile[card] -= 1
                        freshs -= 1
                        if seat != player:
                            state.drawn[seat, card] += 1
        smaller = min(olds, freshs)
    return tries >= CORRECTED_TRIES or chance.below(stream, 1 << 30) < likelihood * (1 << 30)


@inlined
def _unseen(state: State, player: int, card: int) -> int:
    """How many cards of a type a player does not see: they are in other hands, face down or in the pile."""
    seen = int(state.discard[card]) + state.hand[player, card]
    seen += (state.face_down[player] == card) + (state.leader_card == card) + (state.accomplice_card == card)
    if card < NUM_TREASURES:
        for seat in range(state.num_players):
            seen += state.hideouts[seat, card]
    elif card == ALARM:
        seen += state.police_file
    return int(state.deck[card] - seen)


@inlined
def _shown(state: State, player: int, seat: int, card: int) -> int:
    """Cards of a seat whose age may be unknown to the player though he has seen them."""
    return int(state.drawn[seat, card] if seat == player else state.laid[seat, card])


@inlined
def _hidden_cards(state: State, player: int, seat: int) -> int:
    """How many cards of a seat the player does not see."""
    if seat == player:
        return int(state.on_its_way) if seat == state.drawer else 0
    counts_as_laid = state.phase >= CHOOSING and lies_face_down(state, seat)  # h.4
    return int(state.hand_sizes[seat]) + (1 if counts_as_laid else 0)


@inlined
def lies_face_down(state: State, seat: int) -> bool:
    """Whether everybody knows that a seat has a card face down."""
    if seat == state.leader:
        return bool(CLAIMING <= state.phase <= REVEAL)
    return bool(state.volunteers[seat] and state.phase <= CHOOSING)


@inlined
def _take(stream: Record, counts: NDArray[np.int8]) -> int:
    """A card out of a heap, all alike likely."""
    cards = 0
    for count in counts:
        cards += int(count)
    skip = chance.below(stream, cards)
    card = 0
    while skip >= counts[card]:
        skip -= counts[card]
        card += 1
    counts[card] -= 1
    return card


@inlined
def _answer_anew(state: State, seat: int, stream: Record) -> None:
    answered = state.answer[seat] != NO_ANSWER
    state.face_down[seat] = NO_CARD
    if state.phase == SOUNDING and answered:
        sounds = state.hand[seat, ALARM] > 0 and chance.below(stream, 2) == 0
        state.answer[seat] = YES if sounds else NO
    elif lies_face_down(state, seat):
        state.face_down[seat] = _take(stream, state.hand[seat])
    elif answered and not state.open_volunteers:
        lays = chance.below(stream, state.hand_sizes[seat] + 1) > 0
        state.answer[seat] = YES if lays else NO
        if lays:
            state.face_down[seat] = _take(stream, state.hand[seat])


# ---------------------------------------------------------------------------------------------------- words

ACTION_NAMES = (  # section f; ACC-29: nothing else may be said
    *(f"PLAY {card}" for card in CARD_NAMES), *(f"CLAIM {card}" for card in CARD_NAMES[:NUM_TREASURES]),
    "PASS", "SOUND", "TAKE PILE", "CHOOSE +1", "CHOOSE +2", "CHOOSE +3", "CHOOSE +4", "CHOOSE +5", "KEEP",
    "STEAL Ba", "STEAL Bb", "STEAL Bc", "STEAL Bd", "STEAL Be", "STEAL J",
)  # fmt: skip

FRENCH = {
    "Accomplices": "Complices", "coup": "coup", "table": "table", "pile": "pioche", "discard": "défausse",
    "Discard": "Défausse", "file": "dossier", "hideout": "Planque", "hand": "main", "in hand": "en main", "points": "points",
    "accomplice": "complice", "Key": "Clé", "Keys": "Clés", "Loot": "Butin", "Loots": "Butins", "Traitor": "Traître",
    "Alarm": "Alarme", "Alarms": "Alarmes", "P": "Passe-partout", "J": "Pactole", "T": "Traître", "A": "Alarme",
    **{f"K{place}": f"Clé {place}" for place in "abcde"}, **{f"B{place}": f"Butin {place}" for place in "abcde"},
    "PLAY": "POSER", "CLAIM": "ANNONCER", "PASS": "PASSER", "SOUND": "SONNER", "TAKE PILE": "PRENDRE LA PIOCHE",
    "CHOOSE": "CHOISIR", "KEEP": "RANGER", "STEAL": "VOLER", "SETUP": "MISE EN PLACE", "DEAL": "DISTRIBUTION",
    "LEAD": "MENER", "VOLUNTEER": "VOLONTAIRES", "REVEAL": "RÉVÉLATION", "ALARM": "ALARME", "BETRAY": "TRAHIR",
    "RESOLVE": "COMPLÉTER LES MAINS", "OVER": "FIN", "SUCCESS": "COUP RÉUSSI", "BETRAYAL": "TRAHISON", "FAIL": "COUP RATÉ",
    "RUNG": "ALARME SONNÉE",
}  # fmt: skip
"""The game's own words in French, in the terms of the source text."""
FRENCH_MARKS = {
    "led": "menée", "given": "du complice", "laid": "posée", "from the pile": "de la pioche", "leads": "mène",
    "claims": "annonce", "volunteers": "volontaire", "lets it pass": "laisse passer", "says": "dit", "no": "non",
    "yes": "oui", "of": "sur", "discarded": "défaussées",
}  # fmt: skip
"""What pictures say beside them."""

_FLAGS = [
    "cap_terminates", "open_volunteers", "hidden_alarms", "wild_needs_real", "score_reward", "truncated", "volunteers",
    "declined", "last_volunteers", "last_stolen",
]  # fmt: skip
_COUNTERS = ["coups_led", "true_leads", "times_chosen", "junk_shown", "traitors_shown", "alarms_sounded"]
_BY_SEAT = [
    "drawn_since", *_COUNTERS, "hideouts", "scores", "laid", "hand_sizes", "volunteers", "declined", "last_volunteers",
    "hand", "answer", "drawn",
]  # fmt: skip


def _fields(state: State) -> dict[str, Any]:
    return {name: state[name] for name in STATE.names or ()}


def check(state: State) -> None:
    """The conservation laws of section f, and every field in its bounds.

    Raises:
        ValueError: the first law that the state breaks.
    """
    n, phase, leader, actor = (int(state[name]) for name in ("num_players", "phase", "leader", "actor"))
    deck = state.deck.astype(int)

    def law(holds: Any, what: str) -> None:
        if not holds:
            raise ValueError(f"not a state of {NAME}: " + what.format(where=PHASES[phase % len(PHASES)], **_fields(state)))

    def within(name: str, low: int, high: Any) -> None:
        law(((state[name] >= low) & (state[name] <= high)).all(), f"{name} {{{name}}}")

    law(MIN_PLAYERS <= n <= MAX_PLAYERS, "{num_players} players")
    law(state.seated.tolist() == [seat < n for seat in range(MAX_PLAYERS)], "seated {seated}")
    for name in ("num_places", "hand_size", "target_score", "max_coups"):
        law(int(state[name]) in OPTIONS[name].allowed, f"{name} {{{name}}}")  # type: ignore[operator]
    for name in _FLAGS:
        within(name, 0, 1)
    within("deck", 0, MAX_COUNT)
    for first in (KEY, LOOT):
        places = [int(first <= card < first + state.num_places) * deck[first] for card in range(first, first + MAX_PLACES)]
        law(deck[first : first + MAX_PLACES].tolist() == places, "deck {deck}")
    law(deck[ALARM] > 0 and deck[:NUM_TREASURES].any() and deck.sum() >= n * state.hand_size, "deck {deck}")
    claims = np.flatnonzero(deck[:NUM_TREASURES])
    law(state.only_claim == (claims[0] if len(claims) == 1 else NO_CLAIM), "only claim {only_claim} of deck {deck}")
    within("first_player", RANDOM, n - 1)
    within("phase", SETUP, OVER)
    for name in ("leader", "actor", "drawer", "accomplice", "last_leader", "last_accomplice", "last_sounder"):
        within(name, NO_SEAT, n - 1)
    law((leader == NO_SEAT) == (phase == SETUP), "leader {leader} in {where}")
    within("claim", 0, NO_CLAIM)
    within("last_claim", 0, NO_CLAIM)
    for name in ("leader_card", "accomplice_card", "last_leader_card", "last_accomplice_card", "last_loot", "face_down"):
        within(name, 0, NO_CARD)
    within("last_outcome", NO_OUTCOME, RUNG)
    within("answer", NO_ANSWER, YES)
    for name in _BY_SEAT:
        law(not state[name][n:].any(), f"{name} of an empty seat")
    law((state.face_down[n:] == NO_CARD).all(), "a card of an empty seat")
    within("coups", 0, int(state.max_coups) - (phase != OVER))
    within("reshuffles", 0, 2 * (int(state.coups) + 1))
    for name in _COUNTERS:
        within(name, 0, state.coups)
    for name in ("shuffled_in", "turned", "laid", "drawn", "hand", "pile", "drawing", "discard"):
        within(name, 0, deck)
    within("hideouts", 0, deck[:NUM_TREASURES])
    within("police_file", 0, deck[ALARM] - (phase != OVER))
    within("drawn_since", 0, deck.sum())
    law(state.reshuffles > 0 or not (state.drawn_since.any() or state.laid.any() or state.drawn.any()), "draws are counted")
    law(not state.old.any() and not state.slots.any(), "scratch in use")

    law((phase in (DEAL, RESOLVE)) == (state.drawer != NO_SEAT), "drawer {drawer} in {where}")
    law((actor == NO_SEAT) == (phase in (SETUP, DEAL, REVEAL, RESOLVE, OVER)), "actor {actor} in {where}")
    law(phase not in (LEADING, CLAIMING, CHOOSING) or actor == leader, "not the leader is asked")
    law(phase not in (VOLUNTEERING, SOUNDING) or actor not in (leader, state.accomplice), "the leader is asked")
    in_coup, revealed = CLAIMING < phase <= BETRAYING, phase in (SOUNDING, BETRAYING)
    law((state.claim != NO_CLAIM) == in_coup, "claim {claim} in {where}")
    law(state.claim == NO_CLAIM or deck[state.claim] > 0, "a claim of what the deck has not")
    law(state.accomplice != leader or leader == NO_SEAT, "the leader as accomplice")
    law(state.accomplice == NO_SEAT or revealed, "accomplice {accomplice} in {where}")
    law(not state.declined.any() or phase == SOUNDING, "declined {declined}")
    for name in ("leader_card", "accomplice_card"):
        law((state[name] != NO_CARD) == revealed, f"{name} {{{name}}} in {{where}}")
    if revealed:
        outcome = OUTCOME[state.leader_card, state.accomplice_card]
        law(outcome == (SUCCESS if phase == SOUNDING else BETRAYAL), "{leader_card} and {accomplice_card} in {where}")
    if phase == BETRAYING:
        law(state.accomplice != NO_SEAT, "betrayal by the pile")
        law(actor == (leader if state.leader_card == TRAITOR else state.accomplice), "not the Traitor is asked")

    asked = [(leader + k) % n for k in range(1, (actor - leader) % n)] if phase in (VOLUNTEERING, SOUNDING) else []
    unseen = phase == VOLUNTEERING or (phase == SOUNDING and state.hidden_alarms)
    for seat in range(n):
        answers = unseen and seat in asked and seat != state.accomplice
        law((state.answer[seat] != NO_ANSWER) == answers, "answers {answer}")
        law(state.answer[seat] != YES or phase == VOLUNTEERING or state.hand[seat, ALARM] > 0, "an Alarm that is not held")
        volunteered = state.volunteers[seat] if phase == CHOOSING else phase == VOLUNTEERING and state.answer[seat] == YES
        lies = bool(volunteered) or (seat == leader and CLAIMING <= phase <= REVEAL)
        law((state.face_down[seat] != NO_CARD) == lies, "cards face down {face_down}")
        law(phase != VOLUNTEERING or state.volunteers[seat] == (volunteered and state.open_volunteers), "volunteers")
        counted = int(state.hand[seat].sum()) + (int(state.on_its_way) if seat == state.drawer else 0)
        law(state.hand_sizes[seat] == counted + (lies and phase < CHOOSING), "hand sizes {hand_sizes}")
        law(state.scores[seat] == points(state, seat), "scores {scores}")
    law(not state.volunteers.any() or VOLUNTEERING <= phase <= BETRAYING, "volunteers {volunteers}")
    law(leader == NO_SEAT or not state.volunteers[leader], "the leader as volunteer")
    law(phase != CHOOSING or state.volunteers.any(), "nobody to choose")
    law(state.accomplice == NO_SEAT or state.volunteers[state.accomplice], "an accomplice who did not volunteer")
    law(phase != LEADING or state.hand_sizes[leader] > 0, "nothing to lead")
    within("hand_sizes", 0, state.hand_size)
    law(phase == OVER or state.scores.max() < state.target_score, "scores {scores} without an end")
    law(state.scores.max() < state.target_score + BEST_CARD, "scores {scores}")
    law(state.on_its_way == state.drawing.sum(), "drawing {drawing}, {on_its_way} counted")
    law(state.drawer != NO_SEAT or state.on_its_way == 0, "cards drawn by nobody")
    law(phase not in (DEAL, RESOLVE, REVEAL) or state.pile_size > 0, "no card to draw")
    law(phase not in (DEAL, RESOLVE) or state.hand_sizes[state.drawer] < state.hand_size, "a full hand is filled")
    law(state.pile_size == state.pile.sum(), "pile {pile}, {pile_size} counted")
    if phase in (SETUP, DEAL):
        law(state.coups == 0 and state.reshuffles == 0 and not state.hideouts.any() and not state.discard.any(), "no deal")

    cards = state.discard + state.hand.sum(axis=0) + state.pile + state.drawing
    cards[:NUM_TREASURES] += state.hideouts.sum(axis=0)
    cards[ALARM] += state.police_file
    for card in (*state.face_down, state.leader_card, state.accomplice_card):
        cards[card : card + 1] += card != NO_CARD
    law(cards.tolist() == deck.tolist(), "the cards are not those of the deck {deck}")


def _cards(counts: Any) -> str:
    return " ".join(name for name, count in zip(CARD_NAMES, counts, strict=False) for _ in range(count)) or "nothing"


def describe(state: State, viewer: int | None = None) -> str:
    """The table in words: what everybody sees, and the own cards and answer of the seat `viewer`."""
    n = int(state.num_players)
    coup = state.coups + (state.phase != OVER)
    lines = [f"Accomplices, coup {coup} of at most {state.max_coups}: {PHASES[state.phase]}"]
    lines[0] += f", pile {state.pile_size}, file {state.police_file} of {state.deck[ALARM]}"
    lines.append(f"Discard: {_cards(state.discard)}")
    for seat in range(n):
        facts = [
            f"{state.scores[seat]} points",
            f"hideout {_cards(state.hideouts[seat])}",
            f"{state.hand_sizes[seat]} in hand",
        ]
        if seat == state.leader and state.claim != NO_CLAIM:
            facts.append(f"claims {CARD_NAMES[state.claim]}")
        facts += ["volunteers"] * bool(state.volunteers[seat]) + ["accomplice"] * bool(state.accomplice == seat)
        facts += ["let it pass"] * bool(state.declined[seat])
        if seat == viewer:
            facts.append(f"holds {_cards(state.hand[seat])}")
            if state.face_down[seat] != NO_CARD:
                facts.append(f"has laid {CARD_NAMES[state.face_down[seat]]}")
            if state.answer[seat] != NO_ANSWER:
                facts.append("answered yes" if state.answer[seat] == YES else "answered no")
        mark = ("L" if state.leader == seat else " ") + (">" if state.actor == seat else " ")
        lines.append(f"{mark} player_{seat}: " + ", ".join(facts))
    if state.leader_card != NO_CARD:
        lines.append(f"Revealed: {CARD_NAMES[state.leader_card]} and {CARD_NAMES[state.accomplice_card]}")
    if state.last_outcome != NO_OUTCOME:
        lines.append(_last_coup(state))
    return "\n".join(lines)


def _last_coup(state: State) -> str:
    helper = "the pile" if state.last_accomplice == NO_SEAT else f"player_{state.last_accomplice}"
    answer = "nothing" if state.last_accomplice_card == NO_CARD else CARD_NAMES[state.last_accomplice_card]
    said = f"player_{state.last_leader} claimed {CARD_NAMES[state.last_claim]} and led {CARD_NAMES[state.last_leader_card]}"
    words = f"Last coup: {said}, {helper} gave {answer}: {OUTCOMES[state.last_outcome]}"
    if state.last_sounder != NO_SEAT:
        words += f", player_{state.last_sounder} sounded the alarm"
    if state.last_loot != NO_CARD:
        words += f", {'stole' if state.last_stolen else 'kept'} {CARD_NAMES[state.last_loot]}"
    return words


_ASKED = {
    LEADING: "to lead a card, face down",
    CLAIMING: "what his card is meant to be",
    VOLUNTEERING: "to volunteer a card, face down, or to pass",
    CHOOSING: "to choose an accomplice, or the top of the pile",
    SOUNDING: "to sound an alarm, or to let the coup succeed",
    BETRAYING: "to keep the revealed Loot, or to steal another",
}
_TINTS = (*[GOLD] * LOOT, *[GREEN] * MAX_PLACES, GOLD, GREEN, VIOLET, RED, PLAIN)


def _card(card: int, face_up: bool, note: str) -> Card:
    return Card(CARD_NAMES[card], _TINTS[card], face_up, note) if card != NO_CARD else Card("", PLAIN, face_up, note)


def _cards_of(state: State, seat: int, known: bool) -> list[Card]:
    """A seat's cards: revealed, face down, in the hideout and, as many as everybody sees it hold, in hand."""
    cards = [_card(state.leader_card, True, "led")] * bool(seat == state.leader and state.leader_card != NO_CARD)
    cards += [_card(state.accomplice_card, True, "given")] * bool(seat == state.accomplice)
    laid = bool(state.face_down[seat] != NO_CARD) if known else bool(lies_face_down(state, seat))
    cards += [_card(state.face_down[seat] if known else NO_CARD, False, "laid")] * laid
    hideout = [card for card in range(NUM_TREASURES) for _ in range(state.hideouts[seat, card])]
    cards += [_card(card, True, "hideout") for card in hideout]
    hand = [card for card in range(NUM_TYPES) for _ in range(state.hand[seat, card])] if known else []
    held = int(state.hand_sizes[seat]) - (laid and state.phase < CHOOSING)
    return cards + [_card(card, False, "hand") for card in hand + [NO_CARD] * (held - len(hand))]


def scene(state: State, viewer: int | None = None) -> Scene:
    """The table as a picture's data, for the seat `viewer`, for everybody (None) or for who sees all (`ALL_SEEING`)."""
    zones = []
    for seat in range(int(state.num_players)):
        known = viewer in (seat, ALL_SEEING)
        marks = ["leads"] * bool(seat == state.leader)
        if seat == state.leader and state.claim != NO_CLAIM:
            marks.append(f"claims {CARD_NAMES[state.claim]}")
        marks += ["volunteers"] * bool(state.volunteers[seat]) + ["accomplice"] * bool(state.accomplice == seat)
        marks += ["lets it pass"] * bool(state.declined[seat])
        marks += [f"says {('', 'no', 'yes')[state.answer[seat]]}"] * (known and bool(state.answer[seat] != NO_ANSWER))
        counters = (("points", int(state.scores[seat])), ("in hand", int(state.hand_sizes[seat])))
        cards = tuple(_cards_of(state, seat, known))
        zones.append(Zone(f"player_{seat}", counters, cards, tuple(marks), bool(state.actor == seat)))
    turned = state.accomplice_card if state.accomplice == NO_SEAT else NO_CARD
    police = f"{state.police_file} of {state.deck[ALARM]} Alarms"
    discarded = [f"{count} {name}" for name, count in zip(CARD_NAMES, state.discard, strict=True) if count]
    middle = Zone(
        "table",
        (("pile", int(state.pile_size)), ("discard", int(state.discard.sum())), ("file", police)),
        (_card(turned, True, "from the pile"),) * bool(turned != NO_CARD),
        ("discarded: " + ", ".join(discarded),) * bool(discarded),
    )
    coup = int(state.coups) + int(state.phase != OVER)
    asked = f"player_{state.actor} is asked {_ASKED.get(int(state.phase), '')}." if state.actor != NO_SEAT else ""
    turn = "The game is over." if state.phase == OVER else asked or "Cards are drawn."
    last = _last_coup(state) if state.last_outcome != NO_OUTCOME else ""
    return Scene(f"Accomplices, coup {coup}, {PHASES[state.phase]}", turn, (middle, *zones), last)


register(sys.modules[__name__])
