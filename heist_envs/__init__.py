"""Four heist card games of bluff, betrayal and pushed luck, as environments for reinforcement learning."""

import importlib
import importlib.util
from types import ModuleType
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from heist_envs.check import check_game
from heist_envs.games import GAMES, VERSIONS, load

if TYPE_CHECKING:
    from heist_envs.aec import HeistEnv
    from heist_envs.layout import Layout
    from heist_envs.parallel import HeistParallelEnv
    from heist_envs.vector import HeistVectorEnv

__version__ = "0.1.0"
__all__ = ["GAMES", "check_game", "make", "make_vec", "observation_layout", "parallel_env"]


def make(
    game: str | ModuleType, num_players: int | None = None, render_mode: str | None = None, **options: Any
) -> "HeistEnv":
    """A game as a PettingZoo AECEnv.

    Args:
        game: one of `GAMES`, or the module of a game of your own (docs/add-a-game.md).
        num_players: the game's or the preset's default where None.
        render_mode: "ansi", "human" or None.
        **options: the game's options (`OPTIONS` in its module), and `preset`.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game, or a value that is not allowed.
    """
    from heist_envs.aec import HeistEnv

    return HeistEnv(load(game), render_mode, **_with(num_players, options))


def parallel_env(
    game: str | ModuleType, num_players: int | None = None, render_mode: str | None = None, **options: Any
) -> "HeistParallelEnv":
    """A game as a PettingZoo ParallelEnv, with a NO_OP action for everybody who is not to act; arguments as for `make`."""
    from heist_envs.parallel import HeistParallelEnv

    return HeistParallelEnv(load(game), render_mode, **_with(num_players, options))


def make_vec(
    game: str | ModuleType,
    num_envs: int = 1,
    num_players: int | None = None,
    num_threads: int = 1,
    copy: bool = True,
    **options: Any,
) -> "HeistVectorEnv":
    """A batch of games that are stepped together.

    Args:
        game: one of `GAMES`, or the module of a game of your own (docs/add-a-game.md).
        num_envs: number of games.
        num_players: the game's or the preset's default where None.
        num_threads: threads that share the games in each step; where a step takes less than a millisecond they cost more
            than they save.
        copy: False hands out the buffers themselves, which the next step overwrites.
        **options: as for `make`.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown game, or a value that is not allowed.
    """
    from heist_envs.vector import HeistVectorEnv

    return HeistVectorEnv(load(game), num_envs, num_threads, copy, **_with(num_players, options))


def observation_layout(game: str | ModuleType, **options: Any) -> "Layout":
    """Name -> `Feature` (slice, shape, largest value, scale, description) of every part of a game's observation.

    It is the same for every player count, preset and option; they are checked all the same.
    """
    module = load(game)
    module.new_initial_state(**options)
    layout: Layout = module.OBSERVATION
    return layout


def __getattr__(name: str) -> ModuleType:
    """The modules of the package, each imported when it is first named: `heist_envs.agents`, `heist_envs.sb3`, …."""
    if name.startswith("_") or not importlib.util.find_spec(f"{__name__}.{name}"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")


for _name, _version in VERSIONS.items():
    pettingzoo.register("aec", f"heist/{_name}-v{_version}", "heist_envs:make", kwargs={"game": _name})
    pettingzoo.register("parallel", f"heist/{_name}-v{_version}", "heist_envs:parallel_env", kwargs={"game": _name})
    gymnasium.register(
        f"heist/{_name}-v{_version}",
        "heist_envs.single:HeistSingleEnv",
        vector_entry_point="heist_envs.single:HeistSingleVectorEnv",
        kwargs={"game": _name},
    )


def _with(num_players: int | None, options: dict[str, Any]) -> dict[str, Any]:
    return options if num_players is None else {"num_players": num_players, **options}
