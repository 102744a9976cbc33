"""Output of commands: tables, colours, progress, consent at a terminal."""
