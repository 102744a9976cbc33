"""Settings are read once, and a change is seen all the same."""

import os
import time

import pytest

from hookonce.base import paths, settings
from hookonce.errors import HookonceError


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The user's settings, in a home of their own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    found = paths.config_dir() / "config.toml"
    found.parent.mkdir(parents=True)
    return found


@pytest.fixture
def reads(monkeypatch):
    """Which files were read."""
    found, parsed = [], settings._parse_file
    monkeypatch.setattr(settings, "_parse_file", lambda file: found.append(file) or parsed(file))
    return found


def later(monkeypatch):
    """Let some time pass after what was written."""
    now = time.time_ns() + 10 * settings._SETTLE_NS
    monkeypatch.setattr(settings, "time_ns", lambda: now)


def test_a_file_that_lies_there_is_read_once(file, reads, monkeypatch):
    """
    However often somebody asks.
    """
    file.write_text('privacy = "full"\n')
    later(monkeypatch)

    assert ["full"] * 5 == [settings.load().privacy for _ in range(5)]
    assert [file] == reads


def test_a_change_is_seen_at_once_even_if_the_file_looks_as_before(file, monkeypatch):
    """
    With the same length, and with the time of the older one.
    """
    file.write_text('untrusted = "deny"\n')
    later(monkeypatch)
    assert "deny" == settings.load().require().untrusted
    before = file.stat()
    file.write_text('untrusted = "skip"\n')
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert "skip" == settings.load().require().untrusted


def test_what_was_written_just_now_is_not_trusted_to_stay(file, reads):
    """
    Two changes in one moment leave one stamp.
    """
    file.write_text('untrusted = "deny"\n')
    settings.load()
    settings.load()

    assert [file, file] == reads


def test_a_file_that_goes_or_breaks_counts_for_nothing(file, monkeypatch):
    """
    What it said before is forgotten.
    """
    file.write_text('privacy = "full"\n')
    later(monkeypatch)
    assert "full" == settings.load().privacy
    file.write_text("privacy = \n")
    assert "minimal" == settings.load().privacy
    with pytest.raises(HookonceError, match="cannot be read"):
        settings.load().require()
    file.unlink()
    assert "skip" == settings.load().require().untrusted


def test_a_value_that_a_setting_cannot_have_is_read_strictly(file):
    """
    Whatever was meant, it was not what counts without a word.
    """
    file.write_text('untrusted = ["deny"]\nhttp = "no"\ndurability = "ful"\nprivacy = "al"\nprivileges = 1\n')

    found = (settings.load().require().untrusted, settings.load().require().http, settings.load().durability, settings.load().privacy, settings.load().privileges)

    assert ("deny", False, "full", "minimal", "reduced") == found


def test_a_file_that_cannot_be_read_keeps_nothing_out_of_the_record(file):
    """
    It may have asked for more care.
    """
    file.write_text("durability = ")

    assert ("full", True) == (settings.load().durability, settings.load().record)
    assert "cannot be read" in settings.load().read_error
