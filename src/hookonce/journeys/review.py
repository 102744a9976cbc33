"""Hooks that an agent runs only after its user has looked at them: our entries as reviewed, if the user says so."""

from pathlib import Path

from hookonce.agents import config_of
from hookonce.edit.file import read_file
from hookonce.journeys.change import Change
from hookonce.journeys.doors import is_ours
from hookonce.journeys.install import naming
from hookonce.journeys.places import Place, document_of, resolved
from hookonce.journeys.splice import editor_of
from hookonce.model import Agent, Object


def _marks(agent: Agent, path: Path, data: bytes, client: str) -> dict[str, Object]:
    review = config_of(agent).review
    if review is None:
        return {}
    return review[2](str(path), document_of(agent, path, data), lambda command: is_ours(command, client, agent))


def reviewed(agent: Agent, path: Path, data: bytes | None, place: Place, client: str) -> Change | None:
    """The change that lets the agent run our entries in a file; None if it needs none."""
    return _marked(agent, place, _marks(agent, path, data or b"", client), there=True)


def forgotten(agent: Agent, change: Change, place: Place, client: str) -> Change | None:
    """The change that takes those marks out again."""
    return _marked(agent, place, _marks(agent, change.path, change.old or b"", client), there=False)


def _marked(agent: Agent, place: Place, marks: dict[str, Object], *, there: bool) -> Change | None:
    review = config_of(agent).review
    if review is None or not marks:
        return None
    name, keys, _ = review
    file = resolved(place, name)
    old = read_file(file)
    new, editor = old or b"", editor_of(file)
    with naming(file):
        for key, table in marks.items():
            known = editor.value_at(new, (*keys, key))
            if there and type(known) is dict:
                for name, value in table.items():
                    new = editor.set_value(new, (*keys, key, name), value)
            elif there:
                new = editor.set_value(new, (*keys, key), table)
            elif not there and known is not None:
                new = editor.remove_key(new, (*keys, key))
    return None if new == (old or b"") else Change(path=file, old=old, new=new or None, agent=agent.name)
