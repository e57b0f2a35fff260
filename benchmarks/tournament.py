"""A tournament: every agent in every seat, on the same deals, with honest intervals.

    python -m heist_envs.benchmarks.tournament --game holdup --agents rule uniform uniform uniform
    python -m heist_envs.benchmarks.tournament --game magpies --agents ppo rule --options tokens='[5, 2]' --json match.json
    python -m heist_envs.benchmarks.tournament --game holdup --cross --json benchmarks/results/cross-holdup.json

A line-up of n agents plays each deal n times, turned by one seat each time (duplicate). What an agent earns on one deal,
averaged over its seats (and over its copies, if it is named more than once), is one observation; deals are independent, so
the interval is clustered by deal.

A match is played in chunks of deals. The chances of a chunk follow from the seed of its first deal, and its agents are made
anew, so that it does not matter what was played before it. With `--json` the sums of the finished chunks are kept in the
file: the same command goes on where it was stopped, to the result that it would have come to without the stop.

`--until WIDTH` ends a match after the first chunk in which no agent's half-width is above WIDTH, and after `FEWEST` deals at
least. Who stops when the interval looks narrow stops a little more often when the spread has been underestimated, so that
such an interval covers the truth a little less often than in 95% of all cases, and where wins are rare the mean leans a
little to the usual result. From some hundred deals on both are small (the tests simulate it), but they are not nothing: a
number that is to be quoted is better played with a fixed number of deals.

An agent that has an attribute `faults`, a list of reasons, may give `FORFEIT` for a game in place of an action: it then
loses that game at once, and nothing else. Any other agent that gives no legal action is an error.
"""

import argparse
import contextlib
import json
import os
import pathlib
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs.agents import AnyAgent, RuleBasedAgent, decide, decide_together, make_agent
from heist_envs.agents.agent import FORFEIT
from heist_envs.benchmarks.throughput import commit, machine
from heist_envs.command import AGENTS, CommandParser, launch
from heist_envs.engine import HOLD, Batch
from heist_envs.games import GAMES, load
from heist_envs.options import resolve

CHUNK = 250
"""Deals that are played together."""
FEWEST = 500
"""Deals after which an early stop is first thought of."""
NORMAL_95 = 1.96
"""Half-width of a 95% interval in standard errors; hundreds of deals make the normal distribution good enough."""


