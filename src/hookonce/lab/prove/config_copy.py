"""Copy of the user's hookonce configuration into a lab home: entries as they stand, switches, trust; nothing else."""

import shutil
from pathlib import Path
from shlex import quote

from hookonce.base import invocation
from hookonce.base.files import read_if_readable
from hookonce.base.paths import make_private_dir
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.locations import ConfigRoots, document_of, is_event_map, resolve_path, target_file
from hookonce.configure.merge import ARGUMENTS_KEY, COMMAND_KEYS, editor_of, merge_entries, remove_entries
from hookonce.diagnose.agent_check import check_agent
from hookonce.model import Agent, Json, Object

SCOPE = "user"
_MISSING = object()


def copy_client(client: Path, lab_client: Path) -> None:
    """Copy the user's client as it is, with what lies beside it: whose hooks a client asks is where it lies."""
    make_private_dir(lab_client.parent)
    for name in (client.name, "interpreter"):
        source, target = client.with_name(name), lab_client.with_name(name)
        target.unlink(missing_ok=True)
        if source.exists():
            shutil.copy(source, target)


def copy_user_config(
    agent: Agent, user_locations: ConfigRoots, lab_locations: ConfigRoots, client: str, lab_client: str | None = None
) -> None:
    """Copy the user's entries, switches and trust of an agent into the lab's home, for a copy of the client there."""
    source = target_file(agent, SCOPE, user_locations)
    if source is None:
        return
    # The user's may be another than a fresh home would have.
    target = lab_locations.home / source.relative_to(user_locations.home)
    target.parent.mkdir(parents=True, exist_ok=True)
    if agent.config.language == "code":
        _copy_scripts(agent, source, target)
        for path in [target] if target.is_file() else target.glob("*"):
            _replace_client(path, client, lab_client)
        return
    _copy_entries(agent, source, target, user_locations, lab_locations)
    _replace_client(target, client, lab_client)
    _copy_switches(agent, user_locations, lab_locations)
    findings = check_agent(agent, user_locations, client)
    is_reviewed = not any(finding.kind == "untrusted" and finding.path for finding in findings)
    data, reviewed_client = target.read_bytes(), lab_client or client
    change = plan_review(agent, target, data, lab_locations, reviewed_client, present=is_reviewed)
    if change is not None:  # the lab's own installation was reviewed, and may have had the same entries
        change.path.write_bytes(change.new or b"")


def _replace_client(path: Path, client: str, lab_client: str | None) -> None:
    if lab_client is not None:
        data = path.read_bytes().replace(quote(client).encode(), client.encode())
        path.write_bytes(data.replace(client.encode(), quote(lab_client).encode()))


def _is_own_entry(command: str) -> bool:
    call = invocation.parse_command(command)
    return call is not None and call.via is not None


def _copy_entries(
    agent: Agent, source: Path, target: Path, user_locations: ConfigRoots, lab_locations: ConfigRoots
) -> None:
    document = document_of(agent, source, read_if_readable(source) or b"{}")
    hooks = _own_entries(document if is_event_map(agent, source, user_locations) else document.get("hooks")) or {}
    editor = editor_of(target)
    new_entries: Object = hooks if is_event_map(agent, target, lab_locations) else {"hooks": hooks}
    foreign_text = remove_entries(editor, read_if_readable(target) or b"{}", _is_own_entry)
    target.write_bytes(merge_entries(editor, foreign_text, new_entries))


def _own_entries(value: Json) -> Json:
    """What of a configuration is a door of ours, and what stands around it; None for everything else."""
    if type(value) is list:
        return [entry for item in value if (entry := _own_entries(item)) is not None] or None
    if type(value) is not dict:
        return None
    commands = [text for key in COMMAND_KEYS if type(text := value.get(key)) is str]
    if commands:
        lines = [invocation.join_arguments(text, value.get(ARGUMENTS_KEY)) for text in commands]
        says_more = "hooks" in value or (ARGUMENTS_KEY in value and lines == commands)
        return value if all(map(_is_own_entry, lines)) and not says_more else None
    inner_entries = {key: _own_entries(item) for key, item in value.items() if type(item) in (list, dict)}
    entry = {key: item for key, item in inner_entries.items() if item is not None}
    kept_keys = [key for key in value if key not in inner_entries or key in entry]
    return {key: entry.get(key, value[key]) for key in kept_keys} if entry else None


def _copy_switches(agent: Agent, user_locations: ConfigRoots, lab_locations: ConfigRoots) -> None:
    for name, keys, _ in agent.config.switches:
        if not name.startswith("~"):
            continue  # the machine's own file counts in the lab too
        source, target = resolve_path(user_locations, name), resolve_path(lab_locations, name)
        value = editor_of(source).value_at(read_if_readable(source) or b"", keys, _MISSING)
        if value is not _MISSING:
            target.write_bytes(editor_of(target).set_value(read_if_readable(target) or b"", keys, value))


def _copy_scripts(agent: Agent, source: Path, target: Path) -> None:
    """Scripts of ours: those that the user has, as they are, and no others."""
    old_files = {target} if target.is_file() else set(target.glob("*")) if target.is_dir() else set()
    for path in old_files:
        path.unlink()
    source_files = [source] if source.is_file() else sorted(source.glob("*")) if source.is_dir() else []
    for path in source_files:
        data = read_if_readable(path) or b""
        hooks = agent.config.parse(agent, document_of(agent, path, data))[0] if b"hookonce-on" in data else []
        if hooks and all(_is_own_entry(hook.handler.target or "") for hook in hooks):
            target_file = target if path == source else target / path.name
            target_file.parent.mkdir(parents=True, exist_ok=True)
            target_file.write_bytes(data)
            target_file.chmod(path.stat().st_mode)
