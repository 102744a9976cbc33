"""What the lab concludes from a run: a claim holds only for the right reason, whatever else an agent does instead."""

import json
from itertools import product

import pytest
from msgspec.structs import replace

from hookonce.__main__ import main
from hookonce.diagnose.diagnosis import NOTE_KINDS
from hookonce.dispatch.stop_limit import MAX_REFUSALS
from hookonce.errors import HookonceError
from hookonce.lab.experiments import EXPERIMENTS, decisions
from hookonce.lab.experiments import here as here_module
from hookonce.lab.fakes.conversation import ChatMessage, Conversation
from hookonce.lab.fakes.model_server import ModelRequest
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS, FILE_SECRET, SCENARIOS
from hookonce.lab.prove.certificate import Claim
from tests.lab.simulated_agent import TOOLS, Standing, Ways
from tests.manifest.projects import command, manifest, put

FIND_PROBLEMS = here_module._find_problems
JUDGES = tuple(one for one in EXPERIMENTS if one.name != "fires")
transparent, denied, asked, rewritten, prompt, stops, failing, scripted, here = JUDGES
OPEN = {f"open:{way}" for way in ("crash", "late", "garbage")}
CLOSED = {f"closed:{way}" for way in ("crash", "late", "garbage")}
DENIED = {f"deny:{word}" for word in DENIABLE_STEPS}
HERE = {"here:fires", "here:deny", "here:doctor"}
SINGLE = {"transparent", "ask", "rewrite", "prompt", "stop", "daemon-death", "claude-script"}
ALL = OPEN | CLOSED | DENIED | HERE | SINGLE
TOLD = DENIED | {"stop", "claude-script"}  # which are about what the model learns
SEEN = {"here:fires", "here:doctor"}  # which are true however the run ends
OVER = DENIED | CLOSED | HERE | {"ask", "daemon-death", "prompt"}  # of which a fragile agent can show no more


def initial(run):
    """The files before anything has happened."""
    return dict(SCENARIOS[run.scenario].files)


def nothing(run):
    return replace(run, files=initial(run), requests=[], hook_events=[], mcp_calls=[], killed_pids=[])


def dies(run):
    return replace(run, code=-11, files=initial(run), requests=[], mcp_calls=[])


def quits(run):
    return replace(run, files=initial(run), requests=[], mcp_calls=[])


