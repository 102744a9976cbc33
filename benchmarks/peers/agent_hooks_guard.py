"""The README's guard, written with agent-hooks."""

from agent_hooks import AgentHook, AppleScriptDialogResponse, PermissionRequestEvent, build_permission_response
from agent_hooks.enums import DialogButton

app = AgentHook()


@app.permission()
def no_rm(event: PermissionRequestEvent) -> AppleScriptDialogResponse | None:
    """Refuse to delete."""
    if "rm -rf" in event.tool_input.command:
        return build_permission_response(DialogButton.DENY, event)
    return None
