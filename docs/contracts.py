"""docs/extending.md: the fields of each contract, from the source, and the files that adding one touches."""

import ast
from pathlib import Path
from typing import NamedTuple

from page import GENERATED_NOTE, code, table

ROOT = Path(__file__).resolve().parent.parent
MODEL = "src/hookonce/model.py"
INTRODUCTION = """\
What hookonce is made of has a contract: a struct whose fields are all that the rest of the code knows about it. To add
one is to fill in such a struct and to name it in one list. Every field stands here with the comment that the source
has; a field with a default may be left out."""


class Contract(NamedTuple):
    """A struct, where it stands, what it is for, and the files that adding one touches."""

    name: str
    file: str
    purpose: str
    files: dict[str, str]  # {name} is the new one's
    example: str  # one that is there


CONTRACTS = (
    Contract(
        "Agent",
        MODEL,
        "A coding agent: one folder and one line. `hookonce agents`, the matrix and the agent's page follow from it.",
        {
            "src/hookonce/agents/{name}/agent.py": "`AGENT`, the table; what is left out means the ordinary way",
            "src/hookonce/agents/{name}/reply.py": "how it is answered, and how answers of its hooks are read",
            "src/hookonce/agents/__init__.py": "one line in `AGENTS`",
            "tests/golden/{name}": "a recorded payload for each event, and what is expected of it",
        },
        "codex",
    ),
    Contract(
        "Config",
        MODEL,
        "The configuration of an agent, in its table. Without one, hooks cannot be installed or converted.",
        {
            "src/hookonce/agents/{name}/agent.py": "`config=Config(…)` in the table",
            "src/hookonce/agents/{name}/config.py": "`render` and `parse`, where those of `agents/_config` do not do",
        },
        "codex",
    ),
    Contract(
        "Point",
        MODEL,
        "A lifecycle point in `Config.points`: no file but the agent's own.",
        {"src/hookonce/agents/{name}/agent.py": "one line in `points`"},
        "codex",
    ),
    Contract(
        "Format",
        MODEL,
        "An event envelope: one module and one line. `translate`, `check` and docs/formats.md follow from it.",
        {
            "src/hookonce/formats/{name}.py": "`FORMAT`, with functions that write and read a record",
            "src/hookonce/formats/__init__.py": "one line in `FORMATS`, one in `_RECOGNISERS`",
            "schemas/{name}.json": "the published schema of its documents",
            "src/hookonce/diagnose/document_check.py": "one line in `CONFORMANCE_TITLES`, what a valid file is called",
        },
        "cloudevents",
    ),
    Contract(
        "Handler",
        MODEL,
        "What a hook runs, as the manifest writes it. A new type is a module that turns it into an `Operation`.",
        {
            "src/hookonce/handlers/{name}.py": "the operation: what is started, sent or called",
            "src/hookonce/model.py": "the type in `HandlerType`, and fields that only it has",
            "src/hookonce/manifest/schema.py": "its fields in the schema of the manifest",
            "src/hookonce/dispatch/prepare.py": "from handler to operation, and from its result to a decision",
            "src/hookonce/dispatch/hook_faults/handlers.py": "what keeps it from running, found without running it",
        },
        "http",
    ),
    Contract(
        "Check",
        "src/hookonce/diagnose/diagnosis.py",
        "A check of `hookonce doctor`: one function and one line.",
        {
            "src/hookonce/diagnose/checks/{name}.py": "the function: a `Diagnosis` for each thing that is wrong",
            "src/hookonce/diagnose/doctor.py": "one line in `CHECKS`",
        },
        "record",
    ),
    Contract(
        "Driver",
        "src/hookonce/lab/drivers/__init__.py",
        "How the lab runs a real agent without a person: one module and one line; `prove` follows from it.",
        {
            "src/hookonce/lab/drivers/{name}.py": "`DRIVER`",
            "src/hookonce/lab/drivers/__init__.py": "one line in `DRIVER_MODULES`",
            "src/hookonce/lab/fetch/pins.py": "the packages of the pinned version, with their digests",
        },
        "codex",
    ),
)


def pages() -> dict[str, str]:
    """The page by its place in the repository."""
    lines = ["# Extending hookonce", "", GENERATED_NOTE, "", INTRODUCTION, ""]
    for contract in CONTRACTS:
        lines += [f"## {contract.name}", "", contract.purpose, ""]
        files = [(code(path.format(name="NAME")), what) for path, what in contract.files.items()]
        lines += [*table(("adding one touches", "with"), files), ""]
        rows = [(code(name), kind, default, text) for name, kind, default, text in fields(contract)]
        lines += [f"`{contract.name}` stands in `{contract.file}`:", ""]
        lines += [*table(("field", "type", "default", "what it says"), rows), ""]
    return {"docs/extending.md": "\n".join(lines)}


def fields(contract: Contract) -> list[tuple[str, str, str, str]]:
    """Name, type, default and comment of each field; the comment stands behind the field or above it."""
    text = (ROOT / contract.file).read_text(encoding="utf-8")
    lines = text.splitlines()
    owner = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == contract.name)
    found = [node for node in owner.body if isinstance(node, ast.AnnAssign)]
    return [(ast.unparse(node.target), _type(node), _default(node), _comment(lines, node)) for node in found]


def _type(node: ast.AnnAssign) -> str:
    return code(ast.unparse(node.annotation).strip("'\""))


def _default(node: ast.AnnAssign) -> str:
    return "–" if node.value is None else code(ast.unparse(node.value))


def _comment(lines: list[str], node: ast.AnnAssign) -> str:
    behind = lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :].partition("# ")[2]
    above = lines[node.lineno - 2].strip()
    return behind or (above.removeprefix("# ") if above.startswith("# ") else "")
