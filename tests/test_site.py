"""The site is the guides and the declarations, no link of it is broken, and no page of it fetches anything."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest

import sqlanon
from sqlanon.methods import METHODS
from tests.conftest import ROOT
from tests.documents import GUIDES, text_of

BUILDER = ROOT / ".ci" / "site" / "build.py"
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*?\b(?:src|srcset|data)="([^"]*)"
    |<link\b(?=[^>]*\brel="(?:stylesheet|preload|prefetch|modulepreload|preconnect|dns-prefetch|[a-z ]*icon|search)")
        [^>]*?\bhref="([^"]*)"
    |url\(\s*["']?([^"')]*)|@import\s+["']([^"']*)""",
    re.VERBOSE,
)
# scripts may name addresses in comments; what fetches takes one as its first argument
FETCHING = re.compile(
    r"""(?:fetch|import|importScripts|sendBeacon|open|WebSocket|src\s*=)\s*\(?\s*["'`](?:https?:)?//"""
)

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("site"),
    pytest.mark.skipif(not BUILDER.exists(), reason="what makes the site is not in a source distribution"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("sphinx", "myst_nb", "furo", "bs4"):
        pytest.importorskip(package, reason="what makes the site is in the dev extra")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, BUILDER, folder], check=False, capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def parsed(page: Path):
    from bs4 import BeautifulSoup

    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


def squeezed(text: str) -> str:
    return "".join(text.split())


def is_outside(address: str) -> bool:
    return bool(re.match(r"(?:[a-z]+:)?//", address))


def test_no_page_fetches_anything(site):
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*") if path.suffix in {".html", ".css"}}
    addresses = ["".join(parts) for text in texts.values() for parts in FETCHED.findall(text)]
    assert len(addresses) > 100
    assert [address for address in addresses if is_outside(address)] == []
    scripts = [path.read_text(encoding="utf-8") for path in site.rglob("*.js")]
    assert len(scripts) > 5
    assert [call for script in scripts for call in FETCHING.findall(script)] == []


def test_every_link_leads_to_a_place(site):
    pages = {path: parsed(path) for path in site.rglob("*.html")}
    marks = {path: {tag["id"] for tag in page.find_all(id=True)} for path, page in pages.items()}
    followed = 0
    for path, page in pages.items():
        for link in page.find_all("a", href=True):
            address, _, mark = link["href"].partition("#")
            if re.match(r"[a-z]+:", address):
                continue
            target = (path.parent / unquote(address)).resolve() if address else path
            assert target.exists(), (path, link["href"])
            assert not mark or target.suffix != ".html" or unquote(mark) in marks[target], (path, link["href"])
            followed += 1
    assert followed > 1000


@pytest.mark.parametrize("topic", GUIDES)
def test_a_page_has_the_text_that_the_guide_shows(site, topic):
    from bs4 import BeautifulSoup
    from markdown_it import MarkdownIt

    page = parsed(site / "guides" / f"{topic}.html").find("article")
    for added in page.select(".headerlink, .toctree-wrapper"):
        added.decompose()
    plain = MarkdownIt("commonmark").enable("table").render(text_of(topic))
    expected = squeezed(BeautifulSoup(plain, "html.parser").get_text())
    assert len(expected) > 500
    assert squeezed(page.get_text()) == expected


def test_the_reference_has_every_verb_option_and_public_name(site):
    from typer.main import get_command

    from sqlanon.cli import app

    verbs = parsed(site / "reference" / "verbs.html")
    headings = {heading.get_text().rstrip("¶#") for heading in verbs.find_all(["h2", "h3"])}
    group = get_command(app)
    assert {f"sqlanon {verb}" for verb in group.commands} <= headings
    assert {f"sqlanon publish {method}" for method in METHODS} <= headings
    codes = {code.get_text().split()[0].rstrip(",") for code in verbs.find_all("code")}
    options = {
        parameter.opts[0]
        for command in group.commands.values()
        for parameter in command.params
        if parameter.opts[0].startswith("-")
    }
    assert len(options) > 30
    assert options <= codes
    marks = {tag["id"] for tag in parsed(site / "reference" / "functions.html").find_all(id=True)}
    assert {f"sqlanon.{name}" for name in sqlanon.__all__ if name != "__version__"} <= marks


def test_first_page_leads_to_every_guide_in_four_parts(site):
    sidebar = parsed(site / "index.html").select_one(".sidebar-tree")
    captions = [caption.get_text() for caption in sidebar.select(".caption-text")]
    assert captions == ["Begin", "How to", "Why it holds", "Reference"]
    listed = {link["href"] for link in sidebar.select("a")}
    assert {f"guides/{topic}.html" for topic in GUIDES} <= listed


def test_a_broken_link_fails_the_build(tmp_path):
    for package in ("sphinx", "myst_nb", "furo"):
        pytest.importorskip(package, reason="what makes the site is in the dev extra")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "dummy", "-c", BUILDER.parent]
    command += [tmp_path, tmp_path / "out"]
    outcomes = []
    for line in ("[x](#some-title)", "[x](#no-title)"):
        (tmp_path / "index.md").write_text(f"# Some title\n\n{line}\n")
        outcomes.append(subprocess.run(command, check=False, capture_output=True, timeout=300).returncode)
    assert outcomes == [0, 1]
