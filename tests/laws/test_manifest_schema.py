"""Schemas of manifests say what our checks say, but for the rules that stand here."""

import json
import re

import pytest
from hypothesis import example, given
from jsonschema import Draft202012Validator

from hookonce.formats.schema import load_schema
from hookonce.manifest.load import find_problems
from hookonce.manifest.schema import HANDLER_FIELDS, HOOK_FIELDS, REGISTRY_EDITION, REQUIRED_FIELDS, build_schema
from tests.manifest.manifests import mutated, valid
from tests.shared import vector


def fits_pattern(matcher):
    """Whether the format's schema takes a matcher for a pattern."""
    return isinstance(matcher.get("pattern"), str)


def fits_mcp(matcher):
    """Whether the format's schema takes a matcher for an MCP server."""
    mcp = matcher.get("mcp")
    return isinstance(mcp, dict) and isinstance(mcp.get("server"), str) and isinstance(mcp.get("tool", ""), str | None)


# The rules of the text, and fields of ours, that the format's own schema cannot say or does not know:
# a path, and the values there that only we refuse.
BEYOND_THEIRS = [
    ("a newer version cannot be read", r"\$\.spec", lambda value: isinstance(value, str) and re.search(r"^hooks/\d+\.\d+$", value)),
    ("an event has a name", r"{hook}\.event", lambda value: value == ""),
    ("a handler is of a known type", r"{hook}\.handler\.type", lambda value: isinstance(value, str)),
    ("a handler of type command has a command", r"{hook}\.handler\.command", lambda value: value is None or value == ""),
    ("other handlers have a URL or a prompt", r"{hook}\.handler\.(url|prompt)", lambda _: True),
    ("fields of those handlers have a kind", r"{hook}\.handler\.(method|headers|allowed_env|model|status_message)([.\[].*)?", lambda _: True),
    ("the Mac has further names", r"{hook}\.handler\.platform\.(osx|macos)", lambda _: True),
    ("a timeout is not endless", r"{hook}\.handler\.timeout", lambda value: type(value) in (int, float) and value > 0),
    ("a closed hook is waited for and refuses when it is late", r"{hook}\.handler\.(timeout_action|async)", lambda value: value in ("warn", True)),
    ("our own fields have a kind", r"{hook}\.(on_failure|may_allow|environment|dialect|files)(\[.*)?", lambda _: True),
    ("a pattern is RE2", r"{hook}\.matcher(\[\d+\])?\.pattern", lambda value: isinstance(value, str)),
    ("a matcher is one thing", r"{hook}\.matcher(\[\d+\])?", lambda value: isinstance(value, dict) and (fits_pattern(value) ^ fits_mcp(value))),
]
# The rules that our own schema cannot say.
BEYOND_OURS = [
    ("a pattern is RE2", r"{hook}\.matcher(\[\d+\])?\.pattern", lambda value: isinstance(value, str)),
    ("a version ends where the text ends; a line break more passes in Python's engine alone", r"\$\.spec", lambda value: str(value).endswith("0\n")),
]


def at(document, path):
    """The value at a path of ours; None where there is nothing."""
    for part in re.findall(r"[^.\[\]$]+", path):
        if isinstance(document, list):
            document = document[int(part)]
        else:
            document = document.get(part) if isinstance(document, dict) else None
    return document


def left(document, beyond):
    """Our problems without those that only we can have."""
    problems, _ = find_problems(document)
    return [(path, text) for path, text in problems if not any(re.fullmatch(where.replace("{hook}", r"\$\.hooks\[\d+\]"), path) and only(at(document, path)) for _, where, only in beyond)]


def present(document):
    """A manifest without the fields that are null, which we take for absent and their schema does not."""
    if not isinstance(document, dict) or not isinstance(document.get("hooks"), list):
        return document
    return document | {"hooks": [_present(hook) for hook in document["hooks"]]}


def _present(hook):
    if not isinstance(hook, dict):
        return hook
    said = {key: value for key, value in hook.items() if value is not None or key not in {*HOOK_FIELDS, "matcher"}}
    if isinstance(hook.get("handler"), dict):
        said["handler"] = {key: value for key, value in hook["handler"].items() if value is not None or key not in HANDLER_FIELDS}
    parts = said.get("matcher")
    if parts is not None:
        said["matcher"] = [_toolless(part) for part in parts] if isinstance(parts, list) else _toolless(parts)
    return said


def _toolless(part):
    mcp = part.get("mcp") if isinstance(part, dict) else None
    if not isinstance(mcp, dict) or mcp.get("tool", 0) is not None:
        return part
    return part | {"mcp": {key: value for key, value in mcp.items() if key != "tool"}}


