"""Bots in files of their own: what they are given, what they may not do, and that nobody else pays for it."""

import gc
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time
import types

import numpy as np
import pytest

from heist_envs.agents import RuleBasedAgent, UniformAgent, decide, make_agent
from heist_envs.agents.agent import FORFEIT
from heist_envs.agents.entrant import Entrant, Limits, check, main
from heist_envs.benchmarks.tournament import one_against_many
from heist_envs.engine import Batch
from heist_envs.games import GAMES, holdup, load
from heist_envs.replay import play

DOCS = pathlib.Path(__file__).parents[1] / "docs"
EXAMPLE = DOCS / "example_bot.py"
FIRST = "def act(observation, action_mask):\n    return action_mask.argmax()\n"
PATIENCE = 30.0
"""Seconds that a process has for its start, on a machine that has other things to do."""


def a_table(rows=3, game="holdup", **options):
    batch = Batch(load(game), np.repeat(load(game).new_initial_state(**options), rows), autoreset=True)
    batch.reset(0)
    return batch


def asked(bot, batch):
    return bot.act(batch.observations, batch.masks, np.random.default_rng(0)).tolist()


def members(group):
    """The living processes of a group, by number."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of_group = entry.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended meanwhile
            continue
        if int(of_group) == group and state not in "ZX":
            found.append(int(entry.parent.name))
    return found


def wait_until_gone(group):
    for _ in range(500):
        if not members(group):
            return True
        time.sleep(0.01)
    return False


@pytest.fixture
def bot(tmp_path):
    """Makes an entrant of a bot's text; at the end none of their processes is left."""
    made = []

    def make(text, game="holdup", **limits):
        path = tmp_path / "bot.py"
        path.write_text(text)
        made.append(Entrant(path, game, Limits(**{"first_seconds": PATIENCE, "seconds": PATIENCE, **limits})))
        return made[-1]

    yield make
    for one in made:
        group = group_of(one)
        one.close()
        assert group is None or wait_until_gone(group)


def group_of(entrant):
    return None if entrant._process is None else entrant._process._process.pid


@pytest.mark.parametrize("game", GAMES)
def test_a_bot_is_told_its_game_and_table_and_sees_the_very_observation_and_mask(bot, game):
    text = """
import hashlib
def setup(game, num_players, layout):
    global told
    told = game, num_players, layout
def act(observation, action_mask):
    assert (observation.dtype, action_mask.dtype, type(observation).__name__) == ("int8", "int8", "ndarray")
    seen = hashlib.sha256(observation.tobytes() + action_mask.tobytes()).hexdigest()
    observation[:] = action_mask[:] = 0  # they are its own
    print(told, seen)
    return 10**6
"""
    module, batch = load(game), a_table(1, game)
    entrant = bot(text, game)
    assert asked(entrant, batch) == [FORFEIT]
    layout = {name: (f.slice.start, f.slice.stop, f.shape) for name, f in module.OBSERVATION.items()}
    seen = hashlib.sha256(batch.observations.tobytes() + batch.masks.tobytes()).hexdigest()
    assert entrant.output.split("\n")[0] == f"{(game, batch.num_players, layout)} {seen}"
    assert batch.observations.any()


def test_functions_a_class_and_a_bot_without_setup_will_do(bot):
    whole = "class Bot:\n" + "".join(f"    {line}\n" for line in FIRST.replace("(", "(self, ", 1).splitlines())
    for text in (FIRST, f"def setup(game, num_players, layout): pass\n{FIRST}", whole):
        assert asked(bot(text), a_table()) == [holdup.KEEP] * 3


FAILURES = {
    "crashes": ("def act(o, m): return 1 / 0", r"ended with status 1: ZeroDivisionError: division by zero$"),
    "illegal": ("def act(o, m): return 7", r"gave action 7: legal are 0 KEEP, 1 REDRAW$"),
    "negative": ("def act(o, m): return -1", r"gave action -1: legal are"),
    "beyond 64 bits": ("def act(o, m): return 2**70", r"ended with status 1: OverflowError"),
    "a word": ("def act(o, m): return 'KEEP'", r"TypeError: act gave 'KEEP' of type str: one integer is needed$"),
    "true": ("def act(o, m): return True", r"TypeError: act gave True of type bool"),
    "an array": ("def act(o, m): return m", r"TypeError: act gave array.* of type ndarray"),
    "nothing": ("def act(o, m): pass", r"TypeError: act gave None of type NoneType"),
    "hangs": ("def act(o, m):\n  while True: pass", r"took longer than 0.3 s$"),
    "hangs on import": ("import time; time.sleep(99)", r"took longer than 0.3 s$"),
    "exits": ("def act(o, m): raise SystemExit(0)", r"ended with status 0$"),
    "exits at once": ("import os; os._exit(3)", r"ended with status 3$"),
    "is killed": ("import ctypes\ndef act(o, m): ctypes.string_at(0)", r"ended by a signal \(Segmentation fault"),
    "no python": ("def act(o, m)", r"SyntaxError: expected ':'$"),
    "no act": ("def play(o, m): return 0", r"AttributeError: it has no function act\(observation, action_mask\)"),
    "fills the memory": ("def act(o, m): return len(bytearray(1 << 30))", r"MemoryError \(it may use 512 MiB\)$"),
    "floods": ("def act(o, m):\n  while True: print('rubbish')", r"wrote more than 200,000 bytes$"),
    "closes all": ("import os\ndef act(o, m): os.closerange(0, 99)", r"gave no more answers|ended with status 1"),
    "starts a program": ("import os\ndef act(o, m): os.system('true')", r"PermissionError: a bot may start no process"),
    "writes a file": (
        "def act(o, m): print('x', file=open('here', 'w'), flush=True)",
        r"OSError: \[Errno 27\] File too large$",
    ),
}
"""What a bot may do wrong: its text, and what is said of it."""


