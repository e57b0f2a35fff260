"""Games for language models: what a player sees and may do in plain words, and what its answer means.

env.reset(seed=0)
words = text.prompt(env)
env.step(text.parse(env, answer_of_the_model))
"""

import inspect
import re

import numpy as np

from heist_envs.aec import HeistEnv


def rules(env: HeistEnv) -> str:
    """The rules of the game, numbered."""
    return inspect.cleandoc(env.batch.game.__doc__ or "")


def prompt(env: HeistEnv) -> str:
    """What the agent that is to act sees and may do; nothing that is private to another.

    Raises:
        ValueError: no game is running.
    """
    agent = env.agent_selection if env.agents else None
    if agent is None or env.terminations[agent] or env.truncations[agent]:
        raise ValueError("nobody is to act: call reset() to start a game")
    lines = [env.describe(agent), "", f"You are {agent}. You may:"]
    lines += [f"{action}: {name}" for action, name in legal(env).items()]
    return "\n".join([*lines, "Answer with the number or the name of one of them."])


def legal(env: HeistEnv) -> dict[int, str]:
    """The legal actions of the agent that is to act, by number."""
    names = env.batch.game.ACTION_NAMES
    return {int(action): names[action] for action in np.flatnonzero(env.batch.masks[0])}


def parse(env: HeistEnv, answer: str) -> int:
    """The action that an answer means: its number, or the only legal action that it names.

    Raises:
        TypeError: the answer is not a text.
        ValueError: it means no legal action, or several; nothing has been changed.
    """
    if not isinstance(answer, str):
        raise TypeError(f"got an answer of type {type(answer).__name__}: it must be a text")
    return meant(answer, legal(env))


def meant(answer: str, allowed: dict[int, str]) -> int:
    """The action, of those allowed by number and name, that an answer means.

    Raises:
        ValueError: it means none, or several.
    """
    found = set()
    if re.fullmatch(r"\s*\d{1,6}\s*[.:]?\s*", answer):
        found = {int(re.sub(r"\D", "", answer))} & set(allowed)
    else:
        rest = " ".join(answer.upper().split())
        for action, name in sorted(allowed.items(), key=lambda item: -len(item[1])):  # NO REVOLVER before REVOLVER
            pattern = rf"(?<![\w+]){re.escape(name.upper())}(?![\w+])"
            if re.search(pattern, rest):
                found.add(action)
                rest = re.sub(pattern, " ", rest)
    if len(found) != 1:
        meant = "no legal action" if not found else " and ".join(allowed[action] for action in sorted(found))
        choices = ", ".join(f"{action} {name}" for action, name in allowed.items())
        raise ValueError(f"got the answer {answer[:200]!r}, which means {meant}: legal are {choices}")
    return found.pop()
