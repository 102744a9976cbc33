"""Why a file stays as it is: one sentence, and nothing was changed. The caller knows the name of a broken file."""

from typing import NoReturn

from hookonce.errors import HookonceError

BOM = b"\xef\xbb\xbf"


class Refusal(HookonceError):
    """A file that belongs to others cannot be edited, and was left alone."""


class BrokenFile(Refusal):
    """The file is not what its name says; `line` and `column` count from 1, in characters."""

    def __init__(self, language: str, reason: str, line: int, column: int) -> None:
        super().__init__(f"not valid {language} at line {line}, column {column}: {reason}")
        self.line = line
        self.column = column


def broken(language: str, reason: str, text: bytes, offset: int) -> NoReturn:
    """Refuse a text because of what stands at an offset."""
    before = text[:offset].removeprefix(BOM).decode(errors="replace")
    line = before.count("\n") + 1
    raise BrokenFile(language, reason, line, len(before) - before.rfind("\n")) from None


def check_utf8(language: str, text: bytes) -> None:
    """Refuse bytes that are no text."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        broken(language, "not UTF-8", text, error.start)
