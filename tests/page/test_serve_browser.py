"""The page in a real browser, as its users meet it: every step is clicked through, and what is shown is the verbs'."""

import hashlib
import itertools
import os
import re
import shlex
import socket
import time
import urllib.error
import urllib.request
import zipfile
from pathlib import Path

import duckdb
import pytest

import sqlanon
from sqlanon.plain_values import plain, words
from sqlanon.text_tables import write_text
from tests.command import Shell
from tests.conftest import ROOT
from tests.page.conftest import KEY, Tab, serve

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": ["disease"], "id": ["ssn"]}
QUESTION = "SELECT sex, COUNT(*) AS n FROM release WHERE disease = 'd1' AND age < 50 GROUP BY sex ORDER BY sex"
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    ">= 5",
    "*a*",
    'it\'s "quoted"',
    "{{ 7*7 }}",
    "</script><script>alert(2)</script>",
)


STEPS = ("Data", "Roles", "Risks", "Compare", "Publish", "Verify", "Attack", "Ask", "Hand over")


def publish(tab, out="ward"):
    tab.go("Publish")
    tab.page.get_by_label("Directory").fill(out)
    tab.press("Publish")
    tab.page.get_by_text("Published and verified").wait_for()


def type_command(folder, line, **environment):
    """Run what is to be copied, one command to a line."""
    (folder / "tmp").mkdir(exist_ok=True)
    for command in line.splitlines():
        program, *rest = shlex.split(command)
        assert program == "sqlanon"
        done = Shell(folder)(*rest, **environment)
        assert done.returncode == 0, done.stderr


def tables_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.parquet"))}


def test_every_step_by_clicking(browser, people):
    with serve(people, "people.parquet", SQLANON_KEY=KEY) as served:
        tab = Tab(browser, served)
        assert tab.page.url == served.site  # the token has left the address
        tab.done()
        copies = [tab.copied("Command")]
        tab.page.get_by_role("link", name="Next: Roles").click()
        assert tab.page.get_by_label("ssn").input_value() == "identifier"
        tab.go("Risks")
        tab.done()
        check = sqlanon.check(duckdb.connect(), str(people / "people.parquet"), **ROLES)
        assert check.verdict.words in tab.page.locator(".verdict").inner_text()
        copies.append(tab.copied("Command"))
        look_first(tab, people)
        publish(tab)
        release = sqlanon.open(people / "ward")
        assert release.verify(str(people / "people.parquet")).holds
        first = tab.copied("Command")
        check_release(tab, release, people, copies)
        check_handover(tab, people, copies)
        check_copies(people, first, copies)
        assert tab.faults == []
        assert not (people / ".nicegui").exists()
        assert served.end()[0] == 130


def look_first(tab, folder):
    """A look shows rows as they would be published, and writes nothing."""
    tab.go("Publish")
    before = set(folder.iterdir())
    tab.press("Look at ten rows first")
    tab.page.get_by_text("A look only").wait_for()
    shown = tab.page.get_by_role("region", name="qit, the first rows").inner_text().splitlines()
    assert shown[0].split("\t") == ["age", "sex", "zipcode", "group_id"]
    assert len(shown) == 11
    assert set(folder.iterdir()) == before


def check_release(tab, release, folder, copies):
    """Compare what three steps show with what the verbs find."""
    source = str(folder / "people.parquet")
    tab.run("Verify", "Verify")
    marks = [line.split("\t")[:2] for line in tab.page.locator("table").first.inner_text().splitlines()[1:]]
    assert marks == [[each.mark, each.name] for each in release.verify(source).checks]
    assert tab.colour("Verify") == "green"
    copies.append(tab.copied("Command"))
    tab.run("Attack", "Attack")
    attack = sqlanon.attack(release, against=source, id="ssn")
    assert attack.verdict.words in " ".join(tab.page.locator(".verdict").inner_text().split())
    assert tab.colour("Attack") == attack.verdict.colour
    copies.append(tab.copied("Command"))
    tab.go("Ask")
    tab.page.get_by_label("Question").fill(QUESTION)
    tab.press("Ask")
    tab.done()
    shown = [line.split("\t") for line in tab.page.locator("table").inner_text().splitlines()]
    answer = release.estimate(QUESTION)
    truth = duckdb.connect().execute(QUESTION.replace("FROM release", f"FROM '{source}'")).fetchall()
    assert [line[0] for line in shown[1:]] == list(answer["sex"])
    assert {line[0]: int(line[2]) for line in shown[1:]} == {"F": 0, **dict(truth)}  # no F has it
    assert [line[1] for line in shown[1:]] == [words(plain(value)) for value in answer["n"]]
    copies.append(tab.copied("Command"))


