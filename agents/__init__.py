"""Agents: whoever decides for a seat, from what it sees."""

import os
import pathlib

from heist_envs.agents.agent import Agent, AnyAgent, Searcher, decide, probabilities
from heist_envs.agents.ismcts import ISMCTSAgent
from heist_envs.agents.policy import PolicyAgent
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.agents.uniform import UniformAgent
from heist_envs.games import load as game_module

__all__ = [
    "Agent", "AnyAgent", "ISMCTSAgent", "PolicyAgent", "RuleBasedAgent", "Searcher", "UniformAgent",
    "decide", "load", "make_agent", "probabilities",
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
            comes with the package), or the path of a policy saved by training, ending in .safetensors.
        game: the name of a game.

    Raises:
        ValueError: no game, agent or style has this name, or the policy is not one for the game.
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
    raise ValueError(
        f"got agent {name!r}: it is 'uniform', 'rule', 'rule:STYLE', 'ismcts', 'ismcts:500', 'ismcts:50ms', 'ppo' "
        "or the path of a .safetensors policy"
    )
