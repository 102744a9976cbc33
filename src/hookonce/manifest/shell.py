"""The words of a shell line, each with its place in it and the part that it plays.

Enough of the shell's grammar to say which words are programs, arguments, redirections or code, and what they come to
when nothing in them is expanded. A line that goes beyond that is not guessed at.
"""

from re import Pattern
from re import compile as pattern
from typing import Literal, NamedTuple

from hookonce.manifest.tokens import ShellLexer, UnclearCommand

Role = Literal["program", "argument", "assignment", "input", "output", "code"]

_ASSIGNMENT = pattern(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_KEYWORD = pattern(r"if|then|elif|else|fi|while|until|do|done|\{|\}|!|time")  # behind it a command begins, or none
_UNSUPPORTED_KEYWORD = pattern(r"case|esac|select|function|coproc")  # grammar of its own: not guessed at
# What every shell does by itself; it needs no program, and the manifest's own bytes say all of it.
_BUILTIN = pattern(
    r"[.:[]|alias|bg|break|cd|command|continue|echo|eval|exec|exit|export|false|fg|for|getopts|hash|jobs|kill|local"
    r"|printf|pwd|read|readonly|return|set|shift|test|times|trap|true|type|ulimit|umask|unalias|unset|wait"
)
_EVALUATING_BUILTIN = pattern(r"eval|trap|alias")  # words of the shell to which all arguments are code
# Programs and words of the shell that are given another program to run, behind options and numbers.
_LAUNCHER = pattern(r"builtin|chroot|command|doas|env|exec|ionice|nice|nohup|setsid|stdbuf|sudo|timeout|xargs")
_OPTION = pattern(r"[-+].*|\d+(?:\.\d+)?[smhd]?")
_SHELL = pattern(r"(?:a|ba|da|fi|k|z)?sh")
_INTERPRETER = pattern(r"(?:python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|osascript)[\d.]*")
_SHELL_CODE, _OTHER_CODE = pattern(r"-[A-Za-z]*c"), pattern(r"-[A-Za-z]*[ce]|--eval|--execute|--print")


class ShellWord(NamedTuple):
    """One word: where it stands, what it comes to, its part, and whether nothing in it is expanded."""

    start: int
    end: int
    text: str
    role: Role
    plain: bool


def split_words(line: str, variables: dict[str, str] | None = None) -> list[ShellWord]:
    """The words of a line; `known` are the variables whose values are certain."""
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
        """A command begins."""
        self.next_role: Role = "program"
        self.after_launcher = self.expects_code = False
        self.code_option: Pattern[str] | None = None

    def operator(self, sign: str) -> None:
        """Note what an operator announces."""
        if "<<" in sign:
            raise UnclearCommand("a text that stands in the line itself")
        if "<" in sign or ">" in sign:
            self.redirection = "input" if sign.lstrip("0123456789").startswith("<") else "output"
        elif sign == ";;":
            raise UnclearCommand("a choice between patterns")
        else:
            self.begin()

    def role(self, raw: str, text: str) -> Role:
        """The part that a word plays."""
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
        self.code_option = _code_option(name)
        self.expects_code = _EVALUATING_BUILTIN.fullmatch(text) is not None
        return "program"

    def _argument(self, text: str) -> Role:
        if self.expects_code:
            self.expects_code = self.code_option is None  # such words take all that follows, an option the next word
            return "code"
        self.expects_code = self.code_option is not None and self.code_option.fullmatch(text) is not None
        return "argument"


def _code_option(name: str) -> Pattern[str] | None:
    """After which options a program takes code, if it does."""
    if _SHELL.fullmatch(name):
        return _SHELL_CODE
    return _OTHER_CODE if _INTERPRETER.fullmatch(name) else None


def is_builtin(text: str) -> bool:
    """Whether a shell needs no program for a word."""
    return (_KEYWORD.fullmatch(text) or _BUILTIN.fullmatch(text)) is not None
