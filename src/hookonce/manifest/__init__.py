"""The Hook Interchange Format: one document of hooks for every agent."""
