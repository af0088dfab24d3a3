"""The tour: a publisher and a recipient at work on an invented hospital table."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from sqlanon.engines.duckdb.connection import connect
from sqlanon.engines.duckdb.engine import DuckDBEngine
from sqlanon.plans.build import render_queries
from sqlanon.plans.chapters import Chapter
from sqlanon.plans.templates import ident
from sqlanon.publishing.publish import publish
from sqlanon.publishing.release_request import ReleaseRequest
from sqlanon.releases.opening import Place
from sqlanon.releases.release import Release, open_release
from sqlanon.verification.checks import Report

PATIENTS = 4000
QUASI = ("age", "sex", "zipcode")
QUESTION = "SELECT disease, COUNT(*) AS n FROM release WHERE age >= 60 AND sex = 'F' GROUP BY disease ORDER BY n DESC"


@dataclass(frozen=True)
class Tour:
    """What the tour made and found: the release, its verification, and estimates beside the truth."""

    database: Path
    release: Release
    report: Report
    answer: pd.DataFrame


def tour(folder: Path, l: int = 4) -> Tour:
    """Make hospital.duckdb and a release in `folder`, verify it, and ask it a question.

    The recipient's half reads nothing but the release; `truth` is added from the hospital's own table.
    """
    database = folder / "hospital.duckdb"
    hospital = DuckDBEngine(connect(str(database)))
    texts = render_queries(Chapter("demo", {"patient_count": PATIENTS}), {"patients": ident("patients")})
    for name, text in texts.items():  # all but patients are for whoever keeps the tour
        hospital.execute(f"create table {name} as\n{text}")
    place = Place(folder / "release")
    publish(ReleaseRequest("anatomy", "patients", QUASI, ("disease",), ("ssn",), place=place), hospital, l=l, block=64)
    release = open_release(folder / "release")
    report = release.verify()
    answer = release.estimate(QUESTION)
    truth = hospital.frame(QUESTION.replace("FROM release", "FROM patients"))
    hospital.connection.close()
    true_counts = dict(zip(truth["disease"], truth["n"], strict=True))
    answer.insert(2, "truth", [true_counts.get(disease, 0) for disease in answer["disease"]])
    return Tour(database, release, report, answer)
