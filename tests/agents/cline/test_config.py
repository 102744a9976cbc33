"""Cline's hooks: generated scripts, run with a shell."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from tests.agents._config.node import NASTY, hook, plain_wording, render_file
from tests.shared import reference

CLINE = agents.load("cline")
SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
pytestmark = pytest.mark.skipif(not SHELLS, reason="there is no shell to run a script with")


def payload(tool="run_commands", event="tool_call", **given):
    """What the command line sends before a tool runs."""
    body = {"hookName": event, "taskId": "t", "tool_call": {"id": "1", "name": tool, "input": given}}
    return json.dumps(body | {"preToolUse": {"toolName": tool, "parameters": {}}}, separators=(",", ":"))


def run_script(folder, text, given=None, shell="sh"):
    """The answer of a script, None for none."""
    script = folder / "PreToolUse"
    script.write_text(text, encoding="utf-8")
    done = subprocess.run([shell, script], input=given or payload(), cwd=folder, capture_output=True, check=False, text=True, timeout=60)
    assert 0 == done.returncode
    return json.loads(done.stdout) if done.stdout.strip() else None


def answer(folder, *hooks, given=None, shell="sh"):
    return run_script(folder, render_file("cline", *hooks)[0], given, shell)


def parse_script(text, name="PreToolUse"):
    return CLINE.config.parse(CLINE, {"files": {name: text}})


def says(value):
    """A command that reads its input and answers."""
    return f"cat >/dev/null; echo '{json.dumps(value)}'"


CANCEL = {"cancel": True, "errorMessage": "no"}
CONTEXT = {"cancel": False, "context": "mind the gap"}


@pytest.mark.part(2)
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([CANCEL], CANCEL),
        ([CONTEXT, CANCEL], CANCEL),
        ([{}, CONTEXT, {"context": "second"}], CONTEXT),
        ([{}], None),
        ([{"overrideInput": {"cancel": True, "a": ["cancel", {"cancel": True}]}, "context": '"cancel":true'}, CANCEL], CANCEL),
        ([{"overrideInput": {"commands": ["ls"]}}], {"overrideInput": {"commands": ["ls"]}}),
        ([{"context": 'a " b {', "cancel": True}], {"context": 'a " b {', "cancel": True}),
    ],
)
def test_several_hooks_give_one_answer(said, expected, shell, tmp_path):
    """
    The first that has something to say is heard, but who cancels is heard before all others.
    """
    assert expected == answer(tmp_path, *(hook(says(one)) for one in said), shell=shell)


def test_hooks_run_in_order_with_the_same_input_until_one_cancels(tmp_path):
    """
    Each reads the whole payload; after a cancellation nobody is asked.
    """
    given = payload(commands=["echo 'a\\b' \"c\" é"])
    commands = ["cat >one; echo 1 >>log", "cat >two; echo 2 >>log", f"echo 3 >>log; {says(CANCEL)}", "echo 4 >>log"]

    assert CANCEL == answer(tmp_path, *map(hook, commands), given=given)

    assert "1\n2\n3\n" == (tmp_path / "log").read_text()
    assert given == (tmp_path / "one").read_text(encoding="utf-8") == (tmp_path / "two").read_text(encoding="utf-8")


@pytest.mark.part(3)
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("command", ["exit 3", "echo prose", "sleep 60", "./missing", "head -c 2000000 /dev/zero", "kill -9 $$"])
def test_without_a_valid_answer_the_fail_mode_counts(command, shell, tmp_path):
    """
    Open says nothing, one closed hook on the event makes every failure there a cancellation.
    """
    failing, closed = hook(command, timeout=1), hook("true", matcher="web_fetch", on_failure="closed")

    assert answer(tmp_path, failing, shell=shell) is None
    assert answer(tmp_path, failing, closed, shell=shell)["cancel"] is True


def test_a_failing_hook_does_not_silence_the_next(tmp_path):
    """
    What is no answer is passed over; so are words before the line that Cline reads.
    """
    assert CANCEL == answer(tmp_path, hook("echo prose"), hook(f"echo prose; printf 'HOOK_CONTROL\\t%s\\n' '{json.dumps(CANCEL)}'"))


def test_a_hook_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path):
    """
    A hook may say that lateness alone cancels or passes.
    """
    slow, began = "sleep 60 & echo $! >pid; wait", time.monotonic()

    assert answer(tmp_path, hook(slow, timeout=1, timeout_action="block"))["cancel"] is True
    assert answer(tmp_path, hook(slow, timeout=1, timeout_action="warn", on_failure="closed")) is None

    assert time.monotonic() - began < 20
    if shutil.which("timeout"):
        pid = (tmp_path / "pid").read_text().strip()
        assert not Path(f"/proc/{pid}").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text()


def test_something_left_running_does_not_keep_cline_waiting(tmp_path):
    """
    A hook that has ended has answered, whoever still holds its output.
    """
    began = time.monotonic()

    assert CANCEL == answer(tmp_path, hook(f"sleep 20 & {says(CANCEL)}"))
    assert time.monotonic() - began < 10


def test_time_is_kept_without_the_usual_program(tmp_path):
    """
    Where there is no `timeout` the shell itself watches the clock.
    """
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat", "cp", "cut", "date", "env", "grep", "head", "mktemp", "rm", "sed", "sleep", "tail", "tr", "wc"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    hooks = [hook("cat >given; echo >&2; sleep 60", timeout=1, timeout_action="block")]
    (tmp_path / "PreToolUse").write_text(render_file("cline", *hooks)[0])

    done = subprocess.run([shutil.which("sh"), "PreToolUse"], input=payload(), cwd=tmp_path, env={"PATH": str(tmp_path / "bin")}, capture_output=True, check=False, text=True, timeout=30)

    assert (True, payload()) == (json.loads(done.stdout)["cancel"], (tmp_path / "given").read_text())


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("matcher", "fits", "others"),
    [
        ("shell", ["run_commands", "execute_command"], ["read_files", "x__run_commands"]),
        ("file_write", ["write_to_file", "editor", "apply_patch"], ["read_files"]),
        ({"mcp": {"server": "gh"}}, ["gh__make"], ["ghx__make", "run_commands"]),
        ({"mcp": {"server": "my.server"}}, ["my_server__make_0a1b2c3d"], ["other__make"]),
        ({"mcp": {"server": "gh", "tool": "make"}}, ["gh__make"], ["gh__make2"]),
        ({"pattern": "^mcp:"}, ["gh__make"], ["run_commands", "read_files"]),
        ({"pattern": "^(shell|agent)$"}, ["run_commands", "spawn_agent"], ["editor"]),
        (["no such tool", "a\nb"], [], ["run_commands"]),
        (None, ["run_commands", "gh__make"], []),
    ],
)
def test_matchers_keep_their_meaning(matcher, fits, others, tmp_path):
    """
    The script sorts tools out by the name in the payload, whatever the tool's input pretends.
    """
    text, _ = render_file("cline", hook(says(CANCEL), matcher=matcher))

    assert [CANCEL] * len(fits) == [run_script(tmp_path, text, payload(tool, preToolUse={"toolName": "other"})) for tool in fits]
    assert [None] * len(others) == [run_script(tmp_path, text, payload(tool, note='"toolName":"run_commands"')) for tool in others]


def test_a_command_runs_where_and_with_what_its_handler_says(tmp_path):
    """
    Directory, environment and waiting are the script's own doing.
    """
    (tmp_path / "in here").mkdir()
    hooks = [
        hook("""printf '%s %s' "$A" "${PWD##*/}" >told""", env={"A": "b 'c'", "B": "$A"}, cwd="in here"),
        hook(f"cat >given; sleep 1; echo yes >later; {says(CANCEL)}", background=True),
    ]

    assert answer(tmp_path, *hooks) is None

    assert "b 'c' in here" == (tmp_path / "in here" / "told").read_text()
    for _ in range(50):
        if (tmp_path / "later").exists():
            break
        time.sleep(0.1)
    assert ("yes\n", payload()) == ((tmp_path / "later").read_text(), (tmp_path / "given").read_text())


def test_the_script_ends_before_cline_would_go_on_without_it(tmp_path):
    """
    A long timeout is cut to what the command line or the editor's extension grants.
    """
    text, _ = render_file("cline", hook("sleep 600", timeout=600, on_failure="closed"))
    short = text.replace("tool_time=110", "tool_time=2").replace("editor_time=27", "editor_time=1")

    for event in ("tool_call", "PreToolUse"):
        began = time.monotonic()
        assert run_script(tmp_path, short, payload(event=event))["cancel"] is True
        assert time.monotonic() - began < 10
    assert ("tool_time=2" in short, "editor_time=1" in short) == (True, True)


@pytest.mark.covers("HIF-106")
@pytest.mark.parametrize("shell", SHELLS)
def test_no_command_breaks_out_of_the_script(shell, tmp_path):
    """
    Whatever a command, a name or a folder holds, the script runs exactly that.
    """
    texts = [*NASTY, "".join(NASTY), "\nrun wait 1 '' . 'touch broken'\n", "$(touch broken)", "`touch broken`"]
    hooks = [hook(f"cat >/dev/null; cat >out{number} <<'END'\n{text}\nEND", name=text, env={"X": text}) for number, text in enumerate(texts)]

    assert answer(tmp_path, *hooks, shell=shell) is None

    assert [f"{text}\n" for text in texts] == [(tmp_path / f"out{number}").read_text(encoding="utf-8") for number in range(len(texts))]
    assert not (tmp_path / "broken").exists()
    assert (hooks, []) == parse_script(render_file("cline", *hooks)[0])


@given(command=st.text(min_size=1), name=st.none() | st.text(), timeout=st.none() | st.integers(0, 10**9) | st.floats(0, 10**6), matcher=st.none() | st.text() | st.lists(st.text(), max_size=3))
def test_what_is_generated_is_read_back_exactly(command, name, timeout, matcher):
    """
    The table holds the hooks as their manifest has them; what no script can hold is lost by name.
    """
    one = hook(command, name=name, timeout=timeout, matcher=matcher)

    made, gaps = CLINE.config.render(CLINE, [(0, one)], plain_wording)

    lost = [gap for gap in gaps if gap.effect == "lost"]
    assert ("\0" in command or any("\ud800" <= letter <= "\udfff" for letter in command)) == bool(lost)
    assert ([] if lost else [one], []) == CLINE.config.parse(CLINE, made)
    for text in made["files"].values():
        text.encode()


def test_each_event_has_its_script():
    """
    Scripts are called after the event in the configuration's words, and wrapped commands know those.
    """
    manifest = {
        "spec": "hooks/1.0",
        "hooks": [{"event": event, "handler": {"type": "command", "command": "./a.sh"}} for event in ("session_start", "before_tool_execute", "agent_stop", "after_model")],
    }

    made = convert(manifest, None, CLINE, adapt=WrapperOptions("/opt/hookonce-on", "user"))

    assert ["TaskStart", "PreToolUse", "TaskComplete"] == list(made.document["files"])
    assert "/opt/hookonce-on cline TaskStart --dialect canonical --run ./a.sh --scope user" in made.document["files"]["TaskStart"]
    assert {"$.hooks[3]"} == {gap.where for gap in made.gaps if gap.effect == "lost" and gap.where.endswith("]")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("./a.sh", "./b.sh"),  # in the table alone
        ("\nclosed=\n", "\nclosed=yes\n"),
        ('[ -z "$first" ]', 'touch x; [ -z "$first" ]'),
        ('"on": "PreToolUse"', '"on": "PostToolUse"'),
        ('{"hooks"', '{"hooks'),
    ],
)
def test_a_script_that_was_changed_by_hand_is_no_longer_ours(old, new):
    """
    Where table and script contradict each other, the script is somebody's code.
    """
    text, _ = render_file("cline", hook("./a.sh"))
    assert old in text

    ((found,), (gap,)) = parse_script(text.replace(old, new, 1))

    assert ("code", "$.files.PreToolUse") == (found.handler.type, gap.where)
    assert "changed by hand" in gap.note


def test_somebodys_script_stays_a_file():
    """
    The scripts with which Cline was run are one hook each, come back as they were, and are lost elsewhere by name.
    """
    folder = reference("lab", "configs", "cline")
    document = {"files": {file.name: file.read_text(encoding="utf-8") for file in sorted(folder.iterdir())}}

    hooks, gaps = CLINE.config.parse(CLINE, document)

    assert (10, 10) == (len(hooks), len(gaps))
    assert (document, []) == CLINE.config.render(CLINE, list(enumerate(hooks)), plain_wording)
    made = convert(document, CLINE, agents.load("claude-code"))
    assert {f"$.hooks[{index}]" for index in range(10)} == {gap.where for gap in made.gaps if gap.effect == "lost"}


def test_our_script_stands_beside_somebodys():
    """
    Another's script keeps its name; ours takes another that the command line runs too, and says so.
    """
    foreign, _ = CLINE.config.parse(CLINE, {"files": {"pretooluse": "#!/bin/sh\n", "PreToolUse.sh": "#!/bin/sh\n"}})

    made, gaps = CLINE.config.render(CLINE, list(enumerate([*foreign, hook("./a.sh"), hook("./b.sh")])), plain_wording)

    assert {"pretooluse", "PreToolUse.sh", "PreToolUse.bash"} == made["files"].keys()
    assert ["$.hooks[2].file", "$.hooks[3].file"] == [gap.where for gap in gaps]
    assert {None, "./a.sh", "./b.sh"} == {one.handler.command for one in CLINE.config.parse(CLINE, made)[0]}


def test_where_all_names_are_taken_hooks_are_lost_by_name():
    """
    No hook is dropped without a word.
    """
    foreign, _ = CLINE.config.parse(CLINE, {"files": {f"PreToolUse{ending}": "x" for ending in ("", ".sh", ".bash", ".zsh")}})

    _, gaps = CLINE.config.render(CLINE, list(enumerate([*foreign, hook("./a.sh"), hook("./b.sh")])), plain_wording)

    assert [("$.hooks[4]", "lost"), ("$.hooks[5]", "lost")] == [(gap.where, gap.effect) for gap in gaps]


@pytest.mark.parametrize(
    ("document", "hooks", "gaps"),
    [({}, 0, 0), ({"files": 5}, 0, 0), ({"files": {"PreToolUse": 5}}, 0, 1), ({"files": {"README.md": "x"}}, 0, 1), ({"files": {"PRETOOLUSE.PY": ""}}, 1, 1), ({"files": {"Stop": "x"}}, 0, 1)],
)
def test_nothing_that_is_read_raises_or_vanishes(document, hooks, gaps):
    """
    A file that is no script for an event has a gap.
    """
    found, told = CLINE.config.parse(CLINE, document)

    assert (hooks, gaps) == (len(found), len(told))


@pytest.mark.parametrize("env", [{"A B": "x"}, {"-u": "x"}, {"A": "\0"}])
def test_what_no_shell_takes_is_lost_by_name(env):
    """
    A name that would be an option, or a value that cannot be written, is no variable.
    """
    made, gaps = CLINE.config.render(CLINE, [(0, hook("./a.sh", env=env))], plain_wording)

    assert ({"files": {}}, [("$.hooks[0]", "lost")]) == (made, [(gap.where, gap.effect) for gap in gaps])
