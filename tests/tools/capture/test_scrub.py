"""Scrubbing: what may not be told is gone, everything else is as it was, and what cannot be helped is named."""

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrub import MachineOwner, Scrubber, find_owner
from shape import shape_of

from hookonce.secrets.detect import is_mask
from tests.tools.capture.sample_captures import ALICE, LAB, PLACES

SCRUB = Scrubber(PLACES, ALICE)
FOLDERS = (LAB, f"{LAB}/home", f"{LAB}/project")
SPELLINGS = (
    lambda path: path,
    lambda path: path.lstrip("/"),
    lambda path: path.replace("/", "-"),
    lambda path: quote(path, safe=""),
)

plain = st.text(st.characters(codec="utf-8", exclude_characters="/"), max_size=12)
folders = st.builds(lambda path, spell: spell(path), st.sampled_from(FOLDERS), st.sampled_from(SPELLINGS))
names = st.sampled_from(["alice", "workshop", "127.0.0.1:4711", "no-key", "AKIA0123456789ABCDEF"])
texts = st.lists(plain | folders | names, max_size=5).map(" ".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(plain, inner, max_size=3),
    max_leaves=10,
)
ids = (
    st.uuids().map(str)
    | st.datetimes().map(lambda time: time.isoformat() + "Z")
    | st.from_regex(r"\A(toolu|call|msg|ses)_[A-Za-z0-9]{4,24}\Z")
)


@given(values)
def test_no_folder_of_the_lab_is_left_in_any_spelling(value):
    assert "hookonce-lab-" not in json.dumps(SCRUB.scrub(value))


@given(values)
def test_scrubbing_what_was_scrubbed_changes_nothing(value):
    once = SCRUB.scrub(value)

    assert once == SCRUB.scrub(once)


@given(values)
def test_the_shape_of_a_payload_stays(value):
    assert shape_of(value) == shape_of(SCRUB.scrub(value))


@given(st.dictionaries(st.sampled_from("abcd"), ids | st.integers() | st.booleans() | st.none()))
def test_ids_and_times_stay_as_they_are(value):
    assert value == SCRUB.scrub(value)
    assert SCRUB.find_leak(value) is None


@given(plain)
def test_an_id_that_carries_a_path_loses_only_the_path(rest):
    assert SCRUB.scrub(f"{LAB}/home/x").endswith("/x")
    assert "/home/dev/project/" in SCRUB.scrub(f"s1:{LAB}/project/{rest}")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"{LAB}/project/a.txt", "/home/dev/project/a.txt"),
        (
            f"{LAB}/home/.claude/projects/{LAB.replace('/', '-')}-project/s.jsonl",
            "/home/dev/.claude/projects/-home-dev-project/s.jsonl",
        ),
        (f"{LAB}/project2/a", "/home/dev/lab/project2/a"),
        (f"{LAB}/mcp.log", "/home/dev/lab/mcp.log"),
        ("http://127.0.0.1:41234/v1 and localhost:8080", "http://127.0.0.1:0/v1 and localhost:0"),
        ("2026-11-15T12:00:00", "2026-11-15T12:00:00"),
        ("10.0.0.1:80", "10.0.0.1:80"),
        ("alice@workshop: hello alice", "dev@host: hello dev"),
        ("alices malice alice_2", "alices malice alice_2"),
        ("sk-short is a word", "sk-short is a word"),
        ("the key AKIA0123456789ABCDEF", "the key [secret:aws-access-key]"),
        ("no-key", "[secret:key]"),
        ("there is no-keyboard", "there is no-keyboard"),
    ],
)
def test_a_text_is_told_with_stand_ins(text, wanted):
    assert wanted == SCRUB.scrub(text)


def test_what_is_called_a_key_or_a_password_is_a_secret():
    found = SCRUB.scrub({"apiKey": "no-key", "headers": {"accept": "z"}, "input_tokens": 7, "password": "hunter22x"})

    assert is_mask(found["apiKey"])
    assert is_mask(found["password"])
    assert ({"accept": "z"}, 7) == (found["headers"], found["input_tokens"])


def test_keys_of_a_map_of_files_are_paths_as_well():
    assert {"/home/dev/project/a": 1} == SCRUB.scrub({f"{LAB}/project/a": 1})


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("/home/alice/.ssh/id", "your home directory"),
        ("see /home/alice.", "your home directory"),
        ("/x/.claude/projects/-home-alice-src/s.jsonl", "your home directory"),
        ("file:///home/alice/a", "your home directory"),
        ("?at=%2Fhome%2Falice%2Fa", "your home directory"),
        ("/mnt/users/alice/a", "your login name in a path"),
        ("LAB hookonce-lab-0123456789abcdef.log", "the lab's folder"),
    ],
)
def test_what_still_names_the_owner_or_the_lab_is_found(text, what):
    assert what == SCRUB.find_leak({"a": [{"b": text}]})
    assert what == SCRUB.find_leak({text: 1})


@pytest.mark.parametrize("text", ["/home/alices/a", "/home/dev/a", f"{LAB}/project/a", "hello alice", "/x/alice.txt"])
def test_what_only_looks_like_it_is_no_reason_to_refuse(text):
    assert SCRUB.find_leak(text) is None


def test_a_user_who_has_the_name_of_the_stand_in_can_capture_too():
    scrub = Scrubber(PLACES, MachineOwner(frozenset({"/home/dev"}), frozenset({"dev"})))

    assert scrub.find_leak(f"{LAB}/project/a") is None
    assert scrub.find_leak("/home/dev/a") == "your home directory"


def test_root_is_nobodys_name_but_has_a_home():
    scrub = Scrubber(PLACES, MachineOwner(frozenset({"/root"}), frozenset({"root"})))

    assert scrub.find_leak("at /$bunfs/root/chunk.js") is None
    assert scrub.find_leak("/root/.bashrc") == "your home directory"


def test_the_owner_is_whoever_runs_this(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert str(tmp_path) in find_owner().homes
    assert "/" not in find_owner().homes