class Score(NamedTuple):
    """A mean reward and the half-width of its 95% interval."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.half_width:.3f}"


def score(num_deals: int, total: float, squares: float) -> Score:
    """The mean over deals with its 95% interval, from the sum of the results by deal and the sum of their squares.

    Raises:
        ValueError: fewer than two deals.
    """
    if num_deals < 2:
        raise ValueError(f"got {num_deals} deal: an interval needs at least 2")
    mean = total / num_deals
    variance = max(0.0, squares - total * mean) / (num_deals - 1)  # rounding may take it a little below 0
    return Score(float(mean), float(NORMAL_95 * np.sqrt(variance / num_deals)))


def interval(by_deal: NDArray[np.float64]) -> Score:
    """`score` of the results by deal, (num_deals,)."""
    return score(len(by_deal), by_deal.sum(), np.square(by_deal).sum())


class _Excused:
    """Stands in for an agent that may forfeit: it gives a legal action there, and remembers where that was.

    Attributes:
        forfeited: bool (N,), of the last answer.
    """

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.forfeited: NDArray[np.bool_] = np.zeros(0, np.bool_)

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        given = np.asarray(self.agent.act(observations, action_masks, rng))
        self.forfeited = given == FORFEIT
        return np.where(self.forfeited, action_masks.argmax(axis=1), given) if given.shape == (len(action_masks),) else given


def _decide(agent: AnyAgent, batch: Batch, rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.int64]:
    """`decide`, with FORFEIT from an agent that may give it."""
    if not hasattr(agent, "faults"):
        return decide(agent, batch, rows, rng)
    excused = _Excused(agent)
    actions = decide(excused, batch, rows, rng)
    return np.where(excused.forfeited, FORFEIT, actions)


def _give_up(batch: Batch, rows: NDArray[np.intp]) -> None:
    """End some games: the player who is to act loses, and the others share the win."""
    batch.rewards[rows] = 1 / (batch.num_players - 1)
    batch.rewards[rows, batch.players[rows]] = -1
    batch.terminations[rows] = True


class Played(NamedTuple):
    """What came of some deals."""

    rewards: NDArray[np.float64]
    """By deal, agent and seat, (num_deals, num_agents, num_agents): each agent sits once in each seat."""
    forfeits: NDArray[np.int64]
    """Games that each agent gave up, (num_agents,)."""


def play_seatings(game: str, agents: Sequence[AnyAgent], num_deals: int, seed: int = 0, **options: Any) -> Played:
    """Play each deal with the line-up in all its rotations, many games at once.

    Args:
        game: the name of a game.
        agents: one per seat; an agent that is named twice is asked for both seats together.
        num_deals: deals, of seeds `seed`, `seed + 1`, …; agents draw from a generator of their own.
        seed: of the first deal, and of the agents' chances.
        **options: of the game. The number of players is the number of agents.

    Raises:
        TypeError, ValueError: too few or too many agents, no deal, or an agent that gives no legal action (`decide`).
    """
    module = load(game)
    n = len(agents)
    for agent in agents:
        if isinstance(agent, str | type) or not (hasattr(agent, "act") or hasattr(agent, "act_in")):
            raise TypeError(
                f"got agent {agent!r}: needed is an object with `act`; make_agent(name, game) gives one by its name"
            )
    if num_deals < 1:
        raise ValueError(f"got num_deals={num_deals}: at least 1")
    if options.get("num_players", n) != n:
        raise ValueError(f"got num_players={options['num_players']} for {n} agents: one agent per seat")
    states = np.repeat(module.new_initial_state(**{**options, "num_players": n}), num_deals * n)
    batch = Batch(module, states, autoreset=False)
    batch.reset([seed + deal for deal in range(num_deals) for _ in range(n)])
    rotation = np.tile(np.arange(n), num_deals)  # agent j sits in seat (j + rotation) % n
    forfeits = np.zeros(n, np.int64)
    rng = np.random.default_rng(seed)
    while True:
        playing = ~(batch.terminations | batch.truncations)
        if not playing.any():
            break
        asked = (batch.players - rotation) % n
        actions = decide_together(agents, np.where(playing, asked, -1), batch, rng, _decide)
        lost = np.flatnonzero(actions == FORFEIT)
        if len(lost):
            forfeits += np.bincount(asked[lost], minlength=n)
            actions[lost] = HOLD
            _give_up(batch, lost)
        batch.step(actions)
    seat = np.arange(n)
    by_rotation = batch.rewards.astype(np.float64).reshape(num_deals, n, n)
    return Played(by_rotation[:, (seat - seat[:, None]) % n, seat], forfeits)


def play_deals(game: str, agents: Sequence[AnyAgent], num_deals: int, seed: int = 0, **options: Any) -> NDArray[np.float64]:
    """The mean reward over all seats of each agent on each deal, float64 (num_deals, num_agents); see `play_seatings`."""
    by_deal: NDArray[np.float64] = play_seatings(game, agents, num_deals, seed, **options).rewards.mean(axis=2)
    return by_deal


def one_against_many(
    game: str, agent: AnyAgent, opponent: AnyAgent, num_players: int, num_deals: int, seed: int = 0, **options: Any
) -> Score:
    """The mean reward of one agent at a table of copies of another, over all seats."""
    by_deal = play_deals(game, [agent] + [opponent] * (num_players - 1), num_deals, seed, **options)
    return interval(by_deal[:, 0])


def against_each(
    game: str, agent: AnyAgent, names: Sequence[str], num_players: int, num_deals: int, seed: int = 0, **options: Any
) -> dict[str, Score]:
    """`one_against_many` for each of several opponents, by name (`make_agent`)."""
    return {
        name: one_against_many(game, agent, make_agent(name, game), num_players, num_deals, seed, **options)
        for name in names
    }


def baselines(game: str) -> list[str]:
    """The agents that results are given against: the uniform one and every rule-based style."""
    return ["uniform", *(f"rule:{style}" for style in RuleBasedAgent(game).rules.STYLES)]


def every_table(game: str) -> Iterator[dict[str, Any]]:
    """The options of the tables that results are given for: each number of players, in each mode where there are modes."""
    options = load(game).OPTIONS
    for mode in options["mode"].allowed if "mode" in options else [None]:
        for n in options["num_players"].allowed:
            yield {"num_players": n} | ({"mode": mode} if mode else {})


def one_table(game: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a table with its number of players among them.

    Raises:
        TypeError, ValueError: they are not options of the game.
    """
    module = load(game)
    return {**options, "num_players": resolve(module.NAME, module.OPTIONS, module.PRESETS, options)["num_players"]}


