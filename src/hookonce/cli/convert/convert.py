"""hookonce convert: convert a hook configuration between agents."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from msgspec.json import format as pretty

from hookonce import agents
from hookonce.base import paths
from hookonce.base.files import replace_file
from hookonce.base.jsontext import dump
from hookonce.cli import EXIT_GAPS
from hookonce.cli._ui.arguments import add_flag, read_input
from hookonce.cli._ui.messages import pluralize, warn
from hookonce.client.installation import UnusableInstallError, install_client
from hookonce.configure.edit import jsonc, toml
from hookonce.convert.conversion import Conversion, WrapperOptions, convert
from hookonce.convert.losses import FAILURE_CAPABILITIES
from hookonce.convert.spec_version import SPEC_CHOICES, parse_spec
from hookonce.errors import HookonceError, UsageError
from hookonce.inspect.query_args import find_agent
from hookonce.manifest.load import MANIFEST_SPEC, parse_document
from hookonce.model import Agent, Gap, Json

MANIFEST = "hif"
_EXAMPLES = """examples:
  hookonce convert --from claude-code --to gemini-cli ~/.claude/settings.json
  hookonce convert --from hif --to codex --report gaps.json hooks.yaml
  hookonce convert --from claude-code --to hif --spec 0.1 ~/.claude/settings.json
  hookonce convert --from claude-code --to cline --output .clinerules/hooks .claude/settings.json"""


def configure(parser: ArgumentParser) -> None:
    """The options of `convert`."""
    names = ", ".join([MANIFEST, *agents.AGENTS])
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add(
        "file",
        nargs="?",
        default="-",
        metavar="FILE",
        help="the configuration file, or a folder of scripts; default: stdin",
    )
    add("--from", dest="source", required=True, metavar="NAME", help=f"{names} (hif: a manifest)")
    add("--to", dest="target", required=True, metavar="NAME", help="the target, one of the same names")
    add("--report", metavar="FILE", help="write everything that is lost to a file, as JSON")
    add("--side", metavar="FILE", help="write what the target's file cannot hold to this file")
    add("--output", metavar="FOLDER", help="write into this folder, under the file names that the agent expects")
    add_flag(parser, "--strict", "exit with 3 when anything is lost")
    add_flag(parser, "--no-adapt", "write commands unchanged, without a wrapper")
    spec_help = "version of the manifest to write: 1.0 or 0.1; default: 1.0"
    add("--spec", choices=SPEC_CHOICES, metavar="VERSION", help=spec_help)
    add(
        "--scope",
        choices=("user", "project"),
        default="project",
        help="whether these are a user's or a project's hooks; default: project",
    )
    add(
        "--on-block",
        choices=("guard", "error"),
        default="guard",
        help="if a blocking hook cannot work on the target: refuse everything there, or stop; default: guard",
    )


def run(options: Namespace) -> int:
    """Convert one configuration; a script written for another agent is wrapped, so that it keeps working."""
    source, target = (None if name == MANIFEST else find_agent(name) for name in (options.source, options.target))
    conversion = convert(
        _read_document(options.file, source),
        source,
        target,
        adapt=None if options.no_adapt else WrapperOptions(str(paths.client_path()), options.scope),
        on_block=options.on_block,
        beside=_read_side_file(options),
        spec=_manifest_spec(options),
        folders=_script_folders(options.file),
    )
    if source is not None and not conversion.hooks:
        warn(f"{options.file} has no hook that {source.title} would run")
    file_name = "hooks.json" if target is None else Path(target.config.files["project"]).name
    _write_conversion(conversion, file_name, options.output)
    if options.side and conversion.side is not None:
        _write_file(options.side, dump(conversion.side))
    _print_gaps(conversion.gaps)
    if conversion.needs_client:  # wrapped commands call it: it has to be there before the first of them runs
        try:
            install_client()
        except UnusableInstallError as problem:
            warn(f"{problem}; the wrapped commands will not run until this is repaired")
    if options.report:
        keys = ("where", "capability", "strategy", "effect", "note")
        gaps = [{"hook": _hook_index(gap.where)} | {key: getattr(gap, key) for key in keys} for gap in conversion.gaps]
        _write_file(options.report, dump({"verified": conversion.is_verified, "gaps": gaps}))
    return EXIT_GAPS if options.strict and conversion.gaps else 0


def _manifest_spec(options: Namespace) -> str:
    if options.spec is not None and options.target != MANIFEST:
        raise UsageError(f"--spec works only with --to {MANIFEST}; files of {options.target} have no such version")
    return MANIFEST_SPEC if options.spec is None else parse_spec(options.spec)


def _script_folders(name: str) -> list[Path]:
    """Where the scripts of a file may lie: beside it, in the folder around its own, and here."""
    here = Path.cwd()
    return [here] if name == "-" else [*(here / name).parents[:2], here]


def _read_document(name: str, source: Agent | None) -> Json:
    path = Path(name)
    code = source is not None and source.config.language == "code"
    if code and path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file()]
        return {"files": {file.name: read_input(str(file)).decode(errors="replace") for file in files}}
    raw = read_input(name)
    if source is None:
        return parse_document(raw)
    if code:
        usual = Path(next(iter(source.config.files.values()))).name
        return {"files": {usual if name == "-" else path.name: raw.decode(errors="replace")}}
    # Agents tolerate comments in their files, and one of them also reads TOML.
    begins = raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    is_toml = path.suffix == ".toml" or (name == "-" and source.name == "codex" and begins not in {b"{", b"/"})
    return (toml if is_toml else jsonc).value_at(raw, ())


def _write_conversion(conversion: Conversion, name: str, folder: str | None) -> None:
    files: dict[str, str] | None = conversion.document.get("files")
    document_text = pretty(dump(conversion.document), indent=2) + b"\n"
    if folder is not None:
        _write_files(Path(folder), files or {name: document_text.decode()}, 0o755 if files else 0o644)
    elif files is not None and len(files) == 1:
        sys.stdout.buffer.write(next(iter(files.values())).encode())
    else:
        sys.stdout.buffer.write(document_text)


def _write_files(folder: Path, files: dict[str, str], mode: int) -> None:
    """What is written are new files; one that is there already is somebody's."""
    existing_file = next((folder / name for name in files if (folder / name).exists()), None)
    if existing_file is not None:
        raise HookonceError(
            f"{existing_file} exists already; nothing was written. Choose another folder, or move the file away"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            replace_file(folder / name, text.encode(), mode=mode)
            print(folder / name)
    except OSError as problem:
        raise HookonceError(f"cannot write to {folder}: {problem.strerror}") from None


def _print_gaps(gaps: list[Gap]) -> None:
    for gap in sorted(gaps, key=lambda gap: not _weakens_hook(gap)):
        prefix = "WARNING: " if _weakens_hook(gap) else ""
        warn(f"{prefix}{gap.effect or gap.strategy}: {gap.note or gap.where}")
    if gaps:
        warn(f"{pluralize(len(gaps), 'gap')}; --report FILE lists them as JSON")


def _weakens_hook(gap: Gap) -> bool:
    return gap.effect == "lost" or (gap.capability in {"blocking", *FAILURE_CAPABILITIES} and gap.effect != "prevents")


def _write_file(path: str, data: bytes) -> None:
    try:
        Path(path).write_bytes(data + b"\n")
    except OSError as problem:
        raise HookonceError(f"cannot write {path}: {problem.strerror}") from None


def _read_side_file(options: Namespace) -> Json:
    if not options.side or options.source == MANIFEST or not Path(options.side).exists():
        return None
    return jsonc.value_at(read_input(options.side), ())


def _hook_index(where: str) -> int | None:
    number = where.removeprefix("$.hooks[").partition("]")[0]
    return int(number) if number.isdecimal() else None
