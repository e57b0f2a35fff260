"""A table on a web page: each seat is told what it sees and nothing else, and nothing that anybody sends does harm."""

import asyncio
import collections
import contextlib
import io
import itertools
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest

import heist_envs
from heist_envs import chance, rules
from heist_envs.cli import main
from heist_envs.games import GAMES, holdup, load
from heist_envs.replay import Replay
from heist_envs.scene import ALL_SEEING
from tests import tables
from tests.test_watch import SEAT, SHORT, twins

table = pytest.importorskip("heist_envs.table", exc_type=ImportError)

every_game = pytest.mark.parametrize("name", GAMES)
LINKS = {"first-link": 0, "second-link": 1}
SEED = 77123
SHORTER = SHORT | {"accomplices": {"max_coups": 3}, "cleaners": {"max_turns": 10}}
"""Tables at which random players come to an end very soon."""


class Client:
    """Whoever has a link, in the loop of the application itself; `received` is every byte that came."""

    def __init__(self, app, link):
        self._app, self._link = app, link
        self.received, self.events = b"", []
        self.view = {"actions": [], "over": False}
        """The last event."""
        self._left = asyncio.Event()

    async def ask(self, path="", body=None, host="localhost:8000", query=b""):
        """The status and the text of an answer."""
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": "",
            "method": "GET" if body is None else "POST", "path": f"/{self._link}{path}", "query_string": query,
            "headers": [(b"host", host.encode())],
        }  # fmt: skip
        orders, found = [{"type": "http.request", "body": body or b""}], []

        async def receive():
            if orders:
                return orders.pop()
            await self._left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            found.append(message)
            if message["type"] == "http.response.start":
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
                self.received += repr(sorted(self.headers.items())).encode()
            part = message.get("body", b"")
            self.received += part
            for event in re.findall(r"(?m)^data: (.*)$", part.decode()):
                self.events.append(event)
                self.view = json.loads(event)

        await self._app(scope, receive, send)
        return found[0]["status"], b"".join(one.get("body", b"") for one in found).decode()

    async def act(self, action, **more):
        """Send an action for the decision that is seen, or what `more` says instead."""
        order = {"game": self.view["game"], "decision": self.view["decision"], "action": action} | more
        return await self.ask("/act", json.dumps(order).encode())

    @contextlib.asynccontextmanager
    async def listening(self, query=b""):
        """Hear the stream of views meanwhile."""
        self._left.clear()
        stream = asyncio.create_task(self.ask("/views", query=query))
        try:
            yield self
        finally:
            self._left.set()
            await stream


async def until(holds):
    """Let the others go on until something holds."""
    for _ in range(10_000):
        if holds():
            return
        await asyncio.sleep(0)
    raise AssertionError("nothing happens")


async def hear(*clients):
    """Wait until somebody is asked, or the game is over."""
    await until(lambda: any(client.view["actions"] or client.view["over"] for client in clients))
    for _ in range(10):  # for the others to hear it too
        await asyncio.sleep(0)


async def play_on(rng, *clients):
    """Play legal actions until the game is over; how many."""
    count = 0
    await hear(*clients)
    while not clients[0].view["over"]:
        client = next(one for one in clients if one.view["actions"])
        before = client.view
        assert await client.act(int(rng.choice([number for number, _ in before["actions"]]))) == (204, "")
        await until(lambda client=client, before=before: client.view != before)
        await hear(*clients)
        count += 1
    return count


@pytest.fixture(autouse=True)
def without_a_clock(monkeypatch):
    """What is sent when hangs on the moves alone: agents act in the same thread, and pages have time to hear of each."""

    async def at_once(function, *given):
        for _ in range(3):
            await asyncio.sleep(0)
        return function(*given)

    monkeypatch.setattr(table.asyncio, "to_thread", at_once)
    monkeypatch.setattr(table, "REPEAT", 1e6)


def seated(name, people=(0, 1), agent="uniform", **options):
    """A table of three players, and its application."""
    options = {"num_players": 3, **SHORTER.get(name, {}), **options}
    made = table.Table(name, people, {seat: agent for seat in range(3) if seat not in people}, SEED, **options)
    return made, table.site(made, LINKS)


