"""Posts of events in an open format: the format's media type, and a signature that a receiver can verify."""

import json

import pytest

from hookonce import formats
from hookonce.dispatch import prepare
from hookonce.errors import HookonceError
from hookonce.store.integrity import keys, signature
from tests.cli.command import run
from tests.dispatch.canaries import flocks
from tests.dispatch.pipeline_cases import ask, asked, hook
from tests.handlers.processes import eventually
from tests.handlers.servers import answer, server
from tests.manifest.projects import house

OPEN = ["openhook", "agent-hooks", "cloudevents", "otel", "amplifier", "ocsf", "agent-trace"]
MIME = {"agent-hooks": "application/vnd.agent-hooks.event+json", "cloudevents": "application/cloudevents+json"}


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home that nobody has used."""
    return house(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def there():
    """A server that takes everything, and one way that judges."""
    with server({"/": answer(b""), "/judge": answer({"decision": "deny"})}) as one:
        yield one


def written():
    """A payload in which a file was written, so that every format has a word for it."""
    return list(flocks(20))[1]


def posted(there, dialect, path="/", headers=None, **more):
    """What a server hears of an event: the headers, the body, and the record of it."""
    flock, before = written(), len(there.heard)
    handler = {"type": "http", "command": None, "url": there.url(path), "headers": headers or {}} | more
    _, record = ask(asked(flock.agent, flock.native, flock.payload), [hook(event="after_tool_execute", dialect=dialect, handler=handler)])
    assert eventually(lambda: len(there.heard) > before)
    _, _, headers, body = there.heard[-1]
    return headers, json.loads(body), record


@pytest.mark.part(2)
@pytest.mark.covers("AH-51", "AH-65")
@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("dialect", OPEN)
def test_a_post_has_its_media_type_and_a_signature(there, dialect, background, tmp_path):
    """
    Whoever keeps the body as it came can have it checked: it is ours, and a change of anything is found.
    """
    headers, document, record = posted(there, dialect, background=background)

    assert MIME.get(dialect, formats.load(dialect).mime) == headers["content-type"]
    assert ("ours", keys.load_signing_key()[0]) == signature.verify_document(dialect, document)
    assert [] == [gap for gap in record.gaps if gap.capability == "signature"]
    document["added"] = "by somebody"
    assert "wrong" == signature.verify_document(dialect, document)[0]


@pytest.mark.covers("AH-51")
def test_check_verifies_what_a_server_received(there, home, tmp_path):
    """
    As a user does it: the body in a file, valid as Agent Hooks and signed by this machine.
    """
    _, document, _ = posted(there, "agent-hooks")
    (tmp_path / "received.json").write_text(json.dumps(document, indent=1))
    done = run("check", "--json", "--strict", str(tmp_path / "received.json"), HOME=str(home))
    text = run("check", str(tmp_path / "received.json"), HOME=str(home)).out

    assert (0, {"this machine": 1}) == (done.code, done.documents()[0]["signed_by"])
    assert "1 document signed by this machine" in text


@pytest.mark.parametrize("dialect", [None, "claude-code"])
def test_a_post_for_a_hook_that_judges_is_plain_json(there, dialect):
    """
    It is the event as a command would get it, without a signature.
    """
    headers, document, _ = posted(there, dialect, "/judge")

    assert "application/json" == headers["content-type"]
    assert "signature" not in json.dumps(document)


def test_a_hook_s_own_content_type_wins(there):
    headers, _, _ = posted(there, "agent-hooks", headers={"content-type": "application/x-mine"})

    assert "application/x-mine" == headers["content-type"]


def test_an_event_that_cannot_be_signed_is_posted_all_the_same(there, monkeypatch):
    """
    A damaged key costs the signature and not the event; the record says so.
    """

    def damaged(*_):
        raise HookonceError("the key is damaged")

    monkeypatch.setattr(keys, "load_signing_key", damaged)
    headers, document, record = posted(there, "agent-hooks")

    assert MIME["agent-hooks"] == headers["content-type"]
    assert None is signature.verify_document("agent-hooks", document)
    assert ["an event was sent without a signature: the key is damaged"] == [gap.note for gap in record.gaps if gap.capability == "signature"]


def test_nothing_on_stdin_is_signed():
    """
    Only what leaves for somebody else is.
    """
    flock = written()
    heard = []
    ask(asked(flock.agent, flock.native, flock.payload), [hook(event="after_tool_execute", dialect="agent-hooks")], lambda _, stdin, *__: heard.append(stdin) or prepare.OperationResult(code=0))

    assert b"signature" not in heard[0]
