"""Consent of a person to hooks: pins of a project's hooks, and digests of vouched foreign hooks."""

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from os.path import isfile
from pathlib import Path
from subprocess import TimeoutExpired

from msgspec import DecodeError, Struct
from msgspec.json import encode

from hookonce.base import paths, settings
from hookonce.base.files import NewerFileError, decode_own_file, read_file, read_regular_file, replace_file
from hookonce.base.invocation import is_own_entry
from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.base.spawn import run
from hookonce.base.terminal_text import escape_unprintable
from hookonce.errors import HookonceError
from hookonce.manifest.degrade import capabilities_of
from hookonce.manifest.discover import ManifestSource, find_project, find_project_sources, load_source
from hookonce.manifest.load import OPENHOOK_VERSIONS
from hookonce.model import Agent, Handler, Hook, Manifest
from hookonce.trust.pin_store import (
    Pin,
    PinMismatch,
    absence_digest,
    add_pins,
    content_digest,
    find_guards,
    load_pins,
    read_head,
    verify_by_pins,
)
from hookonce.trust.pins import POLICY_PATH, UNKNOWN_PREFIX, ProjectPaths, build_pin, platform_command
from hookonce.trust.script_contents import env_interpreter
from hookonce.trust.shell_words import ShellWord, UnclearCommand, harmless_switches, split_words
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES, describe_handler

_WORD_SEPARATORS = lazy_pattern(r"[^\w./@+-]+")
_VOUCH_FILE = "vouched.json"
_MARK_CHARS = 16
_LOG_ENDINGS = (".log", ".jsonl", ".ndjson", ".out", ".err")
_ENV_VARIABLE = lazy_pattern(r"\$(?:\{(\w+)\}|(\w+))")
_MAX_SCRIPT_BYTES = 1 << 20  # of a script that is searched for the names of others
_SCANNER_TIMEOUT_S = 120
_MAX_OUTPUT_CHARS = 2000  # of a scanner


class TrustProposal(Struct, frozen=True, kw_only=True):
    """A file of hooks as it is now, what a person reads of it, and whether they have agreed to it before."""

    path: Path
    pin: Pin | None  # None where there is nothing to agree to: the text says what is wrong
    text: str
    is_current: bool


Obstacles = Callable[[Handler, Path], Iterable[str]]  # what keeps a handler of a project from being called


def list_proposals(project: Path, obstacles: Obstacles = lambda _handler, _project: ()) -> list[TrustProposal]:
    """List a proposal for every file of hooks of a project, with warnings of what could not be called."""
    sources = find_project_sources(project)
    return [_build_proposal(project, source, obstacles) for source in sources]


def _build_proposal(project: Path, source: ManifestSource, obstacles: Obstacles) -> TrustProposal:
    try:
        manifest = load_source(source)
    except HookonceError as problem:
        return TrustProposal(path=source.path, pin=None, text=escape_unprintable(str(problem)), is_current=False)
    pin = build_pin(project, source.data, manifest)
    lines = [f"{source.path} ({pin.manifest[:12]})", *_project_warnings(project, manifest)]
    for hook in manifest.hooks:
        lines += [*_describe_hook(hook), *(f"  warning: {reason}" for reason in obstacles(hook.handler, project))]
    lines += [f"file {name} ({value[:12]})" for name, value in pin.files.items()]
    lines += [f"file {POLICY_PATH} ({pin.policy[:12]})"] if pin.policy else []
    lines += [f"not pinned: {word} ({reason})" for word, reason in pin.loose.items()]
    lines += [line for name in pin.files for line in _unpinned_scripts(project, name, pin)]
    lines += _lost_hooks(project, pin) if not source.is_openhook else []
    is_remembered = any(known_pin.closed_hooks == pin.closed_hooks for known_pin in load_pins(project, pin.manifest))
    is_current = is_remembered and is_trusted(project, source, manifest)
    text = "\n  ".join(map(escape_unprintable, lines))
    return TrustProposal(path=source.path, pin=pin, text=text, is_current=is_current)


def _lost_hooks(project: Path, pin: Pin) -> list[str]:
    """Fail-closed hooks that were trusted in another state of a project, and would not be asked in this one."""
    hooks = [
        hook for known_pin in load_pins(project) for hook in known_pin.closed_hooks if hook not in pin.closed_hooks
    ]
    names = dict.fromkeys(hook.name or hook.event for hook in hooks)
    return [f"warning: {name}, which is required in another trusted version, is missing here" for name in names]


def _unpinned_scripts(project: Path, name: str, pin: Pin) -> Iterator[str]:
    """Scripts that a pinned file names and that are not pinned: nobody notices when they change."""
    if (interpreter := env_interpreter(project, name)) is not None:
        yield f"warning: the interpreter of {name} is the {interpreter} that is found when it runs"
    try:
        text = read_regular_file(project / name, _MAX_SCRIPT_BYTES).decode(errors="replace")
    except OSError:
        return
    bases = (ProjectPaths(project), ProjectPaths(project, str(Path(name).parent)))
    words, ending = set(_WORD_SEPARATORS.split(UNKNOWN_PREFIX.sub(" ", text))), Path(name).suffix
    words |= {word.replace(".", "/") + ending for word in words if ending}  # as modules are named
    names = {base.relative_path(word) for base in bases for word in words}
    for inner in sorted(other for other in names if other is not None and other not in pin.files):
        if isfile(project / inner):  # noqa: PTH113  answers no where that of pathlib raises
            yield f"warning: {name} names {inner}, which is not pinned; list it under files"


