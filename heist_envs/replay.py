"""Replays: a whole game as JSON that anybody can verify move by move.

    from heist_envs import replay
    made = replay.play("holdup", ["rule", "rule", "uniform", "rule"], seed=7)
    made.save("game.json")
    heist replay game.json

A replay names the game, its version and options, the agents, and every move: chance's outcomes as well as actions, each with
the digest of the state that it leads to. So a changed move is found at its number, and a game whose rules have changed is
refused. It is the view of somebody who sees everything: it is no file for a seat.
"""

import hashlib
import itertools
import json
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heist_envs import chance, rendering, rules
from heist_envs.agents import AnyAgent, make_agent
from heist_envs.agents.agent import answered, ask, refuse_forfeit
from heist_envs.engine import flat, mask_of, row, weights_of
from heist_envs.games import load
from heist_envs.scene import ALL_SEEING, Scene

FORMAT = 1
CHANCE_NAME = "chance"
DIGEST_LENGTH = 8


class Move(NamedTuple):
    """One move of a replay."""

    player: str
    """`player_0`, … or `chance`."""
    name: str
    """The action's name, or the number of chance's outcome."""
    digest: str
    """Of all states up to the one that it leads to."""
    probabilities: dict[str, float] | None = None
    """What the player's policy gave each legal action, where it is known."""


class ReplayError(ValueError):
    """A replay that is not one, or does not fit; `move` is the number of the move at which it breaks, from 0, if any."""

    def __init__(self, message: str, move: int | None = None) -> None:
        super().__init__(message if move is None else f"move {move}: {message}")
        self.move = move


