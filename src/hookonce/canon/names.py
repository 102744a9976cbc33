"""Names in other vocabularies: agent aliases, reasons, notification and error types, providers; suggestions.

A native word that is in no table is kept in `Event.data` and left out of the format's closed list.
"""

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
