"""Who may see the page: the browser that opened the address with its token, from a page of this server's own.

Whatever else runs on this machine can reach 127.0.0.1, and so can every web site through its visitor's browser. A
foreign name that resolves to this machine fails by its Host, another site by its Origin or by what the browser says of
where a request comes from, another user by the token. The page, its files and its WebSocket are guarded alike.
"""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

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
        self.cookie = f"sqlanon_page_{port}"  # cookies know no ports: two pages would have one
        self._hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        self.address = f"http://{ADDRESS}:{port}/"

    @property
    def first_address(self) -> str:
        """Return the address to open, once: with the token that is changed for a cookie."""
        return f"{self.address}?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        fault = self._fault(scope, headers)
        if not fault and self._has_token(scope):
            # a token that stays in the address would stay in the browser's history as well
            cookie = f"{self.cookie}={self._session}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])
        elif not fault and self._has_cookie(headers):
            await self.app(scope, receive, _with_headers(send))
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
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] != "/":
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


_STRANGER = "open the address that sqlanon page has printed in the terminal: it holds the token"


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; one that is sent twice is both, which nothing equals."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}; {text}" if key in headers else text
    return headers


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
