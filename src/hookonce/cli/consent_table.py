"""Consent table: what each command can take away and needs a person for, and why the rest of it needs nobody.

Every verb and every option of every command stands here: a test compares it with the parsers.
"""

# A command, or some words of one, and what it does to the protection of a machine.
NEEDS_PERSON = {
    "adopt": "takes hooks out of an agent's file; in a project they run again only after hookonce trust",
    "allow": "lets happen what a hook wanted a person to look at",
    "audit keys --rotate": "ends a key that has signed the record",
    "audit set-aside": "begins a new record in the place of the old one",
    "daemon http": "opens a port for events of tools, where somebody else may listen while the daemon does not run",
    "daemon http --close": "lets tools that post their events go on without hooks",
    "daemon stop": "ends the process that answers agents",
    "doctor --vouch": "says that somebody has looked at a hook",
    "events erase": "deletes what is in the record",
    "install --http": "lets agents go on without hooks while the daemon does not run",
    "keys add": "lets a key of somebody else vouch for events",
    "keys remove": "ends what a key of somebody else vouches for",
    "pause": "lets agents go on without hooks",
    "purge": "takes every hook of hookonce away, and the record",
    "restore": "puts an older configuration in the place of the one with our entries",
    "trust": "lets programs of a project run",
    "trust --absent": "lets agents go on without hooks of a project that must be asked",
    "trust --revoke": "ends hooks of a project",
    "uninstall": "takes our entries out of agents' files",
}

_READS = "reads"
_SHOWS = "shows what would be done"
_EVENT_WORDS = (
    "sql export import --json --csv --format --privacy --sign --timeout --out --from --follow "
    "--agent --session --type --tool --decision --project --path --text --since --until --last --utc --all"
)
_MODULE_WORDS = (
    "check --descriptor --transport --case --timeout --op --args --transcripts --json "
    "invoke --allow list --health serve --mcp --http --host --token-env"
)
_KERNEL_WORDS = "run --allow --timeout --keep-going --dry-run"
_OWN_HOME = "works in homes that it makes for itself"
# Of each command the words that need nobody, and why.
WEAKENS_NOTHING = {
    "init": ("--scope --dry-run --json", "writes files only where there are none"),
    "install": (
        "--json --scope --dry-run --trust --no-http --events --diff",
        "adds our own entries, or puts them back",
    ),
    "up": ("--demo --or-demo --for --utc", "starts what answers agents"),
    "status": ("--json --utc", _READS),
    "doctor": ("--json --repair --dry-run", "puts our own entries back, and turns hooks on that a setting turns off"),
    "adopt": ("--dry-run", _SHOWS),
    "trust": ("--list", _READS),
    "try": ("--agent --event --tool --input --dialect --json", "runs no hook that nobody has trusted"),
    "events": (_EVENT_WORDS, "reads, or adds to the record"),
    "sessions": ("--agent --project --since --until --last --utc --json", _READS),
    "show": ("--agent --turns --format --privacy --sign --utc --all --json", _READS),
    "stats": ("--agent --since --until --utc --rebuild --json", "reads, or counts again"),
    "cost": ("--by --agent --since --until --utc --json", _READS),
    "audit": ("verify checkpoint keys --json", "reads, or signs what is there"),
    "keys": ("list show --json", "reads, or begins this machine's own key"),
    "why": ("--list --failures --utc --json", "reads; the code for allow is for terminals alone"),
    "resume": ("", "asks hooks again"),
    "logs": ("-n", _READS),
    "daemon": ("start status --json", "starts what answers agents"),
    "on": ("", "answers a call, as agents do it"),
    "uninstall": ("--dry-run", _SHOWS),
    "restore": ("--dry-run --list", _SHOWS),
    "purge": ("--dry-run", _SHOWS),
    "translate": (
        "--to --from --event --privacy --user --received --on-error --stable-ids --sign --max-line --strict",
        "turns its input into output",
    ),
    "check": ("--from --strict --json --max-line", _READS),
    "convert": (
        "--from --to --report --side --output --strict --no-adapt --spec --scope --on-block",
        "turns its input into output, or into files of the caller's",
    ),
    "identify": ("--json --max-line", _READS),
    "agents": ("--event --json", _READS),
    "demo": ("--json", _READS),
    "module": (_MODULE_WORDS, "calls what its caller could start as well; hooks have what config.toml grants"),
    "kernel": (_KERNEL_WORDS, "calls what its caller could start as well, like module"),
    "lab": ("fetch --version --dry-run --json", "fills a cache that no hook runs from"),
    "prove": ("--pinned --version --tries --only --out --dry-run --json", _OWN_HOME),
    "bench": ("--quick --rounds --json", _OWN_HOME),
    "completion": ("bash zsh fish sessions", "prints a script, or ids of sessions"),
}


def consent_help(command: str) -> str:
    """What `--help` says of a command that needs a person, or does so for some of its words."""
    subjects, free = [verb for verb in NEEDS_PERSON if verb.split()[0] == command], ""
    if command in NEEDS_PERSON:
        words = WEAKENS_NOTHING.get(command, ("", ""))[0].split()
        subjects, free = [command], f", but for {' and '.join(words)}," if words else ""
    plural = "" if subjects[1:] else "s"
    ending = f"{free} need{plural} a person at a terminal, who types a code that is shown there.\n\n"
    return " and ".join(subjects) + ending if subjects else ""
