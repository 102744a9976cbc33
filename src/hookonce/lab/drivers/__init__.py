"""The agents that the lab can run, one file each. This map is the only list of them."""

from functools import cache
from importlib import import_module

from hookonce.canon.names import AGENT_ALIASES
from hookonce.errors import UnknownName
from hookonce.lab.driver import Driver

DRIVER_MODULES: dict[str, str] = {
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
def load_driver(name: str) -> Driver:
    """Load the driver of an agent; its module is imported on the first call."""
    module = DRIVER_MODULES.get(AGENT_ALIASES.get(name, name))
    if module is None:
        raise UnknownName(f"the lab cannot run {name!r}; it can run {', '.join(DRIVER_MODULES)}")
    driver: Driver = import_module(f"hookonce.lab.drivers.{module}").DRIVER
    return driver
