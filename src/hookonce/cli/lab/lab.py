"""hookonce lab: verb fetch, which downloads pinned agents from npm."""

import sys
from argparse import ArgumentParser, Namespace

from hookonce.cli._ui.arguments import add_flag, add_verb
from hookonce.cli._ui.messages import print_json
from hookonce.cli._ui.tables import print_table
from hookonce.errors import UsageError

VERBS = {"fetch": "download pinned agents from npm"}
_EXAMPLES = """examples:
  hookonce lab fetch --dry-run
  hookonce lab fetch codex"""
_FETCH_HELP = """Agents are in $XDG_CACHE_HOME/hookonce/agents (HOOKONCE_AGENTS names another folder). Every package
is pinned by its version, and on linux-x64 also by its checksum. Native code for other platforms, and versions that are
given with --version, are taken as npm delivers them. No script of a package is run.

examples:
  hookonce lab fetch --dry-run
  hookonce lab fetch
  hookonce lab fetch codex gemini-cli
  hookonce lab fetch claude-code --version 2.1.197"""


def configure(parser: ArgumentParser) -> None:
    """The verb of `lab`, what can be done beside `prove`."""
    parser.epilog = _EXAMPLES
    fetch = add_verb(parser.add_subparsers(metavar="VERB", required=True), "fetch", VERBS["fetch"], _FETCH_HELP)
    fetch.add_argument("names", nargs="*", metavar="AGENT", help="default: all pinned agents")
    fetch.add_argument("--version", action="append", metavar="V", help="another version of one agent; may be repeated")
    add_flag(fetch, "--dry-run", "show what is downloaded, what is not, and the sizes")
    add_flag(fetch, "--json", "print one JSON object per version")


def run(options: Namespace) -> None:
    """Fetch agents, or tell what that would mean."""
    from hookonce.lab.fetch.fetcher import fetch_agents, plan_downloads

    versions = options.version or []
    if versions and len(options.names) != 1:
        raise UsageError("--version needs exactly one agent: hookonce lab fetch AGENT --version V")
    if not options.dry_run:
        fetch_agents(options.names, versions, lambda text: print(text, file=sys.stderr, flush=True))
    rows = plan_downloads(options.names, versions)
    if options.json:
        print_json(*rows)
        return
    cells = ((row.agent, row.version, str(row.megabytes), row.state, row.folder) for row in rows)
    print_table(("agent", "version", "MB", "state", "folder"), cells)
    if missing_mb := sum(row.megabytes for row in rows if row.state != "fetched"):
        print(f"\nup to {missing_mb:,} MB would be downloaded")
