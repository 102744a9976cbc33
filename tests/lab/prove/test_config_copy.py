"""What comes along from the user's home into the lab's: our doors as they stand and switches; nothing of anybody else."""

import json
import tomllib
from copy import deepcopy

import pytest
from msgspec.structs import replace

from hookonce import agents
from hookonce.base import invocation, paths
from hookonce.configure.agent_trust import plan_review
from hookonce.configure.install import plan_install
from hookonce.configure.locations import ConfigRoots
from hookonce.diagnose.agent_check import check_agent
from hookonce.lab import drivers
from hookonce.lab.drivers import RunEnv
from hookonce.lab.prove.config_copy import SCOPE, copy_user_config

# The user's file with our entries, and what else stands in the files of a user: switches that are not set, and secrets.
FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "qwen-code": ".qwen/settings.json",
    "copilot-cli": ".copilot/hooks/hookonce.json",
    "factory-droid": ".factory/settings.json",
    "factory-droid, apart": ".factory/hooks.json",
}
SECRETS = {
    "env": {"API_KEY": "evil-key"},
    "apiKeyHelper": "evil-helper",
    "mcpServers": {"evil-server": {"command": "evil", "args": ["evil"], "env": {"TOKEN": "evil-token"}}},
    "permissions": {"allow": ["Bash(evil)"]},
    "model": "evil-model",
    "customModels": [{"model": "evil-model", "apiKey": "evil-key", "baseUrl": "https://evil.example"}],
}
TOML = """\
model = "evil-model"
notify = ["evil"]

[mcp_servers.evil-server]
command = "evil"
env = { TOKEN = "evil-token" }

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "command"
command = "evil"
"""
SWITCHES = {
    "claude-code": (".claude/settings.json", ("disableAllHooks",), True),
    "codex": (".codex/config.toml", ("features", "hooks"), False),
    "gemini-cli": (".gemini/settings.json", ("hooksConfig", "enabled"), False),
    "qwen-code": (".qwen/settings.json", ("disableAllHooks",), True),
    "copilot-cli": (".copilot/settings.json", ("disableAllHooks",), True),
    "factory-droid": (".factory/settings.json", ("hooks", "hooksDisabled"), True),
    "factory-droid, apart": (".factory/hooks.json", ("hooksDisabled",), True),
}
DOOR = "/other/.local/share/hookonce/bin/hookonce-on codex PreToolUse --via codex/user"
FOREIGN = {
    "command": {"type": "command", "command": "/bin/evil", "timeout": 5},
    "command by another name": {"type": "command", "bash": "evil", "powershell": "evil"},
    "command beside a door": {"type": "command", "command": DOOR, "commandWindows": "evil"},
    "command after a door": {"type": "command", "command": f"{DOOR}; evil"},
    "wrapper of ours": {"type": "command", "command": "/u/hookonce-on codex PreToolUse --dialect codex --run evil"},
    "namesake": {"type": "command", "command": "/u/evil-hookonce-on codex PreToolUse --via codex/user"},
    "words": {"type": "command", "args": ["evil"]},
    "http": {"type": "http", "url": "https://evil.example/hook", "headers": {"Authorization": "Bearer evil-key"}},
    "http on loopback": {"type": "http", "url": "http://127.0.0.1:80/evil"},
    "prompt": {"type": "prompt", "prompt": "evil"},
    "agent": {"type": "agent", "prompt": "evil", "model": "evil-model"},
    "mcp_tool": {"type": "mcp_tool", "server": "evil-server", "tool": "evil", "input": {"key": "evil"}},
    "nested": {"hooks": [{"hooks": [{"type": "prompt", "prompt": "evil"}, {"type": "command", "command": "evil"}]}]},
}
# Entries whose command is a door of ours, and that are something else besides.
DISGUISED = {
    "door with others inside": {"type": "command", "command": DOOR, "hooks": [{"type": "command", "command": "evil"}]},
    "door with words": {"type": "command", "command": DOOR, "args": ["evil"]},
}


