"""Changes to agents' configuration files: install, uninstall, status, adopt, restore."""
