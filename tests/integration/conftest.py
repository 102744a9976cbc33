"""Homes with the real client in them, as the tests of the daemon have them."""

from tests.daemon.conftest import home, installed, shelf, show  # noqa: F401  fixtures for whoever asks for them