class Two:
    """The user's home and the lab's, both with hookonce installed for one agent."""

    def __init__(self, folder, monkeypatch, kind):
        """A home of each; what stands in them beside our entries comes later."""
        self.kind, self.agent = kind, agents.load(kind.partition(",")[0])
        self.user, self.lab = ConfigRoots(folder / "user", folder / "project"), ConfigRoots(folder / "lab/home", folder / "lab/project")
        for path in (self.user.home, self.user.project, self.lab.home, self.lab.project):
            path.mkdir(parents=True)
        self._monkeypatch = monkeypatch
        monkeypatch.chdir(self.user.project)

    def install(self, place, *words):
        """What `hookonce install` writes into an agent's files."""
        self._monkeypatch.setenv("HOME", str(place.home))
        changes = plan_install(self.agent, SCOPE, place, str(paths.client_path()))
        if "--trust" in words:
            changes += [plan_review(self.agent, one.path, one.new, place, str(paths.client_path())) for one in changes]
        for one in changes:
            one.path.parent.mkdir(parents=True, exist_ok=True)
            one.path.write_bytes(one.new)
            one.path.chmod(one.mode)

    def prepared(self):
        """The lab's home as a run has it before anything comes along."""
        driver = drivers.load_driver(self.agent.name)
        program = self.lab.home / "agent"
        stand = RunEnv(
            home=self.lab.home,
            project=self.lab.project,
            program=program,
            url="http://127.0.0.1:1",
            prompt="Go on.",
            mcp=["/bin/true", "lab"],
            cache=self.lab.home.parent,
        )
        drivers.write_home(driver, stand)
        self.install(self.lab, *driver.install)
        self._monkeypatch.setenv("HOME", str(self.user.home))

    def bring(self, lab_client=None):
        """Bring along what is to come along; nothing of the user's is touched by that."""
        before = snapshot(self.user.home), snapshot(self.user.project)
        copy_user_config(self.agent, self.user, self.lab, str(paths.client_path()), lab_client)
        assert before == (snapshot(self.user.home), snapshot(self.user.project))

    @property
    def file(self):
        return FILES[self.kind]

    def document(self, place):
        return json.loads((place.home / self.file).read_bytes())

    def change(self, edit):
        """Change what stands in the user's file."""
        document = self.document(self.user)
        edit(document)
        (self.user.home / self.file).write_text(json.dumps(document, indent=2), encoding="utf-8")

    def events(self, document):
        """The map of events in a document."""
        return document if self.kind.endswith("apart") else document["hooks"]


def snapshot(folder):
    """Everything in a folder, to the byte, with modes and times."""
    found = sorted(folder.rglob("*"))
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.stat().st_mtime_ns, path.is_file() and path.read_bytes())
        for path in found
    }


def evil(place):
    """The files in a home that hold anything of somebody else's."""
    return [name for name, (_, _, data) in snapshot(place.home).items() if data and b"evil" in data]


def commands(value):
    """Every command and address in a document."""
    if type(value) is list:
        return [text for item in value for text in commands(item)]
    if type(value) is not dict:
        return []
    said = [value[key] for key in ("command", "bash", "powershell", "url") if type(value.get(key)) is str]
    return said + [text for item in value.values() for text in commands(item)]


def doors(value):
    return sorted(text for text in commands(value) if (call := invocation.parse_command(text)) is not None and call.via)


@pytest.fixture(params=FILES)
def two(request, tmp_path, monkeypatch):
    """Both homes, for each agent that is told in JSON or TOML; in the user's everything else stands as well."""
    made = Two(tmp_path, monkeypatch, request.param)
    path = made.user.home / made.file
    path.parent.mkdir(parents=True)
    if made.kind.endswith("apart"):
        path.write_text("{}", encoding="utf-8")
        path.with_name("settings.json").write_text(json.dumps(SECRETS), encoding="utf-8")
    elif made.agent.name in ("claude-code", "gemini-cli", "qwen-code", "factory-droid"):
        path.write_text(json.dumps(SECRETS), encoding="utf-8")
    else:
        made.user.home.joinpath(made.file.partition("/")[0], "config.toml").write_text(TOML, encoding="utf-8")
    made.install(made.user, *drivers.load_driver(made.agent.name).install)
    made.prepared()
    return made


