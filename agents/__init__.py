"""Agents: whoever decides for a seat, from what it sees."""

import os

from heist_envs.agents.agent import Agent, AnyAgent, Searcher, decide, probabilities
from heist_envs.agents.ismcts import ISMCTSAgent
from heist_envs.agents.rule_based import RuleBasedAgent
from heist_envs.agents.uniform import UniformAgent
from heist_envs.games import load

__all__ = [
    "Agent", "AnyAgent", "ISMCTSAgent", "RuleBasedAgent", "Searcher", "UniformAgent",
    "decide", "make_agent", "probabilities",
]  # fmt: skip


def make_agent(name: str | os.PathLike[str], game: str) -> AnyAgent:
    """One of our agents by its name.

    Args:
        name: "uniform", "rule" (the main rule-based agent of the game), "rule:STYLE" (one of its styles), "ismcts" (search),
            "ismcts:500" (with 500 simulations a decision), "ismcts:50ms" (with 50 milliseconds), or the path of a policy
            saved by training, ending in .safetensors.
        game: the name of a game.

    Raises:
        ValueError: no game, agent or style has this name, or the policy is not one for the game.
    """
    load(game)
    name = str(name)
    if name == "uniform":
        return UniformAgent()
    kind, _, detail = name.partition(":")
    if kind == "rule":
        return RuleBasedAgent(game, detail or None)
    if kind == "ismcts":
        return ISMCTSAgent.from_budget(game, detail or None)
    if name.endswith(".safetensors"):
        from heist_envs.agents.policy import PolicyAgent

        return PolicyAgent.load(name, game)
    raise ValueError(
        f"got agent {name!r}: it is 'uniform', 'rule', 'rule:STYLE', 'ismcts', 'ismcts:500', 'ismcts:50ms' "
        "or the path of a .safetensors policy"
    )