# What an agent does, and which claims hold then: of one that goes on after a refusal, and of a fragile one.
BEHAVIOUR = {
    "obeys and goes on with the reason": (Ways(), None, ALL, ALL),
    "obeys and ends there": (
        Ways(goes_on=False),
        None,
        OPEN | SEEN | {"transparent", "rewrite", "prompt", "stop"},
        ALL,
    ),
    "obeys and never tells the model": (Ways(tells=False), None, ALL - TOLD, ALL - {"stop"}),
    "ignores refusals": (Ways(minds=False), None, OPEN | SEEN | {"transparent"}, OPEN | SEEN | {"transparent"}),
    "never asks": (Ways(asks=False), None, {"transparent", "here:doctor"}, {"transparent", "here:doctor"}),
    "does nothing": (Ways(), nothing, {"here:doctor"}, {"here:doctor"}),
    "dies after the hook": (Ways(), dies, SEEN, SEEN),
    "dies in the end": (Ways(), lambda run: replace(run, code=-11), SEEN, SEEN),
    "fails in the end": (Ways(), lambda run: replace(run, code=1), SEEN | {"prompt"}, SEEN | {"prompt"}),
    "ends well after the hook": (Ways(), quits, SEEN | {"prompt"}, OVER),
    "hangs": (Ways(), lambda run: replace(run, code=None), SEEN, SEEN),
    "hangs after the hook": (Ways(), lambda run: replace(quits(run), code=None), SEEN, SEEN),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home in which nothing is wrong."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(here_module, "_find_problems", lambda *_: [])
    return tmp_path


def judged(module, stage):
    """What an experiment says, by claim; each claim once."""
    found = module.run_experiment(stage)
    assert len(found) == len({one.claim for one in found})
    return {one.claim: one for one in found}


def held(module, stage):
    return {name for name, one in judged(module, stage).items() if one.state == "held"}


def spoiled(**changes):
    """A stage on which an agent does everything right, but for this."""
    return Standing(spoil=lambda run: replace(run, **changes))


TABLE = [
    pytest.param(
        *pair,
        id=f"{pair[1].name} {pair[0]}",
    )
    for pair in product(BEHAVIOUR, JUDGES)
]


@pytest.mark.part(2)
@pytest.mark.parametrize("fragile", [False, True], ids=["goes on", "fragile"])
@pytest.mark.parametrize(("behaviour", "module"), TABLE)
def test_only_the_right_run_holds(behaviour, module, fragile):
    ways, spoil, sturdy, weak = BEHAVIOUR[behaviour]

    found = judged(module, Standing(ways=ways, spoil=spoil, fragile=fragile))

    wanted = (weak if fragile else sturdy) & found.keys()
    assert wanted == {name for name, one in found.items() if one.state == "held"}
    assert {"contradicted"} >= {found[name].state for name in found.keys() - wanted}
    assert all(one.evidence for one in found.values())


def test_the_table_is_about_every_claim():
    stage = Standing()
    assert ALL == {name for module in JUDGES for name in judged(module, stage)}
    assert ALL - HERE == {name for module in JUDGES if module is not here for name in module.claim_names(stage)}


# Refusals

MADE = {
    "shell": {"files": {"shell.txt": "one"}},
    "write": {"files": {"written.txt": "alpha"}},
    "edit": {"files": {"edited.txt": "alpha\ngamma\n"}},
    "read": {"said": FILE_SECRET},
    "mcp": {"called": ["hello"]},
    "agent": {"files": {"sub.txt": "two"}},
}


def with_made(word, run):
    """A run in which one call was made after all."""
    made = MADE[word]
    if "said" in made:
        talk = Conversation(messages=[ChatMessage("tool", made["said"])], tools=TOOLS)
        run = replace(run, requests=[*run.requests, ModelRequest(at=99.0, method="POST", path="/v1", conversation=talk)])
    return replace(run, files=run.files | made.get("files", {}), mcp_calls=run.mcp_calls + made.get("called", []))


@pytest.mark.parametrize("fragile", [False, True])
@pytest.mark.parametrize("word", DENIABLE_STEPS)
def test_one_call_that_is_made_after_all_costs_its_claim_and_no_other(word, fragile):
    def spoil(run):
        return with_made(word, run) if run.scenario in ("refuse", f"refuse-{word}") else run

    found = held(denied, Standing(spoil=spoil, fragile=fragile))

    assert DENIED - {f"deny:{word}"} == found


@pytest.mark.parametrize("word", DENIABLE_STEPS)
def test_a_call_that_no_hook_was_asked_about_is_not_refused_by_one(word):
    def spoil(run):
        kept = [one for one in run.hook_events if decisions.INPUT_MARKERS[word] not in str(one.get("tool"))]
        return replace(run, hook_events=kept)

    assert DENIED - {f"deny:{word}"} == held(denied, Standing(spoil=spoil))


def test_what_an_agent_lacks_cannot_be_tried():
    stage = Standing()
    stage.driver = replace(stage.driver, missing_steps={"agent": "there are none"})

    found = judged(denied, stage)

    assert Claim("deny:agent", "unreachable", "there are none") == found["deny:agent"]
    assert DENIED == found.keys()


@pytest.mark.parametrize("fragile", [False, True])
def test_a_file_that_is_gone_is_not_as_it_was(fragile):
    def spoil(run):
        return replace(run, files={name: text for name, text in run.files.items() if name != "edited.txt"})

    assert DENIED - {"deny:edit"} == held(denied, Standing(spoil=spoil, fragile=fragile))


@pytest.mark.parametrize("module", [denied, failing, asked, rewritten, here], ids=lambda one: one.name)
def test_an_event_that_tells_no_tool_is_no_question_about_one(module):
    """
    As a payload that is not understood becomes one.
    """
    bare = [{"type": "before_tool_execute"}]

    found = held(module, Standing(spoil=lambda run: replace(run, hook_events=[*bare, *run.hook_events])))

    assert found == held(module, Standing())


@pytest.mark.parametrize("missing", range(len(SCENARIOS["refuse"].turns)))
def test_an_agent_that_stops_on_the_way_has_not_gone_on(missing):
    """
    However far it came: what was not asked for any more was not refused either.
    """

    def spoil(run):
        return replace(run, requests=run.requests[: missing + 1])

    assert set() == held(denied, Standing(spoil=spoil))


def test_another_conversation_that_went_on_is_not_the_one():
    """
    A sub-agent that has had many turns says nothing of the agent that started it.
    """

    def spoil(run):
        said = [ChatMessage(one.role, one.text.replace("scenario=refuse", "scenario=sub")) for one in run.requests[-1].conversation.messages]
        other = ModelRequest(at=99.0, method="POST", path="/v1", conversation=Conversation(messages=said, tools=TOOLS))
        return replace(run, requests=[*run.requests[:1], other])

    assert set() == held(denied, Standing(spoil=spoil))


@pytest.mark.parametrize(
    ("module", "agent", "claim"),
    [(asked, "claude-code", "ask"), (here, "claude-code", "here:deny"), (rewritten, "qwen-code", "rewrite")],
)
def test_a_question_about_another_call_is_none_about_this_one(module, agent, claim):
    """
    The hook was asked about the second command only; why the first one did not run, nobody knows.
    """

    def spoil(run):
        return replace(run, hook_events=[one for one in run.hook_events if "shell.txt" not in str(one.get("tool"))])

    assert claim in held(module, Standing(agent))
    assert claim not in held(module, Standing(agent, spoil=spoil))


# New input


def test_an_agent_that_cannot_take_new_input_runs_nothing():
    assert {"rewrite"} == held(rewritten, Standing("qwen-code"))
    assert {"rewrite"} == held(rewritten, Standing("qwen-code", Ways(goes_on=False), fragile=True))


@pytest.mark.parametrize("name", ["shell.txt", "rewritten.txt"])
def test_and_if_it_runs_something_our_table_is_wrong(name):
    stage = Standing("qwen-code", spoil=lambda run: replace(run, files=run.files | {name: "new"}))
    assert set() == held(rewritten, stage)


@pytest.mark.parametrize("behaviour", ["does nothing", "dies after the hook", "dies in the end", "hangs", "never asks"])
@pytest.mark.parametrize("fragile", [False, True])
def test_nothing_done_is_no_refusal_of_new_input(behaviour, fragile):
    ways, spoil, *_ = BEHAVIOUR[behaviour]
    assert set() == held(rewritten, Standing("qwen-code", ways, spoil, fragile=fragile))


def test_old_and_new_is_not_new():
    stage = Standing(spoil=lambda run: replace(run, files=run.files | {"shell.txt": "one"}))
    assert set() == held(rewritten, stage)


# Prompts and stops


@pytest.mark.parametrize(("code", "holds"), [(0, True), (1, True), (2, True), (-9, False), (None, False)])
def test_a_refused_prompt_may_end_in_any_code_that_the_agent_chose(code, holds):
    assert holds == bool(held(prompt, spoiled(code=code)))


@pytest.mark.parametrize("count", [0, 1, MAX_REFUSALS, MAX_REFUSALS + 2])
def test_a_stop_is_asked_about_as_often_as_it_is_refused_and_once_more(count):
    def spoil(run):
        stop = next(one for one in run.hook_events if one["type"] == "agent_stop")
        return replace(run, hook_events=[stop] * count)

    assert set() == held(stops, Standing(spoil=spoil))


@pytest.mark.parametrize(("module", "kind"), [(prompt, "before_prompt"), (stops, "agent_stop")])
def test_what_an_agent_lets_no_hook_do_cannot_be_tried(module, kind, monkeypatch):
    monkeypatch.setattr(decisions, "config_event_of", lambda *_: None)
    assert ["unreachable"] == [one.state for one in module.run_experiment(Standing(spoil=nothing))]


# Failing hooks, scripts


@pytest.mark.parametrize("fragile", [False, True])
@pytest.mark.parametrize("way", ["crash", "late", "garbage"])
def test_one_way_to_fail_costs_its_own_claims_and_no_others(way, fragile):
    """
    The call is made where it should not be, and is not made where it should.
    """

    def spoil(run):
        name = f"{way}.txt"
        if run.scenario not in ("fail", f"fail-{way}"):
            return run
        others = {key: text for key, text in run.files.items() if key != name}
        return replace(run, files=others if name in run.files else others | {name: way})

    found = held(failing, Standing(spoil=spoil, fragile=fragile))

    assert (OPEN | CLOSED | {"daemon-death"}) - {f"open:{way}", f"closed:{way}"} == found


def test_a_fragile_agent_goes_on_too_where_nothing_is_refused():
    stage = Standing(spoil=lambda run: replace(run, requests=run.requests[:-1]), fragile=True)
    assert CLOSED | {"daemon-death"} == held(failing, stage)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: replace(run, killed_pids=[0]),
        lambda run: replace(run, killed_pids=[]),
        lambda run: replace(run, files=run.files | {"death.txt": "death"}),
        lambda run: replace(run, files={name: text for name, text in run.files.items() if name != "after.txt"}),
    ],
    ids=["there was none", "nobody killed it", "the call was made", "the next call was not answered"],
)
def test_the_death_of_a_daemon_is_survived_only_if_it_died(change):
    stage = Standing(spoil=lambda run: change(run) if run.scenario == "fail-death" else run)
    assert OPEN | CLOSED == held(failing, stage)


