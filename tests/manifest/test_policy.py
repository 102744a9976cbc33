"""Which hooks a policy lets run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce.dispatch.select import select_hooks
from hookonce.manifest.discover import SCOPES
from hookonce.manifest.load import parse_hook
from hookonce.manifest.policy import Policy, find_policy_problems, find_policy_warnings, find_refusal, load_policies
from tests.dispatch.event_factory import event
from tests.manifest.projects import Project, command, house, manifest, notes, put

FOLDERS = {"project": "p/.hookonce", "user": "home/.config/hookonce", "organisation": "etc/org", "system": "etc"}
RULES = ["allow", "deny", "managed_only"]


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A hook of every scope, all of them trusted."""
    house(monkeypatch, tmp_path)
    project = Project(tmp_path / "p")
    for scope, folder in FOLDERS.items():
        put(tmp_path / folder / "hooks.json", manifest(command("true", name=scope)))
    project.trust()
    return tmp_path


def running(machine):
    """The scopes whose hook is asked."""
    return [one.hook.name for one in select_hooks(event(), machine / "p").hooks]


def policy(machine, scope, **fields):
    put(machine / FOLDERS[scope] / "policy.json", fields)


@pytest.mark.covers("HIF-104")
def test_without_a_policy_everything_runs(machine):
    """
    An empty policy is none.
    """
    assert list(SCOPES) == running(machine)
    policy(machine, "system", disable_all_hooks=False, allow_managed_only=False, event_restrictions={}, capability_restrictions={})
    assert list(SCOPES) == running(machine)


@pytest.mark.covers("HIF-104", "HIF-105")
@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({"disable_all_hooks": True}, []),
        ({"allow_managed_only": True}, ["organisation", "system"]),
        ({"event_restrictions": {"before_tool_execute": "deny"}}, []),
        ({"event_restrictions": {"before_tool_execute": "managed_only"}}, ["organisation", "system"]),
        ({"event_restrictions": {"before_tool_execute": "allow", "agent_stop": "deny"}}, list(SCOPES)),
        ({"capability_restrictions": {"http_handler": "deny"}}, list(SCOPES)),
    ],
)
def test_each_field_of_a_policy_forbids_what_it_says(machine, fields, left):
    """
    What is not listed is allowed.
    """
    policy(machine, "system", **fields)
    assert left == running(machine)


@pytest.mark.covers("HIF-104")
@pytest.mark.parametrize(
    ("hook", "capability"),
    [
        (command("x", blocking=True), "structured_output"),
        ({"event": "before_tool_execute", "handler": {"type": "http", "url": "https://a.b"}}, "http_handler"),
        ({"event": "before_tool_execute", "handler": {"type": "prompt", "prompt": "Is it?"}}, "llm_evaluated"),
        (command("x", handler={"async": True}), "async_execution"),
        (command("x", handler={"env": {"A": "b"}}), "custom_env"),
        (command("x", handler={"cwd": "a"}), "configurable_cwd"),
        (command("x", handler={"platform": {"linux": "y"}}), "platform_commands"),
    ],
)
def test_a_capability_is_what_a_hook_needs_and_not_what_it_lists(hook, capability):
    """
    A hook that leaves a capability out of its list is forbidden all the same.
    """
    rules = [Policy(scope="system", path="/p", capability_restrictions={capability: "deny"})]
    assert f"/p forbids hooks that need {capability}" == find_refusal(parse_hook(hook), "user", hook["event"], rules).why
    listed = command("x", capabilities=[capability])
    assert find_refusal(parse_hook(listed), "user", "before_tool_execute", rules) is None


@pytest.mark.covers("HIF-105")
def test_the_first_rule_that_forbids_is_named_in_the_order_of_the_specification():
    """
    All hooks, then managed ones, then events, then capabilities; and the highest scope before the others.
    """
    hook = parse_hook(command("x", blocking=True))
    fields = {
        "disable_all_hooks": True,
        "allow_managed_only": True,
        "event_restrictions": {"before_tool_execute": "deny"},
        "capability_restrictions": {"structured_output": "deny"},
    }
    told = []
    while fields:
        told.append(find_refusal(hook, "user", hook.event, [Policy(scope="system", path="P", **fields)]).why)
        fields.pop(next(iter(fields)))
    assert ["P turns all hooks off", "P lets only managed hooks run", "P forbids hooks on before_tool_execute", "P forbids hooks that need structured_output"] == told

    both = [Policy(scope=scope, path=scope, disable_all_hooks=True) for scope in ("system", "user")]
    assert "system turns all hooks off" == find_refusal(hook, "project", hook.event, both).why


@pytest.mark.covers("HIF-105")
@pytest.mark.parametrize("scope", SCOPES)
def test_a_policy_speaks_for_its_own_scope_and_those_below(machine, scope):
    """
    Nobody turns off what watches from above, and a repository's policy least of all.
    """
    policy(machine, scope, disable_all_hooks=True)
    assert list(SCOPES[SCOPES.index(scope) + 1 :]) == running(machine)


