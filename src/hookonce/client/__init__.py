"""The command that agents call: native (C), its Python equivalent, and the one-shot process behind both."""
