"""Signatures of the agents, by which a payload is recognised before its agent is loaded.

They are in `signatures.json`, which `make docs` generates from the agents' tables: a call loads one agent, not all.
"""

import os

from msgspec import Struct
from msgspec.json import decode


class AgentSignature(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an agent's table says of its payloads, under the same names."""

    home: str | None = None
    signature_keys: list[frozenset[str]] = []
    permission_modes: frozenset[str] = frozenset()
    recognise_keys: list[frozenset[str]] = []


def _load() -> dict[str, AgentSignature]:
    path = os.path.join(os.path.dirname(__file__), "signatures.json")  # noqa: PTH118, PTH120  somebody waits
    with open(path, "rb") as file:  # noqa: PTH123  as above
        return decode(file.read(), type=dict[str, AgentSignature])


SIGNATURES = _load()
