from hookonce import deny, hook


@hook("before_tool_execute", tool="shell")
def no_rm(event):
    if "rm -rf" in event.command:
        return deny("not here")
