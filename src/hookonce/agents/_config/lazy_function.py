"""Lazy functions: those of an agent's configuration, whose module is imported when one of them is called.

Most calls ask an agent's table what a payload means and how it is answered, and never how it is configured.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_function(module: str, name: str) -> Callable[..., Any]:
    """The function of that name in a module of this package."""

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(f"hookonce.agents.{module}"), name)(*args, **options)

    return call
