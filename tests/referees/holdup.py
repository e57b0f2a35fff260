"""Referee of Hold-up: a slow, plain, independent reading of the rule page.

Used only by tests, side by side with the compiled rules. Nothing here is
shared with them. Comments name the ruling a line follows: HOL-x is a gap of
section b, h.x a precision, f/g a section of the page.
"""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field

# f: the flat action numbers
KEEP, REDRAW, BRIBE, LOAN, DONE, JOIN, FOLD, NO_REVOLVER = range(8)
FIRST_SHOT, LAST_SHOT = 8, 12  # relative seats 1..5, seen from F
FLIP, PAY = 13, 14

CHANCE = -1
OVER = -4

BOX_OF_DIAMONDS = 50
SCORE_SCALE = 70.0


@dataclass
class Player:
    diamonds: int
    thieves: int
    loan_taken: bool = False
    card: int = 0  # 0: no card in front of or in the hand of this player
    laid: list = field(default_factory=lambda: [None, None])
    shown: int = 0
    status: str = "undecided"
    answer: str | None = None  # only while simultaneous answers are collected

    def clear_for_new_round(self) -> None:
        # h.11
        self.card = 0
        self.laid = [None, None]
        self.shown = 0
        self.status = "undecided"
        self.answer = None


def _whole_number(name, value, low, high):
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, not {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if number < low or (high is not None and number > high):
        upper = "any" if high is None else high
        raise ValueError(f"{name}={number} is outside {low}..{upper}")
    return number


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, not {value!r}")
    return value


class Referee:
    def __init__(
        self,
        num_players=4,
        *,
        first_player=0,
        pp_values=tuple(range(1, 16)),
        start_diamonds=None,
        num_thieves=3,
        redraw_rounds=2,
        loans=True,
        bribe_cost=3,
        loan=2,
        loan_debt=4,
        penalty_thieves=2,
        penalty_diamonds=3,
        revolver_penalty="extra",
        revolver_needs_join=True,
        end_check="round",
        loan_bank="unlimited",
        join_order="sequential",
        max_rounds=60,
        reward="win",
        cap_terminates=False,
    ):
        # bounds: d for the table size, h.14 for the rest
        self.n = _whole_number("num_players", num_players, 3, 6)
        if first_player == "random":
            self.first_player = "random"
        else:
            self.first_player = _whole_number("first_player", first_player, 0, self.n - 1)
        self.pp_values = [_whole_number("pp_values", v, 1, 15) for v in pp_values]
        if len(set(self.pp_values)) != len(self.pp_values):
            raise ValueError("pp_values must be distinct")  # HOL-1
        if len(self.pp_values) < self.n:
            raise ValueError("pp_values needs at least one card a player")
        if start_diamonds is None:
            start_diamonds = 8 if self.n == 6 else 10
        self.start_diamonds = _whole_number("start_diamonds", start_diamonds, 1, 20)
        self.num_thieves = _whole_number("num_thieves", num_thieves, 1, 3)
        self.redraw_rounds = _whole_number("redraw_rounds", redraw_rounds, 0, 2)
        self.loans = bool(loans)
        self.bribe_cost = _whole_number("bribe_cost", bribe_cost, 1, 50)
        self.loan = _whole_number("loan", loan, 1, 50)
        self.loan_debt = _whole_number("loan_debt", loan_debt, 0, None)
        self.penalty_thieves = _whole_number("penalty_thieves", penalty_thieves, 1, 50)
        self.penalty_diamonds = _whole_number("penalty_diamonds", penalty_diamonds, 1, 50)
        self.revolver_penalty = _one_of("revolver_penalty", revolver_penalty, ("extra", "instead"))
        self.revolver_needs_join = bool(revolver_needs_join)
        self.end_check = _one_of("end_check", end_check, ("round", "immediate"))
        self.loan_bank = _one_of("loan_bank", loan_bank, ("unlimited", "box"))
        self.join_order = _one_of("join_order", join_order, ("sequential", "simultaneous"))
        # the default cap is 60, so the bound of 50 cannot be meant for it
        self.max_rounds = _whole_number("max_rounds", max_rounds, 1, None)
        self.reward = _one_of("reward", reward, ("win", "score"))
        self.cap_terminates = bool(cap_terminates)
        if self.loan_bank == "box" and self.n * self.start_diamonds > BOX_OF_DIAMONDS:
            raise ValueError("the box has too few diamonds for this start")  # h.7

        self.players = [Player(self.start_diamonds, self.num_thieves) for _ in range(self.n)]
        self.glove: int | None = None
        self.pot = 0
        self.rounds = 0  # h.12
        self.truncated = False
        self.showdown: dict | None = None
        self.pile = list(self.pp_values)
        self.waiting: list[int] = []  # seats still to be served in this phase
        self.redraw_round: int | None = None
        self.card_pending = False  # a redraw was asked, chance owes the card
        self.target: int | None = None
        self.shooter: int | None = None
        self.turn_impossible = False  # a card had to be turned, none was left
        self.showdown_in_this_round = False

        if self.first_player == "random":
            self.phase = "SETUP"
        else:
            self.phase = ""
            self.glove = self.first_player
            self._start_round()

    # ------------------------------------------------------------------
    # what the harness asks

    def current_player(self) -> int:
        if self.phase == "OVER":
            return OVER
        if self._chance_is_next():
            return CHANCE
        return self._actor()

    def chance_outcomes(self) -> dict[int, int]:
        if not self._chance_is_next():
            return {}
        if self.phase == "SETUP":
            return dict.fromkeys(range(self.n), 1)
        return {value - 1: 1 for value in sorted(self.pile)}

    def legal_actions(self) -> list[int]:
        if self.phase == "OVER" or self._chance_is_next():
            return []
        if self.phase == "DRAW":
            return [KEEP, REDRAW]
        if self.phase == "CORRUPT":
            return self._corrupt_choices(self._actor())
        if self.phase == "JOIN":
            return self._join_choices(self._actor())
        if self.phase == "REVOLVER":
            shots = [FIRST_SHOT - 1 + (seat - self.glove) % self.n for seat in self._targets()]
            return sorted([NO_REVOLVER, *shots])
        if self.phase == "PENALTY":
            return self._penalty_choices()
        raise AssertionError(self.phase)

    def apply(self, action: int) -> None:
        if isinstance(action, bool):
            raise ValueError(f"not an action: {action!r}")
        try:
            action = operator.index(action)
        except TypeError:
            raise ValueError(f"not an action: {action!r}") from None
        if self.phase == "OVER":
            raise ValueError("the game is over")
        if self._chance_is_next():
            if action not in self.chance_outcomes():
                raise ValueError(f"chance cannot give {action} in {self.phase}")
            if self.phase == "SETUP":
                self.glove = action
                self._start_round()
            elif self.phase == "DEAL":
                self._card_dealt(action + 1)
            else:
                self._card_redrawn(action + 1)
            return
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in {self.phase}")
        if self.phase == "DRAW":
            self._answer_draw(action)
        elif self.phase == "CORRUPT":
            self._answer_corrupt(action)
        elif self.phase == "JOIN":
            self._answer_join(action)
        elif self.phase == "REVOLVER":
            self._answer_revolver(action)
        else:
            self._answer_penalty(action)

    def scores(self) -> list[int]:
        return [p.diamonds + 2 * p.thieves - (self.loan_debt if p.loan_taken else 0) for p in self.players]

    def returns(self) -> list[float]:
        if self.phase != "OVER":
            return [0.0] * self.n
        points = self.scores()
        if self.reward == "score":
            result = []
            for seat in range(self.n):
                others = [points[j] for j in range(self.n) if j != seat]
                value = (points[seat] - sum(others) / len(others)) / SCORE_SCALE
                result.append(max(-1.0, min(1.0, value)))  # h.14
            return result
        best = max(points)
        winners = points.count(best)  # HOL-23
        result = []
        for seat in range(self.n):
            weight = 1.0 / winners if points[seat] == best else 0.0
            result.append((self.n * weight - 1.0) / (self.n - 1.0))
        return result

    def public(self) -> dict:
        asked = self.current_player()
        return {
            "phase": self.phase,
            "redraw_round": self.redraw_round if self.phase == "DRAW" else None,
            "actor": asked if asked >= 0 else None,
            "diamonds": [p.diamonds for p in self.players],
            "thieves": [p.thieves for p in self.players],
            "loan_taken": [p.loan_taken for p in self.players],
            "pot": self.pot,
            "glove": self.glove,
            "pile_size": len(self.pile),
            "laid": [list(p.laid) for p in self.players],
            "shown": [p.shown for p in self.players],
            "status": [p.status for p in self.players],
            "target": self.target,
            "shooter": self.shooter,
            "rounds": self.rounds,
            "showdown": copy.deepcopy(self.showdown),
        }

    def private(self, seat) -> dict:
        player = self.players[seat]
        return {"card": player.card, "answer": player.answer}

    # ------------------------------------------------------------------
    # small questions

    def _clockwise(self) -> list[int]:
        return [(self.glove + step) % self.n for step in range(self.n)]

    def _chance_is_next(self) -> bool:
        return self.phase in ("SETUP", "DEAL") or (self.phase == "DRAW" and self.card_pending)

    def _actor(self) -> int:
        if self.phase == "REVOLVER":
            return self.glove
        if self.phase == "PENALTY":
            return self.shooter  # h.9: the Glove has moved already
        return self.waiting[0]

    def _box(self) -> int:
        # h.7
        taken = sum(1 for p in self.players if p.loan_taken)
        return BOX_OF_DIAMONDS - self.n * self.start_diamonds - self.loan * taken

    def _corrupt_choices(self, seat) -> list[int]:
        player = self.players[seat]
        choices = []
        cops = self.num_thieves - player.thieves
        if player.diamonds >= self.bribe_cost and cops >= 1:  # HOL-6
            choices.append(BRIBE)
        if (
            self.loans
            and not player.loan_taken  # HOL-6
            and player.thieves >= 1
            and (self.loan_bank == "unlimited" or self._box() >= self.loan)  # HOL-7
        ):
            choices.append(LOAN)
        choices.append(DONE)
        return choices

    def _join_choices(self, seat) -> list[int]:
        if self.players[seat].diamonds >= 1:
            return [JOIN, FOLD]
        return [FOLD]  # HOL-9

    def _targets(self) -> list[int]:
        # HOL-13, HOL-14, h.3
        if self.revolver_needs_join and self.players[self.glove].status != "joined":
            return []
        return [
            seat
            for seat in range(self.n)
            if seat != self.glove and self.players[seat].status == "folded" and self.players[seat].diamonds >= 1
        ]

    def _penalty_choices(self) -> list[int]:
        if self.players[self.shooter].diamonds >= self.penalty_diamonds:
            return [FLIP, PAY]
        return [FLIP]  # HOL-17

    # ------------------------------------------------------------------
    # small effects

    def _pay_into_pot(self, seat, amount) -> None:
        self.players[seat].diamonds -= amount
        self.pot += amount

    def _turn_to_cop(self, seat, count) -> None:
        # HOL-18
        player = self.players[seat]
        for _ in range(count):
            if player.thieves == 0:
                self.turn_impossible = True
                return
            player.thieves -= 1

    def _someone_has_nothing(self) -> bool:
        return any(p.diamonds == 0 for p in self.players)

    def _stopped_at_once(self) -> bool:
        # HOL-20, h.5: true when the game has just been stopped
        if self.end_check == "immediate" and self._someone_has_nothing():
            self.rounds += 1
            self._game_over()
            return True
        return False

    def _game_over(self) -> None:
        self.phase = "OVER"
        self.waiting = []
        self.card_pending = False

    # ------------------------------------------------------------------
    # DEAL

    def _start_round(self) -> None:
        self.phase = "DEAL"
        self.pile = list(self.pp_values)  # HOL-2
        for player in self.players:
            player.clear_for_new_round()
        self.target = None
        self.shooter = None
        self.turn_impossible = False
        self.showdown_in_this_round = False
        self.redraw_round = None
        self.card_pending = False
        self.waiting = self._clockwise()

    def _card_dealt(self, value) -> None:
        self.pile.remove(value)
        self.players[self.waiting.pop(0)].card = value
        if self.waiting:
            return
        for seat in self._clockwise():
            self._pay_into_pot(seat, 1)
        if self._stopped_at_once():
            return
        self._start_redraws(0)

    # ------------------------------------------------------------------
    # DRAW

    def _start_redraws(self, number) -> None:
        if number >= self.redraw_rounds:
            self._start_corrupt()
            return
        self.phase = "DRAW"
        self.redraw_round = number
        self.waiting = self._clockwise()

    def _answer_draw(self, action) -> None:
        seat = self.waiting[0]
        player = self.players[seat]
        if action == KEEP:
            player.laid[self.redraw_round] = 0  # HOL-3: he may still redraw later
            self._next_in_draw()
        elif self.pile:
            player.laid[self.redraw_round] = player.card
            player.card = 0
            self.card_pending = True
        else:
            # HOL-4, h.10
            player.laid[self.redraw_round] = 0
            self._win_pot(seat)
            self._end_round()

    def _card_redrawn(self, value) -> None:
        self.pile.remove(value)
        self.players[self.waiting[0]].card = value
        self.card_pending = False
        self._next_in_draw()

    def _next_in_draw(self) -> None:
        self.waiting.pop(0)
        if not self.waiting:
            self._start_redraws(self.redraw_round + 1)

    # ------------------------------------------------------------------
    # CORRUPT

    def _start_corrupt(self) -> None:
        self.phase = "CORRUPT"
        self.redraw_round = None
        self.waiting = self._clockwise()
        self._skip_in_corrupt()

    def _skip_in_corrupt(self) -> None:
        # f, h.16: who could only say DONE is not asked
        while self.waiting and self._corrupt_choices(self.waiting[0]) == [DONE]:
            self.waiting.pop(0)
        if not self.waiting:
            self._start_join()

    def _answer_corrupt(self, action) -> None:
        seat = self.waiting[0]
        player = self.players[seat]
        if action == BRIBE:
            self._pay_into_pot(seat, self.bribe_cost)
            player.thieves += 1
            if self._stopped_at_once():
                return
        elif action == LOAN:
            player.loan_taken = True
            player.diamonds += self.loan
            player.thieves -= 1
        else:
            self.waiting.pop(0)  # h.1
        self._skip_in_corrupt()

    # ------------------------------------------------------------------
    # JOIN

    def _start_join(self) -> None:
        self.phase = "JOIN"
        self.waiting = self._clockwise()
        self._skip_in_join()

    def _skip_in_join(self) -> None:
        # HOL-27: a seat with a choice is always asked
        while self.waiting and self._join_choices(self.waiting[0]) == [FOLD]:
            self._take_join_answer(self.waiting.pop(0), FOLD)
        if self.waiting:
            return
        if self.join_order == "simultaneous":
            # h.15: everything becomes true and visible together
            for seat in self._clockwise():
                answer = self.players[seat].answer
                self.players[seat].answer = None
                self._carry_out_join(seat, JOIN if answer == "JOIN" else FOLD)
            if self._stopped_at_once():  # h.5
                return
        self._start_revolver()

    def _answer_join(self, action) -> None:
        self._take_join_answer(self.waiting.pop(0), action)
        # HOL-8: one after another, the stake is paid (and checked) at once
        if self.join_order == "sequential" and self._stopped_at_once():
            return
        self._skip_in_join()

    def _take_join_answer(self, seat, action) -> None:
        if self.join_order == "simultaneous":
            self.players[seat].answer = "JOIN" if action == JOIN else "FOLD"
        else:
            self._carry_out_join(seat, action)

    def _carry_out_join(self, seat, action) -> None:
        player = self.players[seat]
        if action == JOIN:
            self._pay_into_pot(seat, 1)
            player.status = "joined"
        else:
            player.status = "folded"
            player.shown = player.card

    # ------------------------------------------------------------------
    # REVOLVER

    def _start_revolver(self) -> None:
        if self._targets():
            self.phase = "REVOLVER"
        else:
            self._reveal()

    def _answer_revolver(self, action) -> None:
        if action != NO_REVOLVER:
            relative = action - FIRST_SHOT + 1
            self.shooter = self.glove
            self.target = (self.glove + relative) % self.n
            self._pay_into_pot(self.target, 1)
            self.players[self.target].status = "joined"  # h.9: his card stays shown
            if self._stopped_at_once():
                return
        self._reveal()

    # ------------------------------------------------------------------
    # REVEAL, PAY

    def _reveal(self) -> None:
        # HOL-15: a shot counts its target in
        participants = [seat for seat in range(self.n) if self.players[seat].status == "joined"]
        if not participants:
            self._end_round()  # HOL-10
            return
        if len(participants) == 1:
            winner = participants[0]  # HOL-11, h.2
        else:
            by_card = sorted(participants, key=lambda seat: self.players[seat].card, reverse=True)
            winner = by_card[1]  # HOL-12
            # h.8
            self.showdown_in_this_round = True
            self.showdown = {
                "cards": [self.players[seat].card if seat in participants else 0 for seat in range(self.n)],
                "winner": winner,
                "pot": self.pot,
                "target": self.target,
                "penalty": None,
            }
        self._win_pot(winner)
        for seat in participants:
            if seat != winner:
                self._turn_to_cop(seat, 1)  # HOL-21
        # HOL-16, HOL-19, h.6
        if self.shooter is not None and self.shooter != winner:
            self._start_penalty()
        else:
            self._end_round()

    def _win_pot(self, seat) -> None:
        self.players[seat].diamonds += self.pot
        self.pot = 0
        self.glove = seat

    # ------------------------------------------------------------------
    # PENALTY

    def _start_penalty(self) -> None:
        self.phase = "PENALTY"
        if self._penalty_choices() == [FLIP]:
            self._answer_penalty(FLIP)  # f, h.8

    def _answer_penalty(self, action) -> None:
        if self.showdown_in_this_round:
            # h.8: a shot at a sole participant leaves the older showdown alone
            self.showdown["penalty"] = "FLIP" if action == FLIP else "PAY"
        if action == FLIP:
            count = self.penalty_thieves
            if self.revolver_penalty == "instead" and self.players[self.shooter].status == "joined":
                count -= 1  # h.4: the ordinary loss is part of it
            self._turn_to_cop(self.shooter, count)
        else:
            self.players[self.shooter].diamonds -= self.penalty_diamonds
            self.players[self.target].diamonds += self.penalty_diamonds
            if self._stopped_at_once():
                return
        self._end_round()

    # ------------------------------------------------------------------
    # END?

    def _end_round(self) -> None:
        self.rounds += 1
        if self.turn_impossible or self._someone_has_nothing():
            self._game_over()  # HOL-20, HOL-21, HOL-22
        elif self.rounds >= self.max_rounds:
            self.truncated = not self.cap_terminates  # HOL-24, h.13
            self._game_over()
        else:
            self._start_round()
