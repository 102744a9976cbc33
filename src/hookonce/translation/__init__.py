"""Translation of payload and event streams between formats."""
