"""prove: every try has to hold, what fails was tried and is not, and an agent that never ends is given up on."""

from tempfile import gettempdir

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookonce.errors import HookonceError
from hookonce.lab import drivers
from hookonce.lab.experiments import EXPERIMENTS, Experiment
from hookonce.lab.prove import bench, certificate
from hookonce.lab.prove import prover as proving
from hookonce.lab.prove.certificate import Claim
from hookonce.lab.prove.prover import claim_names_of, prove_agent
from tests.lab.fetch.test_programs import program
from tests.lab.simulated_agent import found

STATES = st.sampled_from(["held", "contradicted", "unreachable", "untried"])
TRIES = st.lists(st.builds(Claim, st.just("deny:shell"), STATES, st.sampled_from(["one", "two"])), min_size=1, max_size=6)


@given(TRIES)
def test_several_tries_hold_only_if_every_one_does(tries):
    states = {one.state for one in tries}

    made = certificate.combine_tries(tries)

    assert "deny:shell" == made.claim
    assert (states == {"held"}) == (made.state == "held")
    assert made.evidence


@given(TRIES)
def test_a_try_that_is_contradicted_is_never_lost(tries):
    made = certificate.combine_tries(tries)

    if "contradicted" in {one.state for one in tries} or len({one.state == "held" for one in tries}) > 1:
        assert "contradicted" == made.state


@given(TRIES, st.randoms())
def test_the_order_of_tries_changes_nothing_about_the_state(tries, random):
    mixed = random.sample(tries, len(tries))

    assert certificate.combine_tries(tries).state == certificate.combine_tries(mixed).state


def test_how_many_tries_held_is_told():
    good, bad = Claim("ask", "held", "it did"), Claim("ask", "contradicted", "it did not")

    assert Claim("ask", "contradicted", "flaky 2/3: it did not") == certificate.combine_tries([good, bad, good])


# Experiments


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def proven(home, monkeypatch):
    """What `prove` says of Codex with these experiments, by claim; each is a name and what its runs return or raise."""

    def proven(tries=1, only=(), **experiments):
        made = [Experiment(name, lambda _stage: ["one", "two"], _run(list(runs))) for name, runs in experiments.items()]
        monkeypatch.setattr(proving, "EXPERIMENTS", tuple(made))
        told = prove_agent(found("codex"), tries, said.append, frozenset(only))
        return {one.claim: one for one in told.claims}

    said = []
    proven.said = said
    return proven


def _run(results):
    def run(_stage):
        one = results.pop(0)
        if isinstance(one, BaseException):
            raise one
        return one

    return run


BOTH = [Claim("one", "held", "seen"), Claim("two", "held", "seen")]


@pytest.mark.parametrize("problem", [HookonceError("no home"), OSError("no disk"), FileNotFoundError("no program")])
def test_an_experiment_that_fails_was_tried_and_does_not_hold(proven, problem):
    found = proven(some=[problem])

    assert {"contradicted"} == {one.state for one in found.values()}
    assert all(f"the experiment failed: {problem}" == one.evidence for one in found.values())


@pytest.mark.parametrize("failed", range(3))
def test_one_failed_try_of_several_is_enough(proven, failed):
    runs = [BOTH, BOTH, BOTH]
    runs[failed] = OSError("no disk")

    found = proven(tries=3, some=runs)

    assert {"contradicted"} == {one.state for one in found.values()}
    assert "flaky 2/3: the experiment failed: no disk" == found["one"].evidence


def test_all_tries_that_hold_hold(proven):
    found = proven(tries=3, some=[BOTH, BOTH, BOTH])

    assert {"held"} == {one.state for one in found.values()}
    assert [f"Codex CLI 1.2.3: some, try {n}, {n} of 3" for n in (1, 2, 3)] == [text.partition(", about")[0] for text in proven.said]


def test_what_an_experiment_says_nothing_about_is_untried(proven):
    assert {"one": "held", "two": "untried"} == {name: one.state for name, one in proven(some=[BOTH[:1]]).items()}


def test_a_claim_that_a_try_is_silent_about_does_not_hold(proven):
    found = proven(tries=2, some=[BOTH, BOTH[:1]])

    assert {"one"} == {name for name, one in found.items() if one.state == "held"}


def test_what_is_not_asked_for_is_not_told(proven):
    assert ["two"] == list(proven(some=[BOTH], only=["two"]))
    assert ["one", "two"] == list(proven(some=[BOTH], only=["some"]))
    assert {} == proven(some=[], only=["other"])


def test_the_machine_is_not_told(proven, home):
    found = proven(some=[[Claim("one", "contradicted", f"{home}/.codex/x and {gettempdir()}/hookonce-lab-12ab/home/y")]])

    assert "~/.codex/x and LAB/home/y" == found["one"].evidence