def whole_game(name, query=b""):
    """A game of two people and an agent, and the beginning of the next: the two, and how many decisions they took."""

    async def game():
        made, app = seated(name)
        clients = [Client(app, link) for link in LINKS]
        async with contextlib.AsyncExitStack() as stack:
            for client in clients:
                await client.ask()
                await stack.enter_async_context(client.listening(query))
            await made.go_on()
            count = await play_on(np.random.default_rng(4), *clients)
            assert clients[0].view["results"] == clients[1].view["results"] != []
            assert await clients[1].ask("/again", b'{"game": 1}') == (204, "")
            await until(lambda: clients[0].view["game"] == 2)
            await hear(*clients)
        return clients, count

    return asyncio.run(game())


@every_game
@pytest.mark.parametrize("query", [b"", b"lang=fr"])
def test_no_byte_that_a_seat_is_sent_depends_on_what_is_hidden_from_it(name, query, monkeypatch):
    plain, count = whole_game(name, query)
    assert count > 5
    for client in plain:
        assert len(client.events) > count / 2
        assert all(one != other for one, other in itertools.pairwise(client.events))  # what is not seen sends nothing
    look, facts, rng = table.Seat.look, tables.facts(name), np.random.default_rng(5)
    stream, changed = chance.streams(chance.seeds(5, 1))[0], 0

    def scrambled(self, state):
        nonlocal changed
        other = state.copy()
        if query:
            facts.scramble(other, self.number, rng)
        else:
            rules.determinize(other, self.number, stream)
        changed += other.tobytes() != state.tobytes()
        look(self, other)

    monkeypatch.setattr(table.Seat, "look", scrambled)
    other, _ = whole_game(name, query)
    assert [one.received for one in other] == [one.received for one in plain]
    assert changed > count or not load(name).PRIVATE + load(name).HIDDEN
    for client, foreign in zip(plain, ("second-link", "first-link"), strict=True):
        for secret in (foreign, "first-link", str(SEED), "uniform"):
            assert secret.encode() not in client.received


@pytest.mark.parametrize("eyes", ["scene", "describe"])
def test_eyes_that_see_too_much_are_found_out(eyes, monkeypatch):
    see = getattr(holdup, eyes)
    leaks = {
        "scene": lambda state, viewer=None: see(state, ALL_SEEING),
        "describe": lambda state, viewer=None: see(state, viewer) + f"\nOf player_2: {state.card[2]}",
    }
    monkeypatch.setattr(holdup, eyes, leaks[eyes])
    with pytest.raises(AssertionError):
        test_no_byte_that_a_seat_is_sent_depends_on_what_is_hidden_from_it("holdup", b"", monkeypatch)


@every_game
def test_two_games_that_a_seat_cannot_tell_apart_are_told_it_alike(name, monkeypatch):
    rng, apart = np.random.default_rng(6), 0
    for _ in range(4 if load(name).PRIVATE else 1):
        options, plays = twins(name, rng)
        heard = [told(name, options, numbers, monkeypatch) for numbers in plays]
        assert heard[0] == heard[1]
        apart += plays[0] != plays[1]
    assert apart > 1 or not load(name).PRIVATE


def told(name, options, numbers, monkeypatch):
    """Every byte that SEAT is sent in a play."""
    left = collections.deque(numbers)
    monkeypatch.setattr(table, "deciding", lambda game, agents, seed: lambda state: (left.popleft(), None))
    monkeypatch.setattr(table.traceback, "print_exc", lambda: None)  # the end of the play

    async def game():
        made = table.Table(name, [SEAT], {}, SEED, **options)
        client = Client(table.site(made, {"mine": SEAT}), "mine")
        async with client.listening():
            await made.go_on()
            await hear(client)
            while left and not client.view["over"]:
                before = client.view
                await client.act(left.popleft())
                await until(lambda before=before: client.view != before)
                await hear(client)
        return client.received

    return asyncio.run(game())


def test_people_at_one_table_play_the_same_game():
    clients, _ = whole_game("holdup")
    assert [json.loads(client.events[-1])["facts"][1] for client in clients] == ["you are player_0", "you are player_1"]
    finals = [[json.loads(event) for event in client.events if '"over":true' in event][-1] for client in clients]
    assert finals[0]["results"] == finals[1]["results"]
    assert re.fullmatch(r"Game 1: .*(wins|share the win)", finals[0]["results"][0])
    assert finals[0]["turn"] == "The game is over."
    assert {name for event in clients[0].events for _, name in json.loads(event)["actions"]} >= {"KEEP", "REDRAW"}


