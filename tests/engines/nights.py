"""The hostile table on three nights: people leave, come, come back and change, and every engine publishes the same."""

import sqlanon
from tests.engines.hostile import ASKED, COLUMNS, IDENTIFIERS, KEY, QUASI, ROWS, SENSITIVE, VALUES, rows_of

NIGHTS = ("night 1", "night 2", "night 3")
CHANGED = ("leave", "leave", "keep")
_PLACES = {name: place for place, name in enumerate(COLUMNS)}


def people_of(night):
    """Return the rows of a night, from 0."""
    shown = ((0, 200), (20, 221), (10, 240))[night]
    rows = [[*row] for row in ROWS[shown[0] : shown[1]]]
    for number, row in enumerate(rows, start=shown[0]):
        if night and number % 9 == 0 and not (night == 2 and number % 18 == 0):
            row[_PLACES[SENSITIVE]] = VALUES[(number + 1) % len(VALUES)]
        if number >= 200 and number % 3:  # too frequent among those who come for all to find a group
            row[_PLACES[SENSITIVE]] = VALUES[0]
        if night == 2 and number % 25 == 0:
            row[_PLACES[QUASI[0]]] = VALUES[3]
        if night and number % 11 == 0:
            row[_PLACES["age"]] = 99
    return rows


def publish_nights(con, ledger, place, method, sources=NIGHTS, changed=CHANGED, **options):
    """Publish the nights one after the other; place: what is said of where each goes, from 0. Return the releases."""
    # the names are another test's: a plan of few columns is made sooner
    known = {name: value for name, value in ASKED.items() if name != "l"}
    asked = {**known, "quasi": [QUASI[0], "age"], "id": [*IDENTIFIERS], "key": KEY, "ledger": ledger, **options}
    return [
        sqlanon.publish(method, con, source, changed=changed[night], **asked, **place(night))
        for night, source in enumerate(sources)
    ]


ASKED_NIGHTS = (
    {"method": "anatomy", "l": 3},
    # class by class, where some change class on the third night
    {
        "method": "robust",
        "r": 2,
        "background_from": [[QUASI[0]]],
        "max_suppressed": 0.9,
    },
    # decoys among those who come, with rows that wait
    {"method": "splu", "gamma": 3},
)


def told_of(ledger, con=None):
    """Return what a ledger tells, without the times at which releases were made."""
    told = sqlanon.ledger(ledger, con).as_plain()
    history = [{name: value for name, value in line.items() if name != "created"} for line in told.pop("history")]
    return told, history


def tables_of(releases):
    """Return the tables of each release as multisets."""
    return [rows_of(release) for release in releases]
