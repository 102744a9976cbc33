"""Module Descriptor v1: what it has to say, and that every problem is named with its place."""

import json
import os
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from hookonce.base.json_stream import StreamLine
from hookonce.diagnose.document_check import check_documents
from hookonce.errors import HookonceError
from hookonce.formats.schema import load_schema
from hookonce.modules.host.client import connect
from hookonce.modules.protocol.descriptor import (
    MODULE_KINDS,
    V1_MODULE_KINDS,
    V1_TRANSPORTS,
    DescriptorError,
    descriptor_document,
    find_problems,
    load_descriptor,
    mount_problems,
    parse_descriptor,
)
from hookonce.modules.protocol.messages import Fault
from tests.shared import seed_text

GOOD = {
    "name": "hello",
    "kind": "tool",
    "transport": {"type": "stdio", "command": ["hello", "--now"]},
    "capabilities": ["fs.read"],
    "version": "1.0.0",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def theirs():
    """The schema that the specification prints."""
    blocks = re.findall(r"```json\n(.*?)```", seed_text("004"), flags=re.DOTALL)
    return next(one for one in map(json.loads, blocks) if one.get("title") == "Module Descriptor v1")


def paths(document, *, strict=False):
    return [path for path, _ in find_problems(document, strict=strict)[0]]


@pytest.mark.covers("AMP-1", "AMP-2", "AMP-3", "AMP-4")
def test_a_descriptor_is_read():
    """
    Its fields become a value, and the value its document again.
    """
    found = parse_descriptor(GOOD)
    assert (found.name, found.kind, found.capabilities, found.version) == ("hello", "tool", ["fs.read"], "1.0.0")
    assert (found.transport.type, found.transport.command, found.transport.url) == ("stdio", ["hello", "--now"], None)
    assert descriptor_document(found) == GOOD


FAULTS = {
    "name": ({"name": 1}, "$.name"),
    "no name": ({"name": None}, "$.name"),
    "an empty name": ({"name": ""}, "$.name"),
    "kind": ({"kind": "thing"}, "$.kind"),
    "a kind that is no text": ({"kind": ["tool"]}, "$.kind"),
    "transport": ({"transport": "stdio"}, "$.transport"),
    "transport type": ({"transport": {"type": "gRPC"}}, "$.transport.type"),
    "no transport type": ({"transport": {}}, "$.transport.type"),
    "command": ({"transport": {"type": "stdio", "command": "hello"}}, "$.transport.command"),
    "a word of the command": ({"transport": {"type": "stdio", "command": ["hello", 1]}}, "$.transport.command[1]"),
    "url": ({"transport": {"type": "http", "url": 1}}, "$.transport.url"),
    "capabilities": ({"capabilities": "fs.read"}, "$.capabilities"),
    "a capability": ({"capabilities": ["fs.read", None]}, "$.capabilities[1]"),
    "version": ({"version": 1}, "$.version"),
}


@pytest.mark.covers("AMP-1", "AMP-2", "AMP-3", "AMP-4")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_by_its_place(name):
    """
    One fault, one path; and the schema refuses the same.
    """
    change, path = FAULTS[name]
    assert [path] == paths(GOOD | change)
    assert not Draft202012Validator(load_schema("module-descriptor")).is_valid(GOOD | change)
    with pytest.raises(DescriptorError) as caught:
        parse_descriptor(GOOD | change)
    assert [path] == [where for where, _ in caught.value.problems]


@pytest.mark.covers("AMP-1")
def test_every_problem_is_told_at_once():
    """
    An empty document lacks four things.
    """
    assert ["$.name", "$.kind", "$.transport", "$.capabilities"] == paths({})
    assert ["$"] == paths([])


@pytest.mark.covers("AMP-2", "AMP-X6")
def test_kinds_of_both_generations_are_known_and_strict_is_version_one():
    """
    The six kinds are those of the specification; a later one is a warning, strictly a problem.
    """
    assert list(V1_MODULE_KINDS) == theirs()["properties"]["kind"]["enum"]
    assert list(V1_TRANSPORTS) == theirs()["properties"]["transport"]["properties"]["type"]["enum"]
    for kind in MODULE_KINDS:
        problems, warnings = find_problems(GOOD | {"kind": kind})
        assert [] == problems
        assert (kind not in V1_MODULE_KINDS) == ("$.kind" in dict(warnings))
        assert (kind not in V1_MODULE_KINDS) == (paths(GOOD | {"kind": kind}, strict=True) == ["$.kind"])


@pytest.mark.covers("AMP-X1")
@pytest.mark.parametrize(
    ("transport", "path"),
    [
        ({"type": "stdio"}, "$.transport.command"),
        ({"type": "stdio", "command": []}, "$.transport.command"),
        ({"type": "stdio", "command": [""]}, "$.transport.command"),
        ({"type": "http"}, "$.transport.url"),
        ({"type": "http", "url": "http://example.com"}, "$.transport.url"),
        ({"type": "mcp"}, "$.transport.url"),
        ({"type": "mcp", "command": [""]}, "$.transport.command"),
        ({"type": "mcp", "url": "http://example.com"}, "$.transport.url"),
        ({"type": "mcp", "command": ["hello"], "url": "https://example.com"}, "$.transport.url"),
        ({"type": "grpc"}, "$.transport.url"),
        ({"type": "grpc", "url": "http://example.com:50051"}, "$.transport.url"),
        ({"type": "grpc", "url": "http://127.0.0.1:50051/invoke"}, "$.transport.url"),
        ({"type": "grpc", "command": ["hello"]}, "$.transport.url"),
    ],
)
def test_what_is_missing_to_reach_a_module_is_an_error_when_it_is_mounted(transport, path):
    """
    The document can be read, with a warning; connecting to it is what fails.
    """
    document = GOOD | {"transport": transport}
    problems, warnings = find_problems(document)
    assert ([], True) == (problems, path in dict(warnings))
    found = parse_descriptor(document)
    assert [path] == [where for where, _ in mount_problems(found)]
    with pytest.raises(Fault) as caught:
        connect(found)
    assert caught.value.error.details["problems"][0][0] == path


@pytest.mark.covers("AMP-13")
@pytest.mark.parametrize("reached", [{"command": ["hello"]}, {"url": "https://example.com/mcp", "token_env": "TOKEN"}])
def test_an_mcp_server_has_a_descriptor_which_is_not_of_version_one(reached):
    document = GOOD | {"transport": {"type": "mcp"} | reached}
    assert ([], ["$.transport.type"]) == (paths(document), [path for path, _ in find_problems(document)[1]])
    assert document == descriptor_document(parse_descriptor(document))
    assert [] == mount_problems(parse_descriptor(document))
    assert ["$.transport.type"] == paths(document, strict=True)
    assert Draft202012Validator(load_schema("module-descriptor")).is_valid(document)


@pytest.mark.covers("AMP-13")
def test_over_grpc_a_module_is_a_tool_or_a_hook():
    """
    Other kinds are refused when they are mounted, with what there is, and doubted by a check before that.
    """
    reached = {"transport": {"type": "grpc", "url": "https://example.com:50051", "token_env": "TOKEN"}}
    for kind in MODULE_KINDS:
        document = GOOD | reached | {"kind": kind}
        found = [message for path, message in mount_problems(parse_descriptor(document)) if path == "$.kind"]
        expected = ["over gRPC a module is a tool or a hook; offer other kinds over stdio or http"]
        assert ([] if kind in {"tool", "hook"} else expected) == found
        assert document == descriptor_document(parse_descriptor(document))
        assert {"$.kind", "$.transport.type"} >= dict(find_problems(document)[1]).keys() >= {"$.transport.type"}
    assert ["$.transport.type"] == paths(GOOD | reached, strict=True)
    assert Draft202012Validator(load_schema("module-descriptor")).is_valid(GOOD | reached)


@pytest.mark.covers("AMP-4")
def test_a_missing_version_is_zero():
    """
    It is optional, and 0.0.0 where nobody says it.
    """
    bare = {key: value for key, value in GOOD.items() if key != "version"}
    assert parse_descriptor(bare).version == "0.0.0"
    assert "$.version" in dict(find_problems(bare)[1])


@pytest.mark.covers("AMP-33")
def test_unknown_fields_are_kept():
    """
    What a later version adds comes through.
    """
    more = GOOD | {"inputs": {}, "transport": GOOD["transport"] | {"cwd": "/"}, "x": [1]}
    assert descriptor_document(parse_descriptor(more)) == more
    assert ([], []) == find_problems(more)


@given(JSON | st.fixed_dictionaries({}, optional={key: JSON | st.just(value) for key, value in GOOD.items()}))
def test_any_document_is_read_or_refused_as_the_schema_says(document):
    """
    Nothing raises anything but the one error, and rules and schema agree.
    """
    good = Draft202012Validator(load_schema("module-descriptor")).is_valid(document)
    assert good == (paths(document) == [])
    if good:
        assert parse_descriptor(descriptor_document(parse_descriptor(document))) == parse_descriptor(document)
        Draft202012Validator(theirs()).validate(document | {"kind": "tool"})
    else:
        with pytest.raises(DescriptorError):
            parse_descriptor(document)


def test_a_file_is_read_with_its_folder(tmp_path):
    """
    The folder is where the command runs; what cannot be read says why.
    """
    file = tmp_path / "module.json"
    file.write_text("\ufeff" + json.dumps(GOOD), encoding="utf-8")
    assert load_descriptor(file).folder == str(tmp_path)
    for text, why in (("{", "expected a JSON document"), ("[" * 100_000, "expected a JSON"), (" " * 2**21, "more than")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(HookonceError, match=why):
            load_descriptor(file)
    with pytest.raises(HookonceError, match="cannot be read: No such file"):
        load_descriptor(tmp_path / "other.json")


def test_a_name_that_leads_to_no_ordinary_file_keeps_nobody_waiting(tmp_path):
    """
    A pipe nobody writes to, an endless device and a folder are refused; a link to a descriptor is as good as one.
    """
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    (tmp_path / "folder.json").mkdir()
    for name in ("pipe.json", "endless.json", "folder.json"):
        with pytest.raises(HookonceError, match=r"cannot be read: (it is not a regular file|Is a directory)"):
            load_descriptor(tmp_path / name)
    (tmp_path / "real").mkdir()
    (tmp_path / "real/module.json").write_text(json.dumps(GOOD), encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real/module.json")
    assert str(tmp_path / "real") == load_descriptor(tmp_path / "link.json").folder


@pytest.mark.covers("AMP-1")
def test_check_knows_descriptors():
    """
    One that lacks a field is still known for what it is.
    """
    for change, ok in (({}, True), ({"kind": "thing"}, False)):
        document = {key: value for key, value in (GOOD | change).items() if key != "capabilities" or ok}
        found = check_documents("x.json", [StreamLine(1, json.dumps(document).encode())], strict=False)
        assert ("module-descriptor", ok) == (found.kind, found.ok)


def test_the_published_schema_is_made_from_the_tables():
    """
    It is what the code says.
    """
    assert [*MODULE_KINDS] == load_schema("module-descriptor")["properties"]["kind"]["enum"]
