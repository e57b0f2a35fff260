"""The network that plays and learns all seats, with what pulls it towards chance or towards a magnet."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
except ImportError as missing:
    raise ImportError(f"training needs {missing.name}: pip install 'heist-envs[train]'") from missing

from heist_envs.agents.policy import PolicyAgent

NEVER = -1e8
"""The logit of an illegal action: its probability is exactly 0, and no difference of two of them is nan."""


class FirstLayer(BaseFeaturesExtractor):
    """The entries of the observation that vary, divided by their scale, and a first layer that policy and value share.

    With a layer each, half of the work would be done twice; and at a small table most entries never change, such as those of
    absent seats, of cards that are not in play and of rules that do not apply.

    Beside them come the `codes`, 1 where an entry has a certain value: an entry may be the number of a card or of a seat,
    of which "twice as much" means nothing, and a layer can hardly tell 7 from 8 by its size.

    Args:
        observation_space: of the game.
        scale: what the entries are divided by, float32 (D,).
        kept: the entries that vary, int64 (V,).
        codes: entries and their values, int64 (K, 2).
        width: of the layer.
    """

    def __init__(
        self,
        observation_space: Any,
        scale: NDArray[np.float32],
        kept: NDArray[np.int64],
        codes: NDArray[np.int64],
        width: int,
    ) -> None:
        super().__init__(observation_space, features_dim=width)
        self.scale: torch.Tensor
        self.kept: torch.Tensor
        self.codes: torch.Tensor
        for name, array in (("scale", scale), ("kept", kept), ("codes", codes)):
            self.register_buffer(name, torch.from_numpy(array.copy()))
        self.divisors: (
            torch.Tensor
        )  # of the entries that are kept; no part of a checkpoint, since it follows from the others
        self.register_buffer("divisors", self.scale[self.kept], persistent=False)
        self.linear = torch.nn.Linear(len(kept) + len(codes), width)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Float (N, width)."""
        seen = observations.index_select(1, self.kept) / self.divisors
        if len(self.codes):
            came = observations.index_select(1, self.codes[:, 0]) == self.codes[:, 1]
            seen = torch.cat([seen, came.to(seen.dtype)], dim=1)
        return torch.relu(self.linear(seen))

    def weight(self) -> NDArray[np.float32]:
        """The layer's weights for the whole observation and the codes, float32 (width, D + K)."""
        whole = np.zeros((self.features_dim, len(self.scale) + len(self.codes)), np.float32)
        whole[:, self.kept.numpy()] = self.linear.weight[:, : len(self.kept)].detach().numpy()
        whole[:, len(self.scale) :] = self.linear.weight[:, len(self.kept) :].detach().numpy()
        return whole


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

    def _actor(self) -> torch.nn.Sequential:
        """From scaled observations to logits, the very layers that learn."""
        return torch.nn.Sequential(self.features_extractor, *self.mlp_extractor.policy_net, self.action_net)

    def evaluate_actions(
        self, obs: Any, actions: torch.Tensor, action_masks: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Values, log-probabilities of the actions, and the regulariser above, each float (N,)."""
        latent_pi, latent_vf = self.mlp_extractor(self.features_extractor(obs))
        illegal = ~torch.as_tensor(action_masks, dtype=torch.bool)
        logs = torch.log_softmax(self.action_net(latent_pi).masked_fill(illegal, NEVER), dim=1)
        shares = logs.exp()
        regulariser = -self.entropy * (shares * logs).sum(dim=1)
        if self.pull > 0:
            with torch.no_grad():
                magnet = torch.log_softmax(self.magnet(obs).masked_fill(illegal, NEVER), dim=1)
            regulariser = regulariser - self.pull * (shares * (logs - magnet)).sum(dim=1)
        return self.value_net(latent_vf), logs.gather(1, actions.long().reshape(-1, 1))[:, 0], regulariser

    def move_magnet(self, rate: float) -> None:
        """Move the magnet's weights towards the policy's by this share: 1 makes it the policy of this moment."""
        _move(self.magnet, self._actor(), rate)

    def move_average(self, rate: float) -> None:
        """Move the average's weights towards the policy's by this share."""
        _move(self.average, self._actor(), rate)

    def agent(self, card: dict[str, Any], averaged: bool = False) -> PolicyAgent:
        """The policy of this moment, or its average, as an agent with arrays of its own."""
        network = self.average if averaged else self._actor()
        layers: list[torch.nn.Linear] = [m for m in network.modules() if isinstance(m, torch.nn.Linear)]
        weights = {}
        for k, layer in enumerate(layers):
            weights[f"layer{k}.weight"] = layer.weight.detach().numpy().copy()
            weights[f"layer{k}.bias"] = layer.bias.detach().numpy().copy()
        first: FirstLayer = network[0]  # type: ignore[assignment]
        weights["layer0.weight"] = first.weight()
        return PolicyAgent(weights, first.scale.numpy().copy(), card, first.codes.numpy().copy())


@torch.no_grad()
def _move(follower: torch.nn.Module, leader: torch.nn.Module, rate: float) -> None:
    for one, other in zip(follower.parameters(), leader.parameters(), strict=True):
        one.lerp_(other, rate)


def policy_arguments(
    scale: NDArray[np.float32], kept: NDArray[np.int64], codes: NDArray[np.int64], hidden: Sequence[int]
) -> dict[str, Any]:
    """`policy_kwargs` of MaskablePPO: ReLU layers of these widths, the first one shared with the value (`FirstLayer`)."""
    return {
        "net_arch": list(hidden[1:]),
        "activation_fn": torch.nn.ReLU,
        "features_extractor_class": FirstLayer,
        "features_extractor_kwargs": {"scale": scale, "kept": kept, "codes": codes, "width": hidden[0]},
    }
