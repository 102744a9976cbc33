"""Pure: a record and what its session remembers give further records."""
