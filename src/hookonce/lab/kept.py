"""Certificates that are kept in a folder, one file for each agent and version."""

import re
from pathlib import Path

from msgspec.json import decode

from hookonce.lab import drivers
from hookonce.lab.certificate import Certificate


def kept(folder: Path) -> list[Certificate]:
    """All of them, agent by agent, the newest version of each first."""
    found = [decode(file.read_bytes(), type=Certificate) for file in folder.glob("*.json")]
    order = list(drivers.DRIVERS)
    newest_first = sorted(found, key=lambda one: order_of(one.version), reverse=True)
    return sorted(newest_first, key=lambda one: order.index(one.agent))


def newest(certificates: list[Certificate]) -> dict[str, Certificate]:
    """The certificate of each agent's newest version, whenever it was made."""
    found: dict[str, Certificate] = {}
    for one in certificates:
        known = found.get(one.agent)
        if known is None or order_of(known.version) < order_of(one.version):
            found[one.agent] = one
    return found


def order_of(version: str) -> tuple[tuple[int, ...], bool]:
    """By this versions are ordered: number by number, and what comes before a release before it."""
    release, before, _ = version.partition("-")
    return tuple(map(int, re.findall(r"\d+", release))), not before
