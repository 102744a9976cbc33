"""Scenarios of the scripted model: turns of steps, and the prompt markers that start them.

A step is a canonical tool with canonical arguments; `{dir}` is the project's folder, `{mark:NAME}` a prompt that
starts the scenario NAME in a sub-agent. When a scenario is over, the model says so in a sentence.
"""

import re
from urllib.parse import quote, unquote

from msgspec import Struct

from hookonce.model import Object

MCP_SERVER, MCP_ECHO = "lab", "echo"
MCP_TOOL = f"mcp:{MCP_SERVER}/{MCP_ECHO}"
FILE_SECRET = "the-secret-of-the-lab"  # noqa: S105  what the file says that is read
LONG_ANSWER_CHARS = 20_000  # characters


class ScenarioStep(Struct, frozen=True):
    """One tool call, in canonical words."""

    tool: str
    input: Object


class Scenario(Struct, frozen=True, kw_only=True):
    """Turns of steps, or what goes wrong instead; `files` are there before it begins."""

    turns: list[list[ScenarioStep]] = []
    files: dict[str, str] = {}
    error: int | None = None
    ending: str = "All done."


def build_step(tool: str, **arguments: object) -> ScenarioStep:
    """A step, written in short."""
    return ScenarioStep(tool, arguments)


SHELL_STEP = build_step("shell", command="echo one > shell.txt; echo ran")
WRITE_STEP = build_step("file_write", path="{dir}/written.txt", content="alpha\nbeta\n")
EDIT_STEP = build_step("file_edit", path="{dir}/edited.txt", old_text="beta", new_text="gamma")
READ_BEFORE_EDIT = build_step("file_read", path="{dir}/edited.txt")  # some agents edit only what they have read
READ_STEP = build_step("file_read", path="{dir}/secret.txt")
MCP_STEP = build_step(MCP_TOOL, text="hello")
SUBAGENT_STEP = build_step("agent", prompt="{mark:sub}", description="a sub-agent of the lab")
FAIL_STEP = build_step("shell", command="sleep 1; echo oops >&2; exit 3")  # a second in which sub-agents come to an end
FETCH_STEP = build_step("web_fetch", url="{url}/page.html", prompt="what does it say?")
_FILES = {"edited.txt": "alpha\nbeta\n", "secret.txt": f"{FILE_SECRET}\n"}

# The steps that can be refused, by the word for them.
DENIABLE_STEPS = {
    "shell": [[SHELL_STEP]],
    "write": [[WRITE_STEP]],
    "edit": [[READ_BEFORE_EDIT], [EDIT_STEP]],
    "read": [[READ_STEP]],
    "mcp": [[MCP_STEP]],
    "agent": [[SUBAGENT_STEP]],
}
_ALL_TURNS = [turn for turns in DENIABLE_STEPS.values() for turn in turns]


def _write_file_turn(name: str) -> list[ScenarioStep]:
    return [build_step("shell", command=f"echo {name} > {name}.txt")]


SCENARIOS: dict[str, Scenario] = {
    "talk": Scenario(),
    "long": Scenario(ending="word " * (LONG_ANSWER_CHARS // 5)),
    "tour": Scenario(turns=[*_ALL_TURNS, [FAIL_STEP]], files=_FILES),
    "errand": Scenario(turns=[*(turn for turn in _ALL_TURNS if turn != [SUBAGENT_STEP]), [FAIL_STEP]], files=_FILES),
    "sub": Scenario(turns=[[build_step("shell", command="echo two > sub.txt")]]),
    "pair": Scenario(turns=[[*_write_file_turn("first"), *_write_file_turn("second")]]),
    "error": Scenario(error=400),
    "missing": Scenario(turns=[[build_step("file_read", path="{dir}/missing.txt")]]),
    "tasks": Scenario(
        turns=[
            [build_step("TaskCreate", subject="A task", description="of the lab", activeForm="Working")],
            [build_step("TaskUpdate", taskId="1", status="completed")],
        ]
    ),
    "walk": Scenario(
        turns=[[build_step("shell", command="mkdir below && cd below && pwd")], [build_step("shell", command="pwd")]]
    ),
    "fetch": Scenario(turns=[[FETCH_STEP]]),
    "remove": Scenario(
        turns=[_write_file_turn("before"), [build_step("shell", command="rm -rf victim")]],
        files={"victim/kept.txt": "kept\n"},
    ),
    **{f"refuse-{word}": Scenario(turns=[*turns, [FAIL_STEP]], files=_FILES) for word, turns in DENIABLE_STEPS.items()},
    "refuse": Scenario(turns=[*_ALL_TURNS, [FAIL_STEP]], files=_FILES),
    **{
        f"fail-{word}": Scenario(turns=[_write_file_turn("woken"), _write_file_turn(word)])
        for word in ("crash", "late", "garbage")
    },
    "fail-death": Scenario(turns=[_write_file_turn("woken"), _write_file_turn("death"), _write_file_turn("after")]),
    "fail": Scenario(turns=[_write_file_turn(word) for word in ("woken", "crash", "late", "garbage")]),
}


_MARKER_PATTERN = re.compile(r"\[\[hookonce scenario=([\w-]+) agent=([\w-]+) dir=([^\]\s]+)\]\]")


def scenario_marker(scenario: str, agent: str, folder: str) -> str:
    """Marker in a prompt that makes the model play a scenario."""
    return f"[[hookonce scenario={scenario} agent={agent} dir={quote(folder, safe='/{}')}]]"


def scenario_prompt(scenario: str, agent: str, folder: str) -> str:
    """Prompt that makes the model play a scenario."""
    return f"Please go on. {scenario_marker(scenario, agent, folder)}"


def find_markers(text: str) -> list[tuple[str, str, str]]:
    """Find the markers of a text: scenario, agent and folder of each."""
    return [(match[1], match[2], unquote(match[3])) for match in _MARKER_PATTERN.finditer(text)]
