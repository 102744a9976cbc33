"""Trusted and closed means closed: what must be asked is asked, or the call is refused, whoever keeps it from that."""

import json
import os
import shutil
import subprocess
import time
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from hookonce.base import paths
from hookonce.client.installation import install_client
from hookonce.diagnose.document_check import DOCUMENT_CHECKS
from hookonce.dispatch import dispatcher
from hookonce.dispatch.fast_path import table
from hookonce.dispatch.select import find_candidates
from hookonce.trust import pin_store
from hookonce.trust.consent import find_trust_project, list_proposals, propose_absence, trust_proposals, unpinned_words
from hookonce.trust.pin_store import find_own_guards, folder_identity, revoke_pins
from tests.daemon.conftest import home, installed, shelf  # the fixtures of an installed client
from tests.daemon.installed_home import TOOL, payload

__all__ = ["home", "installed", "shelf"]
SCRIPT = "#!/bin/sh\nif grep -q 'rm -rf'; then echo no >&2; exit 2; fi\n"
HOOK = {
    "name": "guard",
    "event": "before_tool_execute",
    "blocking": True,
    "on_failure": "closed",
    "handler": {"type": "command", "command": "./.hookonce/a.sh"},
}
ALLOWING = {**HOOK, "handler": {"type": "command", "command": "./.hookonce/b.sh"}}


def write_manifest(file, *hooks):
    """A manifest with these hooks."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"spec": "hooks/1.0", "hooks": list(hooks)}), encoding="utf-8")


def write_script(file, text=SCRIPT):
    """A script that can be run."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    file.chmod(0o755)


def git(folder, *words):
    """Git, as an agent calls it, whatever is configured for its user."""
    identity = [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "protocol.file.allow=always",
        "-c",
        "init.defaultBranch=main",
    ]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with a fail-closed hook, and a folder in it."""
    folder = tmp_path_factory.mktemp("repository")
    git(folder, "init", "-q", "--template=")
    write_script(script_of(folder))
    write_manifest(manifest_of(folder), HOOK)
    (folder / "sub").mkdir()
    (folder / "sub" / "file").write_text("")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def agreed(repository, tmp_path, monkeypatch):
    """A copy of it in a home of its own, which a person has trusted, without a client."""
    monkeypatch.setenv("HOME", str(tmp_path))
    project = tmp_path / "code" / "project"
    shutil.copytree(repository, project)
    agree(project)
    yield project
    for folder in (project.parent, project, project / ".hookonce"):
        if folder.exists():
            folder.chmod(0o755)


def agree(project):
    trust_proposals(project, list_proposals(project))


@pytest.fixture
def project(home, repository):
    """The same where a client is installed."""
    home.where = home.home / "code" / "project"
    shutil.copytree(repository, home.where)
    trust(home)
    return home.where


def trust(home):
    """Agree to the project as it is, as the command does."""
    home.trust()
    with home.inside():
        dispatcher.refresh_client_files()


def answer(cwd, command="rm -rf /", **more):
    """What the agent is answered in this process: the decision and its reason; None for no opinion."""
    reply = dispatcher.answer_call(TOOL, payload(command, cwd=str(cwd), **more), {"PATH": os.environ["PATH"]})
    return read_answer(reply.code, reply.stdout, reply.stderr)


def ask(home, cwd, command="rm -rf /", **options):
    """What the agent is answered by the client."""
    return read_answer(*home.call(*TOOL, given=payload(command, cwd=str(cwd)), **{"cwd": cwd, **options}))


def read_answer(code, out, err):
    if code == 2:
        return "deny", err.decode() if isinstance(err, bytes) else err
    assert 0 == code
    said = json.loads(out)["hookSpecificOutput"] if out else {}
    return (said["permissionDecision"], said["permissionDecisionReason"]) if said.get("permissionDecision") else None


def hide(path, mode=0o000):
    path.chmod(mode)


def swap(path, make):
    """Put something else in the place of a file."""
    path.unlink()
    make(path)


def nest(project, make):
    """Have something in the subfolder, and go there."""
    make(project / "sub")
    return project / "sub"


def link_outside(project, target):
    """A way into the project from a folder beside it."""
    link = project.parent / "link"
    link.symlink_to(target)
    return link


def move(project):
    other = project.parent / "moved"
    project.rename(other)
    return other


def worktree(project, change, then=lambda _: None):
    """A worktree of the repository, in which something is changed."""
    other = project.parent / "tree"
    git(project, "worktree", "add", "-q", str(other))
    then(change(other))
    return other


def seen(folder):
    """A folder in which a call was answered before."""
    assert ("deny", "no") == answer(folder)
    return folder


def link_instead(project, target):
    """A link to another folder in the place of the project."""
    move(project)
    project.symlink_to(target, target_is_directory=True)


def hidden_parent(project):
    hide(project.parent)
    return project / "sub"


def clone_over(project):
    """The project's folder anew, as a clone without hooks."""
    shutil.rmtree(project)
    project.mkdir()
    git(project, "init", "-q")


def outer_repository(project):
    """A repository around the project, whose own is gone."""
    shutil.rmtree(project / ".git")
    (project.parent / "other").mkdir()
    git(project.parent, "init", "-q")


def replace_by(path, target):
    shutil.move(path, target)
    path.symlink_to(target)


def deleted_folder(project):
    shutil.rmtree(project / ".hookonce")
    return project


