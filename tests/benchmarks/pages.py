"""Look at pages and notebook views with a browser: python -m tests.benchmarks.pages --axe axe.min.js [--out FOLDER]

Every form of release, of people whose names and values a stranger wrote, as a public page, as an internal one, and as
the views of a notebook; in light, in dark, as wide as a phone, and on A4. Printed, and ended with exit code 1 where
anything is wrong: what the console says, what is fetched, scripts that run, what axe finds against the page, what is
wider than the window. --out keeps pages and pictures, to be looked at.

Wants Playwright, Chromium (Debian's package `chromium`, or --browser) and axe.min.js of the npm package axe-core.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from playwright.sync_api import Browser, sync_playwright

import sqlanon
from sqlanon.plans.templates import ident, literal
from tests.conftest import NASTY_VALUES
from tests.page.conftest import BROWSERS
from tests.pages import BREAKOUT, SCRIPT

KEY = "ab" * 32
AGE, AREA, SICK, PAID = f"age {SCRIPT}", 'Ort "漢字"\n\u202e', f"{BREAKOUT} illness", "pay" * 30
ROLES = {"quasi": [AGE, "sex", AREA], "sensitive": SICK, "id": "ssn", "key": KEY}
BOTH = {**ROLES, "sensitive": [SICK, PAID]}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "anatomy": ("anatomy", {**ROLES, "l": 4}),
    "several": ("anatomy", {**BOTH, "l": 3}),
    "splu": ("splu", {**BOTH, "gamma": 3}),
    "robust": ("robust", {**ROLES, "r": 2, "background_from": [("sex",)]}),
    "mondrian": ("mondrian", {**ROLES, "k": 10, "l": 3}),
    "uncertain": ("uncertain", {**ROLES, "k": 5, "l": 3, "threshold": 0.5, "influence": "learn"}),
}
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1100, "height": 900}},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True},
    "phone_dark": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "color_scheme": "dark"},
    "paper": {"viewport": {"width": 688, "height": 1009}},  # A4 within its margins, 96 pixels an inch
}
AXE = """axe.run(document, {iframes: false}).then(found => found.violations.map(
    one => one.id + ": " + one.nodes.length + " × " + one.nodes[0].html.slice(0, 200)))"""
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"
# an invisible word for a screen reader is not wider than the window, nor is what scrolls by itself
WIDER = """[...document.querySelectorAll("body *")].filter(one => {
    if (one.closest("svg") && one.tagName !== "svg") return false;
    for (let box = one.parentElement; box; box = box.parentElement)
        if (/auto|scroll|hidden/.test(getComputedStyle(box).overflowX)) return false;
    return one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
}).map(one => one.tagName + " " + Math.round(one.getBoundingClientRect().right) + ": "
    + one.textContent.slice(0, 40)).slice(0, 2)"""
NOTEBOOK = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A notebook</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>:root {{ color-scheme: light dark; }}
body {{ font: 14px sans-serif; margin: 1rem; }} .cell {{ overflow-x: auto; }} td, th {{ text-align: right; }}
@media print {{ .cell {{ overflow: visible; overflow-wrap: anywhere; }} }}</style></head>
<body><main><h1>{title}</h1>
<div class="cell" tabindex="0" role="region" aria-label="output">{body}</div></main></body></html>"""


