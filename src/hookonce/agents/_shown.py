"""What a certificate has shown of an agent, event by event; `proven` is the table of it."""

from collections.abc import Mapping

from msgspec import Struct


class Shown(Struct, frozen=True, kw_only=True):
    """One agent in one version, and when that was.

    `held` has each event that came, with the powers that an answer was seen to have there; `contradicted` each claim
    that did not hold, with the event that it is about, or none.
    """

    version: str
    date: str
    held: Mapping[str, tuple[str, ...]]
    contradicted: Mapping[str, str | None]