def broken_manifest(project):
    manifest_of(project).write_text("{")


def case_variant(project):
    (project / ".hookonce").rename(project / ".HookOnce")


def other_script(project):
    """A hook that looks the same and runs something that nobody has seen."""
    write_script(project / ".hookonce" / "b.sh", "#!/bin/sh\nexit 0\n")
    write_manifest(project / ".hookonce" / "hooks.json", ALLOWING)


def policy(project, text='{"disable_all_hooks": true}'):
    (project / ".hookonce" / "policy.json").write_text(text)


def policy_link(project):
    (project.parent / "p.json").write_text('{"event_restrictions": {"before_tool_execute": "deny"}}')
    (project / ".hookonce" / "policy.json").symlink_to(project.parent / "p.json")


def manifest_of(project):
    return project / ".hookonce" / "hooks.json"


def script_of(project):
    return project / ".hookonce" / "a.sh"


# Each changes a trusted project with the rights that the agent has there; and says where it goes on, if elsewhere.
WAYS = {
    "append to the script": lambda p: script_of(p).write_text(SCRIPT + "\n"),
    "remove the script": lambda p: script_of(p).unlink(),
    "rename the script": lambda p: script_of(p).rename(p / "a.sh") and None,
    "empty the script": lambda p: script_of(p).write_text(""),
    "script that may not be run": lambda p: hide(script_of(p), 0o644),
    "script that cannot be read": lambda p: hide(script_of(p)),
    "script that is a link out": lambda p: swap(script_of(p), lambda s: s.symlink_to("/bin/true")),
    "script that is a folder": lambda p: swap(script_of(p), Path.mkdir),
    "second manifest": lambda p: (p / ".hookonce" / "hooks.yaml").touch(),
    "second manifest, as a dangling link": lambda p: (p / ".hookonce" / "hooks.yml").symlink_to("/nonexistent"),
    "policy that turns all off": policy,
    "policy for the event": lambda p: policy(p, '{"event_restrictions": {"before_tool_execute": "deny"}}'),
    "policy that cannot be read": lambda p: policy(p, "{"),
    "policy as a link": policy_link,
    "remove the manifest": lambda p: manifest_of(p).unlink(),
    "manifest that runs another script": other_script,
    "manifest without hooks": lambda p: write_manifest(manifest_of(p)),
    "manifest with an open hook": lambda p: write_manifest(manifest_of(p), {**HOOK, "on_failure": "open"}),
    "manifest for another tool": lambda p: write_manifest(manifest_of(p), {**HOOK, "matcher": "file_read"}),
    "manifest that is no JSON": lambda p: manifest_of(p).write_text("{"),
    "manifest that cannot be read": lambda p: hide(manifest_of(p)),
    "manifest as a dangling link": lambda p: swap(manifest_of(p), lambda m: m.symlink_to("/nonexistent")),
    "manifest as a link to itself": lambda p: swap(manifest_of(p), lambda m: m.symlink_to(m)),
    "manifest as a folder": lambda p: swap(manifest_of(p), Path.mkdir),
    "manifest as a pipe": lambda p: swap(manifest_of(p), os.mkfifo),
    "manifest as an endless file": lambda p: swap(manifest_of(p), lambda m: m.symlink_to("/dev/zero")),
    "no .hookonce": deleted_folder,
    "no .hookonce, in a subfolder": lambda p: deleted_folder(p) / "sub",
    ".hookonce in other letters": case_variant,
    ".hookonce as a file": lambda p: swap_folder(p, lambda f: f.write_text("")),
    ".hookonce as a dangling link": lambda p: swap_folder(p, lambda f: f.symlink_to("/nonexistent")),
    ".hookonce as a link to another": lambda p: swap_folder(p, lambda f: f.symlink_to(p / "sub")),
    ".hookonce as a link to itself, elsewhere": lambda p: replace_by(p / ".hookonce", p / "sub" / "hooks"),
    ".hookonce that cannot be entered": lambda p: hide(p / ".hookonce"),
    ".openhook.json beside it": lambda p: (p / ".openhook.json").write_text('{"openhook": "0.1", "hooks": []}'),
    ".openhook.json instead of it": lambda p: deleted_folder(p).joinpath(".openhook.json").write_text("{}") and None,
    ".openhook.json in a subfolder": lambda p: nest(p, lambda s: (s / ".openhook.json").write_text("{}")),
    "empty .git file in a subfolder": lambda p: nest(p, lambda s: (s / ".git").touch()),
    "empty .git folder in a subfolder": lambda p: nest(p, lambda s: (s / ".git").mkdir()),
    "repository in a subfolder": lambda p: nest(p, lambda s: git(s, "init", "-q")),
    "repository in a subfolder, and no .hookonce": lambda p: nest(deleted_folder(p), lambda s: git(s, "init", "-q")),
    "repository with hooks in a subfolder": lambda p: nest(p, lambda s: write_manifest(manifest_of(s), ALLOWING)),
    "submodule": lambda p: nest(p, lambda s: (s / ".git").write_text("gitdir: ../.git/modules/sub\n")),
    ".git as a pipe": lambda p: swap_git(p, os.mkfifo),
    ".git as a dangling link": lambda p: swap_git(p, lambda g: g.symlink_to("/nonexistent")),
    ".git as a link to another": lambda p: swap_git(p, lambda g: g.symlink_to(shutil.copytree(p / "g", p.parent / "g"))),
    ".git as a file that names another": lambda p: swap_git(p, lambda g: g.write_text("gitdir: g\n")),
    ".git as an endless file": lambda p: swap_git(p, lambda g: g.symlink_to("/dev/zero")),
    "head as a pipe, and no .hookonce": lambda p: swap(deleted_folder(p) / ".git/HEAD", os.mkfifo) and None,
    "link to a clone": lambda p: link_instead(p, shutil.copytree(p, p.parent / "clone")),
    "link to a folder without hooks": lambda p: link_instead(p, p.parent.parent),
    "link to nothing": lambda p: link_instead(p, "/nonexistent"),
    "link to where it was moved": lambda p: link_instead(p, "moved"),
    "removed": shutil.rmtree,
    "removed, subfolder": lambda p: [p / "sub", shutil.rmtree(p)][0],
    "parent that cannot be entered": hidden_parent,
    "parent that cannot be entered, behind a link": lambda p: [link_outside(p.parent, p / "sub"), hidden_parent(p)][0],
    "project that cannot be entered": lambda p: [p / "sub", hide(p)][0],
    "two slashes": lambda p: Path(f"/{deleted_folder(p)}"),
    "script as a pipe": lambda p: swap(script_of(p), os.mkfifo),
    "script as an endless file": lambda p: swap(script_of(p), lambda s: s.symlink_to("/dev/zero")),
    "script with another interpreter": lambda p: script_of(p).write_text(SCRIPT.replace("/bin/sh", "/bin/true")),
    "script as a hard link": lambda p: swap(script_of(p), lambda s: s.hardlink_to(p / "sub" / "file")),
    "manifest with a byte order mark": lambda p: manifest_of(p).write_bytes(b"\xef\xbb\xbf" + manifest_of(p).read_bytes()),
    "manifest with a line more": lambda p: manifest_of(p).write_bytes(manifest_of(p).read_bytes() + b"\n"),
    "manifest that is too long": lambda p: manifest_of(p).write_bytes(manifest_of(p).read_bytes() + b" " * (1 << 20)),
    "manifest as yaml": lambda p: manifest_of(p).rename(p / ".hookonce" / "hooks.yaml") and None,
    "manifest as another yaml": lambda p: manifest_of(p).rename(p / ".hookonce" / "hooks.yml").write_text("hooks: []") and None,
    "manifest in other letters": lambda p: manifest_of(p).rename(p / ".hookonce" / "Hooks.json") and None,
    "policy as a folder": lambda p: (p / ".hookonce" / "policy.json").mkdir(),
    "policy as a pipe": lambda p: os.mkfifo(p / ".hookonce" / "policy.json"),
    "empty policy": lambda p: policy(p, "{}"),
    "policy for handlers": lambda p: policy(p, '{"disabled_handlers": ["command"]}'),
    "folder with a line break in a subfolder": lambda p: p / "sub" / "a\nb|c",
    "many folders below": lambda p: p / "/".join(["x"] * 900),
    "no repository any more": lambda p: shutil.rmtree(p / ".git"),
    "no repository and no .hookonce": lambda p: shutil.rmtree(deleted_folder(p) / ".git"),
    "repository without a head": lambda p: (p / ".git" / "HEAD").unlink(),
    "a repository around it": outer_repository,
    "folder made anew": clone_over,
    "cwd through a link": lambda p: link_outside(p, p / "sub"),
    "cwd through a link, and no .hookonce": lambda p: link_outside(p, deleted_folder(p) / "sub"),
    "cwd with dots": lambda p: p / "sub" / ".." / "sub",
    "project moved": move,
    "project moved, and no .hookonce": lambda p: deleted_folder(move(p)),
    "project moved, subfolder": lambda p: deleted_folder(move(p)) / "sub",
    "project moved, and not to be read": lambda p: [m := deleted_folder(move(p)), hide(m, 0o111)][0] / "sub",
    "worktree": lambda p: worktree(p, lambda _: None),
    "worktree without hooks": lambda p: worktree(p, deleted_folder),
    "worktree with another script": lambda p: worktree(p, lambda t: script_of(t).write_text("#!/bin/sh\n")),
    "worktree without .git": lambda p: worktree(p, lambda t: seen(t) / ".git", Path.unlink),
    "worktree without anything": lambda p: worktree(p, lambda t: deleted_folder(seen(t)) / ".git", Path.unlink),
    "worktree with another .git": lambda p: worktree(p, lambda t: seen(t) / ".git", lambda g: g.write_text("x")),
    "worktree that its repository forgot": lambda p: worktree(p, seen, lambda _: shutil.rmtree(p / ".git/worktrees")),
    "worktree in the project": lambda p: nest(p, lambda s: git(p, "worktree", "add", "-q", str(s / "t"))) / "t",
}


