"""hookonce convert."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec.json import format as pretty

from hookonce import agents
from hookonce.agents import config_of
from hookonce.cli import _named
from hookonce.cli._input import opened
from hookonce.cli._words import counted
from hookonce.config import paths
from hookonce.edit import jsonc, toml
from hookonce.errors import HookonceError
from hookonce.journeys.client import Unfit
from hookonce.journeys.client import place as place_client
from hookonce.journeys.convert import Adapt, Conversion, convert
from hookonce.journeys.effects import ON_FAILURE
from hookonce.manifest.load import parse
from hookonce.model import Agent, Gap, Json
from hookonce.texts import dump

GAPS = 3
MANIFEST = "hif"
_EXAMPLES = """examples:
  hookonce convert --from claude-code --to gemini-cli ~/.claude/settings.json
  hookonce convert --from hif --to codex --report gaps.json hooks.yaml
  hookonce convert --from claude-code --to cline --output .clinerules/hooks .claude/settings.json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `convert`."""
    known = ", ".join([MANIFEST, *agents.AGENTS])
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the configuration, or a folder of scripts; default: stdin"
    )
    parser.add_argument("--from", dest="source", required=True, metavar="NAME", help=f"{known} (hif: a manifest)")
    parser.add_argument("--to", dest="target", required=True, metavar="NAME", help="one of the same")
    parser.add_argument("--report", metavar="FILE", help="write what was lost as JSON")
    parser.add_argument("--side", metavar="FILE", help="keep there what the target's file has no place for")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="write there, under the names that the agent knows",
    )
    parser.add_argument("--strict", action="store_true", help="exit 3 when anything was lost")
    parser.add_argument("--no-adapt", action="store_true", help="write commands as they are, without a wrapper")
    parser.add_argument(
        "--scope", choices=("user", "project"), default="project", help="whose hooks these are; default: project"
    )
    parser.add_argument(
        "--on-block",
        choices=("guard", "error"),
        default="guard",
        help="what becomes of a hook that must block and cannot do its work there; default: guard",
    )


def run(options: Namespace) -> int:
    """Convert one configuration; a script written for another agent is wrapped, so that it keeps working."""
    source, target = _agent(options.source), _agent(options.target)
    adapt = None if options.no_adapt else Adapt(str(paths.client()), options.scope)
    made = convert(
        _document(options.file, source), source, target, adapt=adapt, on_block=options.on_block, beside=_beside(options)
    )
    if source is not None and not made.hooks:
        print(f"hookonce: {options.file} holds no hook that {source.title} would run", file=sys.stderr)
    _write(made, _usual_name(target), options.output)
    if options.side and made.side is not None:
        _save(options.side, dump(made.side))
    _tell(made.gaps)
    if made.wrapped:
        _serve()
    if options.report:
        _report(made, options.report)
    return GAPS if options.strict and made.gaps else 0


def _agent(name: str) -> Agent | None:
    return None if name == MANIFEST else _named.agent(name)


def _document(name: str, source: Agent | None) -> Json:
    """What is to be converted: a manifest, an agent's configuration, or scripts."""
    path = Path(name)
    code = source is not None and config_of(source).language == "code"
    if code and path.is_dir():
        return {"files": {file.name: _text(file.read_bytes()) for file in sorted(path.iterdir()) if file.is_file()}}
    with opened(name) as stream:
        raw = stream.read()
    if source is None:
        return parse(raw)
    if code:
        usual = Path(next(iter(config_of(source).files.values()))).name
        return {"files": {usual if name == "-" else path.name: _text(raw)}}
    # Agents tolerate comments in their files, and one of them also reads TOML.
    begins = raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    is_toml = path.suffix == ".toml" or (name == "-" and source.name == "codex" and begins not in {b"{", b"/"})
    return (toml if is_toml else jsonc).value_at(raw, ())


def _usual_name(target: Agent | None) -> str:
    return "hooks.json" if target is None else Path(config_of(target).files["project"]).name


def _text(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _write(made: Conversion, name: str, folder: str | None) -> None:
    files: dict[str, str] | None = made.document.get("files")
    if folder is not None:
        whole = pretty(dump(made.document), indent=2).decode() + "\n"
        _write_files(Path(folder), files or {name: whole}, 0o755 if files else 0o644)
    elif files is not None and len(files) == 1:
        sys.stdout.write(next(iter(files.values())))
    else:
        sys.stdout.buffer.write(pretty(dump(made.document), indent=2) + b"\n")


def _write_files(folder: Path, files: dict[str, str], mode: int) -> None:
    """What is written are new files; one that is there already is somebody's."""
    taken = next((folder / name for name in files if (folder / name).exists()), None)
    if taken is not None:
        raise HookonceError(f"{taken} is already there; nothing was written. Name another folder, or move it away")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
            (folder / name).chmod(mode)
            print(folder / name)
    except OSError as problem:
        raise HookonceError(f"cannot write to {folder}: {problem.strerror}") from None


def _tell(gaps: list[Gap]) -> None:
    """Gaps on stderr, first those in which a hook does less than it was made for."""
    for gap in sorted(gaps, key=lambda gap: not _weakens(gap)):
        loud = "WARNING: " if _weakens(gap) else ""
        print(f"hookonce: {loud}{gap.effect or gap.strategy}: {gap.note or gap.where}", file=sys.stderr)
    if gaps:
        print(f"hookonce: {counted(len(gaps), 'gap')}; --report FILE lists them as JSON", file=sys.stderr)


def _weakens(gap: Gap) -> bool:
    return gap.effect == "lost" or (gap.capability in {"blocking", *ON_FAILURE} and gap.effect != "prevents")


def _serve() -> None:
    """Wrapped commands call our client: it has to be there before the first of them runs."""
    try:
        place_client()
    except Unfit as problem:
        print(f"hookonce: {problem}; the wrapped commands will not run until it is mended", file=sys.stderr)


def _report(made: Conversion, path: str) -> None:
    """The gaps in the shape that others may rely on."""
    gaps = [
        {
            "hook": _hook(gap.where),
            "where": gap.where,
            "capability": gap.capability,
            "strategy": gap.strategy,
            "effect": gap.effect,
            "note": gap.note,
        }
        for gap in made.gaps
    ]
    _save(path, dump({"verified": made.verified, "gaps": gaps}))


def _save(path: str, data: bytes) -> None:
    try:
        Path(path).write_bytes(data + b"\n")
    except OSError as problem:
        raise HookonceError(f"cannot write {path}: {problem.strerror}") from None


def _beside(options: Namespace) -> Json:
    """What an earlier conversion has kept for this file, if it has."""
    if not options.side or options.source == MANIFEST or not Path(options.side).exists():
        return None
    try:
        return jsonc.value_at(Path(options.side).read_bytes(), ())
    except OSError as problem:
        raise HookonceError(f"cannot read {options.side}: {problem.strerror}") from None


def _hook(where: str) -> int | None:
    """The index of the hook that a gap is about."""
    number = where.removeprefix("$.hooks[").partition("]")[0]
    return int(number) if number.isdecimal() else None