@pytest.mark.parametrize("failure", FAILURES)
def test_a_bot_that_fails_forfeits_and_says_why(bot, failure):
    text, reason = FAILURES[failure]
    quick = {"first_seconds": 0.3} if failure.startswith("hangs") else {}
    entrant = bot(text, memory=1 << 29, output=200_000, starts=1, **quick)
    assert asked(entrant, a_table(1)) == [FORFEIT]
    assert len(entrant.faults) == 1
    assert re.match(r"bot\.py ", entrant.faults[0])
    assert re.search(reason, entrant.faults[0]), entrant.faults
    assert entrant._process is None


def test_only_the_decision_that_fails_is_forfeited_and_later_ones_are_short(bot):
    slow = "import time\ndef act(o, m):\n    if o[0]: time.sleep(99)\n    return m.argmax()"
    batch = a_table(3)
    batch.observations[:, 0] = [0, 1, 0]
    entrant = bot(slow, seconds=0.2)
    assert asked(entrant, batch) == [0, FORFEIT, 0]
    assert entrant.faults == ["bot.py took longer than 0.2 s"]


def test_a_bot_that_never_answers_is_given_up_and_one_that_answers_between_is_not(bot):
    entrant = bot("import nothing_of_that_name", starts=2)
    assert asked(entrant, a_table(4)) == [FORFEIT] * 4
    assert [("No module" in fault, "is not started again: 2 times in a row" in fault) for fault in entrant.faults] == [
        *[(True, False)] * 2,
        *[(True, True)] * 2,  # with the cause
    ]
    batch = a_table(6)
    batch.observations[:, 0] = [0, 1, 0, 1, 0, 1]
    assert asked(bot("def act(o, m): return 99 if o[0] else 0", starts=1), batch) == [0, FORFEIT] * 3


def test_what_a_bot_prints_and_reads_does_not_disturb_its_answers(bot):
    text = f"""
import os, sys
print("rubbish " * 1000, flush=True)
os.write(1, bytes(64)); os.write(2, bytes(64))
assert sys.stdin.read() == "" and os.read(0, 9) == b""
{FIRST}    print(observation, file=sys.stderr)
"""
    chatty = text.replace("return action_mask.argmax()", "print('rubbish ' * 500); os.write(1, bytes(64)); return 1")
    entrant = bot(chatty)
    assert asked(entrant, a_table(40)) == [1] * 40
    assert entrant.faults == []


