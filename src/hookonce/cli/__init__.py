"""Registry of commands with their help texts, the only list; a command's module is imported when it runs."""

COMMANDS: dict[str, str] = {
    "init": "write a first manifest of hooks",
    "install": "let agents call hookonce, beside whatever hooks they have",
    "up": "start what answers agents and keeps their events, and show what happens",
    "status": "show which agents call hookonce, and what else they run",
    "doctor": "explain and mend what keeps hooks from running",
    "adopt": "move an agent's own hooks into the manifest",
    "trust": "let a project's hooks run, as they are now",
    "try": "run a hook on an event that never happened",
    "events": "show what happened: events of every agent, as they come or by what they are",
    "sessions": "list the sessions of every agent",
    "show": "tell one session from its beginning",
    "stats": "show how much of what happened, and what hooks cost",
    "cost": "show what tokens were worth, by day, agent, model, project or session",
    "audit": "find out whether somebody has changed the record, and sign it",
    "keys": "show this machine's public key, and which keys of others it trusts",
    "why": "explain the last refusal, and what can be done about it",
    "allow": "say yes to one action that a hook wanted a person to look at",
    "pause": "let every agent go on without hooks, for a while",
    "resume": "ask hooks again",
    "logs": "show our own log",
    "daemon": "show, start or stop the process that answers agents, or let tools post events to it",
    "on": "answer one call of an agent",
    "uninstall": "give agents' files back as they were",
    "restore": "put back the newest copy of an agent's configuration",
    "purge": "uninstall everywhere and delete hookonce's data",
    "translate": "turn payloads and events into another format, line by line",
    "check": "find every problem in event documents, each with its place",
    "convert": "turn hook configurations of one agent into another's, with every loss named",
    "identify": "say which agent or format a payload is, and why",
    "agents": "show what each coding agent's hooks can tell",
    "demo": "show recorded sessions of several agents as one timeline",
    "module": "try, call and list modules of the module protocol, and be one",
    "kernel": "run a script of sessions, mounts and invocations of modules",
    "lab": "fetch real agents in pinned versions, for prove",
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
