"""A trained policy: a small network read from safetensors and a JSON card, run in NumPy or on torch."""

import json
import pathlib
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from heist_envs.games import load
from heist_envs.options import options_hash

OPSET = 17
"""The version of ONNX's operators that an export uses: old enough for every runtime in use."""

Weights = dict[str, NDArray[np.float32]]


class PolicyAgent:
    """Draws actions from a multilayer perceptron with ReLU layers over the scaled observation and its codes.

    Args:
        weights: `layer<k>.weight` (out, in) and `layer<k>.bias` (out,) for k = 0, 1, …; the first has D + K inputs, the last
            gives the logits.
        scale: what each observation entry is divided by, float32 (D,).
        card: what the policy is: game, version, num_players, options, the hash of these two (`options_hash`), training run.
        codes: int64 (K, 2), pairs of an entry and a value of it; after the scaled entries come K inputs that are 1 where the
            entry has that value, else 0. None: there are none.
        device: where torch runs the network, such as "cpu" or "cuda"; None: NumPy does, and torch is not needed.
    """

    def __init__(
        self,
        weights: Weights,
        scale: NDArray[np.float32],
        card: dict[str, Any],
        codes: NDArray[np.int64] | None = None,
        device: str | None = None,
    ) -> None:
        self.weights = weights
        self.scale = scale
        self.card = card
        self.codes = np.zeros((0, 2), np.int64) if codes is None else codes
        self._num_layers = sum(name.endswith(".weight") for name in weights)
        self._network = None if device is None else _torch_network(weights, self._num_layers, device)

    def logits(self, observations: NDArray[np.int8]) -> NDArray[np.float32]:
        """What the network says of each action, legal or not, float32 (N, A)."""
        x = self._inputs(observations)
        if self._network is not None:
            given: NDArray[np.float32] = self._network(x)
            return given
        for k in range(self._num_layers):
            x = x @ self.weights[f"layer{k}.weight"].T + self.weights[f"layer{k}.bias"]
            if k < self._num_layers - 1:
                x = np.maximum(x, 0)
        return x

    def _inputs(self, observations: NDArray[np.int8]) -> NDArray[np.float32]:
        """Of the first layer, float32 (N, D + K)."""
        came = observations[:, self.codes[:, 0]] == self.codes[:, 1]
        return np.concatenate([observations / self.scale, came], axis=1, dtype=np.float32, casting="same_kind")

    def probabilities(self, observations: NDArray[np.int8], action_masks: NDArray[np.int8]) -> NDArray[np.float64]:
        """The probability of each action, float64 (N, A); 0 for illegal ones."""
        logits = np.where(action_masks > 0, self.logits(observations).astype(np.float64), -np.inf)
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
        save_file({**self.weights, "scale": self.scale, "codes": self.codes}, path)
        pathlib.Path(path).with_suffix(".json").write_text(json.dumps(self.card, indent=2) + "\n")

    def export_onnx(self, path: str | pathlib.Path) -> None:
        """Write the policy as an ONNX model: observation and action_mask, int8 (N, D) and (N, A), to probabilities (N, A).

        Raises:
            ImportError: onnx is not installed.
        """
        try:
            import onnx
        except ImportError as missing:
            raise ImportError("exporting a policy to ONNX needs onnx: pip install 'heist-envs[onnx]'") from missing
        onnx.save(_onnx_model(self), path)

    @classmethod
    def load(cls, path: str | pathlib.Path, game: str, device: str | None = None, **options: Any) -> "PolicyAgent":
        """Read a policy for a game.

        Args:
            path: the .safetensors file; its card lies beside it.
            game: the name of a game.
            device: see `PolicyAgent`.
            **options: where given, those that the policy must have been trained with. Observations have the same shape at
                every table of a game, so that a policy can play at another one, unless this says that it may not.

        Raises:
            ImportError: torch is not installed, and a device was given.
            ValueError: the policy is for another game, version or table, or its network does not fit the game.
        """
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
        _check_options(card, module, options, path)
        scale = weights.pop("scale", np.zeros(0, np.float32))
        codes = weights.pop("codes", np.zeros((0, 2), np.int64))
        _check_codes(codes, module.OBSERVATION.size, path)
        _check_shapes(weights, scale, codes, module, path)
        return cls(weights, scale, card, codes, device)


def card_of(game: str, num_players: int, options: dict[str, Any], **training: Any) -> dict[str, Any]:
    """What a policy is: the game and table that it was trained at, and whatever is to be told of its training.

    Raises:
        TypeError: an unknown option.
        ValueError: an unknown preset, or a value that is not allowed.
    """
    module = load(game)
    return {
        "game": module.NAME,
        "version": module.VERSION,
        "num_players": num_players,
        "options": options,
        "options_hash": options_hash(module, {"num_players": num_players, **options}),
        **training,
    }


