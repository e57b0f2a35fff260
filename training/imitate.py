"""Learn to play as another agent does: a fast stand-in for one that thinks too long to be trained against.

    python -m heist_envs.training.imitate --game holdup --agent ismcts:1000 --others ppo rule --out searcher.safetensors
    python -m heist_envs.training.selfplay --game holdup --opponents rule searcher.safetensors

The agent plays in three of four seats or so, and agents of the pool `--others` in the rest; what it saw and did is learned
from by maximum likelihood ("behavioural cloning"), with the network of the game's own config. A tenth of the games is held
out: the weights are kept that give the agent's decisions there the highest likelihood.
"""

import copy
import math
import pathlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from tqdm import tqdm
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

import heist_envs
from heist_envs.agents import AnyAgent, decide_together, make_agent
from heist_envs.agents.policy import PolicyAgent, card_of
from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES, load
from heist_envs.training.network import RegularizedPolicy
from heist_envs.training.selfplay import CONFIGS, Config, network_arguments, versions

NUM_GAMES = 64
"""That are played at once."""
SHARE = 0.75
"""How likely a seat is the agent's and not one of the others'."""
HELD_OUT = 10
"""One of so many games is held out."""
PATIENCE = 5
"""Epochs without a better likelihood of what is held out, after which learning ends."""
BATCH = 512
"""Decisions of a step of learning."""


class Decisions(NamedTuple):
    """What an agent saw and did."""

    observations: NDArray[np.int8]
    """(N, D)."""
    masks: NDArray[np.int8]
    """(N, A)."""
    actions: NDArray[np.int64]
    """(N,)."""

    def some(self, rows: NDArray[Any]) -> "Decisions":
        """Those of some rows."""
        return Decisions(*(array[rows] for array in self))


def watch(
    game: str, agent: AnyAgent, others: Sequence[AnyAgent], decisions: int, seed: int, **options: Any
) -> tuple[Decisions, NDArray[np.bool_]]:
    """Decisions of an agent in games with others, and which of them are held out, bool (N,): whole games are.

    Args:
        game: the name of a game.
        agent: who is watched. It has every seat where there are no others.
        others: who sits beside it (`SHARE`).
        decisions: how many are seen, at least.
        seed: of the games, the line-ups and the agents' chances.
        **options: of the game.
    """
    vec = heist_envs.make_vec(game, NUM_GAMES, **options)
    batch, rng = vec.batch, np.random.default_rng(seed)
    batch.reset(seed)
    everybody = [agent, *others]
    playing = np.zeros((NUM_GAMES, batch.num_players), np.int64)
    played = np.arange(NUM_GAMES)  # numbers that no two games share

    def seat(games: NDArray[Any]) -> None:
        size = (len(games), batch.num_players)
        drawn = rng.integers(1, len(everybody), size=size) if others else np.zeros(size, np.int64)
        playing[games] = np.where(rng.random(size) < SHARE, 0, drawn)

    seat(np.arange(NUM_GAMES))
    seen: list[Decisions] = []
    of_games: list[NDArray[np.int64]] = []
    with tqdm(total=decisions, unit=" decisions") as bar:
        while bar.n < decisions:
            asked = playing[np.arange(NUM_GAMES), batch.players]
            actions = decide_together(everybody, asked, batch, rng)
            rows = np.flatnonzero(asked == 0)
            seen.append(Decisions(batch.observations[rows].copy(), batch.masks[rows].copy(), actions[rows]))
            of_games.append(played[rows])
            bar.update(len(rows))
            batch.step(actions)
            over = np.flatnonzero(batch.terminations | batch.truncations)
            seat(over)
            played[over] = played.max() + 1 + np.arange(len(over))
    held_out: NDArray[np.bool_] = np.concatenate(of_games) % HELD_OUT == 0
    return Decisions(*map(np.concatenate, zip(*seen, strict=True))), held_out


