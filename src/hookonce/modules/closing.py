"""Client of a module: connect, invoke, health and describe, the same for every transport."""

from abc import ABC, abstractmethod
from typing import Self


class Closeable(ABC):
    """Context manager that closes itself."""

    @abstractmethod
    def close(self) -> object:
        """Release what is open."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()
