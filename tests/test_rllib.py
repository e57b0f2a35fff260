"""RLlib: everybody who acted is told of the end, credit along each seat's own decisions, and learning in two processes."""

import json
import pathlib
import re

import numpy as np
import pytest

pytest.importorskip("ray.rllib")
pytestmark = pytest.mark.filterwarnings("ignore")  # theirs

import ray  # noqa: E402 - after the skip
import torch  # noqa: E402

from heist_envs.agents.agent import probabilities  # noqa: E402
from heist_envs.agents.policy import PolicyAgent  # noqa: E402
from heist_envs.agents.solver import nash_conv, sequence_form, strategy_of, uniform  # noqa: E402
from heist_envs.agents.tree import game_tree  # noqa: E402
from heist_envs.engine import Batch  # noqa: E402
from heist_envs.games import GAMES, load  # noqa: E402
from heist_envs.training.rllib import (  # noqa: E402
    SHARED,
    Config,
    HeistMultiAgentEnv,
    MaskedPolicy,
    SeatAdvantages,
    learn,
    main,
    play_games,
    policy_agent,
)

every_game = pytest.mark.parametrize("game", GAMES)
TOP = pathlib.Path(__file__).parents[1]


def batch_of(game, size, seed, **table):
    module = load(game)
    batch = Batch(module, np.repeat(module.new_initial_state(**table), size), autoreset=False)
    batch.reset(seed)
    return batch


def policy_for(game):
    env = HeistMultiAgentEnv({"game": game, "table": {}})
    return MaskedPolicy(
        observation_space=env.observation_spaces["player_0"],
        action_space=env.action_spaces["player_0"],
        model_config={"scale": load(game).OBSERVATION.scale.tolist(), "hidden": [16]},
    )


@every_game
def test_everybody_who_acted_gets_his_last_observation_and_his_whole_return_once(game):
    env = HeistMultiAgentEnv({"game": game, "table": {}})
    rng = np.random.default_rng(0)
    for seed in range(5):
        observations, _ = env.reset(seed=seed)
        acted, total, over = set(), {}, {"__all__": False}
        while not over["__all__"]:
            (agent,) = observations
            assert env.observation_spaces[agent].contains(observations[agent])
            acted.add(agent)
            action = rng.choice(np.flatnonzero(observations[agent]["action_mask"]))
            observations, rewards, terminated, truncated, _ = env.step({agent: int(action)})
            over = {name: terminated[name] or truncated[name] for name in terminated}
            for one, reward in rewards.items():
                total[one] = total.get(one, 0) + reward
        assert set(observations) == set(total) == acted == set(over) - {"__all__"}
        assert all(over.values())
        assert total == {one: env.env.rewards[one] for one in acted}
        seats = [env.possible_agents.index(one) for one in observations]
        last = np.stack([seen["observations"] for seen in observations.values()])
        assert (last == env.env.batch.final_observations[0, seats]).all()


def test_an_illegal_action_is_an_error():
    env = HeistMultiAgentEnv({"game": "holdup", "table": {"preset": "tiny"}})
    ((agent, seen),) = env.reset(seed=0)[0].items()
    with pytest.raises(ValueError, match=f"for {agent}: legal are"):
        env.step({agent: int(np.flatnonzero(seen["action_mask"] == 0)[0])})


@every_game
def test_a_runner_plays_whole_games_by_their_masks_and_pays_each_seat_its_return_with_its_last_decision(game):
    torch.manual_seed(0)
    batch = batch_of(game, 40, seed=0)
    policy = policy_for(game)
    for _ in range(2):
        played = play_games(batch, policy)
        assert set(played.games) == set(range(40))
        assert played.action_masks[np.arange(len(played)), played.actions].all()
        owed = batch.rewards.copy()
        asked = np.zeros_like(owed, bool)
        asked[played.games, played.seats] = True
        np.subtract.at(owed, (played.games, played.seats), played.rewards)
        assert not owed[asked].any()
        assert not played.rewards[~played.ends].any()
        assert played.ends.sum() == asked.sum()


def test_what_a_runner_hands_on_replays_to_the_same_games():
    torch.manual_seed(1)
    policy, batch = policy_for("holdup"), batch_of("holdup", 20, seed=0, num_players=4)
    batch.reset(5)
    played = play_games(batch, policy)
    again = batch_of("holdup", 20, seed=5, num_players=4)
    again.reset()
    following = {
        (g, s): list(np.flatnonzero((played.games == g) & (played.seats == s))) for g in range(20) for s in range(4)
    }
    while not (again.terminations | again.truncations).all():
        going = np.flatnonzero(~(again.terminations | again.truncations))
        rows = np.array([following[g, again.players[g]].pop(0) for g in going])
        assert (played.observations[rows] == again.observations[going]).all()
        assert (played.action_masks[rows] == again.masks[going]).all()
        actions = np.zeros(20, np.int64)
        actions[going] = played.actions[rows]
        again.step(actions)
    assert not any(following.values())
    assert (again.rewards == batch.rewards).all()


