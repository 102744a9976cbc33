"""Codex's hooks.json and config.toml, and its record of what was reviewed.

Hashes, clamps and refusals are what `hooks/list` of codex 0.166.0 (app-server, no model) answered for these very
documents; the shapes of the files follow its embedded schemas.
"""

import json
import tomllib

import pytest

from hookonce import agents
from hookonce.agents.codex.config import trust_entries
from hookonce.configure.entries import build_entries
from hookonce.convert.conversion import convert
from tests.agents._config.node import plain_wording

CODEX = agents.load("codex")
ECHO = {"type": "command", "command": "echo hi"}
TOML = """
notify = ["notify-send", "done"]
[features]
hooks = true
[[hooks.PreToolUse]]
matcher = "^Bash$"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "python3 g.py"
timeout = 30
[hooks.state."/home/u/.codex/config.toml:pre_tool_use:0:0"]
trusted_hash = "sha256:00"
"""


def round_trip(document):
    """The hooks of a configuration that was read and written, and whatever was said about it."""
    hooks, gaps = CODEX.config.parse(CODEX, document)
    made, lost = CODEX.config.render(CODEX, list(enumerate(hooks)), plain_wording)
    return made["hooks"], gaps + lost


def file(*entries, event="PreToolUse", **group):
    """A hooks.json with one group."""
    return {"hooks": {event: [group | {"hooks": list(entries)}]}}


@pytest.mark.parametrize(
    "document",
    [
        file(ECHO | {"commandWindows": "py g.py", "timeout": 30, "async": False, "statusMessage": "…", "additionalContextLimit": 2500}, matcher="Bash"),
        file(ECHO | {"timeout": 0, "additionalContextLimit": 0, "async": True}, matcher="Edit|Write"),
        file({"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${tool_input.x}", "n": [1, 2.5]}}, matcher="Agent"),
        file({"type": "prompt", "prompt": "x"}, ECHO, {"type": "agent"}, matcher="mcp__my_srv__.*"),
        file(ECHO, event="SessionStart", matcher="startup|resume"),
        file(ECHO, event="PreModelRequest") | {"description": "x"},
    ],
)
def test_what_codex_accepts_comes_back_as_it_was(document):
    """
    All handlers that its parser knows keep their fields; the description of the file is not a hook's.
    """
    assert (document["hooks"], []) == round_trip(document)


def test_hooks_within_toml_are_the_same_hooks():
    """
    The table that holds reviews is no event, and the older notify program is named as what it is.
    """
    document = tomllib.loads(TOML)
    entry = ECHO | {"command": "python3 g.py", "timeout": 30}

    events, (gap,) = round_trip(document)

    assert {"PreToolUse": [{"matcher": "^Bash$", "hooks": [entry]}]} == events
    assert ("$.notify", "lost") == (gap.where, gap.effect)


def test_managed_hooks_have_a_folder_beside_them():
    """
    requirements.toml says where an administrator's scripts lie; that is no event either.
    """
    document = {"allow_managed_hooks_only": True, "hooks": {"managed_dir": "/opt/h", "windows_managed_dir": "C:\\h", "Stop": [{"hooks": [ECHO]}]}}

    assert ({"Stop": [{"hooks": [ECHO]}]}, []) == round_trip(document)


def test_another_command_for_windows_crosses_over():
    """
    It is the handler's platform command, under either spelling; for other systems there is no place.
    """
    for key in ("commandWindows", "command_windows"):
        (hook,), _ = CODEX.config.parse(CODEX, file(ECHO | {key: "py g.py"}))
        assert {"windows": "py g.py"} == hook.handler.platform

    platform = {"windows": "g.ps1", "darwin": "mac.sh", "linux": "g.sh"}
    hook = {"event": "agent_stop", "blocking": True, "handler": {"type": "command", "command": "g.sh", "platform": platform}}
    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CODEX)
    assert {"type": "command", "command": "g.sh", "commandWindows": "g.ps1"} == made.document["hooks"]["Stop"][0]["hooks"][0]
    assert ["agent_stop g.sh: Codex CLI has another command for Windows only, none for darwin"] == [gap.note for gap in made.gaps]


