"""Manifest fields in one table, and the JSON Schema that is published from it.

One rule cannot be said in the schema: that a pattern is RE2. Everything else agrees with the validation in `load`,
which uses the same table.
"""

from typing import Literal, NamedTuple

SPEC_REGEX = r"hooks/0*[01]\.[0-9]+"
MAX_TIMEOUT_S = 10**9  # seconds: no hook takes thirty years, and every agent can count its milliseconds
STRATEGIES = ("block", "warn", "exclude")
PLATFORMS = ("windows", "linux", "osx", "darwin", "macos")
# handler type → the field that says what it does
REQUIRED_FIELDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
REQUIRED_FIELDS |= {"function": "file", "module": "file"}

JsonKind = Literal["string", "boolean", "number", "array", "object"]


class FieldSpec(NamedTuple):
    """One field of a manifest: its JSON kind and description, the kind of its entries, allowed values and keys."""

    kind: JsonKind
    description: str
    entries: JsonKind | None = None
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


HOOK_FIELDS = {
    "name": FieldSpec("string", "What the hook is called in messages; without it, by its place."),
    "blocking": FieldSpec("boolean", "Whether the hook may refuse what it sees."),
    "degradation": FieldSpec("object", "What to do where an agent lacks a capability.", "string", STRATEGIES),
    "capabilities": FieldSpec("array", "What the hook uses, for readers; nothing follows from it.", "string"),
    "provider_data": FieldSpec("object", "What only one agent understands, by the agent's name.", "object"),
    "on_failure": FieldSpec(
        "string",
        "What a failed hook means: open is no opinion, closed refuses; closed needs blocking.",
        choices=("open", "closed"),
    ),
    "may_allow": FieldSpec("boolean", "Whether the hook's allow counts, or only its refusals."),
    "dialect": FieldSpec("string", "The agent whose input and answers the hook speaks; canonical by default."),
    "files": FieldSpec("array", "Further files that the hook needs, which trust covers too.", "string"),
}

HANDLER_FIELDS = {
    "command": FieldSpec("string", "A shell command, or the path of a script."),
    "platform": FieldSpec("object", "Other commands for some operating systems.", "string", keys=PLATFORMS),
    "cwd": FieldSpec("string", "The working directory, from the project's root."),
    "env": FieldSpec("object", "Environment variables for the command.", "string"),
    "timeout": FieldSpec("number", "Seconds until the hook has failed; 0 is the default."),
    "timeout_action": FieldSpec("string", "What a blocking hook means that came too late.", choices=("warn", "block")),
    "async": FieldSpec("boolean", "Whether nobody waits for the hook."),
    "status_message": FieldSpec("string", "What is shown while the hook runs."),
    "url": FieldSpec("string", "Where the event is sent; https, or http on this machine."),
    "method": FieldSpec("string", "The method of the request; POST by default."),
    "headers": FieldSpec("object", "Further headers; $NAME and ${NAME} stand for allowed variables.", "string"),
    "allowed_env": FieldSpec("array", "The environment variables that headers may name.", "string"),
    "prompt": FieldSpec("string", "What a language model is asked."),
    "model": FieldSpec("string", "Which language model is asked."),
    "file": FieldSpec("string", "A file of Python with functions, or a module's descriptor; from where the manifest lies."),
    "name": FieldSpec("string", "Which function of the file; without it, all that are marked for the event."),
}
