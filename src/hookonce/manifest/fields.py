"""The fields of a manifest: what each may hold, in one table for the checks and for the published schema."""

from typing import Literal, NamedTuple

SPEC = r"hooks/0*[01]\.[0-9]+"
LONGEST = 10**9  # seconds: no hook takes thirty years, and every agent can count its milliseconds
STRATEGIES = ("block", "warn", "exclude")
SYSTEMS = ("windows", "linux", "osx", "darwin", "macos")
# handler type → the field that says what it does
NEEDS = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
NEEDS |= {"function": "file", "module": "file"}

Kind = Literal["string", "boolean", "number", "array", "object"]


class Field(NamedTuple):
    """One field: its kind and meaning; what its entries are, and which values and keys are allowed at all."""

    kind: Kind
    says: str
    entries: Kind | None = None
    choices: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()


HOOK = {
    "name": Field("string", "What the hook is called in messages; without it, by its place."),
    "blocking": Field("boolean", "Whether the hook may refuse what it sees."),
    "degradation": Field("object", "What to do where an agent lacks a capability.", "string", STRATEGIES),
    "capabilities": Field("array", "What the hook uses, for readers; nothing follows from it.", "string"),
    "provider_data": Field("object", "What only one agent understands, by the agent's name.", "object"),
    "on_failure": Field(
        "string",
        "What a failed hook means: open is no opinion, closed refuses; closed needs blocking.",
        choices=("open", "closed"),
    ),
    "may_allow": Field("boolean", "Whether the hook's allow counts, or only its refusals."),
    "dialect": Field("string", "The agent whose input and answers the hook speaks; canonical by default."),
    "files": Field("array", "Further files that the hook needs, which trust covers too.", "string"),
}

HANDLER = {
    "command": Field("string", "A shell command, or the path of a script."),
    "platform": Field("object", "Other commands for some operating systems.", "string", keys=SYSTEMS),
    "cwd": Field("string", "The working directory, from the project's root."),
    "env": Field("object", "Environment variables for the command.", "string"),
    "timeout": Field("number", "Seconds until the hook has failed; 0 is the default."),
    "timeout_action": Field("string", "What a blocking hook means that came too late.", choices=("warn", "block")),
    "async": Field("boolean", "Whether nobody waits for the hook."),
    "status_message": Field("string", "What is shown while the hook runs."),
    "url": Field("string", "Where the event is sent; https, or http on this machine."),
    "method": Field("string", "The method of the request; POST by default."),
    "headers": Field("object", "Further headers; $NAME and ${NAME} stand for allowed variables.", "string"),
    "allowed_env": Field("array", "The environment variables that headers may name.", "string"),
    "prompt": Field("string", "What a language model is asked."),
    "model": Field("string", "Which language model is asked."),
    "file": Field("string", "A file of Python with functions, or a module's descriptor; from where the manifest lies."),
    "name": Field("string", "Which function of the file; without it, all that are marked for the event."),
}
