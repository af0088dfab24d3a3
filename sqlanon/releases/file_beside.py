"""Where a file about a release may be written: beside it, never in it."""

import os
from collections.abc import Iterable
from pathlib import Path

from sqlanon.atomic_files import check_new_file
from sqlanon.errors import TargetError
from sqlanon.read_places import refuse_read


def check_beside(
    out: str | os.PathLike[str],
    endings: tuple[str, ...],
    mark: str,
    overwrite: bool,
    directory: Path | None,
    read: Iterable[object] = (),
) -> Path:
    """Return where the file goes; raise TargetError for what exists, is read by this run, or lies in the release.

    endings, mark: as `check_new_file` takes them. directory: the release's. read: paths, other things beside them.
    """
    target = Path(out)
    check_new_file(target, endings, mark, overwrite)
    refuse_read(target, [os.fspath(one) if isinstance(one, os.PathLike) else one for one in read])
    if directory is not None and directory.resolve() in target.resolve().parents:
        raise TargetError(f"{str(target)!r} lies in the release, which is handed on; keep it elsewhere")
    return target
