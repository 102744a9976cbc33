"""GitHub Copilot in Visual Studio Code."""