def refused(validator, document):
    """What a schema has against a document."""
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


OURS = Draft202012Validator(build_schema())


def theirs():
    """The format's own schema."""
    return Draft202012Validator(json.loads(vector("hif/schema/hook.schema.json").read_bytes()))


@given(valid)
def test_a_manifest_without_faults_has_none_anywhere(document):
    """
    What we take for a manifest is one for both schemas.
    """
    assert ([], [], []) == (find_problems(document)[0], refused(OURS, document), refused(theirs(), document))


def one(spec="hooks/1.0", **fields):
    """A manifest with one hook, changed in some of its fields."""
    return {"spec": spec, "hooks": [{"event": "x", "handler": {"type": "command", "command": "a"}} | fields]}


@pytest.mark.covers("HIF-96")
@given(mutated())
@example(one(matcher={"pattern": "a", "mcp": {"server": "s"}}))
@example(one(matcher={"pattern": 1, "mcp": {"server": "s"}}))
@example(one(matcher={"pattern": 1, "mcp": {}}))
@example(one(spec="hooks/1.0\n"))
@example(one(on_failure="closed", handler={"type": "command", "command": "x", "timeout_action": "warn"}))
@example(one(on_failure="closed", handler={"type": "command", "command": "x", "async": True}))
def test_their_schema_agrees(document):
    """
    The format's own schema refuses what we refuse, and nothing else, but for the rules listed; the text beats it there.
    """
    found = refused(theirs(), present(document))

    assert bool(left(document, BEYOND_THEIRS)) == bool(found), (left(document, BEYOND_THEIRS), found)


@given(mutated())
@example(one(spec="hooks/1.0\n"))
@example(one(on_failure="closed", handler={"type": "command", "command": "x", "timeout_action": "warn"}))
def test_our_schema_agrees(document):
    """
    The schema that we publish refuses what we refuse, and nothing else, but for the rules listed.
    """
    found = refused(OURS, document)

    assert bool(left(document, BEYOND_OURS)) == bool(found), (left(document, BEYOND_OURS), found)


@pytest.mark.parametrize("beyond", [BEYOND_THEIRS, BEYOND_OURS])
def test_every_exception_is_needed(beyond):
    """
    Each rule of the tables is really one that the schema lacks.
    """
    cases = {
        "a newer version cannot be read": one(spec="hooks/2.0"),
        "a version ends where the text ends; a line break more passes in Python's engine alone": one(spec="hooks/1.0\n"),
        "an event has a name": one(event=""),
        "a closed hook is waited for and refuses when it is late": one(on_failure="closed", handler={"type": "command", "command": "x", "timeout_action": "warn"}),
        "a handler is of a known type": one(handler={"type": "magic"}),
        "a handler of type command has a command": one(handler={"type": "command"}),
        "other handlers have a URL or a prompt": one(handler={"type": "http"}),
        "fields of those handlers have a kind": one(handler={"type": "command", "command": "a", "method": 1}),
        "the Mac has further names": one(handler={"type": "command", "command": "a", "platform": {"osx": 1}}),
        "a timeout is not endless": one(handler={"type": "command", "command": "a", "timeout": 10**12}),
        "our own fields have a kind": one(files=[1]),
        "a pattern is RE2": one(matcher={"pattern": "(?=a)"}),
        "a matcher is one thing": one(matcher={"pattern": 1, "mcp": {"server": "s"}}),
    }
    validator = theirs() if beyond is BEYOND_THEIRS else OURS

    assert [] == [rule for rule, _, _ in beyond if not find_problems(cases[rule])[0] or refused(validator, cases[rule])]


def test_the_published_schema_is_this_one():
    """
    It is what the table gives, and it is a schema.
    """
    Draft202012Validator.check_schema(build_schema())
    assert build_schema() == load_schema("manifest")


@pytest.mark.covers("HIF-96")
def test_the_edition_is_named():
    """
    The lists of the format are named by year and month.
    """
    assert re.fullmatch(r"20\d\d\.(0[1-9]|1[0-2])", REGISTRY_EDITION)
    assert REGISTRY_EDITION in build_schema()["description"]


@pytest.mark.parametrize(("noun", "names"), [("hook", ["event", "matcher", *HOOK_FIELDS]), ("handler", ["type", *HANDLER_FIELDS])])
def test_every_field_is_described(noun, names):
    """
    An editor that knows the schema can explain each field, and every type of handler is known to it.
    """
    known = build_schema()["$defs"][noun]["properties"]

    assert [] == [name for name in names if not known[name]["description"].endswith(".")]
    assert [*REQUIRED_FIELDS] == build_schema()["$defs"]["handler"]["properties"]["type"]["enum"]
