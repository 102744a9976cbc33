"""Wrappers of ours in an agent's file: entries that run somebody's script, or a handler of ours, through the client."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from hookonce import agents
from hookonce.base.files import FileEditError, read_if_readable
from hookonce.base.invocation import PORTABLE_CLIENT, Invocation, parse_command, parse_handler
from hookonce.configure.changes import FileChange
from hookonce.configure.locations import ConfigRoots, config_files, document_of, hooks_in
from hookonce.configure.merge import editor_of, find_commands, replace_commands
from hookonce.dispatch.hook_faults.handlers import command_faults, interpreter_argument, remote_faults, resolve_command
from hookonce.dispatch.hook_faults.table import HookFault, make_fault
from hookonce.manifest.http_script import build_http_command, to_command_handler
from hookonce.model import Agent, Handler, Hook
from hookonce.vocabulary.names import MODEL_HANDLER_TYPES, hook_label

_TABLE_COMMAND = re.compile(r'"command":\s*("(?:[^"\\]|\\.)*")')  # of the table in a generated file


def find_wrappers(agent: Agent, path: Path, data: bytes) -> list[Invocation]:
    """The wrappers in a file's bytes, one for each entry, however many systems it has commands for."""
    document = document_of(agent, path, data)
    if agent.config.language == "code":
        texts: list[str] = [json.loads(text) for text in _TABLE_COMMAND.findall(document["files"][path.name])]
    else:
        texts = list({keys[:-1]: text for keys, text in reversed([*find_commands(document)])}.values())[::-1]
    calls = [parse_command(text) for text in texts]
    return [call for call in calls if call is not None and call.run is not None]


def wrapper_label(call: Invocation) -> str:
    """What a wrapper runs, for messages: its event and the beginning of the command, URL or prompt."""
    handler = parse_handler(call.run or "") or Handler(type="command", command=call.run)
    return hook_label(Hook(event=call.event or "", handler=handler))


class WrappedHook(Struct, frozen=True, kw_only=True):
    """A hook in our wrapper, and what keeps it from running."""

    agent: str
    path: str
    label: str
    faults: list[HookFault]


def read_wrapped_hooks(agent: Agent, roots: ConfigRoots) -> list[WrappedHook]:
    """Every hook that an agent runs through our wrapper; a file that cannot be read is told elsewhere."""
    return [
        WrappedHook(
            agent=agent.name,
            path=str(path),
            label=wrapper_label(call),
            faults=list(_wrapper_faults(call, scope, roots.project)),
        )
        for scope, path in config_files(agent, roots)
        for call in _parse_leniently(agent, path, read_if_readable(path) or b"")
    ]


def describe_wrapped_hooks(hooks: Sequence[WrappedHook]) -> list[str]:
    """A sentence for each file: how many of its hooks are in our wrapper, and how many of them cannot run."""
    sentences = []
    for path in dict.fromkeys(hook.path for hook in hooks):
        members = [hook for hook in hooks if hook.path == path]
        broken_count = sum(bool(hook.faults) for hook in members)
        subject = f"1 hook of {path} runs" if len(members) == 1 else f"{len(members)} hooks of {path} run"
        state = f"{broken_count} with a fault" if broken_count else "and nothing that they run is missing"
        sentences.append(f"{subject} through our wrapper, {state}")
    return sentences


def _wrapper_faults(call: Invocation, scope: str, project: Path) -> Iterator[HookFault]:
    """What keeps a wrapped hook from running, as it would be looked for in a project; nothing is started."""
    handler = parse_handler(call.run or "")
    if handler is not None:
        yield from remote_faults(handler, os.environ)
        return
    hook = Hook(event=call.event or "", handler=Handler(type="command", command=_expand_project(call, project)))
    command = resolve_command(project, hook, "project") if scope == "project" else hook.handler.command or ""
    yield from command_faults(command, scope)
    script = interpreter_argument(command)
    if script and scope == "project" and not script.startswith("/") and not (project / script).exists():
        yield make_fault("missing", f"{project / script} does not exist")


def _expand_project(call: Invocation, project: Path) -> str:
    """A wrapper's command with the project in place of the variables by which agents name it."""
    variables = agents.load(call.dialect).variables if call.dialect in agents.AGENTS else {}
    names = "|".join(re.escape(name) for name, slot in variables.items() if slot == "project")
    pattern = rf"\$(?:\{{(?:{names})\}}|(?:{names})\b)"
    return re.sub(pattern, lambda _: str(project), call.run or "") if names else call.run or ""


def bare_command(command: str, client: str) -> str | None:
    """The command without our wrapper: its script, or one that posts as it does; None if only we can run it."""
    call = parse_command(command)
    if call is None or call.run is None or call.client not in {client, PORTABLE_CLIENT}:
        return None
    handler = parse_handler(call.run)
    if handler is None:
        return call.run
    return build_http_command(replace(handler, timeout=call.timeout)) if handler.type == "http" else None


def unwrap_file(agent: Agent, path: Path, data: bytes, client: str) -> bytes:
    """A file's bytes without our wrappers; generated code is left whole where one of them has to stay."""
    config = agent.config
    if config.language != "code":
        return replace_commands(editor_of(path), data, lambda command: bare_command(command, client))
    hooks, gaps = hooks_in(agent, path, data)
    if gaps or not hooks or any(hook.handler.type in MODEL_HANDLER_TYPES for hook in hooks):
        return data
    bare_hooks = [_bare_hook(hook) for hook in hooks]
    document, _ = config.render(agent, list(enumerate(bare_hooks)), lambda hook, _: hook.handler.command)
    return str(document["files"].get(path.name, "")).encode() or data


def leftover_wrappers(
    agent: Agent, scope: str, roots: ConfigRoots, client: str, changes: Iterable[FileChange]
) -> list[str]:
    """What still runs through us after these changes, each with what a person has to do about it."""
    new_contents = {change.path: change.new for change in changes}
    messages = []
    for file_scope, path in config_files(agent, roots):
        data = new_contents[path] if path in new_contents else read_if_readable(path)
        calls = [] if data is None or file_scope != scope else _parse_leniently(agent, path, data)
        messages += [
            f"{path}: {wrapper_label(call)} still runs through hookonce: {_stay_reason(call)}"
            for call in calls
            if call.client in {client, PORTABLE_CLIENT}
        ]
    return messages


def _parse_leniently(agent: Agent, path: Path, data: bytes) -> list[Invocation]:
    """The wrappers of a file; none if it cannot be parsed, which is told where its entries are removed."""
    try:
        return find_wrappers(agent, path, data)
    except FileEditError:
        return []


def _stay_reason(call: Invocation) -> str:
    handler = parse_handler(call.run or "")
    cause = (
        "nothing else asks a model there"
        if handler and handler.type in MODEL_HANDLER_TYPES
        else "a hook beside it has to"
    )
    return f"{cause}; take the entry out of the file, or keep hookonce"


def _bare_hook(hook: Hook) -> Hook:
    return replace(hook, handler=to_command_handler(hook.handler)) if hook.handler.type == "http" else hook
