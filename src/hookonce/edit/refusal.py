"""Atomic reading and replacement of files: whoever looks sees the old file or the new one, never half.

Many of these files belong to others (agents' configurations), so mode, group and extended attributes stay, links
out of the home directory are not followed, and an error is one sentence that says why the file was left alone.
"""

from typing import NoReturn

from hookonce.errors import HookonceError

BOM = b"\xef\xbb\xbf"


class FileEditError(HookonceError):
    """A file cannot be read or edited, and was left alone."""


class FileSyntaxError(FileEditError):
    """A file is not valid in its language; `line` and `column` count from 1, in characters."""

    def __init__(self, language: str, reason: str, line: int, column: int) -> None:
        super().__init__(f"not valid {language} at line {line}, column {column}: {reason}")
        self.line = line
        self.column = column


def raise_syntax_error(language: str, reason: str, text: bytes, offset: int) -> NoReturn:
    """Raise a FileSyntaxError for what stands at an offset."""
    before = text[:offset].removeprefix(BOM).decode(errors="replace")
    line = before.count("\n") + 1
    raise FileSyntaxError(language, reason, line, len(before) - before.rfind("\n")) from None


def check_utf8(language: str, text: bytes) -> None:
    """Raise a FileSyntaxError for bytes that are no UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise_syntax_error(language, "not UTF-8", text, error.start)
