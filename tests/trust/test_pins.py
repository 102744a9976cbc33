"""What a project's hooks may do before and after a person has agreed to them."""

import json
import os
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hookonce.base import paths
from hookonce.dispatch import pipeline
from hookonce.dispatch.dispatcher import answer_call
from hookonce.errors import HookonceError
from hookonce.manifest.load import parse_hook
from hookonce.model import Manifest
from hookonce.trust import pin_store
from hookonce.trust.consent import list_proposals, trust_proposals
from hookonce.trust.pin_store import (
    PinMismatch,
    add_pins,
    content_digest,
    find_trusted_hook,
    load_pins,
    revoke_pins,
    trust_root_of,
    verify_by_pins,
)
from hookonce.trust.pins import build_pin, copies_dir, find_references, store_copies
from tests.dispatch.pipeline_cases import goldens
from tests.manifest.projects import Project, command, git, house, notes, put
from tests.sample import EXHAUSTIVE, part

DENY = "echo no >&2; exit 2"


@pytest.fixture
def home(monkeypatch, tmp_path):
    return house(monkeypatch, tmp_path)


@pytest.fixture
def project(home, tmp_path):
    """A project with a script that refuses."""
    made = Project(tmp_path / "p", command("./guard.sh", blocking=True))
    made.put("guard.sh", f"#!/bin/sh\necho ran >>ran\n{DENY}\n")
    return made


def rewritten(project, text, **more):
    """A command as it runs after it was trusted, the copies' folder written as SHELF."""
    hook = parse_hook(command(text, **more))
    found = build_pin(project.folder, b"x", Manifest(spec="hooks/1.0", hooks=[hook]))
    add_pins(project.folder, [found])
    made = find_trusted_hook(project.folder, b"x", hook).handler.command
    return made.replace(str(copies_dir(trust_root_of(project.folder), found)), "SHELF")


def loose(project, text, **more):
    """What of a command cannot be pinned, and why."""
    hook = parse_hook(command(text, **more))
    return build_pin(project.folder, b"x", Manifest(spec="hooks/1.0", hooks=[hook])).loose


@pytest.mark.covers("OH-46")
def test_nothing_of_a_project_ever_runs_before_somebody_has_agreed(home, tmp_path, monkeypatch):
    """
    Not on any agent's event, whatever the files say; and after a person has agreed, the same hooks do run.
    """
    events = ["before_tool_execute", "after_tool_execute", "session_start", "session_end", "before_prompt", "agent_stop"]
    hooks = [command(f"echo {kind} >>ran", kind, blocking=True, on_failure="closed", may_allow=True) for kind in events]
    project = Project(tmp_path / "p", *hooks)
    project.observe({"command": "echo observer >>ran"}, {"command": "echo observer >>ran", "events": ["tool.start"], "async": True})
    monkeypatch.setattr(pipeline, "find_project", lambda _: project.folder)
    known = part(goldens(), 4)

    for agent, native, payload, _ in known:
        answer_call([agent, native, "--via", f"{agent}/user"], json.dumps(payload).encode(), dict(os.environ))
    assert "" == project.wrote()

    project.trust()
    some = {}
    for agent, native, payload, _ in known:
        some.setdefault(agent, (native, payload)) if "tool" in native.lower() else None
    for agent, (native, payload) in some.items():
        answer_call([agent, native], json.dumps(payload).encode(), dict(os.environ))
    assert project.wrote().count("\n") >= len(some) > 8


def test_an_untrusted_file_is_not_even_parsed(home, tmp_path, monkeypatch):
    """
    A few bytes of YAML can become a document that takes minutes to look at.
    """
    project = Project(tmp_path / "p")
    names = ", ".join(["*m"] * 20_000)
    put(project.folder / ".hookonce/hooks.yaml", f"m: &m {{event: x, matcher: [{'a, ' * 20_000}]}}\nspec: hooks/1.0\nhooks: [{names}]\n")
    monkeypatch.setattr("hookonce.manifest.discover.load_manifest", lambda _: pytest.fail("it was parsed"))

    project.ask()

    assert [f"the present version of {project.folder}/.hookonce/hooks.yaml is not trusted; hookonce trust shows it"] == notes()


