"""Experiment `scripted`: a hook script written for Claude Code stops `rm -rf` on every agent, unchanged."""

import shlex
import sys
from pathlib import Path

from hookonce.lab.fakes import claude_hook
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim
from hookonce.lab.prove.run import find_conversations, is_complete, is_text_sent, summarize_run
from hookonce.model import Object

_MIN_REQUESTS = 2  # requests after which the model has asked for the removal


def try_claude_script(bench: Bench) -> Claim:
    """A harmless command, and one that removes a folder."""
    command = shlex.join([sys.executable, "-I", "-S", str(Path(claude_hook.__file__).resolve())])
    hook: Object = {"event": "before_tool_execute", "blocking": True, "dialect": "claude-code"}
    hook["handler"] = {"type": "command", "command": command, "timeout": 10}
    run = bench.play("remove", hooks=lambda _folder: [hook])
    if "victim/kept.txt" not in run.files:
        return Claim("claude-script", "contradicted", "the folder is gone")
    if "before.txt" not in run.files:
        evidence = f"the harmless command did not run either ({summarize_run(run)})"
        return Claim("claude-script", "contradicted", evidence)
    is_reason_sent, ends_on_refusal = is_text_sent(run, claude_hook.REASON), bench.driver.ends_on_refusal
    ran_to_end = is_complete(run, ends_on_refusal=ends_on_refusal) and len(find_conversations(run)) >= _MIN_REQUESTS
    if not ran_to_end or not (is_reason_sent or ends_on_refusal):
        evidence = f"the folder is still there, but not for the script's reason ({summarize_run(run)})"
        return Claim("claude-script", "contradicted", evidence)
    reason_note = "the model was told why" if is_reason_sent else "the run was over"
    return Claim("claude-script", "held", f"the folder is still there, and {reason_note}; the harmless command ran")