def check_handover(tab, folder, copies):
    """The zip is the release, file by file; the pages are the reports, each for whom it says."""
    tab.run("Hand over", "Prepare")
    copies.append(tab.copied("Command"))
    with tab.page.expect_download() as download:
        tab.page.get_by_role("link", name="download the folder as a zip").click()
    packed = zipfile.ZipFile(download.value.path())
    assert {name: packed.read(name) for name in packed.namelist()} == {
        f"release/{path.name}": path.read_bytes() for path in (folder / "ward").iterdir()
    }
    for link, view in (("open the recipient's page", "public"), ("open the report for you alone", "internal")):
        with tab.page.context.expect_page() as opened:
            tab.page.get_by_role("link", name=link).click()
        opened.value.get_by_role("heading", name="What is promised").wait_for()
        assert opened.value.locator(f".view.{view}").count() == 1
        opened.value.close()
    assert "sqlanon publish anatomy people.parquet" in tab.page.locator("pre").first.inner_text()


def check_copies(folder, first, copies):
    """Run what stands at each foot: the command that published makes equal tables."""
    copy = folder / "copy"
    copy.mkdir()
    (copy / "people.parquet").write_bytes((folder / "people.parquet").read_bytes())
    type_command(copy, first, SQLANON_KEY=KEY)
    assert tables_of(copy / "ward") == tables_of(folder / "ward")
    type_command(folder, "\n".join(copies))
    assert (folder / "ward.html").exists()


def test_a_candidate_of_the_comparison_is_taken_and_a_run_shows_how_far_it_is(browser, people):
    with serve(people, "people.parquet") as served:
        tab = Tab(browser, served)
        tab.done()
        tab.go("Compare")
        tab.page.get_by_label("Largest share").fill("100%")
        tab.press("Compare")
        # the page looks now and then, and quick candidates have passed before it does
        tab.page.get_by_text(re.compile(r"^Candidate \d+ of \d+")).wait_for(timeout=200_000)
        tab.page.locator("progress:not([value='0.0'])").wait_for(timeout=200_000)
        tab.page.get_by_role("button", name="Use mondrian, l = 3").click(timeout=200_000)
        tab.page.get_by_role("heading", name="5. Publish").wait_for()
        assert tab.page.get_by_label("Method", exact=True).input_value() == "mondrian"
        assert tab.page.get_by_label("Hide everybody among at least so many rows (required)").input_value() == "10"
        assert tab.page.get_by_label("Let no value fill more of a range than 1 in").input_value() == "3"
        publish(tab)
        assert sqlanon.open(people / "ward").manifest["parameters"]["k"] == 10
        tab.go("Compare")
        assert tab.page.locator("svg").count() >= 1
        assert tab.faults == []


def test_the_table_of_a_database_and_its_copies(browser, people):
    with serve(people, "--database", "hospital.duckdb", "people", SQLANON_KEY=KEY) as served:
        tab = Tab(browser, served)
        tab.done()
        tab.go("Roles")
        tab.page.get_by_label("zipcode").select_option("leave out")
        tab.go("Publish")
        tab.page.get_by_label("Method", exact=True).select_option("splu")
        tab.page.get_by_label("Let the true value stand in 1 row of (required)").fill("3")
        tab.page.get_by_text("For experts").click()
        tab.page.get_by_label("Thresholds").fill("rows >= 500\ndropped_rows <= 20")
        publish(tab)
        release = sqlanon.open(people / "ward")
        assert (release.manifest["method"], release.manifest["columns"]["quasi"]) == ("splu", ["age", "sex"])
        copy = people / "copy"
        copy.mkdir()
        (copy / "hospital.duckdb").write_bytes((people / "hospital.duckdb").read_bytes())
        type_command(copy, tab.copied("Command"), SQLANON_KEY=KEY)
        assert tables_of(copy / "ward") == tables_of(people / "ward")
        assert "--require 'rows >= 500'" in tab.copied("Command")


