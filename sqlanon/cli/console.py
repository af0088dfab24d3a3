"""Where words are printed, and nothing that a terminal would act on."""

from rich.console import Console


def to_stderr() -> Console:
    """Return the console for messages."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)


def to_stdout() -> Console:
    """Return the console for words between results."""
    return Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
