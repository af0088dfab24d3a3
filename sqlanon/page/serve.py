"""Serve the page to this machine's own browser until Ctrl-C.

Whatever else runs on this machine can reach 127.0.0.1, and so can every web site through its visitor's browser. The
page is shown to the browser that opened the address with its token, from a page of this server's own. A foreign name
that resolves to this machine fails by its Host, another site by its Origin or by what the browser says of where a
request comes from, another user by the token. The page, its files and its WebSocket are guarded alike. Cookies are sent
to all ports of this machine: a path that nobody knows keeps ours from another user's server.
"""

import contextlib
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from sqlanon.errors import UsageError
from sqlanon.page.state import State

PATIENCE = 10.0  # seconds that a run has to end in when the server ends
NEEDED = "the page needs NiceGUI, which is not installed here; type: pip install 'sqlanon[page]'"
TITLE = "sqlanon: from a table to a verified release"
_WARNING = "This page shows figures of the microdata: keep it, its print-outs and its pictures as you keep the source."


def serve(state: State, port: int, say: Callable[[str], None]) -> None:
    """Serve the page on 127.0.0.1 until a signal ends it. port: 0 for any that is free; say: takes what to tell.

    Raises UsageError where NiceGUI is missing or the port is taken.
    """
    os.environ.setdefault("NICEGUI_STORAGE_PATH", os.devnull)  # it would make a folder where it was started
    try:
        import nicegui  # noqa: F401
        import uvicorn
    except ImportError:
        raise UsageError(NEEDED) from None
    with _listen(port) as listener:
        guard = Guard(make_app(state), listener.getsockname()[1])
        say(f"open this address in a browser on this machine; Ctrl-C ends the page:\n{guard.first_address}")
        config = uvicorn.Config(guard, log_level="error", access_log=False, ws_max_size=2**20, server_header=False,
                                timeout_graceful_shutdown=1, lifespan="on", loop="asyncio")  # fmt: skip
        try:
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            running = state.work.cancel_all(PATIENCE)
            if running:
                say(f"cancelled: {', '.join(running)}; nothing of it was published")


@contextlib.contextmanager
def _listen(port: int):  # type: ignore[no-untyped-def]
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((ADDRESS, port))
        listener.listen()  # from now on a browser waits, where the address is opened before all is loaded
    except (OSError, OverflowError) as error:
        listener.close()
        raise UsageError(f"cannot listen on port {port}: {error}; leave --port out, and a free one is taken") from None
    with listener:
        yield listener


def make_app(state: State):  # type: ignore[no-untyped-def]
    """Return the application behind the guard: a page for each step, its files and its WebSocket, and what to keep."""
    from fastapi import FastAPI, Response
    from nicegui import ui

    from sqlanon.page.packing import FILES, keep
    from sqlanon.page.steps import STEPS, Step
    from sqlanon.page.view import OFTEN, View, put

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")

    @app.get("/file/{name}")
    def file(name: str, download: bool = False) -> Response:
        pages = state.result("hand over")
        if pages is None or name not in FILES:
            return Response("nothing of that name was prepared\n", 404, media_type="text/plain")
        return keep(name, pages, state.out, download)

    def show(step: Step) -> None:
        ui.add_head_html(f"<style>{style}</style>")
        view = View(state)
        with ui.element("div").classes("page"):
            put("sqlanon", "h1")
            put(_WARNING).classes("lead")
            view.show(STEPS, step)
        ui.timer(OFTEN, view.refresh)

    for step in STEPS:
        ui.page(f"/{step.address}", title=f"{step.title}: sqlanon")(partial(show, step))
    ui.page("/")(partial(show, STEPS[0]))
    ui.run_with(app, title=TITLE, language="en-US", dark=None, tailwind=False, favicon="▦",
                show_welcome_message=False, reconnect_timeout=30)  # fmt: skip
    return app


Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ADDRESS = "127.0.0.1"
NEAR = ("none", "same-origin")  # where a request may come from: typed or clicked in a terminal, or the page itself
# nothing is asked of the network; the page's own scripts are written into it, and make templates of texts
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline';"
    " img-src 'self' data:; font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """An ASGI application before another one: it lets nothing through that did not come by the token's address."""

    def __init__(self, app: App, port: int) -> None:
        """Take the application behind, and the port that the server listens on."""
        self.app = app
        self.token, self._session = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.path, self._is_used = f"/{secrets.token_urlsafe(32)}", False
        self.cookie = f"sqlanon_page_{port}"  # cookies know no ports: two pages would have one
        self._hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        self.address = f"http://{ADDRESS}:{port}{self.path}/"

    @property
    def first_address(self) -> str:
        """Return the address to open, once: with the token that is changed for a cookie."""
        return f"{self.address}?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            headers[key] = f"{headers[key]}; {text}" if key in headers else text
        fault = self._fault(scope, headers)
        if not fault and self._has_token(scope):
            # a token that stays in the address would stay in the browser's history as well
            self._is_used = True
            cookie = f"{self.cookie}={self._session}; Path={self.path}/; HttpOnly; SameSite=Strict"
            location = f"{self.path}/".encode()
            await _answer(send, 303, "", [(b"location", location), (b"set-cookie", cookie.encode())])
        elif not fault and self._has_cookie(headers) and scope["path"].startswith(f"{self.path}/"):
            await self.app({**scope, "root_path": self.path}, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": fault or _STRANGER})
        else:
            await _answer(send, 403 if fault else 401, fault or _STRANGER)

    def _fault(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Say why a request cannot be the page's own, whoever sends it; '' where it can."""
        host = headers.get("host", "")
        if host not in self._hosts:
            return "this server answers to 127.0.0.1 alone"
        origin = headers.get("origin")
        if (origin is None and scope["type"] == "websocket") or origin not in (None, f"http://{host}"):
            return "another page has sent this"
        # requests for scripts and pictures have no Origin, but browsers say which site they are for
        if headers.get("sec-fetch-site", "none") not in NEAR:
            return "another page has led here: copy the address from the terminal into the browser"
        return ""

    def _has_token(self, scope: Scope) -> bool:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != f"{self.path}/" or self._is_used:
            return False
        (token, *_) = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        return secrets.compare_digest(token.encode(), self.token.encode())

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        session = cookies[self.cookie].value if self.cookie in cookies else ""
        return secrets.compare_digest(session.encode(), self._session.encode())


_STRANGER = (
    "open the address that sqlanon page has printed in the terminal: it holds a token that is good once; to open the"
    " page in another browser, start it again"
)


def _with_headers(send: Send) -> Send:
    async def send_guarded(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in HEADERS}
            headers = [pair for pair in message.get("headers", []) if pair[0].lower() not in own]
            stored = [] if any(name.lower() == b"cache-control" for name, _ in headers) else [_UNSTORED]
            message = {**message, "headers": [*headers, *HEADERS, *stored]}
        await send(message)

    return send_guarded


_UNSTORED = (b"cache-control", b"no-store")


async def _answer(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
    plain = (b"content-type", b"text/plain; charset=utf-8")
    await send({"type": "http.response.start", "status": status,
                "headers": [plain, _UNSTORED, *HEADERS, *(headers or [])]})  # fmt: skip
    await send({"type": "http.response.body", "body": f"{text}\n".encode() if text else b""})