def swap_git(project, make):
    (project / ".git").rename(project / "g")
    make(project / ".git")


def swap_folder(project, make):
    shutil.rmtree(project / ".hookonce")
    make(project / ".hookonce")


def is_asked_or_refused(ending):
    """Whether the hook itself has refused, or we have, with a reason and what to do."""
    return ending is not None and ending[0] == "deny" and (ending[1] == "no" or "hookonce trust" in ending[1])


@pytest.mark.part(3)
@pytest.mark.parametrize("way", WAYS)
def test_whatever_an_agent_does_to_a_trusted_project_its_guard_is_asked_or_the_call_refused(agreed, way):
    """
    What cannot be asked any more says why, and how to go on.
    """
    assert ("deny", "no") == answer(agreed)
    assert None is answer(agreed, "ls")

    found = WAYS[way](agreed)
    where = found if isinstance(found, Path) else agreed
    ending = answer(where)

    assert is_asked_or_refused(ending), ending
    if ending[1] != "no":
        accept(ending[1])
        again = answer(where)
        assert again is None or again[1] == "no" or (way in REPAIRED_ONLY and again[0] == "deny"), again


# What a person cannot agree to, because nothing could run, or turn it off, that somebody has seen.
REPAIRED_ONLY = {
    *("remove the script", "rename the script", "script that cannot be read", "script that is a folder"),
    *("script as a pipe", "script as an endless file", "policy that cannot be read"),
    *("policy as a link", "policy as a folder", "policy as a pipe"),
}


