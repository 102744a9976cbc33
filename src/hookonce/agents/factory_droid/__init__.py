"""Factory Droid."""
