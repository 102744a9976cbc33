"""Canaries in every field of every agent's payload, through whole calls: what is not to be kept is in no file that is left.

`HOOKONCE_CANARIES=100000` plants that many texts, and as many secrets, instead of a few hundred of each.
"""

import itertools
import json
import os

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.agents import reports_session_start
from hookonce.base import ids, paths, runtime_dir
from hookonce.base.jsontext import dump
from hookonce.dispatch import context, dedup, dispatcher
from hookonce.dispatch.request.call_request import CallArguments, parse_request
from hookonce.errors import PayloadError
from hookonce.handlers.command import OperationResult
from hookonce.handlers.operation import run_blocking
from hookonce.model import SCHEMA, Event, Record, Tool
from hookonce.secrets.detect import mask_secrets, truncate_text
from hookonce.sessions.recorder import Recorder
from hookonce.store.privacy.redact import LEVELS, redact
from hookonce.store.spool.journal import SpoolJournal
from hookonce.store.writer import Writer
from hookonce.vocabulary.events import CANONICAL_EVENTS
from tests.dispatch.pipeline_cases import goldens, recorded
from tests.laws.planting import WRITINGS, Canaries, coded, numbers, odd, secret, strings
from tests.secrets.material import PUBLISHED

WANTED = int(os.environ.get("HOOKONCE_CANARIES", "600"))
PAYLOADS = [*goldens(), *recorded()]
ENV = {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with nothing in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.chdir(tmp_path)
    paths.config_dir().mkdir(parents=True)
    return tmp_path


def settle(level, name="guard"):
    """Have a hook for everything, and a level of privacy."""
    handler = {"type": "command", "command": name, "timeout": 5}
    hooks = [{"name": name, "event": row.name, "blocking": True, "handler": handler} for row in CANONICAL_EVENTS]
    (paths.config_dir() / "hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": hooks}))
    (paths.config_dir() / "config.toml").write_text(f'privacy = "{level}"\n')


class Hooks:
    """Every way in which a hook goes wrong, one after the other: each has the payload, and says it wherever it can."""

    def __init__(self, *, reasons):
        """Reasons are the hook's own words and are kept: only where they may be anything do they repeat the payload."""
        self._turns, self._reasons = itertools.count(), reasons

    def __call__(self, operation):
        said = operation.payload.decode(errors="replace")
        why = said if self._reasons else "not here"
        ways = (
            lambda: OperationResult(code=0),
            lambda: OperationResult(code=1, stdout=operation.payload, stderr=operation.payload),
            lambda: OperationResult(code=0, stdout=operation.payload + b"}"),
            lambda: OperationResult(failure="timeout", stdout=operation.payload, stderr=operation.payload),
            lambda: OperationResult(failure="ended by signal 11", stderr=operation.payload),
            lambda: OperationResult(failure=f"raised ValueError: {said}"),
            lambda: OperationResult(code=2, stderr=why.encode()),
            lambda: _said(decision="deny", reason=why, context=said, system_message=said),
            lambda: _said(updated_input={"content": said, "note": said}, context=said),
            lambda: _said(decision="ask", reason=why),
            lambda: _said(updated_output={"stdout": said, "error": [said]}),
            lambda: _crash(said),
        )
        return ways[next(self._turns) % len(ways)]()


def _said(**answer):
    return OperationResult(code=0, stdout=json.dumps(answer).encode())


def _crash(said):
    raise RuntimeError(said)


def call(agent, native, raw, hooks, where):
    """One call, from its words to its answer."""
    name = ids.new_id()
    incoming = dispatcher.receive_call([agent, native, "--via", f"{agent}/user"], raw, where, name)
    run_blocking(dispatcher.answer_incoming(incoming), hooks)
    dedup.remove_claim(name)


class Grounds:
    """Where calls are answered: in turn as a process of its own does, and as one that lives on."""

    def __enter__(self):
        self._journal, self._turns = SpoolJournal(), itertools.count()
        return self

    def __exit__(self, *_):
        self._journal.close()

    def next(self):
        """The next one."""
        found = context.oneshot_context(ENV)
        return replace(found, spool=self._journal) if next(self._turns) % 2 else found


def fold():
    """Put all that lies in the spool into the store, whose newest rows are in its journal."""
    writer = Writer()
    Recorder(writer, reports_session_start).ingest_spool()
    return writer


def written(home):
    """Every file that hookonce has written, by its place, but for those that the test wrote; and its runtime directory."""
    mine = {paths.config_dir() / name for name in ("hooks.json", "config.toml")}
    for root in (home, runtime_dir.find_runtime_dir()):
        for file in sorted(root.rglob("*")):
            if file.is_file() and file not in mine:
                yield file.relative_to(root), file.read_bytes()


def steering(agent, native, payload):
    """The strings of a payload by which it is known what it is: with another one it would be something else."""
    one = agents.load(agent)
    known = agents.decode(one, payload, native, id="e")
    return {path for path, _ in strings(payload) if path[-1:] != ("key",) and _changes(one, native, payload, path, known)}


def _changes(agent, native, payload, path, known):
    try:
        found = agents.decode(agent, _put(payload, path), native, id="e")
    except PayloadError:
        return True
    names = [one.tool and (one.tool.name, sorted(one.tool.input)) for one in (found, known)]
    return found.type != known.type or names[0] != names[1] or sorted(found.data) != sorted(known.data)