def accept(reason):
    """Do what a refusal says that a person can do: agree to what is there, else to what is not."""
    folder = find_trust_project(Path(reason.partition("(hookonce trust ")[2].partition(")")[0]))
    proposals = list_proposals(folder)
    if proposals and all(proposal.pin for proposal in proposals):
        trust_proposals(folder, proposals)
    else:
        assert f"(hookonce trust --absent {folder})" in reason
        trust_proposals(folder, [propose_absence(folder)])


def test_warm_and_cold_are_alike_and_what_comes_back_counts_again(home, project):
    """
    A daemon looks at what is there at each call, and so does a process of its own.
    """
    for way, back in (
        ("append to the script", lambda: write_script(script_of(project))),
        ("policy that turns all off", (project / ".hookonce" / "policy.json").unlink),
        ("empty .git file in a subfolder", (project / "sub" / ".git").unlink),
        ("remove the manifest", lambda: write_manifest(manifest_of(project), HOOK)),
        ("project moved, and no .hookonce", lambda: None),
    ):
        assert ("deny", "no") == ask(home, project)
        assert None is ask(home, project, "ls")
        where = WAYS[way](project)
        where = where if isinstance(where, Path) else project
        for env in (home.env, home.cold_env):
            assert is_asked_or_refused(ask(home, where, env=env)), way
        back()


@pytest.fixture(params=["native", "python"])
def any_client(request, home, project):
    """The home with either client, none of them warm."""
    if request.param == "python":
        script = Path(__file__).parents[2] / "src" / "hookonce" / "client" / "native" / "hookonce-on.sh"
        home.client.write_bytes(script.read_bytes())
    (home.house / "daemon.failed").write_bytes(b"")
    home.kill()
    return home


def limited(home, limit, cwd, **options):
    """Call as a shell that has less than it needs."""
    words = ["sh", "-c", f'{limit}; exec "$0" "$@"', home.client, *TOOL]
    given = payload("rm -rf /", cwd=str(cwd))
    return subprocess.run(
        words, input=given, capture_output=True, cwd=cwd, env=home.cold_env, timeout=60, check=False, **options
    )


def is_refusal(done):
    """Whether Claude Code takes an ending for a refusal."""
    return done.returncode == 2 or (done.returncode == 0 and b'"deny"' in done.stdout)


LIMITS = ["ulimit -v 20000", "ulimit -v 4000", "ulimit -u 1", "ulimit -f 0", *(f"ulimit -n {number}" for number in (0, 3, 4, 5, 6, 8, 12))]

NO_LIBRARY = {"ulimit -n 0", "ulimit -n 3", "ulimit -v 4000"}  # with which no library may be loaded


@pytest.mark.part(3)
@pytest.mark.parametrize("limit", LIMITS)
def test_a_guard_that_lacks_what_it_needs_to_run_refuses(any_client, project, limit):
    """
    Memory, processes, files, descriptors: with less than it takes, nobody is let pass.
    """
    if limit in NO_LIBRARY and b"ld-linux" in any_client.client.read_bytes():
        link_statically(any_client)
    elif limit in NO_LIBRARY and any_client.client.read_bytes().startswith(b"#!"):
        pytest.skip("not even a shell can be loaded")
    done = limited(any_client, limit, project / "sub")
    assert is_refusal(done), done


def link_statically(home):
    """The client as it is shipped: where nothing can be opened, no library can be either."""
    source = Path(__file__).parents[2] / "src" / "hookonce" / "client" / "native" / "hookonce-on.c"
    done = subprocess.run(
        ["cc", "-static", "-Os", "-std=c11", "-o", home.client, source], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip("there is no static C library here")


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "way", ["no interpreter", "no package", "interpreter that fails", "interpreter that is killed"]
)
def test_a_guard_refuses_when_hookonce_itself_cannot_run(any_client, project, way):
    """
    In the project, below it, behind a link, in a nested repository and where the folder was removed; not beside it.
    """
    home, file = any_client, any_client.bin / "interpreter"
    lines = file.read_text(encoding="utf-8").splitlines()
    python = home.home / "python"
    write_script(python, {"interpreter that fails": "#!/bin/sh\nexit 1\n"}.get(way, "#!/bin/sh\nkill -9 $$\n"))
    lines[0] = "/nonexistent" if way == "no interpreter" else lines[0] if way == "no package" else str(python)
    lines[2:] = ["/nonexistent"] if way == "no package" else lines[2:]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    git(project / "sub", "init", "-q")
    gone = project / "gone"
    gone.mkdir()

    for cwd in (project, project / "sub", link_outside(project, project / "sub")):
        assert is_refusal(limited(home, ":", cwd)), cwd
    assert is_refusal(limited(home, f"rmdir {gone}", gone))
    assert not is_refusal(limited(home, ":", project.parent))
    write_manifest(project.parent / "project-other" / "x")
    assert not is_refusal(limited(home, ":", project.parent / "project-other"))