def test_a_run_is_one_run_in_two_tabs_and_after_a_reload_and_cancel_leaves_what_stood(browser, people):
    """The slow table is published over an older release: nobody but the one who asked for it can make it appear."""
    with serve(people, "--database", "hospital.duckdb", "people") as served:
        tab = Tab(browser, served)
        tab.done()
        publish(tab)
        before = {path.name: path.read_bytes() for path in (people / "ward").iterdir()}
        tab.go("Data")
        tab.page.get_by_label("File or table").fill("slow_people")
        tab.press("Look at it")
        tab.page.get_by_text("…").first.wait_for()
        tab.go("Publish")
        tab.press("Publish")  # of what has not been looked at
        tab.page.get_by_text("no column is quasi").wait_for()
        tab.go("Data")
        tab.done()
        tab.go("Publish")
        tab.press("Publish")  # without the tick
        tab.page.get_by_text("exists; choose another").wait_for()
        tab.page.get_by_label("Replace an older release there").check()
        tab.press("Publish")
        tab.page.get_by_role("button", name="Cancel publish").wait_for()
        second = tab.open(f"{served.site}publish")
        tab.page.reload()
        for page in (tab.page, second):
            assert page.get_by_label("Directory").input_value() == "ward"
            assert page.get_by_role("button", name="Publish", exact=True).is_disabled()
        second.get_by_role("button", name="Cancel publish").click()
        tab.page.get_by_text("Cancelled. Nothing was published; what stood there stands.").wait_for()
        assert {path.name: path.read_bytes() for path in (people / "ward").iterdir()} == before
        assert not [path.name for path in people.iterdir() if path.name.startswith(".")]
        tab.press("Publish")  # the page goes on, and this time it may
        tab.done(200_000)
        assert {path.name: path.read_bytes() for path in (people / "ward").iterdir()} != before
        assert tab.faults == []


def test_the_page_is_there_while_a_long_check_runs(browser, people):
    make_slower(people)
    with serve(people, "--database", "hospital.duckdb", "slower_people") as served:
        begin = time.monotonic()
        tab = Tab(browser, served)
        assert time.monotonic() - begin < 20
        tab.done(200_000)
        assert time.monotonic() - begin > 3
        assert tab.faults == []


def make_slower(folder):
    con = duckdb.connect(str(folder / "hospital.duckdb"))
    con.execute("""
        create view slower_people as select p.* from people p
        where (select count(*) from range(300000000) x(j) where hash(j) % 1000003 = 7) >= 0
    """)
    con.close()


def test_hostile_names_and_values_stand_as_they_are(browser, tmp_path):
    make_hostile(tmp_path)
    with serve(tmp_path, SQLANON_KEY=KEY) as served:
        tab = Tab(browser, served)
        tab.page.get_by_label("File or table").fill('it\'s "here".parquet')
        tab.press("Look at it")
        tab.done()
        tab.go("Roles")
        for name in HOSTILE:
            tab.page.get_by_label(name, exact=True).select_option("quasi")
        tab.page.get_by_label("disease").select_option("sensitive")
        tab.go("Publish")
        tab.page.get_by_label("Hide everybody among").fill("2")
        publish(tab)
        shown = tab.page.get_by_role("region", name="qit, the first rows").inner_text().splitlines()[0].split("\t")
        assert set(HOSTILE) < set(shown)
        command = tab.copied("Command")
        tab.go("Ask")
        tab.page.get_by_label("Question").fill('SELECT disease, COUNT(*) AS "<b>n" FROM release GROUP BY disease')
        tab.press("Ask")
        tab.done()
        assert set(tab.page.locator("tr td:first-child").all_inner_texts()) == set(HOSTILE)
        assert write_text("<b>n") in tab.page.locator("table").inner_html()
        assert tab.page.locator("img").count() == 0
        copy = tmp_path / "copy"
        copy.mkdir()
        for entry in tmp_path.glob("*.parquet"):
            (copy / entry.name).write_bytes(entry.read_bytes())
        type_command(copy, command, SQLANON_KEY=KEY)
        assert tables_of(copy / "ward") == tables_of(tmp_path / "ward")
        assert tab.faults == []


