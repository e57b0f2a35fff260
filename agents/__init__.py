"""Agents: whoever decides for a seat, from what it sees."""

import importlib
import operator
import os
import pathlib
from typing import Any

from heist_envs.agents.agent import Agent, AnyAgent, Searcher, decide, decide_together, probabilities
from heist_envs.agents.ismcts import ISMCTSAgent
from heist_envs.agents.policy import PolicyAgent
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.agents.uniform import UniformAgent
from heist_envs.games import load as game_module

__all__ = [
    "Agent", "AnyAgent", "ISMCTSAgent", "PolicyAgent", "RuleBasedAgent", "Searcher", "UniformAgent",
    "decide", "decide_together", "load", "make_agent", "probabilities",
]  # fmt: skip

PRETRAINED = pathlib.Path(__file__).parent / "pretrained"
"""Policies that come with the package, at most one per game, each with a card that says how it was trained."""


def load(game: str) -> PolicyAgent:
    """The policy that comes with the package for the default table of a game. It plays any other table too, less well.

    Raises:
        ValueError: no game has this name, or none comes for it.
    """
    path = PRETRAINED / f"{game_module(game).NAME}.safetensors"
    if not path.exists():
        there = ", ".join(sorted(one.stem for one in PRETRAINED.glob("*.safetensors")))
        raise ValueError(f"got game {game!r}: policies come with the package for {there}")
    return PolicyAgent.load(path, game)


def make_agent(name: str | os.PathLike[str], game: str) -> AnyAgent:
    """One of our agents by its name.

    Args:
        name: "uniform", "rule" (the main rule-based agent of the game), "rule:STYLE" (one of its styles), "ismcts" (search),
            "ismcts:500" (with 500 simulations a decision), "ismcts:50ms" (with 50 milliseconds), "ppo" (the policy that
            comes with the package), the path of a policy saved by training, ending in .safetensors, that of a bot, ending
            in .py, which is run in a process of its own under limits (`entrant.Entrant`), or "package.module:object", an
            object of your own that is trusted and run in this process (`imported`).
        game: the name of a game.

    Raises:
        ValueError: no game, agent, style, file or object has this name, or the policy is not one for the game.
    """
    game_module(game)
    name = str(name)
    if name == "uniform":
        return UniformAgent()
    kind, _, detail = name.partition(":")
    if kind == "rule":
        return RuleBasedAgent(game, detail or None)
    if kind == "ismcts":
        return ISMCTSAgent.from_budget(game, detail or None)
    if name == "ppo":
        return load(game)
    if name.endswith(".safetensors"):
        return PolicyAgent.load(name, game)
    if name.endswith(".py"):
        # It is a command too, `python -m`, which must not be imported before it runs.
        from heist_envs.agents.entrant import Entrant

        return Entrant(name, game)
    if detail and all(part.isidentifier() for part in name.replace(":", ".").split(".")):
        return imported(name, game)
    inside = pathlib.Path(name) / "average.safetensors"
    hint = f"did you mean {str(inside)!r}? It" if inside.exists() else "it"
    raise ValueError(
        f"got agent {name!r}: {hint} is 'uniform', 'rule', 'rule:STYLE', 'ismcts', 'ismcts:500', 'ismcts:50ms', 'ppo', "
        "the path of a .safetensors policy or of a .py bot, or 'package.module:object'"
    )


IMPORTED: set[str] = set()
"""Modules of agents of somebody's own."""


def imported(name: str, game: str) -> AnyAgent:
    """An agent of your own, run in this process and trusted.

    Args:
        name: "package.module:object". The object is an agent (`Agent`, `Searcher`), or a class or function that makes one
            when it is called with the game's name.
        game: the name of a game.

    Raises:
        ValueError: there is no such module or object, or it makes nothing that can `act`.
    """
    path, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(path)
    except ModuleNotFoundError as missing:
        if not f"{path}.".startswith(f"{missing.name}."):  # the module is there, and one that it needs is not
            raise
        raise ValueError(f"got agent {name!r}: there is no module {missing.name!r} to import") from missing
    if not path.startswith("heist_envs."):
        IMPORTED.add(path)
    try:
        found = operator.attrgetter(attribute)(module)
    except AttributeError as missing:
        raise ValueError(f"got agent {name!r}: {missing}") from missing
    makes_one = callable(found) and (isinstance(found, type) or not _acts(found))
    try:
        agent: Any = found(game) if makes_one else found
    except TypeError as error:
        raise TypeError(f"got agent {name!r}, which could not be made from the game's name: {error}") from error
    if not _acts(agent):
        raise ValueError(
            f"got agent {name!r}, {type(agent).__name__}: it must have act(observations, action_masks, rng), "
            "or make such an agent when it is called with a game's name"
        )
    made: AnyAgent = agent
    return made


def _acts(it: object) -> bool:
    return callable(getattr(it, "act", None)) or callable(getattr(it, "act_in", None))
