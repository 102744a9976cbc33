"""The client of this installation, and of which kind it is."""

import pytest

from hookonce.client import installation


@pytest.mark.parametrize(
    ("begin", "told"),
    [
        (b"\x7fELF\x02", "native"),
        (b"\xcf\xfa\xed\xfe\x07", "native"),
        (b"\xca\xfe\xba\xbe\x00", "native"),
        (b"#!/bin/sh\n", "python"),
        (b"", "python"),
    ],
)
def test_a_program_for_a_machine_is_a_native_client(monkeypatch, begin, told):
    """
    On Linux and macOS; everything else is a script.
    """
    monkeypatch.setattr(installation, "_packaged_client", lambda: begin)

    assert told == installation.client_kind()
