"""VS Code's hook files: a command for each system, Copilot CLI's keys and Claude Code's groups too, no matchers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import WrapperOptions, convert
from tests.agents._config.node import plain_wording

CODE = agents.load("vs-code-copilot")
COPILOT = agents.load("copilot-cli")
CLAUDE = agents.load("claude-code")

# Made up by us after Visual Studio Code's hooks documentation of 2026-06: a plain entry, one with a command for each
# system, one with Copilot CLI's keys and its name of the event, and Claude Code's group, whose matcher is ignored.
NATIVE = {
    "hooks": {
        "PreToolUse": [
            {"type": "command", "command": "./validate.sh", "timeout": 15},
            {"type": "command", "command": "./f.sh", "windows": "powershell -File f.ps1", "linux": "./f-linux.sh", "osx": "./f-mac.sh", "cwd": "tools", "env": {"LOG": "a.log"}},
            {"type": "command", "command": "./short.sh", "timeoutSec": 5},
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "./g.sh"}, {"command": "./h.sh", "windows": "h.ps1"}]},
        ],
        "preToolUse": [{"type": "command", "matcher": "bash", "bash": "./cli.sh", "powershell": "./cli.ps1", "timeoutSec": 30}],
        "Stop": [{"type": "command", "command": "./s.sh"}],
        "agentStop": [{"type": "command", "bash": "./t.sh"}],
        "sessionEnd": [{"type": "http", "url": "https://hooks.example.com"}],
    }
}


def round_trip(document):
    """A configuration parsed and rendered."""
    hooks, faults = CODE.config.parse(CODE, document)
    rendered, unsaid = CODE.config.render(CODE, list(enumerate(hooks)), plain_wording)
    return rendered, faults, unsaid


def convert_hook(hook, **options):
    """The one entry that a hook of a manifest becomes, its event, and the gaps."""
    done = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CODE, **options)
    ((native, (entry,)),) = done.document["hooks"].items()
    return native, entry, done.gaps


def test_everything_that_the_editor_accepts_comes_back_as_it_was():
    """
    Its own keys, those of Copilot CLI and the groups of Claude Code.
    """
    assert (NATIVE, [], []) == round_trip(NATIVE)


def test_what_the_entries_mean():
    """
    A system's own key beats a shell's, the matcher of a group says nothing, and old names are known events.
    """
    hooks, _ = CODE.config.parse(CODE, NATIVE)
    told = {one.handler.command: one for one in hooks}

    assert {"windows": "powershell -File f.ps1", "linux": "./f-linux.sh", "darwin": "./f-mac.sh"} == told["./f.sh"].handler.platform
    assert ("tools", {"LOG": "a.log"}) == (told["./f.sh"].handler.cwd, told["./f.sh"].handler.env)
    assert (15, 5, 30) == (told["./validate.sh"].handler.timeout, told["./short.sh"].handler.timeout, told["./cli.sh"].handler.timeout)
    assert {None} == {one.matcher for one in hooks}
    assert ({"windows": "./cli.ps1"}, "before_tool_execute") == (told["./cli.sh"].handler.platform, told["./cli.sh"].event)
    mixed, _ = CODE.config.parse(CODE, {"hooks": {"Stop": [{"type": "command", "bash": "b", "linux": "l", "windows": "w", "powershell": "p"}]}})
    assert ("b", {"linux": "l", "windows": "w"}) == (mixed[0].handler.command, mixed[0].handler.platform)


def test_a_hook_of_a_manifest_is_a_flat_entry():
    """
    Seconds, a command for each system, its folder and its variables; and no version, which means Copilot CLI.
    """
    handler = {"type": "command", "command": "x", "platform": {"windows": "w", "linux": "l", "osx": "o"}, "cwd": "c", "env": {"A": "1"}, "timeout": 5}
    native, entry, gaps = convert_hook({"event": "before_tool_execute", "blocking": True, "handler": handler})

    assert "PreToolUse" == native
    assert {"type": "command", "command": "x", "windows": "w", "linux": "l", "osx": "o", "cwd": "c", "env": {"A": "1"}, "timeout": 5} == entry
    assert [] == gaps
    assert ["hooks"] == list(convert(NATIVE, CODE, CODE).document)


@pytest.mark.covers("HIF-99")
@pytest.mark.parametrize("matcher", ["shell", ["shell", "file_read"], {"pattern": "^file_"}, {"mcp": {"server": "github"}}])
def test_a_matcher_is_a_gap(matcher):
    """
    The hook sees every tool; who must sort them out is said.
    """
    _, entry, (gap,) = convert_hook({"event": "before_tool_execute", "blocking": True, "matcher": matcher, "handler": {"type": "command", "command": "x"}})

    assert "matcher" not in entry
    assert ("$.hooks[0].matcher", "matcher", "prevents") == (gap.where, gap.capability, gap.effect)
    assert "ignores matchers on PreToolUse: the hook runs for every tool, and its script, or a wrapper" in gap.note


def test_what_a_claude_hook_loses_here():
    """
    Its matcher, by name; an event that the editor lacks takes the hook with it.
    """
    entry = {"type": "command", "command": "./x.sh"}
    document = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [entry]}], "SessionEnd": [{"hooks": [entry]}]}}

    done = convert(document, CLAUDE, CODE, adapt=WrapperOptions("/opt/bin/hookonce-on", "user"))

    assert [("matcher", "prevents"), ("event", "lost")] == [(gap.capability, gap.effect) for gap in done.gaps]
    ((made_entry,),) = done.document["hooks"].values()
    assert "/opt/bin/hookonce-on vs-code-copilot PreToolUse --dialect claude-code --run ./x.sh --scope user" == made_entry["command"]


def test_a_kind_of_handler_that_the_editor_lacks_stays_in_its_file():
    """
    What only Copilot CLI runs comes back here, and is lost by name elsewhere.
    """
    document = {"hooks": {"Stop": [{"type": "http", "url": "https://hooks.example.com"}, {"type": "prompt", "prompt": "x"}]}}

    assert document == convert(document, CODE, CODE).document
    assert ["vs-code-copilot:http", "vs-code-copilot:prompt"] == [gap.note.split()[-1] for gap in convert(document, CODE, CLAUDE).gaps]


def test_our_file_is_not_the_one_of_copilot_cli():
    """
    Both read the same folders, so that each has a file of its own, and each knows that it obeys the other.
    """
    assert set(CODE.config.files.values()).isdisjoint(COPILOT.config.files.values())
    assert "copilot-cli" in CODE.config.borrows
    assert "vs-code-copilot" in COPILOT.config.borrows
    assert len(CODE.events) == len(build_entries(CODE, "user", "/opt/bin/hookonce-on"))


@pytest.mark.parametrize("own", [{"windows": "evil", "bash": "evil"}, {"exec": "evil"}, {"hooks": [{"command": "evil"}]}, {"windows/linux/osx": {"linux": "evil"}}, {"hookonce": {"keys": ["bash"], "nested": True, "group": {"hooks": "evil"}}}])
def test_provider_data_does_not_change_what_runs(own):
    """
    Keys that the editor would listen to do not come in by the side door.
    """
    _, entry, gaps = convert_hook({"event": "session_start", "provider_data": {"vs-code-copilot": own}, "handler": {"type": "command", "command": "./x.sh"}})

    assert "evil" not in json.dumps(entry)
    assert [] == gaps


texts = st.sampled_from(["a", "./b.sh -x", "c 'd e'"])
keys = ("command", "bash", "powershell", "windows", "linux", "osx")
entries = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(keys, texts) | {"type": st.just("command"), "timeout": st.integers(1, 9), "timeoutSec": st.integers(1, 9), "matcher": texts, "new": st.none()}
).filter(lambda entry: entry.keys() & set(keys))
groups = st.fixed_dictionaries({"hooks": st.lists(entries.map(lambda entry: {key: entry[key] for key in entry if key != "matcher"}), min_size=1, max_size=3)}, optional={"matcher": texts})
documents = st.dictionaries(st.sampled_from(["PreToolUse", "preToolUse", "Stop", "Unheard"]), st.lists(entries | groups, min_size=1, max_size=3), max_size=3).map(lambda hooks: {"hooks": hooks})


@given(documents)
def test_any_configuration_comes_back_as_it_was(document):
    """
    render(parse(native)) is native, whatever keys stand together.
    """
    rendered, faults, unsaid = round_trip(document)

    assert (document, []) == (rendered, faults)
    assert all("alone is heard" in gap.note for gap in unsaid)


@given(documents)
def test_both_copilots_understand_each_other(document):
    """
    Every command arrives in Copilot CLI's file and comes back, whatever the two call it.
    """
    there = convert(document, CODE, COPILOT)
    back = convert(there.document, COPILOT, CODE)

    commands = [sorted(one.handler.command for one in agent.config.parse(agent, text)[0]) for agent, text in ((CODE, document), (COPILOT, there.document), (CODE, back.document))]
    lost = sum(len({gap.where for gap in one.gaps if gap.effect == "lost" and gap.where.endswith("]")}) for one in (there, back))
    assert lost == len(commands[0]) - len(commands[2])
    assert lost or commands[0] == commands[1] == commands[2]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hooks", "Stop", "type", "command", "linux", "matcher"]), inner, max_size=4), max_leaves=12))
def test_nothing_that_is_json_makes_it_stumble(value):
    """
    What is not understood is told, and what is understood can be written again.
    """
    found, gaps = CODE.config.parse(CODE, {"hooks": {"Stop": value}})
    document, _ = CODE.config.render(CODE, list(enumerate(found)), plain_wording)

    assert all(gap.effect == "lost" for gap in gaps)
    assert [] == CODE.config.parse(CODE, document)[1]
