"""Everything that can go wrong with a call and is our own affair, and what every agent has to hear then."""

import json
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from hookonce import agents
from hookonce.agents import config_event_of, encode
from hookonce.base import paths
from hookonce.diagnose.trial import sample_event
from hookonce.dispatch import dispatcher, fail_mode
from hookonce.model import Decision, Reply

KIND = "before_tool_execute"
MODES = ("open", "closed")
WHY = fail_mode.FAIL_CLOSED_REASON
HOOK = {"event": KIND, "blocking": True, "handler": {"type": "command", "command": "true"}}


class Case(NamedTuple):
    """One call of one agent, as it should be."""

    words: list[str]
    raw: bytes
    env: dict[str, str]

    def answer(self, words=None, raw=None):
        """What it comes to, with other words or another payload."""
        told = self.words if words is None else words
        return dispatcher.answer_call(told, self.raw if raw is None else raw, self.env)

    @property
    def agent(self):
        return agents.load(self.words[0])


def case(name, folder):
    """A tool call of an agent: recorded where there is a recording, else as it is documented."""
    agent = agents.load(name)
    native = config_event_of(agent, KIND)
    recording = files("hookonce") / "recordings" / f"{name}.jsonl"
    payload = encode(agent, sample_event(agent, KIND, "shell", {"command": "ls"}))
    if recording.is_file():
        lines = map(json.loads, recording.read_text(encoding="utf-8").splitlines())
        payload = next((line["payload"] for line in lines if line["event"] == native), payload)
    return Case([name, native, "--via", f"{name}/user"], json.dumps(payload).encode(), {"PWD": str(folder)})


def fail_mode_reply(one, mode, why=WHY):
    """The fail mode of that call: the agent's silence, or its own refusal."""
    if mode == "open":
        return Reply(stdout=one.agent.config.silence)
    return one.agent.reply(one.words[1], Decision(outcome="deny", reason=why), None)


def unread(one, why):
    """The refusal of what could not be read."""
    return one.agent.reply(one.words[1], Decision(outcome="deny", reason=fail_mode.unread_reason(why)), None)


def assert_unread(one, reply):
    """The agent was told that what it said could not be read, and by whom it has to be."""
    heard = one.agent.read_reply(one.words[1], reply)
    assert ("deny", True) == (heard.outcome, "hookonce cannot read this call" in heard.reason), one.words[0]


def settle(home, mode, command="true", **more):
    """Make a home with one hook that has to be asked, or need not be, and a client beside its fail modes."""
    hook = HOOK | {"handler": HOOK["handler"] | {"command": command}} | more
    if mode == "closed":
        hook["on_failure"] = "closed"
    manifest = paths.config_dir() / "hooks.json"
    assert manifest.is_relative_to(home)
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}), encoding="utf-8")
    paths.client_path().parent.mkdir(parents=True, exist_ok=True)
    paths.client_path().touch()
    fail_mode.refresh_fail_mode()
    return manifest


def replaced_by_folder(path: Path):
    """A file that nobody can read, not even root."""
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
