"""Homes in which what an attacker does can be tried."""

from tests.daemon.conftest import home, installed, shelf, show, warm  # noqa: F401  fixtures for whoever asks for them
