"""A table on a web page: `heist table`. People have a seat each, by a link that cannot be guessed, and agents the others.

A page holds nothing of the game: it is the same for every seat. What a seat sees comes as events of the server (Server-Sent
Events), each the whole view of that seat, and what a person does goes back as a request. So whoever reloads has everything
again, and a browser connects again by itself after a lost connection, without a WebSocket library or a protocol of changes.
A view is made of the seat's story (`story`) and of what is allowed to it, both taken from the states that the seat looks at
(`Seat.look`), and of what all at the table know. It is sent when it changes: what others do unseen sends nothing.

An action names the game and the decision that it is for, counted by the seat itself, so that a second click does nothing.
"""

import asyncio
import base64
import contextlib
import functools
import hashlib
import json
import pathlib
import re
import secrets
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Mapping, Sequence
from types import ModuleType
from typing import Any, TextIO

import numpy as np

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.datastructures import MutableHeaders
    from starlette.exceptions import HTTPException
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ImportError as missing:
    raise ImportError(f"this needs {missing.name}: pip install 'heist-envs[table]'") from missing

from heist_envs import chance, french, rendering, rules, watch
from heist_envs.agents import AnyAgent, make_agent
from heist_envs.engine import mask_of
from heist_envs.games import load
from heist_envs.replay import Recorder, deciding
from heist_envs.story import Choice, Story, outcome, spoken
from heist_envs.terminal import around, rules_of_the_moment

TEMPLATE = pathlib.Path(__file__).with_name("table.html")

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""What this machine calls itself. A browser on it may be made to send other names here (DNS rebinding): they are refused."""
LINK_BYTES = 24
"""Of chance in a link."""
REPEAT = 20.0
"""Seconds after which a view is sent again, so that a page that hears nothing for longer knows that it was cut off."""
MOST_BYTES = 1000
"""Of what a page sends."""


class RequestError(ValueError):
    """Something that a person asked for and that is not possible; nothing has been changed. `status` is that of HTTP."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Seat:
    """What a person's seat sees of one game, and may do in it."""

    def __init__(self, module: ModuleType, number: int) -> None:
        self.allowed: dict[int, str] = {}
        """The legal actions, by number, where this seat is to act."""
        self.decided = 0
        """Decisions that this seat has taken."""
        self.number = number
        self._module = module
        self._story = Story(module, number)
        self._rules: list[str] = []

    def look(self, state: Any) -> None:
        """See a state of the game: each of them in turn."""
        known = len(self._story.steps)
        self._story.see(state)
        self.allowed = {}
        if rules.current_player(state) == self.number:
            names, num_players = self._module.ACTION_NAMES, int(state.num_players)
            actions = np.flatnonzero(mask_of(self._module, state))
            self.allowed = {int(action): spoken(names[action], self.number, num_players) for action in actions}
        if self.allowed or len(self._story.steps) > known:
            self._rules = rules_of_the_moment(self._module, state, self.allowed)

    def decide(self, action: int) -> None:
        """Note what the person does, before it is done."""
        self._story.choose(Choice(f"player_{self.number}", self.allowed[action]))
        self.decided += 1

    def view(self, in_french: bool) -> dict[str, Any]:
        """All that the seat sees, as data for the page, with the game's own words in English or in French."""
        steps, game = self._story.steps, self._module

        def told(line: str) -> str:
            return french.sentence(game, line) if in_french else line

        scene = french.scene(game, steps[-1].scene) if in_french else steps[-1].scene
        lines = [[told(line) for line in step.news] for step in steps]
        since = max((k + 1 for k, step in enumerate(steps) if step.choice), default=0)
        return {
            "decision": self.decided,
            "title": scene.title,
            "turn": scene.turn,
            "actions": [[a, french.label(game, name) if in_french else name] for a, name in self.allowed.items()],
            "news": lines[since:],
            "before": lines[:since],
            "wide": rendering.svg(scene),
            "narrow": rendering.svg(scene, rendering.NARROW),
            "words": told(steps[-1].words),
            "rules": [french.rule(game, line) if in_french else line for line in self._rules],
        }


