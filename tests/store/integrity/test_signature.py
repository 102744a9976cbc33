"""Signed events: what leaves the machine can be checked, and a change of anything is found."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import formats
from hookonce.base.jsontext import dump, load
from hookonce.errors import HookonceError
from hookonce.store.integrity import keys, signature
from tests.cli.command import PAYLOAD, lines, run
from tests.store.rows import stored


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home of its own for each test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def document(name):
    """A record in a format, as it is read again."""
    return load(dump(formats.load(name).write(stored(type="after_tool_execute" if name == "agent-trace" else "before_tool_execute"))[0]).decode())


KINDS = [name for name in signature.SIGNED_FORMATS if name != "agent-trace"]


@pytest.mark.covers("AH-51")
@pytest.mark.parametrize("kind", KINDS)
def test_a_signed_event_is_known_as_ours(kind):
    plain = document(kind)
    signed = signature.sign_document(kind, plain)
    assert ("ours", keys.load_signing_key()[0]) == signature.verify_document(kind, signed)
    assert signed == signature.sign_document(kind, signed)
    assert signature.verify_document(kind, plain) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_signature_does_not_depend_on_how_it_is_written(kind):
    signed = signature.sign_document(kind, document(kind))
    again = json.loads(json.dumps(dict(reversed(signed.items())), indent=2))
    assert "ours" == signature.verify_document(kind, again)[0]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if formats.load(kind).read])
def test_a_signed_event_is_read_as_the_unsigned_one(kind):
    plain = document(kind)
    read = formats.load(kind).read
    one, other = read(plain).event, read(signature.sign_document(kind, plain)).event
    assert (one.id, one.type, one.time, one.session, one.tool) == (other.id, other.type, other.time, other.session, other.tool)


def changed(value):
    """Every way to change one thing in a document."""
    if type(value) is dict:
        for key in value:
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: one} for one in changed(value[key]))
        yield value | {"more": 1}
    elif type(value) is list:
        yield [*value, None]
        for index, item in enumerate(value):
            yield from ([*value[:index], one, *value[index + 1 :]] for one in changed(item))
    else:
        yield None if value is not None else 0


@pytest.mark.parametrize("kind", KINDS)
def test_any_change_is_found(kind):
    plain = document(kind)
    signed = signature.sign_document(kind, plain)
    verdicts = [signature.verify_document(kind, one) for one in changed(signed)]
    assert 10 < len(verdicts)
    assert {None, "wrong"} >= {verdict and verdict[0] for verdict in verdicts}
    assert (8 if kind == "otel" else 3) >= verdicts.count(None)  # the signature, or all that it stands in, was taken away or is null


def test_a_key_of_another_machine_fits_and_is_not_ours(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "other"))
    signed = signature.sign_document("openhook", document("openhook"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "unknown" == signature.verify_document("openhook", signed)[0]


def test_what_an_old_key_has_signed_is_still_ours():
    signed = signature.sign_document("openhook", document("openhook"))
    keys.rotate_signing_key()
    assert "ours" == signature.verify_document("openhook", signed)[0]


def test_a_format_without_a_place_is_told():
    with pytest.raises(HookonceError, match="no place for a signature"):
        signature.sign_document("canonical", {})
    with pytest.raises(HookonceError, match="no place for a signature"):
        signature.sign_document("otel", {"resourceLogs": [{}]})
    assert signature.verify_document("otel", {"dev.hookonce.signature": "x"}) is None


@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["resource", "attributes", "key", "value"]), inner)))
def test_anything_in_the_place_of_open_telemetry_is_borne(anything):
    for root in ("resourceLogs", "resourceSpans"):
        assert signature.verify_document("otel", {root: anything}) in {None, ("wrong", "")}


@given(st.one_of(st.none(), st.integers(), st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text())))
def test_whatever_stands_in_place_of_a_signature_is_wrong_and_no_more(anything):
    verdict = signature.verify_document("openhook", {"extensions": {signature.EXTENSION_NAME: anything}})
    assert verdict in {None, ("wrong", "")}


# As a user meets it


@pytest.mark.covers("AH-51")
def test_translate_signs_and_check_verifies(home):
    payloads = lines(PAYLOAD, PAYLOAD | {"session_id": "s2"})
    done = run("translate", "--to", "agent-hooks", "--sign", given=payloads, HOME=str(home))
    assert (0, 2) == (done.code, len(done.documents()))
    good = run("check", "--json", given=done.out.encode(), HOME=str(home))
    assert (0, [], []) == (good.code, *(good.documents()[0][part] for part in ("problems", "warnings")))
    bad = run("check", "--json", given=done.out.replace('"s2"', '"s3"').encode(), HOME=str(home))
    assert (1, [("$.metadata.dev.hookonce.signature", 2)]) == (bad.code, [(one["path"], one["line"]) for one in bad.documents()[0]["problems"]])
    (home / "other").mkdir()
    other = run("check", "--json", given=done.out.encode(), HOME=str(home / "other"))
    assert (0, 2) == (other.code, len(other.documents()[0]["warnings"]))


def test_translate_says_where_a_signature_has_no_place():
    done = run("translate", "--to", "canonical", "--sign", given=lines(PAYLOAD))
    assert 64 == done.code
    assert "cannot hold a signature" in done.err
