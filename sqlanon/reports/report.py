"""Make the page about a release, and write it where it was asked for."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlanon.atomic_files import check_new_file, refuse_read
from sqlanon.charts.drawing import require
from sqlanon.errors import TargetError
from sqlanon.releases.release import Release
from sqlanon.reports.compared_lines import read_comparison
from sqlanon.reports.facts import gather
from sqlanon.reports.page import ENDINGS, Page
from sqlanon.wording import option


def check_target(out: str | os.PathLike[str], overwrite: bool, release: Release, read: Iterable[object]) -> Path:
    """Return where the page goes; raise TargetError for what exists, is read by this run, or lies in the release."""
    target = Path(out)
    check_new_file(target, ENDINGS, option("out"), overwrite)
    refuse_read(target, read)
    place = target.resolve()
    if release.directory is not None and release.directory.resolve() in place.parents:
        raise TargetError(f"{str(target)!r} lies in the release, which is handed on; keep it elsewhere")
    return target


def make_page(
    release: Release,
    against: object = None,
    identifier: tuple[str, ...] = (),
    others: Sequence[Release] = (),
    comparison: str | os.PathLike[str] | None = None,
) -> Page:
    """Return the page about a release; with the source or a comparison it is internal.

    Raises UsageError where charts cannot be drawn, and what verification, attacks and answers raise.
    """
    require()
    compared = [] if comparison is None else read_comparison(comparison)
    return Page(gather(release, against, identifier, others, compared))
