"""Changes to agents' configuration files: install, uninstall, status, adopt, restore.

An installation goes through `locations` (which file), `agents/NAME/config` (its entries, rendered and parsed), `merge`
and `edit` (the bytes of a file that belongs to others) and `changes` (written, with a copy of what was there).
"""
