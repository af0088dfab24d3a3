"""Chromium without a window, driven over two pipes: nothing listens on a port, and no other package is needed."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = ("--headless=new", "--no-first-run", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars",
          "--disable-component-update", "--disable-sync", "--disable-extensions", "--no-sandbox")  # fmt: skip
_WATCHED = ("Page", "Runtime", "Log", "Network")
_NOTED = {
    "Runtime.exceptionThrown": lambda told: told["exceptionDetails"]["text"],
    "Runtime.consoleAPICalled": lambda told: f"console.{told['type']}",
    "Log.entryAdded": lambda told: told["entry"]["text"],
    "Page.javascriptDialogOpening": lambda told: f"a script ran: {told['message']}",
    "Network.requestWillBeSent": lambda told: f"fetched {told['request']['url'][:80]}",
}


class BrowserError(Exception):
    """What the browser refused."""


class Tab:
    """One page of a browser; `noted`: what its console said, what it fetched, which dialogs it opened."""

    def __init__(self, orders: Any, answers: Any) -> None:
        """Take the pipe that orders go into, and the one that answers come out of."""
        self._orders, self._answers, self._number, self._session = orders, answers, 0, ""
        self._rest, self._events, self.noted = b"", [], []  # type: ignore[var-annotated]
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in _WATCHED:
            self._ask(f"{part}.enable")

    def show(self, path: Path, width: int, height: int, media: str = "screen", dark: bool = False) -> None:
        """Open a file of HTML in a window so wide and high, in pixels of the page, and wait for it."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._ask("Emulation.setDeviceMetricsOverride", **size)
        colours = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media=media, features=[colours])
        address = path.resolve().as_uri()
        self.noted, self._events = [], []
        self._ask("Page.navigate", url=address)
        while "Page.loadEventFired" not in self._events:
            self._read()
        self.noted = [one for one in self.noted if not address.startswith(one.removeprefix("fetched "))]

    def run(self, script: str) -> Any:
        """Return what a script gives, awaited; the page's own policy does not hold for it."""
        done = self._ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise BrowserError(done["exceptionDetails"].get("exception", {}).get("description", "a script failed"))
        return done["result"].get("value")

    def picture(self, path: Path, whole: bool = True) -> None:
        """Write what stands on the page as PNG, all of it or what the window shows."""
        told = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))

    def paper(self, path: Path) -> None:
        """Write the page as PDF, on the paper that its style asks for."""
        told = self._ask("Page.printToPDF", preferCSSPageSize=True, printBackground=False)
        path.write_bytes(base64.b64decode(told["data"]))

    def _order(self, method: str, **values: Any) -> int:
        self._number += 1
        order = {"id": self._number, "method": method, "params": values}
        if self._session:
            order["sessionId"] = self._session
        self._orders.write(json.dumps(order).encode() + b"\0")
        self._orders.flush()
        return self._number

    def _ask(self, method: str, **values: Any) -> Mapping[str, Any]:
        number = self._order(method, **values)
        while True:
            told = self._read()
            if told.get("id") == number:
                if "error" in told:
                    raise BrowserError(f"{method}: {told['error']['message']}")
                return told["result"]

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            read = os.read(self._answers.fileno(), 1 << 20)
            if not read:
                raise BrowserError("the browser ended")
            self._rest += read
        line, _, self._rest = self._rest.partition(b"\0")
        told: dict[str, Any] = json.loads(line)
        if "method" in told:
            self._events.append(told["method"])
            if told["method"] in _NOTED:
                self.noted.append(_NOTED[told["method"]](told["params"]))
            if told["method"] == "Page.javascriptDialogOpening":
                self._order("Page.handleJavaScriptDialog", accept=True)
        return told


def find_browser(asked: str | None) -> str:
    """Return the program; leave with a sentence where there is none."""
    found = next(filter(None, map(shutil.which, [asked] if asked else NAMES)), None)
    if found is None:
        raise SystemExit(f"no browser here ({asked or ', '.join(NAMES)}): install Chromium, or name it with --browser")
    return found


@contextmanager
def open_tab(program: str) -> Iterator[Tab]:
    """Start a browser with a profile of its own; it ends with the block."""
    (asked, orders), (answers, told) = os.pipe(), os.pipe()
    with TemporaryDirectory() as profile:
        # the browser reads orders from descriptor 3 and writes answers to 4
        script = f'exec "$0" "$@" 3<&{asked} 4>&{told}'
        words = [program, *_QUIET, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        started = subprocess.Popen(["bash", "-c", script, *words], pass_fds=(asked, told), stderr=subprocess.DEVNULL)
        os.close(asked)
        os.close(told)
        with os.fdopen(orders, "wb") as written, os.fdopen(answers, "rb", buffering=0) as read:
            try:
                yield Tab(written, read)
            finally:
                started.terminate()
                started.wait()
