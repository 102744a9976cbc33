"""Checks of the doctor, one module per subject."""
