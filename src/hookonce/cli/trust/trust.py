"""hookonce trust: pin and trust a project's hooks."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from hookonce.cli._ui.arguments import add_flag
from hookonce.cli._ui.consent import require_consent
from hookonce.cli._ui.messages import pluralize, print_json, print_lines
from hookonce.dispatch.dispatcher import refresh_client_files
from hookonce.dispatch.hook_faults.handlers import project_code_obstacles
from hookonce.errors import HookonceError
from hookonce.trust.consent import (
    TrustProposal,
    find_trust_project,
    list_proposals,
    propose_absence,
    run_scanners,
    trust_proposals,
    unpinned_words,
)
from hookonce.trust.pin_store import find_own_guards, load_pins, revoke_pins


def configure(parser: ArgumentParser) -> None:
    """The options of `trust`."""
    parser.epilog = (
        "examples:\n  hookonce trust --list\n  hookonce trust\n  hookonce trust --absent\n  hookonce trust --revoke"
    )
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="the project; default: this directory's")
    add_flag(parser, "--list", "list the project's hooks and whether they are trusted")
    add_flag(parser, "--revoke", "end all trust in this project")
    add_flag(
        parser, "--absent", "accept that required (closed) hooks are missing or broken on this branch, as it is now"
    )
    add_flag(parser, "--allow-unpinned", "also trust commands whose content cannot be hashed")
    add_flag(parser, "--json", "with --list: print JSON")


def run(options: Namespace) -> None:
    """Let a project's hooks run as they are now; a changed file is not trusted any more."""
    project = find_trust_project(Path(options.path))
    if options.revoke:
        require_consent("trust --revoke", f"end all trust in {project}")
        print(f"{pluralize(revoke_pins(project), 'pin')} of {project} removed")
        refresh_client_files()
        return
    if options.absent:
        _accept_absence(project)
        return
    proposals = list_proposals(project, project_code_obstacles)
    if not proposals:
        hint = "; hookonce trust --absent accepts that" if find_own_guards(project) else ""
        raise HookonceError(f"{project} has no hooks: neither .hookonce/hooks.json nor .openhook.json is there{hint}")
    if not options.list:
        _trust_project(project, proposals, allow_unpinned=options.allow_unpinned)
    elif options.json:
        print_json([_proposal_object(proposal) for proposal in proposals])
    else:
        for proposal in proposals:
            print_lines(f"{'trusted' if proposal.is_current else 'not trusted'}: {proposal.text}")


def _trust_project(project: Path, proposals: list[TrustProposal], *, allow_unpinned: bool) -> None:
    if problems := [proposal.text for proposal in proposals if proposal.pin is None]:
        raise HookonceError("; ".join(problems))
    new = [proposal for proposal in proposals if not proposal.is_current]
    if not new:
        trust_proposals(project, new)
        print("nothing to do: everything is trusted already")
        return
    unpinned_files = unpinned_words(new)
    if unpinned_files and not allow_unpinned:
        for proposal in new:
            print_lines(proposal.text)
        files = ", ".join(unpinned_files)
        raise HookonceError(f"{files} cannot be hashed; --allow-unpinned trusts them too")
    require_consent("trust", "\n".join([*(proposal.text for proposal in new), *run_scanners(project, new)]))
    trust_proposals(project, new)
    refresh_client_files()
    print(f"{pluralize(len(new), 'file')} trusted")


def _accept_absence(project: Path) -> None:
    proposal = propose_absence(project)
    if not find_own_guards(project):
        raise HookonceError(f"no closed hook of {project} was ever trusted; there is nothing to accept")
    if any(other.pin and load_pins(project, other.pin.manifest) for other in list_proposals(project)):
        raise HookonceError(f"the hooks of {project} exist: restore the files that they need, or run hookonce trust")
    if proposal.is_current:
        print("nothing to do: this was accepted already")
        return
    require_consent("trust --absent", proposal.text)
    trust_proposals(project, [proposal])
    print(f"calls in {project} are not refused because of these hooks, as long as this branch stays as it is now")


def _proposal_object(proposal: TrustProposal) -> dict[str, object]:
    document: dict[str, object] = {"path": str(proposal.path), "trusted": proposal.is_current}
    if proposal.pin is None:
        return document | {"problem": proposal.text}
    return document | {"digest": proposal.pin.manifest, "files": proposal.pin.files, "unpinned": proposal.pin.loose}
