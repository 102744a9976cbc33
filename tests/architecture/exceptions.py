"""What the rules allow besides, each with its reason."""

# Files under 40 lines that stand by themselves.
SMALL_FILES = {
    "agents/*/*.py": "an agent's package has the same files as its siblings, however short",
    "agents/certificates.py": "the reader of generated data, which docs/certificates_table.py writes",
    "agents/signatures.py": "the reader of generated data, which docs/signatures_table.py writes",
    "cli/*/*.py": "one file for each command, found by the command's name",
    "lab/experiments/*.py": "one file for each experiment, found by the name that `prove --only` takes",
    "lab/fakes/claude_hook.py": "a program of its own",
    "client/oneshot.py": "a program of its own",
    "daemon/__main__.py": "a program of its own",
    "sdk/worker.py": "a program of its own",
}

# Files of more than 400 lines.
LONG_FILES = {
    "agents/opencode/agent.py": "the table of one agent, which has a plugin function for each event",
}

# Functions of more than 50 lines.
LONG_FUNCTIONS = {
    "agents/_decode/decoder.py decode": "one field of the Event on a line; a further call costs time in every call of an agent",
}

# Files and folders whose last word is a verb or a participle.
FILE_NAMES = {
    "cli/*": "named like the command",
    "configure/install": "the service of the command of that name",
    "configure/restore": "the service of the command of that name",
    "convert": "the feature has its command's name",
    "lab/fetch": "the feature has its command's name",
    "lab/prove": "the feature has its command's name",
    "lab/experiments/*": "named like what `prove --only` takes",
    "*/factory_droid": "the product is called so",
    "agents/_decode": "named like the field of the contract that it serves",
    "agents/*/encode": "named like the field of the contract that it serves",
    "formats/_shared": "what all formats share",
    "client/native/generated": "written by `make docs`, as its name warns",
    "manifest/load": "a step of the flows that ARCHITECTURE.md draws",
    "manifest/discover": "a step of the flows that ARCHITECTURE.md draws",
    "manifest/degrade": "a step of the flows that ARCHITECTURE.md draws",
    "dispatch/select": "a step of the flows that ARCHITECTURE.md draws",
    "dispatch/prepare": "a step of the flows that ARCHITECTURE.md draws",
    "secrets/detect": "a step of the flows that ARCHITECTURE.md draws",
    "sessions/derive": "a step of the flows that ARCHITECTURE.md draws",
    "store/privacy/redact": "a step of the flows that ARCHITECTURE.md draws",
    "store/privacy/sanitize": "a step of the flows that ARCHITECTURE.md draws",
    "store/spool/ingest": "a step of the flows that ARCHITECTURE.md draws",
}

# Packages whose `__init__.py` holds code.
PACKAGES = {
    "__init__.py": "public names are imported on first use",
    "modules/__init__.py": "public names are imported on first use",
    "agents/__init__.py": "the registry of agents loads one by its name",
    "agents/transcripts/__init__.py": "the registry of transcript readers loads one by its name",
    "formats/__init__.py": "the registry of formats loads one by its name",
    "cli/__init__.py": "the registry of commands",
    "lab/drivers/__init__.py": "the contract and the registry of drivers",
    "lab/experiments/__init__.py": "the contract and the registry of experiments",
}

# Literals with five agents or more besides `agents.AGENTS`.
AGENT_LISTS = {
    "agents/__init__.py": "the only list of agents",
    "agents/certificates.py": "generated from the certificates of those agents that were run",
    "lab/drivers/__init__.py": "the only list of drivers: which agents the lab can run, in the order of certificates",
}

# Names that are participles, as `name`, `function.parameter` or `Class.field`.
_ADJECTIVE = "an adjective of the trade, which says what something is and not what was done"
_DISK = "a field of a file that earlier versions have written"
_JSON = "a field of a command's JSON output or of a published schema"
_PUBLIC = "a public name of the library"
_CONTRACT = "a field of a contract"
PARTICIPLES = {
    **dict.fromkeys(["closed", "_closed", "expected"], _ADJECTIVE),
    **dict.fromkeys(["received", "Stored", "HookRun.started", "tool.given"], _PUBLIC),
    **dict.fromkeys(["Step.denied", "Step.done", "Step.failed"], _PUBLIC),
    **dict.fromkeys(["Outcome.denied", "Outcome.asked", "Outcome.allowed"], _PUBLIC),
    **dict.fromkeys(["Agent.checked", "AgentSheet.checked"], _CONTRACT),
    "Settings.untrusted": "a key of config.toml",
    **dict.fromkeys(["JournalEntry.made", "DedupEntry.decided", "CallClaim.done"], _DISK),
    **dict.fromkeys([f"ReaderMemory.{name}" for name in ("seen", "held", "asked", "spawned", "counted")], _DISK),
    **dict.fromkeys(["ModelCall.asked", "ModelCall.failed"], _DISK),
    **dict.fromkeys(["FileStats.added", "FileStats.removed", "SubagentActivity.started"], _DISK),
    **dict.fromkeys(["SubagentActivity.ended", "SessionCall.started", "SessionCall.refused"], _DISK),
    **dict.fromkeys(["SessionCall.guessed"], _DISK),
    **dict.fromkeys(["InstallStatus.borrowed", "Trial.told", "Trial.skipped", "CostRow.unpriced"], _JSON),
    **dict.fromkeys(["PointRow.contradicted", "AgentCertificate.contradicted"], _JSON),
    **dict.fromkeys(["Timeline.ended", "Timeline.failed", "Timeline.refused", "ConformanceReport.passed"], _JSON),
    **dict.fromkeys(["BenchRatio.bound", "BenchRatio.held", "DaemonMemory.answered", "BenchReport.skipped"], _JSON),
    **dict.fromkeys(["Audit.removed", "Audit.erased", "StoreSummary.damaged", "StoreSummary.lost"], _JSON),
    **dict.fromkeys(["SkippedRows.changed", "QuarantineResult.taken", "QuarantineResult.left"], _JSON),
    **dict.fromkeys(["Alarms.suspected"], _JSON),
}
