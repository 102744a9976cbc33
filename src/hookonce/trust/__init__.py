"""Consent to a project's hooks: content pins, approvals."""