def at_a_table(script, name="holdup", **more):
    """Run `script(client, other, table)`, where two listen who are seated."""

    async def run():
        made, app = seated(name, **more)
        client, other = (Client(app, link) for link in LINKS)
        async with client.listening(), other.listening():
            await made.go_on()
            await hear(client, other)
            await script(client, other, made)

    asyncio.run(run())


BAD = [
    (b"", 400, "got '': needed is a JSON object of whole numbers: game, decision, action"),
    (b"{", 400, "got '{': needed"),
    (b"[" * 999, 400, "needed is a JSON object"),
    (b"\xff\xfe", 400, "needed is a JSON object"),
    (b"[1, 0, 0]", 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0}', 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0, "action": 0, "more": 0}', 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0, "action": "0"}', 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0, "action": true}', 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0, "action": 0.0}', 400, "needed is a JSON object"),
    (b'{"game": 1, "decision": 0, "action": 99}', 400, "got action 99: allowed are 0 KEEP, 1 REDRAW"),
    (b'{"game": 1, "decision": 0, "action": -1}', 400, "got action -1: allowed are 0 KEEP, 1 REDRAW"),
    (b'{"game": 1, "decision": 1, "action": 0}', 409, "got decision 1: player_0 has taken 0 in this game"),
    (b'{"game": 2, "decision": 0, "action": 0}', 409, "got game 2: game 1 is played"),
    (b" " * 1001, 413, "got more than 1000 bytes"),
]


@pytest.mark.parametrize(("body", "status", "message"), BAD)
def test_what_is_no_action_is_refused_with_what_is_allowed_and_changes_nothing(body, status, message):
    async def script(client, other, made):
        heard = [*client.events], [*other.events]
        answer = await client.ask("/act", body)
        assert answer[0] == status
        assert message in answer[1]
        assert (client.events, other.events) == heard
        assert (await client.act(0))[0] == 204

    at_a_table(script)


def test_who_is_not_to_act_is_told_so_and_a_game_that_goes_on_is_not_begun_again():
    async def script(client, other, made):
        heard = [*other.events]
        assert await other.act(0) == (409, "got action 0 of player_1, who is not to act")
        assert await other.ask("/again", b'{"game": 1}') == (409, "got game 1, which is not over")
        assert (await other.ask("/again", b'{"game": 0}'))[0] == 409
        assert other.events == heard
        await play_on(np.random.default_rng(0), client, other)
        assert (await client.act(0))[0] == 409
        assert (await client.ask("/again", b'{"game": 1}'))[0] == 204
        assert (await other.ask("/again", b'{"game": 1}'))[0] == 409

    at_a_table(script)


def test_a_second_click_does_not_act_twice():
    async def script(client, other, made):
        answers = await asyncio.gather(client.act(0), client.act(0), client.act(1))
        assert [status for status, _ in answers] == [204, 409, 409]
        assert "player_0 has taken 1 in this game" in answers[1][1]

    at_a_table(script)


def test_who_comes_again_sees_the_same():
    async def script(client, other, made):
        for asked in (client, other, client):
            again = Client(client._app, "first-link")
            async with again.listening():
                await until(lambda again=again: again.events)
                assert again.events == [client.events[-1]] == [made.view(0)]
            await asked.act(asked.view["actions"][0][0])
            await hear(client, other)

    at_a_table(script)


def test_a_view_is_said_again_after_a_while_and_streams_end_with_the_table(monkeypatch):
    monkeypatch.setattr(table, "REPEAT", 0.0)

    async def script(client, other, made):
        await until(lambda: len(client.events) > 5)
        assert len(set(client.events[-3:])) == 1
        made.close()
        await Client(client._app, "first-link").ask("/views")

    at_a_table(script)


@pytest.mark.parametrize("path", ["", "/views", "/act", "/again", "/nothing"])
def test_an_unknown_link_is_answered_without_detail(path):
    async def script(client, other, made):
        body = b"{}" if path in ("/act", "/again") else None
        for link in ("first-lin", "first-link2", "", "%2e%2e"):
            stranger = Client(client._app, link)
            assert await stranger.ask(path, body) == (404, "Not Found")
        assert b"first-link" not in stranger.received

    at_a_table(script)


