"""make docs: every page, schema and constant of a client that is made from the source. `--check` only compares."""

import os
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path

from agents_pages import pages as agents_pages
from certificates_page import pages as certificates_pages
from certificates_table import TABLE_PATH, render_table, summarize_certificates
from client_constants import pages as client_pages
from contracts import pages as contract_pages
from layers import pages as layer_pages
from module_schema import descriptor_schema
from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.json import schema as schema_of
from page import GENERATED_NOTE, code, table
from performance import pages as performance_pages
from signatures_table import pages as signature_pages

from hookonce import formats
from hookonce.__main__ import build_parser
from hookonce.cli import COMMANDS
from hookonce.cli.kernel import VERBS as KERNEL
from hookonce.cli.lab.lab import VERBS as LAB
from hookonce.cli.module import VERBS as MODULE
from hookonce.diagnose.document_check import CheckReport
from hookonce.dispatch.dialect import HookInput
from hookonce.dispatch.hook_faults.table import FAULT_KINDS
from hookonce.dispatch.identification import Identification
from hookonce.inspect.agent_matrix import AgentSheet
from hookonce.inspect.sessions import SessionRow, Timeline
from hookonce.inspect.stats import CostReport, Stats
from hookonce.inspect.turns import Turn
from hookonce.lab.bench_report import BenchReport
from hookonce.lab.prove.certificate import Certificate
from hookonce.manifest.schema import build_schema as manifest_schema
from hookonce.model import Record
from hookonce.store.integrity.audit import Audit
from hookonce.vocabulary.events import CANONICAL_EVENTS
from hookonce.vocabulary.tools import AGENT_HOOKS_ACTIONS, ARGUMENTS

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "schemas"
VERBS = {"kernel": KERNEL, "lab": LAB, "module": MODULE}
SHAPES = {
    "canonical": Record,
    "hook-input": HookInput,
    "identify": Identification,
    "check": CheckReport,
    "agents": AgentSheet,
    "bench": BenchReport,
    "audit": Audit,
    "prove": Certificate,
    "sessions": SessionRow,
    "show": Timeline,
    "turns": Turn,
    "stats": Stats,
    "cost": CostReport,
}


def vocabulary() -> str:
    """docs/vocabulary.md: canonical names beside those of the open formats."""
    lines = ["# The vocabulary", "", GENERATED_NOTE, ""]
    lines += ["Every canonical event and its name in the open formats. A dash means that the format has no such event:"]
    lines += ["OpenHook then leaves the event out, the others write it under a vendor name.", ""]
    lines += table(
        ("canonical event", "group", "meaning", "OpenHook", "Agent Hooks", "Amplifier"),
        [
            (f"`{r.name}`", r.group, r.meaning, *map(code, (r.openhook, r.agent_hooks, r.amplifier)))
            for r in CANONICAL_EVENTS
        ],
    )
    lines += ["", "## Tools and their arguments", ""]
    rows = [
        (
            f"`{tool}`",
            code(AGENT_HOOKS_ACTIONS.get(tool)),
            ", ".join(f"`{name}` ({kind})" for name, kind in names.items()),
        )
        for tool, names in ARGUMENTS.items()
    ]
    lines += table(("tool", "Agent Hooks action", "arguments (privacy class)"), rows)
    lines += ["", "An MCP tool is `mcp:<server>/<tool>`; a tool of only one agent keeps its native name.", ""]
    return "\n".join(lines)


def fault_page() -> str:
    """docs/faults.md: what keeps a guard from guarding, and who says so."""
    lines = ["# When a guard does not guard", "", GENERATED_NOTE, ""]
    lines += ["`hookonce check FILE` reports problems of a manifest and its scripts, `hookonce doctor` and `hookonce"]
    lines += ["status` report everything below, under the kind in the first column. None of them runs a hook for that."]
    lines += ["Claude Code, Codex and Gemini CLI also show it when a session starts, where the model does not see it."]
    lines += [""]
    rows = [
        (f"`{kind}`", row.evidence, row.sentence, row.next_step or "–", "yes" if row.is_broken else "no")
        for kind, row in FAULT_KINDS.items()
    ]
    rows = [tuple(re.sub(r"\{\d?\}", "…", cell) for cell in row) for row in rows]
    lines += table(("kind", "what is checked", "message", "what to do", "shown in the agent"), rows)
    return "\n".join(lines) + "\n"