def imitate(
    config: Config, seen: Decisions, held_out: NDArray[np.bool_], epochs: int
) -> tuple[PolicyAgent, dict[str, float]]:
    """The policy that gives an agent's decisions the highest likelihood, and how well it knows those that are held out.

    Args:
        config: whose game, table, seed, network and learning rate are used.
        seen: the decisions.
        held_out: which of them are not learned from, bool (N,).
        epochs: at the most.

    Returns:
        The policy; and of the decisions held out the mean log-likelihood of what was done (`loss`, nats), the same of the
        uniform policy (`uniform`), and the share in which the likeliest answer is the agent's (`agreement`).
    """
    torch.manual_seed(config.seed)
    torch.set_num_threads(config.threads)
    rng = np.random.default_rng(config.seed)
    vec = heist_envs.make_vec(config.game, 1, config.num_players, **config.options)
    spaces = vec.single_observation_space["observation"], vec.single_action_space
    policy = RegularizedPolicy(*spaces, lambda _: config.learning_rate, **network_arguments(config, vec.num_players))

    def logs(rows: Decisions) -> torch.Tensor:
        actions = torch.from_numpy(rows.actions)
        found: torch.Tensor = policy.evaluate_actions(torch.from_numpy(rows.observations).float(), actions, rows.masks)[1]
        return found

    learned, test = np.flatnonzero(~held_out), seen.some(np.flatnonzero(held_out))
    best, weights, since = math.inf, copy.deepcopy(policy.state_dict()), 0
    for _ in range(epochs):
        order = rng.permutation(learned)
        for start in range(0, len(order), BATCH):
            loss = -logs(seen.some(order[start : start + BATCH])).mean()
            policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            policy.optimizer.step()
        with torch.no_grad():
            now = -float(logs(test).mean())
        since += 1
        if now < best:
            best, weights, since = now, copy.deepcopy(policy.state_dict()), 0
        if since == PATIENCE:
            break
    policy.load_state_dict(weights)
    card = card_of(config.game, vec.num_players, config.options, decisions=len(seen.actions), made_with=versions())
    agent = policy.agent(card)
    likeliest = agent.probabilities(test.observations, test.masks).argmax(axis=1)
    uniform = float(np.log(test.masks.sum(axis=1)).mean())
    return agent, {"loss": best, "uniform": uniform, "agreement": float((likeliest == test.actions).mean())}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.imitate", __doc__)
    parser.add_argument("--game", choices=GAMES, required=True)
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--agent", required=True, help="who is imitated")
    parser.add_argument("--others", nargs="*", default=[], help="who plays beside it")
    parser.add_argument("--decisions", type=int, default=50_000, help="of the agent, which are learned from")
    parser.add_argument("--epochs", type=int, default=100, help="at the most")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the .safetensors file to write; a card beside it")
    given = parser.parse_args(arguments)
    if given.decisions < HELD_OUT:
        parser.error(f"--decisions: got {given.decisions}, at least {HELD_OUT}")
    if given.out.suffix != ".safetensors" or not given.out.parent.is_dir():
        parser.error(f"--out: got {str(given.out)!r}: a .safetensors file in a folder that is there")
    config = Config.read(CONFIGS / f"{given.game}.json", seed=given.seed, num_players=given.players)
    options = {} if given.players is None else {"num_players": given.players}
    try:
        load(given.game).new_initial_state(**options)
        agent, *others = (make_agent(name, given.game) for name in (given.agent, *given.others))
    except (TypeError, ValueError) as error:
        parser.error(str(error))
    seen, held_out = watch(given.game, agent, others, given.decisions, given.seed, **options)
    policy, found = imitate(config, seen, held_out, given.epochs)
    policy.card |= {"imitates": given.agent, "others": given.others, "seed": given.seed, **found}
    policy.save(given.out)
    print(
        f"{given.out}: held out, {found['loss']:.3f} nats a decision where the uniform policy has {found['uniform']:.3f}; "
        f"the likeliest answer is that of {given.agent} in {found['agreement']:.0%}"
    )


if __name__ == "__main__":
    launch(main)
