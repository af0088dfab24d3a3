"""Run the command line as `python -m sqlanon`."""

from sqlanon.cli import main

main()
