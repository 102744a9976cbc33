"""What is closed when nobody needs it any more."""

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something that can be used for a while."""

    @abstractmethod
    def close(self) -> object:
        """Use it no more."""

    def __enter__(self) -> Self:
        """For a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Until here."""
        self.close()
