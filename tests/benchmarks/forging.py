"""Forge manifests of every method's releases: none may be certified with what it was forged with.

    python -m tests.benchmarks.forging [--most 500] [--methods anatomy …] [--seed 1]

Each value and structure of a manifest is changed in turn, and its text is written otherwise; at most so many of a
method, drawn evenly. A release is certified where `verify` holds.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

import sqlanon
from tests.forged_manifests import forgeries

ROLES = {"quasi": ["age", "sex"], "sensitive": "disease", "id": "ssn"}
PEOPLE = (
    "create table patients as select i as ssn, (20 + i * 7 % 60)::integer as age,"
    " case when i % 3 = 0 then 'F' else 'M' end as sex, 'd' || i % 6 as disease, 'e' || i % 5 as other"
    " from range(120) t(i)"
)
RELEASES = {
    "anatomy": ("anatomy", {"l": 3}),
    "anatomy of two": ("anatomy", {"l": 3, "sensitive": ["disease", "other"], "max_suppressed": 0.9}),
    "robust": ("robust", {"r": 2.0, "background_from": "sex"}),
    "splu": ("splu", {"gamma": 3}),
    "splu of two": ("splu", {"gamma": {"disease": 3, "other": 4}, "sensitive": ["disease", "other"]}),
    "uncertain": ("uncertain", {"k": 4, "l": 2, "threshold": 0.3, "influence": "learn"}),
    "mondrian": ("mondrian", {"k": 5, "l": 2}),
}


def publish(folder: Path, name: str) -> Path:
    """Publish one of the releases, and return where it lies."""
    method, parameters = RELEASES[name]
    saved = {"save_influence": folder / "influence.csv", "overwrite": True} if method == "uncertain" else {}
    out = folder / name.replace(" ", "_")
    with duckdb.connect() as connection:
        connection.execute(PEOPLE)
        getattr(sqlanon, method)(connection, "patients", **{**ROLES, **parameters, **saved}, out=out)
    return out


def certified(release: Path, text: str) -> bool:
    """Tell whether a release holds with this text as its manifest."""
    (release / "release.json").write_bytes(text.encode())
    try:
        return sqlanon.open(release).verify().holds is True
    except sqlanon.SqlanonError:
        return False


def forge(release: Path, most: int, chance: random.Random) -> Counter[str]:
    """Forge a release's manifest in so many ways; print and count those that are certified, and what fails."""
    sound = (release / "release.json").read_text(encoding="utf-8")
    found = Counter({"forged": 0, "certified": 0, "faults": 0})
    every = list(forgeries(sound))
    assert certified(release, sound), "what is forged holds"
    for what, text in chance.sample(every, min(most, len(every))):
        found["forged"] += 1
        try:
            wrong = "certified" if certified(release, text) else ""
        except Exception as error:
            wrong = "faults"
            print(release.name, what, repr(error)[:300], file=sys.stderr, flush=True)
        if wrong:
            found[wrong] += 1
            print(release.name, what, wrong, file=sys.stderr, flush=True)
    (release / "release.json").write_text(sound, encoding="utf-8")
    return found


def main() -> None:
    """Forge, and print how often what was found, release by release."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=500)
    parser.add_argument("--methods", nargs="+", default=list(RELEASES), choices=list(RELEASES))
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with TemporaryDirectory() as name:
        for release in asked.methods:
            begun = time.monotonic()
            found = forge(publish(Path(name), release), asked.most, random.Random(asked.seed))
            print(json.dumps({"release": release, **found, "seconds": round(time.monotonic() - begun)}), flush=True)


if __name__ == "__main__":
    main()