@dataclass
class Match:
    """A line-up at a table, and what came of the deals that it has played so far.

    Agents are counted once each, whatever their copies: `total[a][s]` is the sum over deals of the mean reward of the copies
    of the a-th agent in seat s, and its last entry that of the mean over all seats; `squares` are the sums of their squares.
    """

    options: dict[str, Any]
    line_up: list[str]
    deals: int = 0
    total: list[list[float]] = field(default_factory=list)
    squares: list[list[float]] = field(default_factory=list)
    forfeits: list[int] = field(default_factory=list)
    faults: list[list[str]] = field(default_factory=list)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        count, size = len(self.agents), len(self.line_up) + 1
        self.total = self.total or [[0.0] * size for _ in range(count)]
        self.squares = self.squares or [[0.0] * size for _ in range(count)]
        self.forfeits = self.forfeits or [0] * count
        self.faults = self.faults or [[] for _ in range(count)]

    @property
    def agents(self) -> list[str]:
        """Their names, each once."""
        return list(dict.fromkeys(self.line_up))

    def play(self, game: str, num_deals: int, seed: int) -> "Match":
        """What comes of some deals more: a match of these alone. The agents are made for it, and closed if they can be."""
        made = {name: make_agent(name, game) for name in self.agents}
        with contextlib.ExitStack() as closing:
            for agent in made.values():
                closing.callback(getattr(agent, "close", lambda: None))
            played = play_seatings(game, [made[name] for name in self.line_up], num_deals, seed, **self.options)
            faults = [list(dict.fromkeys(getattr(agent, "faults", []))) for agent in made.values()]
        copies = [[j for j, name in enumerate(self.line_up) if name == agent] for agent in made]
        by_seat = np.stack([played.rewards[:, places].mean(axis=1) for places in copies], axis=1)
        by_deal = np.concatenate([by_seat, by_seat.mean(axis=2, keepdims=True)], axis=2)
        return Match(
            options=self.options,
            line_up=self.line_up,
            deals=num_deals,
            total=by_deal.sum(axis=0).tolist(),
            squares=np.square(by_deal).sum(axis=0).tolist(),
            forfeits=[int(played.forfeits[places].sum()) for places in copies],
            faults=faults,
        )

    def add(self, more: "Match") -> None:
        """Count the deals of a part of this match in."""
        self.deals += more.deals
        self.total = (np.array(self.total) + more.total).tolist()
        self.squares = (np.array(self.squares) + more.squares).tolist()
        self.forfeits = [a + b for a, b in zip(self.forfeits, more.forfeits, strict=True)]
        self.faults = [list(dict.fromkeys(a + b)) for a, b in zip(self.faults, more.faults, strict=True)]

    def scores(self) -> dict[str, list[Score]]:
        """The payoff of each agent in each seat, and over all seats as the last entry."""
        return {
            name: [score(self.deals, *sums) for sums in zip(*both, strict=True)]
            for name, *both in zip(self.agents, self.total, self.squares, strict=True)
        }

    def is_narrow(self, width: float) -> bool:
        """Whether it may stop early: no agent's half-width is above `width`, after `FEWEST` deals."""
        return self.deals >= FEWEST and all(found[-1].half_width <= width for found in self.scores().values())


@dataclass(frozen=True)
class Settings:
    """All that a tournament's result depends on.

    Attributes:
        game: the name of a game.
        agents: names for `make_agent`: of a line-up, one per seat; or, if `cross`, of those who meet each other.
        options: those of each table that is played at; for a cross table `num_players` is one of them.
        cross: each agent meets each as one against many, in place of one match of a line-up.
        deals: of each match, at the most.
        chunk: deals that are played together.
        seed: of the first deal.
        until: the half-width that is narrow enough, or None.
    """

    game: str
    agents: list[str]
    options: list[dict[str, Any]]
    cross: bool = False
    deals: int = 1000
    chunk: int = CHUNK
    seed: int = 0
    until: float | None = None

    def __post_init__(self) -> None:
        if self.deals < 2:
            raise ValueError(f"got {self.deals} deals: an interval needs at least 2")
        if self.chunk < 2:
            raise ValueError(f"got chunks of {self.chunk} deals: an interval needs at least 2")
        if self.cross and len(set(self.agents)) < len(self.agents):
            raise ValueError(f"got agents {self.agents}: each meets each, so that each is named once")

    def matches(self) -> list[Match]:
        """The matches to be played: for a cross table those of its first row, its second, …, table by table."""
        if not self.cross:
            return [Match(options, self.agents) for options in self.options]
        return [
            Match(options, [one] + [many] * (options["num_players"] - 1))
            for options in self.options
            for one in self.agents
            for many in self.agents
        ]

    def asdict(self) -> dict[str, Any]:
        """As they stand in a file."""
        fields: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {"version": load(self.game).VERSION, **fields}


