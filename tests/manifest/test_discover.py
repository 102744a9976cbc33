"""Where hooks are found, and whose word counts there."""

import os
from pathlib import Path
from time import monotonic

import pytest

from hookonce.base import paths, settings
from hookonce.dispatch.select import select_hooks
from hookonce.errors import HookonceError
from hookonce.manifest.discover import find_project, find_sources
from hookonce.manifest.load import load_openhook_file
from tests.dispatch.event_factory import event
from tests.manifest.projects import Project, command, house, manifest, notes, put


@pytest.fixture
def home(monkeypatch, tmp_path):
    return house(monkeypatch, tmp_path)


def test_hooks_of_all_scopes_are_found_in_the_order_in_which_they_run(home, tmp_path):
    """
    The project's come first and the system's last, so that the higher judge what the lower have made of an action.
    """
    project = Project(tmp_path / "p", command("true", name="project"))
    for folder, name in ((home / ".config/hookonce", "user"), (tmp_path / "etc/org", "organisation"), (tmp_path / "etc", "system")):
        put(folder / "hooks.json", manifest(command("true", name=name)))
    project.observe({"command": "true", "events": ["tool.start"]})
    project.trust()

    chosen = select_hooks(event(cwd=str(project.folder)), project.folder).hooks

    assert ["project", "observer 1", "user", "organisation", "system"] == [one.hook.name for one in chosen]
    assert ["project", "project", "user", "organisation", "system"] == [one.scope for one in chosen]


def test_yaml_is_read_too_and_two_manifests_of_one_scope_are_a_problem(home):
    """
    Nobody could say which of the two counts.
    """
    folder = home / ".config" / "hookonce"
    put(folder / "hooks.yaml", "spec: hooks/1.0\nhooks: [{event: agent_stop, handler: {type: command, command: 'true'}}]")
    assert [None] == [source.problem for source in find_sources(None)]

    put(folder / "hooks.json", manifest(command("true")))
    assert ["hooks.json and hooks.yaml; keep one"] * 2 == [source.problem.partition(": ")[2] for source in find_sources(None)]


@pytest.mark.parametrize("name", [".hookonce/hooks.json", ".hookonce/hooks.yaml", ".hookonce/policy.json", ".openhook.json"])
@pytest.mark.parametrize("what", ["a pipe", "an endless device", "a huge file", "a directory", "a link to itself", "no text"])
def test_nothing_that_a_repository_puts_there_keeps_the_users_hooks_from_being_asked(home, tmp_path, name, what):
    """
    A pipe is not waited for, an endless device not read to its end, and what cannot be read is told.
    """
    put(home / ".config/hookonce/hooks.json", manifest(command("echo no >&2; exit 2", blocking=True)))
    project = Project(tmp_path / "p")
    path = project.folder / name
    path.parent.mkdir(exist_ok=True)
    match what:
        case "a pipe":
            os.mkfifo(path)
        case "an endless device":
            path.symlink_to("/dev/zero")
        case "a huge file":
            path.write_bytes(b" " * ((1 << 20) + 1))
        case "a directory":
            path.mkdir()
        case "a link to itself":
            path.symlink_to(path)
        case "no text":
            path.write_bytes(b"\xff\xfe{[&a *a")

    assert project.denies()
    assert "policy" in name or any(str(path) in note for note in notes())


@pytest.mark.parametrize("who", ["a group", "others", "another user", "others in the folder"])
@pytest.mark.parametrize("folder", ["etc", "etc/org"])
def test_managed_files_count_only_if_the_machines_owner_alone_can_write_them(home, tmp_path, monkeypatch, folder, who):
    """
    Whoever else can write the file, or the folder that it lies in, could speak for the machine.
    """
    file = put(tmp_path / folder / "hooks.json", manifest(command("true")))
    assert [None] == [source.problem for source in find_sources(None)]

    match who:
        case "a group":
            file.chmod(0o664)
        case "others":
            file.chmod(0o646)
        case "another user":
            monkeypatch.setattr(settings, "OWNER", os.getuid() + 1)
        case "others in the folder":
            file.parent.chmod(0o777)

    (source,) = find_sources(None)
    assert "so it is ignored" in source.problem
    assert b"" == source.data


def test_a_broken_file_of_the_user_hides_no_hook_of_the_system(home, tmp_path):
    """
    What the machine's owner wants to be asked is asked, and the broken file is told.
    """
    put(home / ".config/hookonce/hooks.json", "{")
    put(tmp_path / "etc/hooks.json", manifest(command("echo no >&2; exit 2", blocking=True)))
    project = Project(tmp_path / "p")

    assert project.denies()
    assert any("hooks.json: the manifest has problems" in note for note in notes())


@pytest.mark.parametrize(
    ("files", "cwd", "expected"),
    [
        (["r/.git/HEAD"], "r/a/b", "r"),
        (["r/.git/HEAD", "r/a/.openhook.json", "r/a/.hookonce/hooks.json"], "r/a/b", "r"),
        (["r/.git/HEAD", "r/a/.git/HEAD"], "r/a/b", "r/a"),
        (["r/.git"], "r/a", "r/a"),
        (["r/.git/nothing"], "r/a", "r/a"),
        (["r/.git/HEAD", "r/a/.git/nothing"], "r/a", "r"),
        (["r/.openhook.json"], "r/a/b", "r"),
        (["r/.hookonce/hooks.yml"], "r/a/b", "r"),
        (["r/.hookonce/hooks.json", "r/a/.openhook.json"], "r/a/b", "r/a"),
        (["r/.hookonce/other", "r/x"], "r/a", "r/a"),
        (["r/x"], "r/gone/away", "r/gone/away"),
    ],
)
def test_the_project_is_the_repository_else_the_nearest_folder_with_hooks(tmp_path, files, cwd, expected):
    """
    Hooks further in do not take the place of those at the repository's root, and an empty folder is nobody's project.
    """
    for name in files:
        put(tmp_path / name, "")
    (tmp_path / "r" / "a" / "b").mkdir(parents=True, exist_ok=True)

    assert tmp_path / expected == find_project(tmp_path / cwd)


