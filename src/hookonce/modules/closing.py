"""What is closed when nobody needs it any more."""

from typing import Self


class Closing:
    """Something that can be used for a while."""

    def close(self) -> object:
        """Use it no more."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """For a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Until here."""
        self.close()
