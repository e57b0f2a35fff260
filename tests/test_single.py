"""One seat of a game for Gymnasium and Stable-Baselines3, with agents in the other seats."""

import copy
import pickle
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import heist_envs
from heist_envs.agents import UniformAgent
from heist_envs.games import GAMES, holdup, load
from heist_envs.single import HeistSingleEnv
from tests.test_statistics import Always

every_game = pytest.mark.parametrize("name", GAMES)


def make(name, **kwargs):
    return gymnasium.make(f"heist/{name}-v{load(name).VERSION}", **kwargs)


class Recorder(UniformAgent):
    """Plays at random, and remembers what it was shown and what it played."""

    def __init__(self):
        self.moves = []

    def act(self, observations, action_masks, rng):
        actions = super().act(observations, action_masks, rng)
        self.moves += [(seen.tobytes(), int(action)) for seen, action in zip(observations, actions, strict=True)]
        return actions


def random_action(observation, rng):
    return int(rng.choice(np.flatnonzero(observation["action_mask"])))


class TakesAnyAction(HeistSingleEnv):
    """Plays the first legal action for one that is not: the checks draw an action first and deal the cards afterwards."""

    def step(self, action):
        return super().step(action if self.action_masks()[action] else self.action_masks().argmax())


gymnasium.register("TakesAnyAction-v0", TakesAnyAction)


@every_game
@pytest.mark.parametrize("flat", [False, True])
def test_gymnasiums_and_stable_baselines_checks_pass(name, flat):
    check_env(gymnasium.make("TakesAnyAction-v0", game=name, flat=flat, render_mode="ansi").unwrapped)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Treating image", UserWarning)
        sb3.check_env(make(name, flat=flat).unwrapped)


@every_game
def test_the_same_actions_give_the_same_game_as_in_pettingzoo_and_rewards_sum_to_the_return_exactly_once(name):
    rng = np.random.default_rng(0)
    for seed in range(15):
        recorder = Recorder()
        env = make(name, opponents=recorder)
        observation, info = env.reset(seed=seed)
        total, seat, own = 0.0, info["seat"], []
        rewards = []
        over = False
        while not over:
            action = random_action(observation, rng)
            own.append((observation["observation"].tobytes(), action))
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
            rewards.append(reward)
            over = terminated or truncated
            assert info["seat"] == seat
        assert not any(rewards[:-1])
        aec = heist_envs.make(name)
        aec.reset(seed=seed)
        others = iter(recorder.moves)
        mine = iter(own)
        while not (any(aec.terminations.values()) or any(aec.truncations.values())):
            acting = aec.agent_selection == f"player_{seat}"
            seen, action = next(mine if acting else others)
            assert aec.last()[0]["observation"].tobytes() == seen
            aec.step(action)
        assert total == pytest.approx(aec.rewards[f"player_{seat}"])
        assert aec.observe(f"player_{seat}")["observation"].tobytes() == observation["observation"].tobytes()
        assert (aec.terminations[f"player_{seat}"], aec.truncations[f"player_{seat}"]) == (terminated, truncated)
        assert next(mine, None) is None


@every_game
def test_a_batch_of_seats_plays_the_games_of_single_ones(name):
    vec = gymnasium.make_vec(f"heist/{name}-v{load(name).VERSION}", num_envs=4, opponents=Always(0), seat=1, flat=True)
    singles = [make(name, opponents=Always(0), seat=1, flat=True) for _ in range(4)]
    seen, infos = vec.reset(seed=9)
    for k, env in enumerate(singles):
        assert (env.reset(seed=9 + k)[0] == seen[k]).all()
    for _ in range(200):
        actions = infos["action_mask"].argmax(axis=1)
        assert (vec.unwrapped.action_masks() == infos["action_mask"]).all()
        seen, rewards, terminations, truncations, infos = vec.step(actions)
        for k, env in enumerate(singles):
            last, reward, terminated, truncated, _ = env.step(int(actions[k]))
            assert (reward, terminated, truncated) == (rewards[k], terminations[k], truncations[k])
            if terminated or truncated:
                assert (infos["final_obs"][k] == last).all()
                assert infos["_final_obs"][k]
                last = env.reset()[0]
            assert (last == seen[k]).all()
    vec.close()


