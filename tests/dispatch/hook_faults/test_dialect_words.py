"""Words by which a script's agent is known: what agents send and read is found, and what is ours is left alone."""

import re
from pathlib import Path

import pytest

from hookonce.agents import AGENTS
from hookonce.cli.setup import init
from hookonce.dispatch.hook_faults.dialect_words import find_dialect_word, has_wrong_answer
from hookonce.dispatch.hook_faults.manifest_hooks import HookPlace, hook_faults
from hookonce.manifest.load import parse_hook
from tests.dispatch.dialect_scripts import SCRIPTS
from tests.manifest.projects import command, put

ROOT = Path(__file__).parents[3]
FENCE = re.compile(r"^```(python|js|sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHARED = {"codex", "gemini-cli", "qwen-code", "factory-droid"}  # agents with the words of Claude Code


@pytest.mark.parametrize("agent", SCRIPTS)
def test_a_script_for_an_agent_is_known_by_its_words(agent):
    """
    Those of a single agent name it; for those that many agents share Claude Code is named, with a word of the others.
    """
    word = find_dialect_word(SCRIPTS[agent][1])

    assert ("claude-code" if agent in SHARED else agent, agent in {*SHARED, "claude-code"}) == (word.dialect, word.is_shared)
    assert word.dialect in AGENTS


FOREIGN = {
    'if json.load(sys.stdin).get("tool_name") == "Bash": sys.exit(2)': "tool_name",
    "name = data['tool_name']": "tool_name",
    "jq -r .tool_name": "tool_name",
    "jq -r '.[\"tool_name\"]'": "tool_name",
    "const { cwd, tool_name } = JSON.parse(input)": "tool_name",
    "if (input?.tool_name === 'Bash') process.exit(2)": "tool_name",
    "exit 2 if $data->{tool_name} eq 'Bash'": "tool_name",
    'echo \'{"decision":"block","reason":"no"}\'': "decision: block",
    'echo "{\\"decision\\": \\"approve\\"}"': "decision: approve",
    'print(json.dumps({"decision": "block"}))': "decision: block",
    "console.log(JSON.stringify({decision: 'block'}))": "decision: block",
    "puts({'decision' => 'block'}.to_json)": "decision: block",
    "jq -n '{decision: \"block\"}'": "decision: block",
    'out = {"hookEventName": "PreToolUse"}': "hookEventName",
    'out["permissionDecision"] = "deny"': "permissionDecision",
    "tool=$(jq -r .toolName)": "toolName",
    'echo \'{"permission": "deny"}\'': "permission: deny",
    "jq -r .tool_info.command_line": "tool_info",
}  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN)
def test_any_word_that_only_an_agent_has_is_found(text):
    assert FOREIGN[text] == find_dialect_word(text).text


OWN = [
    'name = event["tool"]["name"]; log({"tool_name": name})',
    "const tool_name = event.tool.name; console.error(`${tool_name} is not for here`)",
    "const { tool } = JSON.parse(input); const toolName = tool?.name; log.toolName = toolName",
    "jq '.tool | {tool_name: .native, tool_input: .input}' | ./for-claude.sh",
    'event.get("native", {}).get("tool_name")',
    "jq -r .native.tool_name",
    'event["data"]["hook_event_name"]',
    "from hookonce import hook\n# …\nanswer['hookSpecificOutput']",
    'print(json.dumps({"decision": "deny", "reason": "block"}))',
    'echo \'{"decision": "ask"}\'',
    'decision="block"\n[ "$decision" = "block" ] && exit 2',
    'if decision == "block": sys.exit(2)',
    'tool_name = "x"; print(f"{tool_name} = {tool_name}")',
    'data["prompt"], data["session"], data["agent"]',
    "grep -q 'rm -rf' && { echo '{\"decision\": \"block\"}'; exit 2; }",  # the exit code refuses
    "grep -q '\"tool_name\":\"Bash\"'",  # the agent's payload is a part of the event
]


@pytest.mark.parametrize("text", OWN)
def test_a_script_for_our_events_is_left_alone(text):
    """
    Also one that has words of an agent for something else: its variables, what it logs, and the payload in the event.
    """
    assert None is find_dialect_word(text)


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("jq -r .tool.input.command; echo '{\"decision\": \"block\"}'", True),
        ("jq -r .tool.input.command; echo '{\"decision\": \"deny\"}'", False),
        ("event.tool ? {decision: 'deny'} : {decision: 'block'}; tool.name", False),
        ("e.get('tool_name') or e['tool']['name']; {'decision': 'block'}", False),
        ("echo '{\"decision\": \"block\"}'", False),
        ("jq -r .tool.input.command; echo '{\"decision\": \"block\"}'; exit 2", False),
    ],
)
def test_an_answer_of_another_dialect_is_found_in_a_script_for_our_events(text, is_wrong):
    """
    Not in one for both, and not in one for Claude Code, whose dialect is missing.
    """
    assert is_wrong is has_wrong_answer(text)


def published_scripts():
    """Every script of the examples, of the documents and of `hookonce init`, by where it stands."""
    for file in sorted((ROOT / "examples").rglob("*.*")):
        if file.suffix in {".py", ".sh", ".mjs", ".js"}:
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
    for file in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, (_, text) in enumerate(FENCE.findall(file.read_text(encoding="utf-8"))):
            yield f"{file.name} {number}", text
    yield from ((name, text) for name, text in vars(init).items() if type(text) is str and text.startswith("#!"))


@pytest.mark.parametrize(("name", "text"), [pytest.param(*one, id=one[0]) for one in published_scripts()])
def test_no_script_that_we_publish_is_told(tmp_path, name, text):
    script = put(tmp_path / Path(name).name, text)

    hook = parse_hook(command(str(script), blocking=True))
    kinds = {fault.kind for fault in hook_faults(hook, HookPlace(tmp_path, tmp_path, "user"), {})}
    assert not {"dialect", "answer"} & kinds


@pytest.mark.parametrize("text", ["{tool_name ", "const{", "const ", "decision ", "{", "} ", "-> "])
def test_long_scripts_come_to_an_end(text):
    """
    Whoever wrote it, a session waits for what is said of it: with a slow pattern this test would take hours.
    """
    assert None is find_dialect_word(text * 30_000 + " " * 100_000)
    assert False is has_wrong_answer(f".tool.input {text * 30_000}")
