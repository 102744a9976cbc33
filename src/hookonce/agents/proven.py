"""What certificates have shown of each agent: its newest version alone. Made by `make docs` from docs/certificates."""

from hookonce.agents._shown import Shown

__all__ = ["PROVEN", "Shown"]

PROVEN: dict[str, Shown] = {
    "claude-code": Shown(
        version="2.1.325",
        date="2026-11-15",
        held={
            "PreToolUse": ("prevents", "rewrites", "context"),
            "PostToolUse": ("context",),
            "PostToolUseFailure": (),
            "PostToolBatch": (),
            "UserPromptSubmit": ("prevents", "context"),
            "SessionStart": ("context",),
            "SessionEnd": (),
            "Stop": ("retries",),
            "SubagentStart": ("context",),
            "SubagentStop": (),
        },
        contradicted={},
    ),
    "codex": Shown(
        version="0.166.0",
        date="2026-11-15",
        held={
            "PreToolUse": ("prevents", "rewrites", "context"),
            "PostToolUse": ("context",),
            "UserPromptSubmit": ("prevents", "context"),
            "SessionStart": ("context",),
            "SessionEnd": (),
            "Stop": ("retries",),
            "SubagentStart": ("context",),
            "SubagentStop": (),
        },
        contradicted={},
    ),
    "gemini-cli": Shown(
        version="0.61.0",
        date="2026-11-15",
        held={
            "BeforeTool": ("prevents", "rewrites"),
            "AfterTool": ("context",),
            "BeforeAgent": ("prevents", "context"),
            "AfterAgent": ("retries",),
            "SessionStart": ("context",),
            "SessionEnd": (),
        },
        contradicted={},
    ),
}
