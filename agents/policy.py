"""A trained policy: a small network read from safetensors and a JSON card, run in NumPy."""

import json
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heist_envs.games import load

Weights = dict[str, NDArray[np.float32]]


class PolicyAgent:
    """Draws actions from a multilayer perceptron with ReLU layers over the scaled observation.

    Args:
        weights: `layer<k>.weight` (out, in) and `layer<k>.bias` (out,) for k = 0, 1, …; the last layer gives the logits.
        scale: what each observation entry is divided by, float32 (D,).
        card: what the policy is: game, version, training run.
    """

    def __init__(self, weights: Weights, scale: NDArray[np.float32], card: dict[str, Any]) -> None:
        self.weights = weights
        self.scale = scale
        self.card = card
        self._num_layers = sum(name.endswith(".weight") for name in weights)

    def probabilities(self, observations: NDArray[np.int8], action_masks: NDArray[np.int8]) -> NDArray[np.float64]:
        """The probability of each action, float64 (N, A); 0 for illegal ones."""
        x = observations / self.scale
        for k in range(self._num_layers):
            x = x @ self.weights[f"layer{k}.weight"].T + self.weights[f"layer{k}.bias"]
            if k < self._num_layers - 1:
                x = np.maximum(x, 0)
        logits = np.where(action_masks > 0, x.astype(np.float64), -np.inf)
        unnormalised = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: NDArray[np.float64] = unnormalised / unnormalised.sum(axis=1, keepdims=True)
        return shares

    def act(
        self, observations: NDArray[np.int8], action_masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """See `Agent.act`."""
        cumulative = self.probabilities(observations, action_masks).cumsum(axis=1)
        # Scaled by the last entry, which rounding may leave a little below 1: a draw never passes the last legal action.
        drawn = rng.random((len(cumulative), 1)) * cumulative[:, -1:]
        actions: NDArray[np.int64] = (cumulative <= drawn).sum(axis=1)
        return actions

    def save(self, path: str | pathlib.Path) -> None:
        """Write the weights to `path` (.safetensors) and the card beside it (.json)."""
        from safetensors.numpy import save_file

        save_file({**self.weights, "scale": self.scale}, path)
        pathlib.Path(path).with_suffix(".json").write_text(json.dumps(self.card, indent=2) + "\n")

    @classmethod
    def load(cls, path: str | pathlib.Path, game: str) -> "PolicyAgent":
        """Read a policy for a game.

        Raises:
            ImportError: safetensors is not installed.
            ValueError: the policy is for another game or version, or its network does not fit the game.
        """
        try:
            from safetensors import SafetensorError
            from safetensors.numpy import load_file
        except ImportError as missing:
            raise ImportError("loading a policy needs safetensors: pip install 'heist-envs[train]'") from missing
        module = load(game)
        try:
            card = json.loads(pathlib.Path(path).with_suffix(".json").read_text())
            weights = load_file(path)
        except (ValueError, RecursionError, TypeError, SafetensorError) as error:
            raise ValueError(f"{path} or its card is not a policy: {error}") from error
        for name, needed in (("game", module.NAME), ("version", module.VERSION)):
            found = card.get(name) if isinstance(card, dict) else None
            if found != needed or type(found) is not type(needed):
                raise ValueError(f"got a policy with {name} {found!r} from {path}: {needed!r} is needed")
        scale = weights.pop("scale", np.zeros(0, np.float32))
        _check_shapes(weights, scale, module.OBSERVATION.size, module.NUM_ACTIONS, path)
        return cls(weights, scale, card)


def _check_shapes(weights: Weights, scale: NDArray[np.float32], inputs: int, actions: int, path: Any) -> None:
    """The layers must lead from the observation to the actions without a gap."""
    names = {f"layer{k}.{part}" for k in range(len(weights) // 2) for part in ("weight", "bias")}
    if not weights or set(weights) != names or scale.shape != (inputs,):
        raise ValueError(f"got the arrays {sorted(weights)} and a scale of shape {scale.shape} from {path}")
    if any(array.dtype != np.float32 or not np.isfinite(array).all() for array in (*weights.values(), scale)):
        raise ValueError(f"got numbers that are not finite float32 from {path}")
    if not (scale > 0).all():
        raise ValueError(f"got a scale that is not above 0 from {path}")
    width = inputs
    for k in range(len(weights) // 2):
        shape, bias = weights[f"layer{k}.weight"].shape, weights[f"layer{k}.bias"].shape
        if len(shape) != 2 or shape[1] != width or bias != (shape[0],):
            raise ValueError(f"got layer {k} of shape {shape} with bias {bias} from {path}: {width} inputs are needed")
        width = shape[0]
    if width != actions:
        raise ValueError(f"got {width} outputs from {path}: {actions} actions are needed")
