"""Host side: processes and connections of modules that we call."""