def is_trusted(project: Path, source: ManifestSource, manifest: Manifest) -> bool:
    """Whether all hooks of a file would run as they are."""
    agreed_pins = load_pins(project, content_digest(source.data))
    try:
        return bool(agreed_pins) and all(verify_by_pins(project, hook, agreed_pins) for hook in manifest.hooks)
    except PinMismatch:
        return False


def _project_warnings(project: Path, manifest: Manifest) -> Iterator[str]:
    prefix, _, version = manifest.spec.partition("/")
    if prefix == "openhook" and version not in OPENHOOK_VERSIONS:
        yield f"warning: version {version} of OpenHook is not known; read as {OPENHOOK_VERSIONS[0]}"
    if (project / POLICY_PATH).exists():
        yield f"warning: {POLICY_PATH} may forbid some of these hooks; it affects no other hooks"


_PRIVACY_NOTES = {
    "minimal": "gets no texts (privacy minimal)",
    "standard": "gets the input of tools, without prompts and contents (privacy standard)",
    "full": "warning: asks for privacy full, which a project cannot get; it gets events at level minimal",
}


def _describe_hook(hook: Hook) -> Iterator[str]:
    handler, needs = hook.handler, ", ".join(sorted(capabilities_of(hook)))
    power = "may refuse" if hook.blocking else "looks on"
    power += ", refuses when it fails" if hook.on_failure == "closed" else ""
    action = platform_command(handler) or describe_handler(handler)
    yield f"{hook.name or 'a hook'} on {hook.event}, {power}{f', needs {needs}' if needs else ''}: {action}"
    yield from (f"  sets {name}={value}" for name, value in handler.env.items())
    if hook.environment == "caller":
        yield "  warning: runs with the caller's PATH and the like, which choose what it runs and are not pinned"
    if hook.privacy is not None:
        yield f"  {_PRIVACY_NOTES[hook.privacy]}"
    if handler.cwd is not None:
        yield f"  runs in {handler.cwd}"
    if handler.url is not None:
        yield f"  calls {handler.url}"
    variables = {match[1] or match[2] for text in handler.headers.values() for match in _ENV_VARIABLE.finditer(text)}
    for name in sorted({*handler.allowed_env, *variables}):
        yield f"  warning: sends your environment variable {name} to {handler.url}"
    if handler.type in MODEL_HANDLER_TYPES:
        yield "  warning: asks a language model, which costs money and gets the event"
    if hook.blocking and handler.type == "command" and "/" not in action.split(maxsplit=1)[0]:
        yield "  warning: it may refuse, and is not a script file that can be reviewed and hashed"


def run_scanners(project: Path, proposals: list[TrustProposal]) -> list[str]:
    """What the configured scanners say of the files that are to be trusted; silence is consent."""
    pins = [(proposal.path, proposal.pin) for proposal in proposals if proposal.pin]
    names = dict.fromkeys(str(file) for path, pin in pins for file in (path, *(project / name for name in pin.files)))
    commands = settings.load().require().scanners
    return [line for command in commands for line in _run_scanner(command, list(names), project)]


def _run_scanner(command: str, names: list[str], project: Path) -> list[str]:
    try:
        process = run([*shlex.split(command), *names], timeout_s=_SCANNER_TIMEOUT_S, cwd=project)
    except (OSError, ValueError, TimeoutExpired) as problem:
        raise HookonceError(f"the scanner {command!r} cannot be run: {problem}") from None
    if process.returncode == 0:
        return []
    lines = (process.stdout + process.stderr).decode(errors="replace")[:_MAX_OUTPUT_CHARS].splitlines() or ["nothing"]
    return [f"warning: the scanner {escape_unprintable(command)} says: {escape_unprintable(line)}" for line in lines]


def unpinned_words(proposals: list[TrustProposal]) -> list[str]:
    """The words that cannot be pinned, and need a consent of their own."""
    pins = [proposal.pin for proposal in proposals if proposal.pin]
    return sorted({escape_unprintable(word) for pin in pins for word in pin.loose})


def trust_proposals(project: Path, proposals: list[TrustProposal]) -> None:
    """Pin what a person has agreed to: all of it, or nothing. Even nothing new ends an absence of what is there."""
    try:
        add_pins(project, [proposal.pin for proposal in proposals if proposal.pin])
    except (OSError, UnicodeError) as problem:
        raise HookonceError(f"nothing was trusted: {getattr(problem, 'strerror', None) or problem}") from None


