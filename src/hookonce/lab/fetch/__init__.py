"""Download of pinned agent versions."""
