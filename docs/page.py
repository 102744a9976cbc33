"""Pieces of a generated page."""

GENERATED_NOTE = "<!-- made by `make docs`; do not edit -->"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table, line by line; bars in its cells are text."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def code(name: str | None) -> str:
    """A name as it is spelt, or a dash."""
    return f"`{name}`" if name else "–"


def plain(text: str) -> str:
    """Text that means nothing to Markdown."""
    return text.replace("*", "\\*").replace("<", "&lt;")
