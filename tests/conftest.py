"""What all tests share."""

import os
import shutil
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from hookonce.base.runtime_dir import candidate_dirs
from tests.machine import hide_agents, hide_system_settings
from tests.sample import EXHAUSTIVE
from tests.shared import ABSENT

os.environ["HOOKONCE_COLD"] = "1"  # a test that wants a daemon says so, and ends it
_UNCOVERED = hide_system_settings()
os.environ["PATH"] = hide_agents(os.environ["PATH"])

# The same examples in every run, so that a change is what makes a test fail; `make explore` looks for new ones.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _COMMON, max_examples=30, derandomize=True)
settings.register_profile("seeded", _COMMON, max_examples=30)
settings.register_profile("explore", _COMMON, max_examples=3000, print_blob=True)


def pytest_configure(config):
    """--hypothesis-seed and --hypothesis-profile choose other examples than those of every run."""
    if config.getoption("--hypothesis-profile") is None:
        settings.load_profile("fixed" if config.getoption("--hypothesis-seed") is None else "seeded")


def pytest_collection_modifyitems(items):
    """Of a test that is marked `part(n)` one case in n is taken, unless all are asked for."""
    numbers = Counter()

    def is_taken(item):
        mark, name = item.get_closest_marker("part"), item.nodeid.partition("[")[0]
        numbers[name] += mark is not None
        return EXHAUSTIVE or mark is None or numbers[name] % mark.args[0] == 1

    items[:] = filter(is_taken, items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two workers for each processor: many tests wait for processes, for seconds at a time."""
    return 2 * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2 * (os.cpu_count() or 1)


def pytest_terminal_summary(terminalreporter):
    """What this run could not show: tests without their reference material, and settings of this machine."""
    reasons = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    if absent := sum(ABSENT in reason for reason in reasons):
        terminalreporter.write_line(f"{absent} skipped because the reference material is absent (HOOKONCE_SHARED)")
    if _UNCOVERED:
        terminalreporter.write_line(_UNCOVERED)


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
        for found in candidate_dirs(home, data):
            if found.exists():
                shutil.rmtree(found, ignore_errors=True)