@pytest.mark.parametrize("cwd", ["/", "relative/path", "/a\0b", "/dev/null/x", "/" + "x" * 5000])
def test_any_directory_has_a_project(cwd):
    """
    A directory that cannot be is its own project, and no error.
    """
    assert isinstance(find_project(Path(cwd)), Path)


@pytest.mark.parametrize("name", ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_DIRS", "HOOKONCE_HOME", "HOOKONCE_CONFIG"])
def test_variables_that_a_repository_can_set_move_none_of_our_files(home, tmp_path, monkeypatch, name):
    """
    Hooks that lie where such a variable leads are nobody's.
    """
    before = (paths.config_dir(), paths.data_dir(), paths.client_path(), paths.log_path())
    put(tmp_path / "evil/hookonce/hooks.json", manifest(command("true")))
    monkeypatch.setenv(name, str(tmp_path / "evil"))

    assert before == (paths.config_dir(), paths.data_dir(), paths.client_path(), paths.log_path())
    assert [] == find_sources(None)


def test_a_home_that_is_not_ours_or_belongs_to_a_repository_is_none(monkeypatch, tmp_path):
    """
    Whoever wrote a repository would otherwise write the user's own hooks, and what they trust.
    """
    own = paths._home_of_user(os.getuid())
    repository = Project(tmp_path / "r").folder
    (repository / "home").mkdir()
    for named in ("", ".", "relative", "/", "/nowhere", str(repository), str(repository / "home"), "/a\0b".replace("\0", "")):
        if named == "/" and os.getuid() == 0:
            continue  # which is root's
        monkeypatch.setenv("HOME", named)
        assert Path(own) == paths.home(), named
    monkeypatch.delenv("HOME")
    assert Path(own) == paths.home()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tmp_path == paths.home()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert Path("/") == paths.home()


@pytest.mark.covers("OH-35", "OH-36", "OH-37")
def test_observers_choose_their_events_by_name_and_hear_all_by_default(home, tmp_path):
    """
    A name that OpenHook does not have fits no event, and an event that it has no word for is told to nobody.
    """
    project = Project(tmp_path / "p")
    project.observe(
        {"command": "echo all >>ran"},
        {"command": "echo star >>ran", "events": ["nothing", "*"]},
        {"command": "echo start >>ran", "events": ["tool.start"]},
        {"command": "echo other >>ran", "events": ["tool.end", "no.such.event"]},
        {"command": "echo none >>ran", "events": []},
    )
    project.trust()

    project.ask()
    assert ["all", "star", "start"] == sorted(project.wrote().split())  # they run at once
    project.ask("Stop")
    assert ["all", "star", "start"] == sorted(project.wrote().split())


@pytest.mark.covers("OH-36")
def test_an_observer_is_told_of_each_file_that_a_tool_has_written(home, tmp_path):
    """
    One finished tool call may be several events, and each of them is one JSON object on a stdin of its own.
    """
    project = Project(tmp_path / "p")
    project.observe({"command": "cat >>ran; echo >>ran"})
    project.trust()

    project.ask("PostToolUse", tool_name="Write", tool_input={"file_path": "/a/b", "content": "x"}, tool_response={})

    told = [put(tmp_path / "line", line).read_bytes() for line in project.wrote().splitlines()]
    assert [b'"type":"tool.end"', b'"type":"file.write"'] == [line[line.index(b'"type"') :].partition(b",")[0] for line in told]
    assert b'"data":{"path":"/a/b"' in told[1]


@pytest.mark.covers("OH-36", "OH-38")
def test_observers_never_block_whatever_they_say(home, tmp_path):
    """
    Neither an exit code nor an answer of an observer is a decision, and for an async one nobody waits.
    """
    project = Project(tmp_path / "p")
    project.observe(
        {"command": "echo no >&2; exit 2"},
        {"command": """echo '{"decision": "deny", "continue": false}'""", "blocking": True, "on_failure": "closed"},
        {"command": "sleep 9; exit 2", "async": True},
    )
    project.trust()

    begin = monotonic()
    reply = project.ask()
    assert monotonic() - begin < 8
    assert ("", "", 0) == (reply.stdout, reply.stderr, reply.code)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ('{"openhook": "0.1", "hooks": [1, null, {"command": 2}, {"command": ""}, {"events": ["*"]}, {"command": "a"}]}', ["a"]),
        ('{"openhook": "0.1", "hooks": [{"command": "a", "events": "tool.end"}, {"command": "b", "events": [1, "tool.end"]}]}', ["b"]),
        ('\ufeff{"hooks": [{"command": "a", "async": "yes"}]}', ["a"]),
    ],
)
def test_entries_that_are_none_are_left_out(text, commands):
    """
    One bad entry does not hide the others.
    """
    assert commands == [hook.handler.command for hook in load_openhook_file(text.encode()).hooks]


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", '{"hooks": {}}', "{", "[" * 100_000, "NaN"])
def test_a_file_without_entries_says_so(text):
    """
    Whatever stands there, it is an error with a sentence.
    """
    with pytest.raises(HookonceError, match=r"JSON|expected"):
        load_openhook_file(text.encode())