def test_opponents_are_given_one_by_one_clockwise_from_the_learners_left():
    for seat in range(3):
        first, second = Recorder(), Recorder()
        env = make("holdup", num_players=3, opponents=[first, second], seat=seat, redraw_rounds=0, loans=False)
        env.reset(seed=1)
        glove = heist_envs.observation_layout("holdup")["glove"].slice
        for recorder, place in ((first, 1), (second, 2)):
            for seen, _ in recorder.moves[:1]:
                # F is seat 0 in the first round: whoever sits there sees the Glove at his own place.
                at = np.frombuffer(seen, np.int8)[glove].argmax()
                assert (seat + place + at) % 3 == 0
        assert sum(len(recorder.moves) for recorder in (first, second)) == seat  # those who sit before the learner


def test_the_seat_is_fixed_or_drawn_anew_for_every_game():
    env = make("holdup", opponents="uniform")
    rng = np.random.default_rng(0)
    seats = []
    observation, info = env.reset(seed=0)
    for _ in range(60):
        seats.append(info["seat"])
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(random_action(observation, rng))
            over = terminated or truncated
        observation, info = env.reset()
    assert set(seats) == {0, 1, 2, 3}
    for seat in range(4):
        assert make("holdup", seat=seat).reset(seed=0)[1]["seat"] == seat


def test_a_seat_that_is_never_asked_is_said_to_be_one():
    # After the ante everybody has one diamond: the first who joins ends the game.
    options = {"num_players": 3, "start_diamonds": 2, "redraw_rounds": 0, "loans": False, "end_check": "immediate"}
    with pytest.raises(RuntimeError, match="ended before player_2, who learns, was asked"):
        make("holdup", opponents=Always(holdup.JOIN), seat=2, **options).reset(seed=0)
    make("holdup", opponents=Always(holdup.JOIN), seat=0, **options).reset(seed=0)


@every_game
def test_options_survive_resets_with_and_without_a_seed(name):
    env = make(name, num_players=3, reward="score")
    for seed in (1, None, 2, None):
        env.reset(seed=seed)
        state = env.unwrapped.games.batch.states[0]
        assert (state.num_players, state.score_reward) == (3, 1)


@every_game
def test_sample_without_a_mask_gives_legal_actions_only(name):
    env = make(name)
    observation, _ = env.reset(seed=0)
    for _ in range(50):
        action = env.action_space.sample()
        assert observation["action_mask"][action]
        observation, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            observation, _ = env.reset()


@every_game
def test_a_copy_goes_on_identically(name):
    env = make(name, opponents="uniform").unwrapped
    env.reset(seed=3)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        one, rng = copy.deepcopy(env), np.random.default_rng(0)
        for _ in range(100):
            action = int(rng.choice(np.flatnonzero(one.action_masks())))
            first, second = one.step(action), twin.step(action)
            assert (first[0]["observation"] == second[0]["observation"]).all()
            assert first[1:4] == second[1:4]
            if first[2] or first[3]:
                one.reset()
                twin.reset()


@pytest.mark.parametrize(
    ("action", "error"), [(9, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError), ("a", TypeError)]
)
def test_a_bad_action_is_refused_and_nothing_changes(action, error):
    env = make("holdup", seat=0).unwrapped
    env.reset(seed=0)
    before = env.games.batch.to_bytes()
    with pytest.raises(error, match="got action"):
        env.step(action)
    assert env.games.batch.to_bytes() == before
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        make("holdup").unwrapped.step(0)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"seat": 4}, "got seat=4: it is 'random' or one of 0 to 3"),
        ({"seat": "first"}, "got seat='first'"),
        ({"opponents": ["rule"]}, "got 1 opponents: give one for all, or one for each of the 3 other seats"),
        ({"opponents": "genius"}, "got agent 'genius'"),
        ({"num_players": 9}, "got num_players=9"),
    ],
)
def test_bad_data_is_refused_with_what_is_allowed(kwargs, message):
    with pytest.raises(ValueError, match=message):
        make("holdup", **kwargs)
    with pytest.raises(ValueError, match="got render_mode='gif': allowed is None, 'ansi', 'rgb_array', 'human'"):
        HeistSingleEnv("holdup", render_mode="gif")


