"""The network that plays and learns all seats, with what pulls it towards chance or towards a magnet."""

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor, MlpExtractor, create_mlp
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

from heist_envs.agents import parts
from heist_envs.agents.parts import Group
from heist_envs.agents.policy import FEW, PolicyAgent, Weights
from heist_envs.games import load
from heist_envs.rules import compiled

NEVER = -1e8
"""The logit of an illegal action: its probability is exactly 0, and no difference of two of them is nan."""
FLAT = 0.01
"""The gain of the last weights at the start, with which all answers are about alike likely, as Stable-Baselines3 has it."""


class Known(NamedTuple):
    """What is known of the parts of a group that are there, M in all."""

    part: torch.Tensor
    """Float (M, E)."""
    rows: torch.Tensor
    """In which of the N observations, int64 (M,)."""
    places: torch.Tensor
    """Which part of the group, int64 (M,)."""


Features: TypeAlias = tuple[torch.Tensor, list[Known]]
"""What is known of the whole table, float (N, W), and of the parts of each group."""


@compiled
def pool(
    part: NDArray[np.float32],
    starts: NDArray[np.int64],
    largest: NDArray[np.float32],
    which: NDArray[np.int32],
    total: NDArray[np.float32],
) -> None:
    """Of each number of the parts of an observation the largest, and whose it is, and the sum.

    Args:
        part: numbers of at least 0, float32 (M, E), observation by observation.
        starts: where the parts of each observation begin, and their end, int64 (N + 1,).
        largest: 0 where there is no part; written into zeros, float32 (N, E).
        which: the part; written, where the largest is above 0, int32 (N, E).
        total: written into zeros, float32 (N, E).
    """
    for i in range(len(starts) - 1):
        for m in range(starts[i], starts[i + 1]):
            for e in range(part.shape[1]):
                number = part[m, e]
                total[i, e] += number
                is_larger = number > largest[i, e]
                largest[i, e] = number if is_larger else largest[i, e]
                which[i, e] = m if is_larger else which[i, e]


@compiled
def unpool(
    d_largest: NDArray[np.float32],
    d_total: NDArray[np.float32],
    which: NDArray[np.int32],
    starts: NDArray[np.int64],
    d_part: NDArray[np.float32],
) -> None:
    """The gradients of `pool`, `d_part` written, float32 (M, E)."""
    for i in range(len(starts) - 1):
        for m in range(starts[i], starts[i + 1]):
            for e in range(d_part.shape[1]):
                more = d_largest[i, e] if which[i, e] == m else np.float32(0)
                d_part[m, e] = d_total[i, e] + more


