"""Agents: whoever decides for a seat, from the observation alone."""

import os

from heist_envs.agents.agent import Agent, decide, probabilities
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.agents.uniform import UniformAgent
from heist_envs.games import load

__all__ = ["Agent", "RuleBasedAgent", "UniformAgent", "decide", "make_agent", "probabilities"]


def make_agent(name: str | os.PathLike[str], game: str) -> Agent:
    """One of our agents by its name.

    Args:
        name: "uniform", "rule" (the main rule-based agent of the game), "rule:STYLE" (one of its styles), or the path of
            a policy saved by training, ending in .safetensors.
        game: the name of a game.

    Raises:
        ValueError: no game, agent or style has this name, or the policy is not one for the game.
    """
    load(game)
    name = str(name)
    if name == "uniform":
        return UniformAgent()
    kind, _, style = name.partition(":")
    if kind == "rule":
        return RuleBasedAgent(game, style or None)
    if name.endswith(".safetensors"):
        from heist_envs.agents.policy import PolicyAgent

        return PolicyAgent.load(name, game)
    raise ValueError(f"got agent {name!r}: it is 'uniform', 'rule', 'rule:STYLE' or the path of a .safetensors policy")
