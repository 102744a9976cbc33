"""Certificates in a folder."""

import pytest
from certificate_powers import load_certificates, newest_by_agent, version_key
from msgspec.json import encode
from msgspec.structs import replace

from tests.lab.prove.sample_certificates import certificate

VERSIONS = ["0.9.12", "2.1.9", "2.1.197", "2.1.325-beta.2", "2.1.325", "10.0.0"]


def test_versions_are_ordered_by_their_numbers():
    """
    197 comes after 9, and what comes before a release is older than it.
    """
    mixed = VERSIONS[3:] + VERSIONS[:3]

    assert VERSIONS == sorted(mixed, key=version_key)


@pytest.mark.parametrize("found", [VERSIONS, VERSIONS[::-1]])
def test_the_newest_version_counts_whenever_it_was_tried(found):
    """
    A certificate of an older version that was made later does not take its place.
    """
    made = [replace(certificate("codex", version), date=f"2026-01-{30 - len(version)}") for version in found]

    assert {"codex": "10.0.0"} == {name: one.version for name, one in newest_by_agent(made).items()}


def test_certificates_are_read_agent_by_agent_and_the_newest_first(tmp_path):
    """
    Older versions stand beside the newest.
    """
    made = [certificate("codex", "1.0.0"), *(certificate("claude-code", version) for version in VERSIONS)]
    for one in made:
        (tmp_path / f"{one.agent}-{one.version}.json").write_bytes(encode(one))

    assert [*reversed(made[1:]), made[0]] == load_certificates(tmp_path)
    assert [] == load_certificates(tmp_path / "nothing")
