"""Look for good settings of training on a small table, where what they are worth is known exactly.

    python -m heist_envs.training.sweep --game cleaners --preset tiny --trials 30 --folder runs/sweep-cleaners

Each trial trains with settings that Optuna proposes, and is judged by the exact NashConv of its averaged policy at the end;
a trial that falls behind the median of the earlier ones is given up. All trials are in the folder, in `trials.jsonl`; the
same command with more trials goes on from them.
"""

import json
import pathlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

try:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend
except ImportError as missing:
    raise ImportError(f"a sweep needs {missing.name}: pip install 'heist-envs[sweep]'") from missing

from heist_envs.command import CommandParser, launch
from heist_envs.games import GAMES
from heist_envs.training.selfplay import Config, Run


def proposed(trial: optuna.trial.BaseTrial, base: Config) -> Config:
    """The settings of a trial; what is not searched is the base's."""
    entropy = trial.suggest_float("entropy", 0.005, 0.3, log=True)
    return replace(
        base,
        learning_rate=trial.suggest_float("learning_rate", 1e-4, 5e-3, log=True),
        entropy=entropy,
        entropy_end=entropy * trial.suggest_float("entropy_left", 0.01, 1.0, log=True),
        pull=trial.suggest_categorical("pull", [0.0, 0.02, 0.05, 0.1, 0.2]),
        magnet_rate=trial.suggest_categorical("magnet_rate", [0.02, 0.1, 1.0]),
        clip=trial.suggest_categorical("clip", [0.05, 0.1, 0.2, 0.4]),
        gae_lambda=trial.suggest_categorical("gae_lambda", [0.8, 0.95, 1.0]),
        epochs=trial.suggest_int("epochs", 1, 8),
        batch_size=trial.suggest_categorical("batch_size", [1024, 2048, 4096]),
    )


class _Judged(Run):
    """Tells Optuna of every evaluation."""

    trial: optuna.Trial

    def evaluate(self) -> dict[str, Any]:
        found = super().evaluate()
        self.trial.report(found["average"]["nash_conv"], found["decisions"])
        if self.trial.should_prune():
            raise optuna.TrialPruned
        return found


def sweep(base: Config, trials: int, folder: pathlib.Path, seed: int = 0) -> optuna.Study:
    """Go on with a study until it has so many trials, finished or given up.

    Args:
        base: of all trials, with `exact`.
        trials: of the whole study, earlier ones in the folder included.
        folder: of the study and of its runs.
        seed: of what is proposed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(folder / "trials.jsonl"))),
        study_name=base.game,
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=base.evaluate_every),
        load_if_exists=True,
    )

    def objective(trial: optuna.Trial) -> float:
        run = _Judged(proposed(trial, base), folder / f"trial-{trial.number}")
        run.trial = trial
        run.train()
        lines = (run.folder / "evaluation.jsonl").read_text().splitlines()
        return float(json.loads(lines[-1])["average"]["nash_conv"])

    finished = [trial for trial in study.trials if trial.state.is_finished()]
    study.optimize(objective, n_trials=max(0, trials - len(finished)))
    return study


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = CommandParser("heist_envs.training.sweep", __doc__)
    parser.add_argument("--game", choices=GAMES, default="holdup")
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--decisions", type=int, default=500_000, help="of each trial")
    parser.add_argument("--num-envs", type=int, default=256)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default=None, help="default runs/sweep-<game>")
    given = parser.parse_args(arguments)
    base = Config(
        game=given.game,
        options={"preset": given.preset},
        opponent_share=0.0,
        decisions=given.decisions,
        num_envs=given.num_envs,
        evaluate_every=max(1, given.decisions // 4),
        baselines=(),
        exact=True,
        seed=given.seed,
    )
    folder = pathlib.Path(given.folder or f"runs/sweep-{given.game}")
    study = sweep(base, given.trials, folder, given.seed)
    best = study.best_trial
    (folder / "best.json").write_text(
        json.dumps(asdict(proposed(optuna.trial.FixedTrial(best.params), base)), indent=2) + "\n"
    )
    print(f"best of {len(study.trials)} trials: NashConv {best.value:.5f} with {best.params}")
    print(f"its config is {folder / 'best.json'}: train with --config")


if __name__ == "__main__":
    launch(main)