class Table:
    """A game and those who sit around it; when it is over, the next one."""

    def __init__(
        self,
        game: str,
        people: Sequence[int],
        agents: Mapping[int, str | AnyAgent],
        seed: int,
        folder: pathlib.Path | None = None,
        **options: Any,
    ) -> None:
        """Seat some people and agents.

        Args:
            game: the name of a game.
            people: their seats.
            agents: by seat, agents or their names (`make_agent`), for every seat without a person.
            seed: of chance and of the agents' chances; the k-th game has the k-th seed from this one on.
            folder: where a replay of each game is kept, which shows every card: GAME-SEED.json; None keeps none.
            **options: of the game.

        Raises:
            TypeError, ValueError: options or agents that do not fit.
            OSError: the folder cannot be made.
        """
        self._name, self._options, self._seed = game, options, seed
        self._people = sorted(people)
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        names = {seat: one if isinstance(one, str) else type(one).__name__ for seat, one in agents.items()}
        self._who = [name for _, name in sorted({**names, **dict.fromkeys(people, "person")}.items())]
        self._agents = {seat: make_agent(one, game) if isinstance(one, str) else one for seat, one in agents.items()}
        self._results: list[str] = []
        """How each game has ended, the one that is played last, once it is over."""
        self._changed = asyncio.Event()
        self._is_closed = False
        self._begin()

    def _begin(self) -> None:
        seed = (self._seed + len(self._results)) % chance.MAX_SEED
        self._game = len(self._results) + 1
        self._choose = deciding(self._name, self._agents, seed)
        self._recorder = Recorder(self._name, self._options, agents=self._who, seed=seed)
        self._seats = {seat: Seat(load(self._name), seat) for seat in self._people}
        self._look()

    @property
    def _is_over(self) -> bool:
        return len(self._results) == self._game

    def _look(self) -> None:
        state = self._recorder.state
        for seat in self._seats.values():
            seat.look(state)
        if rules.current_player(state) == rules.TERMINAL:
            self._end(outcome(self._recorder.made.returns() or []))
        self._tell()

    def _end(self, result: str) -> None:
        self._results.append(result)
        self._save()

    def _save(self) -> None:
        made = self._recorder.made
        if self._folder is not None and made.moves:
            try:
                made.save(self._folder / f"{self._name}-{made.seed}.json")
            except OSError as error:  # the people's game goes on
                print(f"heist: a replay was not saved: {error}", file=sys.stderr)

    def _tell(self) -> None:
        """Wake whoever waits for something new."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def go_on(self) -> None:
        """Let chance and the agents act until a person is to, or the game is over."""
        try:
            while not self._is_over and rules.current_player(self._recorder.state) not in self._seats:
                # An agent that thinks for long must not keep the pages waiting.
                number, _ = await asyncio.to_thread(self._choose, self._recorder.state)
                self._recorder.play(number)
                self._look()
        except Exception:  # of an agent, perhaps of somebody's own: what it says may tell the people too much
            traceback.print_exc()
            self._end("an agent has failed, and the game cannot go on")
            self._tell()

    def act(self, seat: int, game: int, decision: int, action: int) -> None:
        """Play an action of a person; `go_on` then.

        Args:
            seat: the person's.
            game: the number of the game, from 1.
            decision: how many decisions the person has taken in it before.
            action: a legal one.

        Raises:
            RequestError: it is another game, another decision or not the person's turn, or the action is not legal.
        """
        here, who = self._seats[seat], f"player_{seat}"
        self._check_game(game)
        if decision != here.decided:
            raise RequestError(f"got decision {decision}: {who} has taken {here.decided} in this game", 409)
        if not here.allowed:
            raise RequestError(f"got action {action} of {who}, who is not to act", 409)
        if action not in here.allowed:
            allowed = ", ".join(f"{number} {name}" for number, name in here.allowed.items())
            raise RequestError(f"got action {action}: allowed are {allowed}", 400)
        here.decide(action)
        self._recorder.play(action)
        self._look()

    def again(self, game: int) -> None:
        """Begin the next game; `go_on` then.

        Args:
            game: the number of the one that is over.

        Raises:
            RequestError: it is another game, or not over.
        """
        self._check_game(game)
        if not self._is_over:
            raise RequestError(f"got game {game}, which is not over", 409)
        self._begin()

    def _check_game(self, game: int) -> None:
        if game != self._game:
            raise RequestError(f"got game {game}: game {self._game} is played", 409)

    def view(self, seat: int, in_french: bool = False) -> str:
        """All that a seat sees and may do, as JSON in one line."""
        others = [f"{who} {', '.join(f'player_{one}' for one in seats)}" for who, seats in self._company(seat) if seats]
        facts = [f"{self._name}-v{self._recorder.made.version}", f"you are player_{seat}", *others]
        facts += [f"{name} {value}" for name, value in self._options.items()]
        ended = [f"Game {k}: {result}" for k, result in enumerate(self._results, 1)]
        seen = {"game": self._game, "facts": facts, "results": ended, "over": self._is_over}
        return json.dumps(seen | self._seats[seat].view(in_french), separators=(",", ":"))

    def _company(self, seat: int) -> list[tuple[str, list[int]]]:
        return [("people", [one for one in self._people if one != seat]), ("agents", sorted(self._agents))]

    async def views(self, seat: int, in_french: bool) -> AsyncIterator[str]:
        """What a seat sees now (`view`), and again whenever that changes, or after a while."""
        clock = asyncio.get_running_loop().time
        sent, due = "", 0.0
        while not self._is_closed:
            changed, view = self._changed, self.view(seat, in_french)
            if view != sent or clock() >= due:
                yield view
                sent, due = view, clock() + REPEAT
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(changed.wait(), due - clock())

    def close(self) -> None:
        """End all streams of views; a game that is not over is kept as far as it was played."""
        if not self._is_over:
            self._save()
        self._is_closed = True
        self._tell()


@functools.cache
def page() -> tuple[str, str]:
    """The page, the same for every seat, and what it may do (Content-Security-Policy): run and fetch what is its own."""
    text = TEMPLATE.read_text(encoding="utf-8").replace("[[DARK]]", watch.dark())
    style, script = map(_digest, re.findall(r"(?s)<(?:style|script)>(.*?)</(?:style|script)>", text))
    allowed = {
        "default-src": "'none'",
        "script-src": script,
        "style-src": f"{style} 'unsafe-hashes' {_digest(rendering.SHRINKS)}",  # the latter is an attribute of the pictures
        "img-src": "data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    return text, "; ".join(f"{name} {value}" for name, value in allowed.items())


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


class _Headers:
    """What goes with every answer: nothing is kept, no link is handed on, nothing from elsewhere is run or shown."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_more(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(
                    {
                        "Cache-Control": "no-store",
                        "Content-Security-Policy": page()[1],
                        "Cross-Origin-Resource-Policy": "same-origin",
                        "Referrer-Policy": "no-referrer",
                        "X-Content-Type-Options": "nosniff",
                    }
                )
            await send(message)

        await self._app(scope, receive, send_more)


