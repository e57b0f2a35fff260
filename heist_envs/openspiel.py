"""The OpenSpiel face: every game and preset as a pyspiel game with explicit chance.

    import pyspiel
    import heist_envs.openspiel
    game = pyspiel.load_game("heist_holdup(preset=tiny)")
    game = heist_envs.openspiel.load_game("holdup", preset="tiny", join_order="simultaneous")

Two views of a state, as OpenSpiel has them:

- the *observation* is what a player sees now, our int8 features as float32 (`heist_envs.observation_layout`): give it to
  learners. Its string is the table in words;
- the *information state* is all that a player has seen and done (perfect recall): tabular algorithms key on it. Its string
  is a 64-bit key over all of that; its tensor is the observation followed by the 64 bits of the key, so that two
  information states never have the same tensor.

A deal of several cards is a chance event for each card; a player knows the cards, not their order.
"""

import json
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import pyspiel
except ImportError as missing:
    raise ImportError(f"this needs {missing.name}: pip install 'heist-envs[openspiel]'") from missing

from heist_envs import chance, rules
from heist_envs.engine import first_keys, flat, mask_of, remember_action, update_keys, weights_of
from heist_envs.games import GAMES, load

MAX_GAME_LENGTH = 100_000
"""More actions than any game has before its cap."""
KEY_BITS = 64
LARGEST_DENOMINATOR = 2_000
"""Of a reward; float32 tells fractions of this size apart."""


def _look(module: ModuleType, record: NDArray[Any], keys: NDArray[np.uint64], views: NDArray[np.uint64]) -> int:
    """Let every player see a state (1,); who is to act."""
    rows = np.zeros(1, module.OBSERVATION.record)
    update_keys(record[0], keys, views, rows, flat(rows))
    return int(rules.current_player(record[0]))


class HeistGame(pyspiel.Game):  # type: ignore[misc]
    """A table of one game. Parameters: `preset`, and `options`, all others of the game as JSON."""

    name: str

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        params = params or {}
        self.rules = load(self.name)
        options = json.loads(params.get("options") or "{}")
        if not isinstance(options, dict):
            raise ValueError(f"got options={params['options']!r}: a JSON object is needed")
        if params.get("preset"):
            options["preset"] = params["preset"]
        self.start = self.rules.new_initial_state(**options)
        self.players = int(self.start["num_players"][0])
        # Every copy of a state is first made as a new one, so what it begins with is found only once.
        self.first_keys, self.first_views = first_keys(self.players), np.zeros(self.players, np.uint64)
        self.first_player = _look(self.rules, self.start, self.first_keys, self.first_views)
        info = pyspiel.GameInfo(
            num_distinct_actions=self.rules.NUM_ACTIONS,
            max_chance_outcomes=self.rules.MAX_CHANCE_OUTCOMES,
            num_players=self.players,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=MAX_GAME_LENGTH,
        )
        super().__init__(_TYPES[self.name], info, params)

    def new_initial_state(self) -> "HeistState":
        """A state before the first chance event."""
        return HeistState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "HeistObserver":
        """The observation, or with `perfect_recall` the information state."""
        return HeistObserver(self, iig_obs_type is not None and iig_obs_type.perfect_recall, params)

    def observation_tensor_shape(self) -> list[int]:
        """[D]"""
        return [self.rules.OBSERVATION.size]

    def information_state_tensor_shape(self) -> list[int]:
        """[D + 64]"""
        return [self.rules.OBSERVATION.size + KEY_BITS]


