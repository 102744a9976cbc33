"""Links that a repository planted: nothing that we write goes through them."""

import json
import os

import pytest

from tests.cli.command import run

ENTRY = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}]}}


@pytest.fixture
def home(tmp_path):
    """A home with a file of the user, and nothing else."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "victim.json").write_text(json.dumps(ENTRY))
    return home


def clone(home, mark):
    """What was fetched from somebody: a repository of any kind, or an archive."""
    project = home / "src" / "repo"
    project.mkdir(parents=True)
    if mark:
        (project / mark).mkdir()
    return project


def to_a_file(project, home):
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to("../../../victim.json")


def to_nothing(project, home):
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to(home / "new.json")


def to_a_folder(project, home):
    (home / "folder").mkdir()
    (home / "folder" / "settings.json").write_text(json.dumps(ENTRY))
    (project / ".claude").symlink_to(home / "folder")


def by_two_steps(project, home):
    (project / "a").symlink_to("../..")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to("../a/victim.json")


def to_a_neighbour(project, home):
    (project / "other.json").write_text(json.dumps(ENTRY))
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").symlink_to("../other.json")


def everything(home):
    """What lies in a home, but for our own data."""
    files = [file for file in home.rglob("*") if file.is_file() and not file.is_symlink() and ".local" not in file.parts]
    return {str(file): file.read_bytes() for file in files}


@pytest.mark.part(2)
@pytest.mark.parametrize("mark", [".git", ".hg", ".jj", None])
@pytest.mark.parametrize("plant", [to_a_file, to_nothing, to_a_folder, by_two_steps, to_a_neighbour])
def test_no_link_of_a_project_is_followed(home, plant, mark):
    """
    Not by `install`, `uninstall`, `init` or `convert --output`, wherever it leads; each says why and what to do.
    """
    project = clone(home, mark)
    plant(project, home)
    (project / ".hookonce").symlink_to(home / "elsewhere")
    (home / "elsewhere").mkdir()
    before = everything(home)

    installed = run("install", "claude-code", "--scope", "project", HOME=str(home), cwd=project)
    begun = run("init", HOME=str(home), cwd=project)

    assert everything(home) == before
    for ran in (installed, begun):
        assert ran.code == 1, ran
        assert "may come from a repository, so put a file or a folder in its place" in ran.err


def test_convert_writes_through_no_link(home):
    """
    A link that leads to nothing yet is no file that is already there.
    """
    project = clone(home, ".git")
    (project / "out").mkdir()
    (project / "out" / "hooks.json").symlink_to(home / "new.json")
    (project / "settings.json").write_text(json.dumps(ENTRY))

    ran = run("convert", "--from", "claude-code", "--to", "hif", "--output", "out", "settings.json", HOME=str(home), cwd=project)

    assert ran.code == 1, ran
    assert not os.path.lexists(home / "new.json")


def test_links_of_the_user_are_followed(home):
    """
    A settings file that lies among dotfiles is written where it is, also from within a project.
    """
    dotfiles = home / "dotfiles"
    (dotfiles / ".git").mkdir(parents=True)
    (dotfiles / "settings.json").write_text("{}\n")
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(dotfiles / "settings.json")

    ran = run("install", "claude-code", HOME=str(home), cwd=clone(home, ".git"))

    assert ran.code == 0, ran
    assert "hookonce-on" in (dotfiles / "settings.json").read_text()
    assert (home / ".claude" / "settings.json").is_symlink()