def test_a_project_that_is_trusted_runs_from_read_only_copies_in_its_own_place(project):
    """
    Directory and HOOKONCE_HOOK_DIR are the project, and the script is not the project's own file.
    """
    project.put("guard.sh", '#!/bin/sh\npwd -P >ran; echo "$HOOKONCE_HOOK_DIR" >>ran; echo "$0" >>ran; exit 2\n')
    assert not project.denies()
    project.trust()
    assert project.denies()

    where, told, script = project.wrote().splitlines()
    assert (str(project.folder), str(project.folder)) == (where, told)
    assert script.startswith(str(paths.data_dir() / "trusted"))
    assert 0o555 == stat.S_IMODE(Path(script).stat().st_mode)


@pytest.mark.parametrize("name", ["guard.sh", ".hookonce/hooks.json", ".hookonce/policy.json", "lib.sh"])
@pytest.mark.covers("HIF-107")
def test_after_a_change_of_any_pinned_file_nothing_of_it_runs(project, name):
    """
    The script, the manifest, the policy, or a file that the manifest lists; and put back as it was, it is trusted again.
    """
    project.put("lib.sh", "# nothing\n")
    project.put(".hookonce/policy.json", "{}\n")
    project.write(command("./guard.sh", blocking=True, files=["lib.sh"]))
    project.trust()
    assert project.denies()
    file = project.folder / name
    before = file.read_bytes()

    file.write_bytes(before + b"\n")
    assert [False] == project.states()
    assert not project.denies()
    assert "ran\n" == project.wrote()
    assert any("trusted" in note for note in notes())

    file.write_bytes(before)
    assert project.denies()


def test_several_states_may_be_trusted_at_once(project):
    """
    Whoever goes from branch to branch is asked once for each.
    """
    project.trust()
    branch = f"#!/bin/sh\necho branch >>ran\n{DENY}\n"
    main = (project.folder / "guard.sh").read_text(encoding="utf-8")
    project.put("guard.sh", branch)
    assert not project.denies()
    project.trust()
    assert project.denies()
    project.put("guard.sh", main)
    assert project.denies()

    assert "branch\nran\n" == project.wrote()
    assert 2 == len(load_pins(project.folder))


def test_revoking_forgets_all_of_it_and_the_copies_too(project):
    """
    Nothing runs afterwards, and nothing is left of it.
    """
    project.trust()
    assert 1 == revoke_pins(project.folder)
    assert 0 == revoke_pins(project.folder)
    assert not project.denies()
    assert [] == list((paths.data_dir() / "trusted").iterdir())


def test_a_file_that_is_exchanged_between_check_and_run_does_not_run(project, monkeypatch):
    """
    What was checked is the copy, and the copy is what runs.
    """
    project.trust()
    evil = project.put("evil.sh", "#!/bin/sh\necho evil >>ran\n")

    def exchange(*arguments, real=pipeline.hooks_task):
        guard = project.folder / "guard.sh"
        guard.unlink()
        guard.symlink_to(evil)
        return real(*arguments)

    monkeypatch.setattr(pipeline, "hooks_task", exchange)
    assert project.denies()
    assert "ran\n" == project.wrote()
    assert not project.denies()


@pytest.mark.parametrize("where", ["outside", "inside"])
def test_links_are_pinned_by_what_they_lead_to_and_never_lead_out(project, tmp_path, where):
    """
    A link to a file of the project counts as that file; one that leads out of the project cannot be pinned.
    """
    target = put((tmp_path if where == "outside" else project.folder) / "real.sh", f"#!/bin/sh\n{DENY}\n")
    (project.folder / "guard.sh").unlink()
    (project.folder / "guard.sh").symlink_to(target)

    (found,) = list_proposals(project.folder)
    assert ({}, {"guard.sh": "not a regular file of the project"})[where == "outside"] == found.pin.loose
    if where == "outside":
        return
    project.trust()
    assert project.denies()
    other = project.put("other.sh", "#!/bin/sh\necho other >>ran\n")
    (project.folder / "guard.sh").unlink()
    (project.folder / "guard.sh").symlink_to(other)
    assert not project.denies()
    assert "" == project.wrote()


