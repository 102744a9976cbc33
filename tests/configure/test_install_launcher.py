"""Our entries in a project's files: the same for everybody who has the repository, and known on every machine."""

import shlex

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.base import paths
from hookonce.base.invocation import PORTABLE_CLIENT, format_command, format_launcher, is_own_entry, parse_command
from hookonce.configure import install as install_module
from hookonce.configure.entries import build_entries
from hookonce.configure.locations import ConfigRoots
from hookonce.configure.status import install_status
from hookonce.convert.conversion import is_hookonce_entry
from tests.configure.test_install import install, uninstall
from tests.convert.test_launcher import put_client, run

ABLE = [name for name in agents.AGENTS if "project" in agents.load(name).config.files]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home and a project of our own."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    return ConfigRoots(tmp_path, tmp_path / "project")


def absolute_entries(agent, scope, client, *more, **options):
    """The entries of a project as earlier versions have written them."""
    hooks = build_entries(agent, scope, client, *more, **options)
    commands = [format_command(replace(parse_command(hook.handler.command), client=client)) for hook in hooks]
    return [replace(hook, handler=replace(hook.handler, command=command)) for hook, command in zip(hooks, commands, strict=True)]


def state(agent, place):
    """The state of a project's scope."""
    return next(scope for scope in install_status(agent, place, str(paths.client_path())).scopes if scope.scope == "project")


@pytest.mark.part(3)
@pytest.mark.parametrize("name", ABLE)
def test_no_home_stands_in_a_projects_file(name, place, monkeypatch):
    """
    Each entry is a launcher, an older one with a path is replaced by the next install, and all come out again.
    """
    agent, client = agents.load(name), str(paths.client_path())
    with monkeypatch.context() as patch:
        patch.setattr(install_module, "build_entries", absolute_entries)
        old_changes = install(agent, place, "project")
    assert any(client.encode() in change.new for change in old_changes)
    assert "outdated" == state(agent, place).state

    changes = install(agent, place, "project")
    assert changes
    assert not any(str(place.home).encode() in path.read_bytes() for path in (change.path for change in changes))
    assert ("installed", []) == (state(agent, place).state, install(agent, place, "project"))
    assert [] == install_status(agent, place, client).foreign
    for entry in build_entries(agent, "project", client):
        call = parse_command(entry.handler.command)
        assert (PORTABLE_CLIENT, f"{name}/project") == (call.client, call.via)
        assert is_own_entry(entry.handler.command, client, name)
        assert is_hookonce_entry(entry)
    uninstall(agent, place, "project")
    assert not any(change.path.exists() for change in changes)


@pytest.mark.parametrize("name", ["claude-code", "cursor"])
def test_a_projects_entry_asks_the_colleagues_client_or_says_nothing(name, tmp_path):
    """
    Without a client the agent goes on as it does without us, in the words that it wants for that.
    """
    agent = agents.load(name)
    command = build_entries(agent, "project", "/mine/hookonce-on")[0].handler.command
    words = shlex.split(command)[-4:]

    silence = agent.config.silence
    assert (0, f"{silence}\n".encode() if silence else b"", b"") == run(command, tmp_path)
    assert (0, f"colleague\n{chr(10).join(words)}\n".encode(), b"") == run(command, put_client(tmp_path / "colleague"))
    assert name == words[0]


@pytest.mark.parametrize("fallback", [(0, '{"decision":"approve"}', ""), (2, "", ""), (0, "", "no")])
def test_a_launcher_that_decides_by_itself_is_not_ours(fallback):
    """
    Where no client is found it would speak in our name: nobody has vouched for that.
    """
    call = parse_command(build_entries(agents.load("claude-code"), "project", "/mine/hookonce-on")[0].handler.command)

    assert not is_own_entry(format_launcher(call, *fallback), "/mine/hookonce-on")
    assert is_own_entry(format_launcher(call, 0, "", ""), "/mine/hookonce-on")