def beside(two, *entries):
    """Put entries wherever one can stand: in a group of ours, beside it, and where we have no door."""

    def edit(document):
        events = two.events(document)
        ours = [name for name, groups in events.items() if type(groups) is list][:2]
        for name in ours:
            for group in events[name]:
                if type(group.get("hooks")) is list:
                    group["hooks"] = [*deepcopy(entries), *group["hooks"], *deepcopy(entries)]
            events[name] = [*deepcopy(entries), {"matcher": "*", "hooks": [*deepcopy(entries)]}, *events[name]]
        events["EvilEvent"] = [*deepcopy(entries), {"matcher": "evil", "hooks": [*deepcopy(entries)]}]

    two.change(edit)


def test_our_doors_come_along_as_they_stand(two):
    def edit(document):
        text = json.dumps(two.events(document)).replace('"timeout": 60', '"timeout": 7')
        two.events(document).update(json.loads(text))

    two.change(edit)
    two.bring()

    user, lab = two.document(two.user), two.document(two.lab)
    assert two.events(user) == two.events(lab)
    assert doors(user)
    assert all(str(two.user.home) in text for text in doors(lab))
    assert [] == evil(two.lab)


def test_hooks_of_others_never_come_along(two):
    """
    Of whatever kind, and wherever they stand; all of ours still do.
    """
    wanted = doors(two.document(two.user))
    beside(two, *FOREIGN.values())

    two.bring()

    assert [] == evil(two.lab)
    assert wanted == [text for text in doors(two.document(two.lab)) if text != DOOR]




@pytest.mark.parametrize("two", ["codex"], indirect=True)
@pytest.mark.parametrize("kind", DISGUISED)
def test_nothing_comes_along_inside_of_a_door(two, kind):
    beside(two, DISGUISED[kind])

    two.bring()

    assert [] == evil(two.lab)


@pytest.mark.parametrize("two", ["codex", "gemini-cli", "copilot-cli", "factory-droid, apart"], indirect=True)
def test_an_entry_that_was_removed_is_missing_in_the_lab_too(two):
    removed = []
    two.change(lambda document: removed.append(two.events(document).popitem()))

    two.bring()

    assert removed[0][0] not in two.events(two.document(two.lab))


@pytest.mark.parametrize("two", ["codex", "gemini-cli", "copilot-cli", "factory-droid, apart"], indirect=True)
def test_where_the_users_file_is_gone_the_lab_has_no_door(two):
    (two.user.home / two.file).unlink()

    two.bring()

    found = [snapshot(two.lab.home)[name][2] for name in FILES.values() if name in snapshot(two.lab.home)]
    assert [] == [text for data in found for text in doors(json.loads(data))]


def test_switches_come_along(two):
    file, keys, value = SWITCHES[two.kind]
    path = two.user.home / file
    if path.suffix == ".toml":
        path.write_text(f"{path.read_text()}\n[{keys[0]}]\n{keys[1]} = {json.dumps(value)}\n")
    else:
        document = json.loads(path.read_text()) if path.exists() else {}
        inner = document.setdefault(keys[0], {}) if len(keys) > 1 else document
        inner[keys[-1]] = value
        path.write_text(json.dumps(document))

    two.bring()

    text = (two.lab.home / file).read_text()
    found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    for key in keys:
        found = found[key]
    assert value is found
    assert [] == evil(two.lab)


def test_the_labs_own_settings_stay(two):
    before = snapshot(two.lab.home)

    two.bring()

    after = snapshot(two.lab.home)
    changed = {name for name in before if before[name][2] != after[name][2]}
    assert {two.file, ".codex/config.toml"} >= changed
    for name in {two.file} & before.keys():
        old, new = (json.loads(one[name][2]) for one in (before, after))
        assert {key: value for key, value in old.items() if key != "hooks"} == {
            key: value for key, value in new.items() if key != "hooks"
        }
    if ".codex/config.toml" in before:
        old, new = (tomllib.loads(one[".codex/config.toml"][2].decode()) for one in (before, after))
        assert old | {"hooks": 0} == new | {"hooks": 0}
    assert after.keys() - before.keys() <= {two.file}


