"""The door: reads the command line, runs one command, turns every ending into an exit code."""

import os
import sys
from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from contextlib import suppress
from errno import EACCES, EDQUOT, EFBIG, EIO, ENOSPC, ENOTDIR, EPERM, EROFS
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Any, NoReturn

from hookonce import __version__
from hookonce.cli import BARE, COMMANDS, MODULES
from hookonce.errors import HookonceError, UsageError

FINE, PROBLEM, USAGE, INTERNAL, INTERRUPTED = 0, 1, 64, 70, 130
_SHUT = {EACCES, EPERM, EROFS, ENOTDIR}  # what others have closed for us
_FULL_OR_BROKEN = {EDQUOT, EFBIG, EIO, ENOSPC}  # disks that are not ours


class _Parser(ArgumentParser):
    """An argument parser that leaves with the code for wrong usage, and takes words behind options too."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Everything is understood here, or nowhere: what is left belongs to the last place, or is an error."""
        found, left = super().parse_known_args(args, namespace)
        if left:
            self._place(found, left)
        return found, []

    def _place(self, found: Namespace, left: list[str]) -> None:
        """Put words that stood behind options where they would have gone before them."""
        last = next(reversed(self._get_positional_actions()), None)
        taken = getattr(found, last.dest, None) if last is not None else None
        free = last is not None and (last.nargs in {"*", "+"} or (last.nargs == "?" and taken == last.default))
        if last is None or not free or any(word[0:1] == "-" and word != "-" for word in left):
            self.error(f"unrecognized arguments: {' '.join(left)}")
        if last.nargs == "?" and left[1:]:
            self.error(f"unrecognized arguments: {' '.join(left[1:])}")
        try:
            values = self._get_values(last, left)
        except ArgumentError as problem:
            self.error(str(problem))
        setattr(found, last.dest, values if last.nargs == "?" else [*(taken or []), *values])

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Version(Action):
    """Says the version, and which client lies in the package."""

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        from hookonce.journeys.client import kind

        print(f"hookonce {__version__} ({kind()} client)")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _open_streams()
    try:
        return _run(words)
    except UsageError as problem:
        print(f"hookonce: {problem}", file=sys.stderr)
        return USAGE
    except HookonceError as problem:
        print(f"hookonce: {problem}", file=sys.stderr)
        return PROBLEM
    except BrokenPipeError:  # the reader has seen enough, such as head -1
        _forget_output()
        return FINE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as problem:
        return _unexpected(problem, words)


def _open_streams() -> None:
    """Streams that the caller closed become empty ones, and no character is too strange to be shown."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  open for good
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """Nobody reads what is still on its way out; without this the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    chosen = next((word for word in words if not word.startswith("-")), None)
    if chosen is not None and chosen not in COMMANDS and chosen == words[0]:
        from hookonce.cli._named import unknown

        raise unknown("command", chosen, COMMANDS, "hookonce --help lists them")
    parser, module = parser_for(chosen if chosen in COMMANDS else None)
    options = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return FINE
    if chosen not in BARE:
        _freshen(dry=getattr(options, "dry_run", False), told=chosen == "doctor")
    code: int = module.run(options)
    sys.stdout.flush()
    return code


def _freshen(*, dry: bool, told: bool) -> None:
    """An update of ours reaches the client that agents call; whatever is wrong there is not this command's matter.

    Only of a client that somebody has changed a word is said, unless the command itself tells of it.
    """
    from hookonce.config import paths

    with suppress(Exception):
        if paths.client().exists():  # most of what a refresh costs is reading its code
            from hookonce.journeys.client import refresh

            if (wrong := refresh(dry=dry)) is not None and not told:
                print(f"hookonce: {wrong}", file=sys.stderr)


def parser_for(chosen: str | None) -> tuple[ArgumentParser, ModuleType | None]:
    """The parser of the whole command line; only the chosen command's own options are known to it."""
    listed = "\n".join(f"  {name:12}{text}" for name, text in COMMANDS.items())
    parser = _Parser(
        prog="hookonce",
        usage="hookonce [-h] [--version] COMMAND ...",
        description=f"One vocabulary for the hooks of every AI coding agent.\n\ncommands:\n{listed}",
        epilog="Begin with: hookonce demo",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(prog="hookonce", metavar="COMMAND", help=SUPPRESS, parser_class=_Parser)
    module: ModuleType | None = None
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=text, formatter_class=RawDescriptionHelpFormatter, argument_default=SUPPRESS
        )
        if name == chosen:
            module = import_module(f"hookonce.cli.{MODULES.get(name, name)}")
            command.argument_default = None
            module.configure(command)
    return parser, module


def _unexpected(problem: Exception, words: list[str]) -> int:
    if isinstance(problem, OSError) and problem.errno in _FULL_OR_BROKEN:
        print(f"hookonce: cannot go on: {problem.strerror}", file=sys.stderr)
        _forget_output()
        return PROBLEM
    if isinstance(problem, OSError) and problem.errno in _SHUT and problem.filename:
        print(f"hookonce: {problem.filename} cannot be written or read: {problem.strerror}", file=sys.stderr)
        return PROBLEM
    if type(problem).__module__ == "sqlite3":
        print(f"hookonce: the record cannot be used: {problem}. Next: hookonce doctor", file=sys.stderr)
        return PROBLEM
    return _internal(problem, words)


def _internal(problem: BaseException, words: list[str]) -> int:
    """Our own fault: the trace goes to the log, its place to the user."""
    from hookonce.config.paths import log
    from hookonce.store.log import trace
    from hookonce.times import now

    place = log()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(place, "a", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(f"{now()} hookonce {__version__} {' '.join(words[:1])}\n{trace(problem)}\n")
        told = f"the trace is in {place}"
    except OSError as refused:
        told = f"no log could be written: {refused}"
    print(f"hookonce: internal error; {told}", file=sys.stderr)
    return INTERNAL


if __name__ == "__main__":
    sys.exit(main())
