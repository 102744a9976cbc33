"""hookonce adopt: move an agent's own hooks into the manifest."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.agents import config_of
from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.config_changes import ChangeProblems
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, warn
from hookonce.client.installation import install_client
from hookonce.configure.adoption import plan_adoption
from hookonce.configure.changes import FileChange, render_diff
from hookonce.configure.install import plan_install
from hookonce.configure.locations import current_roots
from hookonce.convert.losses import adoption_gaps
from hookonce.convert.spec_version import SPEC_CHOICES, parse_spec
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.model import Agent


def configure(parser: ArgumentParser) -> None:
    """The options of `adopt`."""
    parser.epilog = "examples:\n  hookonce adopt claude-code --dry-run\n  hookonce adopt claude-code --scope project"
    config_changes.add_change_options(parser, requires_names=True)
    spec_help = "of a new manifest: 1.0 or 0.1; default: 1.0"
    parser.add_argument("--spec", choices=SPEC_CHOICES, metavar="VERSION", help=spec_help)


def run(options: Namespace) -> int:
    """Move an agent's own hooks into the manifest, where every agent can have them."""
    applied_changes: list[FileChange] = []
    problems: ChangeProblems = []
    for agent in map(find_agent, options.names):
        try:
            agent_changes, agent_problems = _adopt_agent(options, agent)
        except HookonceError as problem:
            agent_changes, agent_problems = [], [(agent.name, str(problem))]
        applied_changes, problems = applied_changes + agent_changes, problems + agent_problems
    code = config_changes.report_changes(options, "changed", applied_changes, problems)
    if applied_changes and options.scope == "project" and not options.json:
        print("Next: hookonce trust; hooks of a project run only as you have seen them")
    return code


def _adopt_agent(options: Namespace, agent: Agent) -> tuple[list[FileChange], ChangeProblems]:
    """One agent after the other: each sees the manifest as the last one has left it."""
    if not config_of(agent).repairable:
        raise HookonceError(f"hooks of {agent.title} are not moved for you; hookonce convert --to hif shows them")
    spec = None if options.spec is None else parse_spec(options.spec)
    plan = plan_adoption(agent, options.scope, current_roots(), str(paths.client_path()), adoption_gaps, spec)
    for text in plan.stay_reasons:
        warn(f"stays where it is: {text}")
    if not options.json:
        print(f"{agent.name}: {pluralize(len(plan.moved_hooks), 'hook')} to move", file=sys.stderr)
    changes = [*([plan.manifest] if plan.manifest else []), *plan.files]
    if options.dry_run or not changes:
        return changes, []
    require_consent("adopt", render_diff(changes))
    install_client()
    applied_changes, failures = config_changes.apply_changes(changes[:1])
    if failures:  # hooks that the manifest could not take stay where they are
        return applied_changes, failures
    file_changes, failures = config_changes.apply_changes(changes[1:], is_removal=True)
    # Without entries of ours nobody would call the manifest.
    entry_changes = plan_install(agent, options.scope, current_roots(), str(paths.client_path()))
    entries, entry_failures = config_changes.apply_changes(entry_changes)
    return [*applied_changes, *file_changes, *entries], failures + entry_failures
