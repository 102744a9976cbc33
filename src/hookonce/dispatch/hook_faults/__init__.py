"""Faults of hooks: why a guard does not guard, found without running it."""
