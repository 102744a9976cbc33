"""hookonce completion."""

from argparse import Action, ArgumentParser, Namespace
from importlib import import_module

from hookonce import agents, formats
from hookonce.cli import COMMANDS, MODULES
from hookonce.journeys.demo import recorded

_BASH = """_hookonce() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  if [ "$COMP_CWORD" -eq 1 ]; then before=; fi
  case "$before" in
    "") COMPREPLY=($(compgen -W "{commands}" -- "$word")) ;;
    --to) COMPREPLY=($(compgen -W "{formats}" -- "$word")) ;;
    --from) COMPREPLY=($(compgen -W "{agents} {formats}" -- "$word")) ;;
    --privacy) COMPREPLY=($(compgen -W "minimal standard full" -- "$word")) ;;
    --on-error) COMPREPLY=($(compgen -W "skip stop" -- "$word")) ;;
    *) _hookonce_words "${{COMP_WORDS[1]}}" "$word" ;;
  esac
}}
_hookonce_words() {{
  local offered verbs flags files=-f
  case "$1" in
{cases}
  esac
  if [ -n "$verbs" ] && [ "$COMP_CWORD" -eq 2 ]; then offered="$verbs"; fi
  if [ -n "$offered" ]; then files=; fi
  case "$2" in
    -*) offered="$flags" ;;
  esac
  COMPREPLY=($(compgen $files -W "$offered" -- "$2"))
}}
complete -F _hookonce hookonce
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + _BASH
_FISH = """complete -c hookonce -f -n __fish_use_subcommand -a "{commands}"
complete -c hookonce -l to -x -a "{formats}"
complete -c hookonce -l from -x -a "{agents} {formats}"
complete -c hookonce -l privacy -x -a "minimal standard full"
complete -c hookonce -l on-error -x -a "skip stop"
{lines}
"""
_FISH_WORDS = 'complete -c hookonce -n "__fish_seen_subcommand_from {name}" -f -a "{words}"'
_SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def configure(parser: ArgumentParser) -> None:
    """The options of `completion`."""
    parser.epilog = "example:\n  hookonce completion bash > ~/.local/share/bash-completion/completions/hookonce"
    parser.add_argument("shell", choices=_SHELLS)


def run(options: Namespace) -> int:
    """Print the script."""
    actions = {name: _actions(name) for name in COMMANDS}
    words = {name: " ".join(_words(name, found)) for name, found in actions.items()}
    script = _SHELLS[options.shell].format(
        commands=" ".join(COMMANDS),
        formats=" ".join(formats.FORMATS),
        agents=" ".join(agents.AGENTS),
        cases="\n".join(
            f'    {name}) {_place(found)}="{words[name]}" flags="{_options(found)}" ;;'
            for name, found in actions.items()
        ),
        lines="\n".join(_FISH_WORDS.format(name=name, words=found) for name, found in words.items() if found),
    )
    print(script, end="")
    return 0


def _actions(command: str) -> list[Action]:
    """What a command can be told, asked from its own parser."""
    parser = ArgumentParser()
    import_module(f"hookonce.cli.{MODULES.get(command, command)}").configure(parser)
    return parser._actions  # noqa: SLF001


def _place(actions: list[Action]) -> str:
    """Where the words of a command stand: verbs come first, and files may follow."""
    return "verbs" if _verbs(actions) else "offered"


def _verbs(actions: list[Action]) -> list[ArgumentParser]:
    tables = [action.choices for action in actions if isinstance(action.choices, dict)]
    return [verb for table in tables for verb in table.values() if isinstance(verb, ArgumentParser)]


def _options(actions: list[Action]) -> str:
    """The options of a command and of its verbs."""
    known = [*actions, *(action for verb in _verbs(actions) for action in verb._actions)]  # noqa: SLF001
    return " ".join(sorted({word for action in known for word in action.option_strings if word[:2] == "--"}))


def _words(command: str, actions: list[Action]) -> list[str]:
    """What may stand in a command's places without a name: one of a few words, or an agent."""
    found: list[str] = []
    for action in actions:
        if action.option_strings:
            continue
        if action.choices is not None:
            found += action.choices
        elif action.dest == "names":
            found += recorded() if command == "demo" else agents.AGENTS
    return found
