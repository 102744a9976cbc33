"""What the scripted model does: each scenario a list of turns, each turn the steps that it takes at once.

A step is a tool of the canon with the canon's arguments; `{dir}` is the project's folder, `{mark:NAME}` a prompt that
starts the scenario of that name in a sub-agent. When a scenario is over, the model says so in a sentence.
"""

from msgspec import Struct

from hookonce.model import Object

SERVER, ECHO = "lab", "echo"
MCP = f"mcp:{SERVER}/{ECHO}"
SECRET = "the-secret-of-the-lab"  # noqa: S105  what the file says that is read
LONG = 20_000  # characters


class Step(Struct, frozen=True):
    """One tool call, in canonical words."""

    tool: str
    input: Object


class Scenario(Struct, frozen=True, kw_only=True):
    """Turns of steps, or what goes wrong instead; `files` are there before it begins."""

    turns: list[list[Step]] = []
    files: dict[str, str] = {}
    error: int | None = None
    ending: str = "All done."


def step(tool: str, **given: object) -> Step:
    """A step, written in short."""
    return Step(tool, given)


SHELL = step("shell", command="echo one > shell.txt; echo ran")
WRITE = step("file_write", path="{dir}/written.txt", content="alpha\nbeta\n")
EDIT = step("file_edit", path="{dir}/edited.txt", old_text="beta", new_text="gamma")
LOOK = step("file_read", path="{dir}/edited.txt")  # some agents edit only what they have read
READ = step("file_read", path="{dir}/secret.txt")
CALL = step(MCP, text="hello")
TASK = step("agent", prompt="{mark:sub}", description="a sub-agent of the lab")
FAIL = step("shell", command="sleep 1; echo oops >&2; exit 3")  # a second in which sub-agents come to an end
FETCH = step("web_fetch", url="{url}/page.html", prompt="what does it say?")
_FILES = {"edited.txt": "alpha\nbeta\n", "secret.txt": f"{SECRET}\n"}

# The steps that can be refused, by the word for them.
STEPS = {"shell": [[SHELL]], "write": [[WRITE]], "edit": [[LOOK], [EDIT]], "read": [[READ]], "mcp": [[CALL]]}
STEPS |= {"agent": [[TASK]]}
_ALL = [turn for turns in STEPS.values() for turn in turns]


def _makes(name: str) -> list[Step]:
    return [step("shell", command=f"echo {name} > {name}.txt")]


SCENARIOS: dict[str, Scenario] = {
    "talk": Scenario(),
    "long": Scenario(ending="word " * (LONG // 5)),
    "tour": Scenario(turns=[*_ALL, [FAIL]], files=_FILES),
    "errand": Scenario(turns=[*(turn for turn in _ALL if turn != [TASK]), [FAIL]], files=_FILES),
    "sub": Scenario(turns=[[step("shell", command="echo two > sub.txt")]]),
    "pair": Scenario(turns=[[*_makes("first"), *_makes("second")]]),
    "error": Scenario(error=400),
    "missing": Scenario(turns=[[step("file_read", path="{dir}/missing.txt")]]),
    "tasks": Scenario(
        turns=[
            [step("TaskCreate", subject="A task", description="of the lab", activeForm="Working")],
            [step("TaskUpdate", taskId="1", status="completed")],
        ]
    ),
    "walk": Scenario(turns=[[step("shell", command="mkdir below && cd below && pwd")], [step("shell", command="pwd")]]),
    "fetch": Scenario(turns=[[FETCH]]),
    "remove": Scenario(
        turns=[_makes("before"), [step("shell", command="rm -rf victim")]], files={"victim/kept.txt": "kept\n"}
    ),
    **{f"refuse-{word}": Scenario(turns=[*turns, [FAIL]], files=_FILES) for word, turns in STEPS.items()},
    "refuse": Scenario(turns=[*_ALL, [FAIL]], files=_FILES),
    **{f"fail-{word}": Scenario(turns=[_makes("woken"), _makes(word)]) for word in ("crash", "late", "garbage")},
    "fail-death": Scenario(turns=[_makes("woken"), _makes("death"), _makes("after")]),
    "fail": Scenario(turns=[_makes(word) for word in ("woken", "crash", "late", "garbage")]),
}
