"""A trained policy: a small network read from safetensors and a JSON card, run in NumPy or on torch."""

import json
import pathlib
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from heist_envs.agents.parts import Group, groups_of, look
from heist_envs.games import load
from heist_envs.options import options_hash

OPSET = 17
"""The version of ONNX's operators that an export uses: old enough for every runtime in use."""

FEW = 4
"""What a sum over the parts of a group is divided by, so that it is of the size of other inputs."""
Weights = dict[str, NDArray[np.float32]]


class PolicyAgent:
    """Draws actions from a multilayer perceptron with ReLU layers over the scaled observation and its codes.

    It may look at the parts of the table one by one, too (`agents.parts`): at what is seen of each part of a group and what
    the first layer made of the table, by two layers `own`, `table` and `second` of width E. Their largest values and their
    sums over the group go into the second layer, and the logits of answers that mean a part are raised by `answers` of what
    `choice` and `context` make of this part and of the last layer but one.

    Args:
        weights: `layer<k>.weight` (out, in) and `layer<k>.bias` (out,) for k = 0, 1, …; the first has D + K inputs, the last
            gives the logits. With parts, for each group beside these `<group>.own`, `<group>.table`, `<group>.second`, and
            where answers mean its parts `<group>.choice`, `<group>.context`, `<group>.answers`.
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
        self._num_layers = sum(name.startswith("layer") and name.endswith(".weight") for name in weights)
        has_parts = any(not name.startswith("layer") for name in weights)
        self.groups: tuple[Group, ...] = groups_of(card["game"]) if has_parts else ()
        """The groups of parts that it looks at."""
        self._device = device
        self._network = weights if device is None else _on_torch(weights, device)

    def __repr__(self) -> str:
        return f"<policy for {self.card.get('game')} with {self.card.get('num_players')} players>"

    def logits(self, observations: NDArray[np.int8]) -> NDArray[np.float32]:
        """What the network says of each action, legal or not, float32 (N, A)."""
        looks = look(self.card["game"], observations) if self.groups else []
        given = [self._inputs(observations), *(s / g.layout.scale for s, g in zip(looks, self.groups, strict=True))]
        if self._device is None:
            made: NDArray[np.float32] = _forward(np, self._network, self._num_layers, self.groups, given)
            return made
        import torch

        with torch.inference_mode():
            tensors = [torch.from_numpy(array).to(self._device) for array in given]
            made = _forward(torch, self._network, self._num_layers, self.groups, tensors).cpu().numpy()
            return made

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
        # Not `save_file`, whose files nobody but their owner can read.
        pathlib.Path(path).write_bytes(save({**self.weights, "scale": self.scale, "codes": self.codes}))
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
            FileNotFoundError: there is no such file, or no card beside it.
            ValueError: the policy is for another game, version or table, or its network does not fit the game.
        """
        module = load(game)
        file = pathlib.Path(path)
        for one in (file, file.with_suffix(".json")):
            if not one.exists():
                raise FileNotFoundError(f"got policy {str(path)!r}: there is no {one}")
        try:
            card = json.loads(file.with_suffix(".json").read_text())
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


def _on_torch(weights: Weights, device: str) -> dict[str, Any]:
    try:
        import torch
    except ImportError as missing:
        raise ImportError(f"got device={device!r}, which needs torch: pip install 'heist-envs[train]'") from missing
    return {name: torch.from_numpy(array).to(device) for name, array in weights.items()}


