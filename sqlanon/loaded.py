"""Things that are loaded when they are first asked for: whoever needs one of them does not wait for the others."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Loaded(Mapping[str, T]):
    """What `load` returns for each of some names, which may become more; asking whether a name is there loads none."""

    def __init__(self, names: Collection[str], load: Callable[[str], T]) -> None:
        """Take the names and what loads the thing of one."""
        self._names, self._load = names, load

    def __getitem__(self, name: str) -> T:
        """Load the thing of a name; raise KeyError for another name."""
        if name not in self._names:
            raise KeyError(name)
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        """Tell whether a name is there."""
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self._names)