def test_a_bot_finds_no_secret_in_its_environment_and_no_open_file(bot, monkeypatch):
    monkeypatch.setenv("HEIST_SECRET", "the card")
    inherited = os.open(EXAMPLE, os.O_RDONLY)
    os.set_inheritable(inherited, True)
    text = """
import importlib.util, os, sys
def act(observation, action_mask):
    links = sorted(os.readlink(entry.path) for entry in os.scandir("/proc/self/fd"))
    print(sorted(os.environ), len(sys.argv), "heist_envs" in sys.modules, importlib.util.find_spec("entrant"))
    print(sum(link.startswith("pipe:") for link in links), links.count("/dev/null"), len(links))
    return 99
"""
    entrant = bot(text)
    asked(entrant, a_table(1))
    os.close(inherited)
    there = [name for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ]
    names = sorted(["LC_ALL", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", *there])
    assert entrant.output == f"{names} 1 False None\n4 1 6\n"  # the sixth is the folder that is being read


def test_the_file_beside_a_bot_can_be_read_and_its_chance_follows_from_the_generator(bot, tmp_path):
    (tmp_path / "weights.txt").write_text("1")
    text = """
import random, numpy
weights = int(open("weights.txt").read())
def act(observation, action_mask):
    return int(random.random() < 0.5) if observation[0] else int(numpy.random.random() < weights / 2)
"""
    batch = a_table(40)
    batch.observations[:20, 0] = 1
    once, again = asked(bot(text), batch), asked(bot(text), batch)
    other = bot(text).act(batch.observations, batch.masks, np.random.default_rng(1)).tolist()
    assert once == again != other
    assert set(once[:20]) == set(once[20:]) == {0, 1}


def test_at_another_table_a_bot_is_set_up_anew(bot):
    entrant = bot("def setup(game, n, layout):\n  global answer\n  answer = n - 3\ndef act(o, m): return answer")
    assert asked(entrant, a_table(2, num_players=3)) == [0, 0]
    assert asked(entrant, a_table(2, num_players=4)) == [1, 1]


LEAVES_ONE_BEHIND = "import ctypes, time\nif not ctypes.CDLL(None).fork():\n    time.sleep(99)\n" + FIRST


@pytest.mark.parametrize("end", ["close", "forgotten", "fault"])
def test_nothing_is_left_running(bot, tmp_path, end):
    (tmp_path / "bot.py").write_text(LEAVES_ONE_BEHIND)
    entrant, batch = Entrant(tmp_path / "bot.py", "holdup"), a_table(1)
    assert asked(entrant, batch) == [holdup.KEEP]
    group = group_of(entrant)
    assert len(members(group)) == (2 if os.geteuid() == 0 else 1)  # nobody but root may begin one
    if end == "close":
        entrant.close()
    elif end == "forgotten":
        del entrant
        gc.collect()
    else:
        batch.masks[0] = 0  # no answer is a legal one
        assert asked(entrant, batch) == [FORFEIT]
    assert wait_until_gone(group)


ENDS = {
    "ends without closing": "sys.exit()",
    "dies while the bot hangs": "threading.Timer(0.1, os._exit, [1]).start(); seen[0, 0] = 1; entrant.act(seen, mask, rng)",
}


@pytest.mark.parametrize("end", ENDS)
def test_nothing_is_left_running_after_a_program_that(tmp_path, end):
    (tmp_path / "bot.py").write_text("def act(o, m):\n    while o[0]: pass\n    return 0")
    program = f"""
import os, sys, threading, numpy as np
from heist_envs.agents.entrant import Entrant, Limits
entrant, rng = Entrant({str(tmp_path / "bot.py")!r}, "holdup", Limits(0.5, {PATIENCE})), np.random.default_rng(0)
seen, mask = np.zeros((1, {holdup.OBSERVATION.size}), np.int8), np.ones((1, {holdup.NUM_ACTIONS}), np.int8)
assert entrant.act(seen, mask, rng) == [0]
print(entrant._process._process.pid, flush=True)
{ENDS[end]}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert wait_until_gone(int(done.stdout))


def test_an_interrupt_ends_the_process_so_that_no_late_answer_is_taken_for_the_next(bot, monkeypatch):
    entrant, batch = bot(FIRST), a_table(1)
    assert asked(entrant, batch) == [0]
    group = group_of(entrant)
    with monkeypatch.context() as patch:
        patch.setattr("heist_envs.agents.entrant.os.read", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            asked(entrant, batch)
    assert wait_until_gone(group)
    assert asked(entrant, batch) == [0]
    assert entrant.faults == []


def test_one_who_decides_where_nobody_can_forfeit_is_told_the_reason(bot):
    batch = a_table(1)
    with pytest.raises(ValueError, match=r"Entrant forfeits: bot\.py gave action 7: legal are"):
        decide(bot("def act(o, m): return 7"), batch, np.arange(1), np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"^player_1 forfeits: bot\.py gave action 70: legal are"):
        play("holdup", ["rule", bot("def act(o, m): return 70"), "rule"])


def test_where_limits_do_not_hold_it_says_which(tmp_path, monkeypatch):
    (tmp_path / "bot.py").write_text(FIRST)
    monkeypatch.setattr("heist_envs.agents.entrant.sys", types.SimpleNamespace(platform="darwin"))
    with pytest.warns(RuntimeWarning, match="memory, files and processes are not"):
        Entrant(tmp_path / "bot.py", "holdup")
    monkeypatch.delattr(os, "killpg")
    with pytest.raises(OSError, match="needs Linux or macOS"):
        Entrant(tmp_path / "bot.py", "holdup")


def test_a_bot_is_an_agent_by_its_path(tmp_path):
    (tmp_path / "bot.py").write_text(FIRST)
    for path in (tmp_path / "bot.py", str(tmp_path / "bot.py")):
        assert isinstance(make_agent(path, "holdup"), Entrant)
    with pytest.raises(ValueError, match=r"got bot 'none\.py': there is no such file"):
        make_agent("none.py", "holdup")


class Made:
    def __init__(self, game):
        self.game = game

    def act(self, observations, action_masks, rng):
        return action_masks.argmax(axis=1)


READY = Made("ready")
OTHERS = types.SimpleNamespace(uniform=UniformAgent(), made=lambda game: Made(game), nothing=lambda game: None, number=3)


def test_an_object_of_ones_own_is_imported_as_it_is_or_made_for_the_game():
    assert make_agent(f"{__name__}:READY", "holdup") is READY
    assert make_agent(f"{__name__}:OTHERS.uniform", "holdup") is OTHERS.uniform
    for name in ("Made", "OTHERS.made"):
        assert make_agent(f"{__name__}:{name}", "magpies").game == "magpies"
    assert isinstance(make_agent("heist_envs.agents:RuleBasedAgent", "holdup"), RuleBasedAgent)


def test_precedence_is_with_our_own_names():
    assert isinstance(make_agent("rule:band", "holdup"), RuleBasedAgent)
    assert make_agent("ismcts:500", "holdup").simulations == 500


def test_objects_that_are_not_there_or_do_not_act_are_refused_by_name(tmp_path, monkeypatch):
    for name, words in {
        "no_such_module:Bot": "there is no module 'no_such_module' to import",
        "tests.no_such_module:Bot": r"there is no module 'tests\.no_such_module' to import",
        f"{__name__}:Nothing": "has no attribute 'Nothing'",
        f"{__name__}:OTHERS.nothing": "NoneType: it must have act",
        f"{__name__}:OTHERS.number": "int: it must have act",
        "no module:Bot": "it is 'uniform'",
        ":Bot": "it is 'uniform'",
    }.items():
        with pytest.raises(ValueError, match=f"got agent '{re.escape(name)}'.*{words}"):
            make_agent(name, "holdup")
    (tmp_path / "needs_more.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        make_agent("needs_more:Bot", "holdup")


def test_the_example_beats_the_uniform_agent_and_the_page_shows_it():
    entrant = make_agent(EXAMPLE, "holdup")
    score = one_against_many("holdup", entrant, UniformAgent(), num_players=4, num_deals=100)
    entrant.close()
    assert score.mean - score.half_width > 0.1
    assert entrant.faults == []
    assert EXAMPLE.read_text() in (DOCS / "enter-a-bot.md").read_text()


def test_the_check_plays_whole_games_and_passes_a_bot_without_faults(capsys):
    assert main([str(EXAMPLE), "--game", "holdup", "--games", "6", "--players", "3"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"example_bot\.py would pass: 6 games, \d+ decisions, no fault", said)
    assert re.search(r"start and first decision [\d.]+ s, then [\d.]+ ms each", said)


def test_the_check_ends_a_game_where_it_is_forfeited_and_shows_the_faults(tmp_path, capsys):
    (tmp_path / "bot.py").write_text("def act(o, m):\n    raise ValueError('not today')")
    report = check(tmp_path / "bot.py", "holdup", num_games=3)
    assert (report.games, len(report.seconds), len(report.faults), report.mean_reward) == (3, 3, 3, 0)
    assert "\n  3 times: bot.py ended with status 1: ValueError: not today\n" in str(report)
    assert "line 2, in act" in str(report)
    (tmp_path / "bot.py").write_text(
        "import random\ndef act(o, m):\n    print('hello')\n    if random.random() < 0.2: raise ValueError('at times')\n"
        "    return m.argmax()"
    )
    report = check(tmp_path / "bot.py", "holdup", num_games=6)
    assert 0 < len(report.faults) < 6
    assert "hello" in str(report)
    assert "line 4, in act" in str(report)
    assert main([str(tmp_path / "bot.py"), "--games", "1"]) == 1
    assert "would not pass: 1 of 1 games forfeited" in capsys.readouterr().out


def test_what_a_failing_process_wrote_is_kept_when_a_later_one_ends_well(bot):
    entrant = bot("def act(o, m):\n    print('hello')\n    return 0 if o[0] else nothing_of_that_name")
    batch = a_table(2)
    batch.observations[:, 0] = [0, 1]
    assert asked(entrant, batch) == [FORFEIT, 0]
    entrant.close()
    assert "line 3, in act" in entrant.output


def test_the_check_refuses_what_is_not_there(capsys):
    with pytest.raises(ValueError, match=r"ends in \.py"):
        Entrant("mine.txt", "holdup")
    for given in (["none.py"], [str(EXAMPLE), "--players", "9"], [str(EXAMPLE), "--games", "0"]):
        with pytest.raises(SystemExit):
            main(given)
    assert "there is no such file" in capsys.readouterr().err
