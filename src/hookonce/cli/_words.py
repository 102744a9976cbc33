"""What commands say: numbers with their nouns."""


def pluralize(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
