"""A finished chart: displayed as a still picture, saved as a file, or changed as an altair chart."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlanon.atomic_files import write_atomically
from sqlanon.charts.drawing import FORMATS, paint, save
from sqlanon.charts.figure import write_image
from sqlanon.read_places import check_new_file
from sqlanon.wording import option


class Picture:
    """Charts below one another; `chart` is altair's object, to change or to show in its own way."""

    def __init__(self, charts: Mapping[str, Any]) -> None:
        """Take charts as the modules beside this one draw them, each by what it shows, in words."""
        self._charts = charts

    @property
    def chart(self) -> Any:
        """Return the charts as one of altair's; shown by altair itself, it fetches scripts from the network."""
        return paint(self._charts)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write a .png or .svg file, on white, whole or not at all; raise TargetError where that cannot be."""
        target = Path(path)
        check_new_file(target, FORMATS, option("plot"), overwrite)
        chart = self.chart
        with write_atomically(target, f"cannot write {str(target)!r}") as place:
            save(chart, place, target.suffix.lower())
            place.chmod(0o644)

    def __repr__(self) -> str:
        """Say in a few lines what this is."""
        return f"<Picture: {len(self._charts)} charts; .save(path), .chart>"

    def _repr_html_(self) -> str:
        """Show it in a notebook, in the colours of its page."""
        return "".join(write_image(chart, name) for name, chart in self._charts.items())