def test_a_damaged_copy_does_not_run(project):
    """
    Neither one that was written over nor one that is gone; trust puts it back.
    """
    project.trust()
    copy = copies_dir(trust_root_of(project.folder), load_pins(project.folder)[0]) / "guard.sh"
    copy.chmod(0o755)
    copy.write_text("#!/bin/sh\necho evil >>ran\n", encoding="utf-8")
    assert not project.denies()
    assert ["before_tool_execute did not run: the copy of guard.sh is gone or damaged; hookonce trust shows it"] == notes()
    copy.unlink()
    assert not project.denies()

    project.trust()
    assert project.denies()
    assert "ran\n" == project.wrote()
    assert 1 == len(load_pins(project.folder))


def test_scripts_find_what_lies_beside_them_if_it_is_pinned(project):
    """
    The copies lie as the files do in the project; what is not pinned is not there.
    """
    project.put("hooks/guard.sh", f'#!/bin/sh\n. "${{0%/*}}/../lib/deny.sh"\n{DENY}\n')
    project.put("lib/deny.sh", "echo lib >>ran\n")
    project.write(command("./hooks/guard.sh", blocking=True, files=["./lib/deny.sh"]))
    project.trust()
    assert project.denies()
    assert "lib\n" == project.wrote()

    project.put("lib/deny.sh", "echo evil >>ran\n")
    assert not project.denies()
    assert "lib\n" == project.wrote()


@pytest.mark.part(2)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("./x.sh", "SHELF/x.sh"),
        ("x.sh/../x.sh", "SHELF/x.sh"),
        ("./x.sh -v ./x.sh", "SHELF/x.sh -v SHELF/x.sh"),
        ("python ./x.py --flag=./y", "/bin/python SHELF/x.py --flag=SHELF/y"),
        ("python x.py -c./y -Iy", "/bin/python SHELF/x.py -cSHELF/y -ISHELF/y"),
        ("./x.sh ./x.sh2 ./x.shy y.x.sh", "SHELF/x.sh ./x.sh2 ./x.shy y.x.sh"),
        ("'./my script.sh' \"a b\"", "'SHELF/my script.sh' \"a b\""),
        ("./my\\ script.sh", "'SHELF/my script.sh'"),
        ('"./my"\\ \'script.sh\'', "'SHELF/my script.sh'"),
        ("./x.sh --a='./my script.sh' true", "SHELF/x.sh '--a=SHELF/my script.sh' true"),
        ("A=./y B='./my script.sh' ./x.sh", "A=SHELF/y B='SHELF/my script.sh' SHELF/x.sh"),
        ("./x.sh <./y >./y 2>>y", "SHELF/x.sh <SHELF/y >./y 2>>y"),
        ("./x.sh;./x.sh&&x.sh/../y|./y", "SHELF/x.sh;SHELF/x.sh&&SHELF/y|SHELF/y"),
        ("(./x.sh) # ./x.sh", "(SHELF/x.sh) # ./x.sh"),
        ("if [ -f ./y ]; then ./x.sh; fi", "if [ -f SHELF/y ]; then SHELF/x.sh; fi"),
        ('"$HOOKONCE_HOOK_DIR/x.sh" ${HOOKONCE_HOOK_DIR}/y', "SHELF/x.sh SHELF/y"),
        ("echo '$HOOKONCE_HOOK_DIR/x.sh'", "echo '$HOOKONCE_HOOK_DIR/x.sh'"),
        (". ./x.sh; exec ./x.sh", ". SHELF/x.sh; exec SHELF/x.sh"),
        ("env A=./y python x.py", "/bin/env A=SHELF/y /bin/python SHELF/x.py"),
        ("échø ./ünï.py", "échø SHELF/ünï.py"),
        ("echo ok", "echo ok"),
    ],
)
def test_the_copies_stand_exactly_where_the_files_are_named(project, monkeypatch, text, expected):
    """
    Quotes, options, redirections and names that begin alike: nothing else of the command is touched.
    """
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in {"python", "env"} else None)
    monkeypatch.setattr("hookonce.trust.pins.os.access", lambda *_: True)
    for name in ("x.sh", "x.py", "y", "my script.sh", "ünï.py"):
        project.put(name, "")

    made = rewritten(project, text)
    assert expected == made.replace("'SHELF/ünï.py'", "SHELF/ünï.py")


