"""Consent table: what each command can take away and needs a person for, and why the rest of it needs nobody.

Every verb and every option of every command stands here: a test compares it with the parsers.
"""

# A command, or some words of one, and what it does to the protection of a machine.
NEEDS_PERSON = {
    "adopt": "moves hooks out of an agent's file; in a project they run again only after hookonce trust",
    "allow": "allows an action for which a hook demands a person's approval",
    "audit keys --rotate": "retires a key that has signed the record",
    "audit set-aside": "replaces the record by a new one",
    "daemon http": "opens a port for events of tools; while no daemon runs, another program could listen there",
    "daemon http --close": "lets tools that send their events over HTTP run without hooks",
    "daemon stop": "stops the daemon",
    "doctor --vouch": "states that a person has reviewed a hook",
    "events erase": "deletes records",
    "install --http": "lets agents run without hooks while the daemon is not running",
    "keys add": "trusts another machine's key to sign events",
    "keys remove": "ends the trust in another machine's key",
    "pause": "lets agents run without hooks",
    "purge": "removes every hook of hookonce, and the record",
    "restore": "replaces a configuration with hookonce's entries by an older one",
    "trust": "lets a project's programs run as hooks",
    "trust --absent": "lets agents run without hooks of a project that are required",
    "trust --revoke": "stops a project's hooks from running",
    "uninstall": "removes hookonce's entries from agents' files",
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
_OWN_HOME = "works in temporary homes"
# Of each command the words that need nobody, and why.
WEAKENS_NOTHING = {
    "init": ("--scope --dry-run --json", "writes only new files"),
    "install": (
        "--json --scope --dry-run --trust --no-http --events --diff",
        "adds or restores hookonce's own entries",
    ),
    "up": ("--demo --or-demo --for --utc", "starts the daemon"),
    "status": ("--json --utc", _READS),
    "doctor": (
        "--json --repair --dry-run",
        "restores hookonce's own entries, and turns on hooks that a setting turns off",
    ),
    "adopt": ("--dry-run", _SHOWS),
    "trust": ("--list", _READS),
    "try": ("--agent --event --tool --input --dialect --json", "runs only trusted hooks"),
    "events": (_EVENT_WORDS, "reads, or adds to the record"),
    "sessions": ("--agent --project --since --until --last --utc --json", _READS),
    "show": ("--agent --turns --format --privacy --sign --utc --all --json", _READS),
    "stats": ("--agent --since --until --utc --rebuild --json", "reads, or counts again"),
    "cost": ("--by --agent --since --until --utc --json", _READS),
    "audit": ("verify checkpoint keys --json", "reads, or signs what is there"),
    "keys": ("list show --json", "reads, or creates this machine's key"),
    "why": ("--list --failures --utc --json", "reads; the code for allow is shown only in a terminal"),
    "resume": ("", "lets hooks run again"),
    "logs": ("-n", _READS),
    "daemon": ("start status --json", "starts the daemon"),
    "on": ("", "answers a call, as for an agent"),
    "uninstall": ("--dry-run", _SHOWS),
    "restore": ("--dry-run --list", _SHOWS),
    "purge": ("--dry-run", _SHOWS),
    "translate": (
        "--to --from --event --privacy --user --received --on-error --stable-ids --sign --max-line --strict",
        "converts its input to output",
    ),
    "check": ("--from --strict --json --max-line", _READS),
    "convert": (
        "--from --to --report --side --output --strict --no-adapt --spec --scope --on-block",
        "converts its input to output, or to files of the caller",
    ),
    "identify": ("--json --max-line", _READS),
    "agents": ("--event --json", _READS),
    "demo": ("--json", _READS),
    "module": (_MODULE_WORDS, "calls only what its caller could start as well; hooks have what config.toml grants"),
    "kernel": (_KERNEL_WORDS, "calls only what its caller could start as well, like module"),
    "lab": ("fetch --version --dry-run --json", "fills a cache from which no hook runs"),
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
    ending = f"{free} need{plural} a person at a terminal, who types a code shown there.\n\n"
    return " and ".join(subjects) + ending if subjects else ""