def test_a_moved_project_refuses_without_an_interpreter(any_client, project):
    """
    The folder is known by itself, also from below; what lies beside it is free.
    """
    (any_client.bin / "interpreter").write_text("/nonexistent\n", encoding="utf-8")
    moved = move(project)
    assert is_refusal(limited(any_client, ":", moved))
    assert is_refusal(limited(any_client, ":", moved / "sub"))
    assert not is_refusal(limited(any_client, ":", moved.parent))


NOWHERE = ["unshare", "--mount", "--propagation", "private", "sh", "-c", 'umount -l /proc && rmdir "$PWD" && exec "$0" "$@"']


def test_a_directory_that_nobody_can_tell_may_lie_in_a_guarded_project(any_client, project):
    """
    It is refused there, as without an interpreter, and the log says why; where no project is guarded it is free.
    """
    if shutil.which("unshare") is None or subprocess.run([*NOWHERE[:-3], "umount", "-l", "/proc"], check=False).returncode:
        pytest.skip("this account may not take /proc away from a process")
    words, env, gone = [*NOWHERE, any_client.client, *TOOL], any_client.cold_env, project / "gone"
    for is_guarded in (True, False):
        gone.mkdir()
        done = subprocess.run(words, input=payload("rm -rf /"), capture_output=True, cwd=gone, env=env, check=False)
        assert is_guarded == is_refusal(done), done
        with any_client.inside():
            assert "the directory of this call is unknown" in paths.log_path().read_text(encoding="utf-8")
            revoke_pins(project)


def test_a_worktree_that_was_seen_refuses_without_an_interpreter(any_client, project):
    """
    It is known by its path and its inode.
    """
    tree = worktree(project, lambda _: None)
    for _ in range(2):
        assert ("deny", "no") == ask(any_client, tree, env=any_client.cold_env)
    (any_client.bin / "interpreter").write_text("/nonexistent\n", encoding="utf-8")
    assert is_refusal(limited(any_client, ":", tree / "sub"))


@pytest.mark.part(2)
@pytest.mark.parametrize("stdout", [">/dev/full", ">&-"])
@pytest.mark.parametrize("has_python", [True, False])
def test_a_refusal_that_cannot_be_written_is_an_exit_code(any_client, project, stdout, has_python):
    """
    A refusal that nobody can read ends with 2, and a reason on stderr.
    """
    if not has_python:
        (any_client.bin / "interpreter").write_text("/nonexistent\n", encoding="utf-8")
    done = limited(any_client, f"exec {stdout}", project)
    assert 2 == done.returncode
    assert done.stderr


@pytest.mark.parametrize("stdout", [">/dev/full", ">&-"])
def test_a_daemons_refusal_that_cannot_be_written_is_an_exit_code(home, project, stdout):
    """
    And who has no opinion blocks nothing.
    """
    home.warm()
    words = ["sh", "-c", f'exec {stdout}; exec "$0" "$@"', home.client, *TOOL]
    for command, code in (("rm -rf /", 2), ("ls", 0)):
        given = payload(command, cwd=str(project))
        done = subprocess.run(words, input=given, capture_output=True, cwd=project, env=home.env, check=False)
        assert code == done.returncode


def test_what_was_trusted_before_counts_again_and_an_accepted_absence_holds_for_its_branch(agreed):
    """
    Checking out an old branch does not lock anybody out for good, and taking the hooks away on another one does.
    """
    git(agreed, "checkout", "-qb", "old")
    script_of(agreed).write_text(SCRIPT + "# other\n")
    assert "hookonce trust" in answer(agreed, "ls")[1]
    git(agreed, "checkout", "-q", ".")
    assert None is answer(agreed, "ls")

    deleted_folder(agreed)
    assert "hookonce trust --absent" in answer(agreed, "ls")[1]
    trust_proposals(agreed, [propose_absence(agreed)])
    assert None is answer(agreed)
    write_manifest(manifest_of(agreed), ALLOWING)
    assert "deny" == answer(agreed)[0]
    deleted_folder(agreed)
    git(agreed, "checkout", "-q", "main")
    assert "deny" == answer(agreed)[0]
    git(agreed, "checkout", "-q", ".")
    assert ("deny", "no") == answer(agreed)


