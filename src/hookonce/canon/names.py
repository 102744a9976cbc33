"""Other names under which agents and formats are known."""

AGENT_ALIASES: dict[str, str] = {
    "amazon-q": "kiro",
    "auggie": "augment",
    "cascade": "windsurf",
    "claude": "claude-code",
    "copilot": "copilot-cli",
    "droid": "factory-droid",
    "gemini": "gemini-cli",
    "github copilot": "copilot-cli",
    "github-copilot": "copilot-cli",
    "qwen": "qwen-code",
    "vscode-copilot": "vs-code-copilot",
    "windsurf cascade": "windsurf",
    "windsurf-cascade": "windsurf",
}
