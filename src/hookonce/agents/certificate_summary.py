"""Certificate summary: what the newest certificate proved of an agent. `certificates` is the table of them."""

from collections.abc import Mapping

from msgspec import Struct


class CertificateSummary(Struct, frozen=True, kw_only=True):
    """Summary of the certificate of one agent version.

    `capabilities_by_event`: each event that fired, with the capabilities that were proved there;
    `failed_claims`: each claim that did not hold, with the event that it is about, or None.
    """

    version: str
    date: str
    capabilities_by_event: Mapping[str, tuple[str, ...]]
    failed_claims: Mapping[str, str | None]
