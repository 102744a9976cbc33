"""Which language model is asked where a hook wants one: a command of the user's, or a server that speaks OpenAI's API.

    [models]
    command = "llm --model {model}"          # reads the question on stdin, writes the answer
    agent = "claude -p --allowedTools Read"  # the same for hooks of type agent, which may look around
    model = "gpt-4.1-mini"                   # for hooks that name none

or, instead of the command:

    endpoint = "https://api.openai.com/v1"
    key_env = "OPENAI_API_KEY"               # the environment variable with the key, where the agent was started
"""

import re

from msgspec import Struct

from hookonce.config import settings
from hookonce.errors import HookonceError

_NAME = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,199}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
HOW = 'config.toml needs [models] with command = "…", or with endpoint = "https://…" and model = "…"'


class Models(Struct, frozen=True, kw_only=True):
    """How models are asked here."""

    command: str | None = None
    agent: str | None = None
    endpoint: str | None = None
    model: str | None = None
    key_env: str | None = None


def models() -> Models:
    """The user's choice, else the system's; a HookonceError that says what is missing or wrong."""
    told = settings.setting("models")
    if told is None:
        raise HookonceError(f"no language model is configured: {HOW}")
    if type(told) is not dict or not all(type(value) is str and value for value in told.values()):
        raise HookonceError("the setting models is a table of texts")
    if unknown := sorted(told.keys() - {*Models.__struct_fields__}):
        raise HookonceError(f"there is no setting models.{unknown[0]}")
    found = Models(**told)
    if found.command and found.endpoint:
        raise HookonceError("the setting models has a command and an endpoint, of which only one can be asked")
    if not (found.command or found.endpoint or found.agent):
        raise HookonceError(f"no language model is configured: {HOW}")
    if found.key_env and not _VARIABLE.fullmatch(found.key_env):
        raise HookonceError("the setting models.key_env is the name of an environment variable")
    return found


def chosen(wanted: str | None, known: Models) -> str | None:
    """The model that a hook names, else the configured one; a name that no model has is refused."""
    name = wanted or known.model
    if name is not None and not _NAME.fullmatch(name):
        raise HookonceError(f"{name!r} is no name of a model")
    return name
