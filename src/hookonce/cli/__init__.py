"""The commands, one file each. This map is the only list of them; a command's file is read when it runs."""

COMMANDS: dict[str, str] = {
    "translate": "turn payloads and events into another format, line by line",
    "check": "find every problem in event documents, each with its place",
    "convert": "turn hook configurations of one agent into another's, with every loss named",
    "identify": "say which agent or format a payload is, and why",
    "agents": "show what each coding agent's hooks can tell",
    "demo": "show recorded sessions of several agents as one timeline",
    "completion": "print a completion script for bash, zsh or fish",
}
