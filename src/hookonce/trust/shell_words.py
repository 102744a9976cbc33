"""Shell lexer: the words of a command line, each with its position and its role.

Enough of the shell's grammar to say which words are programs, arguments, redirections or code, and what they
come to when nothing in them is expanded. A line that goes beyond that is not guessed at (`UnclearCommand`).
"""

from re import Pattern
from re import compile as pattern
from typing import Literal, NamedTuple

from hookonce.base.regex import lazy_pattern

_OPERATOR = lazy_pattern(r"\d*(?:<<<|<<-?|<>|<&|>>|>&|>\||<|>)|&&|\|\||;;|[;&|()\n]")
_WORD_ENDS = frozenset(" \t\n;&|()<>")
_VARIABLE_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_GLOB_CHARACTERS = frozenset("*?[{~")  # characters that a shell may put something else for
_ESCAPABLE_IN_QUOTES = frozenset('$`"\\\n')  # what a backslash takes the meaning from between double quotes
_FUNCTION_PARENTHESES = lazy_pattern(r"[ \t]*\([ \t]*\)")


class UnclearCommand(ValueError):
    """A command line that the lexer does not understand well enough to say what it runs."""


Token = tuple[int, int, str, bool]  # where a word begins and ends, what it comes to, and whether that is certain


class ShellLexer:
    """Lexer of a command line, character by character: quotes, escapes, expansions."""

    def __init__(self, line: str, variables: dict[str, str]) -> None:
        self.line, self.variables, self.position = line, variables, 0

    def next(self) -> str | Token | None:
        """The next operator or word."""
        line = self.line
        while self.position < len(line):
            if line.startswith("\\\n", self.position):
                self.position += 2
            elif line[self.position] in " \t\r":
                self.position += 1
            elif line[self.position] == "#":
                end = line.find("\n", self.position)
                self.position = len(line) if end < 0 else end
            else:
                break
        if self.position >= len(line):
            return None
        sign = _OPERATOR.match(line, self.position)
        if sign is not None:
            self.position = sign.end()
            return sign[0]
        return self._read_word()

    def _read_word(self) -> Token:
        start, text, plain = self.position, "", True
        while self.position < len(self.line) and self.line[self.position] not in _WORD_ENDS:
            piece, certain = self._read_piece()
            text, plain = text + piece, plain and certain
        if _FUNCTION_PARENTHESES.match(self.line, self.position):
            raise UnclearCommand("a function")
        return start, self.position, text, plain

    def _read_piece(self) -> tuple[str, bool]:
        char = self.line[self.position]
        if char == "'":
            end = self._find("'", self.position + 1)
            begin, self.position = self.position + 1, end + 1
            return self.line[begin:end], True
        if char == '"':
            return self._read_quoted()
        if char in "$`":
            return self._read_expansion()
        if char == "\\":
            self.position += 2
            character = self.line[self.position - 1 : self.position]
            return ("" if character == "\n" else character), bool(character)
        self.position += 1
        return char, char not in _GLOB_CHARACTERS

    def _read_quoted(self) -> tuple[str, bool]:
        text, plain = "", True
        self.position += 1
        while (char := self._peek()) != '"':
            if char in "$`":
                piece, certain = self._read_expansion()
                text, plain = text + piece, plain and certain
                continue
            self.position += 1
            if char == "\\" and self._peek() in _ESCAPABLE_IN_QUOTES:
                char = self._peek()
                self.position += 1
                char = "" if char == "\n" else char
            text += char
        self.position += 1
        return text, plain

    def _read_expansion(self) -> tuple[str, bool]:
        """What a dollar or a backquote begins, as it stands unless its value is certain."""
        line, start = self.line, self.position
        follows = line[start + 1 : start + 2]
        if line[start] == "`":
            self.position = self._find("`", start + 1) + 1
        elif follows in {"(", "{"}:
            self.position = self._find_closing(start + 1)
        elif (name := _VARIABLE_NAME.match(line, start + 1)) is not None:
            self.position = name.end()
        else:
            self.position = start + 2 if follows in set("@*#?-$!0123456789") and follows else start + 1
        text = line[start : self.position]
        name_only = text[1:].strip("{}") if text[:1] == "$" else ""
        value = self.variables.get(name_only) if text in {f"${name_only}", f"${{{name_only}}}"} else None
        return (text, False) if value is None else (value, True)

    def _find_closing(self, position: int) -> int:
        """Just behind the bracket that closes the one at this place; quotes in between hide theirs."""
        depth, self.position = 0, position
        while True:
            char = self._peek()
            if char in "({":
                depth += 1
            elif char in ")}":
                depth -= 1
                if not depth:
                    return self.position + 1
            elif char in "'\"\\":
                self._read_piece()
                continue
            self.position += 1

    def _peek(self) -> str:
        if self.position >= len(self.line):
            raise UnclearCommand("a quote or a bracket that is not closed")
        return self.line[self.position]

    def _find(self, char: str, position: int) -> int:
        end = self.line.find(char, position)
        if end < 0:
            raise UnclearCommand("a quote that is not closed")
        return end


Role = Literal["program", "argument", "assignment", "input", "output", "code"]

