"""Where a file about a release may be written: beside it, never in it."""

import os
from collections.abc import Iterable
from pathlib import Path

from sqlanon.atomic_files import check_new_file
from sqlanon.read_places import refuse_in_release, refuse_read


def check_beside(
    out: str | os.PathLike[str],
    endings: tuple[str, ...],
    mark: str,
    overwrite: bool,
    releases: Iterable[Path | None],
    read: Iterable[object] = (),
) -> Path:
    """Return where the file goes; raise TargetError for what exists, is read by this run, or lies in a release.

    endings, mark: as `check_new_file` takes them. releases: directories of those that are read. read: paths, other
    things beside them.
    """
    target = Path(out)
    check_new_file(target, endings, mark, overwrite)
    refuse_read(target, [os.fspath(place) if isinstance(place, os.PathLike) else place for place in read])
    refuse_in_release(target, releases)
    return target
