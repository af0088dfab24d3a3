"""A server of the page in a folder of its own, and a browser whose resolver knows no name."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from tests.conftest import ROOT

KEY = "ab" * 32
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# no name is resolved: whatever the page asks of the network fails, and is seen
CUT_OFF = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
WANTED = "SQLANON_TEST_BROWSER"  # set where nothing may be left out in silence


def lacking() -> str:
    """Return what is missing for a real browser, '' where nothing is."""
    packages = [name for name in ("nicegui", "playwright") if importlib.util.find_spec(name) is None]
    programs = [] if any(map(shutil.which, BROWSERS)) else ["a chromium"]
    return ", ".join(packages + programs)


@pytest.fixture(scope="session")
def browser():
    missing = lacking()
    if missing:
        assert not os.environ.get(WANTED), missing
        pytest.skip(f"no {missing}; pip install 'sqlanon[page]' playwright, and a chromium from the system")
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, BROWSERS)))
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=program, args=list(CUT_OFF))


class Served:
    """A running server: its process, the address with the token, and the folder that it was started in."""

    def __init__(self, process: subprocess.Popen, address: str, folder: Path) -> None:
        self.process, self.address, self.folder = process, address, folder
        self.site = address.partition("?")[0]
        self.origin = self.site[: self.site.index("/", len("http://"))]

    def end(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """End it as Ctrl-C does; return the exit code and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@contextmanager
def serve(folder: Path, *words: str, **environment: str) -> Iterator[Served]:
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "sqlanon", "page", *words]
    # the page hears Ctrl-C, though whoever started the tests in the background made them deaf to it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=variables)
    signal.signal(signal.SIGINT, before)
    try:
        assert "open this address" in process.stderr.readline()
        yield Served(process, process.stderr.readline().strip(), folder)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


class Tab:
    """A page of the browser that notes what fails, what leaves this machine, and what its console says."""

    def __init__(self, browser, served: Served, width: int = 1200, **options) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        self.faults = []
        self.page = self.open(served.address)
        self.site = served.site

    def open(self, address: str):
        page = self.context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        page.on("dialog", lambda dialog: self.faults.append(f"a script ran: {dialog.message}"))
        page.on("response", self._note)
        page.goto(address)
        page.get_by_role("heading", level=2).wait_for()
        return page

    def _note(self, response) -> None:
        if response.status >= 400 or not response.url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.faults.append(f"{response.status}: {response.url}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def go(self, step: str) -> None:
        """Go to a step by the link that names it."""
        self.page.get_by_role("navigation").get_by_role("link").filter(has_text=f". {step}").click()
        self.page.get_by_role("heading", level=2).filter(has_text=f". {step}").wait_for()

    def done(self, timeout: int = 60_000) -> None:
        """Wait until the step's run has ended well."""
        self.page.get_by_text("Done.", exact=True).wait_for(timeout=timeout)

    def run(self, step: str, button: str) -> None:
        """Go to a step and do what it is for."""
        self.go(step)
        self.press(button)
        self.done()

    def colour(self, step: str) -> str:
        """Return the colour that the way through the steps has at one of them."""
        return self.page.locator("nav a").filter(has_text=f". {step}").get_attribute("class")

    def copied(self, what: str) -> str:
        """Return what stands at the foot of the step to be copied."""
        box = self.page.locator("details.copies")
        if box.get_attribute("open") is None:
            box.locator("summary").click()
        return box.get_by_role("region", name=what, exact=True).inner_text()


@pytest.fixture
def people(tmp_path) -> Path:
    """Return a folder with a table of people, as a file and in a database."""
    make_people(tmp_path)
    return tmp_path


def make_people(folder: Path, rows: int = 600) -> None:
    """Write people.parquet, and hospital.duckdb with the same and with a view that is slow to read."""
    con = duckdb.connect(str(folder / "hospital.duckdb"))
    con.execute(f"""
        create table people as
        select 1000 + i as ssn, 20 + (i * 7) % 60 as age, case when i % 2 = 0 then 'F' else 'M' end as sex,
            'z' || (i * 3) % 8 as zipcode, 'd' || (i * 11) % 6 as disease
        from range({rows}) r(i)
    """)
    # the engine counts anew whenever the view is read, and a filter that reads a row cannot be forgotten
    con.execute("""
        create view slow_people as select p.* from people p
        where (select count(*) from range(60000000) x(j) where hash(j) % 1000003 = 7) >= 0
    """)
    con.execute(f"copy people to '{folder / 'people.parquet'}'")
    con.close()
