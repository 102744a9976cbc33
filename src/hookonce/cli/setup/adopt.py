"""hookonce adopt: move an agent's own hooks into the manifest."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.agents import load
from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.config_changes import ChangeProblems
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, warn
from hookonce.cli._ui.tables import print_words
from hookonce.client.installation import install_client
from hookonce.configure.adoption import Adoption, plan_adoption
from hookonce.configure.changes import FileChange, join_changes
from hookonce.configure.install import plan_install
from hookonce.configure.locations import current_roots
from hookonce.convert.losses import adoption_gaps
from hookonce.convert.spec_version import SPEC_CHOICES, parse_spec
from hookonce.errors import HookonceError
from hookonce.inspect.query_args import find_agent
from hookonce.model import Agent, Object
from hookonce.vocabulary.names import hook_label


def configure(parser: ArgumentParser) -> None:
    """The options of `adopt`."""
    parser.epilog = "examples:\n  hookonce adopt claude-code --dry-run\n  hookonce adopt claude-code --scope project"
    config_changes.add_change_options(parser, requires_names=True)
    spec_help = "version of a new manifest: 1.0 or 0.1; default: 1.0"
    parser.add_argument("--spec", choices=SPEC_CHOICES, metavar="VERSION", help=spec_help)


def run(options: Namespace) -> int:
    """Move an agent's own hooks into the manifest, where every agent can have them."""
    changes: list[FileChange] = []
    problems: ChangeProblems = []
    plans: dict[str, Adoption] = {}
    names: list[str] = []
    for agent in map(find_agent, options.names):
        try:
            agent_changes, agent_problems = _adopt_agent(options, agent, plans, changes if options.dry_run else [])
        except HookonceError as problem:
            agent_changes, agent_problems = [], [(agent.name, str(problem))]
        changes, problems = join_changes([*changes, *agent_changes]), problems + agent_problems
        names += [agent.name] if agent_changes else []
    notices = _trust_notices(options.scope, names)
    code = config_changes.report_changes(options, "changed", changes, problems, _plan_details(plans, notices))
    for text in [] if options.json else notices:
        print_words(text)
    return code


def _plan_details(plans: dict[str, Adoption], notices: list[str]) -> Object:
    """What is moved, what is left alone and what has to be trusted, for programs."""
    moves = {name: [hook_label(hook) for hook in plan.moved_hooks] for name, plan in plans.items()}
    stays = {name: plan.stay_reasons for name, plan in plans.items()}
    return {"moved": moves, "left_alone": stays, "next": notices}


def _trust_notices(scope: str, names: list[str]) -> list[str]:
    """What a person has to agree to before the hooks of these agents run from their new place."""
    notices = [f"{name}: {text}" for name in names if (text := load(name).config.trust)]
    if names and scope == "project":
        notices.append("Next: hookonce trust; hooks of a project run only after you have reviewed them")
    return notices


def _adopt_agent(
    options: Namespace, agent: Agent, plans: dict[str, Adoption], earlier: list[FileChange]
) -> tuple[list[FileChange], ChangeProblems]:
    """One agent after the other: each sees files as the last one has left them, or (`earlier`) would leave them."""
    if not agent.config.repairable:
        raise HookonceError(
            f"hooks of {agent.title} cannot be moved automatically; hookonce convert --to hif shows them"
        )
    spec = None if options.spec is None else parse_spec(options.spec)
    roots, client = current_roots(), str(paths.client_path())
    plan = plan_adoption(agent, options.scope, roots, client, adoption_gaps, spec, earlier_changes=earlier)
    plans[agent.name] = plan
    if not options.json:
        _print_plan(agent, plan)
    if plan.manifest is None:
        return [], []
    # Without entries of ours nobody would call the manifest.
    entry_changes = plan_install(agent, options.scope, roots, client, earlier_changes=[*earlier, *plan.files])
    changes = join_changes([plan.manifest, *plan.files, *entry_changes])
    if options.dry_run:
        return changes, []
    require_consent("adopt", config_changes.describe_changes(changes))
    install_client()
    applied_changes, failures = config_changes.apply_changes([plan.manifest])
    if failures:  # hooks that the manifest could not take stay where they are
        return applied_changes, failures
    file_changes, failures = config_changes.apply_changes(plan.files, is_removal=True)
    entries, entry_failures = config_changes.apply_changes(entry_changes)
    return join_changes([*applied_changes, *file_changes, *entries]), failures + entry_failures


def _print_plan(agent: Agent, plan: Adoption) -> None:
    print(f"{agent.name}: {pluralize(len(plan.moved_hooks), 'hook')} to move", file=sys.stderr)
    for hook in plan.moved_hooks:
        warn(f"moves into the manifest: {hook_label(hook)}")
    for text in plan.stay_reasons:
        warn(f"stays where it is: {text}")
