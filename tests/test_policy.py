"""Trained policies: read from safetensors and a card, refused where they do not fit, and the same on every backend."""

import numpy as np
import pytest

import heist_envs
from heist_envs.agents import PRETRAINED, load, make_agent
from heist_envs.agents.parts import groups_of, look
from heist_envs.agents.policy import PolicyAgent
from heist_envs.benchmarks.tournament import one_against_many
from heist_envs.games import GAMES, holdup
from heist_envs.games import load as load_game
from heist_envs.options import options_hash

CARD = {
    "game": "holdup", "version": holdup.VERSION, "num_players": 4, "options": {"loans": False},
    "options_hash": options_hash(holdup, {"num_players": 4, "loans": False}),
}  # fmt: skip


PILE = holdup.OBSERVATION["pile_size"].slice.start
CODES = np.array([[2, 0], [PILE, 8], [PILE, 9], [PILE, 10]])


def small_policy(seed=0, inputs=holdup.OBSERVATION.size, outputs=holdup.NUM_ACTIONS, hidden=16, card=None, codes=CODES):
    rng = np.random.default_rng(seed)
    shapes = [(hidden, inputs + len(codes)), (outputs, hidden)]
    weights = {}
    for k, shape in enumerate(shapes):
        weights[f"layer{k}.weight"] = rng.normal(size=shape).astype(np.float32)
        weights[f"layer{k}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    return PolicyAgent(weights, np.ones(inputs, np.float32), CARD if card is None else card, codes)


def test_a_policy_plays_with_the_probabilities_of_its_network():
    policy = small_policy()
    vec = heist_envs.make_vec("holdup", num_envs=1)
    observation, _ = vec.reset(seed=0)
    shares = policy.probabilities(observation["observation"], observation["action_mask"])
    assert shares.sum() == pytest.approx(1)
    assert (shares[0] > 0).tolist() == (observation["action_mask"][0] > 0).tolist()
    many = {key: np.repeat(value, 20_000, axis=0) for key, value in observation.items()}
    actions = policy.act(many["observation"], many["action_mask"], np.random.default_rng(0))
    assert np.bincount(actions, minlength=15) / 20_000 == pytest.approx(shares[0], abs=0.015)


def test_a_code_is_an_input_of_its_own_where_an_entry_has_a_value():
    policy = small_policy(codes=np.array([[5, 3], [5, -2]]))
    plain = PolicyAgent({**policy.weights, "layer0.weight": policy.weights["layer0.weight"][:, :-2]}, policy.scale, {})
    observations = np.repeat(views(1)[0], 3, axis=0)
    observations[:, 5] = 3, -2, 4
    plain.weights["layer0.bias"] = policy.weights["layer0.bias"] + policy.weights["layer0.weight"][:, -2]
    assert policy.logits(observations[:1]) == pytest.approx(plain.logits(observations[:1]), abs=1e-2)
    plain.weights["layer0.bias"] = policy.weights["layer0.bias"] + policy.weights["layer0.weight"][:, -1]
    assert policy.logits(observations[1:2]) == pytest.approx(plain.logits(observations[1:2]), abs=1e-2)
    plain.weights["layer0.bias"] = policy.weights["layer0.bias"]
    assert policy.logits(observations[2:]) == pytest.approx(plain.logits(observations[2:]), abs=1e-2)


def test_a_saved_policy_loads_and_plays_the_same(tmp_path):
    policy = small_policy()
    policy.save(tmp_path / "mine.safetensors")
    again = make_agent(str(tmp_path / "mine.safetensors"), "holdup")
    assert (policy.probabilities(*views()) == again.probabilities(*views())).all()


def test_a_saved_policy_can_be_read_by_whoever_can_read_its_card(tmp_path):
    small_policy().save(tmp_path / "mine.safetensors")
    weights, card = (tmp_path / f"mine.{ending}" for ending in ("safetensors", "json"))
    assert weights.stat().st_mode == card.stat().st_mode


def views(num_envs=50, game="holdup", steps=0):
    vec = heist_envs.make_vec(game, num_envs=num_envs)
    observation, _ = vec.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        mask = observation["action_mask"]
        observation, *_ = vec.step((rng.random(mask.shape) * mask).argmax(axis=1))
    return observation["observation"], observation["action_mask"]


def policy_with_parts(game, hidden=(16, 12), e=8, seed=0):
    """Of random weights, which looks at the parts of the table."""
    module, rng = load_game(game), np.random.default_rng(seed)
    groups = groups_of(game)
    wide = hidden[0] + 2 * e * len(groups)
    shapes = {"layer0": (hidden[0], module.OBSERVATION.size), "layer1": (hidden[1], wide)}
    shapes["layer2"] = (module.NUM_ACTIONS, hidden[1])
    for group in groups:
        shapes[f"{group.name}.own"] = (e, group.layout.size)
        shapes |= {f"{group.name}.table": (e, hidden[0]), f"{group.name}.second": (e, e)}
        if group.actions:
            shapes |= {f"{group.name}.choice": (e, e), f"{group.name}.context": (e, hidden[1])}
            shapes[f"{group.name}.answers"] = (len(group.actions), e)
    weights = {}
    for name, shape in shapes.items():
        weights[f"{name}.weight"] = (rng.normal(size=shape) / shape[1] ** 0.5).astype(np.float32)
        if not name.endswith((".table", ".context")):
            weights[f"{name}.bias"] = rng.normal(size=shape[0]).astype(np.float32)
    card = {"game": game, "version": module.VERSION, "num_players": 3, "options": {}}
    card["options_hash"] = options_hash(module, {"num_players": 3})
    return PolicyAgent(weights, module.OBSERVATION.scale, card)


@pytest.mark.parametrize("game", ["cleaners", "magpies"])
def test_a_policy_that_looks_at_parts_is_the_same_saved_on_torch_and_in_onnx(game, tmp_path):
    pytest.importorskip("torch")
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    policy = policy_with_parts(game)
    policy.save(tmp_path / "mine.safetensors")
    policy.export_onnx(tmp_path / "mine.onnx")
    observations, masks = views(game=game, steps=30)
    shares = policy.probabilities(observations, masks)
    assert shares.max(axis=1).min() < 0.9  # they have something to choose
    for device in (None, "cpu"):
        again = PolicyAgent.load(tmp_path / "mine.safetensors", game, device)
        assert again.probabilities(observations, masks) == pytest.approx(shares, abs=1e-5)
    looks = {group.name: seen for group, seen in zip(groups_of(game), look(game, observations), strict=True)}
    model = ReferenceEvaluator(onnx.load(tmp_path / "mine.onnx"))
    [found] = model.run(None, {"observation": observations, "action_mask": masks, **looks})
    assert found == pytest.approx(shares, abs=1e-5)


def test_parts_are_looked_at_with_the_same_weights_wherever_they_lie():
    """Two cards of the board change places: so do the logits of taking them, and no other logit changes."""
    policy = policy_with_parts("magpies")
    for name in ("present", "board", "chosen"):  # the layer over the whole table must not tell the places apart
        policy.weights["layer0.weight"][:, load_game("magpies").OBSERVATION[name].slice] = 0
    policy.weights["layer2.weight"][2:4] = policy.weights["layer2.bias"][2:4] = 0
    observations, _ = views(game="magpies", steps=30)
    board = load_game("magpies").OBSERVATION["board"]
    present = load_game("magpies").OBSERVATION["present"].slice
    two = observations[observations[:, present][:, :2].all(axis=1)]
    assert len(two) > 3
    turned = two.copy()
    looks = turned[:, board.slice].reshape(-1, *board.shape).copy()
    looks[:, [0, 1]] = looks[:, [1, 0]]
    turned[:, board.slice] = looks.reshape(len(two), -1)
    before, after = policy.logits(two), policy.logits(turned)
    assert (abs(before[:, 2] - before[:, 3]) > 1e-3).any()
    after[:, [2, 3]] = after[:, [3, 2]]
    assert after == pytest.approx(before, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("slot.second.bias"), "at least 2 layers|do not fit"),
        (lambda w: w.update({"slot.own.weight": w["slot.own.weight"][:, 1:].copy()}), "do not fit .*slot.own.weight"),
        (lambda w: w.pop("slot.answers.weight"), "do not fit .*slot.answers.weight"),
        (lambda w: w.update({"lot.own.weight": w["slot.own.weight"]}), "do not fit .*lot.own.weight"),
        (lambda w: w.update({"slot.own.weight": w["slot.own.weight"] * np.float32(np.nan)}), "not finite"),
    ],
)
def test_a_policy_whose_parts_do_not_fit_is_refused(change, message, tmp_path):
    policy = policy_with_parts("cleaners")
    change(policy.weights)
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match=message):
        make_agent(tmp_path / "wrong.safetensors", "cleaners")


