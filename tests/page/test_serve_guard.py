"""Who may see the page: every other request is refused before the application behind hears of it."""

from urllib.parse import urlsplit

import pytest

from sqlanon.page.serve import HEADERS, Guard

PORT = 8123
HERE = f"127.0.0.1:{PORT}"
OWN = {"host": HERE, "origin": f"http://{HERE}", "sec-fetch-site": "same-origin"}
FILES = ("/", "/file/internal.html", "/_nicegui/3/static/nicegui.js")


class Behind:
    """The application behind: it notes what reaches it."""

    def __init__(self) -> None:
        self.reached = []

    async def __call__(self, scope, receive, send):
        self.reached.append(scope["path"])
        if scope["type"] == "http":
            headers = [(b"content-type", b"text/html"), (b"x-frame-options", b"ALLOWALL")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"microdata"})
        else:
            await send({"type": "websocket.accept"})


@pytest.fixture
def behind():
    return Behind()


@pytest.fixture
def guard(behind):
    return Guard(behind, PORT)


def finish(answer):
    """Run what waits for nothing; tests of a browser in the same process may have a loop that runs already."""
    with pytest.raises(StopIteration):
        answer.send(None)


def ask(guard, path="/", query="", kind="http", method="GET", *, inside=True, **headers):
    """Return what a request is answered: status (a WebSocket's: its first message), headers, body."""
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    path = guard.path + path if inside else path
    raw = [(name.encode(), text.encode()) for name, text in names.items()]
    scope = {"type": kind, "path": path, "query_string": query.encode(), "headers": raw, "method": method}
    sent = []

    async def receive():
        return {"type": f"{kind}.connect"}

    async def send(message):
        sent.append(message)

    finish(guard(scope, receive, send))
    if kind == "websocket":
        return sent[0]["type"]
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(part.get("body", b"") for part in sent[1:])


def enter(guard):
    """Return the cookie that the first address is changed for."""
    status, headers, _ = ask(guard, query=urlsplit(guard.first_address).query, host=HERE)
    assert (status, headers[b"location"]) == (303, f"{guard.path}/".encode())
    return headers[b"set-cookie"].decode()


@pytest.mark.parametrize("path", FILES)
def test_nothing_is_answered_without_the_token(guard, behind, path):
    status, _, body = ask(guard, path, **OWN)
    assert status == 401
    assert b"open the address that sqlanon page has printed" in body
    assert ask(guard, path, "token=", **OWN)[0] == ask(guard, path, f"token={guard.token[:-1]}", **OWN)[0] == 401
    assert ask(guard, path, **OWN, cookie=f"{guard.cookie}=guess; other=1")[0] == 401
    assert behind.reached == []


def test_the_token_is_changed_for_a_cookie_that_scripts_and_other_sites_do_not_get(guard, behind):
    cookie = enter(guard)
    name, _, rest = cookie.partition("=")
    assert name == f"sqlanon_page_{PORT}"
    assert rest.split("; ")[1:] == [f"Path={guard.path}/", "HttpOnly", "SameSite=Strict"]
    assert guard.token not in cookie
    assert behind.reached == []
    assert ask(guard, **OWN, cookie=cookie.partition(";")[0])[0] == 200
    assert ask(guard, "/file/public.html", f"token={guard.token}", **OWN)[0] == 401  # it opens the page alone
    assert ask(guard, "/", f"token={guard.token}", method="POST", **OWN)[0] == 401


def test_two_servers_share_no_token_and_no_cookie(guard, behind):
    other = Guard(behind, PORT)
    assert guard.token != other.token and guard.path != other.path and len(guard.path) > 40
    assert ask(other, **OWN, cookie=enter(guard).partition(";")[0])[0] == 401


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize(
    "wrong",
    [
        {"host": f"evil.example:{PORT}"},  # a name that resolves to this machine
        {"host": "127.0.0.1:80"},
        {"host": HERE + "."},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:9999"},  # another page on this machine
        {"origin": f"https://{HERE}"},
        {"origin": "null"},
        {"origin": f"http://localhost:{PORT}"},  # not where this request goes
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # another port of this machine: cookies know none
    ],
)
def test_another_page_gets_nothing_though_it_had_the_cookie_and_the_token(guard, behind, path, wrong):
    cookie = enter(guard).partition(";")[0]
    assert ask(guard, path, f"token={guard.token}", **{**OWN, "cookie": cookie, **wrong})[0] == 403
    assert ask(guard, path, kind="websocket", **{**OWN, "cookie": cookie, **wrong}) == "websocket.close"
    assert behind.reached == []


def test_a_header_that_is_sent_twice_is_none_of_ours(guard, behind):
    raw = [(b"host", HERE.encode()), (b"host", HERE.encode()), (b"cookie", enter(guard).partition(";")[0].encode())]
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/", "query_string": b"", "headers": raw, "method": "GET"}
    finish(guard(scope, None, send))
    assert sent[0]["status"] == 403
    assert behind.reached == []


def test_the_socket_takes_the_page_alone(guard, behind):
    cookie = enter(guard).partition(";")[0]
    assert ask(guard, "/_nicegui_ws/", kind="websocket", **OWN) == "websocket.close"  # no cookie
    without = {name: text for name, text in OWN.items() if name != "origin"}  # no browser leaves it out
    assert ask(guard, "/_nicegui_ws/", kind="websocket", **without, cookie=cookie) == "websocket.close"
    assert behind.reached == []
    assert ask(guard, "/_nicegui_ws/", kind="websocket", **OWN, cookie=cookie) == "websocket.accept"


@pytest.mark.parametrize("cookie", ["\x00", "sqlanon_page_8123", '="', "a=b;;;=", "é=1", 'sqlanon_page_8123="'])
def test_a_broken_cookie_is_a_stranger(guard, cookie):
    assert ask(guard, **OWN, cookie=cookie)[0] == 401


@pytest.mark.parametrize("query", ["token=%ff", "token=é", "%", "token=a&token=b", "&" * 100])
def test_a_broken_token_is_a_stranger(guard, query):
    assert ask(guard, "/", query, **OWN)[0] == 401


def test_every_answer_tells_the_browser_to_ask_nothing_of_the_network(guard):
    cookie = enter(guard).partition(";")[0]
    for _, headers, _ in (ask(guard, **OWN), ask(guard, **OWN, cookie=cookie), ask(guard, host="x")):
        assert dict(HEADERS).items() <= headers.items()
        assert headers[b"cache-control"] == b"no-store"
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'self'" in policy
        assert "http" not in policy
        assert "*" not in policy


def test_the_token_is_good_once_and_nothing_stands_outside_the_path(guard, behind):
    cookie = enter(guard).partition(";")[0]
    assert ask(guard, query=urlsplit(guard.first_address).query, host=HERE)[0] == 401
    for outside in ("/", "/file/internal.html", guard.path, f"{guard.path}x/", f"//{guard.path}/"):
        assert ask(guard, outside, **OWN, cookie=cookie, inside=False)[0] == 401
        assert ask(guard, outside, kind="websocket", **OWN, cookie=cookie, inside=False) == "websocket.close"
    assert behind.reached == []
