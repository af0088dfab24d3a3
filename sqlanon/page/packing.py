"""What is handed over, as answers to download: the release as a zip, the recipient's page, and the publisher's own."""

import hashlib
import json
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlanon.page.state import read_manifest
from sqlanon.read_places import MANIFEST

if TYPE_CHECKING:
    from fastapi import Response

    from sqlanon.attacks.page import Page

ZIP, PUBLIC, INTERNAL = FILES = ("release.zip", "public.html", "internal.html")
_CHUNK = 2**20  # bytes


def keep(name: str, pages: "Sequence[Page]", release: str, download: bool) -> "Response":
    """Return one of `FILES` of a release; pages: the public one and the internal one. 409: the release has changed."""
    from fastapi import Response
    from fastapi.responses import StreamingResponse

    attached = {"content-disposition": f'attachment; filename="{name}"'}
    if name != ZIP:
        html = pages[FILES.index(name) - 1].html
        return Response(html, media_type="text/html", headers=attached if download else {})
    packed = pack(Path(release), pages[0].facts.manifest) if pages[1].holds else None
    if packed is None:
        refused = "the release does not hold what it promises, or has changed since: prepare it again\n"
        return Response(refused, 409, media_type="text/plain")
    chunks = iter(lambda: packed.read(_CHUNK), b"")
    return StreamingResponse(chunks, media_type="application/zip", headers=attached)


def pack(directory: Path, manifest: Any) -> IO[bytes] | None:
    """Return a zip of exactly what a manifest names and the manifest itself; None where a file is another one by now,
    or lies elsewhere.

    What is packed is what was hashed, and says nothing of when its files were made.
    """
    written = read_manifest(directory)
    if written is None or json.loads(written) != manifest:
        return None
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when its last reader has gone
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo(f"release/{MANIFEST}"), written)
        for name, entry in manifest["files"].items():
            if Path(name).name != name:
                return None
            with tempfile.TemporaryFile() as copy:
                with (directory / name).open("rb") as file:
                    shutil.copyfileobj(file, copy, _CHUNK)
                copy.seek(0)
                if hashlib.file_digest(copy, "sha256").hexdigest() != entry["sha256"]:
                    return None
                copy.seek(0)
                with archive.open(zipfile.ZipInfo(f"release/{name}"), "w", force_zip64=True) as place:
                    shutil.copyfileobj(copy, place, _CHUNK)
    packed.seek(0)
    return packed
