"""hookonce completion: completion script for bash, zsh and fish."""

import re
import sqlite3
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing, suppress
from importlib import import_module

from hookonce import agents, formats
from hookonce.cli import COMMANDS, MODULES
from hookonce.demo.replay import list_recordings
from hookonce.errors import HookonceError
from hookonce.modules.protocol.capabilities import CAPABILITIES
from hookonce.store import database
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.tools import AGENT_HOOKS_ACTIONS

_BASH = """_hookonce() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local place="${{COMP_WORDS[1]}}" offered once= flags files=-f typed
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "{commands}" -- "$word")); return; fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case "$place ${{COMP_WORDS[2]}}" in
      {verbs}) place="$place ${{COMP_WORDS[2]}}" ;;
    esac
  fi
  case "$place $before" in
{values}
  esac
  case "$place" in
{cases}
  esac
  for typed in "${{COMP_WORDS[@]:2:COMP_CWORD-2}}"; do
    if [ -n "$once" ]; then case " $offered " in *" $typed "*) offered= ;; esac; fi
  done
  if [ -n "$offered" ]; then files=; fi
  case "$word" in
    -*) offered="$flags" ;;
  esac
  COMPREPLY=($(compgen $files -W "$offered" -- "$word"))
}}
complete -F _hookonce hookonce
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + _BASH
_FISH = """complete -c hookonce -f -n __fish_use_subcommand -a "{commands}"
{lines}
"""
_SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_SESSIONS = "sessions"  # the word with which a script asks for the newest sessions
_MAX_SESSIONS = 50
# A shell expands the words that it is offered, and agents name their sessions: other names are not offered.
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,199}")
_ASK_SESSIONS = f"hookonce completion {_SESSIONS} 2> /dev/null"
_FILE_METAVARS = frozenset({"FILE", "FOLDER", "PATH", "DIR"})
_AGENTS, _AGENTS_AND_FORMATS = list(agents.AGENTS), [*agents.AGENTS, *formats.FORMATS]
# What may stand behind an option whose parser does not list it; a whole place comes before the option alone.
_VALUES: dict[str, list[str]] = {
    "--agent": _AGENTS,
    "--allow": list(CAPABILITIES),
    "--dialect": _AGENTS_AND_FORMATS,
    "--event": list(EVENTS),
    "--format": list(formats.FORMATS),
    "--from": _AGENTS_AND_FORMATS,
    "--to": list(formats.FORMATS),
    "--tool": list(AGENT_HOOKS_ACTIONS),
    "--type": list(EVENTS),
    "convert --from": _AGENTS,
    "convert --to": _AGENTS,
}


def configure(parser: ArgumentParser) -> None:
    """The options of `completion`."""
    parser.epilog = "example:\n  hookonce completion bash > ~/.local/share/bash-completion/completions/hookonce"
    parser.add_argument("shell", choices=[*_SHELLS, _SESSIONS], help="sessions: the newest, for these scripts")


def run(options: Namespace) -> None:
    """Print the script, or the sessions that it offers."""
    if options.shell == _SESSIONS:
        print(*_list_sessions(), sep="\n")
        return
    commands = dict(_find_commands())
    script = _SHELLS[options.shell].format(
        commands=" ".join(COMMANDS),
        verbs="|".join(f'"{command}"' for command in commands if " " in command),
        values="\n".join(line for command, actions in commands.items() for line in _bash_values(command, actions)),
        cases="\n".join(_bash_case(command, actions) for command, actions in commands.items()),
        lines="\n".join(line for command, actions in commands.items() for line in _fish_lines(command, actions)),
    )
    print(script, end="")


def _list_sessions() -> list[str]:
    """The newest sessions; none where the record cannot be read, for nobody would see why."""
    statement = "SELECT session FROM sessions ORDER BY last_time DESC LIMIT ?"
    with suppress(sqlite3.Error, OSError, HookonceError), closing(database.open_reader()) as connection:
        names = [name for (name,) in connection.execute(statement, (_MAX_SESSIONS,))]
        return [name for name in dict.fromkeys(names) if _SAFE_NAME.fullmatch(name)]
    return []


def _find_commands() -> Iterator[tuple[str, list[Action]]]:
    for name in COMMANDS:
        parser = ArgumentParser()
        import_module(f"hookonce.cli.{MODULES[name]}").configure(parser)
        yield name, parser._actions  # noqa: SLF001
        for action in parser._actions:  # noqa: SLF001
            for verb, inner in (action.choices or {}).items() if isinstance(action.choices, dict) else ():
                if isinstance(inner, ArgumentParser):
                    yield f"{name} {verb}", inner._actions  # noqa: SLF001


def _bash_values(command: str, actions: list[Action]) -> Iterator[str]:
    for action in filter(_takes_value, actions):
        names = "|".join(f'"{command} {word}"' for word in action.option_strings)
        offer = "-f" if action.metavar in _FILE_METAVARS else f'-W "{" ".join(_option_values(command, action))}"'
        offer = f'-W "$({_ASK_SESSIONS})"' if action.option_strings[-1] == "--session" else offer
        yield f'    {names}) COMPREPLY=($(compgen {offer} -- "$word")); return ;;'


def _bash_case(command: str, actions: list[Action]) -> str:
    once = " once=1" if any(action.choices is not None and not action.option_strings for action in actions) else ""
    flags = sorted({word for action in actions for word in action.option_strings if word[:2] == "--"})
    words = f"$({_ASK_SESSIONS})" if _takes_session(actions) else " ".join(_positional_words(command, actions))
    return f'    "{command}") offered="{words}"{once} flags="{" ".join(flags)}" ;;'


def _fish_lines(command: str, actions: list[Action]) -> Iterator[str]:
    where = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in command.split())
    begin = f'complete -c hookonce -n "{where}"'
    if _takes_session(actions):
        yield f'{begin} -f -a "({_ASK_SESSIONS})"'
    elif words := _positional_words(command, actions):
        yield f'{begin} -f -a "{" ".join(words)}"'
    for action in actions:
        for name in (word[2:] for word in action.option_strings if word[:2] == "--"):
            if not _takes_value(action):
                yield f"{begin} -l {name}"
            elif name == "session":
                yield f'{begin} -l {name} -x -a "({_ASK_SESSIONS})"'
            elif values := _option_values(command, action):
                yield f'{begin} -l {name} -x -a "{" ".join(values)}"'
            else:
                yield f"{begin} -l {name} {'-r' if action.metavar in _FILE_METAVARS else '-x'}"


def _takes_session(actions: list[Action]) -> bool:
    return any(action.metavar == "SESSION" and not action.option_strings for action in actions)


def _takes_value(action: Action) -> bool:
    return bool(action.option_strings) and action.nargs != 0


def _option_values(command: str, action: Action) -> list[str]:
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    name = action.option_strings[-1]
    return _VALUES.get(f"{command} {name}") or _VALUES.get(name) or []


def _positional_words(command: str, actions: list[Action]) -> list[str]:
    """What may stand in a command's places without a name: one of a few words, or an agent."""
    words: list[str] = []
    for action in actions:
        if action.option_strings:
            continue
        if action.choices is not None:
            words += action.choices
        elif action.dest == "names":
            words += list_recordings() if command == "demo" else agents.AGENTS
    return words
