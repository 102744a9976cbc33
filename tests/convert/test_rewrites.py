"""A hook that changes input runs nowhere where its change would not be heard."""

import json
import subprocess

import pytest

from hookonce import agents
from hookonce.convert.conversion import WrapperOptions, convert
from hookonce.convert.rewrites import rewrite_events
from hookonce.manifest.degrade import REWRITABLE_EVENTS
from hookonce.model import Reply

ADAPT = WrapperOptions("/home/me/.local/share/hookonce/bin/hookonce-on")
ABLE = list(agents.AGENTS)
LACKING = [name for name in ABLE if "before_tool_execute" not in rewrite_events(agents.load(name))]
SCRIPTS = {
    "the format": '#!/bin/sh\necho \'{"updated_input": {"command": "true"}}\'\n',
    "Claude Code": "print(json.dumps({'hookSpecificOutput': {'updatedInput': {}}}))\n",
    "Copilot": 'echo \'{"permissionDecision":"allow","modifiedArgs":{}}\'\n',
    "Cline": "echo '{\"overrideInput\": {}}'\n",
    "Gemini": "jq '{hookSpecificOutput: {hookEventName: \"BeforeTool\", tool_input: {}}}'\n",
    "a function": "from hookonce import deny, hook, rewrite\n",
}


def document(event="before_tool_execute", **fields):
    """A manifest with one hook, whose script is ./rw."""
    return {
        "spec": "hooks/1.0",
        "hooks": [
            {"event": event, "matcher": "shell", "blocking": True, "handler": {"type": "command", "command": "./rw"}}
            | fields
        ],
    }


def commands(agent, made):
    """The commands that an agent finds in what was made for it."""
    return [hook.handler.command for hook in agent.config.parse(agent, made.document)[0]]


def run(command):
    """How a hook's command ends."""
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False, cwd="/", text=True)
    return Reply(code=done.returncode, stdout=done.stdout, stderr=done.stderr)


def refuses(command):
    """Whether a command refuses whatever it is asked, in one of the ways that agents read."""
    reply = run(command)
    return 2 == reply.code or (reply.code == 0 and "deny" == json.loads(reply.stdout).get("decision"))


def test_some_agents_take_no_new_input():
    """
    Those of which no event for tools can be answered with other input, as their pages have it.
    """
    assert {"kiro", "windsurf", "devin"} <= set(LACKING)
    assert {"claude-code", "gemini-cli", "cursor", "codex"}.isdisjoint(LACKING)


@pytest.mark.covers("HIF-72", "HIF-102", "HIF-57")
@pytest.mark.parametrize("adapt", [None, ADAPT], ids=["bare", "wrapped"])
@pytest.mark.parametrize("name", LACKING)
def test_to_say_what_to_do_without_is_enough(name, adapt):
    """
    A manifest as the specification prints it, without a list of capabilities, gets its guard and a gap that names why;
    what is merely listed gets neither.
    """
    agent = agents.load(name)

    made = convert(document(degradation={"input_rewrite": "block"}), None, agent, adapt=adapt)
    listed = convert(document(capabilities=["input_rewrite"]), None, agent, adapt=adapt)

    assert [("block", "prevents")] == [(gap.strategy, gap.effect) for gap in made.gaps if gap.capability == "input_rewrite"]
    assert all(map(refuses, commands(agent, made)))
    assert convert(document(), None, agent, adapt=adapt).gaps == listed.gaps


@pytest.mark.covers("HIF-72", "HIF-103", "HIF-60")
@pytest.mark.parametrize("words", SCRIPTS)
@pytest.mark.parametrize("name", ["kiro", "windsurf", "antigravity"])
def test_a_script_that_rewrites_is_guarded(name, words, tmp_path):
    """
    By the words in it, wherever its author comes from; one that only judges runs as it is, and the author may say warn.
    """
    agent, where = agents.load(name), [tmp_path]
    (tmp_path / "rw").write_text("#!/bin/sh\ncat >/dev/null # tool_input\nexit 2\n")
    plain = convert(document(), None, agent, folders=where)
    (tmp_path / "rw").write_text(SCRIPTS[words])

    made = convert(document(), None, agent, folders=where)
    wrapped = convert(document(), None, agent, adapt=ADAPT, folders=where)
    warned = convert(document(degradation={"input_rewrite": "warn"}), None, agent, folders=where)

    assert ["./rw"] == commands(agent, plain) == commands(agent, warned)
    assert "input_rewrite" not in [gap.capability for gap in plain.gaps]
    assert all(map(refuses, commands(agent, made)))
    assert [("input_rewrite", "block")] == [
        (gap.capability, gap.strategy) for gap in made.gaps if gap.strategy == "block"
    ]
    assert ["input_rewrite"] == [gap.capability for gap in wrapped.gaps if gap.strategy == "block"]
    assert (["./rw"], True) == (commands(agent, wrapped), "hookonce-on" in json.dumps(wrapped.document))


