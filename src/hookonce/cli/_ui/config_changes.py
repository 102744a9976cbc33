"""Plan, apply and report of configuration changes, shared by install, uninstall, adopt, restore and others."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.layout import Column
from hookonce.cli._ui.messages import pluralize, print_json, print_lines, warn
from hookonce.cli._ui.tables import print_table, print_words
from hookonce.configure.adoption import find_manifest
from hookonce.configure.changes import FileChange, apply_change, count_changed_lines, render_diff
from hookonce.configure.locations import ConfigRoots, current_roots
from hookonce.configure.status import find_agents
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.model import Agent, Object

ChangeProblems = list[tuple[str, str]]  # agent and message


def add_change_options(
    parser: ArgumentParser, *, has_changes: bool = True, has_diff: bool = False, requires_names: bool = False
) -> None:
    """Add the shared options; with `requires_names` agents must be named, with `has_diff` a diff is asked for."""
    names_help = "whose hooks" if requires_names else "default: every agent found on this machine"
    parser.add_argument("names", nargs="+" if requires_names else "*", metavar="AGENT", help=names_help)
    add_flag(parser, "--json", "print JSON")
    if has_changes:
        parser.add_argument("--scope", choices=("user", "project"), default="user", help="default: user")
        add_flag(parser, "--dry-run", "show what would change, without changing anything")
        if has_diff:
            add_flag(parser, "--diff", "also show every line that changes")


def select_agents(options: Namespace, locations: ConfigRoots) -> list[Agent]:
    """Select the agents that are named, else those present on this machine."""
    if options.names:
        return [find_agent(name) for name in options.names]
    present_agents = find_agents(locations)
    if not present_agents:
        warn("no agent was found on this machine; name one, as in: hookonce install claude-code")
    return present_agents


def plan_changes(
    options: Namespace, plan_agent: Callable[[Agent, ConfigRoots], list[FileChange]]
) -> tuple[list[FileChange], ChangeProblems]:
    """Plan the changes of all selected agents; a problem with one agent does not stop the others."""
    locations = current_roots()
    changes: list[FileChange] = []
    problems: ChangeProblems = []
    for agent in select_agents(options, locations):
        try:
            changes += plan_agent(agent, locations)
        except HookonceError as problem:
            problems.append((agent.name, str(problem)))
    return changes, problems


def apply_changes(changes: list[FileChange], *, is_removal: bool = False) -> tuple[list[FileChange], ChangeProblems]:
    """Apply changes; return those that worked and the problems of the others."""
    applied_changes: list[FileChange] = []
    problems: ChangeProblems = []
    for change in changes:
        try:
            apply_change(change, is_removal=is_removal)
            applied_changes.append(change)
        except HookonceError as problem:
            problems.append((change.agent or "", str(problem)))
    return applied_changes, problems


def report_changes(
    options: Namespace, verb: str, changes: list[FileChange], problems: ChangeProblems, details: Object | None = None
) -> int:
    """Report changes and problems as text or JSON, with details of the command in JSON; return the exit code."""
    if options.json:
        _print_json(verb, changes, problems, details or {}, dry_run=options.dry_run)
    else:
        shows_diff = getattr(options, "diff", True)  # of a command without that option there is little
        if options.dry_run and changes:
            print_changes(changes)
            print_lines(f"\n{render_diff(changes)}" if shows_diff else "--diff shows every line that would change")
        for change in [] if options.dry_run else changes:
            print(f"{change.agent or 'hookonce'}: {change.path} {verb}")
        if not changes and not problems:
            print("nothing to do")
        for _, text in problems:
            warn(f"{text}")
        if problems and changes:
            warn(f"{pluralize(len(problems), 'problem')}; everything else succeeded")
        if options.dry_run and changes:
            names = ", ".join(agent_names(changes))
            files = pluralize(len(changes), "file") + (f" of {names}" if names else "")
            print_words(f"dry run: {files} would be {verb}; nothing was written")
    return 1 if problems else 0


def describe_changes(changes: list[FileChange]) -> str:
    """Describe changes to the person who has to agree: every line first, and which files last, where it is read."""
    counts = [(change.path, *count_changed_lines(change)) for change in changes]
    files = "".join(f"{path}: {new} new lines, {old} lines removed\n" for path, new, old in counts)
    return f"{render_diff(changes)}\n{files}"


def unused_hooks_warning(scope: str, changes: list[FileChange], *, is_deleted: bool = False) -> str:
    """Warn of the manifest's hooks, which no agent will call any more, or which are deleted; empty without them."""
    file, count = find_manifest(scope, current_roots())
    names = agent_names(changes)
    if not count or not (names or is_deleted):
        return ""
    name = next(iter(names), "claude-code")
    fate = "will be deleted" if is_deleted else f"will not run any more in {', '.join(names)}"
    hint = f"hookonce convert --from hif --to {name} {file} writes them as hooks of {name} itself"
    return f"WARNING: {pluralize(count, 'hook')} of {file} {fate}, hooks that adopt has moved there included. {hint}\n"


def print_changes(changes: list[FileChange]) -> None:
    """Print a table of the files that would change."""
    columns = [
        Column("agent"),
        Column("scope", worth=1),
        Column("change"),
        Column("lines", right=True),
        Column("file", shape="path", min_chars=30),
    ]
    rows = []
    for change in changes:
        new_lines, old_lines = count_changed_lines(change)
        facts = (
            change.agent or "hookonce",
            change.scope or "",
            _change_state(change),
            f"+{new_lines:,} -{old_lines:,}",
        )
        rows.append((*facts, str(change.path)))
    print_table(columns, rows)


def agent_names(changes: list[FileChange]) -> list[str]:
    """The agents whose files are changed, each once."""
    return list(dict.fromkeys(change.agent for change in changes if change.agent))


def _print_json(
    verb: str, changes: list[FileChange], problems: ChangeProblems, details: Object, *, dry_run: bool
) -> None:
    rows = [
        {"agent": change.agent, "scope": change.scope, "path": str(change.path), "state": _change_state(change)}
        for change in changes
    ]
    messages = [{"agent": agent, "message": text} for agent, text in problems]
    document = {"verb": verb, "dry_run": dry_run, "changes": rows, "problems": messages} | details
    print_json(document | ({"diff": render_diff(changes)} if dry_run else {}))


def _change_state(change: FileChange) -> str:
    return "created" if change.old is None else "removed" if change.new is None else "changed"
