"""hookonce install: write our entries into agents' configurations."""

import os
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import Literal

from msgspec import structs

from hookonce import agents
from hookonce.agents import config_events, http_reply
from hookonce.base import paths
from hookonce.base.files import read_file
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.config_changes import ChangeProblems
from hookonce.cli._ui.consent import confirm, find_parent_agent, require_consent
from hookonce.cli._ui.messages import print_lines, warn
from hookonce.cli._ui.tables import print_words
from hookonce.client import daemon_endpoints
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.client.installation import install_client, run_trial
from hookonce.configure import http_policy
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.changes import FileChange, render_diff
from hookonce.configure.http_probe import await_answer, probe_listener
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots, current_roots, target_file
from hookonce.diagnose.agent_check import check_review
from hookonce.handlers.environment import note_environment
from hookonce.model import Agent, Object

_EXAMPLES = """examples:
  hookonce install --dry-run
  hookonce install --dry-run --diff
  hookonce install claude-code codex
  hookonce install gemini-cli --scope project
  hookonce install claude-code --http"""


def configure(parser: ArgumentParser) -> None:
    """The options of `install`."""
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    config_changes.add_change_options(parser, has_diff=True)
    add_flag(parser, "--trust", "also mark the entries as trusted, for agents that demand it (Codex)")
    able_agents = ", ".join(sorted(http_reply.COMMAND_EVENTS))
    http_help = f"let agents that can ({able_agents}) send events to the daemon over HTTP; default: no change"
    add("--http", action=BooleanOptionalAction, help=http_help)
    add("--events", choices=("default", "all"), default="default", help="all: also events that come very often")


def run(options: Namespace) -> int:
    """Let agents call hookonce: an entry for each event, beside whatever hooks are there."""
    client, http = str(paths.client_path()), _choose_http_address(options)
    agent_names: list[str] = []

    def plan_agent(agent: Agent, locations: ConfigRoots) -> list[FileChange]:
        agent_names.append(agent.name)
        http_address = http if options.names or agent.name in http_reply.COMMAND_EVENTS else None
        changes = plan_install(agent, options.scope, locations, client, options.events, http_address)
        path = changes[0].path if changes else target_file(agent, options.scope, locations)
        if path is None or not options.trust or agent.config.review is None:
            return changes
        data = changes[0].new if changes else read_file(path)  # where the entries stand already, only the word is new
        review_change = plan_review(agent, path, data, locations, client)
        return changes + ([] if review_change is None else [review_change])

    changes, problems = config_changes.plan_changes(options, plan_agent)
    if options.dry_run or not changes:
        return _finish_unchanged(options, changes, problems, agent_names)
    if not _confirm_changes(options, changes):
        print("nothing was changed")
        return 0
    _install_client()
    if isinstance(http, HttpAddress):
        _open_http_listener(http)
    for name in config_changes.agent_names(changes):
        agent_config, native = agents.load(name).config, next(iter(config_events(agents.load(name))))
        run_trial([client, name, native, "--via", f"{name}/user"], agent_config.silence)
    applied_changes, failures = config_changes.apply_changes(changes)
    http_policy.drop_unused_address()
    search = _search_result(options, agent_names)
    code = config_changes.report_changes(options, "changed", applied_changes, problems + failures, search)
    if not options.json:
        _print_search(search)
        _print_next_steps(options, applied_changes)
    return code


def _search_result(options: Namespace, agent_names: list[str]) -> Object:
    """The agents that were found on this machine, and those that were looked for; nothing where agents were named."""
    if options.names:
        return {}
    return {"found": agent_names, "not_found": [name for name in agents.AGENTS if name not in agent_names]}


def _print_search(search: Object) -> None:
    if search.get("found"):
        print_words(f"found on this machine: {', '.join(search['found'])}")
    if search.get("not_found"):
        print_words(f"not found: {', '.join(search['not_found'])} (hookonce install NAME prepares one of them)")


def _install_client() -> None:
    """Install the client; hooks have the environment of the person who does so, and of no agent."""
    install_client(warn)
    if find_parent_agent() is None:
        note_environment(os.environ, current_roots().project)


def _finish_unchanged(
    options: Namespace, changes: list[FileChange], problems: ChangeProblems, agent_names: list[str]
) -> int:
    """Where nothing is to be written, or nothing may be: what would be, and what a person has left to do."""
    if not options.dry_run and not problems:
        _install_client()  # it may have gone, or be of another build
    search = _search_result(options, agent_names)
    code = config_changes.report_changes(options, "changed", changes, problems, search)
    if not options.json:
        _print_search(search)
    if not changes and not problems and not options.json:
        _print_untrusted(options, agent_names)
    return code


def _choose_http_address(options: Namespace) -> HttpAddress | Literal[False] | None:
    """Where agents shall post to, if the user has said anything about that; a port that somebody else has is left."""
    if not options.http:
        return None if options.http is None else False
    address = daemon_endpoints.load_http_address()
    if address is None or not (daemon_endpoints.is_port_free(address.port) or probe_listener(address) is None):
        takes_events = address is not None and address.takes_events
        return structs.replace(daemon_endpoints.new_http_address(), takes_events=takes_events)
    return address


def _confirm_changes(options: Namespace, changes: list[FileChange]) -> bool:
    """Whether the user wants these changes; a door that is open when we are not there only a person may choose."""
    if options.http:
        require_consent("install --http", config_changes.describe_changes(changes))
        return True
    if (sys.stdin.isatty() or options.diff) and not options.json:
        print_lines(f"{render_diff(changes)}\n")
        config_changes.print_changes(changes)
    return confirm("Write this?")


def _open_http_listener(new_address: HttpAddress) -> None:
    old_address = daemon_endpoints.load_http_address()
    daemon_endpoints.save_http_address(new_address)
    try:
        await_answer(new_address)
    except BaseException:
        daemon_endpoints.restore_http_address(old_address)
        raise


def _print_next_steps(options: Namespace, applied_changes: list[FileChange]) -> None:
    names = config_changes.agent_names(applied_changes)
    for name in names:
        config = agents.load(name).config
        if config.trust is not None and config.review is None:
            print(f"{name}: {config.trust}")
        elif config.review is not None and options.trust:
            print(
                f"{name}: hookonce's entries are marked as reviewed; the project must be trusted in the agent as well"
            )
    _print_untrusted(options, names)
    if applied_changes:
        print("Next: hookonce status shows what is installed; hookonce uninstall restores the files")


def _print_untrusted(options: Namespace, names: list[str]) -> None:
    locations, scope_option = current_roots(), " --scope project" if options.scope == "project" else ""
    for agent in map(agents.load, names):
        if any(check_review(agent, locations, str(paths.client_path()))):
            print(f"{agent.name}: {agent.config.trust}")
            print(f"Next: hookonce install {agent.name}{scope_option} --trust, if you trust these entries as they are")