def _torch_network(weights: Weights, num_layers: int, device: str) -> Any:
    """The network as a function from its inputs to logits, both NumPy arrays."""
    try:
        import torch
    except ImportError as missing:
        raise ImportError(f"got device={device!r}, which needs torch: pip install 'heist-envs[train]'") from missing
    tensors = {name: torch.from_numpy(array).to(device) for name, array in weights.items()}

    def network(inputs: NDArray[np.float32]) -> Any:
        with torch.inference_mode():
            x = torch.from_numpy(inputs).to(device)
            for k in range(num_layers):
                x = torch.nn.functional.linear(x, tensors[f"layer{k}.weight"], tensors[f"layer{k}.bias"])
                if k < num_layers - 1:
                    x = torch.relu(x)
            return x.cpu().numpy()

    return network


def _onnx_model(policy: PolicyAgent) -> Any:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    constants: dict[str, NDArray[Any]] = {
        **policy.weights,
        "scale": policy.scale,
        "places": policy.codes[:, 0].copy(),
        "values": policy.codes[:, 1].astype(np.float32),
        "zero": np.zeros(1, np.int8),
        "never": np.full(1, -np.inf, np.float32),
    }
    nodes = [
        helper.make_node("Cast", ["observation"], ["entries"], to=TensorProto.FLOAT),
        helper.make_node("Div", ["entries", "scale"], ["scaled"]),
        helper.make_node("Gather", ["entries", "places"], ["at"], axis=1),
        helper.make_node("Equal", ["at", "values"], ["equal"]),
        helper.make_node("Cast", ["equal"], ["came"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["scaled", "came"], ["x0"], axis=1),
    ]
    last = policy._num_layers - 1
    for k in range(last + 1):
        layer = [f"x{k}", f"layer{k}.weight", f"layer{k}.bias"]
        nodes.append(helper.make_node("Gemm", layer, ["logits" if k == last else f"y{k}"], transB=1))
        if k < last:
            nodes.append(helper.make_node("Relu", [f"y{k}"], [f"x{k + 1}"]))
    nodes += [
        helper.make_node("Greater", ["action_mask", "zero"], ["legal"]),
        helper.make_node("Where", ["legal", "logits", "never"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["probabilities"], axis=1),
    ]
    shapes = {"observation": len(policy.scale), "action_mask": len(policy.weights[f"layer{last}.bias"])}
    graph = helper.make_graph(
        nodes,
        f"heist-envs policy for {policy.card.get('game')}",
        [helper.make_tensor_value_info(name, TensorProto.INT8, ["N", size]) for name, size in shapes.items()],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", shapes["action_mask"]])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="heist-envs")
    model.ir_version = 8  # the one of that operator set
    helper.set_model_props(model, {"card": json.dumps(policy.card)})
    onnx.checker.check_model(model)
    return model


def _check_options(card: dict[str, Any], module: ModuleType, wanted: dict[str, Any], path: Any) -> None:
    """The card's options must mean here what they meant in training, and be those that are wanted."""
    options, found = card.get("options"), card.get("options_hash")
    try:
        trained = {"num_players": card.get("num_players"), **options}  # type: ignore[dict-item]  # it may be anything
        needed = options_hash(module, trained)
    except (TypeError, ValueError) as error:
        raise ValueError(f"got a policy with options {options!r} from {path}: {error}") from error
    if found != needed:
        raise ValueError(f"got a policy with options hash {found!r} from {path}: its options have {needed!r}")
    if wanted and options_hash(module, wanted) != found:
        raise ValueError(f"got a policy trained with {trained} from {path}: {wanted} is needed")


def _check_codes(codes: NDArray[Any], entries: int, path: Any) -> None:
    """They must name entries of the observation."""
    if codes.dtype != np.int64 or codes.ndim != 2 or codes.shape[1] != 2:
        raise ValueError(f"got codes of {codes.dtype} {codes.shape} from {path}: they must be int64 (K, 2)")
    if len(codes) and (codes[:, 0].min() < 0 or codes[:, 0].max() >= entries):
        raise ValueError(f"got codes of entries {codes[:, 0].min()} to {codes[:, 0].max()} from {path}: there are {entries}")


def _check_shapes(
    weights: Weights, scale: NDArray[np.float32], codes: NDArray[np.int64], module: ModuleType, path: Any
) -> None:
    """The layers must lead from the observation and its codes to the actions without a gap."""
    inputs, actions = module.OBSERVATION.size, module.NUM_ACTIONS
    names = {f"layer{k}.{part}" for k in range(len(weights) // 2) for part in ("weight", "bias")}
    if not weights or set(weights) != names or scale.shape != (inputs,):
        raise ValueError(f"got the arrays {sorted(weights)} and a scale of shape {scale.shape} from {path}")
    if any(array.dtype != np.float32 or not np.isfinite(array).all() for array in (*weights.values(), scale)):
        raise ValueError(f"got numbers that are not finite float32 from {path}")
    if not (scale > 0).all():
        raise ValueError(f"got a scale that is not above 0 from {path}")
    width = inputs + len(codes)
    for k in range(len(weights) // 2):
        shape, bias = weights[f"layer{k}.weight"].shape, weights[f"layer{k}.bias"].shape
        if len(shape) != 2 or shape[1] != width or bias != (shape[0],):
            raise ValueError(f"got layer {k} of shape {shape} with bias {bias} from {path}: {width} inputs are needed")
        width = shape[0]
    if width != actions:
        raise ValueError(f"got {width} outputs from {path}: {actions} actions are needed")
