"""What is public says what it takes, returns and raises."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import sqlanon


def public_functions(holder: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield a function itself, or those of a class: its name, itself, and what the classes above it say."""
    if inspect.isfunction(inspect.unwrap(holder)):
        yield holder.__name__, holder, ""
        return
    for place, base in enumerate(holder.__mro__):
        for name, member in vars(base).items():
            function = getattr(member, "__func__", member)
            ours = str(getattr(function, "__module__", "")).startswith("sqlanon")  # tests replace Key.fresh
            if ours and not name.startswith("_") and inspect.isfunction(function):
                above = [getattr(other, name, None) for other in holder.__mro__[place + 1 :]]
                yield f"{base.__name__}.{name}", function, "\n".join(str(getattr(f, "__doc__", "")) for f in above)


def lacking(function: Any, further: str) -> list[str]:
    """Return what a docstring, with what stands above it, does not say."""
    signature, words = inspect.signature(function), f"{function.__doc__}\n{further}"
    missing = [
        name
        for name in signature.parameters
        if name not in ("self", "cls") and not re.search(rf"\b{re.escape(name)}\b", words)
    ]
    returns = signature.return_annotation not in (None, "None")
    missing += ["Returns"] * (returns and not re.search(r"\b(Returns?|Yields?)\b", words))
    raises = re.search(r"^ +raise [A-Z]", inspect.getsource(inspect.unwrap(function)), re.MULTILINE)
    return missing + ["Raises"] * bool(raises and not re.search(r"\b(Raises?|refuses?)\b", words))


def test_exported_names_say_what_they_take_return_and_raise():
    exported = [getattr(sqlanon, name) for name in sqlanon.__all__]
    holders = [value for value in exported if callable(value) and not _is_error(value)]
    checked = [
        (name, lacking(function, further)) for holder in holders for name, function, further in public_functions(holder)
    ]
    assert [(name, missing) for name, missing in checked if missing] == []
    silent = [value.__name__ for value in holders if inspect.isfunction(value) and "Raises" not in str(value.__doc__)]
    assert silent == []


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, BaseException)