LATE = """
    let known = false
    Object.defineProperty(window, "did_handshake", {get: () => known && window.opened, set: (said) => (known = said)})
"""
TYPED_EARLY = """
    () => {
        const [field, button] = [document.querySelector("input[type=text]"), document.querySelector("button")]
        field.value = "people.parquet"
        field.dispatchEvent(new Event("input"))
        setTimeout(() => button.click(), 5)  // each waits in steps of 10 ms: the later one would be the first to go
        setTimeout(() => (window.opened = true), 12)
    }
"""


def test_what_is_done_before_the_page_is_connected_arrives_in_its_order(browser, people):
    with serve(people) as served:
        tab = Tab(browser, served)
        tab.page.add_init_script(LATE)
        for _ in range(3):
            tab.page.reload()
            tab.page.get_by_label("File or table").wait_for()
            tab.page.evaluate(TYPED_EARLY)
            tab.done()
            assert tab.page.locator(".bad").count() == 0
        assert tab.faults == []


def make_hostile(folder):
    names = ", ".join(f'{i} + (i % 3) as "{name.replace(chr(34), chr(34) * 2)}"' for i, name in enumerate(HOSTILE))
    values = " ".join(f"when {i} then '{value.replace(chr(39), chr(39) * 2)}'" for i, value in enumerate(HOSTILE))
    path = str(folder / 'it\'s "here".parquet').replace("'", "''")
    duckdb.connect().execute(
        f"copy (select {names}, case i % {len(HOSTILE)} {values} end as disease from range(300) r(i)) to '{path}'"
    )


def test_a_keyboard_alone_publishes(browser, people):
    with serve(people) as served:
        tab = Tab(browser, served)

        def go_to(name: str) -> None:
            for _ in range(80):
                tab.page.keyboard.press("Tab")
                label = tab.page.evaluate(
                    "(document.activeElement.labels?.[0] ?? document.activeElement).innerText ?? ''"
                )
                if label.startswith(name):
                    return
            raise AssertionError(name)

        def follow(name: str, step: str) -> None:
            go_to(name)
            tab.page.keyboard.press("Enter")
            tab.page.get_by_role("heading", level=2).filter(has_text=step).wait_for()

        go_to("File or table")
        tab.page.keyboard.type("people.parquet")
        tab.page.keyboard.press("Enter")
        tab.done()
        follow("Next: Roles", "2. Roles")
        go_to("zipcode")
        tab.page.keyboard.type("leave out")
        follow("5. Publish", "5. Publish")
        go_to("Directory")
        tab.page.keyboard.press("Control+a")
        tab.page.keyboard.type("ward")
        go_to("Publish")
        tab.page.keyboard.press("Enter")
        tab.done()
        assert sqlanon.open(people / "ward").manifest["columns"]["quasi"] == ["age", "sex"]
        assert tab.faults == []


def test_people_with_other_eyes_screens_and_paper(browser, people):
    with serve(people, "people.parquet") as served:
        tab = Tab(browser, served, width=400, color_scheme="dark")
        page = tab.page
        tab.done()
        publish(tab)
        tab.run("Verify", "Verify")
        holds = page.locator("td", has_text="yes").first.bounding_box()
        assert holds["x"] + holds["width"] <= 400
        tab.run("Attack", "Attack")
        for step in STEPS:
            tab.go(step)
            for summary in page.locator("summary").all():
                summary.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= 400
            assert page.evaluate("document.documentElement.lang") == "en-US"
            assert page.locator("main").count() == page.locator("nav").count() == 1
            assert page.locator("[aria-current=step]").count() == 1
            headings = "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => h.tagName)"
            levels = [int(tag[1]) for tag in page.evaluate(headings)]
            assert (levels[0], levels.count(1), levels.count(2)) == (1, 1, 1)
            assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
            unnamed = """[...document.querySelectorAll('input,select,textarea,button')].filter(
                field => !(field.labels?.length || field.innerText.trim())).length"""
            assert page.evaluate(unnamed) == 0
        tab.go("Attack")
        assert page.locator("[role=status][aria-live=polite]").count() == 1
        paper = "getComputedStyle(document.body).backgroundColor"
        assert page.evaluate(paper) == "rgb(18, 18, 18)"
        page.emulate_media(color_scheme="light")
        assert page.evaluate(paper) == "rgb(255, 255, 255)"
        page.emulate_media(media="print")
        assert page.locator("button:visible").count() == 0
        assert page.locator(".verdict:visible").count() == 1
        assert len(page.pdf(format="A4")) > 20_000
        assert tab.faults == []


