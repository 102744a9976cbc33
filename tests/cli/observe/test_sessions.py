"""hookonce sessions and hookonce show."""

import json

import pytest

from hookonce.dispatch.derived_hooks import build_runs_record
from hookonce.dispatch.response import hook_error_records
from hookonce.model import Decision, HookRun, Stored, User
from hookonce.store.entry import build_entry
from hookonce.store.integrity.signature import verify_document
from hookonce.store.writer import Writer
from tests.cli.command import run
from tests.cli.recorded_home import FIRST, SECOND, call, problems, remember, stored


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home in which something has happened."""
    return remember(tmp_path, monkeypatch)


def test_every_session_is_told_in_short(home):
    ran = run("sessions", "--json", HOME=str(home))
    second, first = ran.documents()

    assert (0, "") == (ran.code, ran.err)
    assert [] == problems("sessions", first) + problems("sessions", second)
    assert {"agent": "codex", "session": FIRST, "project": "/w", "events": 9, "calls": 3, "refusals": 1, "seconds": 19.0}.items() <= first.items()
    assert (SECOND, 1800.0) == (second["session"], second["seconds"])
    assert [(1_000_000, 100_000), (5, 1)] == [(one["input_tokens"], one["output_tokens"]) for one in (first, second)]


def test_the_table_names_them_whole(home):
    lines = run("sessions", HOME=str(home)).out.splitlines()

    assert [SECOND, FIRST] == [line.split()[1] for line in lines[1:3]]
    assert ["agent", "session", "first", "(UTC)", "last", "(UTC)", "took", "events", "calls", "refused", "asked", "tokens", "project"] == lines[0].split()
    assert "30 min" in lines[1]
    assert "1,100,000" in lines[2]
    assert lines[-1].startswith("Next: hookonce show")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("--agent", "codex"), [FIRST]),
        (("--project", "/v*"), [SECOND]),
        (("--since", "2026-11-14T10:15:00Z"), [SECOND, FIRST]),
        (("--since", "2026-11-15"), [FIRST]),
        (("--until", "2026-11-15"), [SECOND]),
        (("--last", "1"), [FIRST]),
        (("--agent", "cline"), []),
    ],
    ids=str,
)
def test_options_say_which_are_meant(home, words, meant):
    assert meant == [one["session"] for one in run("sessions", "--json", *words, HOME=str(home)).documents()]


def test_questions_are_counted_beside_refusals(home):
    """
    In the list, in the session and in its turns; those of another session, or derived ones, are not.
    """
    ask, asked = Decision(outcome="ask", reason="look at it"), call("shell", "c9", command="make release")
    with Writer() as writer:
        writer.append([build_entry(stored(40 + n, "before_tool_execute", ask, tool=asked, time=f"2026-11-15T10:00:1{n}Z")) for n in range(2)])
    (second, first) = run("sessions", "--json", HOME=str(home)).documents()
    (told,) = run("show", FIRST, "--json", HOME=str(home)).documents()
    (*_, turn) = run("show", FIRST, "--turns", "--json", HOME=str(home)).documents()

    assert [(0, 0), (2, 1)] == [(one["asks"], one["refusals"]) for one in (second, first)]
    assert (2, 2) == (told["asks"], turn["asks"])
    assert "1 refused, 2 asked" in run("show", FIRST, HOME=str(home)).out
    assert "1 refused, 2 asked" in run("show", FIRST, "--turns", HOME=str(home)).out
    (agent, _) = run("stats", "--json", HOME=str(home)).documents()[0]["agents"]
    assert {"name": "codex", "events": 11, "calls": 5, "refusals": 1, "asks": 2} == agent


def test_times_are_those_of_the_reader_or_utc(home):
    """
    The title names the zone; a time of another zone, as in summer, says so itself.
    """
    berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
    with Writer() as writer:
        writer.append([build_entry(stored(50, "notification", time="2026-07-01T10:00:00Z", data={"message": "warm"}))])
    local = run("events", HOME=str(home), TZ=berlin).out.splitlines()
    utc = run("events", "--utc", HOME=str(home), TZ=berlin).out.splitlines()
    zones = [{"CET": "CEST", "CEST": "CET"}[line.split()[1][1:-1]] for line in local[:1]]

    assert local[0].startswith("time (CE")
    assert any(("2026-07-01 12:00:00" if zones == ["CET"] else "2026-07-01 12:00:00 CEST") in line for line in local)
    assert any(("2026-11-15 11:00:02 CET" if zones == ["CET"] else "2026-11-15 11:00:02") in line for line in local)
    assert utc[0].startswith("time (UTC)")
    assert any(line.startswith("2026-07-01 10:00:00  codex") for line in utc)
    assert "10:00:20 UTC · " in run("show", FIRST, "--utc", HOME=str(home), TZ=berlin).out


def test_where_there_is_none_that_is_said(tmp_path):
    assert (0, "there is no such session\n", "") == run("sessions", "--agent", "codex", HOME=str(tmp_path))
    assert run("sessions", HOME=str(tmp_path)).out.startswith("nothing is recorded yet. Next: hookonce install")
    assert "nothing is recorded yet. Next: hookonce install" in run("show", HOME=str(tmp_path)).err


def test_a_session_is_told_call_by_call(home):
    """
    Each call stands once, with what became of it; sub-agents are set in; files are listed.
    """
    ran = run("show", FIRST[:4], HOME=str(home))

    assert (0, "") == (ran.code, ran.err)
    assert "\x1b" not in ran.out
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert f"codex {FIRST} in /w" == lines[0]
    assert "1 turn · 3 calls (1 failed, 1 refused, 0 asked)" in lines[1]
    assert "1,000,000 tokens in, 100,000 tokens out" in lines[1]
    assert '10:00:03 failed shell echo "ä 漢字" | tr a b · took 1.99 s' in lines
    assert "10:00:06 refused shell rm -rf / · because it says [bold]no[/bold] \\x1b[31m" in lines
    assert "10:00:07 ok file_write │ /w/src/a.py · took 1.5 s" in lines
    assert "10:00:02 a prompt was given: make it so" in lines
    assert "/w/src/a.py (1 write, +2 -0 lines)" in lines
    assert "a1 (explorer): 1 call" in lines


def test_without_a_name_it_is_the_newest(home):
    (newest,) = run("show", "--json", HOME=str(home)).documents()
    (other,) = run("show", "--json", "--agent", "opencode", HOME=str(home)).documents()

    assert (FIRST, SECOND) == (newest["session"], other["session"])


def test_the_same_as_one_object(home):
    (told,) = run("show", FIRST, "--json", HOME=str(home)).documents()

    assert [] == problems("show", told)
    assert (3, 1, 1, "exit") == tuple(told[key] for key in ("calls", "failed", "refused", "ended"))
    assert [1, 2, 3, 6, 7, 9, 20] == [int(step["id"][-12:]) for step in told["steps"]]
    assert 1988 == told["steps"][2]["call"]["duration_ms"]  # 12 ms were those of a hook
    assert 1 == told["steps"][4]["depth"]


def test_a_session_that_nobody_knows_is_an_error(home):
    assert (1, "", "hookonce: no session begins with 'x'; hookonce sessions lists them\n") == run("show", "x", HOME=str(home))


def test_turns_are_told_as_objects_and_as_a_table(home):
    """
    What came before the first prompt is turn 0; sums are the session's.
    """
    ran = run("show", FIRST, "--turns", "--json", HOME=str(home))
    before, turn = ran.documents()

    assert (0, "", []) == (ran.code, ran.err, problems("turns", before) + problems("turns", turn))
    assert (0, 1, "next_prompt") == (before["number"], before["events"], before["end"])
    assert (1, "make it so", "response", 8, 3, 1, 1) == tuple(turn[name] for name in ("number", "prompt", "end", "events", "calls", "failures", "refusals"))
    assert {"c1": False, "c3": True} == {f"c{index + 1}": one["ok"] for index, one in enumerate(turn["actions"]) if "ok" in one}
    assert ("/w/src/a.py", 1_100_000, 2_250_000) == (*turn["files"], turn["usage"]["total_tokens"], turn["cost_micros"])
    lines = run("show", FIRST[:8], "--turns", HOME=str(home)).out.splitlines()
    assert ["turn", "0", "1"] == [line.split()[0] for line in lines]
    assert ("make it so", True) == (lines[2][-10:], "3 (1 failed, 1 refused)" in lines[2])


def test_turns_leave_in_an_open_format_without_texts(home):
    for name in ("otel", "agent-hooks"):
        ran = run("show", FIRST, "--turns", "--format", name, HOME=str(home))
        assert (0, 2, False) == (ran.code, len(ran.documents()), "make it so" in ran.out)
    assert "make it so" in run("show", FIRST, "--turns", "--format", "agent-hooks", "--privacy", "full", HOME=str(home)).out
    assert 64 == run("show", FIRST, "--format", "otel", HOME=str(home)).code


@pytest.mark.covers("AH-9", "AH-51")
def test_turns_name_their_user_and_can_be_signed(home):
    """
    As other live exports do: a pseudonym or whom the setting names, at every level; check finds who has signed.
    """
    with Writer() as writer:
        named = [("user:0123456789abcdef", 1), ("bob@example.com", 2)]
        writer.append([build_entry(stored(50 + n, "before_prompt", session=f"u{n}", prompt="x", user=User(id=name))) for name, n in named])
    for session, name in (("u1", "user:0123456789abcdef"), ("u2", None)):
        words = ("show", session, "--turns", "--sign", "--format")
        (cycle,) = run(*words, "agent-hooks", HOME=str(home)).documents()
        (trace,) = run(*words, "otel", HOME=str(home)).documents()
        span = trace["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
        ids = [one["value"]["stringValue"] for one in span["attributes"] if one["key"] == "user.id"]
        users = [(one.get("user") or {}).get("id") for one in (cycle["cycle"], *cycle["events"])]
        assert ({name}, [] if name is None else [name]) == ({*users}, ids)
        checked = run("check", "-", given=b"".join(json.dumps(one).encode() + b"\n" for one in (*cycle["events"], trace)), HOME=str(home))
        assert "this machine" in checked.out + checked.err
        assert ["ours", "ours"] == [verify_document(form, one)[0] for form, one in (("agent-hooks", cycle["events"][0]), ("otel", trace))]
    (plain,) = run("show", "u1", "--turns", "--format", "otel", HOME=str(home)).documents()
    assert verify_document("otel", plain) is None


@pytest.mark.parametrize("words", [("--sign",), ("--turns", "--sign"), ("--turns", "--json", "--sign")])
def test_a_signature_goes_with_a_format(home, words):
    ran = run("show", FIRST, *words, HOME=str(home))
    assert 64 == ran.code
    assert "--sign need" in ran.err


def test_a_session_without_turns_has_turn_0_alone(home):
    (only,) = run("show", SECOND, "--turns", "--json", HOME=str(home)).documents()
    assert (0, None, 2, "response") == (only["number"], only["prompt"], only["events"], only["end"])


@pytest.mark.parametrize(
    ("outcome", "effect"), [(None, ", so the call was let through without its answer"), ("deny", ", so the call was refused")]
)
def test_a_hook_that_failed_is_told_with_what_became_of_the_call(tmp_path, monkeypatch, outcome, effect):
    """
    And how hooks of derived events ran is shown with --all alone.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    ran = HookRun(hook="no-rm-rf", failure="timeout", outcome=outcome)
    decision = Decision(outcome=outcome, reason="it is late" if outcome else None)
    asked = stored(1, "before_tool_execute", decision, [ran], tool=call("shell", "c1", command="rm -rf /"))
    records = [asked, *hook_error_records(asked), build_runs_record(asked.event, [], [])]
    with Writer() as writer:
        writer.append([build_entry(Stored(event=one.event, decision=one.decision, runs=one.runs, level="minimal")) for one in records])

    plain, whole = run("show", HOME=str(tmp_path)).out, run("show", "--all", HOME=str(tmp_path)).out

    assert f"the hook no-rm-rf failed (timeout){effect}" in " ".join(plain.split())
    assert "something failed outside a tool" not in plain
    assert (False, True) == tuple("hook_runs" in text for text in (plain, whole))
