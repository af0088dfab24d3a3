"""An option that would be ignored, or of which one of two values would count, is refused with the reason."""

import shlex

import pytest

ROLES = "--quasi age,sex --sensitive disease"
PUBLISH = f"publish anatomy patients.parquet {ROLES}"
KEY = "ab" * 32
TWICE = "--require 'rows >= 1' --require 'l >= 3' --overwrite --overwrite"
# what is typed, and what is told; nothing is published
IGNORED = [
    (f"{PUBLISH} -l 3 -l 4 --out ward", "-l is given twice; say it once"),
    (f"{PUBLISH} -l 3 --out ward --out ward", "--out is given twice"),
    (f"{PUBLISH} -l 3 --format json --format csv --out ward", "--format is given twice"),
    (f"compare patients.parquet {ROLES} --l 3 -l 4", "--l is given twice"),
    ("estimate ward 'SELECT COUNT(*) FROM release' --timeout 1 --timeout 2", "--timeout is given twice"),
    (f"{PUBLISH} -l 3 --out ward --sql --format json", "--format is about results, and --sql prints statements"),
    ("verify ward --sql --format csv", "--format is about results, and --sql prints statements"),
    (f"{PUBLISH} -l 3 --out ward --into ward", "say --out or --into, not both: a release goes to one place"),
    (f"{PUBLISH} -l 3", "say where the release goes"),
    (f"{PUBLISH} -l 3 --out ward --draws random --key {KEY}", "--draws random draws without a key: leave out one"),
    (f"check patients.parquet {ROLES} --overwrite", "--overwrite replaces what --failing names"),
    (
        "breach --base patients.parquet --view 'SELECT ssn, age FROM base' --secret 'SELECT ssn, age FROM base'"
        " --overwrite",
        "--overwrite replaces what --out names",
    ),
    (f"compare patients.parquet {ROLES} --methods anatomy,mondrian --gamma 3", "--gamma is for none of anatomy, mon"),
    (f"compare patients.parquet {ROLES} --methods splu --l 3", "--l is for none of splu: leave it out"),
    (
        f"{PUBLISH} -l 3 --out ward --require 'posterior <= 0.5'",
        "beside attacks they have rows, groups, dropped_rows, dropped_share, l, confidence",
    ),
    (
        f"publish splu patients.parquet {ROLES} --gamma 3 --out ward --require 'groups > 3'",
        "releases of splu have no figure 'groups'; beside attacks they have rows, dropped_rows, dropped_share",
    ),
    (
        f"publish mondrian patients.parquet {ROLES} -k 5 --out ward --require 'smallest_group > 3'",
        "releases of mondrian have no figure 'smallest_group'",
    ),
]


@pytest.mark.parametrize(("words", "told"), IGNORED, ids=[words[-60:] for words, _ in IGNORED])
def test_what_would_be_ignored_is_refused(shell, words, told):
    (shell.folder / "ward").mkdir()
    done = shell(*shlex.split(words))
    assert done.returncode == 2 and told in done.stderr, done.stderr
    assert not any((shell.folder / "ward").iterdir())


def test_options_that_repeat_still_do(shell):
    asked = f"publish anatomy patients.parquet --quasi age --quasi sex --sensitive disease -l 3 --out ward {TWICE}"
    done = shell(*shlex.split(asked))
    assert done.returncode == 0, done.stderr
    boxes = "publish mondrian patients.parquet --quasi age,sex --sensitive disease -k 5 -l 2 --out boxes"
    done = shell(*shlex.split(boxes), "--require", "l >= 2", "--require", "confidence <= 0.5")
    assert done.returncode == 0, done.stderr
