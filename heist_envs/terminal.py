"""A seat at a table for a person, in words: `heist play`. It is told what its seat sees, and nothing else."""

import inspect
import re
from collections.abc import Sequence
from types import ModuleType
from typing import Any, TextIO

import numpy as np

from heist_envs import rules, text
from heist_envs.engine import mask_of
from heist_envs.games import load
from heist_envs.replay import Choose, Left, Replay, deciding, record
from heist_envs.story import Choice, Story, outcome, spoken

KEYS = "number or name: play it   ?: the rules of the moment   l: what has happened   q: leave"


def play(
    game: str,
    opponents: Sequence[str],
    seed: int,
    source: TextIO,
    out: TextIO,
    seat: int | None = None,
    file: str | None = None,
    **options: Any,
) -> Replay:
    """Play a game against agents until it is over or the person leaves.

    Args:
        game: the name of a game.
        opponents: agents by name (`make_agent`), clockwise from the person's left, over again until every seat is taken.
        seed: of chance, of the agents' chances, and of the person's seat where none is given.
        source: the person's lines. Its end leaves the game, as an interrupt does, and as `q` does.
        out: what the person reads.
        seat: the person's.
        file: where to save a replay; the person is asked where None.
        **options: of the game.

    Returns:
        the game, as far as it was played.

    Raises:
        TypeError, ValueError: options, a seat or agents that do not fit.
        Exception: what an agent raises in the game, once the replay is saved.
    """
    module = load(game)
    num_players = int(module.new_initial_state(**options)["num_players"][0])
    if seat is None:
        seat = int(np.random.default_rng(seed).integers(num_players))
    if seat not in range(num_players):
        raise ValueError(f"got seat {seat}: the seats are player_0 to player_{num_players - 1}")
    others = around([seat], opponents, num_players)
    person = Person(module, seat, source, out)
    choose = _with(person, deciding(game, others, seed))
    person.tell(f"{game}, {num_players} players. You are player_{seat}.")
    names = [others.get(k, "person") for k in range(num_players)]
    made = record(game, {"num_players": num_players, **options}, choose, agents=names, seed=seed)
    paid = made.returns()
    if paid is not None:
        person.look(made.verify()[0])
        person.tell(*person.news(), person.words(), "", f"The game is over: {outcome(paid)}.")
    if person.failure:
        person.tell("An agent has failed, and the game cannot go on.")
    _save(made, person, file)
    if person.failure:
        raise person.failure
    return made


def around(people: Sequence[int], opponents: Sequence[str], num_players: int) -> dict[int, str]:
    """Who sits in the seats that no person has: the opponents, clockwise from the first person's left, over again.

    Raises:
        ValueError: there is such a seat, and no opponent.
    """
    empty = [seat for k in range(1, num_players) if (seat := (people[0] + k) % num_players) not in people]
    if empty and not opponents:
        raise ValueError("got no opponents: at least one is needed")
    return {seat: opponents[k % len(opponents)] for k, seat in enumerate(empty)}


def _save(made: Replay, person: "Person", file: str | None) -> None:
    ask = "Save a replay, which shows every card? A file's name, or nothing: "
    while file or person.is_there:
        file = file or person.ask(ask)
        if not file:
            return
        try:
            made.save(file)
        except OSError as error:
            person.tell(f"got {error}")
            file, ask = None, "Another file's name, or nothing: "
        else:
            person.tell(f"{file}: {len(made.moves)} moves")
            return


def _with(person: "Person", others: Choose) -> Choose:
    """What happens in a state where one seat is a person's."""

    def choose(state: Any) -> tuple[int, dict[str, float] | None]:
        try:
            person.look(state)
            return (person.act(state), None) if rules.current_player(state) == person.seat else others(state)
        except KeyboardInterrupt:
            person.is_there = False
            raise Left from None
        except Left:
            raise
        except Exception as failure:
            person.failure = failure
            raise Left from None

    return choose


class Person:
    """Who sits in a seat: reads what it sees, and writes what it does."""

    def __init__(self, module: ModuleType, seat: int, source: TextIO, out: TextIO) -> None:
        self.seat = seat
        self.is_there = True
        """Until an interrupt, or the end of what is read."""
        self.failure: Exception | None = None
        """Of an agent, which ended the game."""
        self._module = module
        self._source, self._out = source, out
        self._story = Story(module, seat)
        self._told = 0
        """Steps of the story that have been read."""

    def look(self, state: Any) -> None:
        """See a state of the game: each of them in turn."""
        self._story.see(state)

    def tell(self, *lines: str) -> None:
        """Write some lines."""
        print(*lines, sep="\n", file=self._out, flush=True)

    def news(self, since: int | None = None) -> list[str]:
        """What has happened since the step `since`, or since it was read last, one line a step."""
        steps = self._story.steps[self._told if since is None else since :]
        self._told = len(self._story.steps)
        return ["- " + " | ".join(step.news) for step in steps]

    def words(self) -> str:
        """The table."""
        return "\n" + self._story.steps[-1].words

    def act(self, state: Any) -> int:
        """The action that the person plays.

        Raises:
            Left: the person leaves.
        """
        names = self._module.ACTION_NAMES
        allowed = {int(action): names[action] for action in np.flatnonzero(mask_of(self._module, state))}
        num_players = int(state.num_players)
        self.tell(*self.news(), self.words(), "", f"You are player_{self.seat}. You may:")
        self.tell(*(f"{action:4}: {spoken(name, self.seat, num_players)}" for action, name in allowed.items()), KEYS)
        while True:
            answer = self.ask("> ").lower()
            if answer == "q" or not self.is_there:
                raise Left
            if answer == "?":
                self.tell(*rules_of_the_moment(self._module, state, allowed))
            elif answer == "l":
                self.tell(*self.news(since=0))
            else:
                try:
                    action = text.meant(answer, allowed)
                except ValueError as error:
                    self.tell(str(error))
                    continue
                self._story.choose(Choice(f"player_{self.seat}", spoken(names[action], self.seat, num_players)))
                return action

    def ask(self, words: str) -> str:
        """A line; nothing once there is nobody to answer."""
        print(words, end="", file=self._out, flush=True)
        try:
            line = self._source.readline()
        except KeyboardInterrupt:
            line = ""
        self.is_there = bool(line)
        return line.strip()


def rules_of_the_moment(module: ModuleType, state: Any, allowed: dict[int, str]) -> list[str]:
    """The game's rules, with a mark at each that names the phase of the game or an action that is allowed now."""
    now = _capitals(" ".join([module.PHASES[int(state.phase)], *allowed.values()]))
    page = inspect.cleandoc(module.__doc__ or "").split("\n\n")
    made = []
    for part in re.split(r"(?m)^(?=\d+\. )", "\n\n".join(part for part in page if "docs/rules" not in part)):
        mark = "> " if part[:1].isdigit() and _capitals(part) & now else "  "
        made += [mark + line for line in part.rstrip().split("\n")]
    return [*made, f"What the text leaves open is ruled in docs/rules/{module.NAME}.md of the sources."]


def _capitals(words: str) -> set[str]:
    """The words in capitals, in which phases and actions are written."""
    return set(re.findall(r"[A-Z]{3,}", words))
