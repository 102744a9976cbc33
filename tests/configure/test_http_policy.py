"""Doors that are addresses: written, recognised and left alone like those that are commands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookonce import agents
from hookonce.agents import http_reply
from hookonce.base import invocation
from hookonce.base.invocation import Invocation, is_own_entry
from hookonce.client import daemon_endpoints
from hookonce.client.daemon_endpoints import HttpAddress
from hookonce.configure import http_policy
from hookonce.configure.entries import build_entries
from hookonce.configure.install import plan_install, plan_removal
from hookonce.configure.locations import ConfigRoots
from hookonce.convert.conversion import read_manifest
from hookonce.errors import HookonceError

CLIENT = "/home/dev/.local/share/hookonce/bin/hookonce-on"
HERE = HttpAddress(20001, "secret")
FOREIGN = [
    "http://127.0.0.1:20001/on/claude-code/PreToolUse",
    "http://127.0.0.1:20001/on/claude-code/PreToolUse?via=claude-code/user&more=1",
    "http://127.0.0.1:20001/other?via=claude-code/user",
    "http://127.0.0.1.example.com:20001/on/claude-code/PreToolUse?via=claude-code/user",
    "https://127.0.0.1:20001/on/claude-code/PreToolUse?via=claude-code/user",
    "http://user@127.0.0.1:20001/on/claude-code/PreToolUse?via=claude-code/user",
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home that nobody has used."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    return ConfigRoots(tmp_path, tmp_path / "project")


@given(st.integers(1, 65535), st.sampled_from(sorted(http_reply.COMMAND_EVENTS)), st.sampled_from(["PreToolUse", "Stop"]))
def test_an_address_says_what_a_command_says(port, agent, native):
    """
    It is read as it was written, and known as ours.
    """
    call = Invocation(HttpAddress(port, "").base, agent, native, via=f"{agent}/user")
    text = invocation.format_command(call)
    assert call == invocation.parse_command(text)
    assert is_own_entry(text, CLIENT)
    assert is_own_entry(text, CLIENT, agent)
    assert not is_own_entry(text, CLIENT, "codex")


@pytest.mark.parametrize("url", FOREIGN)
def test_any_other_address_is_somebody_else_s(url):
    """
    Whatever it looks like.
    """
    assert not is_own_entry(url, CLIENT)


@pytest.mark.parametrize("name", sorted(http_reply.COMMAND_EVENTS))
def test_what_wakes_the_daemon_and_what_cannot_be_posted_stays_a_command(name):
    """
    Everything else is posted, with the token and the same patience.
    """
    agent = agents.load(name)
    plain, posted = (build_entries(agent, "user", CLIENT, "all", one) for one in (None, HERE))
    kinds = {invocation.parse_command(hook.handler.target).event: hook.handler.type for hook in posted}

    assert [(hook.event, hook.handler.timeout, hook.blocking) for hook in plain] == [
        (hook.event, hook.handler.timeout, hook.blocking) for hook in posted
    ]
    assert {"command"} == {kinds[native] for native in http_reply.COMMAND_EVENTS[name] | {"SessionStart", "UserPromptSubmit"} if native in kinds}
    assert ("http", "http") == (kinds["PreToolUse"], kinds["PostToolUse"])
    assert all(hook.handler.headers == {"Authorization": "Bearer secret"} for hook in posted if hook.handler.type == "http")


@pytest.mark.parametrize("name", sorted(http_reply.COMMAND_EVENTS))
def test_our_addresses_stand_beside_those_of_others_and_go_alone(place, name):
    """
    A foreign hook that is posted somewhere else is never touched; a new file is for its owner alone.
    """
    agent = agents.load(name)
    path = place.home / agent.config.files["user"].removeprefix("~/")
    (made,) = plan_install(agent, "user", place, CLIENT, http=HERE)
    path.parent.mkdir()
    entries = [{"hooks": [{"type": "http", "url": url}]} for url in FOREIGN]
    old = json.dumps({"hooks": {"PreToolUse": entries}, "url": "x", "mcpServers": {"a": {"url": FOREIGN[0]}}}).encode()
    path.write_bytes(old)
    path.chmod(0o600)
    (change,) = plan_install(agent, "user", place, CLIENT, http=HERE)
    path.write_bytes(change.new)
    (back,) = plan_removal(agent, "user", place, CLIENT)

    assert (0o600, None) == (made.mode, made.old)
    assert all(change.new.count(json.dumps(url).encode()) >= 1 for url in FOREIGN)
    assert json.loads(old) == json.loads(back.new)


def test_what_is_posted_stays_posted_while_that_is_possible(place):
    """
    A plain install keeps the addresses if they are ours still, and else writes commands.
    """
    agent = agents.load("claude-code")
    (change,) = plan_install(agent, "user", place, CLIENT, http=HERE)
    change.path.parent.mkdir()
    change.path.write_bytes(change.new)
    change.path.chmod(0o600)

    daemon_endpoints.save_http_address(HERE)
    assert [] == plan_install(agent, "user", place, CLIENT)
    daemon_endpoints.save_http_address(HttpAddress(20002, "other"))
    (moved,) = plan_install(agent, "user", place, CLIENT)
    assert (0, True) == (moved.new.count(b":20001/"), b":20002/" in moved.new)
    daemon_endpoints.remove_http_address()
    (commands,) = plan_install(agent, "user", place, CLIENT)
    assert b"http://" not in commands.new


def test_our_own_addresses_are_not_converted(place):
    """
    They call us for whatever the manifests say, as our commands do.
    """
    agent = agents.load("claude-code")
    (change,) = plan_install(agent, "user", place, CLIENT, http=HERE)
    manifest, gaps = read_manifest(json.loads(change.new), agent, adapt=True)
    assert [] == manifest.hooks
    assert "hookonce's own entries" in gaps[-1].note


@pytest.mark.parametrize(("name", "scope"), [("codex", "user"), ("amp", "user"), ("claude-code", "project")])
def test_who_cannot_post_is_refused(place, name, scope):
    """
    In one sentence.
    """
    with pytest.raises(HookonceError, match=r"cannot send its events|HTTP token"):
        plan_install(agents.load(name), scope, place, CLIENT, http=HERE)


def test_a_forbidden_door_is_refused_by_name(place):
    """
    The setting is named; a file of settings that cannot be read forbids it too.
    """
    folder = place.home / ".config" / "hookonce"
    folder.mkdir(parents=True)
    for text, told in (("http = false", "`http = false`"), ("http = ", "cannot be read")):
        (folder / "config.toml").write_text(text)
        assert told in http_policy.listener_obstacle(None)
    (folder / "config.toml").write_text("http = true")
    assert http_policy.listener_obstacle(None) is None


def test_addresses_are_drawn_where_no_program_is_lent_a_port(place):
    """
    Kept for us alone, and known again.
    """
    one, other = daemon_endpoints.new_http_address(), daemon_endpoints.new_http_address()
    assert one.token != other.token
    assert all(20_000 <= each.port < 32_768 for each in (one, other))
    assert daemon_endpoints.load_http_address() is None
    daemon_endpoints.save_http_address(one)
    assert one == daemon_endpoints.load_http_address()
    assert "0o600" == oct((place.home / ".local/share/hookonce/http.json").stat().st_mode & 0o777)
    (place.home / ".local/share/hookonce/http.json").write_bytes(b"{}")
    assert daemon_endpoints.load_http_address() is None