def test_a_game_without_parts_refuses_a_policy_that_looks_at_some(tmp_path):
    policy = small_policy()
    policy.weights["slot.own.weight"] = np.zeros((2, 2), np.float32)
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match="holdup has no parts"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")


def test_torch_and_numpy_give_the_same_probabilities(tmp_path):
    pytest.importorskip("torch")
    small_policy().save(tmp_path / "mine.safetensors")
    numpy, torch = (PolicyAgent.load(tmp_path / "mine.safetensors", "holdup", device) for device in (None, "cpu"))
    assert torch.probabilities(*views()) == pytest.approx(numpy.probabilities(*views()), abs=1e-5)


def test_without_torch_a_device_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    policy = small_policy()
    with pytest.raises(ImportError, match="device='cpu', which needs torch: pip install"):
        PolicyAgent(policy.weights, policy.scale, policy.card, device="cpu")


def test_an_onnx_export_gives_the_same_probabilities(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    policy = small_policy()
    policy.export_onnx(tmp_path / "mine.onnx")
    model = onnx.load(tmp_path / "mine.onnx")
    observations, masks = views()
    [shares] = ReferenceEvaluator(model).run(None, {"observation": observations, "action_mask": masks})
    assert shares == pytest.approx(policy.probabilities(observations, masks), abs=1e-5)
    assert (shares[masks == 0] == 0).all()
    assert '"game": "holdup"' in next(entry.value for entry in model.metadata_props if entry.key == "card")


def test_without_onnx_an_export_is_refused_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'heist-envs\[onnx\]'"):
        small_policy().export_onnx(tmp_path / "mine.onnx")
    assert not list(tmp_path.iterdir())


def test_a_table_that_must_be_that_of_training_is_compared_by_value(tmp_path):
    path = tmp_path / "mine.safetensors"
    small_policy().save(path)
    PolicyAgent.load(path, "holdup")
    PolicyAgent.load(path, "holdup", num_players=4, loans=False, redraw_rounds=holdup.OPTIONS["redraw_rounds"].default)
    with pytest.raises(ValueError, match=r"trained with .*'loans': False.* is needed"):
        PolicyAgent.load(path, "holdup", num_players=4)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"card": {"game": "chess", "version": 0}}, "game 'chess'.*'holdup' is needed"),
        ({"card": {"game": "holdup", "version": 99}}, "version 99.*is needed"),
        ({"card": {"game": "holdup", "version": False}}, "version False.*is needed"),
        ({"card": [1]}, "game None.*is needed"),
        ({"card": {**CARD, "options": None}}, "got a policy with options None"),
        ({"card": {**CARD, "options": {"loans": 7}}}, "got loans=7: allowed is True, False"),
        ({"card": {**CARD, "options": {"loans": True}}}, "got a policy with options hash"),
        ({"card": {**CARD, "num_players": 5}}, "got a policy with options hash"),
        ({"inputs": 7, "codes": CODES[:1]}, "scale of shape"),
        ({"codes": CODES.astype(np.int32)}, r"codes of int32 \(4, 2\) .*must be int64 \(K, 2\)"),
        ({"codes": np.zeros((1, 3), np.int64)}, r"codes of int64 \(1, 3\)"),
        ({"codes": np.array([[-1, 0]])}, "codes of entries -1 to -1"),
        ({"codes": np.array([[0, 0], [holdup.OBSERVATION.size, 0]])}, "codes of entries 0 to .*: there are"),
        ({"outputs": 4}, "got 4 outputs .* 15 actions are needed"),
    ],
)
def test_a_policy_that_does_not_fit_is_refused(policy, message, tmp_path):
    path = tmp_path / "wrong.safetensors"
    small_policy(**policy).save(path)
    with pytest.raises(ValueError, match=message):
        make_agent(str(path), "holdup")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_policy_with_numbers_that_are_none_is_refused(value, tmp_path):
    policy = small_policy()
    policy.weights["layer0.bias"][3] = value
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match="not finite float32"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")
    policy = small_policy()
    policy.scale[0] = 0
    policy.save(tmp_path / "wrong.safetensors")
    with pytest.raises(ValueError, match="scale that is not above 0"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")


def test_a_policy_of_which_a_file_is_missing_is_refused_with_its_name(tmp_path):
    path = tmp_path / "mine.safetensors"
    with pytest.raises(FileNotFoundError, match=r"^got policy '.*mine.safetensors': there is no .*mine.safetensors$"):
        make_agent(str(path), "holdup")
    path.touch()
    with pytest.raises(FileNotFoundError, match=r"there is no .*mine.json$"):
        make_agent(str(path), "holdup")


def test_a_file_that_is_no_policy_is_refused(tmp_path):
    small_policy().save(tmp_path / "wrong.safetensors")
    (tmp_path / "wrong.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="is not a policy"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")
    (tmp_path / "wrong.json").write_text("{")
    with pytest.raises(ValueError, match="is not a policy"):
        make_agent(tmp_path / "wrong.safetensors", "holdup")


def test_a_policy_whose_layers_do_not_join_is_refused(tmp_path):
    policy = small_policy()
    policy.weights["layer1.weight"] = policy.weights["layer1.weight"][:, 1:]
    policy.save(tmp_path / "gap.safetensors")
    with pytest.raises(ValueError, match="got layer 1 of shape"):
        make_agent(str(tmp_path / "gap.safetensors"), "holdup")
    del policy.weights["layer0.bias"]
    policy.save(tmp_path / "gap.safetensors")
    with pytest.raises(ValueError, match="got the arrays"):
        make_agent(str(tmp_path / "gap.safetensors"), "holdup")


# ------------------------------------------------------------------------------------------- What comes with the package


@pytest.mark.parametrize("game", GAMES)
def test_a_policy_for_the_default_table_of_a_game_comes_with_the_package(game):
    agent = load(game)
    n = agent.card["num_players"]
    assert n == load_game(game).OPTIONS["num_players"].default
    assert agent.card["options"] == {}
    assert agent.card["config"]["game"] == game
    assert make_agent("ppo", game).card == agent.card
    # Far above what the styles win among themselves, on few deals.
    score = one_against_many(game, agent, make_agent("uniform", game), n, 40)
    assert score.mean - score.half_width > 0.1


def test_the_policies_of_the_package_are_small():
    assert sum(path.stat().st_size for path in PRETRAINED.iterdir()) < 5_000_000


def test_no_policy_comes_for_a_game_that_is_not_there():
    with pytest.raises(ValueError, match="poker"):
        load("poker")