def _forward(library: Any, weights: dict[str, Any], num_layers: int, groups: tuple[Group, ...], given: list[Any]) -> Any:
    """The logits, by NumPy or torch: `given` are the inputs (N, D + K), and what is seen of each group's parts (N, T, F)."""

    def linear(name: str, x: Any) -> Any:
        flat = x.reshape(-1, x.shape[-1]) @ weights[f"{name}.weight"].T
        if f"{name}.bias" in weights:
            flat = flat + weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    inputs, *looks = given
    logits = x = linear("layer0", inputs)
    parts = []
    for k in range(1, num_layers):
        x = logits.clip(0)
        if k == 1 and groups:
            wide = [x]
            for group, look in zip(groups, looks, strict=True):
                part = (linear(f"{group.name}.own", look) + linear(f"{group.name}.table", x)[:, None]).clip(0)
                part = linear(f"{group.name}.second", part).clip(0) * look[:, :, :1]
                parts.append(part)
                wide += [library.amax(part, 1), part.sum(1) / FEW]
            x = library.concatenate(wide, 1)
        logits = linear(f"layer{k}", x)
    for group, part in zip(groups, parts, strict=True):
        if group.actions:
            seen = (linear(f"{group.name}.choice", part) + linear(f"{group.name}.context", x)[:, None]).clip(0)
            answers = linear(f"{group.name}.answers", seen)
            for k, actions in enumerate(group.actions):
                logits[:, actions.start : actions.stop : actions.step] += answers[:, :, k]
    return logits


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
        helper.make_node("Concat", ["scaled", "came"], ["inputs"], axis=1),
    ]
    last = policy._num_layers - 1
    x = "inputs"
    for k in range(last + 1):
        layer = [x, f"layer{k}.weight", f"layer{k}.bias"]
        nodes.append(helper.make_node("Gemm", layer, [f"y{k}"], transB=1))
        if k < last:
            x = f"x{k}"
            nodes.append(helper.make_node("Relu", [f"y{k}"], [x]))
            if k == 0 and policy.groups:
                x = _onnx_parts(policy, helper, nodes, constants)
    logits = f"y{last}"
    for group in policy.groups:
        if group.actions:
            logits = _onnx_answers(group, helper, nodes, constants, x, logits, len(policy.weights[f"layer{last}.bias"]))
    nodes += [
        helper.make_node("Greater", ["action_mask", "zero"], ["legal"]),
        helper.make_node("Where", ["legal", logits, "never"], ["masked"]),
        helper.make_node("Softmax", ["masked"], ["probabilities"], axis=1),
    ]
    shapes: dict[str, list[int]] = {
        "observation": [len(policy.scale)],
        "action_mask": [len(policy.weights[f"layer{last}.bias"])],
        **{group.name: [group.size, group.layout.size] for group in policy.groups},
    }
    graph = helper.make_graph(
        nodes,
        f"heist-envs policy for {policy.card.get('game')}",
        [helper.make_tensor_value_info(name, TensorProto.INT8, ["N", *shape]) for name, shape in shapes.items()],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", *shapes["action_mask"]])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="heist-envs")
    model.ir_version = 8  # the one of that operator set
    helper.set_model_props(model, {"card": json.dumps(policy.card)})
    onnx.checker.check_model(model)
    return model


def _onnx_linear(helper: Any, nodes: list[Any], constants: dict[str, NDArray[Any]], name: str, x: str) -> str:
    """The output of a layer of the parts, for inputs of any number of axes."""
    constants[f"{name}.turned"] = constants.pop(f"{name}.weight").T.copy()
    nodes.append(helper.make_node("MatMul", [x, f"{name}.turned"], [f"{name}.product"]))
    if f"{name}.bias" not in constants:
        return f"{name}.product"
    nodes.append(helper.make_node("Add", [f"{name}.product", f"{name}.bias"], [f"{name}.sum"]))
    return f"{name}.sum"


def _onnx_parts(policy: PolicyAgent, helper: Any, nodes: list[Any], constants: dict[str, NDArray[Any]]) -> str:
    """What is known of single parts, `<group>.part`, and the inputs of the second layer."""
    constants |= {"first": np.zeros(1, np.int64), "one": np.ones(1, np.int64), "few": np.full(1, FEW, np.float32)}
    constants |= {"second axis": np.ones(1, np.int64), "third axis": np.full(1, 2, np.int64)}
    wide = ["x0"]
    for group in policy.groups:
        g = group.name
        constants[f"{g}.scale"] = group.layout.scale
        nodes.append(helper.make_node("Cast", [g], [f"{g}.entries"], to=1))  # float32
        nodes.append(helper.make_node("Div", [f"{g}.entries", f"{g}.scale"], [f"{g}.scaled"]))
        own = _onnx_linear(helper, nodes, constants, f"{g}.own", f"{g}.scaled")
        table = _onnx_linear(helper, nodes, constants, f"{g}.table", "x0")
        nodes.append(helper.make_node("Unsqueeze", [table, "second axis"], [f"{g}.everywhere"]))
        nodes.append(helper.make_node("Add", [own, f"{g}.everywhere"], [f"{g}.both"]))
        nodes.append(helper.make_node("Relu", [f"{g}.both"], [f"{g}.seen"]))
        second = _onnx_linear(helper, nodes, constants, f"{g}.second", f"{g}.seen")
        nodes.append(helper.make_node("Relu", [second], [f"{g}.known"]))
        nodes.append(helper.make_node("Slice", [f"{g}.scaled", "first", "one", "third axis"], [f"{g}.there"]))
        nodes.append(helper.make_node("Mul", [f"{g}.known", f"{g}.there"], [f"{g}.part"]))
        nodes.append(helper.make_node("ReduceMax", [f"{g}.part"], [f"{g}.largest"], axes=[1], keepdims=0))
        nodes.append(helper.make_node("ReduceSum", [f"{g}.part", "second axis"], [f"{g}.total"], keepdims=0))
        nodes.append(helper.make_node("Div", [f"{g}.total", "few"], [f"{g}.mean"]))
        wide += [f"{g}.largest", f"{g}.mean"]
    nodes.append(helper.make_node("Concat", wide, ["wide"], axis=1))
    return "wide"


def _onnx_answers(
    group: Group,
    helper: Any,
    nodes: list[Any],
    constants: dict[str, NDArray[Any]],
    last: str,
    logits: str,
    num_actions: int,
) -> str:
    """The logits, raised by what is known of the parts that the answers mean."""
    g = group.name
    choice = _onnx_linear(helper, nodes, constants, f"{g}.choice", f"{g}.part")
    context = _onnx_linear(helper, nodes, constants, f"{g}.context", last)
    nodes.append(helper.make_node("Unsqueeze", [context, "second axis"], [f"{g}.now"]))
    nodes.append(helper.make_node("Add", [choice, f"{g}.now"], [f"{g}.weighed"]))
    nodes.append(helper.make_node("Relu", [f"{g}.weighed"], [f"{g}.chosen"]))
    answers = _onnx_linear(helper, nodes, constants, f"{g}.answers", f"{g}.chosen")
    # Each number goes to the place of its action by a matrix of zeros and ones.
    numbers = group.size * len(group.actions)
    places = np.zeros((numbers, num_actions), np.float32)
    places[np.arange(numbers), np.array(group.actions).T.reshape(-1)] = 1
    constants |= {f"{g}.places": places, f"{g}.flat": np.array([-1, numbers])}
    nodes.append(helper.make_node("Reshape", [answers, f"{g}.flat"], [f"{g}.numbers"]))
    nodes.append(helper.make_node("MatMul", [f"{g}.numbers", f"{g}.places"], [f"{g}.placed"]))
    nodes.append(helper.make_node("Add", [logits, f"{g}.placed"], [f"{g}.logits"]))
    return f"{g}.logits"


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
    layers = sum(name.startswith("layer") and name.endswith(".weight") for name in weights)
    in_parts = sorted(name for name in weights if not name.startswith("layer"))
    names = {f"layer{k}.{part}" for k in range(layers) for part in ("weight", "bias")}
    if not names or set(weights) - set(in_parts) != names or scale.shape != (inputs,):
        raise ValueError(f"got the arrays {sorted(weights)} and a scale of shape {scale.shape} from {path}")
    if any(array.dtype != np.float32 or not np.isfinite(array).all() for array in (*weights.values(), scale)):
        raise ValueError(f"got numbers that are not finite float32 from {path}")
    if not (scale > 0).all():
        raise ValueError(f"got a scale that is not above 0 from {path}")
    groups = groups_of(module.NAME) if in_parts else ()
    width = inputs + len(codes)
    for k in range(layers):
        shape, bias = weights[f"layer{k}.weight"].shape, weights[f"layer{k}.bias"].shape
        if len(shape) != 2 or shape[1] != width or bias != (shape[0],):
            raise ValueError(f"got layer {k} of shape {shape} with bias {bias} from {path}: {width} inputs are needed")
        width = shape[0]
        if k == 0 and groups:
            _check_parts(weights, in_parts, groups, layers, path)
            width += 2 * len(groups) * len(weights[f"{groups[0].name}.second.weight"])
    if width != actions:
        raise ValueError(f"got {width} outputs from {path}: {actions} actions are needed")
    if in_parts and not groups:
        raise ValueError(f"got the arrays {in_parts} from {path}: {module.NAME} has no parts")


def _check_parts(weights: Weights, found: list[str], groups: tuple[Group, ...], layers: int, path: Any) -> None:
    """The layers of the parts must fit what is seen of each, one another, and the first and the last layer."""
    second = weights.get(f"{groups[0].name}.second.bias", np.zeros(0))
    if layers < 2 or second.ndim != 1:
        raise ValueError(f"got {layers} layers and the arrays {found} from {path}: with parts there are at least 2 layers")
    e, first, last = len(second), len(weights["layer0.weight"]), weights[f"layer{layers - 1}.weight"].shape[-1]
    needed: dict[str, tuple[int, ...]] = {}
    for group in groups:
        shapes = {"own": (e, group.layout.size), "table": (e, first), "second": (e, e)}
        if group.actions:
            shapes |= {"choice": (e, e), "context": (e, last), "answers": (len(group.actions), e)}
        for name, shape in shapes.items():
            needed[f"{group.name}.{name}.weight"] = shape
            if name not in ("table", "context"):
                needed[f"{group.name}.{name}.bias"] = shape[:1]
    given = {name: weights[name].shape for name in found}
    if given != needed:
        wrong = sorted(name for name in given.keys() | needed.keys() if given.get(name) != needed.get(name))
        raise ValueError(f"got layers of the parts that do not fit from {path}: {', '.join(wrong)}")