@pytest.mark.parametrize(
    ("result", "state"),
    [("contradicted", "unreachable"), ("untried", "unreachable"), ("unreachable", "unreachable"), ("held", "held")],
)
def test_what_cannot_be_reached_is_said_to_be_unless_it_was(proven, monkeypatch, result, state):
    driver = replace(drivers.load_driver("codex"), unreachable={"two": "needs a terminal"})
    monkeypatch.setattr(drivers, "load_driver", lambda _name: driver)

    found = proven(some=[[Claim("one", "held", "seen"), Claim("two", result, "seen")]])

    assert state == found["two"].state


def test_what_cannot_be_reached_at_all_is_not_run(proven, monkeypatch):
    driver = replace(drivers.load_driver("codex"), unreachable={"one": "so", "two": "so"})
    monkeypatch.setattr(drivers, "load_driver", lambda _name: driver)

    assert {"unreachable"} == {one.state for one in proven(some=[]).values()}


# An agent that never ends


@pytest.fixture
def stuck(home, monkeypatch):
    """An agent that writes down each call, and never ends."""
    note = home / "calls"
    made = program(home / "bin/agent", f"echo called >> {note}", "exec /bin/sleep 600")
    driver = replace(drivers.load_driver("codex"), timeout_s=0.2)
    monkeypatch.setattr(drivers, "load_driver", lambda _name: driver)
    monkeypatch.setattr(bench, "SandboxHome", Bare)
    monkeypatch.setattr(bench, "_LATE_HOOK_WAIT_S", 0)
    return replace(found("codex"), program=made), note


class Bare:
    """A home in which nothing is installed."""

    def __init__(self, *_words):
        """There is nothing to do."""

    def stop_daemon(self):
        """Nor here."""


def test_an_agent_that_does_not_end_without_us_is_given_up_on(stuck, monkeypatch):
    """
    Else every claim would cost its patience, and the user's.
    """
    one, note = stuck
    other = Experiment("other", lambda _stage: ["other"], lambda stage: [Claim("other", "held", stage.play("talk").scenario)])
    first = next(one for one in EXPERIMENTS if one.name == "transparent")
    monkeypatch.setattr(proving, "EXPERIMENTS", (first, other))

    found = {claim.claim: claim for claim in prove_agent(one, 1, lambda _text: None).claims}

    assert {"contradicted"} == {claim.state for claim in found.values()}
    assert "does not end by itself, even without hookonce" in found["other"].evidence
    assert len(note.read_text(encoding="utf-8").splitlines()) <= 3


def test_an_agent_that_does_not_end_with_us_is_tried_on(stuck, monkeypatch):
    """
    Which claims that costs is to be seen.
    """
    one, note = stuck
    again = Experiment("again", lambda _stage: ["again"], lambda stage: [Claim("again", "held", stage.play("talk").scenario)])
    monkeypatch.setattr(proving, "EXPERIMENTS", (again, again))

    prove_agent(one, 1, lambda _text: None)

    assert 2 == len(note.read_text(encoding="utf-8").splitlines())


# Names


@pytest.mark.parametrize("agent", drivers.DRIVER_MODULES)
def test_the_names_are_those_that_would_be_tried(home, agent):
    whole = claim_names_of(found(agent))

    assert len(whole) == len(set(whole))
    assert {"transparent", "deny:shell", "ask", "rewrite", "prompt", "stop", "daemon-death", "claude-script"} <= {*whole}
    assert not any(name.startswith("here:") for name in whole)
    parts = [name for one in EXPERIMENTS for name in claim_names_of(found(agent), frozenset({one.name}))]
    assert whole == parts


def test_only_names_claims_and_experiments_alike(home):
    one = found("codex")

    assert ["deny:shell"] == claim_names_of(one, frozenset({"deny:shell"}))
    assert [f"deny:{word}" for word in ("shell", "write", "edit", "read", "mcp", "agent")] == claim_names_of(one, frozenset({"denied"}))
    assert ["deny:shell", "stop"] == claim_names_of(one, frozenset({"stop", "deny:shell"}))
    assert [] == claim_names_of(one, frozenset({"nothing"}))


def test_progress_tells_which_run_it_is_and_about_how_long_the_rest_takes(monkeypatch):
    """
    The first run has nothing to judge by; then the mean of those before it counts, in steps or minutes.
    """
    heard, clock = [], [0.0]
    monkeypatch.setattr(proving, "monotonic", lambda: clock[0])
    progress = proving.RunProgress(17, heard.append)
    for seconds in (0, 6, 24, 2, 1, 200):
        clock[0] += seconds
        progress.start_run("Codex 1.2.3: denied")

    assert "Codex 1.2.3: denied, 1 of 17" == heard[0]
    assert "Codex 1.2.3: denied, 2 of 17, about 95 s left" == heard[1]
    assert "Codex 1.2.3: denied, 3 of 17, about 4 min left" == heard[2]
    assert "Codex 1.2.3: denied, 5 of 17, about 105 s left" == heard[4]
    assert "Codex 1.2.3: denied, 6 of 17, about 9 min left" == heard[5]