_ASSIGNMENT = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORD = lazy_pattern(r"if|then|elif|else|fi|while|until|do|done|\{|\}|!|time")  # behind it a command begins, or none
_UNSUPPORTED_KEYWORD = lazy_pattern(r"case|esac|select|function|coproc")  # grammar of its own: not guessed at
# What every shell does by itself; it needs no program, and the manifest's own bytes say all of it.
_BUILTIN = lazy_pattern(
    r"[.:[]|alias|bg|break|cd|command|continue|echo|eval|exec|exit|export|false|fg|for|getopts|hash|jobs|kill|local"
    r"|printf|pwd|read|readonly|return|set|shift|test|times|trap|true|type|ulimit|umask|unalias|unset|wait"
)
_EVALUATING_BUILTIN = lazy_pattern(r"eval|trap|alias")  # words of the shell to which all arguments are code
# Programs and words of the shell that are given another program to run, behind options and numbers.
_LAUNCHER = lazy_pattern(r"builtin|chroot|command|doas|env|exec|ionice|nice|nohup|setsid|stdbuf|sudo|timeout|xargs")
_OPTION = lazy_pattern(r"[-+].*|\d+(?:\.\d+)?[smhd]?")
_SHELL = lazy_pattern(r"(?:a|ba|da|fi|k|z)?sh")
_INTERPRETER = lazy_pattern(r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|osascript)[\d.]*")
_SHELL_CODE, _OTHER_CODE = pattern(r"-[A-Za-z]*c"), pattern(r"-[A-Za-z]*[ce]|--eval|--execute|--print")


class ShellWord(NamedTuple):
    """One word: where it stands, what it comes to, its part, and whether nothing in it is expanded."""

    start: int
    end: int
    text: str
    role: Role
    plain: bool


def split_words(line: str, variables: dict[str, str] | None = None) -> list[ShellWord]:
    """The words of a line; `variables` are those whose values are certain."""
    lexer = ShellLexer(line, variables or {})
    tracker = _RoleTracker()
    shell_words = []
    while (token := lexer.next()) is not None:
        if isinstance(token, str):
            tracker.operator(token)
        else:
            start, end, text, plain = token
            shell_words.append(ShellWord(start, end, text, tracker.role(line[start:end], text), plain))
    return shell_words


class _RoleTracker:
    """State of a command: the role of the next word, which the word alone does not tell."""

    def __init__(self) -> None:
        self.redirection: Role | None = None
        self.begin()

    def begin(self) -> None:
        self.next_role: Role = "program"
        self.after_launcher = self.expects_code = False
        self.code_option: Pattern[str] | None = None  # after which the program takes code, if it does

    def operator(self, sign: str) -> None:
        if "<<" in sign:
            raise UnclearCommand("a text that stands in the line itself")
        if "<" in sign or ">" in sign:
            self.redirection = "input" if sign.lstrip("0123456789").startswith("<") else "output"
        elif sign == ";;":
            raise UnclearCommand("a choice between patterns")
        else:
            self.begin()

    def role(self, raw: str, text: str) -> Role:
        if self.redirection is not None:
            role, self.redirection = self.redirection, None
            return role
        return self._program(raw, text) if self.next_role == "program" else self._argument(text)

    def _program(self, raw: str, text: str) -> Role:
        if _ASSIGNMENT.match(raw):
            return "assignment"
        if self.after_launcher and _OPTION.fullmatch(text):
            return "argument"
        if _UNSUPPORTED_KEYWORD.fullmatch(raw):
            raise UnclearCommand(f"the word {raw}")
        if _KEYWORD.fullmatch(raw):
            return "program"
        name = text.rpartition("/")[2]
        self.after_launcher = _LAUNCHER.fullmatch(name) is not None
        self.next_role = "program" if self.after_launcher else "argument"
        is_interpreter = _INTERPRETER.fullmatch(name)
        self.code_option = _SHELL_CODE if _SHELL.fullmatch(name) else _OTHER_CODE if is_interpreter else None
        self.expects_code = _EVALUATING_BUILTIN.fullmatch(text) is not None
        return "program"

    def _argument(self, text: str) -> Role:
        if self.expects_code:
            self.expects_code = self.code_option is None  # such words take all that follows, an option the next word
            return "code"
        self.expects_code = self.code_option is not None and self.code_option.fullmatch(text) is not None
        return "argument"


def is_shell(name: str) -> bool:
    """Whether a program is a shell, by its name."""
    return _SHELL.fullmatch(name) is not None


# Options with which an interpreter runs nothing but its script.
_SHELL_SWITCHES, _PYTHON_SWITCHES = pattern(r"-[aefhkmnptuvx]+"), pattern(r"-[bBdEiIOPqsSuvVx]+")
_OTHER_SWITCHES = lazy_pattern(r"-[wW]")


def harmless_switches(name: str) -> Pattern[str] | None:
    """The options of an interpreter that name nothing it would run; None for a program that is no interpreter."""
    if is_shell(name):
        return _SHELL_SWITCHES
    if _INTERPRETER.fullmatch(name) is None:
        return None
    return _PYTHON_SWITCHES if name.startswith("py") else _OTHER_SWITCHES


_RUNNER = lazy_pattern(
    r"g?make|cmake|ninja|just|task|rake|bundle|np[mx]|pnpm|pnpx|yarn|bunx?|deno|tsx|uvx?|poetry|pdm|hatch|pipx|tox|nox"
    r"|pytest|pre-commit|lefthook|cargo|go|gradlew?|mvnw?|ant|dotnet|swift|composer|mix|bazel|nix|mise|direnv|git|docker"
)


def is_runner(name: str) -> bool:
    """Whether a program runs what files of its directory say, which no word of the command names."""
    return _RUNNER.fullmatch(name) is not None


def is_builtin(text: str) -> bool:
    """Whether a shell needs no program for a word."""
    return (_KEYWORD.fullmatch(text) or _BUILTIN.fullmatch(text)) is not None
