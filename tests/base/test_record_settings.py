"""The settings of the record: the stricter word counts for privacy, the user's for everything else."""

import pytest

from hookonce.base import paths, settings


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
    assert ("minimal", "normal", None, None, False) == (
        settings.privacy_level(),
        settings.durability(),
        settings.keep_days(),
        settings.keep_megabytes(),
        settings.agent_hooks_log(),
    )


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
    assert wanted == settings.privacy_level()


@pytest.mark.parametrize("text", ["privacy = ", "privacy = 5", "privacy = ['full']"])
def test_what_cannot_be_understood_is_taken_as_strictly_as_it_could_be_meant(text):
    said(text)
    assert "minimal" == settings.privacy_level()


def test_the_rest_is_the_user_s_before_the_system_s():
    said("durability = 'full'\nkeep_days = 7", "durability = 'normal'\nkeep_days = 30\nkeep_megabytes = 500")
    assert ("full", 7, 500) == (settings.durability(), settings.keep_days(), settings.keep_megabytes())


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
    assert wanted is settings.records()
