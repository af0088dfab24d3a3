"""Where words are printed, and nothing that a terminal would act on."""

from rich.console import Console


def to_stderr() -> Console:
    """Return the console for messages."""
    return Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def to_stdout() -> Console:
    """Return the console for words between results."""
    return Console(soft_wrap=True, highlight=False, markup=False)


def visible(text: str) -> str:
    """Escape what a terminal would act on (control characters in values and names are an attack)."""
    return "".join(letter if letter.isprintable() or letter == "\n" else repr(letter)[1:-1] for letter in text)