def test_advantages_run_along_each_seats_own_decisions():
    torch.manual_seed(0)
    policy = policy_for("magpies")
    parts = [play_games(batch_of("magpies", size, seed=size), policy) for size in (3, 5)]
    rl_module = {SHARED: policy}
    ones = SeatAdvantages(gamma=1.0, gae_lambda=1.0)(rl_module=rl_module, episodes=parts)[SHARED]
    returns = np.concatenate([part.rewards[np.flatnonzero(part.ends)[np.cumsum(part.ends) - part.ends]] for part in parts])
    assert ones["value_targets"].numpy() == pytest.approx(returns, abs=1e-5)
    nothing = SeatAdvantages(gamma=1.0, gae_lambda=0.0)(rl_module=rl_module, episodes=parts)[SHARED]
    values = policy.compute_values(nothing).detach().numpy()
    ends, rewards = (np.concatenate([getattr(part, name) for part in parts]) for name in ("ends", "rewards"))
    assert nothing["value_targets"].numpy() == pytest.approx(np.where(ends, rewards, np.append(values[1:], 0)), abs=1e-5)
    for made in (ones, nothing):
        assert made["advantages"].mean().item() == pytest.approx(0, abs=1e-5)
        assert made["advantages"].std().item() == pytest.approx(1, abs=1e-5)
        logits = policy.forward_exploration(made)["action_dist_inputs"].detach()
        wanted = logits.log_softmax(1).gather(1, made["actions"][:, None])[:, 0]
        assert made["action_logp"].numpy() == pytest.approx(wanted.numpy(), abs=1e-4)


def test_the_exported_policy_is_the_modules():
    torch.manual_seed(0)
    policy, batch = policy_for("cleaners"), batch_of("cleaners", 30, seed=0)
    agent = policy_agent({name: value.numpy() for name, value in policy.state_dict().items()}, {})
    given = {"obs": {"observations": torch.from_numpy(batch.observations), "action_mask": torch.from_numpy(batch.masks)}}
    wanted = policy.forward_inference(given)["action_dist_inputs"].softmax(1).detach().numpy()
    rows = np.arange(30)
    assert probabilities(agent, batch, rows, 1, np.random.default_rng(0)) == pytest.approx(wanted, abs=1e-5)


@pytest.fixture
def _local_ray():
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("_local_ray")
@pytest.mark.parametrize("batched", [True, False])
def test_a_seat_that_never_acts_breaks_nothing(batched):
    """https://github.com/ray-project/ray/issues/62635"""
    batch = batch_of("holdup", 64, seed=0, num_players=6, preset="tiny")
    played = play_games(batch, policy_for("holdup"))
    assert len(np.unique(played.games * 6 + played.seats)) < 64 * 6, "in these games everybody acted"
    config = Config(
        num_players=6,
        options={"preset": "tiny"},
        iterations=2,
        runners=0,
        games=64,
        decisions=256,
        batch_size=32,
        hidden=(8,),
    )
    agent, rows = learn(config, batched)
    assert all(np.isfinite(list(row.values())).all() and row["decisions"] >= 256 for row in rows)
    assert all(np.isfinite(array).all() for array in agent.weights.values())


def test_two_processes_learn_a_small_game(tmp_path):
    tree = game_tree("holdup", preset="tiny")
    form = sequence_form(tree)
    table = ["--game", "holdup", "--preset", "tiny", "--folder", str(tmp_path)]
    main([*table, "--iterations", "15", "--runners", "1", "--seed", "0"])
    assert not ray.is_initialized()
    agent = PolicyAgent.load(tmp_path / "policy.safetensors", "holdup", preset="tiny")
    strategy = strategy_of([agent] * tree.payoffs.shape[1], "holdup", tree, form, 1, np.random.default_rng(0))
    assert nash_conv(form, strategy) < 0.5 * nash_conv(form, uniform(form))
    with pytest.raises(FileExistsError, match="already holds"):
        main(table)


def test_the_notebook_plays_on_ray(capsys):
    cells = json.loads((TOP / "docs" / "notebooks" / "other-libraries.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    [rllib] = (text for text in code if 'here("ray"' in text)
    names = {}
    for text in (code[1], rllib):
        exec(text, names)
    assert len(re.findall(r"[\d,]+ decisions, entropy \d", capsys.readouterr().out)) == 3
    assert isinstance(names["agent"], PolicyAgent)
    assert not ray.is_initialized()