FIELDS = st.fixed_dictionaries(
    {
        "disable_all_hooks": st.booleans(),
        "allow_managed_only": st.booleans(),
        "event_restrictions": st.dictionaries(st.sampled_from(["before_tool_execute", "agent_stop", "*"]), st.sampled_from(RULES)),
        "capability_restrictions": st.dictionaries(st.sampled_from(["structured_output", "custom_env"]), st.sampled_from(RULES)),
    }
)
POLICIES = st.lists(st.builds(lambda scope, fields: Policy(scope=scope, path=scope, **fields), st.sampled_from(SCOPES), FIELDS), max_size=4)
HOOKS = st.builds(
    lambda kind, blocking, env: parse_hook(command("x", kind, blocking=blocking, handler={"env": env})),
    st.sampled_from(["before_tool_execute", "agent_stop"]),
    st.booleans(),
    st.sampled_from([{}, {"A": "b"}]),
)


@pytest.mark.covers("HIF-105")
@given(HOOKS, st.sampled_from(SCOPES), POLICIES, POLICIES)
def test_a_further_policy_never_lets_more_run(hook, scope, some, more):
    """
    Whatever one policy forbids stays forbidden, whichever others there are.
    """
    if find_refusal(hook, scope, hook.event, some) is not None:
        assert find_refusal(hook, scope, hook.event, [*some, *more]) is not None
        assert find_refusal(hook, scope, hook.event, [*more, *some]) is not None


@given(HOOKS, st.sampled_from(SCOPES), POLICIES)
def test_policies_of_lower_scopes_change_nothing_for_a_hook(hook, scope, found):
    """
    A hook is judged by its own scope and those above.
    """
    above = [one for one in found if SCOPES.index(one.scope) >= SCOPES.index(scope)]
    assert find_refusal(hook, scope, hook.event, above) == find_refusal(hook, scope, hook.event, found)


def test_observers_of_all_events_and_failed_tools_are_under_the_rule_of_the_event(machine):
    """
    A hook that does not name an event is not free of the rules for it.
    """
    project = Project(machine / "p")
    project.observe({"command": "true"})
    put(project.folder / ".hookonce/hooks.json", manifest(command("true", "after_tool_execute", name="after")))
    project.trust()
    policy(machine, "system", event_restrictions={"before_tool_execute": "deny", "tool_use_failure": "deny"})

    assert [] == running(machine)
    assert [] == select_hooks(event("tool_use_failure"), project.folder).hooks
    assert ["after", "observer 1"] == [one.hook.name for one in select_hooks(event("after_tool_execute"), project.folder).hooks]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"disable_all_hooks": 1}', '{"disable_all_hooks": null}', '{"allow_managed_only": "yes"}', '{"event_restrictions": []}',
     '{"event_restrictions": {"agent_stop": "Deny"}}', '{"capability_restrictions": {"x": null}}', '{"capability_restrictions": {"x": []}}'],
)  # fmt: skip
def test_a_policy_that_cannot_be_used_lets_nothing_of_its_scope_and_below_run(machine, text):
    """
    Nobody knows what it would forbid; hooks above it are asked, and the record says why the others were not.
    """
    put(machine / FOLDERS["user"] / "policy.json", text)
    found = select_hooks(event(), machine / "p")

    assert ["organisation", "system"] == [one.hook.name for one in found.hooks]
    assert found.has_broken_source
    assert ["project did not run", "user did not run"] == [gap.note.partition(":")[0] for gap in found.gaps]


def test_a_hook_that_has_to_be_asked_refuses_when_a_broken_policy_keeps_it_from_being_asked(machine):
    """
    A broken policy is a failure of ours; a policy that forbids a hook is not.
    """
    closed = command("true", name="user", blocking=True, on_failure="closed")
    put(machine / FOLDERS["user"] / "hooks.json", manifest(closed))
    project = Project(machine / "p")
    assert not project.denies()
    put(machine / FOLDERS["user"] / "policy.json", "{")
    assert project.denies()
    policy(machine, "user", disable_all_hooks=True)
    assert not project.denies()


def test_a_managed_policy_that_others_can_write_is_told_and_forbids(machine):
    """
    It may have been tightened or loosened by anybody.
    """
    policy(machine, "system")
    (machine / "etc/policy.json").chmod(0o666)
    (found,) = load_policies(None)
    assert "users other than root can write it" == found.problem
    assert [] == running(machine)


@pytest.mark.covers("HIF-107")
def test_what_a_projects_policy_forbids_is_told_with_its_path(machine):
    """
    A policy that comes with a repository is a warning wherever it has an effect.
    """
    policy(machine, "project", disable_all_hooks=True)
    Project(machine / "p").ask()
    assert ["project did not run: .hookonce/policy.json is not the version that was trusted; hookonce trust shows it"] == notes()

    Project(machine / "p").trust()
    Project(machine / "p").ask()
    assert [f"project did not run: {machine}/p/.hookonce/policy.json turns all hooks off"] == notes()


def test_fields_that_nobody_knows_are_a_warning_and_no_problem():
    """
    A policy of a later version still forbids what this one knows.
    """
    document = {"$schema": "x", "disable_all_hooks": True, "later": 1}
    assert [] == find_policy_problems(document)
    assert [("$.later", "is not a field of a policy")] == find_policy_warnings(document)