@pytest.mark.part(2)
@pytest.mark.parametrize("has_git", [True, False])
@pytest.mark.parametrize("change", ["", "# other\n"])
@pytest.mark.parametrize("absent", [deleted_folder, broken_manifest])
def test_who_trusts_hooks_that_are_back_ends_the_absence_on_that_branch(agreed, has_git, change, absent):
    """
    Without git there is one branch; what was agreed to on another one stays, and so it does when OpenHook's is trusted.
    """
    if has_git:
        git(agreed, "checkout", "-qb", "other")
        deleted_folder(agreed)
        trust_proposals(agreed, [propose_absence(agreed)])
        git(agreed, "checkout", "-qf", "main")
    else:
        shutil.rmtree(agreed / ".git")
        agree(agreed)
    kept = {file: file.read_text() for file in (manifest_of(agreed), script_of(agreed))}
    absent(agreed)
    trust_proposals(agreed, [propose_absence(agreed)])
    (agreed / ".openhook.json").write_text('{"spec": "openhook/0.1", "hooks": []}')
    trust_proposals(agreed, [])
    assert None is answer(agreed)
    for file, text in kept.items():
        write_script(file, text + (change if file.suffix == ".sh" else ""))
    trust_proposals(agreed, [proposal for proposal in list_proposals(agreed) if not proposal.is_current])
    assert ("deny", "no") == answer(agreed)
    absent(agreed)
    assert "deny" == answer(agreed, "ls")[0]
    if has_git:
        git(agreed, "symbolic-ref", "HEAD", "refs/heads/other")
        shutil.rmtree(agreed / ".hookonce", ignore_errors=True)
        assert None is answer(agreed)


def test_a_hook_with_a_matcher_refuses_what_it_would_have_been_asked_about(agreed):
    """
    What it was never asked about goes on, so that people can repair things with their agent.
    """
    write_manifest(manifest_of(agreed), {**HOOK, "matcher": "file_read"})
    revoke_pins(agreed)
    agree(agreed)
    deleted_folder(agreed)
    assert None is answer(agreed)
    assert "deny" == answer(agreed, tool_name="Read", tool_input={"file_path": "/x"})[0]


def test_who_forgets_a_nested_project_forgets_nothing_around_it(agreed):
    """
    Nor can anybody agree there to hooks of another project being gone.
    """
    inner = nest(agreed, lambda folder: git(folder, "init", "-q"))
    assert [] == find_own_guards(inner)
    assert 0 == revoke_pins(inner)
    assert ("deny", "no") == answer(inner)


def test_nobody_holds_up_a_call_in_a_new_worktree(agreed, tmp_path):
    """
    Whoever holds the lock of the pins keeps a worktree from being remembered, and no hook from being asked.
    """
    with (tmp_path / ".local" / "share" / "hookonce" / "trust.lock").open("wb") as lock:
        flock(lock, LOCK_EX)
        assert ("deny", "no") == answer(worktree(agreed, lambda _: None))


def test_pins_that_cannot_be_read_refuse_and_say_why(agreed, tmp_path):
    """
    Nobody knows then which hooks must be asked.
    """
    file = tmp_path / ".local" / "share" / "hookonce" / "trust.json"
    for make in (lambda: file.write_text("{"), file.mkdir, lambda: os.mkfifo(file)):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
        make()
        assert "trust.json cannot be read" in answer(agreed, "ls")[1]


# What a command line really runs: the command, its files, and the file that is changed after a person has agreed.
G, LIB = ".hookonce/guard", ".hookonce/lib"
RUNS = {
    "relative interpreter": (f"./{G}", {G: f"#!{LIB}\n", LIB: SCRIPT}, LIB),
    "interpreter that env is given": (f"./{G}", {G: f"#!/usr/bin/env {LIB}\n", LIB: SCRIPT}, LIB),
    "interpreter in the project": (f"./{G}", {G: f"#!PROJECT/{LIB}\n", LIB: SCRIPT}, LIB),
    "script of an interpreter": (f"./{G}", {G: f"#!/bin/sh {LIB}\n", LIB: SCRIPT}, LIB),
    "sourced file": (f"./{G}", {G: f"#!/bin/sh\n. {LIB}\n", LIB: SCRIPT}, LIB),
    "sourced file of a sourced file": (f"./{G}", {G: "#!/bin/sh\n. ./a\n", "a": f"source {LIB}\n", LIB: SCRIPT}, LIB),
    "sourced file beside it": (f"./{G}", {G: '#!/bin/sh\n. "$(dirname "$0")/lib"\n', LIB: SCRIPT}, LIB),
    "sourced file by our variable": (f"./{G}", {G: f'#!/bin/sh\n. "$HOOKONCE_HOOK_DIR/{LIB}"\n', LIB: SCRIPT}, LIB),
    "sourced file in a choice": (f"sh {G}", {G: f"case x in x) . {LIB};; esac\n", LIB: SCRIPT}, LIB),
    "sourced file that comes later": (f"./{G}", {G: f"{SCRIPT}[ -f x ] && . ./x\n"}, "x"),
    "module": ("python3 -m guardm", {"guardm.py": "import sys\nsys.exit(2)\n"}, "guardm.py"),
    "module that is a package": ("python3 -m m", {"m/__main__.py": "import sys\nsys.exit(2)\n"}, "m/__main__.py"),
    "module that node looks for": ("node guard", {"guard.js": "process.exit(2)\n"}, "guard.js"),
    "folder that python runs": ("python3 sub", {"sub/__main__.py": "import sys\nsys.exit(2)\n"}, "sub/__main__.py"),
    "variable": (f"X={LIB}; sh $X", {LIB: SCRIPT}, LIB),
    "input": (f"sh <{LIB}", {LIB: "exit 2\n"}, LIB),
    "file of a shell's variable": (f"BASH_ENV={LIB} bash -c 'exit 2'", {LIB: ":\n"}, LIB),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_command_line_really_runs_is_pinned(agreed, name):
    """
    A file that is changed afterwards does not run.
    """
    command, files, later = RUNS[name]
    for file, text in files.items():
        write_script(agreed / file, text.replace("PROJECT", str(agreed)))
    write_manifest(manifest_of(agreed), {**HOOK, "handler": {"type": "command", "command": command}})
    agree(agreed)
    if shutil.which(command.split()[0]) or command.startswith("./"):
        assert "required hooks" not in answer(agreed)[1]

    write_script(agreed / later, "#!/bin/sh\ntouch ran\nexit 0\n")

    assert "required hooks" in answer(agreed)[1]
    assert not (agreed / "ran").exists()


TOLD = {
    "python3 -m x": "-m",
    "python3 -mx": "-mx",
    "perl -wIlib x": "-wIlib",
    "node -r ./x y.js": "-r",
    "ruby -Ilib x.rb": "-Ilib",
    "python3 x": "x",
    "bash x": "x",
    "cd .. && ./x": "cd .. && ./x",
    "command cd sub; sh x": "command cd sub; sh x",
    "pushd sub; ./x": "pushd sub; ./x",
    "chdir /; x": "chdir /; x",
    "PATH=sub:$PATH x": "PATH=sub:$PATH",
    "PATH=sub x": "sub",
    "HOOKONCE_HOOK_DIR=sub; . $HOOKONCE_HOOK_DIR/y": "$HOOKONCE_HOOK_DIR/y",
    "sh sub/f*": "sub/f*",
    "env -C sub ./x": "sub",
}


@pytest.mark.parametrize("command", TOLD)
def test_what_nobody_can_pin_is_told_before_anyone_agrees(agreed, command):
    """
    Who runs what nobody has seen is asked for --allow-unpinned.
    """
    write_manifest(manifest_of(agreed), {**HOOK, "handler": {"type": "command", "command": command}})
    assert TOLD[command] in unpinned_words(list_proposals(agreed))


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("#!/usr/bin/env python3\n", "the interpreter of .hookonce/a.sh is the python3 that is found when it runs"),
        ("#!/bin/sh\nexec sh file\n", ".hookonce/a.sh names file, which is not pinned"),
        ("#!/bin/sh\nexec sh $HOOKONCE_HOOK_DIR/file\n", ".hookonce/a.sh names file, which is not pinned"),
    ],
)
def test_what_a_script_runs_itself_is_a_warning(agreed, text, warning):
    """
    Such scripts are what most people write.
    """
    write_script(agreed / "file")
    write_script(script_of(agreed), text)
    assert warning in list_proposals(agreed)[0].text


