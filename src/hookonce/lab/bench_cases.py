"""Names of benchmark cases: what is called as an agent calls a hook."""

# Programs without us.
FLOOR, PYTHON, PYTHON_SITE = "nothing", "python -I -S -c pass", "python -c pass"
BARE_TRUE, BARE_GREP = "sh -c true", "sh -c grep guard"
# Our client with a daemon.
ECHO, NO_HOOKS = "echo", "no hooks"
NO_RECORD, MILLION_ROWS = "no hooks, no record", "no hooks, a million rows"
FUNCTION, FUNCTION_DENY = "function hook, answers", "function hook, refuses"
COMMAND, COMMAND_NO_RECORD = "command hook true", "command hook true, no record"
GREP, COMMAND_DENY = "command hook grep guard", "command hook, refuses"
THREE_COMMANDS, THREE_GREPS = "three command hooks true", "three grep guards"
# The same without one, and hooks that are programs.
COLD, COLD_HOOK, PYTHON_CLIENT = "cold", "cold, command hook true", "twin"
DAEMON_KILLED, NEXT_CALL = "daemon just killed", "next call after that"
SDK_IMPORT, SDK_PROGRAM = "from hookonce import deny, hook", "python guard.py"
