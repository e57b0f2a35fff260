"""Card games of other libraries, each played as its own documents do: a random legal action, the step, observation and mask.

They are measured beside ours where they are installed; none is needed (docs/reproduce.md says how to install them).
"""

import importlib
import importlib.util
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from heist_envs.benchmarks.stopwatch import Work

DECISIONS = 2_000
"""In a piece of work from Python, at least: a game is played to its end."""


def openspiel(name: str) -> Work:
    """A game of OpenSpiel from Python: observation and mask as NumPy arrays."""
    import pyspiel

    game = pyspiel.load_game(name)
    draw = random.Random(0).random

    def work() -> int:
        decisions = 0
        while decisions < DECISIONS:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(draw() * len(outcomes))][0])
                    continue
                np.array(state.observation_tensor(), np.float32)
                np.array(state.legal_actions_mask(), np.int8)
                legal = state.legal_actions()
                state.apply_action(legal[int(draw() * len(legal))])
                decisions += 1
        return decisions

    return work


def aec(env: Any) -> Work:
    """PettingZoo's loop, for an environment whose observations bring an action mask: `last`, `step`."""
    env.reset(seed=0)
    draw = random.Random(0).random

    def work() -> int:
        for _ in range(DECISIONS):
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.reset()
                observation = env.last()[0]
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
        return DECISIONS

    return work


def classic(name: str) -> Work:
    """A card game of PettingZoo."""
    return aec(importlib.import_module(f"pettingzoo.classic.{name}").env())


def rlcard(name: str) -> Work:
    """A game of RLCard, which gives the legal actions as a dictionary; the mask is made from it."""
    import rlcard

    env = rlcard.make(name, {"seed": 0})
    draw = random.Random(0).random

    def work() -> int:
        decisions = 0
        while decisions < DECISIONS:
            state, _ = env.reset()
            while not env.is_over():
                legal = list(state["legal_actions"])
                np.zeros(env.num_actions, np.int8)[legal] = 1
                state, _ = env.step(legal[int(draw() * len(legal))])
                decisions += 1
        return decisions

    return work


PGX_GAMES, PGX_STEPS = 1024, 50


def pgx(name: str) -> Work:
    """A batch of a game of PGX on the processor: many steps in one compiled loop, a finished game starts again."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def decide(state: Any, key: Any) -> tuple[Any, None]:
        first, second = jax.random.split(key)
        odds = jax.numpy.where(state.legal_action_mask, 0.0, -jax.numpy.inf)
        action = jax.random.categorical(first, odds, axis=1)
        return step(state, action, jax.random.split(second, PGX_GAMES)), None

    play = jax.jit(lambda state, key: jax.lax.scan(decide, state, jax.random.split(key, PGX_STEPS))[0])
    key = jax.random.PRNGKey(0)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, PGX_GAMES))

    def work() -> int:
        nonlocal state, key
        key, now = jax.random.split(key)
        state = jax.block_until_ready(play(state, now))
        return PGX_GAMES * PGX_STEPS

    return work


PEERS: dict[str, tuple[str, Callable[[str], Work], tuple[str, ...]]] = {
    "OpenSpiel": (
        "pyspiel",
        openspiel,
        ("leduc_poker", "kuhn_poker", "liars_dice", "skat", "hanabi", "gin_rummy"),
    ),
    "PettingZoo classic": ("rlcard", classic, ("leduc_holdem_v4", "texas_holdem_v4")),
    "RLCard": ("rlcard", rlcard, ("leduc-holdem", "limit-holdem", "uno", "gin-rummy")),
    "PGX, batch of 1,024": ("pgx", pgx, ("kuhn_poker", "leduc_holdem", "sparrow_mahjong")),
}
"""By title: the module that is needed, how a game is played, and the games."""


def peers() -> dict[str, Work]:
    """The games of the libraries that are installed."""
    return {
        f"{title}: {name}": play(name)
        for title, (needed, play, names) in PEERS.items()
        if importlib.util.find_spec(needed)
        for name in names
    }