def test_every_answer_forbids_to_keep_it_to_hand_its_address_on_and_to_run_what_is_foreign():
    async def script(client, other, made):
        for path, body, host in [
            ("", None, "localhost"),
            ("/act", b"x", "[::1]:80"),
            ("/nothing", None, "127.0.0.1:9"),
            ("", None, "evil.example"),
            ("/act", None, "localhost"),
        ]:
            status, _ = await client.ask(path, body, host)
            assert (status == 400) == (host == "evil.example" or body == b"x")
            assert client.headers["cache-control"] == "no-store"
            assert client.headers["referrer-policy"] == "no-referrer"
            assert client.headers["content-security-policy"].startswith("default-src 'none'; script-src 'sha256-")
            assert "unsafe-inline" not in client.headers["content-security-policy"]
            assert "set-cookie" not in client.headers
        assert await client.ask("", None, "evil.example") == (400, "Invalid host header")

    at_a_table(script)


class Broken:
    """An agent that fails, and would tell."""

    def act(self, observations, action_masks, rng):
        raise RuntimeError("player_2 holds 14")


class Illegal:
    def act(self, observations, action_masks, rng):
        return np.array([-1])


@pytest.mark.parametrize("agent", [Broken(), Illegal()])
def test_an_agent_that_fails_ends_the_game_without_a_word_of_why(agent, capsys):
    async def script(client, other, made):
        await play_on(np.random.default_rng(0), client, other)
        assert client.view["results"] == ["Game 1: an agent has failed, and the game cannot go on"]
        assert b"holds 14" not in client.received
        assert b"possible are" not in client.received
        assert (await client.ask("/again", b'{"game": 1}'))[0] == 204

    at_a_table(script, agent=agent)
    said = capsys.readouterr().err
    assert "holds 14" in said or "possible are" in said


def test_a_replay_of_each_game_is_kept_where_it_is_asked_for(tmp_path, capsys):
    folder = tmp_path / "new" / "replays"

    async def script(client, other, made):
        count = await play_on(np.random.default_rng(0), client, other)
        assert (await client.ask("/again", b'{"game": 1}'))[0] == 204
        await until(lambda: client.view["game"] == 2)
        await hear(client, other)
        acts = next(one for one in (client, other) if one.view["actions"])
        await acts.act(acts.view["actions"][0][0])
        made.close()
        whole, begun = (Replay.load(folder / f"holdup-{SEED + k}.json") for k in range(2))
        assert whole.agents == ["person", "person", "uniform"]
        assert sum(move.player in ("player_0", "player_1") for move in whole.moves) == count
        assert whole.returns() is not None
        assert begun.moves
        assert begun.returns() is None
        assert b"uniform" not in client.received

    at_a_table(script, folder=folder)
    assert capsys.readouterr().err == ""
    in_the_way = tmp_path / f"holdup-{SEED}.json"
    in_the_way.mkdir()

    async def unsaved(client, other, made):
        await play_on(np.random.default_rng(0), client, other)

    at_a_table(unsaved, folder=tmp_path)
    assert capsys.readouterr().err == f"heist: a replay was not saved: [Errno 21] Is a directory: '{in_the_way}'\n"


def test_people_who_do_not_fit_are_refused():
    out = io.StringIO()
    for people, more, message in (
        (0, {}, "got 0 seats for people: allowed is 1 to 3"),
        (4, {}, "got 4 seats for people"),
        (1, {"opponents": ["genius"]}, "got agent 'genius'"),
        (1, {"opponents": []}, "got no opponents"),
    ):
        with pytest.raises(ValueError, match=message):
            table.serve("holdup", **{"opponents": ["rule"], **more}, seed=1, out=out, num_people=people, num_players=3)


def test_a_port_that_is_taken_is_refused_with_what_to_do(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for port in (taken.getsockname()[1], 99_999):
            assert main(["table", "holdup", "--port", str(port)]) == 1
            assert "0 for any that is free" in capsys.readouterr().err


def test_without_its_libraries_the_command_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "heist_envs.table")
    monkeypatch.delattr(heist_envs, "table")
    assert main(["table", "holdup"]) == 1
    assert capsys.readouterr().err == "heist: this needs uvicorn: pip install 'heist-envs[table]'\n"


