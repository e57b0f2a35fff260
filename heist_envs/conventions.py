"""What holds for the seats and the rewards of every game of the package, whatever its rules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs.rules import State, compiled, inlined


@inlined
def seat_of(state: State, number: int) -> int:
    """A seat number below 2 n brought below n: division is the slowest instruction there is."""
    n = state.num_players
    return number - n if number >= n else number


@inlined
def left_of(state: State, seat: int) -> int:
    """The next seat clockwise."""
    return seat_of(state, seat + 1)


def check_first_player(o: dict[str, Any]) -> None:
    """Raises ValueError where the options name a first player who has no seat."""
    n = o["num_players"]
    if o["first_player"] != "random" and o["first_player"] >= n:
        raise ValueError(f"got first_player={o['first_player']}: {n} players have the seats 0 to {n - 1}")


@compiled
def reward_winners(payoffs: NDArray[np.float32]) -> None:
    """Turn standings, whole numbers of which the highest wins, into win rewards: (n w - 1) / (n - 1).

    w is 1 / number of winners for a winner and 0 for the others, so that a tie is shared and the sum is zero.
    """
    n = len(payoffs)
    best = payoffs[0]
    winners = 0
    for standing in payoffs:
        if standing > best:
            best = standing
            winners = 0
        winners += standing == best
    for seat in range(n):
        share = 1.0 / winners if payoffs[seat] == best else 0.0
        payoffs[seat] = (n * share - 1.0) / (n - 1)


@compiled
def reward_scores(payoffs: NDArray[np.float32], scale: int) -> None:
    """Turn points, whole numbers, into score rewards: (own - mean of the others) / scale, clipped to [-1, 1]."""
    n = len(payoffs)
    total = 0
    for points in payoffs:
        total += int(points)
    for seat in range(n):
        points = int(payoffs[seat])
        payoffs[seat] = min(1.0, max(-1.0, (points - (total - points) / (n - 1)) / scale))