class Tournament:
    """Plays the matches of some settings, and keeps what came of them in a file.

    Args:
        settings: of all of it.
        file: where it is kept; what is there already is not played again. None: nowhere.

    Attributes:
        matches: as many as `settings.matches()`, each as far as it has been played.

    Raises:
        ValueError: the file holds something else, or a tournament with other settings.
    """

    def __init__(self, settings: Settings, file: pathlib.Path | None = None) -> None:
        self.settings = settings
        self.file = file
        self.about = {"commit": commit(), "machine": machine()}
        self.matches = settings.matches()
        if file is not None and file.exists():
            found = _read(file, settings.asdict())
            self.about = {name: found[name] for name in self.about}
            self.matches = [Match(**match) for match in found["matches"]]

    def is_over(self, match: Match) -> bool:
        """Whether a match has all its deals, or is narrow enough."""
        until = self.settings.until
        return match.deals >= self.settings.deals or (until is not None and match.is_narrow(until))

    def play(self, workers: int = 1) -> None:
        """Play what is left, chunk by chunk; `workers` chunks at once, which changes nothing but the time."""
        with _bar(self) as bar:
            for match in self.matches:
                if self.is_over(match):
                    continue
                match.play(self.settings.game, 1, self.settings.seed)  # compiles, apart from the time that is measured
                with contextlib.closing(self._chunks(match, workers)) as chunks:
                    start = time.perf_counter()
                    for chunk in chunks:
                        match.add(chunk)
                        match.seconds += time.perf_counter() - start
                        start = time.perf_counter()
                        bar.update(chunk.deals * len(match.line_up))
                        self.save()
                        if self.is_over(match):
                            break

    def _chunks(self, match: Match, workers: int) -> Generator[Match, None, None]:
        """The chunks of a match that are still to be played, in order."""
        chosen = self.settings

        def play(first: int) -> Match:
            return match.play(chosen.game, min(chosen.chunk, chosen.deals - first), chosen.seed + first)

        firsts = range(match.deals, chosen.deals, chosen.chunk)
        if workers == 1:
            yield from map(play, firsts)
        else:
            with ThreadPoolExecutor(workers) as pool:  # what takes time in an agent or in the engine runs beside the others
                yield from pool.map(play, firsts)

    def result(self) -> dict[str, Any]:
        """All of it, as it stands in the file."""
        played = [match for match in self.matches if match.deals >= 2]
        games = sum(match.deals * len(match.line_up) for match in played)
        seconds = sum(match.seconds for match in played)
        found = {
            **self.about,
            **self.settings.asdict(),
            "games_per_second": games / seconds if games else None,
            "results": [_summary(match) for match in played],
            "matches": [asdict(match) for match in self.matches],
        }
        return found | ({"tables": self.cross_tables()} if self.settings.cross and len(played) == len(self.matches) else {})

    def cross_tables(self) -> list[dict[str, Any]]:
        """By table: what one of the row earns among many of the column, and what each of these many earns with it."""
        size = len(self.settings.agents)
        scores = [match.scores() for match in self.matches]
        one = [found[match.line_up[0]][-1] for match, found in zip(self.matches, scores, strict=True)]
        many = [found[match.line_up[-1]][-1] for match, found in zip(self.matches, scores, strict=True)]
        return [
            {
                "options": options,
                "scores": [one[k : k + size] for k in range(first, first + size * size, size)],
                "many": [many[k : k + size] for k in range(first, first + size * size, size)],
            }
            for first, options in zip(range(0, len(one), size * size), self.settings.options, strict=True)
        ]

    def save(self) -> None:
        """Write the file, such that a kill leaves either the old one or the new one."""
        if self.file is not None:
            new = self.file.with_name(self.file.name + ".new")
            new.write_text(json.dumps(self.result(), indent=1) + "\n")
            os.replace(new, self.file)


def _read(file: pathlib.Path, settings: dict[str, Any]) -> dict[str, Any]:
    """A tournament's file, or ValueError."""
    try:
        found = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file} is no tournament: {error}") from error
    if not isinstance(found, dict) or "matches" not in found:
        raise ValueError(f"{file} is no tournament, and is left as it is: name another file")
    for name, needed in settings.items():
        there = found.get(name)
        if there != needed:
            raise ValueError(f"{file} holds a tournament with other settings: {name} is {there!r} there, {needed!r} here")
    return dict(found)


def _summary(match: Match) -> dict[str, Any]:
    agents = {
        name: {"score": found[-1], "by_seat": found[:-1], "forfeits": forfeits, "faults": faults}
        for (name, found), forfeits, faults in zip(match.scores().items(), match.forfeits, match.faults, strict=True)
    }
    return {"options": match.options, "line_up": match.line_up, "deals": match.deals, "agents": agents}


