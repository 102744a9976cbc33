"""Certificates that are kept in a folder, one file for each agent and version."""

import re
from pathlib import Path

from msgspec.json import decode

from hookonce.lab import drivers
from hookonce.lab.certificate import Certificate


def load_certificates(folder: Path) -> list[Certificate]:
    """Load all certificates of a folder, agent by agent, the newest version first."""
    certificates = [decode(file.read_bytes(), type=Certificate) for file in folder.glob("*.json")]
    agent_order = list(drivers.DRIVER_MODULES)
    newest_first = sorted(certificates, key=lambda certificate: version_key(certificate.version), reverse=True)
    return sorted(newest_first, key=lambda certificate: agent_order.index(certificate.agent))


def newest_by_agent(certificates: list[Certificate]) -> dict[str, Certificate]:
    """The certificate of each agent's newest version."""
    newest_certificates: dict[str, Certificate] = {}
    for certificate in certificates:
        current = newest_certificates.get(certificate.agent)
        if current is None or version_key(current.version) < version_key(certificate.version):
            newest_certificates[certificate.agent] = certificate
    return newest_certificates


def version_key(version: str) -> tuple[tuple[int, ...], bool]:
    """Sort key of a version: number by number, prereleases before their release."""
    release, prerelease, _ = version.partition("-")
    return tuple(map(int, re.findall(r"\d+", release))), not prerelease
