"""hookonce install."""

import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from typing import Literal

from hookonce import agents
from hookonce.agents import _http, config_of, natives
from hookonce.cli import _machine
from hookonce.cli._warn import warn
from hookonce.cli.consent import agreed, confirmed, needs_a_person
from hookonce.config import paths
from hookonce.edit.file import read_file
from hookonce.journeys import posting
from hookonce.journeys.change import Change, diff
from hookonce.journeys.client import place as place_client
from hookonce.journeys.client import try_out
from hookonce.journeys.doctor import unreviewed
from hookonce.journeys.doorbell import await_answer, is_at
from hookonce.journeys.install import plan
from hookonce.journeys.places import Place, here, written
from hookonce.journeys.review import reviewed
from hookonce.model import Agent
from hookonce.runtime import address
from hookonce.runtime.address import Address

_EXAMPLES = """examples:
  hookonce install --dry-run
  hookonce install claude-code codex
  hookonce install gemini-cli --scope project
  hookonce install claude-code --http"""


def configure(parser: ArgumentParser) -> None:
    """The options of `install`."""
    parser.epilog = _EXAMPLES
    _machine.configure(parser)
    parser.add_argument(
        "--trust",
        action="store_true",
        help="tell agents that ask for it (Codex) that you trust these entries",
    )
    parser.add_argument(
        "--http",
        action=BooleanOptionalAction,
        help=f"let agents that can ({', '.join(sorted(_http.COMMANDS))}) post events to the daemon; default: as it is. "
        + needs_a_person("--http"),
    )
    parser.add_argument(
        "--events", choices=("default", "all"), default="default", help="all: also those that come very often"
    )


def run(options: Namespace) -> int:
    """Let agents call hookonce: an entry for each event, beside whatever hooks are there."""
    client, http = str(paths.client()), _address(options)
    looked_at: list[str] = []

    def step(agent: Agent, place: Place) -> list[Change]:
        looked_at.append(agent.name)
        posts = http if options.names or agent.name in _http.COMMANDS else None
        changes = plan(agent, options.scope, place, client, options.events, posts)
        if not _wants_trust(options, agent):
            return changes
        mark = reviewed(agent, changes[0].path, changes[0].new, place, client) if changes else _later(agent, place)
        return changes + ([] if mark is None else [mark])

    def _later(agent: Agent, place: Place) -> Change | None:
        """The entries stand there already; only the user's word is new."""
        path = written(agent, options.scope, place)
        return None if path is None else reviewed(agent, path, read_file(path), place, client)

    changes, problems = _machine.planned(options, step)
    if options.dry_run or not changes:
        return _unchanged(options, changes, problems, looked_at)
    if not _wants(options, changes):
        print("nothing was changed")
        return 0
    place_client(warn)
    if isinstance(http, Address):
        _open(http)
    for name in dict.fromkeys(change.agent for change in changes if change.agent):
        _try(name, client)
    done, failed = _machine.apply(changes)
    posting.retire()
    code = _machine.report(options, "changed", done, problems + failed)
    if not options.json:
        _next_steps(options, done)
    return code


def _unchanged(options: Namespace, changes: list[Change], problems: list[tuple[str, str]], looked_at: list[str]) -> int:
    """Where nothing is to be written, or nothing may be: what would be, and what a person has left to do."""
    if not options.dry_run and not problems:
        place_client(warn)  # it may have gone, or be of another build
    code = _machine.report(options, "changed", changes, problems)
    if not changes and not problems and not options.json:
        _say_untrusted(options, looked_at)
    return code


def _address(options: Namespace) -> Address | Literal[False] | None:
    """Where agents shall post to, if the user has said anything about that; a port that somebody else has is left."""
    if not options.http:
        return None if options.http is None else False
    known = address.known()
    return known if known is not None and (address.is_free(known.port) or is_at(known)) else address.drawn()


def _wants(options: Namespace, changes: list[Change]) -> bool:
    """Whether the user wants these changes; a door that is open when we are not there only a person may choose."""
    if options.http:
        agreed("install --http", diff(changes))
        return True
    if sys.stdin.isatty() and not options.json:
        sys.stdout.write(diff(changes))
    return confirmed("Write this?")


def _open(wanted: Address) -> None:
    """Have the door answer before anybody is sent there."""
    before = address.known()
    address.keep(wanted)
    try:
        await_answer(wanted)
    except BaseException:
        address.forget()
        if before is not None:
            address.keep(before)
        raise


def _wants_trust(options: Namespace, agent: Agent) -> bool:
    """Whether the user lets us say to the agent that our entries were reviewed."""
    return options.trust and config_of(agent).review is not None


def _try(name: str, client: str) -> None:
    """Run the very command that will be written, as the agent would."""
    agent = agents.load(name)
    native = next(iter(natives(agent)))
    try_out([client, name, native, "--via", f"{name}/user"], config_of(agent).silence)


def _next_steps(options: Namespace, done: list[Change]) -> None:
    names = list(dict.fromkeys(change.agent for change in done if change.agent))
    for name in names:
        config = config_of(agents.load(name))
        if config.trust is not None and config.review is None:
            print(f"{name}: {config.trust}")
        elif config.review is not None and options.trust:
            print(f"{name}: our entries are marked as reviewed; a project must be trusted there as well")
    _say_untrusted(options, names)
    if done:
        print("Next: hookonce status shows what calls us; hookonce uninstall gives the files back as they were")


def _say_untrusted(options: Namespace, names: list[str]) -> None:
    """What is left to do where an agent runs nothing that its user has not reviewed."""
    place, scope = here(), " --scope project" if options.scope == "project" else ""
    for agent in map(agents.load, names):
        if any(unreviewed(agent, place, str(paths.client()))):
            print(f"{agent.name}: {config_of(agent).trust}")
            print(f"Next: hookonce install {agent.name}{scope} --trust, if you trust these entries as they are")