def format_page() -> str:
    """docs/formats.md: each format, what it cannot hold, where the rest travels."""
    lines = ["# The formats", "", GENERATED_NOTE, ""]
    known = [formats.load(name) for name in formats.FORMATS]
    rows: list[tuple[str, ...]] = [
        (
            f"`{f.name}`",
            f.title,
            ", ".join(f.versions),
            "read, write" if f.read else "write",
            ", ".join(f"`{mime}`" for mime in (f.mime, f.stream_mime) if mime),
            ", ".join(sorted(f.lacks)) or "–",
            ", ".join(f"`{f.name}@{variant}`" for variant in f.variants) or "–",
        )
        for f in known
    ]
    lines += table(("format", "title", "versions", "can", "MIME type", "has no place for", "variants"), rows)
    for fmt in known:
        if fmt.gaps:
            lines += ["", f"## What {fmt.title} cannot carry", ""]
            rows = [(f"`{gap.where}`", gap.strategy or "", gap.note or "") for gap in fmt.gaps]
            lines += table(("where", "becomes", "why"), rows)
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """docs/cli.md: what `--help` prints."""
    os.environ["COLUMNS"] = "100"
    parts = ["# The command line", "", GENERATED_NOTE, "", *_help()]
    for name in COMMANDS:
        parts += [f"## hookonce {name}", "", *_help(name)]
        for verb in VERBS.get(name, ()):
            parts += [f"## hookonce {name} {verb}", "", *_help(name, verb)]
    parts += [
        "Exit codes: 0 fine · 1 a problem found or an expected error · 3 something was left out under `--strict` ·",
        "64 wrong usage · 70 internal error (the place of the log is printed).",
        "",
    ]
    return "\n".join(parts)


def _help(*words: str) -> list[str]:
    parser, _ = build_parser(next(iter(words), None))
    with redirect_stdout(StringIO()) as out, suppress(SystemExit):
        given = parser.parse_args([*words, "--help"])
        given.explain()  # only of a command that reads its words by hand: others have left by now
    return ["```text", out.getvalue().rstrip(), "```", ""]


def schemas() -> dict[Path, str]:
    """The published schemas of our own shapes; those of the formats are written by hand and lie beside them."""
    made: dict[Path, str] = {}
    for name, shape in SHAPES.items():
        found = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema_of(shape)
        found["$id"] = f"https://hookonce.dev/schemas/{name}.json"
        made[SCHEMAS / f"{name}.json"] = pretty(encode(found), indent=2).decode() + "\n"
    made[SCHEMAS / "manifest.json"] = pretty(encode(manifest_schema()), indent=2).decode() + "\n"
    made[SCHEMAS / "module-descriptor.json"] = pretty(encode(descriptor_schema()), indent=2).decode() + "\n"
    return made


PAGES: dict[str, Callable[[], str]] = {
    "docs/vocabulary.md": vocabulary,
    "docs/faults.md": fault_page,
    "docs/formats.md": format_page,
    "docs/cli.md": command_line,
}


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    sys.path.insert(0, str(ROOT / "docs"))
    from conformance import render

    summaries = summarize_certificates()  # by the certificates as they are, whatever the table said until now
    others = agents_pages(summaries) | {TABLE_PATH: render_table(summaries)} | certificates_pages()
    others |= performance_pages() | client_pages(ROOT) | contract_pages() | layer_pages() | signature_pages()
    made = {ROOT / name: make() for name, make in PAGES.items()} | {ROOT / name: text for name, text in others.items()}
    return made | schemas() | {ROOT / "docs" / "conformance.md": render(ROOT)}


def main() -> int:
    """Write what changed, or with --check name it."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date; run make docs")
        return int(bool(stale))
    made = pages()
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
