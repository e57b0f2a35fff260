"""Self-play training: credit along each seat's own decisions, resume to the same weights, and learning."""

import dataclasses
import json
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

import heist_envs  # noqa: E402 - after the skip
from heist_envs import agents  # noqa: E402
from heist_envs.agents import make_agent  # noqa: E402
from heist_envs.agents.policy import PolicyAgent  # noqa: E402
from heist_envs.games import GAMES  # noqa: E402
from heist_envs.training import demo  # noqa: E402
from heist_envs.training.network import Pool  # noqa: E402
from heist_envs.training.rollouts import SelfPlayVecEnv, seat_advantages  # noqa: E402
from heist_envs.training.selfplay import CONFIGS, Config, Run, main  # noqa: E402

SMALL = Config(
    decisions=6_000, num_envs=24, steps=32, batch_size=256, epochs=2, hidden=(16, 8), pull=0.05, snapshots=2,
    snapshot_every=1_200, checkpoint_every=1_500, evaluate_every=3_000, evaluation_deals=5,
)  # fmt: skip


def games_of(num_envs, opponents=("rule",), share=0.5):
    """The default table of Hold-up, with a pool of opponents."""
    pool = [make_agent(name, "holdup") for name in opponents]
    return SelfPlayVecEnv(heist_envs.make_vec("holdup", num_envs).batch, pool, share)


def slow_advantages(values, rewards, seats, ended, last_values, gamma, lam):
    """The textbook: for each decision, look forward along the same seat's decisions and sum the discounted errors."""
    steps, envs, players = rewards.shape
    made = np.zeros((steps, envs))
    for i in range(envs):
        for seat in range(players):
            own = [t for t in range(steps) if seats[t, i] == seat]
            errors = {}
            for k, t in enumerate(own):
                until = own[k + 1] if k + 1 < len(own) else steps
                end = next((u for u in range(t, until) if ended[u, i]), None)
                if end is not None:
                    errors[t] = (rewards[t : end + 1, i, seat].sum() - values[t, i], None)
                else:
                    then = values[until, i] if until < steps else last_values[i, seat]
                    following = until if until < steps else None
                    errors[t] = (rewards[t:until, i, seat].sum() + gamma * then - values[t, i], following)
            for t in own:
                weight, u = 1.0, t
                while u is not None:
                    made[t, i] += weight * errors[u][0]
                    u = errors[u][1]
                    weight *= gamma * lam
    return made


@pytest.mark.parametrize(("steps", "envs", "players"), [(17, 5, 3), (40, 2, 6), (1, 7, 4), (64, 3, 5)])
def test_advantages_run_along_each_seats_own_decisions(steps, envs, players):
    rng = np.random.default_rng(steps)
    values = rng.normal(size=(steps, envs)).astype(np.float32)
    rewards = rng.normal(size=(steps, envs, players)).astype(np.float32)
    seats = rng.integers(players, size=(steps, envs)).astype(np.int8)
    ended = rng.random((steps, envs)) < 0.15
    last_values = rng.normal(size=(envs, players)).astype(np.float32)
    made = np.zeros((steps, envs), np.float32)
    seat_advantages(values, rewards, seats, ended, last_values, 0.97, 0.9, made)
    assert made == pytest.approx(slow_advantages(values, rewards, seats, ended, last_values, 0.97, 0.9), abs=1e-4)


def test_a_loser_who_does_not_act_last_is_told_of_his_loss():
    rewards = np.zeros((2, 1, 2), np.float32)
    rewards[1, 0] = [-1, 1]
    made = np.zeros((2, 1), np.float32)
    seats = np.array([[0], [1]], np.int8)
    ended = np.array([[False], [True]])
    seat_advantages(np.zeros((2, 1), np.float32), rewards, seats, ended, np.zeros((1, 2), np.float32), 1.0, 0.95, made)
    assert made[:, 0].tolist() == [-1, 1]


