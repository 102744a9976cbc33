"""Trusted keys: none is lost when two are added at once, and a file that has not changed is read once."""

from threading import Thread

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from hookonce.errors import HookonceError
from hookonce.store.integrity import keys, trusted_keys
from hookonce.store.integrity.trusted_keys import (
    add_trusted_key,
    build_trusted_key,
    find_name,
    load_trusted_keys,
    remove_trusted_key,
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))


def built(name):
    key = Ed25519PrivateKey.generate().public_key()
    return key, build_trusted_key(name, keys.public_key_text(key))


@pytest.mark.parametrize("what", ["add", "remove"])
def test_two_changes_at_once_are_both_kept(what, monkeypatch):
    """
    The second begins when the first has read the file and has not written it.
    """
    add_trusted_key(built("old")[1])
    first, second, write, others = built("first")[1], built("second")[1], trusted_keys.replace_file, []

    def write_late(*words, **more):
        monkeypatch.setattr(trusted_keys, "replace_file", write)
        others.append(Thread(target=add_trusted_key, args=(second,)))
        others[0].start()
        others[0].join(0.2)
        write(*words, **more)

    monkeypatch.setattr(trusted_keys, "replace_file", write_late)
    if what == "add":
        add_trusted_key(first)
    else:
        remove_trusted_key("old")
    others[0].join(10)
    expected = {"old", "first", "second"} if what == "add" else {"second"}
    assert expected == {key.name for key in load_trusted_keys()}


def test_a_name_that_was_given_meanwhile_is_not_given_twice():
    (_, one), (_, other) = built("friend"), built("friend")
    add_trusted_key(one)
    with pytest.raises(HookonceError, match="there is a key friend already"):
        add_trusted_key(other)
    assert [one] == load_trusted_keys()


def test_the_file_is_read_when_it_has_changed(monkeypatch):
    key, one = built("friend")
    other_key, other = built("other")
    add_trusted_key(one)
    reads, decode = [], trusted_keys.decode_own_file
    monkeypatch.setattr(trusted_keys, "decode_own_file", lambda *words: reads.append(words) or decode(*words))

    assert ["friend"] * 50 == [find_name(key) for _ in range(50)]
    assert len(reads) <= 1
    load_trusted_keys().clear()
    add_trusted_key(other)
    assert ("friend", "other") == (find_name(key), find_name(other_key))
    remove_trusted_key("friend")
    assert (None, "other") == (find_name(key), find_name(other_key))
