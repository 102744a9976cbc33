"""Commands that install, explain and remove hookonce."""