def test_the_sum_of_a_seats_rewards_is_its_return_exactly_once():
    env = games_of(8)
    env.seed(0)
    observation = env.reset()
    assert observation.shape == (8, env.observation_space.shape[0])
    rng = np.random.default_rng(0)
    total = np.zeros((8, env.games.batch.num_players))
    ends = 0
    for _ in range(400):
        (masks,) = env.env_method("action_masks")
        before = env.games.batch.players.copy()
        observation, rewards, dones, _ = env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
        assert (env.games.acted == before).all()
        assert not rewards.any()
        total += env.games.rewards
        ends += dones.sum()
        assert (abs(env.games.rewards).sum(axis=1) > 0).sum() <= dones.sum()
    assert ends > 8
    assert total.sum() == pytest.approx(0, abs=1e-4)
    env.close()


def test_in_a_share_of_the_games_one_seat_learns_and_opponents_answer_for_the_others():
    env = games_of(32, ("rule", "uniform"))
    env.seed(0)
    env.reset()
    rng = np.random.default_rng(0)
    asked = [set() for _ in range(32)]
    for _ in range(300):
        (masks,) = env.env_method("action_masks")
        for game, seat in enumerate(env.games.batch.players):
            asked[game].add(int(seat))
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
    assert all(len(seats) == 1 for seats in asked[:16])
    assert all(len(seats) == env.games.batch.num_players for seats in asked[16:])
    assert set.union(*asked[:16]) == set(range(env.games.batch.num_players))
    for name, rows in zip(("rule", "uniform"), (slice(0, 16, 2), slice(1, 16, 2)), strict=True):
        assert len(set().union(*asked[rows])) == env.games.batch.num_players, name


def test_the_learner_is_told_of_an_end_that_comes_while_opponents_play():
    env = games_of(64, ("uniform",), 1.0)
    env.seed(1)
    env.reset()
    rng = np.random.default_rng(1)
    ends = 0
    for _ in range(300):
        (masks,) = env.env_method("action_masks")
        env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
        ends += env.games.ended.sum()
        assert not env.games.rewards[~env.games.ended].any()
        assert env.games.rewards.sum(axis=1) == pytest.approx(0, abs=1e-5)
    assert ends > 64


def final_weights(folder):
    from safetensors.numpy import load_file

    return load_file(pathlib.Path(folder) / "policy.safetensors")


def test_a_killed_run_resumes_to_the_very_same_weights(tmp_path):
    whole = Run(SMALL, tmp_path / "whole")
    whole.train()
    stopped = Run(SMALL, tmp_path / "stopped")

    class KilledError(Exception):
        pass

    from stable_baselines3.common.callbacks import BaseCallback

    class Killer(BaseCallback):
        def _on_step(self):
            if self.num_timesteps > 4_000:
                raise KilledError
            return True

    with pytest.raises(KilledError):
        stopped.train(Killer())
    again = Run.resumed(tmp_path / "stopped")
    assert 0 < again.model.num_timesteps < 4_000
    again.train()
    expected, found = final_weights(tmp_path / "whole"), final_weights(tmp_path / "stopped")
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        assert (array == found[name]).all(), name
    curves = [(tmp_path / name / "evaluation.jsonl").read_text() for name in ("whole", "stopped")]
    assert curves[0] == curves[1]