class Pool(torch.autograd.Function):
    """`pool` for torch, whose own largest value and its gradient would visit the parts that are not there, too."""

    @staticmethod
    def forward(ctx: Any, part: torch.Tensor, starts: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """The largest and the sum of each number, float (N, E)."""
        shape = len(starts) - 1, part.shape[1]
        largest, total = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        ctx.which, ctx.starts, ctx.size = np.full(shape, -1, np.int32), starts, len(part)
        pool(part.detach().numpy(), starts, largest, ctx.which, total)
        return torch.from_numpy(largest), torch.from_numpy(total)

    @staticmethod
    def backward(ctx: Any, d_largest: torch.Tensor, d_total: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Of the parts; there is none of where they begin."""
        d_part = np.empty((ctx.size, d_largest.shape[1]), np.float32)
        unpool(d_largest.contiguous().numpy(), d_total.contiguous().numpy(), ctx.which, ctx.starts, d_part)
        return torch.from_numpy(d_part), None


def _scaled(layer: torch.nn.Linear, seen: torch.Tensor, divisors: torch.Tensor) -> torch.Tensor:
    """What the layer makes of `seen / divisors`: its weights are divided, of which there are fewer."""
    return torch.nn.functional.linear(seen.to(layer.weight.dtype), layer.weight / divisors, layer.bias)


class Look(torch.nn.Module):
    """What is made of each part of a group: two layers that all its parts share, and that know of the table."""

    def __init__(self, group: Group, width: int, part_width: int) -> None:
        super().__init__()
        self.group = group
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.from_numpy(group.layout.scale), persistent=False)
        self.own = torch.nn.Linear(group.layout.size, part_width)
        self.table = torch.nn.Linear(width, part_width, bias=False)
        self.second = torch.nn.Linear(part_width, part_width)

    def forward(self, looks: NDArray[np.int8], table: torch.Tensor) -> tuple[list[torch.Tensor], Known]:
        """The largest value of each number over the parts and their sum, each float (N, E); and the parts."""
        there = np.flatnonzero(looks[:, :, 0])
        starts = np.searchsorted(there, np.arange(len(looks) + 1) * self.group.size)
        rows = torch.from_numpy(there // self.group.size)
        seen = torch.from_numpy(looks.reshape(-1, looks.shape[2])[there])
        part = torch.relu_(_scaled(self.own, seen, self.scale) + self.table(table).index_select(0, rows))
        part = torch.relu_(self.second(part))
        largest, total = Pool.apply(part, starts)  # type: ignore[no-untyped-call]
        return [largest, total / FEW], Known(part, rows, torch.from_numpy(there % self.group.size))


class SharedLayers(BaseFeaturesExtractor):
    """The entries of the observation that vary, divided by their scale, and the layers that policy and value share.

    At a small table most entries never change, such as those of absent seats, of cards that are not in play and of rules
    that do not apply. With a first layer each, policy and value would do half of the work twice.

    Beside them come the `codes`, 1 where an entry has a certain value: an entry may be the number of a card or of a seat,
    of which "twice as much" means nothing, and a layer can hardly tell 7 from 8 by its size.

    With `part_width` the parts of the table are looked at one by one (`agents.parts`): each becomes so many numbers, by two
    layers that all parts of a group share and that know what the first layer says of the table. The largest and the sum of
    these numbers over a group stand beside the first layer's own, before what further layers there are; those of every part
    go on to `Answers`.

    Args:
        observation_space: of the game.
        game: its name.
        scale: what the entries are divided by, float32 (D,).
        kept: the entries that vary, int64 (V,); those that the parts tell are left out.
        codes: entries and their values, int64 (K, 2).
        widths: of the layers.
        part_width: numbers for each part; 0: the parts are not looked at.
    """

    def __init__(
        self,
        observation_space: Any,
        game: str,
        scale: NDArray[np.float32],
        kept: NDArray[np.int64],
        codes: NDArray[np.int64],
        widths: Sequence[int],
        part_width: int,
    ) -> None:
        groups = parts.groups_of(game) if part_width else ()
        whole = widths[0] + 2 * part_width * len(groups)
        super().__init__(observation_space, features_dim=[whole, *widths[1:]][-1])
        self.game, self.groups = game, groups
        self.part_width = part_width
        told = np.zeros(len(scale), np.bool_)
        for name in parts.told(game) if groups else ():
            told[load(game).OBSERVATION[name].slice] = True
        self.scale: torch.Tensor
        self.kept: torch.Tensor
        self.codes: torch.Tensor
        kept, codes = kept[~told[kept]], codes[~told[codes[:, 0]]]
        for name, array in (("scale", scale), ("kept", kept), ("codes", codes)):
            self.register_buffer(name, torch.from_numpy(array.copy()))
        self.divisors: torch.Tensor  # of what is kept and of the codes
        divisors = torch.cat([self.scale[self.kept], torch.ones(len(codes))])
        self.register_buffer("divisors", divisors, persistent=False)  # it follows from what a checkpoint has
        self.linear = torch.nn.Linear(len(kept) + len(codes), widths[0])
        self.looks = torch.nn.ModuleList(Look(group, widths[0], part_width) for group in groups)
        self.further = torch.nn.Sequential(*create_mlp(whole, 0, list(widths[1:])))

    def forward(self, observations: torch.Tensor) -> Features:
        """Float (N, features_dim), and the parts that are there, group by group."""
        array = observations.numpy()  # NumPy takes columns three times as fast as torch
        seen = torch.from_numpy(array[:, self.kept.numpy()])
        if len(self.codes):
            came = torch.from_numpy(array[:, self.codes[:, 0].numpy()]) == self.codes[:, 1]
            seen = torch.cat([seen, came.to(seen.dtype)], dim=1)
        table = torch.relu_(_scaled(self.linear, seen, self.divisors))
        whole, known = [table], []
        looks = parts.look(self.game, array.astype(np.int8, copy=False)) if self.groups else []
        for look, looks_of in zip(self.looks, looks, strict=True):
            pooled, of_group = look(looks_of, table)
            whole += pooled
            known.append(of_group)
        return self.further(torch.cat(whole, dim=1)), known

    def arrays(self) -> Weights:
        """The weights as `PolicyAgent` has them: those of `layer0` are for the whole observation and the codes."""
        whole = np.zeros((self.linear.out_features, len(self.scale) + len(self.codes)), np.float32)
        whole[:, self.kept.numpy()] = self.linear.weight[:, : len(self.kept)].detach().numpy()
        whole[:, len(self.scale) :] = self.linear.weight[:, len(self.kept) :].detach().numpy()
        return {**_arrays_of(self.looks), **_arrays("layer0", self.linear), "layer0.weight": whole}


def _arrays_of(modules: torch.nn.ModuleList) -> Weights:
    """Of the layers of each group's parts."""
    found: Weights = {}
    for module in modules:
        for name, layer in module.named_children():
            found |= _arrays(f"{module.group.name}.{name}", layer)  # type: ignore[union-attr, arg-type]
    return found


def _arrays(name: str, layer: torch.nn.Linear) -> Weights:
    found = {f"{name}.weight": layer.weight.detach().numpy().copy()}
    return found if layer.bias is None else found | {f"{name}.bias": layer.bias.detach().numpy().copy()}


class Hidden(MlpExtractor):
    """The layers between: of the policy and of the value; what is known of single parts goes past them, to the policy."""

    def forward(self, features: Features) -> tuple[Features, torch.Tensor]:  # type: ignore[override]
        """What policy and value go on from."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Features) -> Features:  # type: ignore[override]
        """Float (N, width of the last layer), and the parts."""
        whole, known = features
        return self.policy_net(whole), known

    def forward_critic(self, features: Features) -> torch.Tensor:  # type: ignore[override]
        """Float (N, width of the last layer)."""
        made: torch.Tensor = self.value_net(features[0])
        return made


class _Actor(torch.nn.Module):
    """The policy's share of the layers between."""

    def __init__(self, hidden: Hidden) -> None:
        super().__init__()
        self.policy_net = hidden.policy_net

    forward = Hidden.forward_actor


def _flatten(last: torch.nn.Linear) -> None:
    torch.nn.init.orthogonal_(last.weight, FLAT)
    torch.nn.init.zeros_(last.bias)


class Choice(torch.nn.Module):
    """What raises the logits of the answers that mean a part."""

    def __init__(self, group: Group, part_width: int, width: int) -> None:
        super().__init__()
        self.group = group
        self.actions: torch.Tensor
        self.register_buffer("actions", torch.tensor(np.array(group.actions).T), persistent=False)
        self.choice = torch.nn.Linear(part_width, part_width)
        self.context = torch.nn.Linear(width, part_width, bias=False)
        self.answers = torch.nn.Linear(part_width, len(group.actions))
        _flatten(self.answers)

    def forward(
        self, logits: torch.Tensor, last: torch.Tensor, known: Known, legal: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The logits, float (N, A), after that; they may stay where none of these answers is `legal`, bool (N, A)."""
        part, rows, places = known
        if legal is not None:
            index = legal[:, self.actions.flatten()].any(1).index_select(0, rows).nonzero()[:, 0]
            part, rows, places = (array.index_select(0, index) for array in known)
        raised = self.answers(torch.relu_(self.choice(part) + self.context(last).index_select(0, rows)))
        entries = rows[:, None] * logits.shape[1] + self.actions[places]
        return logits.flatten().index_add(0, entries.flatten(), raised.flatten()).view_as(logits)


class Answers(torch.nn.Module):
    """From the last layer to logits; those of answers that mean a part depend on what is known of this part, too."""

    def __init__(self, first: SharedLayers, width: int, actions: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, actions)
        _flatten(self.linear)
        self.chosen = [k for k, group in enumerate(first.groups) if group.actions]
        choices = (Choice(first.groups[k], first.part_width, width) for k in self.chosen)
        self.choices = torch.nn.ModuleList(choices)

    def forward(self, latent: Features, legal: torch.Tensor | None = None) -> torch.Tensor:
        """Float (N, A). Whoever says what is `legal`, bool (N, A), is spared the work for what is not, whatever it gives."""
        last, known = latent
        logits: torch.Tensor = self.linear(last)
        for k, choice in zip(self.chosen, self.choices, strict=True):
            logits = choice(logits, last, known[k], legal)
        return logits

    def arrays(self, layer: int) -> Weights:
        """The weights as `PolicyAgent` has them, the last layer being `layer<layer>`."""
        return {**_arrays(f"layer{layer}", self.linear), **_arrays_of(self.choices)}


class RegularizedPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy, whose loss has a bonus for entropy and a penalty for the distance from a magnet.

    MaskablePPO adds `ent_coef` times what `evaluate_actions` calls the entropy; here that is

        entropy * H(policy) - pull * KL(policy || magnet)

    and `ent_coef` is 1. The entropy alone is a pull towards the uniform policy. With a magnet that moves this is magnetic
    mirror descent (Sokota et al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player
    zero-sum games", 2023), the clipped ratio of PPO standing for its nearness to the last policy.

    Attributes:
        entropy, pull: the two coefficients, set before each update.
        magnet: a policy network, not trained; `move_magnet` moves it.
        average: another one, the running average of the weights (`move_average`).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.entropy, self.pull = 0.0, 0.0
        # After the optimizer was made, which therefore does not know them.
        self.magnet, self.average = (copy.deepcopy(self._actor()).requires_grad_(False) for _ in range(2))

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = Hidden(self.features_dim, self.net_arch, self.activation_fn)

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        first: SharedLayers = self.features_extractor  # type: ignore[assignment]
        self.action_net = Answers(first, self.mlp_extractor.latent_dim_pi, self.action_space.n)  # type: ignore[attr-defined]
        arguments = {"lr": lr_schedule(1), "fused": True, **self.optimizer_kwargs}
        self.optimizer = self.optimizer_class(self.parameters(), **arguments)  # now with these layers

    def _actor(self) -> torch.nn.Sequential:
        """From observations to logits, the very layers that learn."""
        hidden: Hidden = self.mlp_extractor  # type: ignore[assignment]
        return torch.nn.Sequential(self.features_extractor, _Actor(hidden), self.action_net)

    def _values_and_logits(self, obs: Any, legal: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Values, float (N, 1), and logits, float (N, A), `NEVER` of what is not legal."""
        latent_pi, latent_vf = self.mlp_extractor(self.features_extractor(obs))
        return self.value_net(latent_vf), self.action_net(latent_pi, legal).masked_fill(~legal, NEVER)

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Actions, int64 (N,), values, and log-probabilities of the actions.

        Drawn as `PolicyAgent.act` does, without the checks of a torch distribution, which take a tenth of a run.
        """
        values, logits = self._values_and_logits(obs, torch.as_tensor(action_masks, dtype=torch.bool).view(len(obs), -1))
        shares = torch.softmax(logits, dim=1)
        if deterministic:
            actions = shares.argmax(dim=1)
        else:
            cumulative = shares.cumsum(dim=1)
            actions = (cumulative <= torch.rand(len(logits), 1) * cumulative[:, -1:]).sum(dim=1)
        return actions, values, shares.gather(1, actions[:, None])[:, 0].log()

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values, log-probabilities of the actions, and the regulariser above, each float (N,)."""
        legal = torch.as_tensor(action_masks, dtype=torch.bool)
        values, logits = self._values_and_logits(obs, legal)
        # Not the exponentials of the logarithms, which take long where these are as low as NEVER.
        shares, logs = torch.softmax(logits, dim=1), torch.log_softmax(logits, dim=1)
        regulariser = -self.entropy * (shares * logs).sum(dim=1)
        if self.pull > 0:
            with torch.no_grad():
                magnet = torch.log_softmax(self.magnet(obs).masked_fill(~legal, NEVER), dim=1)
            regulariser = regulariser - self.pull * (shares * (logs - magnet)).sum(dim=1)
        return values, logs.gather(1, actions.long().reshape(-1, 1))[:, 0], regulariser

    def move_magnet(self, rate: float) -> None:
        """Move the magnet's weights towards the policy's by this share: 1 makes it the policy of this moment."""
        _move(self.magnet, self._actor(), rate)

    def move_average(self, rate: float) -> None:
        """Move the average's weights towards the policy's by this share."""
        _move(self.average, self._actor(), rate)

    def agent(self, card: dict[str, Any], averaged: bool = False) -> PolicyAgent:
        """The policy of this moment, or its average, as an agent with arrays of its own."""
        network = self.average if averaged else self._actor()
        first: SharedLayers = network[0]  # type: ignore[assignment]
        answers: Answers = network[2]  # type: ignore[assignment]
        layers = [*first.further.modules(), *network[1].modules()]
        between = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
        weights = first.arrays()
        for k, layer in enumerate(between, start=1):
            weights |= _arrays(f"layer{k}", layer)
        weights |= answers.arrays(len(between) + 1)
        return PolicyAgent(weights, first.scale.numpy().copy(), card, first.codes.numpy().copy())


@torch.no_grad()
def _move(follower: torch.nn.Module, leader: torch.nn.Module, rate: float) -> None:
    for one, other in zip(follower.parameters(), leader.parameters(), strict=True):
        one.lerp_(other, rate)


def policy_arguments(
    game: str,
    kept: NDArray[np.int64],
    codes: NDArray[np.int64],
    hidden: Sequence[int],
    shared: int,
    part_width: int,
) -> dict[str, Any]:
    """`policy_kwargs` of MaskablePPO: ReLU layers of these widths, so many of them `shared` with the value."""
    first = {"game": game, "scale": load(game).OBSERVATION.scale, "kept": kept, "codes": codes, "widths": hidden[:shared]}
    return {
        "net_arch": list(hidden[shared:]),
        "activation_fn": torch.nn.ReLU,
        "features_extractor_class": SharedLayers,
        "features_extractor_kwargs": {**first, "part_width": part_width},
    }