def test_a_program_that_runs_what_it_finds_is_told(agreed):
    """
    No word of the command says what that is.
    """
    write_manifest(manifest_of(agreed), {**HOOK, "handler": {"type": "command", "command": "make guard"}})
    assert "which runs what it finds in the project" in list_proposals(agreed)[0].text


@pytest.fixture
def user_hook(tmp_path, monkeypatch):
    """Writes a hook of a user who has no project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return lambda **more: write_manifest(tmp_path / ".config" / "hookonce" / "hooks.json", {**HOOK, **more})


@pytest.mark.part(2)
@pytest.mark.parametrize(
    "output", ["garbage", '{"decision": "blo', '{"hookSpecificOutput": {"permissionDec', "[]", "{} {}"]
)
@pytest.mark.parametrize("dialect", ["claude-code", "gemini-cli", "codex", "cursor", "canonical"])
def test_a_closed_hook_of_any_dialect_that_answers_garbage_refuses(user_hook, tmp_path, output, dialect):
    """
    Its own agent would go on; who said closed wanted an answer.
    """
    write_script(tmp_path / "answer", f"#!/bin/sh\ncat >/dev/null\nprintf '%s' '{output}'\n")
    user_hook(dialect=dialect, handler={"type": "command", "command": str(tmp_path / "answer")})
    assert "deny" == answer(tmp_path, "ls")[0]
    write_script(tmp_path / "answer", "#!/bin/sh\ncat >/dev/null\n")
    assert None is answer(tmp_path, "ls")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"handler": {**HOOK["handler"], "async": True}}, "handler.async"),
        ({"handler": {**HOOK["handler"], "timeout_action": "warn"}}, "handler.timeout_action"),
        ({"event": "session_end"}, "event"),
        ({"matcher": []}, "matcher"),
    ],
)
def test_what_can_never_refuse_is_no_closed_hook(change, place):
    """
    `check` says so.
    """
    check = DOCUMENT_CHECKS["manifest"]
    problems, _ = check({"spec": "hooks/1.0", "hooks": [{**HOOK, **change}]}, False)
    assert [f"$.hooks[0].{place}"] == [path for path, _ in problems]
    assert [] == check({"spec": "hooks/1.0", "hooks": [{**HOOK, **change, "on_failure": "open"}]}, False)[0]


def link_to_nothing(folder, name):
    """The manifest, or with "." its folder, becomes a link to nothing."""
    shutil.rmtree(folder)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to("/nonexistent")


def second_manifest(folder):
    (folder / "hooks.yaml").touch()


def folder_instead(folder):
    (folder / "hooks.json").unlink(missing_ok=True)
    (folder / "hooks.json").mkdir()


BREAKAGES = {
    "link": lambda folder: link_to_nothing(folder, "hooks.json"),
    "other link": lambda folder: link_to_nothing(folder, "hooks.yaml"),
    "link of the folder": lambda folder: link_to_nothing(folder, "."),
    "second manifest": second_manifest,
    "folder": folder_instead,
}


@pytest.mark.part(2)
@pytest.mark.parametrize("way", BREAKAGES)
def test_a_user_manifest_that_cannot_be_read_is_a_broken_one(home, way):
    """
    Such as dotfiles that are not mounted; open hooks go on, too. Who removes it for good has none.
    """
    hook = {
        **HOOK,
        "on_failure": "open",
        "handler": {"type": "command", "command": "cat >/dev/null; echo no >&2; exit 2"},
    }
    folder = home.hooks(hook).parent
    assert ("deny", "no") == ask(home, home.where)
    BREAKAGES[way](folder)
    assert ("deny", "no") == ask(home, home.where)
    assert ("deny", "no") == ask(home, home.where, env=home.cold_env)
    folder.unlink() if folder.is_symlink() else shutil.rmtree(folder)
    assert None is ask(home, home.where)


@pytest.mark.part(2)
@pytest.mark.parametrize("way", BREAKAGES)
@pytest.mark.parametrize("on_failure", ["open", "closed"])
def test_a_manifest_that_was_gone_for_a_moment_is_not_forgotten(tmp_path, monkeypatch, way, on_failure):
    monkeypatch.setenv("HOME", str(tmp_path))
    install_client()
    file = paths.config_dir() / "hooks.json"
    refusal = {"type": "command", "command": "cat >/dev/null; echo no >&2; exit 2"}
    write_manifest(file, {**HOOK, "on_failure": on_failure, "handler": refusal})
    assert ("deny", "no") == answer(tmp_path)
    file.unlink()
    assert None is answer(tmp_path)
    BREAKAGES[way](file.parent)
    assert "deny" == answer(tmp_path)[0]


# Other findings


def test_an_inode_that_is_used_again_is_no_project_that_was_moved(tmp_path, monkeypatch):
    """
    Where an inode has no generation its birth time counts; where it has none either, nobody can tell.
    """
    (tmp_path / "one").mkdir()
    time.sleep(0.05)  # a clock of the kernel may have ticks of ten milliseconds
    (tmp_path / "two").mkdir()

    def refuse(*_):
        raise OSError

    monkeypatch.setattr("fcntl.ioctl", refuse)
    one, two = (folder_identity(str(tmp_path / name)) for name in ("one", "two"))
    monkeypatch.setattr(pin_store, "_birth_time_ns", lambda _: 0)

    assert (one is None and two is None) or one[2] != two[2]
    assert folder_identity(str(tmp_path / "one")) is None


def test_a_hook_is_asked_once_where_its_folder_became_a_repository(tmp_path, monkeypatch):
    """
    Then it was agreed to twice, for two roots.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    outer = tmp_path / "outer"
    write_script(script_of(outer))
    write_manifest(manifest_of(outer), HOOK)
    agree(outer)
    git(outer, "init", "-q")
    agree(outer)
    git(tmp_path, "init", "-q", "outer/inner")

    candidates = find_candidates(outer / "inner", "before_tool_execute")

    assert ["guard"] == [candidate.hook.name for candidate in candidates]


