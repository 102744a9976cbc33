"""Hooks in an open format are told what their privacy level allows, on stdin and over HTTP; the others everything."""

import json
import os

import pytest

from hookonce import formats
from hookonce.dispatch.dispatcher import answer_call
from hookonce.store.integrity import keys
from hookonce.store.privacy.redact import digest
from tests.dispatch.canaries import flocks
from tests.dispatch.pipeline_cases import PLAIN, ask, asked, hook, said
from tests.handlers.processes import eventually
from tests.handlers.servers import answer, server
from tests.manifest.projects import Project, command, house, manifest, put

OPEN = ["openhook", "agent-hooks", "cloudevents", "otel", "amplifier"]
WRITE_ONLY = ["ocsf", "agent-trace"]
# So many on stdin in each format, and as many over HTTP in all formats together; each post is a process.
ON_STDIN = min(int(os.environ.get("HOOKONCE_CANARIES", "60")), 10_000)
OVER_HTTP = max(30, ON_STDIN // len(OPEN))


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """A home that nobody has used."""
    return house(monkeypatch, tmp_path)


@pytest.fixture(scope="module")
def there():
    """A server that takes everything."""
    with server({"/": answer(b"")}) as one:
        yield one


def on_stdin(flock, **more):
    """What a hook of a user is given of an event, and the record of it."""
    heard = []

    def runner(_, stdin, world, __):
        heard.append(stdin.decode())
        return said()

    _, record = ask(asked(flock.agent, flock.native, flock.payload), [hook(**{"blocking": False} | more)], runner)
    return "".join(heard), record


def over_http(flock, there, **more):
    """The same, as a server hears it."""
    before = len(there.heard)
    url = {"handler": {"type": "http", "command": None, "url": there.url()}}
    _, record = ask(asked(flock.agent, flock.native, flock.payload), [hook(**{"blocking": False} | url | more)])
    assert record.runs[0].failure is None
    return b"".join(body for *_, body in there.heard[before:]).decode(), record


def sung(words, heard):
    """The canaries that are heard."""
    return [word for word in words if word in heard]


@pytest.mark.part(2)
@pytest.mark.covers("OH-28", "AH-47", "AH-52", "AH-53", "AH-55")
@pytest.mark.parametrize("dialect", [*OPEN, *WRITE_ONLY])
def test_no_canary_arrives_at_minimal(dialect, there):
    """
    Neither prompts, contents, outputs, addresses nor secrets, in any place of the document; minimal is the default.
    """
    for count, way, where in [(ON_STDIN, on_stdin, ()), (OVER_HTTP, over_http, (there,)), (30, on_stdin, ())]:
        privacy = "minimal" if way is on_stdin and count < ON_STDIN else None
        for flock in flocks(count):
            heard, _ = way(flock, *where, dialect=dialect, privacy=privacy)
            assert heard or dialect in WRITE_ONLY
            assert [] == sung(flock.texts + flock.addresses + flock.secrets, heard)


@pytest.mark.part(2)
@pytest.mark.parametrize("dialect", OPEN)
def test_all_but_secrets_arrive_at_full_in_a_user_s_hook(dialect, there):
    """
    Who asks for everything in a manifest of their own gets it; a secret that is recognised is masked all the same.
    """
    for count, way, where in [(ON_STDIN, on_stdin, ()), (OVER_HTTP, over_http, (there,))]:
        for flock in flocks(count):
            heard, record = way(flock, *where, dialect=dialect, privacy="full")
            words = flock.texts + flock.addresses
            assert words == sung(words, heard)
            assert [] == sung(flock.secrets, heard)
            assert [] == [gap for gap in record.gaps if gap.capability == "privacy"]


@pytest.mark.parametrize("dialect", OPEN)
def test_standard_tells_the_input_of_tools_and_no_more(dialect):
    """
    An argument of an MCP tool and a description arrive; prompts, contents, outputs and addresses do not.
    """
    for flock in flocks(60):
        heard, _ = on_stdin(flock, dialect=dialect, privacy="standard")
        told = flock.texts[:1] if "mcp__" in str(flock.payload) else flock.texts[-1:] if "Bash" in str(flock.payload) else []
        assert told == sung(flock.texts, heard)
        assert [] == sung(flock.addresses + flock.secrets, heard)


@pytest.mark.parametrize("dialect", [None, "canonical", "claude-code"])
def test_a_hook_that_judges_is_told_everything(dialect):
    """
    Also secrets: it has to find them.
    """
    for flock in flocks(30):
        heard, _ = on_stdin(flock, dialect=dialect)
        assert flock.texts == sung(flock.texts, heard)


@pytest.mark.parametrize(("scope", "arrives"), [("project", False), ("user", True), ("organisation", True), ("system", True)])
@pytest.mark.parametrize("dialect", OPEN)
def test_full_counts_in_no_project(dialect, scope, arrives):
    """
    A project that asks for it is told the least, and the record says so.
    """
    (flock,) = flocks(1)
    heard, record = on_stdin(flock, dialect=dialect, privacy="full", scope=scope)

    assert (flock.texts if arrives else []) == sung(flock.texts, heard)
    notes = [gap.note for gap in record.gaps if gap.capability == "privacy"]
    assert [] == notes if arrives else "asks for privacy full, and gets the event at minimal" in notes[0]


def test_hashes_are_keyed_and_say_so():
    """
    Nobody who guesses a short prompt can confirm the guess; the length stays.
    """
    flock = next(flocks(1))
    flock.payload["prompt"] = "yes"
    heard, _ = on_stdin(flock, dialect="agent-hooks")
    document = json.loads(heard)

    assert (digest("yes", keys.load_digest_key()).hash, 3) == tuple(document["data"][name] for name in ("prompt_hash", "prompt_length"))
    assert digest("yes").hash not in heard
    assert "keyed" == document["metadata"]["dev.hookonce"]["data"]["hashes"]


def test_a_home_without_a_key_still_tells_no_plain_hash(monkeypatch):
    """
    The hook is asked, with hashes of this process alone, and the record says why.
    """
    flock = next(flocks(1))
    flock.payload["prompt"] = "yes"

    def locked():
        raise PermissionError("no")

    monkeypatch.setattr(keys, "load_digest_key", locked)
    heard, record = on_stdin(flock, dialect="agent-hooks")

    assert digest("yes").hash not in heard
    assert 3 == json.loads(heard)["data"]["prompt_length"]
    assert "user" not in json.loads(heard)
    assert any("compared with no others" in (gap.note or "") for gap in record.gaps)


@pytest.mark.parametrize(("privacy", "arrives"), [(None, False), ("standard", False), ("full", True)])
def test_variables_in_which_agents_hand_over_the_call_are_dropped(privacy, arrives, monkeypatch, home):
    """
    Cursor's address of the user and Kiro's prompt are in the environment of a hook only where it may know them.
    """
    plain = {"TEAM": "x"}
    told = plain | {"CURSOR_USER_EMAIL": "a@b.example", "USER_PROMPT": "secretly", "FACTORY_TOOL_INPUT": "{}"}
    told |= {"COPILOT_AGENT_PROMPT": "secretly", "CLAUDE_TOOL_RESULT": "secretly"}
    monkeypatch.setattr("tests.dispatch.pipeline_cases.PLAIN", PLAIN | told)
    out = home / "env"
    (flock,) = flocks(1)
    ask(asked(flock.agent, flock.native, flock.payload), [hook(f"env > {out}", dialect="openhook", privacy=privacy)])
    names = {line.partition("=")[0] for line in out.read_text().splitlines()}

    assert plain.keys() <= names
    assert arrives == bool(names & (told.keys() - plain.keys()))
    assert not arrives or told.keys() <= names


@pytest.mark.part(2)
@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize(("privacy", "arrives"), [(None, False), ("standard", False), ("full", True)])
@pytest.mark.parametrize("name", ["USER_PROMPT", "CURSOR_USER_EMAIL", "COPILOT_AGENT_PROMPT"])
def test_headers_cannot_name_those_variables(name, privacy, arrives, scope, monkeypatch, there):
    """
    A hook that posts in an open format is not sent, and its failure says which variable it has not; tokens go on.
    """
    monkeypatch.setattr("tests.dispatch.pipeline_cases.PLAIN", PLAIN | {name: "secretly", "TEAM_TOKEN": "t-1"})
    before, arrives, (flock,) = len(there.heard), arrives and scope == "user", flocks(1)
    for variable in (name, "TEAM_TOKEN"):
        handler = {"type": "http", "command": None, "url": there.url(), "headers": {"X": f"${{{variable}}}"}, "allowed_env": [variable]}
        one = hook(blocking=False, handler=handler, dialect="openhook", privacy=privacy, scope=scope)
        _, record = ask(asked(flock.agent, flock.native, flock.payload), [one])
        if variable == name and not arrives:
            assert f"needs the environment variable {name}, which is not set" in record.runs[0].failure

    assert (["secretly"] if arrives else []) + ["t-1"] == [headers["x"] for _, _, headers, _ in there.heard[before:]]



# As a user meets it


def called(flock, folder):
    """The answer to a call of an agent in a folder."""
    payload = flock.payload | {"cwd": str(folder)}
    return answer_call([flock.agent, flock.native], json.dumps(payload).encode(), dict(PLAIN))


@pytest.mark.covers("OH-28", "AH-53")
@pytest.mark.parametrize("background", [False, True])
def test_observers_of_a_project_hear_no_canary(background, tmp_path):
    """
    Every line that an `.openhook.json` is given, waited for or not, is without them; the lengths are there.
    """
    project, out = Project(tmp_path / "p"), tmp_path / "heard"
    project.observe({"command": f"cat >> {out}; echo >> {out}", "events": ["*"], "async": background})
    project.trust()
    birds = list(flocks(25))
    for flock in birds:
        called(flock, project.folder)

    assert eventually(lambda: out.exists() and len(out.read_text().split("\n")) > len(birds))
    heard = out.read_text()
    assert [] == sung([word for flock in birds for word in flock.texts + flock.addresses + flock.secrets], heard)
    assert '"prompt_length"' in heard


def test_the_manifest_of_a_user_decides(home, there):
    """
    One hook is told the least, another everything, a third in the canonical dialect judges.
    """
    files = {name: home / name for name in ("minimal", "full", "judge")}
    commands = {name: f"cat > {file}.part; mv {file}.part {file}" for name, file in files.items()}
    hooks = [command(commands["minimal"], "before_prompt", dialect="agent-hooks")]
    hooks.append(command(commands["full"], "before_prompt", dialect="agent-hooks", privacy="full"))
    hooks.append(command(commands["judge"], "before_prompt"))
    put(home / ".config" / "hookonce" / "hooks.json", manifest(*hooks))
    flock = next(flocks(1))
    called(flock, home)
    assert eventually(lambda: all(file.exists() for file in files.values()))  # observers run after the answer
    heard = {name: file.read_text() for name, file in files.items()}

    assert ([], flock.texts, flock.texts) == tuple(sung(flock.texts, heard[name]) for name in files)
    assert ([], [], flock.secrets) == tuple(sung(flock.secrets, heard[name]) for name in files)


def test_every_format_but_our_own_is_open():
    """
    A new format is held to the same tests.
    """
    assert {*OPEN, *WRITE_ONLY, "canonical"} == {*formats.FORMATS}
