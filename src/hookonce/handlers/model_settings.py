"""Settings of language models that hooks of type prompt and agent ask: a command, or a server with OpenAI's API."""

import re

from msgspec import Struct

from hookonce.base import settings
from hookonce.errors import HookonceError

_MODEL_NAME = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,199}", re.ASCII)
_VARIABLE_NAME = re.compile(r"[A-Za-z_]\w{0,199}", re.ASCII)
SETUP_HINT = 'config.toml needs [models] with command = "…", or with endpoint = "https://…" and model = "…"'


class ModelSettings(Struct, frozen=True, kw_only=True):
    """The `[models]` table of the settings."""

    command: str | None = None
    agent: str | None = None
    endpoint: str | None = None
    model: str | None = None
    key_env: str | None = None


def load_model_settings() -> ModelSettings:
    """The user's choice, else the system's; a HookonceError that says what is missing or wrong."""
    current = settings.load().require()
    if "models" in current.invalid:
        raise HookonceError("the setting models is a table of texts")
    table = current.models or {}
    if unknown := sorted(table.keys() - {*ModelSettings.__struct_fields__}):
        raise HookonceError(f"there is no setting models.{unknown[0]}")
    choice = ModelSettings(**table)
    if choice.command and choice.endpoint:
        raise HookonceError("the setting models has a command and an endpoint, of which only one can be asked")
    if not (choice.command or choice.endpoint or choice.agent):
        raise HookonceError(f"no language model is configured: {SETUP_HINT}")
    if choice.key_env and not _VARIABLE_NAME.fullmatch(choice.key_env):
        raise HookonceError("the setting models.key_env is the name of an environment variable")
    return choice


def select_model(requested_model: str | None, model_settings: ModelSettings) -> str | None:
    """The model that a hook names, else the configured one; a name that no model has is refused."""
    name = requested_model or model_settings.model
    if name is not None and not _MODEL_NAME.fullmatch(name):
        raise HookonceError(f"{name!r} is no name of a model")
    return name
