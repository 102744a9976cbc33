"""The settings of the record: the stricter word counts for privacy, the user's for everything else."""

import pytest

from hookonce.base import paths, settings
from hookonce.errors import HookonceError


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home and a system of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    return tmp_path


def said(user=None, system=None):
    for folder, text in ((paths.config_dir(), user), (settings.SYSTEM, system)):
        folder.mkdir(parents=True, exist_ok=True)
        if text is not None:
            (folder / "config.toml").write_text(text)


def test_by_default_little_is_kept_for_ever_and_survives_a_crash():
    current = settings.load()
    kept = current.privacy, current.durability, current.keep_days, current.keep_megabytes, current.agent_hooks_log
    assert ("minimal", "normal", None, None, False) == kept


@pytest.mark.parametrize(
    ("user", "system", "wanted"),
    [
        ("standard", None, "standard"),
        ("full", None, "full"),
        (None, "full", "full"),
        ("full", "standard", "standard"),
        ("standard", "full", "standard"),
        ("full", "minimal", "minimal"),
        ("everything", "full", "minimal"),
    ],
)
def test_of_two_words_on_privacy_the_stricter_counts(user, system, wanted):
    said(*(None if word is None else f"privacy = '{word}'" for word in (user, system)))
    assert wanted == settings.load().privacy


@pytest.mark.parametrize("text", ["privacy = ", "privacy = 5", "privacy = ['full']"])
def test_what_cannot_be_understood_is_taken_as_strictly_as_it_could_be_meant(text):
    said(text)
    assert "minimal" == settings.load().privacy


def test_the_rest_is_the_user_s_before_the_system_s():
    said("durability = 'full'\nkeep_days = 7", "durability = 'normal'\nkeep_days = 30\nkeep_megabytes = 500")
    current = settings.load()
    assert ("full", 7, 500) == (current.durability, current.keep_days, current.keep_megabytes)


@pytest.mark.parametrize(
    ("user", "system", "wanted"),
    [
        (None, None, True),
        ("record = false", None, False),
        (None, "record = false", False),
        ("record = false", "record = true", True),
        ("record = true", "record = false", False),
        ("record = 'no'", None, True),
        ("record = ", None, True),
    ],
)
def test_a_user_may_want_no_record_unless_the_machine_does(user, system, wanted):
    said(user, system)
    assert wanted is settings.load().record


def test_a_limit_that_is_no_number_is_refused_where_it_is_asked_for():
    """
    Everything else counts all the same.
    """
    said("keep_days = 'many'\nprivacy = 'full'")
    assert ("full", None) == (settings.load().privacy, settings.load().require().keep_days)
    with pytest.raises(HookonceError, match="the setting keep_days has to be a whole number above 0, and is 'many'"):
        settings.load().require("keep_days")