def test_absolute_paths_into_the_project_are_its_files_however_they_are_reached(project, tmp_path):
    """
    By its own path or by a link to it.
    """
    (tmp_path / "link").symlink_to(project.folder)
    assert "SHELF/guard.sh" == rewritten(project, f"{project.folder}/guard.sh")
    linked = Project(tmp_path / "link")
    assert "SHELF/guard.sh SHELF/guard.sh" == rewritten(linked, f"{tmp_path}/link/guard.sh {project.folder}/guard.sh")


def test_paths_count_from_where_the_hook_runs_and_its_script_from_where_it_lies(project):
    """
    `cwd` is the project's root or a folder below it.
    """
    for name in ("sub/y", "y", "x.sh", "sub/x.sh"):
        project.put(name, name)
    assert "SHELF/x.sh SHELF/sub/y SHELF/y" == rewritten(project, "./x.sh y ../y", handler={"cwd": "sub"})
    assert {"../y": "outside of the project"} == {k: v for k, v in loose(project, "../y", handler={"cwd": ".."}).items() if k == "../y"}


def test_the_command_of_this_system_is_the_one_that_is_pinned_and_runs(project):
    """
    Commands for other systems are nobody's business here.
    """
    hook = parse_hook(command("nobody", handler={"platform": {"linux": "./guard.sh", "windows": "evil.exe"}}))
    found = build_pin(project.folder, b"x", Manifest(spec="hooks/1.0", hooks=[hook]))
    assert (["guard.sh"], {}) == (list(found.files), found.loose)
    add_pins(project.folder, [found])
    safe_one = find_trusted_hook(project.folder, b"x", hook)
    assert ({}, True) == (safe_one.handler.platform, safe_one.handler.command.endswith("/guard.sh"))


@pytest.mark.parametrize(
    ("text", "more", "expected"),
    [
        ("sh -c './guard.sh --x'", {}, {"sh", "guard.sh", "./guard.sh --x"}),
        ("python3 -c 'import os; os.system(\"./guard.sh\")'", {}, {"python3", "guard.sh", 'import os; os.system("./guard.sh")'}),
        ("eval ./guard.sh", {}, {"guard.sh", "./guard.sh"}),
        ("eval './g*'; trap './g*' EXIT; alias a='./g*'", {}, {"./g*", "EXIT", "a=./g*"}),
        ("PS4='$(./g*)'; set -x", {}, {"PS4=$(./g*)"}),
        ('sh "$SCRIPT"', {"handler": {"env": {"SCRIPT": "./guard.sh"}}}, {"sh", "$SCRIPT", "guard.sh"}),
        ('"$X"/guard.sh', {}, {"$X/guard.sh", "guard.sh"}),
        ('sh "${X:-.}/guard.sh"', {}, {"sh", "${X:-.}/guard.sh", "guard.sh"}),
        ('"$(git rev-parse --show-toplevel)"/guard.sh', {}, {"$(git rev-parse --show-toplevel)/guard.sh", "guard.sh"}),
        ("$(cat guard.sh)", {}, {"$(cat guard.sh)", "guard.sh"}),
        ("cat *.sh", {}, {"cat", "*.sh"}),
        ("cd sub && ./guard.sh", {}, {"cd sub && ./guard.sh", "guard.sh", "sub"}),
        ("a() { ./guard.sh; }; a", {}, {"a() { ./guard.sh; }; a", "guard.sh"}),
        ("./guard.sh --paths=a:guard.sh,b", {}, {"guard.sh"}),
        ("./gone.sh", {}, {"gone.sh"}),
        ("python3 gone.py", {}, {"python3", "gone.py"}),
        ("ls sub .", {}, {"ls", "sub", "."}),
        ("/bin/sh /etc/passwd", {}, {"/bin/sh", "/etc/passwd"}),
        ("../other.sh", {}, {"../other.sh"}),
        ("~/x.sh", {}, {"~/x.sh"}),
        ("./guard.sh", {"files": ["gone", "sub", "/etc/passwd", "../p/guard.sh"]}, {"gone", "sub", "/etc/passwd"}),
        ("./guard.sh >out.txt 2>/dev/null", {}, set()),
        ("true >`./guard.sh`", {}, {"`./guard.sh`", "guard.sh"}),
        ("echo no >&2; exit 2", {}, set()),
        ("[ -f guard.sh ] && . ./guard.sh", {}, set()),
    ],
)
def test_what_cannot_be_pinned_is_listed(project, text, more, expected):
    """
    Programs, code, variables, folders, what is not there or not in the project: all of it needs a word of its own.
    """
    (project.folder / "sub").mkdir()
    found = loose(project, text, **more)
    assert expected == set(found)
    assert all(found.values())