@dataclass
class Replay:
    """A game from its first chance event to its end, or to where it was left."""

    game: str
    version: int
    options: dict[str, Any]
    moves: list[Move] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    """By seat; empty where nobody said."""
    seed: int | None = None
    """Chance's, where the game was drawn from one."""
    about: str = ""

    def states(self) -> Iterator[NDArray[Any]]:
        """The state before the first move and after each, as arrays of one record: verified move by move.

        Raises:
            ReplayError: a move that is not legal there, or whose digest is another one.
        """
        module = load(self.game)
        yield from _played(module, module.new_initial_state(**self.options), self.moves)

    def verify(self) -> NDArray[Any]:
        """The last state.

        Raises:
            ReplayError: the replay is of another version, or breaks at a move.
        """
        module = load(self.game)
        if self.version != module.VERSION:
            raise ReplayError(f"got version {self.version} of {self.game}: this is version {module.VERSION}")
        for state in self.states():
            last = state
        return last

    def returns(self) -> list[float] | None:
        """What each seat got, or None where the game is not over."""
        state = self.verify()[0]
        return _returns(state) if rules.current_player(state) == rules.TERMINAL else None

    def scene(self, number: int, viewer: int | None = ALL_SEEING) -> Scene:
        """The table after so many moves, for who sees everything, for a seat, or for everybody (None)."""
        state = next(itertools.islice(self.states(), number, None))
        seen: Scene = load(self.game).scene(state[0], viewer)
        return seen

    def _repr_html_(self) -> str:
        """The last table in a notebook, with every card open."""
        return rendering.svg(self.scene(len(self.moves)))

    def to_json(self) -> str:
        """One move a line, to be read and compared like code."""
        head = {"format": FORMAT, "game": self.game, "version": self.version, "options": self.options}
        head |= {"about": self.about} if self.about else {}
        head |= {"seed": self.seed} if self.seed is not None else {}
        head |= {"agents": self.agents} if self.agents else {}
        state = self.verify()[0]
        end: dict[str, Any] = {"table": load(self.game).describe(state).splitlines()}
        if rules.current_player(state) == rules.TERMINAL:
            end |= {"returns": _returns(state), "truncated": bool(rules.is_truncated(state))}
        lines = [f"{json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
        moves = [json.dumps([value for value in move if value is not None]) for move in self.moves]
        return "\n".join(
            ["{", *lines, '"moves": [', ",\n".join(moves), "],", f'"end": {json.dumps(end, indent=1)}', "}", ""]
        )

    def save(self, path: str | pathlib.Path) -> None:
        """Write it as JSON."""
        pathlib.Path(path).write_text(self.to_json())

    @classmethod
    def from_json(cls, text: str) -> "Replay":
        """A replay from its text, verified to its end.

        Raises:
            ReplayError: the text is not a replay, is of another version, or breaks at a move or at its end.
        """
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ReplayError(f"got a text that is not JSON: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ReplayError(f"got no replay of format {FORMAT}")
        kinds = {"game": str, "version": int, "options": dict, "moves": list, "end": dict}
        for name, kind in kinds.items():
            if not isinstance(found.get(name), kind):
                raise ReplayError(f"got {name}={found.get(name)!r}: a {kind.__name__} is needed")
        moves = [_move(one, k) for k, one in enumerate(found["moves"])]
        options = {str(name): _tuples(value) for name, value in found["options"].items()}
        made = cls(found["game"], found["version"], options, moves)
        made.about, made.agents, made.seed = str(found.get("about", "")), list(found.get("agents", [])), found.get("seed")
        try:
            end = json.loads(made.to_json())["end"]
        except ReplayError:
            raise
        except (TypeError, ValueError) as error:  # an unknown game, option or value
            raise ReplayError(str(error)) from None
        for name in {*end, *found["end"]}:
            if end.get(name) != found["end"].get(name):
                raise ReplayError(f"got the end {name}={found['end'].get(name)!r}: the moves lead to {end.get(name)!r}")
        return made

    @classmethod
    def load(cls, path: str | pathlib.Path) -> "Replay":
        """A replay from a file (`from_json`)."""
        text = pathlib.Path(path).read_text(errors="replace")
        try:
            return cls.from_json(text)
        except ReplayError as error:
            error.args = (f"{path}: {error}",)
            raise


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _move(found: Any, number: int) -> Move:
    if not (isinstance(found, list) and len(found) in (3, 4) and all(isinstance(part, str) for part in found[:3])):
        raise ReplayError(f"got {found!r}: it must be [player, action, digest] or with probabilities", number)
    return Move(*found)


def _returns(state: Any) -> list[float]:
    payoffs = np.zeros(state.num_players, np.float32)
    rules.returns(state, payoffs)
    return [round(float(payoff), 6) for payoff in payoffs]


def _choices(module: ModuleType, state: Any) -> dict[str, int]:
    """Name -> number of what may happen now: the legal actions, or chance's outcomes."""
    if rules.current_player(state) == rules.CHANCE:
        return {str(k): int(k) for k in np.flatnonzero(weights_of(module, state))}
    return {module.ACTION_NAMES[action]: int(action) for action in np.flatnonzero(mask_of(module, state))}


def _who(state: Any) -> str:
    player = rules.current_player(state)
    return CHANCE_NAME if player == rules.CHANCE else f"player_{player}"


def _digest(before: str, state: NDArray[Any]) -> str:
    return hashlib.sha256(before.encode() + state.tobytes()).hexdigest()[:DIGEST_LENGTH]


def _played(module: ModuleType, state: NDArray[Any], moves: Sequence[Move]) -> Iterator[NDArray[Any]]:
    digest = _digest("", state)
    yield state.copy()
    for number, move in enumerate(moves):
        if rules.current_player(state[0]) == rules.TERMINAL:
            raise ReplayError(f"{move.player} moves in a finished game", number)
        if move.player != _who(state[0]):
            raise ReplayError(f"{move.player} moves where {_who(state[0])} is to", number)
        choices = _choices(module, state[0])
        if move.name not in choices:
            raise ReplayError(f"got {move.name!r} by {move.player}: possible are {', '.join(choices)}", number)
        rules.apply_action(state[0], choices[move.name])
        digest = _digest(digest, state)
        if digest != move.digest:
            raise ReplayError(f"{move.player} {move.name} leads to the digest {digest}, not {move.digest}", number)
        yield state.copy()


Choose = Callable[[Any], tuple[int, dict[str, float] | None]]
"""The number of what happens in a state, and the probabilities of the policy that chose it, by action name."""


class Left(Exception):  # noqa: N818 - it is no error to leave
    """Somebody has left the game."""


class Recorder:
    """A game that is being played, and the replay of it so far: every move is kept."""

    def __init__(self, game: str, options: dict[str, Any], **more: Any) -> None:
        """`options` are those of the game, `more` is `agents`, `seed` and `about` of the replay."""
        self.module = load(game)
        self._states = self.module.new_initial_state(**options)
        self._digest = _digest("", self._states)
        self.made = Replay(game, self.module.VERSION, options, **more)

    @property
    def state(self) -> Any:
        """The record as it is now, to be looked at."""
        return self._states[0]

    def play(self, number: int, probabilities: dict[str, float] | None = None) -> None:
        """Play an action of who is to act, or an outcome of chance.

        Raises:
            ValueError: it is not possible now; nothing has been changed.
        """
        who, names = _who(self.state), {number: name for name, number in _choices(self.module, self.state).items()}
        if number not in names:
            raise ValueError(f"got {number} for {who}: possible are {names}")
        rules.apply_action(self.state, number)
        self._digest = _digest(self._digest, self._states)
        self.made.moves.append(Move(who, names[number], self._digest, probabilities))


def record(game: str, options: dict[str, Any], choose: Choose, **more: Any) -> Replay:
    """Play a game to its end, or to where somebody leaves it, and keep every move.

    Args:
        game: the name of a game.
        options: of the game.
        choose: what happens in a state, for chance and for players; it raises `Left` to leave the game.
        **more: `agents`, `seed` and `about` of the replay.
    """
    recorder = Recorder(game, options, **more)
    while rules.current_player(recorder.state) != rules.TERMINAL:
        try:
            number, probabilities = choose(recorder.state)
        except Left:
            break
        recorder.play(number, probabilities)
    return recorder.made


def drawn(module: ModuleType, seed: int) -> Callable[[Any], int]:
    """Chance as the engine draws it from this seed."""
    stream = chance.streams(chance.seeds(seed, 1))[0]
    weights = np.zeros(1, row(np.int32, module.MAX_CHANCE_OUTCOMES))[0]

    def outcome(state: Any) -> int:
        rules.chance_outcomes(state, weights.values)
        return chance.draw(stream, weights)

    return outcome


def play(
    game: str,
    agents: Sequence[str | AnyAgent],
    seed: int = 0,
    probabilities: bool = False,
    about: str = "",
    **options: Any,
) -> Replay:
    """Let agents play a game to its end.

    Args:
        game: the name of a game.
        agents: one per seat, agents or their names (`make_agent`).
        seed: of chance, drawn as every face draws it from this seed, and of the agents' chances.
        probabilities: keep what the policy gave each action, of agents that can say (`probabilities(observations, masks)`).
        about: a line that says what the game shows.
        **options: of the game. The number of players is the number of agents.

    Raises:
        TypeError, ValueError: options or agents that do not fit, or an agent that gives no legal action.
    """
    if options.setdefault("num_players", len(agents)) != len(agents):
        raise ValueError(f"got num_players={options['num_players']} for {len(agents)} agents: one agent per seat")
    names = [one if isinstance(one, str) else type(one).__name__ for one in agents]
    choose = deciding(game, dict(enumerate(agents)), seed, probabilities)
    return record(game, options, choose, agents=names, seed=seed, about=about)


def deciding(game: str, agents: Mapping[int, str | AnyAgent], seed: int, probabilities: bool = False) -> Choose:
    """What chance and the agents of some seats do.

    Args:
        game: the name of a game.
        agents: by seat, agents or their names (`make_agent`).
        seed: of chance, drawn as every face draws it from this seed, and of the agents' chances.
        probabilities: say what the policy gave each action, of agents that can say it.

    Raises:
        ValueError: no agent has this name.
    """
    module = load(game)
    made = {seat: make_agent(one, game) if isinstance(one, str) else one for seat, one in agents.items()}
    rng = np.random.default_rng(seed)
    outcome = drawn(module, seed)
    seen, here = np.zeros(1, module.OBSERVATION.record), np.zeros(1, module.STATE)

    def choose(state: Any) -> tuple[int, dict[str, float] | None]:
        player = rules.current_player(state)
        if player == rules.CHANCE:
            return outcome(state), None
        rules.observe(state, player, seen[0])
        view = flat(seen), mask_of(module, state)[None]
        here[0] = state
        action = int(answered(made[player], ask(made[player], here, np.zeros(1, np.intp), *view, rng), 1)[0])
        refuse_forfeit(made[player], action, f"player_{player}")
        says = getattr(made[player], "probabilities", None)
        if not (probabilities and says):
            return action, None
        shares = says(*view)[0]
        return action, {module.ACTION_NAMES[a]: round(float(shares[a]), 4) for a in np.flatnonzero(view[1][0])}

    return choose