def site(table: Table, links: Mapping[str, int], hosts: Sequence[str] = LOOPBACK) -> Starlette:
    """The web application.

    Args:
        table: the table.
        links: the seat of each person by the path that only he knows.
        hosts: what a browser may call this server; "*" is anything.
    """
    running: set[asyncio.Task[None]] = set()

    def seat_of(request: Request) -> int:
        seat = links.get(request.path_params["link"])
        if seat is None:
            raise HTTPException(404)
        return seat

    def go_on() -> None:
        task = asyncio.create_task(table.go_on())
        running.add(task)  # the loop itself would forget it
        task.add_done_callback(running.discard)

    async def show(request: Request) -> Response:
        seat_of(request)
        return HTMLResponse(page()[0])

    async def tell(request: Request) -> Response:
        views = table.views(seat_of(request), request.query_params.get("lang") == "fr")
        events = (f"retry: 500\ndata: {view}\n\n" async for view in views)
        return StreamingResponse(events, media_type="text/event-stream")

    async def act(request: Request) -> Response:
        table.act(seat_of(request), *await _numbers(request, "game", "decision", "action"))
        go_on()
        return Response(status_code=204)

    async def again(request: Request) -> Response:
        seat_of(request)
        table.again(*await _numbers(request, "game"))
        go_on()
        return Response(status_code=204)

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestError)
        return PlainTextResponse(str(error), error.status)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        go_on()
        yield

    return Starlette(
        routes=[
            Route("/{link}", show),
            Route("/{link}/views", tell),
            Route("/{link}/act", act, methods=["POST"]),
            Route("/{link}/again", again, methods=["POST"]),
        ],
        middleware=[Middleware(_Headers), Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)],
        exception_handlers={RequestError: refuse},
        lifespan=lifespan,
    )