def test_what_is_only_mentioned_is_watched_all_the_same(project):
    """
    A script that is named in code or by a variable is read where it lies, but not after it was changed.
    """
    project.write(command("sh -c './guard.sh'", blocking=True))
    project.trust()
    assert project.denies()
    project.put("guard.sh", "#!/bin/sh\necho evil >>ran\n")
    assert not project.denies()
    assert "ran\n" == project.wrote()


def test_what_was_not_there_is_not_trusted_when_it_comes(project):
    """
    Otherwise a hook could be made to find something else than was agreed to.
    """
    project.write(command("./guard.sh later", blocking=True))
    project.trust()
    assert project.denies()
    project.put("later", "")
    assert not project.denies()
    assert ["before_tool_execute did not run: later did not exist when the hook was trusted; hookonce trust shows it"] == notes()


def test_a_program_is_the_one_that_was_shown_whatever_path_says_later(project, tmp_path, monkeypatch):
    """
    A repository that puts itself first on the PATH does not get to run in a trusted hook's name.
    """
    good = put(tmp_path / "good/tool", f"#!/bin/sh\necho good >>ran\n{DENY}\n")
    project.put("bin/tool", "#!/bin/sh\necho evil >>ran\n")
    monkeypatch.setenv("PATH", f"{good.parent}:{os.environ['PATH']}")
    project.write(command("tool", blocking=True))
    project.trust()

    monkeypatch.setenv("PATH", f"{project.folder}/bin:bin:{os.environ['PATH']}")
    assert project.denies()
    assert "good\n" == project.wrote()

    good.unlink()
    assert not project.denies()
    assert "good\n" == project.wrote()


def test_trust_belongs_to_a_repository_and_its_worktrees_share_it(home, tmp_path):
    """
    Another repository with the same files is another matter.
    """
    project = Project(tmp_path / "p", command(DENY, blocking=True))
    shutil.rmtree(project.folder / ".git")
    git(project.folder, "init", "-q")
    git(project.folder, "add", ".")
    git(project.folder, "commit", "-qm", "one")
    git(project.folder, "worktree", "add", "-q", "../tree")
    git(project.folder, "clone", "-q", ".", "../clone")
    project.trust()

    other = [tmp_path / name for name in ("tree", "clone")]
    assert [True, False] == ['"deny"' in Project.ask(_at(folder)).stdout for folder in other]
    assert trust_root_of(project.folder) == trust_root_of(other[0]) == str(project.folder / ".git")
    assert [str(project.folder)] == [trust_root_of(folder) for folder in [_without_git(project.folder)]]


def _at(folder):
    made = object.__new__(Project)
    made.folder = folder
    return made


def _without_git(folder):
    shutil.rmtree(folder / ".git")
    return folder


