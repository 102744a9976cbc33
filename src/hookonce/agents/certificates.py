"""Certificate summaries of the agents, newest version only: `certificates.json`, which `make docs` generates."""

from collections.abc import Mapping
from importlib.resources import files

from msgspec import Struct
from msgspec.json import decode


class CertificateSummary(Struct, frozen=True, kw_only=True):
    """Summary of the certificate of one agent version."""

    version: str
    date: str
    capabilities_by_event: Mapping[str, tuple[str, ...]]  # each event that fired, with what was proved there
    failed_claims: Mapping[str, str | None]  # each claim that did not hold, with the event that it is about


CERTIFICATES = decode((files("hookonce.agents") / "certificates.json").read_bytes(), type=dict[str, CertificateSummary])