async def _numbers(request: Request, *names: str) -> list[int]:
    """The whole numbers of these names in what a page has sent.

    Raises:
        RequestError: it is anything else than an object with just these.
    """
    text = b""
    async for part in request.stream():
        text += part
        if len(text) > MOST_BYTES:
            raise RequestError(f"got more than {MOST_BYTES} bytes", 413)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not (isinstance(found, dict) and sorted(found) == sorted(names) and all(type(one) is int for one in found.values())):
        given = text[:100].decode(errors="replace")
        raise RequestError(f"got {given!r}: needed is a JSON object of whole numbers: {', '.join(names)}", 400)
    return [found[name] for name in names]


class _Server(uvicorn.Server):
    """A server that ends the streams of views when it is told to stop, and does not wait for their readers."""

    def __init__(self, table: Table, app: Starlette) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning", access_log=False, date_header=False, server_header=False))
        self._table = table

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._table.close()
        await super().shutdown(sockets)


def _door(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise OSError(f"{error}: try another host, or another port, 0 for any that is free") from None


def serve(
    game: str,
    opponents: Sequence[str],
    seed: int,
    out: TextIO,
    num_people: int = 1,
    host: str = LOOPBACK[0],
    port: int = 8000,
    folder: pathlib.Path | None = None,
    **options: Any,
) -> None:
    """Set a table and serve its pages until an interrupt.

    Args:
        game: the name of a game.
        opponents: agents by name, clockwise from the left of the first person (`terminal.around`).
        seed: of the people's seats, and of the games (`Table`).
        out: where the links are written.
        num_people: how many people have a seat.
        host: the address to listen at. Any but this machine's own (`LOOPBACK`) lets others in who have a link.
        port: the port; 0 for any that is free.
        folder: where replays are kept (`Table`).
        **options: of the game.

    Raises:
        TypeError, ValueError: options, people or agents that do not fit.
        OSError: the address cannot be had, or the folder cannot be made.
    """
    num_players = int(load(game).new_initial_state(**options)["num_players"][0])
    if port not in range(1 << 16):
        raise ValueError(f"got port {port}: allowed is 0 to {(1 << 16) - 1}, 0 for any that is free")
    if num_people not in range(1, num_players + 1):
        raise ValueError(f"got {num_people} seats for people: allowed is 1 to {num_players}")
    people = sorted(np.random.default_rng(seed).choice(num_players, num_people, replace=False).tolist())
    table = Table(game, people, around(people, opponents, num_players), seed, folder, **options)
    links = {secrets.token_urlsafe(LINK_BYTES): seat for seat in people}
    with _door(host, port) as door:
        name = f"[{host}]" if ":" in host else host
        for link, seat in links.items():
            print(f"player_{seat}: http://{name}:{door.getsockname()[1]}/{link}", file=out)
        print("Each link is for one person alone. Ctrl-C ends the table.", file=out, flush=True)
        server = _Server(table, site(table, links, LOOPBACK if host in LOOPBACK else ["*"]))
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[door])
    if folder is not None:
        print(f"replays, which show every card, are in {folder}", file=out)