def test_the_command_serves_a_link_for_each_person_until_an_interrupt(tmp_path):
    words = ["table", "holdup", "--preset", "tiny", "--seats", "2", "--opponents", "uniform", "--port", "0", "--seed", "3"]
    words += ["--save", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "heist_envs.cli", *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    with process:
        told = r"(player_\d): (http://127\.0\.0\.1:\d+/[\w-]{32})\n"
        links = [re.fullmatch(told, process.stdout.readline()) for _ in range(2)]
        assert len({link[1] for link in links} | {link[2] for link in links}) == 4
        assert process.stdout.readline().startswith("Each link is for one person alone.")
        with urllib.request.urlopen(links[0][2]) as page, urllib.request.urlopen(links[1][2] + "/views") as views:
            assert page.headers["content-type"] == "text/html; charset=utf-8"
            assert "server" not in page.headers
            assert views.readline() == b"retry: 500\n"
            process.send_signal(signal.SIGINT)  # while somebody listens
            assert views.read().startswith(b'data: {"game":1')
        assert process.stdout.read() == f"replays, which show every card, are in {tmp_path}\nplayed with --seed 3\n"
    assert process.returncode == 0


@contextlib.contextmanager
def open_house(made, app, port=0):
    """A running server: its address."""
    with socket.create_server(("127.0.0.1", port)) as door:
        server = table._Server(made, app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


IS_OVER = "!document.getElementById('again').hidden"
BUTTONS = "[...document.querySelectorAll('#actions button:not(:disabled)')]"
SHOWN = "document.getElementById('table').textContent + document.getElementById('news').textContent"


def wait(browser, question):
    """Ask the page until it says yes."""
    end = time.monotonic() + 120
    while not browser.ask(question):
        assert time.monotonic() < end, question


def leave(browser):
    """Close the page, which would look for its server."""
    browser.tell("Page.navigate", url="about:blank")


@every_game
def test_a_whole_game_is_clicked_through_in_a_browser(name, browser):
    made, _ = seated(name, people=(1,))
    french = name in ("holdup", "magpies")
    browser.complaints.clear()
    with open_house(made, table.site(made, {"mine": 1})) as address:
        link, width, clicks = f"{address}/mine{'?lang=fr' * french}", 390 if french else 1280, 0
        browser.open(link, width)
        while not browser.ask(IS_OVER):
            clicks += bool(browser.ask(f"{{ const all = {BUTTONS}; all[{clicks} % all.length]?.click(); all.length > 0 }}"))
        assert clicks > 3
        assert browser.ask("document.getElementById('results').textContent").startswith("Game 1: ")
        assert browser.ask("document.documentElement.scrollWidth") == width
        over = browser.ask(SHOWN)
        browser.open(link, width)
        wait(browser, IS_OVER)
        assert browser.ask(SHOWN) == over
        browser.ask("document.getElementById('again').click()")
        wait(browser, f"{BUTTONS}.length > 0")
        said = {name.split()[0] for name in browser.ask(f"{BUTTONS}.map(one => one.textContent)")}
        assert said <= {"GARDER", "REPIOCHER", "PIOCHER", "S'ARRÊTER", "PRENDRE"} or not french
        leave(browser)
    foreign = [one for one in browser.complaints if not str(one).startswith((address, "about:"))]
    assert foreign == []


def test_a_page_whose_connection_was_lost_comes_back_by_itself(browser):
    made, app = seated("holdup", people=(0, 1))
    with open_house(made, app) as address:
        browser.open(f"{address}/first-link", 1280)
        wait(browser, f"{BUTTONS}.length > 0")
    wait(browser, "!document.getElementById('trouble').hidden")
    browser.ask(f"{BUTTONS}[0].click()")
    wait(browser, "document.getElementById('trouble').textContent.includes('nothing was sent')")
    made.act(0, 1, 0, 0)  # as from another window
    made._is_closed = False
    with open_house(made, app, int(address.rpartition(":")[2])):
        wait(browser, "document.getElementById('trouble').hidden && view.decision === 1")
        leave(browser)