def test_a_run_that_ctrl_c_stops_before_any_checkpoint_resumes_to_the_very_same_weights(tmp_path):
    from stable_baselines3.common.callbacks import BaseCallback

    class CtrlC(BaseCallback):
        def _on_step(self):
            if self.num_timesteps == 67 * 24:  # in the third rollout
                signal.raise_signal(signal.SIGINT)
            return True

    config = dataclasses.replace(SMALL, checkpoint_every=1_000_000)
    Run(config, tmp_path / "whole").train()
    Run(config, tmp_path / "stopped").train(CtrlC())
    assert (tmp_path / "stopped" / "policy.safetensors").exists()
    again = Run.resumed(tmp_path / "stopped")
    assert 67 * 24 <= again.model.num_timesteps < SMALL.decisions
    again.train()
    expected, found = final_weights(tmp_path / "whole"), final_weights(tmp_path / "stopped")
    for name, array in expected.items():
        assert (array == found[name]).all(), name
    curves = [(tmp_path / name / "evaluation.jsonl").read_text() for name in ("whole", "stopped")]
    assert curves[0] == curves[1]


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path):
    command = [
        sys.executable, "-m", "heist_envs.training.selfplay", "--folder", str(tmp_path / "run"), "--num-envs", "16",
        "--steps", "16", "--batch-size", "64", "--checkpoint-every", "500", "--decisions", "100000000",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not (tmp_path / "run" / "checkpoint.safetensors").exists():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "go on with --resume --folder" in out
    assert (tmp_path / "run" / "policy.safetensors").exists()


def test_every_setting_says_in_the_help_what_it_is(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "--opponents [OPPONENTS ...] Agents (`make_agent`) of the pool." in shown
    assert "--learning-rate LEARNING_RATE At the start; it falls linearly to 0." in shown


def test_a_run_is_a_folder_that_holds_all_about_it(tmp_path):
    run = Run(SMALL, tmp_path / "run")
    run.train()
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"config.json", "evaluation.jsonl", "checkpoint.safetensors"} <= names
    assert {"policy.safetensors", "policy.json", "average.safetensors", "average.json"} <= names
    assert "progress-0.csv" in names
    assert any(name.startswith("events.out.tfevents") for name in names)
    card = json.loads((tmp_path / "run" / "policy.json").read_text())
    assert (card["game"], card["num_players"], card["config"]["seed"]) == ("holdup", 4, 0)
    assert card["made_with"]["heist-envs"]
    evaluations = [json.loads(line) for line in (tmp_path / "run" / "evaluation.jsonl").read_text().splitlines()]
    assert evaluations[0]["decisions"] == 0
    assert evaluations[-1]["decisions"] == card["decisions"] >= SMALL.decisions
    for who in ("policy", "average"):
        assert 0 < evaluations[-1][who]["rates"]["joins with, a poor chance"] < 1
    with pytest.raises(FileExistsError, match="already holds a run"):
        Run(SMALL, tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="holds no run"):
        Run.resumed(tmp_path / "nothing")


def test_the_largest_and_the_sum_over_parts_and_their_gradients_are_torchs_own():
    import torch

    counts = [3, 0, 1, 5, 0]
    starts = np.cumsum([0, *counts])
    generator = torch.Generator().manual_seed(0)
    part = torch.relu(torch.randn(9, 4, generator=generator)).requires_grad_()
    weights = torch.randn(2, 5, 4, generator=generator)
    largest, total = Pool.apply(part, starts)
    (gradient,) = torch.autograd.grad((largest * weights[0]).sum() + (total * weights[1]).sum(), part)
    whole = [rows if len(rows) else torch.zeros(1, 4) for rows in part.split(counts)]
    expected = torch.stack([rows.max(0).values for rows in whole]), torch.stack([rows.sum(0) for rows in whole])
    (own,) = torch.autograd.grad((expected[0] * weights[0]).sum() + (expected[1] * weights[1]).sum(), part)
    torch.testing.assert_close((largest, total), expected)
    assert (part == 0).any()
    torch.testing.assert_close(gradient[part > 0], own[part > 0])  # what is 0 has none, by the layer before


@pytest.mark.parametrize(("shared", "own"), [(1, 2), (2, 1), (3, 0)])
def test_the_shared_layers_serve_policy_and_value_and_the_others_one_of_them(shared, own, tmp_path):
    import torch

    run = Run(dataclasses.replace(SMALL, hidden=(16, 8, 4), shared=shared), tmp_path / "run")
    seen = torch.from_numpy(run.env.games.batch.observations.copy())
    values, _, _ = run.policy.evaluate_actions(seen, torch.zeros(24), np.ones_like(run.env.games.batch.masks))
    values.sum().backward()
    learns = [name for name, weights in run.policy.named_parameters() if weights.grad is not None and "weight" in name]
    assert sum(name.startswith("features_extractor") for name in learns) == shared
    assert sum(name.startswith("mlp_extractor.value_net") for name in learns) == own
    assert not any("policy_net" in name for name in learns)
    assert [run.agent().weights[f"layer{k}.weight"].shape[0] for k in range(4)] == [16, 8, 4, run.env.action_space.n]


@pytest.mark.parametrize("game", ["cleaners", "magpies"])
def test_what_is_spared_where_no_answer_of_a_part_is_legal_changes_nothing(game, tmp_path):
    import torch

    run = Run(dataclasses.replace(SMALL, game=game, part_width=6, pull=0.0), tmp_path / "run")
    policy, batch, rng = run.policy, run.env.games.batch, np.random.default_rng(0)
    batch.reset(0)
    torch.nn.init.normal_(policy.action_net.choices[0].answers.weight)
    for _ in range(60):
        batch.step((rng.random(batch.masks.shape) * batch.masks).argmax(axis=1))
    seen, legal = torch.from_numpy(batch.observations.copy()).float(), torch.from_numpy(batch.masks.astype(bool))
    actions = legal.int().argmax(dim=1)

    def whole():
        latent, _ = policy.mlp_extractor(policy.features_extractor(seen))
        logits = policy.action_net(latent)
        return torch.log_softmax(logits.masked_fill(~legal, -torch.inf), dim=1).gather(1, actions[:, None])[:, 0]

    found = []
    for logs in (policy.evaluate_actions(seen, actions, batch.masks)[1], whole()):
        policy.zero_grad()
        logs.square().sum().backward()
        found.append([logs.detach(), *(weights.grad.clone() for weights in policy.action_net.parameters())])
    assert any((weights != 0).any() for weights in found[0][3:])
    for spared, all_of_it in zip(*found, strict=True):
        torch.testing.assert_close(spared, all_of_it, rtol=1e-4, atol=1e-5)


def test_the_saved_policy_has_the_probabilities_of_the_network(tmp_path):
    import torch

    run = Run(SMALL, tmp_path / "run")
    agent = run.train()
    loaded = PolicyAgent.load(tmp_path / "run" / "policy.safetensors", "holdup")
    batch = run.env.games.batch
    with torch.no_grad():
        tensor = torch.from_numpy(batch.observations.copy())
        distribution = run.model.policy.get_distribution(tensor, action_masks=batch.masks.astype(bool))
    expected = distribution.distribution.probs.numpy()
    for each in (agent, loaded):
        assert each.probabilities(batch.observations, batch.masks) == pytest.approx(expected, abs=1e-5)


def test_actions_are_drawn_as_likely_as_the_policy_says_and_only_legal_ones(tmp_path):
    import torch

    run = Run(SMALL, tmp_path / "run")
    batch, rng = run.env.games.batch, np.random.default_rng(0)
    batch.reset(0)
    for _ in range(30):
        batch.step((rng.random(batch.masks.shape) * batch.masks).argmax(axis=1))
    torch.nn.init.normal_(run.policy.action_net.linear.weight, std=2.0)
    count, each = len(batch), 4_000
    seen, masks = (
        torch.from_numpy(rows.copy()).repeat_interleave(each, dim=0) for rows in (batch.observations, batch.masks)
    )
    with torch.no_grad():
        expected = run.policy.get_distribution(
            seen[::each], action_masks=batch.masks.astype(bool)
        ).distribution.probs.numpy()
        actions, values, logs = run.policy(seen, action_masks=masks.numpy())
        likeliest, *_ = run.policy(seen[::each], deterministic=True, action_masks=batch.masks)
        same_values, same_logs, _ = run.policy.evaluate_actions(seen.float(), actions, masks.numpy())
    counts = np.stack([np.bincount(row, minlength=expected.shape[1]) for row in actions.numpy().reshape(count, each)])
    assert (counts[batch.masks == 0] == 0).all()
    assert counts / each == pytest.approx(expected, abs=0.04)
    assert (likeliest.numpy() == expected.argmax(axis=1)).all()
    torch.testing.assert_close((values, logs), (same_values, same_logs))


def test_training_improves_within_seconds(tmp_path):
    config = Config(decisions=250_000, num_envs=128, batch_size=2048, evaluate_every=10**9, evaluation_deals=300, seed=3)
    run = Run(config, tmp_path / "run")
    run.train()
    lines = (tmp_path / "run" / "evaluation.jsonl").read_text().splitlines()
    first, last = (json.loads(line)["policy"]["against"]["rule"] for line in lines)
    assert last["mean"] - last["half_width"] > first["mean"] + first["half_width"]


def test_the_demo_writes_one_self_contained_page(tmp_path, capsys):
    arguments = ["--folder", str(tmp_path / "demo"), "--decisions", "3000", "--num-envs", "16", "--deals", "20"]
    demo.main(arguments)
    out = capsys.readouterr().out
    page = (tmp_path / "demo" / "report.html").read_text()
    assert str(tmp_path / "demo" / "report.html") in out
    for name in demo.BASELINES:
        assert f"<td>{name}</td>" in page
    assert page.count("data:image/png;base64,") == 2
    assert "http" not in page.replace("http-equiv", "")
    result = json.loads((tmp_path / "demo" / "result.json").read_text())
    assert result["tournament"].keys() == set(demo.BASELINES)
    demo.main([*arguments, "--resume"])


def test_the_command_line_trains_and_resumes(tmp_path, capsys):
    folder = str(tmp_path / "run")
    main(["--folder", folder, "--decisions", "600", "--num-envs", "8", "--steps", "16", "--batch-size", "64"])
    assert f"the run is in {folder}" in capsys.readouterr().out
    before = sorted(pathlib.Path(folder).iterdir())
    main(["--folder", folder, "--resume"])
    assert "there is nothing to go on with" in capsys.readouterr().out
    assert sorted(pathlib.Path(folder).iterdir()) == before
    with pytest.raises(SystemExit):
        main(["--resume"])
    assert "--resume needs --folder" in capsys.readouterr().err
    for words, message in (
        (["--folder", folder], "already holds a run: give another folder, or --resume to go on"),
        (["--folder", folder + "-none", "--resume"], "holds no run to resume"),
        (["--folder", folder + "-new", "--opponents", "genius"], "got agent 'genius'"),
        (["--folder", folder, "--resume", "--decisions", "9000"], "with the settings of"),
        (["--folder", folder, "--resume", "--game", "magpies"], "give no others"),
        (["--folder", folder + "-new", "--decisions", "-5"], "error: got decisions=-5: at least 1"),
        (["--folder", folder + "-new", "--codes", "maybe"], 'error: got codes="maybe": it must be such as false'),
        (["--folder", folder + "-new", "--exact"], "exact gains need a small table, such as --preset tiny"),
    ):
        with pytest.raises(SystemExit):
            main(words)
        assert message in capsys.readouterr().err


def test_without_the_extra_the_error_names_it():
    code = "import sys; sys.modules['sb3_contrib'] = None; import heist_envs.training.selfplay"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: training needs sb3_contrib: pip install 'heist-envs[train]'" in done.stderr


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"decisions": 0}, "decisions=0: at least 1"),
        ({"batch_size": 1}, "batch_size=1: at least 2"),
        ({"evaluate_every": 0}, "evaluate_every=0"),
        ({"evaluation_deals": 1}, "evaluation_deals=1: at least 2"),
        ({"opponents": ()}, "got no opponents"),
        ({"opponent_share": 1.5}, "opponent_share=1.5: from 0 to 1"),
        ({"learning_rate": 0.0}, "learning_rate=0.0: above 0"),
        ({"clip": 0.0}, "clip=0.0: above 0"),
        ({"pull": -0.1}, "pull=-0.1: at least 0"),
        ({"magnet_rate": 2.0}, "magnet_rate=2.0: from 0 to 1"),
        ({"hidden": ()}, r"hidden=\(\): the widths"),
        ({"shared": 0}, "shared=0: from 1 to 2"),
        ({"shared": 3}, "shared=3: from 1 to 2"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_anything_is_written(wrong, message):
    with pytest.raises(ValueError, match=message):
        Config(**wrong)


def test_a_last_batch_of_one_decision_does_no_harm(tmp_path):
    config = Config(num_envs=5, steps=13, batch_size=64, decisions=200, epochs=1, hidden=(8, 8), evaluation_deals=2)
    agent = Run(config, tmp_path / "run").train()
    assert all(np.isfinite(array).all() for array in agent.weights.values())


def test_a_strange_config_or_checkpoint_is_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    Run(SMALL, tmp_path / "run").train()
    checkpoint = tmp_path / "run" / "checkpoint.safetensors"
    tensors = load_file(checkpoint)
    save_file({k: v for k, v in tensors.items() if not k.startswith("optimizer")}, checkpoint, {"counters": '{"a": 1}'})
    with pytest.raises(ValueError, match="not a checkpoint of this run"):
        Run.resumed(tmp_path / "run")
    save_file(tensors, checkpoint)
    with pytest.raises(ValueError, match="not a checkpoint of this run"):
        Run.resumed(tmp_path / "run")
    checkpoint.write_bytes(b"short")
    with pytest.raises(ValueError, match=r"checkpoint\.safetensors is not a checkpoint: "):
        Run.resumed(tmp_path / "run")
    for text in ("[1]", '{"hidden": ["wide"]}', '{"hidden": [1], "opponents": [], "new": 3}', "{"):
        (tmp_path / "run" / "config.json").write_text(text)
        with pytest.raises(ValueError, match="not the config of a run of this version"):
            Run.resumed(tmp_path / "run")


# ------------------------------------------------------------------------------------------------ The regularised policy


def tensors_of(run):
    """Observations, actions and masks of the run's games, as an update has them."""
    import torch

    run.env.reset()
    batch = run.env.games.batch
    masks = torch.from_numpy(batch.masks.astype(np.float32))
    return torch.from_numpy(batch.observations.copy()), masks.argmax(dim=1).float(), masks


def test_without_coefficients_an_update_sees_what_the_library_would_show_it(tmp_path):
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    policy = Run(SMALL, tmp_path / "run")
    observations, actions, masks = tensors_of(policy)
    policy = policy.policy
    policy.entropy, policy.pull = 1.0, 0.0
    ours = policy.evaluate_actions(observations, actions, masks)
    theirs = MaskableActorCriticPolicy.evaluate_actions(policy, observations, actions, masks)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.detach().numpy() == pytest.approx(other.detach().numpy(), abs=1e-6)


def test_the_pull_is_the_divergence_from_the_magnet(tmp_path):
    import torch
    from torch.distributions import Categorical, kl_divergence

    run = Run(SMALL, tmp_path / "run")
    observations, actions, masks = tensors_of(run)
    policy = run.policy
    for weights in policy.magnet.parameters():
        weights.add_(0.5 * torch.randn_like(weights))

    def masked(network):
        return Categorical(logits=network(observations).masked_fill(masks == 0, -1e8))

    expected = kl_divergence(masked(policy._actor()), masked(policy.magnet))
    assert expected.max() > 0.01
    policy.entropy, policy.pull = 0.0, 0.3
    found = policy.evaluate_actions(observations, actions, masks)[2]
    assert found.detach().numpy() == pytest.approx(-0.3 * expected.detach().numpy(), abs=1e-5)


def test_entries_that_never_vary_are_left_out_of_the_network_and_not_of_the_policy(tmp_path):
    from dataclasses import replace

    run = Run(replace(SMALL, num_players=3, options={"preset": "tiny"}), tmp_path / "run")
    observations = tensors_of(run)[0].numpy()
    kept = run.policy.features_extractor.kept.numpy()
    layer = run.agent().weights["layer0.weight"]
    assert layer.shape == (16, observations.shape[1])
    assert 0 < len(kept) < observations.shape[1] / 2
    assert (np.flatnonzero(layer.any(axis=0)) == kept).all()
    rng = np.random.default_rng(1)
    for _ in range(100):  # in other games than those that were looked at
        (masks,) = run.env.env_method("action_masks")
        seen, *_ = run.env.step(np.array([rng.choice(np.flatnonzero(mask)) for mask in masks]))
        assert not np.delete(seen != observations[0], kept, axis=1).any()


def test_codes_are_what_the_network_and_its_policy_see_alike(tmp_path):
    from dataclasses import replace

    import torch

    run = Run(replace(SMALL, options={"preset": "tiny"}, num_players=3, codes=True), tmp_path / "run")
    codes = run.agent().codes
    assert len(codes) > 20
    for entry in np.unique(codes[:, 0]):
        assert (codes[:, 0] == entry).sum() > 2  # with two values the entry itself says all
    observations, _, masks = tensors_of(run)
    shares = run.agent().probabilities(observations.numpy(), masks.numpy())
    with torch.no_grad():
        logits = run.policy._actor()(observations).masked_fill(masks == 0, -1e8)
    assert shares == pytest.approx(torch.softmax(logits, dim=1).numpy(), abs=1e-5)
    assert not len(Run(replace(SMALL, num_players=3), tmp_path / "plain").agent().codes)


@pytest.mark.parametrize(("game", "shared"), [("cleaners", 1), ("magpies", 1), ("magpies", 2)])
def test_parts_are_what_the_network_and_its_policy_see_alike(game, shared, tmp_path):
    from dataclasses import replace

    import torch

    run = Run(replace(SMALL, game=game, part_width=8, shared=shared), tmp_path / "run")
    observations, _, masks = tensors_of(run)
    with torch.no_grad():
        for weights in run.policy.action_net.parameters():
            weights *= 20  # the last layers begin near 0
        logits = run.policy._actor()(observations).masked_fill(masks == 0, -1e8)
        values = run.policy.predict_values(observations)
    shares = run.agent().probabilities(observations.numpy(), masks.numpy())
    assert shares == pytest.approx(torch.softmax(logits, dim=1).numpy(), abs=1e-5)
    assert values.std() > 0
    of_parts = [name for name in run.agent().weights if not name.startswith("layer")]
    assert len(of_parts) > 6
    trained = {id(weights) for group in run.policy.optimizer.param_groups for weights in group["params"]}
    assert all(id(weights) in trained for weights in run.policy._actor().parameters())


def test_rewards_by_score_are_what_is_learnt_from_and_not_what_is_judged_by(tmp_path):
    from dataclasses import replace

    config = replace(SMALL, score_scale=4.0, opponent_share=0.0, steps=96, decisions=24 * 96, baselines=())
    run = Run(config, tmp_path / "run")
    run.train()
    buffer = run.model.rollout_buffer
    ends = buffer.seat_rewards[buffer.ended]
    assert len(ends) > 5
    assert len(np.unique(ends)) > 6
    assert abs(ends).max() > 1
    assert abs(ends.sum(axis=1)).max() < 1e-4
    assert run.env.games.batch.states["score_reward"].all()
    assert run.card["options"] == {}
    run = Run(replace(config, score_until=0.5, decisions=2 * 24 * 96), tmp_path / "then")
    run.train()
    won = run.model.rollout_buffer.seat_rewards[run.model.rollout_buffer.ended]
    assert len(won) > 5
    assert set(won.max(axis=1).astype(float).round(3)) <= {1.0, 0.333}  # alone, or two share it
    assert not run.env.games.batch.states["score_reward"].any()


def test_magnet_and_average_are_never_trained_and_move_as_they_are_told(tmp_path):
    import torch

    run = Run(SMALL, tmp_path / "run")
    before = {name: weights.clone() for name, weights in run.policy.state_dict().items()}
    trained = {id(weights) for group in run.policy.optimizer.param_groups for weights in group["params"]}
    followers = [*run.policy.magnet.parameters(), *run.policy.average.parameters()]
    assert not any(weights.requires_grad or id(weights) in trained for weights in followers)
    with torch.no_grad():
        for weights in run.policy._actor().parameters():
            weights += 1
    run.policy.move_magnet(1.0)
    run.policy.move_average(0.25)
    after = run.policy.state_dict()
    name = "0.linear.weight"
    assert torch.equal(after[f"magnet.{name}"], after["features_extractor.linear.weight"])
    assert torch.allclose(after[f"average.{name}"], before[f"average.{name}"] + 0.25)


def test_the_average_is_at_first_the_plain_mean_of_the_policies(tmp_path):
    from dataclasses import replace

    seen = []

    class Watched(Run):
        def set_coefficients(self):
            seen.append(self.policy.action_net.linear.weight.detach().clone())
            super().set_coefficients()

    config = replace(SMALL, decisions=24 * 32 * 4, average_rate=0.01, evaluate_every=10**9)
    run = Watched(config, tmp_path / "run")
    run.train()
    last = [name for name in run.policy.average.state_dict() if name.endswith("weight")][-1]
    assert len(seen) == 4
    assert run.policy.average.state_dict()[last].numpy() == pytest.approx(
        np.mean([w.numpy() for w in seen], axis=0), abs=1e-6
    )


def test_the_entropys_coefficient_runs_from_its_beginning_to_its_end(tmp_path):
    from dataclasses import replace

    run = Run(replace(SMALL, entropy=0.1, entropy_end=0.02), tmp_path / "run")
    for done, expected in ((24 * 32, 0.1 - 0.08 * 768 / 6000), (3000, 0.06), (6000, 0.02), (6100, 0.02)):
        run.model.num_timesteps = done
        run.set_coefficients()
        assert run.policy.entropy == pytest.approx(expected)


def test_snapshots_are_the_policy_of_their_time_and_the_newest_takes_the_place_of_the_oldest(tmp_path):
    taken = []

    class Watched(Run):
        def take_snapshot(self, slot):
            super().take_snapshot(slot)
            taken.append((self.model.num_timesteps, slot))

    run = Watched(SMALL, tmp_path / "run")
    run.train()
    assert taken[:2] == [(0, 0), (0, 1)]
    assert [slot for _, slot in taken[2:]] == [1, 0, 1, 0, 1][: len(taken) - 2]
    assert len(taken) >= 5
    assert all(now >= SMALL.snapshot_every * (k + 1) for k, (now, _) in enumerate(taken[2:]))
    pool = run.env.games.agents
    assert len(pool) == 3
    assert (pool[1].weights["layer0.weight"] != pool[2].weights["layer0.weight"]).any()


# ------------------------------------------------------------------------------------------------ Configs


def test_a_config_is_read_back_as_it_was_written_and_the_command_line_comes_before_it(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps({"decisions": 600, "num_envs": 8, "steps": 16, "batch_size": 64, "hidden": [8], "entropy": 0.3})
    )
    assert Config.read(file).hidden == (8,)
    folder = tmp_path / "run"
    main(
        [
            "--config",
            str(file),
            "--folder",
            str(folder),
            "--entropy",
            "0.1",
            "--baselines",
            "uniform",
            "--opponent-share",
            "0",
        ]
    )
    saved = Config.read(folder / "config.json")
    assert (saved.decisions, saved.entropy, saved.baselines) == (600, 0.1, ("uniform",))
    assert Config.read(folder / "config.json") == saved


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--entropy", "much"], 'got entropy="much": it must be such as 0.02'),
        (["--hidden", "8", "wide"], 'got hidden=[8, "wide"]: it must be such as [128, 128]'),
        (["--entropy", "-1"], "got entropy=-1: at least 0"),
        (["--config", "nowhere.json"], "nowhere.json"),
    ],
)
def test_a_wrong_command_line_is_refused_in_words(words, message, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main([*words, "--folder", str(tmp_path / "run")])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("game", GAMES)
def test_the_card_of_a_policy_that_comes_with_the_package_is_the_config_that_made_it(game):
    card = agents.PRETRAINED / f"{game}.json"
    config = Config.read(card, decisions=1)
    assert (config.game, config.decisions) == (game, 1)
    assert config.epochs == json.loads(card.read_text())["config"]["epochs"]


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_config_of_its_own(game):
    assert Config.read(CONFIGS / f"{game}.json").game == game