def test_a_damaged_file_of_pins_leaves_the_daemon_an_answer(agreed):
    """
    The fast path knows nobody then, and the long way says why.
    """
    paths.pins_path().write_text("{")

    assert {} == table._build_table()["agents"]
    assert "deny" == answer(agreed)[0]
    assert "is damaged; move it away" in answer(agreed)[1]


def test_a_report_that_a_hook_writes_is_told_and_does_not_end_its_trust(agreed):
    """
    Else the hook would refuse everything from its first run on.
    """
    hook = {**HOOK, "handler": {"type": "command", "command": "true --junitxml=build/report.xml"}}
    write_manifest(manifest_of(agreed), hook)
    agree(agreed)
    told = unpinned_words(list_proposals(agreed))
    (agreed / "build").mkdir()
    (agreed / "build" / "report.xml").write_text("<a/>")

    assert "build/report.xml" in told
    assert answer(agreed) is None


@pytest.mark.parametrize("said", ["/", "/nonexistent", "/proc/self/cwd/..", "/tmp"])
def test_a_payload_leads_nobody_away_from_where_the_agent_runs(agreed, said, monkeypatch):
    """
    Its cwd counts, and so does the directory of the process that calls.
    """
    monkeypatch.chdir(agreed / "sub")

    assert "deny" == answer(said)[0]
    assert answer(said, "ls") is None


@pytest.mark.parametrize(
    "said",
    [
        '{"hookSpecificOutput": {"permissionDecision": "deny"}}',
        '{"permission": "deny"}',
        '{"permissionDecision": "deny"}',
        '{"Decision": "deny"}',
        '{"ok": false}',
        '{"cancel": true}',
    ],
)
def test_a_closed_hook_in_the_words_of_a_dialect_that_it_does_not_name_refuses(user_hook, tmp_path, said):
    """
    Else whoever forgets `dialect` has a guard that never refuses.
    """
    write_script(tmp_path / "answer", f"#!/bin/sh\ncat >/dev/null\nprintf '%s' '{said}'\n")
    user_hook(handler={"type": "command", "command": str(tmp_path / "answer")})
    assert "deny" == answer(tmp_path, "ls")[0]
    user_hook(handler={"type": "command", "command": str(tmp_path / "answer")}, on_failure="open")
    assert None is answer(tmp_path, "ls")
