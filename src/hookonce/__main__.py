"""Command-line entry point: argument parsing, one command, exit codes.

Every exception becomes an exit code and one sentence on stderr; an internal error leaves its trace in the log.
"""

import os
import sys
from argparse import SUPPRESS, Action, ArgumentError, ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import suppress
from errno import EACCES, EDQUOT, EFBIG, EIO, ENOSPC, ENOTDIR, EPERM, EROFS
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Any, NoReturn

from hookonce import __version__
from hookonce.base.terminal_text import escape_unprintable
from hookonce.cli import BARE, COMMANDS, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, EXIT_PROBLEM, EXIT_USAGE, MODULES
from hookonce.cli.consent_table import consent_help
from hookonce.cli.help_formatter import SUMMARY_COLUMN, HelpFormatter
from hookonce.errors import HookonceError, UsageError

_ACCESS_ERRNOS = {EACCES, EPERM, EROFS, ENOTDIR}  # what others have closed for us
_DISK_ERRNOS = {EDQUOT, EFBIG, EIO, ENOSPC}  # disks that are not ours


class _CommandParser(ArgumentParser):
    """Argument parser that exits with the usage code (64) and accepts positional arguments behind options."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Everything is understood here, or nowhere: what is left belongs to the last place, or is an error."""
        options, extras = super().parse_known_args(args, namespace)
        if extras:
            self._assign_extras(options, extras)
        return options, []

    def _assign_extras(self, options: Namespace, extras: list[str]) -> None:
        last = next(reversed(self._get_positional_actions()), None)
        current = None if last is None else getattr(options, last.dest, None)
        is_full = last is None or (last.nargs not in {"*", "+"} and (last.nargs != "?" or current != last.default))
        if last is None or is_full or any(word[0:1] == "-" and word != "-" for word in extras):
            self.error(f"unrecognized arguments: {' '.join(extras)}")
        if last.nargs == "?" and extras[1:]:
            self.error(f"unrecognized arguments: {' '.join(extras[1:])}")
        try:
            values = self._get_values(last, extras)
        except ArgumentError as problem:
            self.error(str(problem))
        setattr(options, last.dest, values if last.nargs == "?" else [*(current or []), *values])

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {escape_unprintable(message)}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).writelines(message.splitlines(keepends=True))


class _VersionAction(Action):
    """`--version`: our version and the kind of client in the package."""

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        from hookonce.client.installation import client_kind

        print(f"hookonce {__version__} ({client_kind()} client)")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _repair_streams()
    if arguments[:1] and arguments[0] in BARE:
        return _run_guarded(arguments)
    from hookonce.base.terminal_text import escaping_streams

    with escaping_streams():
        return _run_guarded(arguments)


def _run_guarded(arguments: list[str]) -> int:
    """Run a command; every exception becomes an exit code and a sentence."""
    try:
        return _run_command(arguments)
    except HookonceError as problem:
        print(f"hookonce: {problem}", file=sys.stderr)
        return EXIT_USAGE if isinstance(problem, UsageError) else EXIT_PROBLEM
    except BrokenPipeError:  # the reader has seen enough, such as head -1
        _discard_output()
        return EXIT_OK
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as problem:
        return _report_exception(problem, arguments)


def _repair_streams() -> None:
    """Streams that the caller closed become empty ones, and no character is too strange to be shown."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  open for good
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Nobody reads what is still on its way out; without this the interpreter would complain at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run_command(words: list[str]) -> int:
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS and command == words[0]:
        from hookonce.inspect.query_args import unknown_name_error

        raise unknown_name_error("command", command, COMMANDS, "hookonce --help lists them")
    parser, module = build_parser(command if command in COMMANDS else None)
    options = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return EXIT_OK
    if command not in BARE:
        _refresh_client(dry_run=getattr(options, "dry_run", False), is_doctor=command == "doctor")
    code: int | None = module.run(options)  # None: nothing can go wrong in it but an exception
    sys.stdout.flush()
    return code or EXIT_OK


def _refresh_client(*, dry_run: bool, is_doctor: bool) -> None:
    """An update of ours reaches the client that agents call; whatever is wrong there is not this command's matter.

    Only of a client that somebody has changed a word is said, unless the command itself tells of it.
    """
    from hookonce.base import paths

    with suppress(Exception):
        if paths.client_path().exists():  # most of what a refresh costs is reading its code
            from hookonce.client.installation import refresh_client

            problem = refresh_client(dry_run=dry_run, is_doctor=is_doctor)
            if problem is not None and not is_doctor:
                print(f"hookonce: {problem}", file=sys.stderr)


def build_parser(command_name: str | None) -> tuple[ArgumentParser, ModuleType | None]:
    """The parser of the whole command line; only the chosen command's own options are known to it."""
    command_list = "\n".join(f"  {name:{SUMMARY_COLUMN - 2}}{text}" for name, text in COMMANDS.items())
    parser = _CommandParser(
        prog="hookonce",
        usage="hookonce [-h] [--version] COMMAND ...",
        description=f"One vocabulary for the hooks of every AI coding agent.\n\ncommands:\n{command_list}",
        epilog="Begin with: hookonce demo",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("--version", action=_VersionAction, nargs=0, help="show program's version number and exit")
    commands = parser.add_subparsers(prog="hookonce", metavar="COMMAND", help=SUPPRESS, parser_class=_CommandParser)
    module: ModuleType | None = None
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name, help=text, description=text, formatter_class=HelpFormatter, argument_default=SUPPRESS
        )
        if name == command_name:
            module = import_module(f"hookonce.cli.{MODULES[name]}")
            command.argument_default = None
            module.configure(command)
            command.epilog = consent_help(name) + (command.epilog or "")
    return parser, module


def _report_exception(problem: Exception, words: list[str]) -> int:
    if isinstance(problem, OSError) and problem.errno in _DISK_ERRNOS:
        print(f"hookonce: cannot go on: {problem.strerror}", file=sys.stderr)
        _discard_output()
        return EXIT_PROBLEM
    if isinstance(problem, OSError) and problem.errno in _ACCESS_ERRNOS and problem.filename:
        print(f"hookonce: {problem.filename} cannot be written or read: {problem.strerror}", file=sys.stderr)
        return EXIT_PROBLEM
    if type(problem).__module__ == "sqlite3":
        print(f"hookonce: the record cannot be used: {problem}. Next: hookonce doctor", file=sys.stderr)
        return EXIT_PROBLEM
    return _report_internal_error(problem, words)


def _report_internal_error(problem: BaseException, words: list[str]) -> int:
    """Our own fault: the trace goes to the log, its place to the user."""
    from hookonce.base import paths
    from hookonce.secrets.log import format_entry, format_trace

    log_file = paths.log_path()
    try:
        paths.make_private_dir(log_file.parent)
        with open(log_file, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(format_entry(f"hookonce {__version__} {' '.join(words[:1])}\n{format_trace(problem)}"))
        log_note = f"the trace is in {log_file}"
    except OSError as write_error:
        log_note = f"no log could be written: {write_error}"
    print(f"hookonce: internal error; {log_note}", file=sys.stderr)
    return EXIT_INTERNAL


if __name__ == "__main__":
    sys.exit(main())
