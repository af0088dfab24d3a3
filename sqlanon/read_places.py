"""Which files a run reads: none that it writes may replace one of them, or be read together with them later."""

import glob
import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from sqlanon.bounded_files import parse_json, read_text
from sqlanon.errors import TargetError, UsageError
from sqlanon.wording import option

MANIFEST = "release.json"
_PATTERN = re.compile(r"[*?]|\[[^\]/]+\]")


def real_path(path: Path) -> Path:
    """Return where a path leads through links; one that leads in circles stays, where `Path.resolve` would fail."""
    return Path(os.path.realpath(path))


def require_parent(target: Path) -> None:
    """Raise TargetError where there is no directory for what is to be written."""
    if not target.parent.is_dir():
        raise TargetError(f"no directory {str(target.parent)!r} to write {target.name!r} in; make it with mkdir -p")


def refuse_alone(overwrite: bool, named: object, *options: str) -> None:
    """Raise UsageError where something is to be replaced, and nothing names it. options: what could."""
    if overwrite and named is None:
        raise UsageError(
            f"{option('overwrite', True)} replaces what {' or '.join(map(option, options))} names; there is none"
        )


def check_new_file(
    target: Path,
    endings: Sequence[str],
    mark: str,
    overwrite: bool,
    releases: Iterable[Path | None] = (),
    read: Iterable[object] = (),
) -> None:
    """Raise TargetError for a file that cannot be written, would be handed on, or replace what it may not.

    endings: those of the formats that it may have. mark: the option that named it. releases, read: directories of
    releases and paths, as `refuse_in_release` and `refuse_read` take them.
    """
    if target.suffix.lower() not in endings:
        *others, last = endings
        listed = f"{', '.join(others)} or {last}" if others else last
        raise TargetError(f"{target.name!r} does not end in {listed}; give it such an ending")
    require_parent(target)
    refuse_in_release(target, releases)
    refuse_read(target, read)
    if os.path.lexists(target) and not (overwrite and target.is_file() and not target.is_symlink()):
        raise TargetError(f"{str(target)!r} exists; choose another {mark} or say {option('overwrite', True)}")


def refuse_read(path: Path, read: Iterable[object]) -> None:
    """Raise TargetError for a file that the run reads, or that a glob of it would match once it is there.

    read: what the run reads, as it was named: texts that are paths or globs.
    """
    if _is_read(path, read):
        raise TargetError(f"{str(path)!r} is what this run reads; name another file")


def refuse_read_directory(directory: Path, files: Iterable[str], read: Iterable[object]) -> None:
    """Raise TargetError for a directory in which a glob of the run would match one of its `files`."""
    read = [*read]
    if any(_is_read(directory / name, read) for name in files):
        raise TargetError(f"what is written to {str(directory)!r} would be what this run reads; name another directory")


def refuse_in_release(path: Path, releases: Iterable[Path | None]) -> None:
    """Raise TargetError for a place in one of the releases that a run reads or writes: they are handed on.

    releases: their directories, None for one that has none.
    """
    place = real_path(path)
    if any(release is not None and real_path(release) in (place, *place.parents) for release in releases):
        raise TargetError(f"{str(path)!r} lies in the release, which is handed on; keep it elsewhere")
    refuse_in_any_release(path)


def refuse_in_any_release(path: Path) -> None:
    """Raise TargetError for a place inside a folder that holds a release: verification would find it there."""
    release = next((folder for folder in real_path(path).parents if _holds_release(folder)), None)
    if release is not None:
        raise TargetError(f"{str(path)!r} lies in the release {str(release)!r}, which is handed on; keep it elsewhere")


def _holds_release(folder: Path) -> bool:
    try:
        manifest = parse_json(read_text(folder / MANIFEST))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and {"format", "method", "files"} <= set(manifest)


def _is_read(path: Path, read: Iterable[object]) -> bool:
    place, named = real_path(path), (os.fspath(each) if isinstance(each, os.PathLike) else each for each in read)
    return any(_matches(place, text) for text in named if isinstance(text, str) and text and "\0" not in text)


def _matches(place: Path, text: str) -> bool:
    if not _PATTERN.search(text) or Path(text).exists():
        return Path(text).exists() and real_path(Path(text)) == place
    # names before the first sign of a glob may lead through links, and upwards
    parts = Path(text).parts
    plain = next(number for number, part in enumerate(parts) if _PATTERN.search(part))
    pattern = Path(glob.escape(str(real_path(Path(*parts[:plain])))), *parts[plain:])
    if "**" in text:
        return fnmatchcase(str(place), str(pattern).replace("**/", "*"))
    return len(place.parts) == len(pattern.parts) and all(map(fnmatchcase, place.parts, pattern.parts))
