"""Rows of answers against what happened in the runs that got them."""

import json

from hookonce.model import Decision, Reply
from tests.agents._reply.lab_records import record

DENY = Decision(outcome="deny", reason="not today")
NOTE = Decision(context="by the way")
STOP = Decision(proceed=False, reason="enough")
SHOW = Decision(system_message="look")
NEW = {"command": "ls"}


def own(event, **fields):
    """The part of an answer that belongs to its event."""
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def said(answer):
    """An answer as a script gave it; an object is its JSON."""
    texts = {key: value if type(value) in (str, int) else json.dumps(value) for key, value in answer.items()}
    return Reply(**texts)


def ran(client, case):
    """Whether the tool did what it was called for."""
    return bool(record(client, case)["files"])


def requests(client, case):
    """How often the model was asked."""
    found = record(client, case)
    return found.get("n_requests", found.get("nreq"))


def told(client, case, text):
    """Whether the model got a text."""
    found = record(client, case)
    return any(text in part for part in found.get("marker_seen_by_model", found.get("model_saw")))


def is_case(client, case):
    """Whether a row rests on a run; what was only read about says so."""
    return case.startswith(("documented", "part ")) or bool(record(client, case))
