"""Studies over seeds, sweeps and the speed of training: what they write, and that they go on where they were stopped."""

import json

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")

from heist_envs.benchmarks import tables  # noqa: E402 - after the skip
from heist_envs.benchmarks.report import page  # noqa: E402
from heist_envs.games import GAMES  # noqa: E402
from heist_envs.training import selfplay, study, throughput  # noqa: E402
from heist_envs.training.selfplay import CONFIGS, Config, Run, walked  # noqa: E402

SHORT = {
    "num_envs": 16, "steps": 16, "batch_size": 64, "hidden": [8], "decisions": 512, "evaluate_every": 256,
    "evaluation_deals": 2,
}  # fmt: skip


@pytest.fixture
def short_configs(tmp_path, monkeypatch):
    """Configs as in the package, but for a moment of training."""
    folder = tmp_path / "configs"
    folder.mkdir()
    for path in CONFIGS.glob("*.json"):
        (folder / path.name).write_text(json.dumps(json.loads(path.read_text()) | SHORT))
    for module in (selfplay, study, throughput):
        monkeypatch.setattr(module, "CONFIGS", folder)
    return folder


@pytest.mark.parametrize("algorithm", ["ppo", "mmd"])
@pytest.mark.parametrize("game", GAMES)
def test_the_configs_of_small_tables_pull_towards_a_magnet_in_mirror_descent_alone(algorithm, game):
    config = Config.read(selfplay.tiny_config(algorithm, game))
    assert config.options == {"preset": "tiny"}
    assert config.opponent_share == 0
    assert (config.pull > 0) == (algorithm == "mmd")
    assert config.codes == (game == "cleaners")


def test_on_a_small_table_training_comes_near_an_equilibrium(tmp_path):
    """In less than two minutes to a tenth of the uniform strategy's NashConv."""
    config = Config.read(CONFIGS / "tiny-ppo.json", game="holdup", decisions=300_000, evaluate_every=300_000, seed=7)
    found = study.curve(config)
    assert found["policy"][0] == pytest.approx(found["uniform"], rel=0.02)  # a policy that has learned nothing
    assert found["policy"][-1] < 0.1 * found["uniform"]
    assert sum(found["gains"]) == pytest.approx(found["average"][-1])
    rates = {(one["question"], one["class"]): (one["learned"], one["CFR+"]) for one in found["behaviour"]}
    differences = [abs(learned - exact) for learned, exact in rates.values() if None not in (learned, exact)]
    assert 0 < np.mean(differences) < 0.2


def test_a_study_of_small_tables_goes_on_where_it_was_stopped(short_configs, tmp_path, capsys):
    file = tmp_path / "learning-tiny.json"
    words = ["tiny", "--games", "holdup", "--json", str(file)]
    study.main([*words, "--seeds", "1"])
    assert capsys.readouterr().out.count("seed 1") == 2  # both algorithms
    study.main([*words, "--seeds", "1", "2"])
    assert "seed 1" not in capsys.readouterr().out
    runs = json.loads(file.read_text())["runs"]
    assert [(row["algorithm"], row["seed"]) for row in runs] == [("PPO", 1), ("MMD", 1), ("PPO", 2), ("MMD", 2)]
    for row in runs:
        assert len(row["decisions"]) == len(row["policy"]) == len(row["average"]) == 3
        assert row["config"]["seed"] == row["seed"]
    assert page(tmp_path).count("MMD, averaged weights") == 1  # in the legend of the curves
    made = tables.learning_tables([json.loads(file.read_text())])
    assert "| holdup | MMD | 2 | 512 |" in made
    for one in runs[0]["behaviour"]:
        assert (f"| {one['question']} | {one['class']}" in made) == (one["learned"] is not None)
    with pytest.raises(SystemExit):
        study.main(["full", *words[1:]])
    assert "is not a study of full tables" in capsys.readouterr().err


def test_a_study_says_what_is_lost_by_when_the_magpies_stop(short_configs, tmp_path):
    row = study.curve(Config.read(short_configs / "tiny-ppo.json", game="magpies"))
    assert row["stopping"].keys() == {"itself", "uniform", "rule", "best play"}
    assert min(row["stopping"].values()) > 0
    result = {"kind": "tiny", "runs": [{"game": "magpies", "algorithm": "PPO", "seed": 7, **row}]}
    assert "| PPO | 7 | " + f"{row['stopping']['itself']:.2%}" in tables.learning_tables([result])


def test_a_study_of_full_games_judges_against_every_style(short_configs, tmp_path, capsys):
    file = tmp_path / "full.json"
    study.main(["full", "--games", "holdup", "--seeds", "0", "--deals", "2", "--json", str(file)])
    result = json.loads(file.read_text())
    [row] = result["runs"]
    assert list(row["against"]) == ["uniform", *(f"rule:{name}" for name in ("band", "cautious", "bluffing", "maniac"))]
    assert "rule:maniac" in capsys.readouterr().out
    assert "| 0 | 512 | " in tables.learning_tables([result])


def test_a_table_is_walked_once(tmp_path):
    assert walked("holdup", {"preset": "tiny"}) is walked("holdup", {"preset": "tiny"})


def test_the_speed_of_training_is_given_beside_the_usual_route(short_configs, tmp_path, capsys):
    file = tmp_path / "speed.json"
    throughput.main(["--games", "holdup", "--rounds", "1", "--rollouts", "1", "--decisions", "64", "--json", str(file)])
    result = json.loads(file.read_text())
    ours, as_it_comes, our_network = result["games"]["holdup"]["decisions a second"].values()
    assert min(ours, as_it_comes, our_network) > 0
    assert f"{ours / our_network:.0f} times usual, our network" in capsys.readouterr().out
    row = f"| holdup | 8 |  | {ours:,.0f} | {as_it_comes:,.0f} | {ours / as_it_comes:.0f} | {our_network:,.0f} |"
    assert row in tables.training_speed_tables([result])


def test_a_sweep_finds_its_best_trial_and_goes_on_from_its_folder(tmp_path, capsys):
    pytest.importorskip("optuna")
    from heist_envs.training import sweep

    words = ["--decisions", "600", "--num-envs", "8", "--folder", str(tmp_path / "sweep")]
    sweep.main([*words, "--trials", "2"])
    sweep.main([*words, "--trials", "3"])
    assert "best of 3 trials" in capsys.readouterr().out
    sweep.main([*words, "--trials", "3"])
    assert sorted(path.name for path in (tmp_path / "sweep").glob("trial-*")) == ["trial-0", "trial-1", "trial-2"]
    best = Config.read(tmp_path / "sweep" / "best.json")
    judged = []
    for k in range(3):
        lines = (tmp_path / "sweep" / f"trial-{k}" / "evaluation.jsonl").read_text().splitlines()
        judged.append(json.loads(lines[-1])["average"]["nash_conv"])
    chosen = Config.read(tmp_path / "sweep" / f"trial-{judged.index(min(judged))}" / "config.json")
    assert best == chosen


def test_a_run_that_is_given_up_in_an_evaluation_closes_its_files(tmp_path):
    class GivenUp(Run):
        def evaluate(self):
            raise RuntimeError("enough")

    config = Config(**{**SHORT, "hidden": (8,)})
    with pytest.raises(RuntimeError, match="enough"):
        GivenUp(config, tmp_path / "run").train()
    assert (tmp_path / "run" / "config.json").exists()
