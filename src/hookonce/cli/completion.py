"""hookonce completion."""

from argparse import ArgumentParser, Namespace

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
    agents) COMPREPLY=($(compgen -W "{agents}" -- "$word")) ;;
    demo) COMPREPLY=($(compgen -W "{recorded}" -- "$word")) ;;
    completion) COMPREPLY=($(compgen -W "{shells}" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -W "$(_hookonce_options "${{COMP_WORDS[1]}}")" -- "$word")) ;;
  esac
}}
_hookonce_options() {{
  case "$1" in
{options}
  esac
}}
complete -F _hookonce hookonce
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n" + _BASH
_FISH = """complete -c hookonce -f -n __fish_use_subcommand -a "{commands}"
complete -c hookonce -l to -x -a "{formats}"
complete -c hookonce -l from -x -a "{agents} {formats}"
complete -c hookonce -l privacy -x -a "minimal standard full"
complete -c hookonce -l on-error -x -a "skip stop"
complete -c hookonce -n "__fish_seen_subcommand_from agents" -f -a "{agents}"
complete -c hookonce -n "__fish_seen_subcommand_from demo" -f -a "{recorded}"
complete -c hookonce -n "__fish_seen_subcommand_from completion" -f -a "{shells}"
"""
_SHELLS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


def configure(parser: ArgumentParser) -> None:
    """The options of `completion`."""
    parser.epilog = "example:\n  hookonce completion bash > ~/.local/share/bash-completion/completions/hookonce"
    parser.add_argument("shell", choices=_SHELLS)


def run(options: Namespace) -> int:
    """Print the script."""
    script = _SHELLS[options.shell].format(
        commands=" ".join(COMMANDS),
        formats=" ".join(formats.FORMATS),
        agents=" ".join(agents.AGENTS),
        recorded=" ".join(recorded()),
        shells=" ".join(_SHELLS),
        options="\n".join(f'    {name}) echo "{_options(name)}" ;;' for name in COMMANDS),
    )
    print(script, end="")
    return 0


def _options(command: str) -> str:
    """The long options of a command, asked from its own parser."""
    from importlib import import_module

    parser = ArgumentParser()
    import_module(f"hookonce.cli.{MODULES.get(command, command)}").configure(parser)
    return " ".join(sorted(word for action in parser._actions for word in action.option_strings if word[:2] == "--"))  # noqa: SLF001
