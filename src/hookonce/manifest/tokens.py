"""A shell line in pieces: operators and words, quotes and expansions, character by character."""

from re import compile as pattern

_OPERATOR = pattern(r"\d*(?:<<<|<<-?|<>|<&|>>|>&|>\||<|>)|&&|\|\||;;|[;&|()\n]")
_ENDS = frozenset(" \t\n;&|()<>")
_NAME = pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_PATTERNS = frozenset("*?[{~")  # characters that a shell may put something else for
_IN_QUOTES = frozenset('$`"\\\n')  # what a backslash takes the meaning from between double quotes
_FUNCTION = pattern(r"[ \t]*\([ \t]*\)")


class Unclear(ValueError):
    """A line that we do not understand well enough to say what it runs."""


Token = tuple[int, int, str, bool]  # where a word begins and ends, what it comes to, and whether that is certain


class Reader:
    """The line, character by character: quotes, escapes, expansions."""

    def __init__(self, line: str, known: dict[str, str]) -> None:
        self.line, self.known, self.place = line, known, 0

    def next(self) -> str | Token | None:
        """The next operator or word."""
        line = self.line
        while self.place < len(line):
            if line.startswith("\\\n", self.place):
                self.place += 2
            elif line[self.place] in " \t\r":
                self.place += 1
            elif line[self.place] == "#":
                end = line.find("\n", self.place)
                self.place = len(line) if end < 0 else end
            else:
                break
        if self.place >= len(line):
            return None
        sign = _OPERATOR.match(line, self.place)
        if sign is not None:
            self.place = sign.end()
            return sign[0]
        return self._word()

    def _word(self) -> Token:
        start, text, plain = self.place, "", True
        while self.place < len(self.line) and self.line[self.place] not in _ENDS:
            piece, certain = self._piece()
            text, plain = text + piece, plain and certain
        if _FUNCTION.match(self.line, self.place):
            raise Unclear("a function")
        return start, self.place, text, plain

    def _piece(self) -> tuple[str, bool]:
        char = self.line[self.place]
        if char == "'":
            end = self._find("'", self.place + 1)
            begin, self.place = self.place + 1, end + 1
            return self.line[begin:end], True
        if char == '"':
            return self._quoted()
        if char in "$`":
            return self._expansion()
        if char == "\\":
            self.place += 2
            escaped = self.line[self.place - 1 : self.place]
            return ("" if escaped == "\n" else escaped), bool(escaped)
        self.place += 1
        return char, char not in _PATTERNS

    def _quoted(self) -> tuple[str, bool]:
        text, plain = "", True
        self.place += 1
        while (char := self._char()) != '"':
            if char in "$`":
                piece, certain = self._expansion()
                text, plain = text + piece, plain and certain
                continue
            self.place += 1
            if char == "\\" and self._char() in _IN_QUOTES:
                char = self._char()
                self.place += 1
                char = "" if char == "\n" else char
            text += char
        self.place += 1
        return text, plain

    def _expansion(self) -> tuple[str, bool]:
        """What a dollar or a backquote begins, as it stands unless its value is certain."""
        line, start = self.line, self.place
        follows = line[start + 1 : start + 2]
        if line[start] == "`":
            self.place = self._find("`", start + 1) + 1
        elif follows in {"(", "{"}:
            self.place = self._closing(start + 1)
        elif (name := _NAME.match(line, start + 1)) is not None:
            self.place = name.end()
        else:
            self.place = start + 2 if follows in set("@*#?-$!0123456789") and follows else start + 1
        text = line[start : self.place]
        name_only = text[1:].strip("{}") if text[:1] == "$" else ""
        value = self.known.get(name_only) if text in {f"${name_only}", f"${{{name_only}}}"} else None
        return (text, False) if value is None else (value, True)

    def _closing(self, place: int) -> int:
        """Just behind the bracket that closes the one at this place; quotes in between hide theirs."""
        depth, self.place = 0, place
        while True:
            char = self._char()
            if char in "({":
                depth += 1
            elif char in ")}":
                depth -= 1
                if not depth:
                    return self.place + 1
            elif char in "'\"\\":
                self._piece()
                continue
            self.place += 1

    def _char(self) -> str:
        if self.place >= len(self.line):
            raise Unclear("a quote or a bracket that is not closed")
        return self.line[self.place]

    def _find(self, char: str, place: int) -> int:
        end = self.line.find(char, place)
        if end < 0:
            raise Unclear("a quote that is not closed")
        return end