def find_trust_project(path: Path) -> Path:
    """The project that a person means by a path: one that is guarded, whatever there is of it, else that around it."""
    path = Path(os.path.abspath(path))  # noqa: PTH100  links stay
    is_guarded = any(folder == path for _, folder in find_guards((str(path),), None))
    return path if is_guarded else find_project(path)


def propose_absence(project: Path) -> TrustProposal:
    """What a person would agree to so that fail-closed hooks which are not there now need not be asked."""
    sources = [source for source in find_project_sources(project) if not source.is_openhook]
    pin = Pin(manifest=absence_digest(project, sources), branch=read_head(project))
    names = {hook.name or hook.event for known_pin in load_pins(project) for hook in known_pin.closed_hooks}
    lines = [f"{project}: these hooks are not required as long as this branch stays as it is now ({pin.manifest[:12]})"]
    lines += [*sorted(names), *(f"{source.path} exists, but is not used" for source in sources)]
    text = "\n  ".join(map(escape_unprintable, lines))
    return TrustProposal(path=project, pin=pin, text=text, is_current=bool(load_pins(project, pin.manifest)))


class Vouch(Struct, frozen=True, forbid_unknown_fields=True):
    """What a person has vouched for: a hook's entry, and the digests of the files that it runs or reads."""

    entry: str
    files: dict[str, str]


def hook_digest(agent: Agent, hook: Hook) -> str:
    """A digest of what a hook runs: its entry, and the content of every file that the command runs or reads."""
    hasher = sha256(_entry_bytes(agent, hook))
    for _, data in _read_files(hook):
        hasher.update(data)
    return hasher.hexdigest()[:_MARK_CHARS]


def _entry_bytes(agent: Agent, hook: Hook) -> bytes:
    return dump([agent.name, hook.event, hook.handler])


def _read_files(hook: Hook) -> Iterator[tuple[str, bytes]]:
    """The files that a command names by their whole path and does not write to, with their content."""
    for word in _file_words(hook.handler.command or ""):
        file = Path(word).expanduser()
        try:
            if file.is_absolute() and file.is_file():
                yield str(file), read_regular_file(file)
        except OSError:
            yield str(file), b"not ours to read"


def _file_words(command: str) -> Iterator[str]:
    """The words of a command that may name a file, without those that it only writes to."""
    try:
        words = split_words(command)
    except UnclearCommand:
        with suppress(ValueError):
            yield from shlex.split(command)
        return
    program, has_script = "", False
    for word in words:
        if word.role == "program":
            program = os.path.basename(word.text)  # noqa: PTH119
            has_script = harmless_switches(program) is None and program not in {".", "source"}
        else:
            if word.role == "output" or program == "tee" or (has_script and _is_log(word)):
                continue
            has_script = has_script or not word.text.startswith("-")
        yield word.text


def _is_log(word: ShellWord) -> bool:
    """Whether an argument names a file to which lines are added, by its ending; nothing that can be run."""
    is_log_name = word.role == "argument" and word.text.endswith(_LOG_ENDINGS)
    return is_log_name and not os.access(Path(word.text).expanduser(), os.X_OK)


def is_vouched(agent: Agent, hook: Hook, client: str) -> bool:
    """Whether a person has looked at this hook as it is now, or it is our own entry."""
    return is_own_entry(hook.handler.target, client) or hook_digest(agent, hook) in _load_vouches()


def find_changes(agent: Agent, hook: Hook) -> list[str]:
    """The files that have changed since a person vouched for this very entry; empty if nobody has."""
    entry, digests = content_digest(_entry_bytes(agent, hook)), _file_digests(hook)
    vouches = [vouch for vouch in _load_vouches().values() if vouch is not None and vouch.entry == entry]
    changes = [{name for name, _ in vouch.files.items() ^ digests.items()} for vouch in vouches]
    return sorted(min(changes, key=len, default=()))


def _file_digests(hook: Hook) -> dict[str, str]:
    return {name: content_digest(data) for name, data in _read_files(hook)}


def vouch(hooks: Iterable[tuple[Agent, Hook]]) -> list[str]:
    """Record that a person vouches for these hooks; the files that have to stay as they are."""
    vouches = {
        hook_digest(agent, hook): Vouch(content_digest(_entry_bytes(agent, hook)), _file_digests(hook))
        for agent, hook in hooks
    }
    replace_file(paths.data_dir() / _VOUCH_FILE, encode(load_vouches() | vouches, order="sorted"), mode=0o600)
    return sorted({name for vouch in vouches.values() for name in vouch.files})


def _load_vouches() -> dict[str, Vouch | None]:
    """What was vouched for; nothing, if only a newer hookonce can tell."""
    try:
        return load_vouches()
    except NewerFileError:
        return {}


def load_vouches() -> dict[str, Vouch | None]:
    """What was vouched for, by marks; older versions have written nothing else, as a list."""
    file, form = paths.data_dir() / _VOUCH_FILE, list[str] | dict[str, Vouch | None]
    document: list[str] | dict[str, Vouch | None]
    try:
        document = decode_own_file(file, read_file(file) or b"{}", form)
    except DecodeError:
        return {}
    return document if isinstance(document, dict) else dict.fromkeys(document)