# Trust


@pytest.mark.parametrize("trusted", [True, False])
def test_trust_comes_along_and_distrust_does(tmp_path, monkeypatch, trusted):
    two = Two(tmp_path, monkeypatch, "codex")
    (two.user.home / ".codex").mkdir()
    two.install(two.user, *(["--trust"] if trusted else []))
    two.prepared()

    two.bring()

    found = {one.kind for one in check_agent(two.agent, two.lab, str(paths.client_path()))}
    assert trusted == ("untrusted" not in found)
    assert doors(two.document(two.user)) == doors(two.document(two.lab))


@pytest.mark.parametrize("trusted", [True, False])
def test_trust_that_the_lab_gave_itself_counts_for_nothing(tmp_path, monkeypatch, trusted):
    """
    The lab's installation and the copy of the user's may have the same entries.
    """
    two = Two(tmp_path, monkeypatch, "codex")
    (two.user.home / ".codex").mkdir()
    two.install(two.user, *(["--trust"] if trusted else []))
    two.prepared()
    lab_client = commands(two.document(two.lab))[0].split()[0]

    two.bring(lab_client)

    found = {one.kind for one in check_agent(two.agent, two.lab, lab_client)}
    assert trusted == ("untrusted" not in found)


# Scripts

SCRIPTS = {"opencode": ".config/opencode/plugin", "cline": "Documents/Cline/Hooks"}
MENTIONS = "#!/bin/sh\n# evil; once there was hookonce-on here\nevil\n"
WRAPS = "#!/bin/sh\nexec /u/bin/hookonce-on cline TaskCancel --dialect cline --run evil\n"


def beside_scripts(two, text):
    """Put scripts of somebody else beside ours."""
    for name in ("mine.js", "mine"):
        path = two.user.home / two.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)


@pytest.fixture(params=SCRIPTS)
def scripts(request, tmp_path, monkeypatch):
    """Both homes, for each agent that is told in scripts."""
    made = Two(tmp_path, monkeypatch, request.param)
    made.folder = SCRIPTS[request.param]
    (made.user.home / made.folder).mkdir(parents=True)
    made.install(made.user)
    made.prepared()
    return made


def test_scripts_of_ours_come_along_as_they_are(scripts):
    scripts.bring()

    user, lab = (snapshot(one.home / scripts.folder) for one in (scripts.user, scripts.lab))
    assert user
    assert {name: (mode, data) for name, (mode, _, data) in user.items()} == {
        name: (mode, data) for name, (mode, _, data) in lab.items()
    }
    assert any(str(scripts.user.home).encode() in data for _, _, data in lab.values())


def test_scripts_of_others_never_come_along(scripts):
    beside_scripts(scripts, "#!/bin/sh\nevil\n")

    scripts.bring()

    assert [] == evil(scripts.lab)


@pytest.mark.parametrize("scripts", ["cline", "opencode"], indirect=True)
@pytest.mark.parametrize("text", [MENTIONS, WRAPS])
def test_nor_do_those_that_name_our_client_only(scripts, text):
    """
    In a comment, or around a script that is not ours.
    """
    beside_scripts(scripts, text)

    scripts.bring()

    assert [] == evil(scripts.lab)


def test_a_script_that_is_gone_is_gone_in_the_lab_too(scripts):
    gone = min((scripts.user.home / scripts.folder).iterdir())
    gone.unlink()

    scripts.bring()

    assert not (scripts.lab.home / scripts.folder / gone.name).exists()


def test_an_agent_without_a_file_of_the_users_is_left_alone(tmp_path):
    agent = agents.load("codex")
    bare = replace(agent, config=replace(agent.config, files={}))
    copy_user_config(bare, ConfigRoots(tmp_path, tmp_path), ConfigRoots(tmp_path / "lab", tmp_path), "client")
    assert [] == list(tmp_path.iterdir())
