"""Base layer: ids, times, JSON text, regexes, wire frames, argv, paths and settings."""