def test_part_of_a_second_would_cost_the_whole_file():
    """
    Codex reads whole seconds only; a fraction is rounded up, and said.
    """
    hook = {"event": "agent_stop", "blocking": True, "handler": {"type": "command", "command": "x", "timeout": 2.5}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CODEX)

    assert 3 == made.document["hooks"]["Stop"][0]["hooks"][0]["timeout"]
    assert ["timeout"] == [gap.capability for gap in made.gaps]


@pytest.mark.parametrize(
    "own",
    [
        {"timeout": "soon"},
        {"timeout": -1},
        {"timeout": True},
        {"statusMessage": 5},
        {"async": None},
        {"additionalContextLimit": -1},
        {"commandWindows": 7},
        {"commandWindows": "a", "command_windows": "b"},
        {"hookonce": {"group": {"matcher": 5}}},
    ],
)
def test_nothing_of_a_wrong_type_reaches_the_file(own):
    """
    One such value, and Codex would run none of the file's hooks.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "handler": {"type": "command", "command": "x"}, "provider_data": {"codex": own}}

    ((group,),) = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CODEX).document["hooks"].values()

    expected = {}
    assert expected == {key: value for key, value in group["hooks"][0].items() if key not in ECHO}
    assert {"hooks"} == set(group)


@pytest.mark.parametrize(
    "own",
    [
        {"type": "http", "url": "https://hooks.example/x"},
        {"type": "mcp_tool", "server": "s"},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": None}},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 2**64}},
        {"type": "surprise"},
    ],
)
def test_a_handler_that_codex_cannot_read_is_lost_rather_than_the_file(own):
    """
    It is left out by name; the hooks beside it stay.
    """
    hooks, _ = CODEX.config.parse(CODEX, file(own, ECHO))

    made, (gap,) = CODEX.config.render(CODEX, list(enumerate(hooks)), plain_wording)

    assert ("lost", "$.hooks[0]") == (gap.effect, gap.where)
    assert [ECHO] == made["hooks"]["PreToolUse"][0]["hooks"]


@pytest.mark.parametrize(
    ("text", "matcher"),
    [("Edit|Write", ["file_write", "file_edit"]), ("Agent", "agent"), ("apply_patch", ["file_write", "file_edit"]), ("Bash", "shell"), ("exec_command", "exec_command")],
)
def test_names_that_only_matchers_use_are_understood(text, matcher):
    """
    apply_patch answers to Edit and Write, spawn_agent to Agent; the lab saw both fire.
    """
    (hook,), _ = CODEX.config.parse(CODEX, file(ECHO, matcher=text))

    assert matcher == hook.matcher


def test_an_mcp_server_whose_name_changes_is_named():
    """
    A dash becomes an underscore in Codex's tool names, so that two servers may be meant.
    """
    hook = {"event": "before_tool_execute", "blocking": True, "matcher": {"mcp": {"server": "my-srv"}}, "handler": {"type": "command", "command": "x"}}

    made = convert({"spec": "hooks/1.0", "hooks": [hook]}, None, CODEX)

    assert ["before_tool_execute x: Codex CLI calls it mcp__my_srv__.*, which may mean others too"] == [gap.note for gap in made.gaps]


def test_our_doors_stay_within_what_codex_allows():
    """
    The end of a session and an interruption get three seconds; the notify program is no door.
    """
    taken = {hook.provider_data["codex"]["hookonce"]["event"]: hook.handler.timeout for hook in build_entries(CODEX, "user", "/opt/hookonce-on")}

    assert (3, 3, 60) == (taken["SessionEnd"], taken["Interrupt"], taken["PreToolUse"])
    assert 12 == len(taken)
    assert {"PreModelRequest", "PostModelRequest", "agent-turn-complete"}.isdisjoint(taken)


# What Codex 0.166.0 said: event, matcher of the group, entry beyond ECHO, hash. None: the key is not there.
HASHES = [
    ("PreToolUse", "Bash", {}, "3bbce6504b48cc6f0d7fe24bd36273633d1bfa5879bc87f4ed7ccd16f24d1415"),
    ("PreToolUse", "Bash", {"timeout": 0}, "36e7373c10b9ebc1941cc4b2177dd9b40a49e1a81728771c0e42d33d60b2797b"),
    ("PreToolUse", "Bash", {"timeout": 10}, "013bfbc42f4dd3f59c717541839e1ffc05d84d6ef214536c4d5d0db269caa922"),
    ("PreToolUse", "Bash", {"statusMessage": "checking"}, "8ab480c34775bb613baea9829d0c9d0b9bd67ed01c002f6fdd568619d089889d"),
    ("PreToolUse", "Bash", {"async": True}, "0c3d80659160c1bf5971501aca3555cab3d09f0e54fe38cacdd21b5f44495d1c"),
    ("PreToolUse", "Bash", {"commandWindows": "py g.py"}, "3bbce6504b48cc6f0d7fe24bd36273633d1bfa5879bc87f4ed7ccd16f24d1415"),
    ("PreToolUse", "Bash", {"additionalContextLimit": 2500}, "3bbce6504b48cc6f0d7fe24bd36273633d1bfa5879bc87f4ed7ccd16f24d1415"),
    ("PreToolUse", "Bash", {"additionalContextLimit": 0}, "d0b80251debd4806b1f4f5d0f3922e1bf8ece90dce0b9a38041ec2a33c36de0a"),
    ("PreToolUse", "Bash", {"command": 'echo é "q" </a> \x7f'}, "b9eb0adbc49f590c1ff731962578ab45707ee312fdb2c4590e1f3715a131b7a0"),
    ("PreToolUse", "", {}, "148eccaa1e6729475aed280fe03038fa69b597ee83f591dc4d5f14d46e317d9b"),
    ("PreToolUse", "*", {}, "177fa097815aa9b955a371a96812fef88fbf43f4011235a7bdd6099063640c35"),
    ("PreToolUse", None, {}, "c2ab198fe0750494126041254c4d031ad06f4b267edca02168d8a6745e4141c5"),
    ("PreToolUse", "^Bash$", {}, "a21682d1d8bd642be06966a9f238a743ce8c0dc6568e86c606cb5874ced76cd3"),
    ("PermissionRequest", "x", {"timeout": 10}, "f93732c2d46030d63fd8f2904e33f5910054f0e3f7f005fbba5a642370ba21e3"),
    ("PostToolUse", "x", {"timeout": 10}, "23ff667131cbb203e5b1ec0b62a9198eefd5dc4e770c78746ffedfb69f1cac65"),
    ("PreCompact", "x", {"timeout": 10}, "027036b85263003fb6d1da0ccd0a0a16eda33359f846987a4821674b176be0e8"),
    ("PostCompact", None, {}, "0c58a3fc68393815b98960f8569931bb45a6376eafbd810681149a10ad5ef64d"),
    ("SessionStart", "x", {"timeout": 10}, "02a0c02db84b5cf8021c6488268822ff5f4f3adfd0653395fa27b83fdc9bdf6c"),
    ("SessionEnd", "x", {"timeout": 10}, "800abbf03111739a7452bc51a198531c00b4b05b782065911e021b070ba2e4bc"),
    ("SessionEnd", None, {}, "c6e3af8b1627dcaa3a876a10d15499bd53226a6b955017999d0eaabae8e2fd46"),
    ("UserPromptSubmit", "x", {"timeout": 10}, "d1cae2592e7f8e6aee100211ab5d4d746d693ce20dd381c184248461aa0d63b2"),
    ("SubagentStart", "x", {"timeout": 10}, "8c7e12cff57b457046e63b983e2bbf06ec4d2e4989b6edca9ca0f1666977a708"),
    ("SubagentStop", None, {}, "937e335acd0e695bbf681c26d5162a6f4fd04d7f6a41586eee92d846f51836d6"),
    ("Stop", "x", {"timeout": 10}, "2a05b889a7ae70a6cb043aabb2bcfb6ce36c120c3e60d0fd65e4d297c36f1e00"),
    ("Stop", None, {"additionalContextLimit": 100}, "f2aa169c7a1cf9b7cc9b61ce5ecec0315e0f7d13ac35935b1aa74440f9a839f8"),
    ("Interrupt", None, {}, "954a9910f8d7089fe12d362d16c1f0e39597fbb05e205a2ead31b938a2d25afa"),
    ("Interrupt", "x", {"timeout": 10}, "292ddab3b3e601ea9736f24206b21af7feb982973e9ecc011bc06589b3e4d3a3"),
    ("PreModelRequest", "x", {"timeout": 10}, "b7e85d13aee8a9fa225d1a6c8e52ad58d8a4365d7e23f985239409ce4a7172fa"),
    ("PostModelRequest", None, {}, "4f03fe040eaeb1d68457d9d5a5768554b187fc84af9cc067f6ef1a0b1fffb78c"),
    ("PreToolUse", None, {"type": "mcp_tool", "server": "s", "tool": "t", "timeout": 7, "statusMessage": "m"}, "614b96762dd0e13c16dc5d39414f82d9a8ecdaa4b46cdf27af53383dfb252f93"),
    ("PreToolUse", None, {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"b": "${tool_input.x}", "a": [1, 2.5, {"z": True}]}}, "ccbe710b9cbb934e241f7ce615fd8c07cd2f1dd97431505f7155108ee41ac582"),
    ("SessionEnd", None, {"type": "mcp_tool", "server": "s", "tool": "t"}, None),
    ("PreToolUse", "Bash", {"type": "prompt", "prompt": "x"}, None),
    ("PreToolUse", "Bash", {"command": "  "}, None),
    ("Notification", None, {}, None),
]


@pytest.mark.parametrize(("event", "matcher", "more", "expected"), HASHES)
def test_a_reviewed_hook_has_the_hash_that_codex_gives_it(event, matcher, more, expected):
    """
    Defaults are filled in, clamps applied, and fields that an event has no use for are left out.
    """
    group = {} if matcher is None else {"matcher": matcher}

    entries = trust_entries("/h/.codex/hooks.json", file(ECHO | more, event=event, **group), windows=False)

    assert (expected and f"sha256:{expected}") == next((table["trusted_hash"] for table in entries.values()), None)


def test_a_key_is_the_place_in_the_file():
    """
    Groups and handlers are counted whether or not Codex runs them.
    """
    document = {"hooks": {"PreToolUse": [{"matcher": "a"}, {"hooks": [{"type": "prompt"}, ECHO]}], "UserPromptSubmit": [{"hooks": [ECHO]}]}}

    keys = list(trust_entries("/h/.codex/hooks.json", document))

    assert ["/h/.codex/hooks.json:pre_tool_use:1:1", "/h/.codex/hooks.json:user_prompt_submit:0:0"] == keys


def test_toml_and_json_agree_on_a_hook():
    """
    The same hook has the same hash in either file, and the one for Windows is that of its own command.
    """
    inline = trust_entries("/h/.codex/config.toml", tomllib.loads(TOML))
    apart = trust_entries("/h/.codex/hooks.json", file({"type": "command", "command": "python3 g.py", "timeout": 30}, matcher="^Bash$"))
    windows = trust_entries("/h/.codex/hooks.json", file(ECHO | {"command": "x", "commandWindows": "echo hi"}, matcher="Bash"), windows=True)

    assert list(inline.values()) == list(apart.values())
    assert [{"trusted_hash": f"sha256:{HASHES[0][3]}"}] == list(windows.values())


@pytest.mark.parametrize("document", [{}, {"hooks": []}, {"hooks": {"Stop": 5}}, {"hooks": {"Stop": [5, {"hooks": [5, {}, {"type": ["command"]}]}]}}])
def test_whatever_is_no_hook_is_not_vouched_for(document):
    """
    Nonsense has no key.
    """
    assert {} == trust_entries("/h/.codex/hooks.json", json.loads(json.dumps(document)))
