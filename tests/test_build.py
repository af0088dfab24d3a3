"""What is built, and what builds it: the same bytes everywhere, by packages whose hashes are written down."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / ".ci" / "everything.txt"
BUILT = ("sqlanon", "sql_templates", "tests", "fixtures", "README.md", "LICENSE", "pyproject.toml", ".gitignore")
BUILD = "import sys; from hatchling import build; build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins():
    """Yield each package of the lock file as its requirement and its hashes."""
    for entry in re.sub(r"\\\n", " ", LOCK.read_text()).splitlines():
        if entry and not entry.startswith("#"):
            requirement, *hashes = re.split(r"\s+--hash=", entry.rstrip())
            yield Requirement(requirement), hashes


def wanted(extras):
    """Yield what the project and some of its extras ask for; an extra may ask for others."""
    optional = project()["optional-dependencies"]
    for line in [*project()["dependencies"], *(line for extra in extras for line in optional[extra])]:
        requirement = Requirement(line)
        if requirement.name == "sqlanon":
            yield from wanted(requirement.extras)
        else:
            yield requirement


def test_what_takes_long_is_there():
    for line in (ROOT / "tests" / "thorough.txt").read_text().splitlines()[1:]:
        file, _, name = line.partition("::")
        assert f"\ndef {name}(" in (ROOT / file).read_text(), line


@pytest.mark.skipif(not LOCK.exists(), reason="the lock file is not in a source distribution")
def test_what_is_written_down_is_what_the_project_asks_for():
    pinned = [pin for pin, _ in pins()]
    asked = [*wanted(["dev", "spark", "postgres", "page"]), Requirement("playwright")]
    assert len(asked) > 20
    for requirement in asked:
        versions = [pin for pin in pinned if canonicalize_name(pin.name) == canonicalize_name(requirement.name)]
        assert versions, requirement
        for pin in versions:
            (version,) = pin.specifier
            assert version.operator == "==", pin
            assert requirement.specifier.contains(version.version), (pin, requirement)
        for python in ("3.11", "3.12", "3.13", "3.14"):
            here = default_environment() | {"python_version": python, "python_full_version": f"{python}.0"}
            here |= {"sys_platform": "linux", "implementation_name": "cpython"}
            assert sum(pin.marker is None or pin.marker.evaluate(here) for pin in versions) == 1, (python, requirement)


@pytest.mark.skipif(not LOCK.exists(), reason="the lock file is not in a source distribution")
def test_every_package_has_hashes_and_no_place_of_its_own():
    assert all(hashes and all(re.fullmatch(r"sha256:[0-9a-f]{64}", one) for one in hashes) for _, hashes in pins())
    assert all(pin.url is None for pin, _ in pins())
    assert not re.search(r"https?:|file:|--(extra-)?index|--find-links|(^|\s)/", LOCK.read_text(), re.MULTILINE)
    assert "pip install --quiet --require-hashes -r .ci/everything.txt" in (ROOT / ".ci" / "run").read_text()


def test_two_builds_are_equal_byte_for_byte(tmp_path):
    """In folders of other names and at other times, of files of other times, rights and order."""
    pytest.importorskip("hatchling", reason="hatchling is in the test extra")
    built = []
    for number, (mode, mtime, seed) in enumerate(((0o644, 1_000_000_000, "1"), (0o600, 1_700_000_000, "2"))):
        tree, out = tmp_path / f"tree{number}" / ("deeper" * number), tmp_path / f"out{number}"
        tree.mkdir(parents=True)
        for name in BUILT[:: 1 - 2 * number]:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
            elif (ROOT / name).exists():
                shutil.copy(ROOT / name, tree / name)
        for path in tree.rglob("*"):
            if path.is_file():
                path.chmod(mode)
                os.utime(path, (mtime, mtime))
        out.mkdir()
        environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
        environment |= {"PYTHONHASHSEED": seed, "TZ": ("UTC", "Asia/Tokyo")[number]}
        subprocess.run([sys.executable, "-c", BUILD, out], cwd=tree, env=environment, check=True, capture_output=True)
        built.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert len(built[0]) == 2
    assert built[0] == built[1]


def test_the_build_runs_what_the_readme_says():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (pip install .*)$", readme, re.MULTILINE)
    assert len(commands) == 2
    build = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    lines = [line for line in build if line.startswith("in_new_environment ") and line.endswith('"')][:2]
    assert [line.split(maxsplit=2)[2] for line in lines] == [f'"{command}"' for command in commands]