@pytest.mark.parametrize(
    "fragile", [False, True]
)
def test_an_agent_that_never_came_to_the_removal_was_not_kept_from_it(fragile):
    """
    It ran the harmless command, ended well, and the model was never asked for the next.
    """
    stage = Standing(spoil=lambda run: replace(run, requests=run.requests[:1]), fragile=fragile)
    assert set() == held(scripted, stage)


@pytest.mark.parametrize("fragile", [False, True])
def test_a_harmless_command_has_to_run(fragile):
    def spoil(run):
        return replace(run, files={name: text for name, text in run.files.items() if name != "before.txt"})

    assert set() == held(scripted, Standing(spoil=spoil, fragile=fragile))


# The user's own installation


def test_what_doctor_says_stands_beside_what_was_seen(monkeypatch):
    monkeypatch.setattr(here_module, "_find_problems", lambda *_: ["the door is shut"])

    found = judged(here, Standing(ways=Ways(asks=False)))

    assert {"contradicted"} == {one.state for one in found.values()}
    assert all("the door is shut" in one.evidence for one in found.values())


def test_doctor_and_the_claim_about_it_say_the_same(home, monkeypatch, capsys):
    """
    A guard that cannot run is wrong for both, though no agent's entry is.
    """
    monkeypatch.setattr(here_module, "_find_problems", FIND_PROBLEMS)
    monkeypatch.chdir(home)
    stage = Standing()
    script = put(home / ".config/hookonce/guard.sh", "#!/bin/sh\nexit 0\n")
    put(home / ".config/hookonce/hooks.json", manifest(command("./guard.sh", name="guard", blocking=True)))
    for mode in (0o755, 0o644):
        script.chmod(mode)
        main(["doctor", stage.agent.name, "--json"])
        findings = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["kind"] not in NOTE_KINDS]

        claim = judged(here, stage)["here:doctor"]

        assert "; ".join(one["message"] for one in findings) == claim.evidence
        assert (mode == 0o644) == ("is not executable" in claim.evidence)


@pytest.mark.parametrize("problem", [HookonceError("no home"), OSError("no disk")])
def test_an_installation_that_cannot_be_brought_along_is_not_sound(problem):
    stage = Standing()

    def play(*_words, **_more):
        raise problem

    stage.play = play
    found = judged(here, stage)

    assert {"here:doctor"} == {name for name, one in found.items() if one.state == "held"}
    assert f"it cannot be tried: {problem}" == found["here:deny"].evidence


def test_where_hookonce_is_not_installed_nothing_is_claimed_of_it(home):
    assert [] == here.claim_names(Standing())
