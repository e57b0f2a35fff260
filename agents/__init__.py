"""Agents: whoever decides for a seat, from the observation alone."""

import importlib

from heist_envs.agents.agent import Agent
from heist_envs.agents.uniform import UniformAgent

__all__ = ["Agent", "UniformAgent", "make_agent"]


def make_agent(name: str, game: str) -> Agent:
    """One of our agents by its name.

    Args:
        name: "uniform", "rule" (the main rule-based agent of the game), "rule:STYLE" (one of its styles), or the path of
            a policy saved by training, ending in .safetensors.
        game: the name of a game.

    Raises:
        ValueError: no agent or style has this name, or the policy is for another game.
    """
    if name == "uniform":
        return UniformAgent()
    if name == "rule" or name.startswith("rule:"):
        rule_based = importlib.import_module(f"heist_envs.agents.rule_based.{game}")
        agent: Agent = rule_based.RuleBasedAgent(*name.split(":")[1:])
        return agent
    if name.endswith(".safetensors"):
        from heist_envs.agents.policy import PolicyAgent

        return PolicyAgent.load(name, game)
    raise ValueError(f"got agent {name!r}: it is 'uniform', 'rule', 'rule:STYLE' or the path of a .safetensors policy")