def _put(value, path):
    if not path:
        return f"{value} x"
    copy = value.copy()
    copy[path[0]] = _put(value[path[0]], path[1:])
    return copy


def plant(canaries, wanted, make):
    """Payload after payload with canaries in it, until there are so many; few of them are of every agent."""
    known = {}
    step = max(1, len(PAYLOADS) * 12 // wanted)
    for turn in itertools.count():
        for index in range(turn % step, len(PAYLOADS), step):
            if canaries.planted >= wanted:
                return
            agent, native, payload, name = PAYLOADS[index]
            if index not in known:
                known[index] = steering(agent, native, payload)
            raw = json.dumps(make(payload, known[index]), ensure_ascii=False).encode()
            yield agent, native, raw, name


@pytest.mark.covers("AH-47", "AH-53")
def test_texts_are_in_no_file_and_words_of_commands_and_paths_are_all_kept(home):
    """
    At minimal, while hooks fail, time out, say nonsense, refuse, rewrite and crash, each saying all that it was given.
    """
    settle("minimal")
    canaries, hooks = Canaries(), Hooks(reasons=False)
    with Grounds() as grounds:
        for agent, native, raw, name in plant(canaries, WANTED, canaries.planted_in):
            canaries.expect(parse_request(CallArguments(agent=agent, event=native), raw).event, name)
            call(agent, native, raw, hooks, grounds.next())
        found, leaks, strange = _looked_through(home, canaries)
    writer = fold()
    kept, more, odd_ones = _looked_through(home, canaries)
    writer.close()

    assert canaries.planted >= WANTED
    assert len(canaries.hidden) > WANTED // 3
    assert len(canaries.kept) > WANTED // 20
    assert ([], []) == (leaks + more, strange + odd_ones)
    assert set(canaries.kept) <= found & kept


def _looked_through(home, canaries):
    """All canaries that are still there, where those are that should not be, and what stands there in another writing."""
    found, leaks, strange = set(), [], []
    for file, data in written(home):
        here = numbers(data)
        found |= here
        leaks += [(file, canaries.hidden[one]) for one in here & canaries.hidden.keys()]
        strange += [(file, one) for one in coded(data)]
    return found, leaks, strange


@pytest.mark.parametrize("level", LEVELS)
def test_secrets_are_in_no_file_at_any_level(home, level):
    """
    In every string, in every way to write it, in names and commands and reasons of hooks, and in what hooks say.
    """
    settle(level, f"guard --key={secret(3)}")
    canaries, hooks = Canaries(), Hooks(reasons=True)
    with Grounds() as grounds:
        for agent, native, raw, _ in plant(canaries, WANTED // 3, canaries.secret_in):
            call(agent, native, raw, hooks, grounds.next())
        spooled = [(file, one) for file, data in written(home) for one in odd(data)]
    writer = fold()
    kept = [(file, one) for file, data in written(home) for one in odd(data)]
    writer.close()

    assert canaries.planted >= WANTED // 3
    assert ([], []) == (spooled[:5], kept[:5])
    assert any(b"[secret:" in data for file, data in written(home) if file.name.startswith("events.db"))


def test_what_is_under_way_can_be_read_by_nobody_else_and_goes_when_it_is_over(home):
    """
    Answers go when they were heard; what another door or a person has to be told is sealed, and swept away.
    """
    settle("minimal")
    canaries, hooks = Canaries(), Hooks(reasons=True)
    for agent, native, raw, _ in plant(canaries, 600, canaries.planted_in):
        call(agent, native, raw, hooks, context.oneshot_context(ENV))
    place = runtime_dir.find_runtime_dir()
    before = [file for file in place.rglob("*") if file.is_file() and file.parent.name in {"doors", "questions"}]
    assert {"doors", "questions"} == {file.parent.name for file in before}
    assert {0o700} == {file.parent.stat().st_mode & 0o777 for file in before}
    assert [] == [file for file in place.rglob("*") if file.is_file() and numbers(file.read_bytes())]
    for file in place.rglob("*"):
        os.utime(file, (0, 0))
    runtime_dir.remove_stale_files()

    assert [] == [file for file in before if file.exists()]


@pytest.mark.part(2)
@pytest.mark.parametrize("writing", sorted(WRITINGS))
def test_every_published_format_is_known_in_every_writing(writing):
    """
    Quoted, escaped, coloured, cut by the end of a line, in a URL: whoever reads it in the end has the secret.
    """
    made = [(PUBLISHED[seed % len(PUBLISHED)][0], WRITINGS[writing](secret(seed))) for seed in range(2 * len(PUBLISHED))]

    assert [] == [(kind, text) for kind, text in made if odd(on_record(text))]


def on_record(text):
    """What is kept of a text where all of it is."""
    tool = Tool(name="shell", native="Bash", input={"command": text})
    event = Event(id="e", schema=SCHEMA, type="x", agent="codex", time="t", time_source="none", tool=tool)
    return dump(redact(Record(event=event), "full")).replace(b"\\\\\\n", b"")


@pytest.mark.parametrize("number", range(0, len(PUBLISHED), 9))
def test_half_a_secret_is_left_nowhere(number):
    """
    Where a text is cut, a secret that would be cut with it goes as a whole.
    """
    made = f"x {secret(number)} y"

    cut = [mask_secrets(truncate_text(made, most))[0] for most in range(len(made) + 2)]

    assert all(one in f"x {mask_secrets(made)[0][2:]}" for one in cut)
    assert mask_secrets(made)[0] == cut[-1]
