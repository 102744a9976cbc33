"""Canaries in every string of every agent's payload: what may be kept sings, what may not is never heard again."""

import itertools
import json

import pytest
from msgspec import to_builtins

from hookonce import agents
from hookonce.agents import decode
from hookonce.base import paths
from hookonce.base.jsontext import dump
from hookonce.errors import PayloadError
from hookonce.model import Decision, Gap, HookRun, Record
from hookonce.store.privacy.redact import LEVELS, redact
from hookonce.store.spool import files
from hookonce.vocabulary.tools import ARGUMENTS, DATA_FIELDS
from tests.formats.material import payloads
from tests.sample import EXHAUSTIVE, part
from tests.secrets.material import BLOCK, PUBLISHED, PW, TOLD, ends, written

PAYLOADS = list(payloads())
BY_AGENT = {name: [(event, payload) for agent, event, payload in PAYLOADS if agent == name] for name, *_ in PAYLOADS}
# ids and names of things: what an agent calls them is kept as it is, and nobody writes prose there
NAMES = {"session", "turn", "parent_session", "model", "agent_version", "cwd", "type", "subagent"}
NAMES_OF_TOOLS = {"name", "native", "call_id", "mcp_server"}
SECRETS = itertools.cycle([parts for _, *parts in PUBLISHED])


def planted(value, make):
    """The same tree with another string in the place of each string; keys stay."""
    if isinstance(value, str):
        return make(value)
    if isinstance(value, list):
        return [planted(item, make) for item in value]
    if isinstance(value, dict):
        return {key: planted(item, make) for key, item in value.items()}
    return value


def leaves(value, path=()):
    """Every string of a tree, with the way to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list | dict):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            yield from leaves(item, (*path, key))


def put(value, path, text):
    """The tree with one string replaced."""
    if not path:
        return text
    copy = value.copy()
    copy[path[0]] = put(value[path[0]], path[1:], text)
    return copy


def record(agent, event, payload):
    """What becomes of a payload; None if it is none any more."""
    try:
        return Record(event=decode(agents.load(agent), payload, event, id="e"))
    except PayloadError:
        return None


def may_sing(path, tool, level):
    """Whether a string at this place of a stored record may be a sentence: names, paths and commands; input at standard."""
    match path:
        case ("event", "tool", "input", name, *_):
            kind = ARGUMENTS.get(tool, {}).get(name, "text")
            return kind in {"path", "command"} or (level == "standard" and kind != "content")
        case ("event", "tool", name):
            return name in NAMES_OF_TOOLS
        case ("event", "data", name, *_):
            return DATA_FIELDS.get(name, "text") in {"path", "command"}
    return path[0] == "event" and path[1] in NAMES


@pytest.mark.part(3)
@pytest.mark.covers("AH-47", "AH-53")
@pytest.mark.parametrize("level", ["minimal", "standard"])
@pytest.mark.parametrize("agent", sorted(BY_AGENT))
def test_random_text_in_text_and_identity_fields_is_never_kept(agent, level):
    """
    Each string of each payload in turn is a sentence of its own; no byte of one that is text is stored.
    """
    numbers = itertools.count()
    for event, payload in BY_AGENT[agent]:
        for path, _ in leaves(payload):
            canary = f"canary {next(numbers)} sings ünseen"
            given = record(agent, event, put(payload, path, canary))
            if given is not None:
                tool = given.event.tool.name if given.event.tool is not None else None
                kept = to_builtins(redact(given, level))
                heard = [place for place, text in leaves(kept) if canary in text]
                assert [] == [place for place in heard if not may_sing(place, tool, level)]
    assert next(numbers) > 20


@pytest.mark.part(4)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("agent", sorted(BY_AGENT))
def test_secrets_are_kept_at_no_level_wherever_they_stand(agent, level, monkeypatch, tmp_path):
    """
    Every string of a payload gets a secret of another kind, alone, in a path, in a command and in prose; of none of
    them anything is stored, in the record or in the spool.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    seeds, spooled = itertools.count(), []
    for number, (event, payload) in part(enumerate(BY_AGENT[agent]), 2, LEVELS.index(level)):
        planted_here = []

        def secret(text, planted_here=planted_here):
            parts, seed = next(SECRETS), next(seeds)
            made = written(parts, seed)
            planted_here.extend(ends(parts, seed))
            return (made, f"{text}/{made}/x", f"echo {text} && curl {made}", f"{text} {made}")[seed % 4]

        for at, (path, text) in enumerate(leaves(payload)):
            if not EXHAUSTIVE and (at + number // 2) % (2 * len(LEVELS)) != LEVELS.index(level):
                continue
            given = record(agent, event, put(payload, path, secret(text)))
            if given is not None:
                kept = dump(redact(given, level)).decode()
                assert [] == [end for end in planted_here[-2:] if end in kept], path
        given = record(agent, event, planted(payload, secret))
        if given is not None:
            stored = redact(given, level)
            kept = dump(stored).decode()
            assert [] == [end for end in planted_here if end in kept]
            spooled += planted_here
            assert number >= 5 or files.append(redact(given, level, b"key"))
    raw = b"".join(file.read_bytes() for file in paths.data_dir().rglob("*") if file.is_file())
    assert raw
    assert b"[secret:" in raw
    assert [] == [end for end in spooled if end.encode() in raw]


@pytest.mark.part(3)
@pytest.mark.covers("AH-53")
@pytest.mark.parametrize("level", ["minimal", "standard"])
@pytest.mark.parametrize("agent", sorted(BY_AGENT))
def test_addresses_leave_below_full_from_no_place(agent, level):
    """
    Every string of a payload gets an address of its own, alone, in a path, in a command and in prose; with the place of
    each there is a gap, and at full they stay.
    """
    numbers, masks = itertools.count(), 0
    for event, payload in BY_AGENT[agent][:: 1 if EXHAUSTIVE else 3]:

        def address(text):
            number = next(numbers)
            sign = ("@", "%40", "\uff20", r"\u0040")[number % 4]
            made = f"canary{number}{sign}nest.example.com"
            return (made, f"/home/{made}/{text}", f"git log --author={made} {text}", f"{text} <{made}>")[number // 4 % 4]

        given = record(agent, event, planted(payload, address) | {key: value for key, value in payload.items() if value == event})
        if given is not None:
            stored = redact(given, level)
            kept = dump(stored).decode()
            assert "canary" not in kept
            assert kept.count("[e-mail]") >= sum(gap.note == "e-mail" for gap in stored.gaps)
            masks += kept.count("[e-mail]")
            assert "[e-mail]" not in dump(redact(given, "full")).decode() + dump(redact(given, level, keeps_addresses=True)).decode()
    assert masks


@pytest.mark.part(2)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("kind", "command", "secret"), TOLD)
def test_secrets_in_commands_lose_only_themselves(level, kind, command, secret):
    """
    A command that gives a secret is kept, the secret is not, and the gap names the place and the kind.
    """
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}}
    stored = redact(record("claude-code", "PreToolUse", payload), level)

    assert secret not in dump(stored).decode()
    assert f"[secret:{kind}]" in stored.event.tool.input["command"]
    gaps = {gap.where: gap.note for gap in stored.gaps if gap.strategy == "masked"}
    assert kind in gaps["$.event.tool.input.command"]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("agent", sorted(BY_AGENT))