@pytest.mark.parametrize("claim", ["a link", "a file", "a forged worktree", "a file of nonsense", "a worktree's own name"])
def test_a_repository_that_claims_to_be_another_one_shares_nothing(project, tmp_path, claim):
    """
    Whoever wrote the files in a folder could name any repository; only the repository's own word counts.
    """
    git_folder = project.folder / ".git"
    evil = tmp_path / "evil"
    evil.mkdir()
    match claim:
        case "a link":
            (evil / ".git").symlink_to(git_folder)
        case "a file":
            put(evil / ".git", f"gitdir: {git_folder}\n")
        case "a forged worktree":
            put(evil / "fake/worktrees/x/gitdir", f"{evil}/.git\n")
            put(evil / "fake/worktrees/x/commondir", f"{git_folder}\n")
            put(evil / "fake/HEAD", "ref: refs/heads/main\n")
            put(evil / ".git", "gitdir: fake/worktrees/x\n")
        case "a file of nonsense":
            put(evil / ".git", b"gitdir: \xff\0\n")
        case "a worktree's own name":
            put(git_folder / "worktrees/x/gitdir", f"{tmp_path}/tree/.git\n")
            put(evil / ".git", f"gitdir: {git_folder}/worktrees/x\n")

    assert trust_root_of(project.folder) != trust_root_of(evil)
    assert str(evil / "fake" if claim == "a forged worktree" else evil) == trust_root_of(evil)


def test_a_folder_whose_inode_was_used_before_is_no_project_that_was_moved(tmp_path):
    """
    Numbers are given again; device, number and generation together are one folder.
    """
    status, generation = tmp_path.stat(), pin_store._generation_of(str(tmp_path))
    roots = [(generation, "this one"), (generation + 1, "one that is gone")]

    index = pin_store._GuardIndex([], {}, {(status.st_dev, status.st_ino): roots})

    assert ["this one"] == pin_store._roots_by_inode(str(tmp_path), index)


@pytest.mark.part(2)
@pytest.mark.parametrize("name", ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "HOOKONCE_TRUST", "HOOKONCE_HOOK_DIR", "XDG_DATA_HOME", "AGENT_HOOKS_LOG", "PYTHONPATH", "PYTHONSTARTUP", "PWD"])
def test_no_variable_makes_an_untrusted_hook_run(home, tmp_path, monkeypatch, name):
    """
    Wherever they lead: to a repository that is trusted, or to files that the repository has brought.
    """
    good = Project(tmp_path / "good", command(DENY, blocking=True))
    good.trust()
    evil = Project(tmp_path / "evil", command(DENY, blocking=True))
    put(evil.folder / "hookonce/trust.json", (paths.data_dir() / "trust.json").read_bytes())
    for value in (good.folder / ".git", good.folder, evil.folder, "1"):
        monkeypatch.setenv(name, str(value))
        assert not evil.denies()
    assert good.denies()
    assert not (evil.folder / "1").exists()


def test_a_damaged_list_of_pins_trusts_nothing_refuses_and_is_not_written_over(project):
    """
    What cannot be read is somebody's, and may name a hook that must be asked: a person decides about it.
    """
    project.trust()
    file = paths.data_dir() / "trust.json"
    good = file.read_bytes()
    for data in (b"", b"{", b"[]", b'{"x": 1}', b"\xff"):
        file.write_bytes(data)
        assert project.denies()
        assert "" == project.wrote()
        with pytest.raises(HookonceError, match="damaged"):
            project.trust()
        assert data == file.read_bytes()
    file.write_bytes(good)
    assert project.denies()
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)


def test_a_file_that_changes_while_a_person_reads_is_not_trusted(project):
    """
    What was shown is what is kept, or nothing is.
    """
    found = list_proposals(project.folder)
    project.put("guard.sh", "#!/bin/sh\necho evil >>ran\n")
    with pytest.raises(HookonceError, match=r"nothing was trusted: guard\.sh has changed meanwhile"):
        trust_proposals(project.folder, found)
    assert [] == load_pins(project.folder)
    assert [] == list((paths.data_dir() / "trusted").iterdir())


def test_a_hook_without_a_pin_says_why(project):
    """
    The sentence goes to the record.
    """
    with pytest.raises(PinMismatch, match="it is not trusted"):
        verify_by_pins(project.folder, parse_hook(command("true")), [])


def test_no_name_leads_a_copy_out_of_its_folder(project, tmp_path):
    """
    Whatever way to a file of the project a hook writes down, the copy lies with the others.
    """
    hook = parse_hook(command("./../p/guard.sh", files=["../p/./guard.sh", f"{project.folder}/guard.sh"]))
    found = build_pin(project.folder, b"x", Manifest(spec="hooks/1.0", hooks=[hook]))
    assert ["guard.sh"] == list(found.files)
    store_copies(project.folder, "root", found)
    assert ["guard.sh"] == [path.name for path in copies_dir("root", found).rglob("*")]


