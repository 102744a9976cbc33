"""The README's guard, written with cchooks."""

from cchooks import create_context

context = create_context()
if context.tool_name == "Bash" and "rm -rf" in context.tool_input["command"]:
    context.output.deny("not here")
else:
    context.output.exit_success()
