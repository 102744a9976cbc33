"""The agents that the lab can run, one file each. This map is the only list of them."""

from functools import cache
from importlib import import_module

from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import UnknownName
from hookonce.lab.driver import Driver

DRIVERS: dict[str, str] = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "copilot-cli": "copilot_cli",
    "opencode": "opencode",
    "qwen-code": "qwen_code",
    "factory-droid": "factory_droid",
    "cline": "cline",
}


@cache
def load(name: str) -> Driver:
    """The driver of that agent; its file is read on the first call."""
    module = DRIVERS.get(AGENT_ALIASES.get(name, name))
    if module is None:
        raise UnknownName(f"the lab cannot run {name!r}; it can run {', '.join(DRIVERS)}")
    driver: Driver = import_module(f"hookonce.lab.drivers.{module}").DRIVER
    return driver
