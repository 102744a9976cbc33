"""Homes in which what an attacker does can be tried."""

from tests.client.native.conftest import client, compiled, libc, native, twin, world  # noqa: F401
from tests.daemon.conftest import home, installed, shelf, show, warm  # noqa: F401  fixtures for whoever asks for them
