"""Let templates be read from another folder for a while, without forgetting those of the project."""

from functools import cache
from pathlib import Path

import pytest

from sqlanon.plans import templates


def read_templates_of(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Read templates of a folder until the patch is undone; what was compiled before stands again after it."""
    patch.setattr(templates, "template_root", lambda: folder)
    for name in ("environment", "template_header"):
        patch.setattr(templates, name, cache(getattr(templates, name).__wrapped__))
