"""OpenTelemetry log records and spans."""
