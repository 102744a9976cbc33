"""hookonce module: verbs check, invoke, list and serve."""

from argparse import ArgumentParser

from hookonce.cli._ui import verbs

VERBS: dict[str, str] = {
    "check": "try a module, case by case, and say what it does wrong",
    "invoke": "ask a module to do something, and print its answer",
    "list": "list the modules that are described here",
    "serve": "be a module, for hosts and agents that want to use hookonce",
}

_EXAMPLES = """Descriptors lie in ~/.config/hookonce/modules; everywhere a path to one does as well.

examples:
  hookonce module check greeter.json
  hookonce module invoke greeter.json greet '{"name": "you"}'
  hookonce module list
  hookonce module serve --mcp"""


def configure(parser: ArgumentParser) -> None:
    """The verbs of `module`."""
    parser.epilog = _EXAMPLES
    verbs.add_verbs(parser, "module", VERBS)


run = verbs.run_verb
