"""The version of the installed package."""

import sys
from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("sqlanon")
except PackageNotFoundError:  # run from a tree that was never installed
    VERSION = "0"


def say_version() -> None:
    """Print the version."""
    sys.stdout.write(f"sqlanon {VERSION}\n")
