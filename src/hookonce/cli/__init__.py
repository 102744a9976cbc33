"""Registry of commands with their help texts, the only list; a command's module is imported when it runs."""

COMMANDS: dict[str, str] = {
    "init": "write a first manifest with an example hook",
    "install": "add hookonce to agents' configuration files; hooks that are there stay",
    "up": "start the daemon, and watch live what agents do",
    "status": "show where hookonce is installed, what agents did today, and what is wrong",
    "doctor": "find what keeps hooks from running, and repair it",
    "adopt": "move an agent's own hooks into the manifest",
    "trust": "review a project's hooks, and let them run until they change",
    "try": "run a hook on a made-up event, and show its decision",
    "events": "list recorded events of all agents, filtered, exported or live",
    "sessions": "list recorded sessions of all agents",
    "show": "show one session step by step",
    "stats": "count events, tool calls and decisions, and show how long hooks took",
    "cost": "estimate what tokens cost, by day, agent, model, project or session",
    "audit": "verify that the record was not changed, and sign it",
    "keys": "show this machine's public key, and manage trusted keys of other machines",
    "why": "explain the last refusal, and what can be done about it",
    "allow": "allow one action for which a hook demands a person's approval",
    "pause": "run no hooks for a while; agents go on working",
    "resume": "end a pause, so that hooks run again",
    "logs": "show hookonce's own log",
    "daemon": "show, start or stop the daemon, or let tools send events to it over HTTP",
    "on": "answer one hook call; agents run this, not people",
    "uninstall": "remove hookonce from agents' configuration files, leaving them as they were",
    "restore": "restore an agent's configuration file from a backup",
    "purge": "uninstall everywhere and delete hookonce's data",
    "translate": "convert payloads and events to another format, line by line",
    "check": "check manifests, hooks and event documents, and list every problem",
    "convert": "convert hook configurations from one agent to another, naming everything that is lost",
    "identify": "find out which agent or format a payload comes from",
    "agents": "show the events of each coding agent, and what a hook can do at them",
    "demo": "show recorded sessions of several agents as one timeline",
    "module": "check, call, list and serve modules of the module protocol",
    "kernel": "run a script of sessions, mounts and invocations of modules",
    "lab": "download real agents in pinned versions, for hookonce prove",
    "prove": "run real agents offline, and show that hooks fire and refusals hold",
    "bench": "measure how long agents wait for hookonce on this machine",
    "completion": "print a completion script for bash, zsh or fish",
}

EXIT_OK, EXIT_PROBLEM, EXIT_GAPS, EXIT_USAGE, EXIT_INTERNAL, EXIT_INTERRUPTED = 0, 1, 3, 64, 70, 130

_GROUPS = {
    "setup": "init install status doctor adopt try uninstall restore purge agents completion",
    "observe": "events sessions show stats cost audit why logs demo",
    "convert": "translate check convert identify",
    "trust": "trust allow pause resume keys",
    "daemon": "up daemon on",
    "lab": "lab prove bench",
}
_FILES = {"try": "trial"}  # commands whose name no file can have
MODULES = {name: f"{group}.{_FILES.get(name, name)}" for group, names in _GROUPS.items() for name in names.split()} | {
    "module": "module",
    "kernel": "kernel",
}  # the module of each command below hookonce.cli

BARE = {"on", "completion"}  # commands that do their own work and nothing beside it
