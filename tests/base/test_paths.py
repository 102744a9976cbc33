"""The folder that somebody names may not be there, or be none at all."""

import subprocess
import sys

import pytest

from hookonce.base.paths import MAX_PATH_CHARS, nearest_folder
from hookonce.dispatch.derived_hooks import select_derived_hooks
from hookonce.dispatch.select import Selection
from tests.store.rows import stored


@pytest.mark.parametrize("rest", ["", "/gone/further", "/\0x", "/" + "x" * MAX_PATH_CHARS, "/\udcff"])
def test_the_nearest_folder_is_the_first_above_it_that_can_be_entered(tmp_path, rest):
    assert str(tmp_path) == nearest_folder(f"{tmp_path}{rest}")


@pytest.mark.parametrize("name", ["", "relative", "\0", "C:\\x"])
def test_what_names_no_folder_is_the_root(name):
    assert "/" == nearest_folder(name)


@pytest.mark.parametrize("rest", ["/gone", "/\0x", "/" + "x" * 9000])
def test_hooks_of_derived_events_are_found_for_every_folder(tmp_path, monkeypatch, rest):
    monkeypatch.setenv("HOME", str(tmp_path))
    event = stored(type="session_end", cwd=f"{tmp_path}{rest}").event
    assert isinstance(select_derived_hooks(event), Selection)


def test_taking_events_in_loads_nothing_of_signatures():
    code = "import sys, hookonce.dispatch.intake; print([one for one in sys.modules if one.endswith(('.signature', '.trusted_keys')) or one.startswith('cryptography')])"
    assert "[]" == subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60).stdout.strip()
