"""The version of the installed package."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("sqlanon")
except PackageNotFoundError:  # run from a tree that was never installed
    VERSION = "0"