class HeistState(pyspiel.State):  # type: ignore[misc]
    """One game under way, with the running information-state key of every player."""

    def __init__(self, game: HeistGame) -> None:
        super().__init__(game)
        self.name = game.rules.NAME  # what is copied with a state must be picklable, which a module is not
        self.record = game.start.copy()
        self.keys, self.views, self.player = game.first_keys.copy(), game.first_views.copy(), game.first_player

    @property
    def rules(self) -> ModuleType:
        """The module of the game."""
        return load(self.name)

    def _look(self) -> None:
        self.player = _look(self.rules, self.record, self.keys, self.views)  # asked several times a move

    def current_player(self) -> int:
        """The seat to act, or pyspiel's CHANCE or TERMINAL, which have the same numbers as ours."""
        return self.player

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in np.flatnonzero(mask_of(self.rules, self.record[0]))]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Outcomes with their probabilities."""
        weights = weights_of(self.rules, self.record[0])
        total = int(weights.sum())
        return [(int(k), int(weights[k]) / total) for k in np.flatnonzero(weights)]

    def _apply_action(self, action: int) -> None:
        if self.player >= 0:
            remember_action(self.keys, self.player, action)
        rules.apply_action(self.record[0], action)
        if self.player == rules.CHANCE and rules.current_player(self.record[0]) == rules.CHANCE:
            return  # cards that come one after another are one event
        self._look()

    def _action_to_string(self, player: int, action: int) -> str:
        return f"outcome {action}" if player == rules.CHANCE else str(self.rules.ACTION_NAMES[action])

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.player == rules.TERMINAL

    def returns(self) -> list[float]:
        """What each player got; zeros before the end."""
        payoffs = np.zeros(len(self.keys), np.float32)
        if self.is_terminal():
            rules.returns(self.record[0], payoffs)
        # OpenSpiel wants a sum of zero to nine digits, which float32 has not: rewards are fractions of small numbers.
        return [float(Fraction(float(payoff)).limit_denominator(LARGEST_DENOMINATOR)) for payoff in payoffs]

    def resample_from_infostate(self, player: int, sampler: Any) -> "HeistState":
        """A state that the player cannot tell from this one (`determinize`), with the same histories of what it has seen."""
        other: HeistState = self.clone()
        stream = chance.streams(chance.seeds(int(sampler() * 2**52), 1))[0]
        rules.determinize(other.record[0], player, stream)
        return other

    def __str__(self) -> str:
        return str(self.rules.describe(self.record[0]))


class HeistObserver:
    """A player's observation, or its information state, as OpenSpiel's PyObserver."""

    def __init__(self, game: HeistGame, perfect_recall: bool, params: Any) -> None:
        if params:
            raise ValueError(f"got observation parameters {params}: there are none")
        self.perfect_recall = perfect_recall
        layout = game.rules.OBSERVATION
        self.tensor: NDArray[np.float32] = np.zeros(layout.size + KEY_BITS * perfect_recall, np.float32)
        self.dict = {name: self.tensor[f.slice].reshape(f.shape) for name, f in layout.items()}
        if perfect_recall:
            self.dict["key"] = self.tensor[layout.size :]
        self._rows = np.zeros(1, layout.record)

    def set_from(self, state: HeistState, player: int) -> None:
        """Fill `tensor` and `dict` for a player."""
        rules.observe(state.record[0], player, self._rows[0])
        seen = flat(self._rows)[0]
        self.tensor[: len(seen)] = seen
        if self.perfect_recall:
            self.tensor[len(seen) :] = np.unpackbits(state.keys[player : player + 1].view(np.uint8))

    def string_from(self, state: HeistState, player: int) -> str:
        """The table in words, or the key."""
        if self.perfect_recall:
            return f"player_{player} {int(state.keys[player]):016x}"
        return str(state.rules.describe(state.record[0], player))


def _game_type(name: str) -> Any:
    players = load(name).OPTIONS["num_players"].allowed
    return pyspiel.GameType(
        short_name=f"heist_{name}",
        long_name=name.capitalize(),
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=max(players),
        min_num_players=min(players),
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
        provides_factored_observation_string=False,
        parameter_specification={"preset": "", "options": ""},
    )


_TYPES = {name: _game_type(name) for name in GAMES}
for _name, _type in _TYPES.items():
    pyspiel.register_game(_type, type(f"{_name.capitalize()}Game", (HeistGame,), {"name": _name}))


def load_game(game: str, **options: Any) -> HeistGame:
    """A game with any of its options, as keywords.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game, or a value that is not allowed.
    """
    load(game)
    params = {name: options.pop(name) for name in ("preset",) if name in options}
    made: HeistGame = pyspiel.load_game(f"heist_{game}", params | ({"options": json.dumps(options)} if options else {}))
    return made