@pytest.mark.covers("HIF-72")
@pytest.mark.parametrize("event", sorted(REWRITABLE_EVENTS))
@pytest.mark.parametrize("name", [name for name in ABLE if agents.load(name).config.language != "code"])
def test_a_guard_is_heard_by_its_agent(name, event):
    """
    By its exit code, or where that refuses nothing, or not in every version, by the answer that the agent reads.
    """
    agent = agents.load(name)
    native = agents.config_event_of(agent, event)
    guarded = {"degradation": {"llm_evaluated": "block"}, "handler": {"type": "prompt", "prompt": "is it right?"}, "name": "it's \"me\""}

    made = convert(document(event, **guarded), None, agent)

    for command in filter(None, commands(agent, made)) if native and "prevent" in agents.point_of(agent, native).capabilities else []:
        reply = run(command)
        assert "deny" == agent.read_reply(native, reply).outcome
        assert agent.config.exit_code_refuses or (0, "deny") == (reply.code, json.loads(reply.stdout)["decision"])


@pytest.mark.parametrize(
    "command",
    ["./rw", "python3 $CLAUDE_PROJECT_DIR/hooks/rw.py", 'sh -c "hooks/rw.py"', "echo '{\"updated_input\": {}}'"],
)
def test_a_script_is_found_however_it_is_called(command, tmp_path):
    """
    Beside the file, below a folder that a variable names, in quotes, or in the command itself.
    """
    (tmp_path / "hooks").mkdir()
    for name in ("rw", "hooks/rw.py"):
        (tmp_path / name).write_text(SCRIPTS["Claude Code"])
    kiro = agents.load("kiro")

    made = convert(document(handler={"type": "command", "command": command}), None, kiro, folders=[tmp_path])

    assert all(map(refuses, commands(kiro, made)))


def test_a_script_of_the_target_itself_is_left_alone(tmp_path):
    """
    Whoever wrote it for an agent that takes no input knew what would be heard.
    """
    (tmp_path / "rw").write_text(SCRIPTS["the format"])
    kiro = agents.load("kiro")

    made = convert(document(dialect="kiro"), None, kiro, adapt=ADAPT, folders=[tmp_path])

    assert ["./rw"] == commands(kiro, made)


@pytest.mark.covers("HIF-102")
@pytest.mark.parametrize("name", ABLE)
@pytest.mark.parametrize("event", sorted(REWRITABLE_EVENTS))
def test_an_agent_may_take_new_input_at_one_event_and_not_at_another(name, event):
    """
    A prompt that cannot be rewritten is refused where a tool's input can be, and the other way round.
    """
    agent = agents.load(name)

    made = convert(document(event, degradation={"input_rewrite": "block"}), None, agent)

    is_guarded = any(gap.capability == "input_rewrite" for gap in made.gaps)
    assert is_guarded == (event not in rewrite_events(agent))


@pytest.mark.covers("HIF-X8")
def test_cursor_rewrites_at_one_of_its_events(tmp_path):
    """
    A hook that came from an event that takes no input goes to the one that does, once its script rewrites.
    """
    cursor = agents.load("cursor")
    (tmp_path / "rw").write_text(SCRIPTS["the format"])
    home = {"provider_data": {"cursor": {"hookonce": {"event": "beforeShellExecution"}}}}

    assert ["beforeShellExecution"] == list(convert(document(**home), None, cursor).document["hooks"])
    assert ["preToolUse"] == list(convert(document(**home), None, cursor, folders=[tmp_path]).document["hooks"])


def test_what_is_kept_beside_the_file_is_the_manifest_as_it_was(tmp_path):
    """
    That a script rewrites is found and not written down.
    """
    (tmp_path / "rw").write_text(SCRIPTS["the format"])
    kiro = agents.load("kiro")

    made = convert(document(), None, kiro, folders=[tmp_path])

    back = convert(made.document, kiro, None, beside=json.loads(json.dumps(made.side)))
    assert document()["hooks"] == back.document["hooks"]
