"""The vocabulary: tables that every other room reads and none repeats."""
