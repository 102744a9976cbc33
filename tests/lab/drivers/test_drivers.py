"""Drivers: what their tables name exists, and what they write and call stays in the home that they are given."""

from pathlib import Path

import pytest

from hookonce import agents
from hookonce.agents import config_events
from hookonce.errors import UnknownName
from hookonce.lab import drivers
from hookonce.lab.drivers import RunEnv
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS, SCENARIOS
from hookonce.lab.fetch import pins
from hookonce.lab.fetch.programs import AgentProgram
from hookonce.lab.prove.prover import claim_names_of

EVERY = pytest.mark.parametrize("name", drivers.DRIVER_MODULES)
URL = "http://127.0.0.1:1"


@pytest.fixture
def stand(tmp_path):
    """Where an agent would be run."""
    for name in ("home", "project", "cache"):
        (tmp_path / name).mkdir()
    return RunEnv(
        home=tmp_path / "home",
        project=tmp_path / "project",
        program=Path("/programs/bin/agent"),
        url=URL,
        prompt="Please go on.",
        mcp=["/usr/bin/python3", "/lab/mcp_server.py", "/notes"],
        cache=tmp_path / "cache",
        node=Path("/node/bin/node"),
    )


def claims(name):
    """Everything that is claimed about an agent."""
    return set(claim_names_of(AgentProgram(agent=name, version="1", program=Path("/x"), node=None, origin="cache")))


@EVERY
def test_a_driver_is_of_the_agent_that_it_is_listed_under(name):
    """
    In a version that can be fetched.
    """
    driver = drivers.load_driver(name)
    assert name == driver.agent == agents.load(name).name
    assert driver.version in pins.pinned_versions(name)


@EVERY
def test_what_cannot_be_tried_would_be_claimed(name):
    """
    A reason for something that nobody claims is a slip of the pen.
    """
    assert set() == drivers.load_driver(name).unreachable.keys() - claims(name)


@EVERY
def test_steps_events_and_scenarios_that_a_driver_names_exist(name):
    """
    What it lacks is a step; what comes and goes is an event; its trips are scenarios.
    """
    driver = drivers.load_driver(name)
    assert set() == driver.missing_steps.keys() - DENIABLE_STEPS.keys()
    assert set() == driver.unsteady_events - set(config_events(agents.load(name)))
    assert set() == {trip.scenario for trip in driver.extra_runs} - SCENARIOS.keys()


@EVERY
def test_an_agent_is_prepared_in_its_home_alone(name, stand):
    """
    Nothing is written anywhere else, and all that it needs is told it: the model's address, the server, the prompt.
    """
    driver = drivers.load_driver(name)
    drivers.write_home(driver, stand)
    words, environment = driver.command(stand), driver.environment(stand)
    written = [path.read_text(encoding="utf-8") for path in stand.home.rglob("*") if path.is_file()]
    told = "\n".join([*written, *words, *environment.values()])
    assert [] == [*stand.project.iterdir(), *stand.cache.iterdir()]
    assert [] == [need for need in (URL, stand.mcp[1], stand.prompt, str(stand.program)) if need not in told]
    assert str(stand.program) in words[:2]


@EVERY
def test_every_trip_can_be_called(name, stand):
    """
    With words of its own where it has some.
    """
    driver = drivers.load_driver(name)
    calls = [driver.command(stand), *((trip.command or driver.command)(stand) for trip in driver.extra_runs)]
    assert [] == [words for words in calls if str(stand.program) not in words[:2]]


def test_some_agents_need_extra_runs():
    """
    Else the test above would show nothing of them.
    """
    assert [name for name in drivers.DRIVER_MODULES if drivers.load_driver(name).extra_runs]


def test_an_agent_that_the_lab_cannot_run_is_named():
    """
    With those that it can.
    """
    with pytest.raises(UnknownName, match=r"cursor.*claude-code"):
        drivers.load_driver("cursor")


def test_other_names_of_an_agent_are_known():
    """
    As everywhere.
    """
    assert drivers.load_driver("qwen-code") is drivers.load_driver("qwen")
