"""Trust that agents demand before they run hooks: reviewed entries (Codex) and trusted folders (Gemini CLI).

Our entries are marked as reviewed only if the user says so. In a folder that Gemini CLI does not trust it runs
no hook, not even the user's own, and says little about it.
"""

from pathlib import Path

from hookonce.agents import config_of
from hookonce.edit.file import read_file
from hookonce.journeys.change import FileChange
from hookonce.journeys.doors import is_own_entry
from hookonce.journeys.install import naming_file
from hookonce.journeys.places import ConfigRoots, document_of, resolve_path
from hookonce.journeys.splice import editor_of
from hookonce.model import Agent, Object


def _review_marks(agent: Agent, path: Path, data: bytes, client: str) -> dict[str, Object]:
    review = config_of(agent).review
    if review is None:
        return {}
    return review[2](str(path), document_of(agent, path, data), lambda command: is_own_entry(command, client, agent))


def plan_review(agent: Agent, path: Path, data: bytes | None, roots: ConfigRoots, client: str) -> FileChange | None:
    """Plan the change that lets the agent run our entries in a file; None if it needs none."""
    return _plan_marks(agent, roots, _review_marks(agent, path, data or b"", client), present=True)


def plan_review_removal(agent: Agent, change: FileChange, roots: ConfigRoots, client: str) -> FileChange | None:
    """Plan the change that removes those marks again."""
    return _plan_marks(agent, roots, _review_marks(agent, change.path, change.old or b"", client), present=False)


def _plan_marks(agent: Agent, roots: ConfigRoots, marks: dict[str, Object], *, present: bool) -> FileChange | None:
    review = config_of(agent).review
    if review is None or not marks:
        return None
    name, keys, _ = review
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
                new = editor.remove_key(new, (*keys, key))
    return None if new == (old or b"") else FileChange(path=file, old=old, new=new or None, agent=agent.name)
