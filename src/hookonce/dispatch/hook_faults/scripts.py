"""Faults of scripts, found by reading them: mode, first line, syntax, and words of another dialect."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hookonce import agents
from hookonce.base.files import read_regular_file
from hookonce.base.invocation import CANONICAL_DIALECT
from hookonce.base.regex import lazy_pattern
from hookonce.dispatch.hook_faults.dialect_words import EXIT_2, find_dialect_word, has_wrong_answer
from hookonce.dispatch.hook_faults.handlers import FIRST_LINES, interpreter_argument, parse_python, program_word
from hookonce.dispatch.hook_faults.manifest_words import hooks_of
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.errors import HookonceError
from hookonce.handlers.environment import find_program
from hookonce.model import Hook, Problem

_MAX_SCRIPT_BYTES = 1 << 20  # of a script that is read; longer ones are programs
_COMMENT_LINE = lazy_pattern(r"^[ \t]*(?:#|//).*$", re.MULTILINE)


class Script(NamedTuple):
    """The file that a command runs, with its text; None for a program that is no text."""

    path: Path
    text: str | None
    has_interpreter: bool  # whether the command itself names what runs it


def find_script(command: str, folder: Path | None) -> Script | None:
    """The script of a command, if it names one that is there; relative ones are looked for from the folder."""
    interpreted_word = interpreter_argument(command)
    word = program_word(command) if interpreted_word is None else interpreted_word
    if not word or (not word.startswith("/") and (folder is None or interpreted_word is None)):
        return None
    path = Path(folder or "", word)
    try:
        data = read_regular_file(path, _MAX_SCRIPT_BYTES)
    except (OSError, ValueError):
        return None
    return Script(path, None if b"\0" in data else data.decode(errors="replace"), interpreted_word is not None)


def inline_code_problems(document: Any) -> Iterator[Problem]:
    """Blocking hooks whose command is no script, by its first word or behind an interpreter, with their paths."""
    for index, hook in enumerate(hooks_of(document)):
        handler = hook.get("handler") if type(hook) is dict and hook.get("blocking") is True else None
        command = handler.get("command") if type(handler) is dict else None
        if type(command) is str and not {"/", "\\"} & {*command.split(" ", 1)[0]} and not interpreter_argument(command):
            reason = "a blocking hook should be a script file, which can be reviewed and hashed"
            yield f"$.hooks[{index}].handler.command", reason


def script_faults(hook: Hook, command: str, folder: Path | None) -> Iterator[HookFault]:
    """What is wrong with a hook's script, and with what it and its command say."""
    script = find_script(command, folder)
    if script is not None and script.text is not None:
        yield from _content_faults(script, script.text)
    text = _COMMENT_LINE.sub("", f"{command}\n{(script.text if script else None) or ''}")
    is_canonical, subject = hook.dialect in {None, CANONICAL_DIALECT}, script.path.name if script else "its command"
    if is_canonical and has_wrong_answer(text):
        yield make_fault("answer", subject)
    if is_canonical and (word := find_dialect_word(text)) is not None:
        title = agents.load(word.dialect).title
        others = ", or that of the agent that it was written for" if word.is_shared else ""
        yield make_fault("dialect", subject, word.text, title, word.dialect, others)
    if not hook.blocking and (ending := EXIT_2.search(text)) is not None:
        yield make_fault("blocking", f"{ending[0]} in {script.path.name}" if script else ending[0])


def _content_faults(script: Script, text: str) -> Iterator[HookFault]:
    first_line, name = text.partition("\n")[0], script.path
    if not _COMMENT_LINE.sub("", text).strip():
        yield make_fault("empty", name)
        return
    interpreter = _interpreter_of(first_line)
    if script.has_interpreter:
        pass
    elif first_line.startswith("#!") and first_line.endswith("\r"):
        yield make_fault("line_ends", name)
    elif interpreter is not None and not _is_there(interpreter):
        yield make_fault("interpreter", f"the first line of {name} names {interpreter}, which does not exist")
    elif interpreter is None and (line := FIRST_LINES.get(name.suffix)) is not None:
        yield make_fault("interpreter", f"{name} does not begin with {line}, so sh runs it")
    if "python" in (interpreter or "") or name.suffix == ".py":
        try:
            parse_python(name)
        except HookonceError as problem:
            yield make_fault("syntax", problem)


def _interpreter_of(first_line: str) -> str | None:
    """The program that a first line names, the one behind `env` if it is that; None without such a line."""
    words = first_line[2:].split() if first_line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":  # noqa: PTH119
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else None


def _is_there(program: str) -> bool:
    return os.access(program, os.X_OK) if "/" in program else find_program(program) is not None