def make_people(con: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Make the table `people`, and `doubts` of the same with some answers in doubt."""
    values = [SCRIPT, BREAKOUT, "</figure></svg>", "a\u202eb", "'\"&amp;", "w" * 200, *NASTY_VALUES]
    listed = "[" + ", ".join(map(literal, values)) + "]"
    con.execute(
        f"create table people as select 'P' || i as ssn, (20 + hash(i, 1) % 60)::integer as {ident(AGE)},"
        f" case when i % 3 = 0 then {literal(SCRIPT)} else 'M' end as sex,"
        f" {listed}[(hash(i, 2) % {len(values)} + 1)::integer] as {ident(AREA)},"
        f" {listed}[(hash(i, 3, i % 3) % {len(values)} + 1)::integer] as {ident(SICK)},"
        f" 'pay & <b>' || hash(i, 4) % 9 as {ident(PAID)} from range({rows}) t(i)"
    ).fetchall()
    con.execute(
        f"create table doubts as select * replace (case when hash(ssn) % 5 = 0 then [{ident(AGE)}, 90]"
        f" else [{ident(AGE)}] end as {ident(AGE)}, case when hash(ssn, 1) % 9 = 0 then [{ident(SICK)}, 'flu']"
        f" else [{ident(SICK)}] end as {ident(SICK)}) from people"
    ).fetchall()


def make_pages(con: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and HTML of every page, and of every view on a page like a notebook's."""
    compared = sqlanon.compare(con, "people", quasi=ROLES["quasi"], sensitive=SICK, id="ssn", l=(3, 4), gamma=5,
                               methods=("anatomy", "mondrian"), queries=40)  # fmt: skip
    for name, (method, asked) in METHODS.items():
        source = "doubts" if method == "uncertain" else "people"
        out = folder / "<img src=x onerror=alert(1)>" / name
        out.parent.mkdir(exist_ok=True)
        sqlanon.publish(method, con, source, out=out, **asked)
        release = sqlanon.open(out, con=con)
        page = sqlanon.report(release)
        yield f"{name}_public", page.html
        others = [release] if name == "anatomy" else []
        internal = sqlanon.report(release, against=source, id="ssn", others=others)
        yield f"{name}_internal", internal.html
        for view, shown in (("release", release), ("report", page.facts.verification), ("page", page)):
            yield f"{name}_{view}", show_in_notebook(view, shown)
        yield f"{name}_attack", show_in_notebook("attack", internal.facts.attack)
    yield "comparison", show_in_notebook("comparison", compared)
    check = sqlanon.check(con, "people", quasi=ROLES["quasi"], sensitive=[SICK, PAID], id="ssn", k=2, l=3)
    yield "check", show_in_notebook("check", check)
    views = [f"select ssn, {ident(AREA)} from people", f"select {ident(AREA)}, {ident(SICK)} from people"]
    breach = sqlanon.breach(con, base="people", views=views, secret=f"select ssn, {ident(SICK)} from people")
    yield "breach", show_in_notebook("breach", breach)


def show_in_notebook(title: str, shown: Any) -> str:
    """Return a view as it stands under a cell."""
    return NOTEBOOK.format(title=title, body=shown._repr_html_())


def look(browser: Browser, axe: str, path: Path, name: str, keep: Callable[[str], Path] | None) -> list[str]:
    """Look at one page in one way, and return what is wrong."""
    context = browser.new_context(
        **LOOKS[name], bypass_csp=True
    )  # axe is ours; the page's own policy holds for its own
    tab, faults = context.new_page(), list[str]()
    tab.on("console", lambda message: faults.append(f"console: {message.text}"))
    tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
    tab.on("dialog", lambda dialog: (faults.append(f"a script ran: {dialog.message}"), dialog.accept()))
    tab.on("request", lambda asked: faults.append(f"fetched {asked.url[:80]}") if asked.url != address else None)
    tab.emulate_media(media="print" if name == "paper" else "screen")
    address = path.resolve().as_uri()
    tab.goto(address)
    if keep is not None:
        tab.screenshot(path=keep(f"{path.stem}.{name}.png"), full_page=True)
        if name == "paper":
            tab.pdf(path=keep(f"{path.stem}.pdf"), prefer_css_page_size=True)
    tab.evaluate(UNFOLD)
    faults += [f"wider than the window: {one}" for one in tab.evaluate(WIDER)]
    if name != "paper":
        tab.evaluate(axe)
        faults += tab.evaluate(AXE)
    context.close()
    return faults


def main() -> None:
    """Make pages, look at each, and print what is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--axe", type=Path, required=True, help="axe.min.js of the npm package axe-core")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    parser.add_argument("--browser", default=found, help="the program, where it is not Chromium on the path")
    parser.add_argument("--rows", type=int, default=1200)
    parser.add_argument("--out", type=Path, help="a folder for pages and pictures")
    asked = parser.parse_args()
    if not asked.axe.is_file():
        raise SystemExit(f"no file {str(asked.axe)!r}: axe.min.js comes with the npm package axe-core")
    axe, wrong, looks = asked.axe.read_text(encoding="utf-8"), 0, 0
    con = duckdb.connect()
    make_people(con, asked.rows)
    with TemporaryDirectory() as place, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=asked.browser, args=["--no-sandbox"])
        folder = asked.out or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        for name, html in make_pages(con, Path(place)):
            path = folder / f"{name}.html"
            path.write_text(html, encoding="utf-8")
            for way in LOOKS:
                faults = look(browser, axe, path, way, folder.joinpath if asked.out else None)
                looks, wrong = looks + 1, wrong + bool(faults)
                for fault in faults:
                    print(json.dumps({"page": name, "look": way, "fault": fault}, ensure_ascii=False), flush=True)
    print(json.dumps({"looks": looks, "with faults": wrong}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
