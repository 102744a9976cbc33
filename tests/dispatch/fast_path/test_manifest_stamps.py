"""What was looked up before counts only while the files lie there unchanged."""

import os
from time import time_ns

import pytest

from hookonce.base import paths, settings
from hookonce.dispatch.fast_path import manifest_stamps
from hookonce.dispatch.fast_path.manifest_stamps import load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A home whose files are old, but for those of this moment."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(settings, "SYSTEM", tmp_path / "etc")
    monkeypatch.setattr(manifest_stamps, "time_ns", lambda: time_ns() + 10**10)
    monkeypatch.setattr(manifest_stamps, "_settings_cache", [])
    monkeypatch.setattr(manifest_stamps, "_existing_cache", {})
    paths.config_dir().mkdir(parents=True)
    return paths.config_dir()


def user():
    """Whom the settings name now, as a call finds them."""
    return load_settings(manifest_stamps.manifest_stamps(None)).user


def test_settings_are_read_once(monkeypatch):
    """
    While no file has changed.
    """
    loads = []
    load = settings.load
    monkeypatch.setattr(settings, "load", lambda: loads.append(1) or load())

    assert [None] * 3 == [user() for _ in range(3)]
    assert [1] == loads


def test_every_change_of_the_settings_is_seen(folder, tmp_path):
    """
    A new file, other content of the same size, another file in its place, one of the system, and none any more.
    """
    seen = [user()]
    file = folder / "config.toml"
    for name in ("ada", "bob"):
        file.write_text(f'user = "{name}"\n')
        os.utime(file, ns=(time_ns(), time_ns()))
        seen.append(user())
    (folder / "new").write_text('user = "eve"\n')
    (folder / "new").replace(file)
    seen.append(user())
    file.unlink()
    (tmp_path / "etc").mkdir()
    seen.append(user())
    (tmp_path / "etc" / "config.toml").write_text('user = "sys"\n')
    seen.append(user())

    assert [None, "ada", "bob", "eve", None, "sys"] == seen


def test_settings_that_cannot_be_read_are_tried_again(folder, monkeypatch):
    """
    What kept them from being read need not be in the file.
    """
    (folder / "config.toml").write_text('user = "ada"\n')
    with monkeypatch.context() as patch:
        patch.setattr(settings, "read_file", lambda _: (_ for _ in ()).throw(settings.HookonceError("no memory")))
        assert None is user()

    assert "ada" == user()


def test_files_of_this_moment_are_looked_at_again(folder, monkeypatch):
    """
    On a disk that counts seconds they may change once more without their times telling.
    """
    monkeypatch.setattr(manifest_stamps, "time_ns", time_ns)
    (folder / "config.toml").write_text('user = "ada"\n')

    assert "ada" == user()
    assert [] == manifest_stamps._settings_cache
    assert str(folder) not in manifest_stamps._existing_cache


def test_a_folder_that_was_there_and_is_gone_is_none(folder):
    """
    As is one that has become a link to nothing, which is something.
    """
    (folder / "hooks.json").write_text("{}")
    full = manifest_stamps.manifest_stamps(None)
    again = manifest_stamps.manifest_stamps(None)
    (folder / "hooks.json").unlink()
    folder.rmdir()
    gone = manifest_stamps.manifest_stamps(None)
    folder.symlink_to("nowhere")
    dangling = manifest_stamps.manifest_stamps(None)

    assert full == again
    assert [None] * 4 == gone
    assert dangling[0] not in (None, full[0])
