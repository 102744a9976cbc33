"""Trust that agents demand before they run hooks: reviewed entries (Codex) and trusted folders (Gemini CLI)."""

import os
from pathlib import Path
from typing import Any

from hookonce.base.files import FileEditError, read_file, read_regular_file
from hookonce.base.invocation import is_own_entry
from hookonce.configure.changes import FileChange
from hookonce.configure.edit import jsonc
from hookonce.configure.edit.key_path import value_at_path
from hookonce.configure.install import naming_file
from hookonce.configure.locations import ConfigRoots, document_of, resolve_path
from hookonce.configure.merge import editor_of
from hookonce.model import Agent


def plan_review(
    agent: Agent, path: Path, data: bytes | None, roots: ConfigRoots, client: str, *, present: bool = True
) -> FileChange | None:
    """Plan the change that lets the agent run our entries in a file, or takes that back; None if it needs none."""
    review = agent.config.review
    if review is None:
        return None
    name, keys, build_marks = review
    document = document_of(agent, path, data or b"")
    marks = build_marks(str(path), document, lambda text: is_own_entry(text, client, agent.name))
    if not marks:
        return None
    file = resolve_path(roots, name)
    old = read_file(file)
    new, editor = old or b"", editor_of(file)
    with naming_file(file):
        for key, table in marks.items():
            current = editor.value_at(new, (*keys, key))
            if present and type(current) is dict:
                for name, value in table.items():
                    new = editor.set_value(new, (*keys, key, name), value)
            elif present:
                new = editor.set_value(new, (*keys, key), table)
            elif not present and current is not None:
                new = editor.remove_path(new, (*keys, key))
    return None if new == (old or b"") else FileChange(path=file, old=old, new=new or None, agent=agent.name)


_GEMINI = "gemini-cli"
_GEMINI_SETTINGS = ("/etc/gemini-cli/settings.json", "~/.gemini/settings.json")  # the first that says something counts
_FOLDER_TRUST_KEYS = ("security", "folderTrust", "enabled")
_TRUST_RULES_FILE = "~/.gemini/trustedFolders.json"
_TRUST_VARIABLE = "GEMINI_CLI_TRUST_WORKSPACE"


def distrust_reason(agent: Agent, roots: ConfigRoots) -> str | None:
    """Why the agent drops all hooks in this project, if it does; an IDE that says otherwise is not heard here."""
    if agent.name != _GEMINI or os.environ.get(_TRUST_VARIABLE) == "true":
        return None
    values = (value_at_path(_read_jsonc(resolve_path(roots, name)), _FOLDER_TRUST_KEYS) for name in _GEMINI_SETTINGS)
    if next((value for value in values if type(value) is bool), True) is False:  # on unless a setting says otherwise
        return None
    project = roots.project.resolve()
    rule = _innermost_rule(project, _read_jsonc(resolve_path(roots, _TRUST_RULES_FILE)))
    if rule is not None and rule[1] != "DO_NOT_TRUST":
        return None
    sentence = f"{agent.title} runs no hook in {project}, not even your own"
    if rule is not None:
        return f"{sentence}: {rule[0]} is marked as not trusted; /permissions there changes that"
    return f"{sentence}, until you trust the folder: start it there and confirm"


def _innermost_rule(project: Path, rules: Any) -> tuple[Path, str] | None:
    around: list[tuple[Path, str]] = []
    for name, level in rules.items() if type(rules) is dict else ():
        real = Path(name).resolve()
        folder = real.parent if level == "TRUST_PARENT" else real
        around += [(folder, str(level))] if project.is_relative_to(folder) else []
    return max(around, key=lambda rule: len(rule[0].parts), default=None)


def _read_jsonc(path: Path) -> Any:
    try:
        return jsonc.value_at(read_regular_file(path), ())
    except (OSError, FileEditError):
        return None