def test_plain_words_in_commands_and_paths_are_kept(agent, level):
    """
    Commands and paths stay readable: words that tell no secret are all there.
    """
    for event, payload in BY_AGENT[agent]:
        given = record(agent, event, payload)
        kept, tool = redact(given, level).event, given.event.tool
        assert given.event.cwd == kept.cwd
        if tool is not None:
            classes = ARGUMENTS.get(tool.name, {})
            for name, value in tool.input.items():
                if classes.get(name) in {"command", "path"} and isinstance(value, str):
                    assert value == kept.tool.input[name]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "native",
    [
        {"env": {"DB_PASSWORD": PW}},
        {"headers": {"X-Api-Key": PW, "Authorization": f"Bearer {PW}"}},
        {"headers": [{"name": "X-Auth-Token", "value": PW}]},
        {"argv": ["login", "--password", PW]},
        {"argv": ["curl", "-u", f"bob:{PW}"]},
        {"env": [f"DB_PASSWORD={PW}"]},
        {"password": [PW, "b"]},
        {f"https://bob:{PW}@host/": 1},
        {"deep": [{"a": {"apiKey": PW}}]},
        {"json": json.dumps({"password": PW})},
        {"pem": BLOCK, "token": PW},
    ],
)
def test_fields_with_a_telling_name_are_masked_in_any_shape(level, native):
    """
    Environments, headers, argument lists, keys and nested JSON keep no secret, not even as a hash.
    """
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Odd", "tool_input": native, "x": native}
    stored = redact(record("claude-code", "PreToolUse", payload), level)

    kept = dump(stored).decode()
    assert PW not in kept
    assert BLOCK[40:60] not in kept
    assert level != "full" or "[secret:" in kept


def test_a_field_with_a_telling_name_has_no_hash_that_could_be_guessed():
    """
    At minimal a password of an unknown field is masked and not hashed.
    """
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Odd", "tool_input": {"password": PW, "a": "b"}}
    event = redact(record("claude-code", "PreToolUse", payload), "minimal").event

    assert "[secret:password]" == event.native["tool_input"]["password"] == event.tool.input["password"]
    assert {"hash", "length", "lines"} == set(event.native["tool_input"]["a"])


@pytest.mark.parametrize("level", LEVELS)
def test_what_was_made_of_an_event_keeps_no_secret_either(level):
    """
    Reasons, notes of gaps and failures of hooks are texts that stay, and are looked through.
    """
    token = written(("ghp_", ("abc123", 36)))
    given = record("claude-code", "Stop", {"hook_event_name": "Stop", "session_id": token, "cwd": f"/w/{token}"})
    full = Record(
        event=given.event,
        decision=Decision(outcome="deny", reason=f"no {token}", by=token),
        runs=[HookRun(hook="h", failure=f"PASSWORD={PW}")],
        gaps=[Gap(where="$", note=f"saw {token}")],
    )

    stored = redact(full, level)

    kept = dump(stored).decode()
    assert token not in kept
    assert PW not in kept
    assert ("no [secret:github-token]", "/w/[secret:github-token]") == (stored.decision.reason, stored.event.cwd)
    places = {gap.where for gap in stored.gaps if gap.strategy == "masked"}
    assert {"$.decision.reason", "$.event.cwd", "$.event.session", "$.runs[0].failure", "$.gaps[0].note"} <= places


@pytest.mark.parametrize("level", LEVELS)
def test_masking_again_changes_nothing(level):
    """
    A record that was masked is as it was, without a further gap for a secret.
    """
    for _, command, _ in TOLD:
        payload = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": command, "token": PW}}
        once = redact(record("claude-code", "PreToolUse", payload), level)
        again = redact(once, level)
        assert once.event == again.event
        assert [gap for gap in once.gaps if gap.strategy == "masked"] == [gap for gap in again.gaps if gap.strategy == "masked"]