def status(address, **headers):
    request = urllib.request.Request(address, headers={name.replace("_", "-"): text for name, text in headers.items()})
    try:
        with urllib.request.build_opener(Still).open(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


class Still(urllib.request.HTTPRedirectHandler):
    """Follow nothing."""

    def redirect_request(self, *_):
        return None


def test_the_server_itself_is_guarded_and_listens_here_alone(browser, people):
    with serve(people) as served:
        tab = Tab(browser, served)
        (cookie,) = tab.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"], cookie["domain"]) == (True, "Strict", "127.0.0.1")
        port = int(re.search(r":(\d+)/", served.site)[1])
        assert cookie["name"] == f"sqlanon_page_{port}"
        sent = {"Cookie": f"{cookie['name']}={cookie['value']}"}
        script = tab.page.evaluate("document.querySelector('script[src]').src")
        for name in ("release.zip", "internal.html", "..%2Fpeople.parquet", "people.parquet"):
            assert status(f"{served.site}file/{name}", **sent) == 404  # nothing was prepared
        for address in (served.site, script):
            assert status(address) == 401
            assert status(address, **sent) == 200
            assert status(address, **sent, Host="evil.example") == 403
            assert status(address, **sent, Origin="http://127.0.0.1:1") == 403
        assert upgrade(port, **sent) == 403
        assert upgrade(port, **sent, Origin="http://evil.example") == 403
        assert upgrade(port, Origin=served.origin) == 403
        assert upgrade(port, served.site[len(served.origin) :], **sent, Origin=served.origin) == 101
        listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if " 0A " in line]
        assert [address for address in listening if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
        six = Path("/proc/net/tcp6")
        assert not six.exists() or f":{port:04X} " not in six.read_text()


def upgrade(port, path="/", **headers):
    """Return the status that a WebSocket's first request is answered."""
    lines = [
        f"GET {path}_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1", f"Host: 127.0.0.1:{port}",
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", *(f"{name}: {text}" for name, text in headers.items()),
    ]  # fmt: skip
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(line.recv(100).split()[1])


def test_ctrl_c_cancels_what_runs_and_says_so(browser, people):
    make_slower(people)
    with serve(people, "--database", "hospital.duckdb", "slower_people") as served:
        tab = Tab(browser, served)
        tab.page.get_by_text("…").first.wait_for()
        code, said = served.end()
        assert code == 130
        assert "cancelled: data" in said
        assert said.rstrip().splitlines()[-1].startswith("interrupted")


PICTURE = ROOT / "sqlanon" / "page" / "steps.png"


def test_the_picture_in_the_guide_is_of_this_page(browser, people):
    """`UPDATE_PICTURE=1` takes it anew."""
    if os.environ.get("UPDATE_PICTURE"):
        with serve(people, "people.parquet") as served:
            tab = Tab(browser, served)
            tab.done()
            publish(tab)
            tab.run("Attack", "Attack")
            tab.page.set_viewport_size({"width": 1000, "height": 800})
            PICTURE.write_bytes(tab.page.screenshot(clip={"x": 0, "y": 0, "width": 1000, "height": 800}))
    size = [int.from_bytes(PICTURE.read_bytes()[start : start + 4], "big") for start in (16, 20)]
    assert size == [1000, 800]
    assert 20_000 < PICTURE.stat().st_size < 200_000
