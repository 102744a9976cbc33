"""What all tests share."""

import os
import shutil

import pytest
from hypothesis import HealthCheck, settings

from hookonce.base.runtime_dir import fallback_location, runtime_dir_name, shared_locations

os.environ["HOOKONCE_COLD"] = "1"  # a test that wants a daemon says so, and ends it

settings.register_profile("dev", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(scope="session")
def nobody(tmp_path_factory):
    """A home for tests that name none: what they leave there concerns nobody."""
    return str(tmp_path_factory.mktemp("nobody"))


@pytest.fixture(autouse=True)
def _at_home_nowhere(request, nobody):
    """No test finds or leaves anything in the home of whoever runs it; real agents need what was fetched there."""
    if request.node.get_closest_marker("integration") is not None:
        yield
        return
    before = os.environ.get("HOME")
    os.environ["HOME"] = nobody
    yield
    if before is not None:
        os.environ["HOME"] = before


@pytest.fixture(autouse=True)
def _no_trace(request):
    """A home that was made for one test leaves nothing in this machine's runtime directory."""
    home = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if home is not None:
        data = home / ".local/share/hookonce"
        for place in (*shared_locations(os.getuid()), fallback_location(data)):
            found = place / runtime_dir_name(home, data)
            if found.exists():
                shutil.rmtree(found, ignore_errors=True)
