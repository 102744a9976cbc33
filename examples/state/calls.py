"""Two hooks that count calls: one by what stays in its worker, one that finds nothing there."""

from hookonce import context, hook

seen = []


@hook("before_tool_execute", tool="shell")
def in_worker(event):
    seen.append(event.command)
    return context(f"call {len(seen)} of this worker")


@hook("before_tool_execute", tool="shell", isolation="fork")
def in_copy(event):
    seen.append(event.command)
    return context(f"call {len(seen)} of this copy")
