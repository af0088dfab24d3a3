"""A small release that tests change as forgers do."""

import shutil

import pytest

import sqlanon
from tests.conftest import FEW_PATIENTS
from tests.databases import connect

ROLES = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "id": "ssn", "l": 4}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Publish a few patients; the connection holds them no longer."""
    connection = connect()
    connection.execute(f"create table patients as {FEW_PATIENTS}").fetchall()
    out = tmp_path_factory.mktemp("published") / "release"
    sqlanon.anatomy(connection, "patients", out=out, **ROLES)
    return out


@pytest.fixture
def release(published, tmp_path):
    """Copy the release, to be changed."""
    return shutil.copytree(published, tmp_path / "release")
