"""The worked cases are notebooks that run, and the outputs kept in them are what a run prints.

`UPDATE_CASES=1` keeps the outputs of the run.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.servers import extra, missing

CASES = sorted((ROOT / "fixtures" / "cases").glob("*.ipynb"))
WITH_ENGINES = "warehouse"
LONGEST = 600  # seconds that a cell may take
# what differs under the same keys: when, and bytes of Parquet, which name the DuckDB that wrote them
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(?:Z|[+-]\d\d:\d\d)?")
WAITING = re.compile(r"^candidate \d+ of \d+.*\n", re.MULTILINE)  # said where a machine is slow
PARQUET = re.compile(r"(?<=\.parquet: )[0-9a-f]{8}…")
# a kernel forces colours, which are no part of what is said
PLAIN = (
    "--IPKernelApp.exec_lines=import os; os.environ.pop('FORCE_COLOR', None); os.environ.pop('CLICOLOR_FORCE', None)"
)


def read(case: Path):
    return pytest.importorskip("nbformat", reason="what runs notebooks is in the dev extra").read(case, as_version=4)


def run(notebook, folder: Path, **variables: str):
    """Run a notebook in an empty folder, as a user does, and return it with its outputs."""
    client = pytest.importorskip("nbclient", reason="what runs notebooks is in the dev extra")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SQLANON_")}
    environment |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "110",
    } | variables
    environment |= {"TMPDIR": str(folder), "IPYTHONDIR": str(folder / ".ipython")}
    kernel = {"resources": {"metadata": {"path": str(folder)}}, "extra_arguments": [PLAIN], "timeout": LONGEST}
    client.NotebookClient(notebook, coalesce_streams=True, record_timing=False, **kernel).execute(env=environment)
    for cell in notebook.cells:
        # which of the two streams is written first is chance
        cell.get("outputs", []).sort(key=lambda output: output.get("name") == "stderr")
    return notebook


def printed(notebook) -> list[dict[str, str]]:
    """Return what each cell of code printed and showed, without what changes."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = {}
            for output in cell.outputs:
                text = output.get("text") or output.get("data", {}).get("text/plain", "")
                shown[output.get("name", output.output_type)] = settled(text)
            cells.append(shown)
    return cells


def settled(text: str) -> str:
    """Return an output with times, hashes of Parquet and what is said of waiting made alike."""
    return WAITING.sub("", PARQUET.sub("HASH", TIME.sub("TIME", text)))


@pytest.mark.parametrize("case", [case for case in CASES if case.stem != WITH_ENGINES], ids=lambda case: case.stem)
def test_a_case_runs_and_prints_what_is_kept(case, tmp_path):
    compare(case, run(read(case), tmp_path))


@pytest.mark.engines
def test_the_case_of_a_warehouse_runs_and_prints_what_is_kept(server, tmp_path):
    extra("spark", "pyspark")
    if shutil.which("dbt") is None:
        missing("postgres", "dbt: pip install dbt-postgres")
    (case,) = [case for case in CASES if case.stem == WITH_ENGINES]
    compare(case, run(read(case), tmp_path, SQLANON_DSN=server.new_database("warehouse_case")))


def compare(case: Path, fresh) -> None:
    """Hold a run against the outputs that are kept, or keep its own."""
    if os.environ.get("UPDATE_CASES"):
        keep(case, fresh)
    else:
        assert printed(fresh) == printed(read(case))


def keep(case: Path, notebook) -> None:
    """Write a notebook with its outputs."""
    import nbformat

    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, case)
