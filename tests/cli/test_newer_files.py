"""A downgrade: files of ours that a newer hookonce has written are refused in one sentence, and stay as they are."""

import json

import pytest

from hookonce.base import paths
from hookonce.configure import journal
from hookonce.errors import HookonceError
from hookonce.store.integrity import trusted_keys
from hookonce.trust import consent, pin_store
from tests.cli.command import run

SENTENCE = "{} was written by a newer hookonce and is left as it is; upgrade hookonce to use it"
PIN = {"manifest": "0" * 64, "folder": "/p"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    paths.make_private_dir(paths.data_dir())
    return tmp_path


def add_pin():
    pin_store.add_pins(paths.home(), [pin_store.Pin(manifest="1" * 64)])


def record_change():
    journal.record_change(paths.home() / "x", None, b"", None)


def add_key():
    trusted_keys.add_trusted_key(trusted_keys.TrustedKey(name="b", key="k2", fingerprint="f", since="now"))


ENTRY = {"after": "0" * 64}
KEY = {"name": "a", "key": "k", "fingerprint": "f", "since": "then"}
VOUCH = {"entry": "e", "files": {}}
# Each file, what is written by whoever knows as much as we do, what a newer one adds or makes of it, and who rewrites it.
FILES = {
    "trust.json": (lambda more: {"/p/.git": [PIN | more]}, {"until": 1}, add_pin),
    "trust.json, a hook in it": (
        lambda more: {"/p/.git": [PIN | {"closed_hooks": [{"event": "before_tool_execute"} | more]}]},
        {"unless": []},
        add_pin,
    ),
    "installed.json": (lambda more: {"/x": ENTRY | more}, {"mode": 384}, record_change),
    "installed.json, to leave": (lambda more: {"/x": ENTRY | more}, {"mode": 384}, lambda: journal.drop_entry(paths.home() / "x")),
    "installed.json, to restore": (
        lambda more: {"/x": ENTRY | more},
        {"mode": 384},
        lambda: journal.original_bytes(paths.home() / "x", b""),
    ),
    "trusted-keys.json": (lambda more: [KEY | more], {"until": "then"}, add_key),
    "vouched.json": (lambda more: {"m": VOUCH | more}, {"by": "me"}, lambda: consent.vouch([])),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_newer_version_is_left_alone(name):
    build, more, rewrite = FILES[name]
    file = paths.data_dir() / name.partition(",")[0]
    for document in (build(more), {"version": 2, "entries": build({})}):
        file.write_text(json.dumps(document))
        with pytest.raises(HookonceError) as problem:
            rewrite()

        assert SENTENCE.format(file) in str(problem.value)
        assert document == json.loads(file.read_text())


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_this_version_is_rewritten(name):
    """
    With what was in it.
    """
    build, _, rewrite = FILES[name]
    file = paths.data_dir() / name.partition(",")[0]
    file.write_text(json.dumps(build({})))
    rewrite()

    text = file.read_text()
    assert ('"a"' if name == "trusted-keys.json" else next(iter(build({})))) in text


def test_whoever_asks_is_told(home):
    """
    Doctor, which changes nothing, names each; settings of a newer version are named as they were before.
    """
    for name, (build, more, _) in FILES.items():
        (paths.data_dir() / name.partition(",")[0]).write_text(json.dumps(build(more)))
    (home / ".config/hookonce").mkdir(parents=True)
    (home / ".config/hookonce/config.toml").write_text('zeal = "high"\n')
    ran = run("doctor", "--json", HOME=str(home))
    text = ran.out + ran.err

    assert all(SENTENCE.format(paths.data_dir() / name) in text for name in ("trust.json", "installed.json", "trusted-keys.json", "vouched.json"))
    (setting,) = [finding["message"] for finding in ran.documents()[0]["findings"] if "zeal" in finding["message"]]
    assert "newer" in setting
    assert 'zeal = "high"\n' == (home / ".config/hookonce/config.toml").read_text()
