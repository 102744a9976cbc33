"""The event store: SQLite database, spool, integrity, privacy, usage and maintenance."""