WORDS = st.lists(st.sampled_from(["./x.sh", "x.sh", "'my file'", "my\\ file", "--f=./x.sh", "A=x.sh", "python3", "sh", "-c", "&&", ";", "|", ">out", "<x.sh", "$X", '"$HOOKONCE_HOOK_DIR/x.sh"', "sub/x.sh", "x.sh2", "(", ")", "if", "then", "cd", "env"]), max_size=7)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORDS)
def test_a_line_with_copies_has_the_same_words_but_for_the_copies(project, texts):
    """
    Whatever a command says, only words that name pinned files or programs are written otherwise.
    """
    for name in ("x.sh", "my file", "sub/x.sh"):
        project.put(name, "")
    line = " ".join(texts)
    hook = parse_hook(command(line or "true"))
    found = build_pin(project.folder, line.encode(), Manifest(spec="hooks/1.0", hooks=[hook]))
    add_pins(project.folder, [found])
    made = find_trusted_hook(project.folder, line.encode(), hook)
    place = str(copies_dir(trust_root_of(project.folder), found))

    assert made is not None
    before, after = find_references(project.folder, hook), made.handler.command
    assert all(name in found.files or name in found.loose or not (project.folder / name).exists() for name in before.mentions)
    if "(" not in line and ")" not in line:
        old, new = (shlex.split(text, comments=True) for text in (line or "true", after))
        assert len(old) == len(new)
        for one, other in zip(old, new, strict=True):
            assert one == other or place in other or other in found.programs.values()


PARTS = st.sampled_from(
    ["./x.sh", "x.sh", '"./x.sh"', "'./x'.sh", "./x\\.sh", "sub/../x.sh", '"$HOOKONCE_HOOK_DIR"/x.sh', "sh x.sh", ". ./x.sh", "exec ./x.sh", "env A=./x.sh ./x.sh", "sh <x.sh", "cat x.sh | sh", "sh -e ./x.sh", "A=x.sh sh x.sh", "command ./x.sh", "if ./x.sh", "then", "fi", "!", "&&", "||", ";", "|", "&", "(", ")", "{", "}", "\n", "# ", ">out", ">`./x.sh`", "2>&1", "-x", "while false", "do", "done", "for f in x.sh", "\\\n"]
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200 if EXHAUSTIVE else 80)
@given(st.lists(PARTS, min_size=1, max_size=6))
def test_a_real_shell_runs_nothing_but_the_copies(project, parts):
    """
    Whatever a command looks like: if all of it could be pinned, no file of the project itself is read any more.
    """
    put(project.folder / "x.sh", "#!/bin/sh\necho good >>ran\n")
    (project.folder / "sub").mkdir(exist_ok=True)
    line = " ".join(parts)
    hook = parse_hook(command(line))
    found = build_pin(project.folder, line.encode(), Manifest(spec="hooks/1.0", hooks=[hook]))
    assume(set(found.loose) <= {"sh", "env", "cat"})
    add_pins(project.folder, [found])
    made = find_trusted_hook(project.folder, line.encode(), hook)
    put(project.folder / "x.sh", "#!/bin/sh\necho evil >>ran\n")
    world = {"PATH": os.environ["PATH"], "HOOKONCE_HOOK_DIR": str(project.folder)}
    subprocess.run(["/bin/sh", "-c", made.handler.command], cwd=project.folder, env=world, check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=20)

    assert "evil" not in project.wrote()


def test_pinning_takes_a_handful_of_milliseconds(project):
    """
    Trust is looked up on every call of every agent.
    """
    from timeit import repeat

    project.write(*(command(f"./guard.sh --number {number}", blocking=True) for number in range(20)))
    project.trust()
    data = (project.folder / ".hookonce/hooks.json").read_bytes()
    hooks = [parse_hook(one) for one in json.loads(data)["hooks"]]
    agreed = load_pins(project.folder, content_digest(data))
    best = min(repeat(lambda: [verify_by_pins(project.folder, hook, agreed) for hook in hooks], number=1, repeat=5))
    assert best / len(hooks) < 0.005
