"""Play a game at random tables and print a digest of every byte on the way, for runs in other processes.

python -m tests.trajectory GAME DECISIONS SEED
"""

import hashlib
import random
import sys

import numpy as np

from heist_envs.engine import Batch
from heist_envs.games import load
from tests import tables

BATCH = 25


def digest(name, decisions, seed, noise=False):
    """SHA-256 over states, observations, masks and rewards after each step; every tenth step tries illegal actions."""
    game = load(name)
    rng = np.random.default_rng(seed)
    found = hashlib.sha256()
    played = refused = 0
    while played < decisions:
        states = np.repeat(game.new_initial_state(**tables.facts(name).random_options(rng)), BATCH)
        batch = Batch(game, states, autoreset=True)
        batch.reset(int(rng.integers(2**40)))
        for step in range(40):
            if noise:
                random.random()
                np.random.random()  # noqa: NPY002 - the global generator must not matter
            if step % 10 == 0:
                wrong = np.array([rng.choice(np.flatnonzero(mask == 0)) for mask in batch.masks])
                before = batch.to_bytes()
                try:
                    batch.check_actions(wrong)
                except ValueError as error:
                    refused += 1
                    found.update(str(error).encode())
                assert batch.to_bytes() == before
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in batch.masks])
            batch.step(batch.check_actions(actions))
            played += BATCH
            for array in (batch.states, batch.streams, batch.observations, batch.masks, batch.rewards, batch.players):
                found.update(array.tobytes())
            found.update(batch.terminations.tobytes() + batch.truncations.tobytes())
            if step % 10 == 0:
                found.update(batch.observe_seats().tobytes())
    assert refused > 0
    return found.hexdigest()


if __name__ == "__main__":
    print(digest(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