def test_a_batch_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="got num_envs=0"):
        gymnasium.make_vec("heist/holdup-v0", num_envs=0)
    with pytest.raises(ValueError, match="a batch is not rendered"):
        gymnasium.make_vec("heist/holdup-v0", num_envs=2, render_mode="ansi")
    vec = gymnasium.make_vec("heist/holdup-v0", num_envs=2)
    with pytest.raises(ValueError, match=r"call reset\(\)"):
        vec.step([0, 0])
    vec.reset(seed=[3, 5])
    with pytest.raises(ValueError, match="got actions of shape"):
        vec.step([0])


def test_render_shows_what_the_learner_sees(capsys):
    env = make("holdup", seat=1, render_mode="ansi")
    env.reset(seed=0)
    assert "holds" in env.render()
    shown = make("holdup", seat=1, render_mode="human").unwrapped
    shown.reset(seed=0)
    shown.step(int(shown.action_masks().argmax()))
    assert "player_1" in capsys.readouterr().out


# ----------------------------------------------------------------------------------------- Stable-Baselines3


def test_maskable_ppo_and_its_evaluation_work_as_documented():
    sb3_contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
    from sb3_contrib.common.maskable.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecMonitor

    from heist_envs.sb3 import make_vec_env

    settings = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "seed": 0, "device": "cpu"}
    model = sb3_contrib.MaskablePPO("MlpPolicy", VecMonitor(make_vec_env("holdup", 8, opponents="uniform")), **settings)
    many = VecMonitor(make_vec_env("holdup", 4))
    callback = MaskableEvalCallback(many, eval_freq=32, n_eval_episodes=3, verbose=0)
    model.learn(512, callback=callback)
    assert -1 <= callback.last_mean_reward <= 1
    assert -1 <= evaluate_policy(model, many, n_eval_episodes=8)[0] <= 1
    for policy, flat in (("MlpPolicy", True), ("MultiInputPolicy", False)):
        model = sb3_contrib.MaskablePPO(policy, make("holdup", flat=flat), **settings)
        one = Monitor(make("holdup", flat=flat))
        model.learn(64, callback=MaskableEvalCallback(one, eval_freq=32, n_eval_episodes=2, verbose=0))


@every_game
def test_a_vec_env_pays_each_return_once_and_gives_the_last_view(name):
    pytest.importorskip("stable_baselines3")
    from heist_envs.sb3 import make_vec_env

    env = make_vec_env(name, 4, opponents=Always(0), seat=1)
    vec = gymnasium.make_vec(f"heist/{name}-v{load(name).VERSION}", num_envs=4, opponents=Always(0), seat=1, flat=True)
    env.seed(5)
    observations = env.reset()
    seen, infos = vec.reset(seed=5)
    for _ in range(200):
        assert (observations == seen).all()
        masks = env.env_method("action_masks")
        assert (masks == infos["action_mask"]).all()
        assert (env.env_method("action_masks", indices=[2])[0] == masks[2]).all()
        actions = masks.argmax(axis=1)
        observations, rewards, dones, sb3_infos = env.step(actions)
        seen, expected, terminations, truncations, infos = vec.step(actions)
        assert (rewards == expected).all()
        assert (dones == terminations | truncations).all()
        for k in np.flatnonzero(dones):
            assert (sb3_infos[k]["terminal_observation"] == infos["final_obs"][k]).all()
            assert sb3_infos[k]["TimeLimit.truncated"] == truncations[k]
    assert env.has_attr("action_masks")
    assert not env.has_attr("nothing")
    for call in (lambda: env.set_attr("seat", 1), lambda: env.env_method("fly")):
        with pytest.raises(AttributeError, match="got"):
            call()
    env.close()
