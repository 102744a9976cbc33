"""hookonce init: write a first manifest."""

from argparse import ArgumentParser, Namespace
from shlex import quote

from hookonce.base import paths
from hookonce.cli._ui import config_changes
from hookonce.cli._ui.arguments import add_flag
from hookonce.configure.init import plan_first_manifest
from hookonce.configure.locations import current_roots


def configure(parser: ArgumentParser) -> None:
    """The options of `init`."""
    parser.epilog = "examples:\n  hookonce init\n  hookonce init --scope user"
    parser.add_argument("--scope", choices=("user", "project"), default="project", help="default: project")
    add_flag(parser, "--dry-run", "show what would be written, and write nothing")
    add_flag(parser, "--json", "tell it as JSON")


def run(options: Namespace) -> int:
    """Write a first manifest, with an example that you can change or delete."""
    is_user_scope = options.scope == "user"
    folder = paths.config_dir() if is_user_scope else current_roots().project / ".hookonce"
    example = quote(str(folder / "example.py")) if is_user_scope else "./.hookonce/example.py"
    changes = plan_first_manifest(folder, example)
    problems: list[tuple[str, str]] = []
    if not options.dry_run:
        changes, problems = config_changes.apply_changes(changes, is_removal=True)
    code = config_changes.report_changes(options, "written", changes, problems)
    if not options.json and not options.dry_run and not problems:
        trust_hint = "" if is_user_scope else "; hookonce trust lets it run here"
        print(f"Next: hookonce try example{trust_hint}; hookonce install lets your agents call it")
    return code
