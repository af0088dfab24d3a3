"""Serve the page to this machine's own browser until Ctrl-C."""

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

from sqlanon.errors import UsageError
from sqlanon.page.guard import ADDRESS, Guard
from sqlanon.page.state import State

PATIENCE = 10.0  # seconds that a run has to end in when the server ends
NEEDED = "the page needs NiceGUI, which is not installed here; type: pip install 'sqlanon[page]'"
TITLE = "sqlanon: from a table to a verified release"
_WARNING = (
    "This page shows figures of the microdata: keep its window, its print-outs and its pictures as you keep the source."
    " It is served to this machine alone, and asks nothing of the network."
)


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
        raise UsageError(f"cannot listen on port {port}: {error}; leave --port away, and a free one is taken") from None
    with listener:
        yield listener


def make_app(state: State):  # type: ignore[no-untyped-def]
    """Return the application behind the guard: the page, its files and its WebSocket, and the reports."""
    from fastapi import FastAPI, Response
    from nicegui import ui

    from sqlanon.page.steps import before, release
    from sqlanon.page.view import OFTEN, View, put

    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")

    @app.get("/report/{name}")
    def report(name: str, download: bool = False) -> Response:
        text = release.report_of(state, name)
        if text is None:
            return Response("no such report was written\n", 404, media_type="text/plain")
        headers = {"content-disposition": f'attachment; filename="report-{name}.html"'} if download else {}
        return Response(text, media_type="text/html", headers=headers)

    @ui.page("/")
    def show() -> None:
        ui.add_head_html(f"<style>{style}</style>")
        view = View(state)
        with ui.element("div").classes("steps"):
            put("sqlanon", "h1")
            put(_WARNING).classes("lead")
            for step in (before.show_data, before.show_roles, before.show_risks, before.show_choice,
                         release.show_publication, release.show_verification, release.show_attack,
                         release.show_report, release.show_question):  # fmt: skip
                step(view)
        ui.timer(OFTEN, view.refresh)

    ui.run_with(app, title=TITLE, language="en-US", dark=None, tailwind=False, favicon="▦",
                show_welcome_message=False, reconnect_timeout=30)  # fmt: skip
    return app