def _bar(tournament: Tournament) -> Any:
    """A progress bar of games, where there is a terminal to show it on and tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        return contextlib.nullcontext(argparse.Namespace(update=lambda games: None))
    most = sum(tournament.settings.deals * len(match.line_up) for match in tournament.matches)
    done = sum(match.deals * len(match.line_up) for match in tournament.matches)
    return tqdm(total=most, initial=done, unit=" games", unit_scale=True, disable=None)


def words(match: Match) -> str:
    """What came of a match, as a table of agents: over all seats, then in each seat, then who gave games up and why."""
    n = len(match.line_up)
    lines = [f"{match.deals} deals, each in {n} seatings; mean reward with a 95% interval clustered by deal"]
    lines.append(f"  {'':30}" + "".join(f"{head:>17}" for head in ("all seats", *(f"seat {seat}" for seat in range(n)))))
    for name, (*by_seat, mean) in match.scores().items():
        lines.append(f"  {name:30}" + "".join(f"{found!s:>17}" for found in (mean, *by_seat)))
    for name, forfeits, faults in zip(match.agents, match.forfeits, match.faults, strict=True):
        if forfeits:
            lines.append(f"  {name} gave up {forfeits} games: " + "; ".join(faults))
    return "\n".join(lines)


def cross_words(agents: Sequence[str], table: dict[str, Any]) -> str:
    """A cross table, seen from both sides."""
    lines = []
    w = max(18, *(len(name) + 2 for name in agents))
    for side, title in (("scores", "one of the row among many of the column"), ("many", "each of the many with this one")):
        lines.append(f"{table['options']}: {title}")
        lines.append(" " * w + "".join(f"{name:>{w}}" for name in agents))
        for name, row in zip(agents, table[side], strict=True):
            lines.append(f"{name:{w}}" + "".join(f"{found!s:>{w}}" for found in row))
    return "\n".join(lines)


def option(text: str) -> tuple[str, Any]:
    """A game's option, from `name=value`: the value is read as JSON, and taken as it stands where it is none.

    Raises:
        argparse.ArgumentTypeError: there is no "=".
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"got {text!r}: options are given as name=value")
    with contextlib.suppress(ValueError):
        return name, json.loads(value)
    return name, value


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.benchmarks.tournament", __doc__)
    parser.add_argument("--game", choices=GAMES, default="holdup", help="default holdup")
    parser.add_argument(
        "--agents",
        nargs="+",
        help=f"one per seat: {AGENTS}",
    )
    parser.add_argument(
        "--cross", nargs="*", metavar="AGENT", help="instead: each against each, of these or of uniform and every style"
    )
    parser.add_argument(
        "--options", nargs="+", type=option, default=[], metavar="NAME=VALUE",
        help="of the game, such as preset=small; a cross table is then played at this table, else at every one",
    )  # fmt: skip
    parser.add_argument("--json", type=pathlib.Path, help="keep the result in this file, and go on from it")
    parser.add_argument("--deals", type=int, default=1000, help="each is played in every seating; default 1000")
    parser.add_argument("--until", type=float, metavar="WIDTH", help="stop when no agent's half-width is above this")
    parser.add_argument("--chunk", type=int, default=CHUNK, help="deals that are played together")
    parser.add_argument("--workers", type=int, default=1, help="chunks that are played at once")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.workers < 1:
        parser.error(f"got --workers {given.workers}: at least 1")
    if given.json and not given.json.parent.is_dir():
        parser.error(f"got --json {given.json}: there is no folder {given.json.parent}")
    if (given.cross is None) == (given.agents is None):
        parser.error("either --agents or --cross")
    options = dict(given.options)
    try:
        if given.cross is None:
            agents, tables = given.agents, [options]
        else:
            agents = given.cross or baselines(given.game)
            tables = [one_table(given.game, options)] if options else list(every_table(given.game))
        rest = given.deals, given.chunk, given.seed, given.until
        tournament = Tournament(Settings(given.game, agents, tables, given.cross is not None, *rest), given.json)
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    try:
        tournament.play(given.workers)
    except KeyboardInterrupt:
        kept = f": the same command goes on from what {given.json} holds" if given.json and given.json.exists() else ""
        parser.exit(130, f"\nstopped{kept}\n")
    if given.cross is None:
        print(words(tournament.matches[0]))
    else:
        for table in tournament.cross_tables():
            print(cross_words(agents, table))


if __name__ == "__main__":
    launch(main)
