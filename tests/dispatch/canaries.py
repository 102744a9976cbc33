"""Payloads of several agents full of canaries: texts, addresses and secrets, each of which is known again."""

import itertools

from tests.secrets.material import PUBLISHED, ends, written

_SECRETS = itertools.cycle([parts for _, *parts in PUBLISHED])
_NUMBERS = itertools.count(1)
_HOSTS = itertools.cycle(["@nest.example.com", "%40nest.example.com", "\uff20nest.example.com", "@localhost", "&#64;nest.example.com"])


class Flock:
    """A payload of an agent, the texts and addresses that are planted in it, and what is left of its secrets."""

    def __init__(self, agent, native):
        self.agent, self.native, self.payload = agent, native, {}
        self.texts, self.addresses, self.secrets = [], [], []

    def text(self):
        """A sentence that nobody else says."""
        self.texts.append(f"canary{next(_NUMBERS):07d}sings")
        return f"please {self.texts[-1]} now"

    def address(self):
        """Somebody's address, in one of the ways to write it."""
        self.addresses.append(f"bird.{next(_NUMBERS):07d}")
        return self.addresses[-1] + next(_HOSTS)

    def secret(self):
        """A token in a published shape."""
        parts, seed = next(_SECRETS), next(_NUMBERS)
        self.secrets += ends(parts, seed)
        return written(parts, seed)

    def count(self):
        """How many canaries it has."""
        return len(self.texts) + len(self.addresses) + len(self.secrets) // 2


def _claude(native, flock, **more):
    cwd = f"/home/{flock.address()}/w"
    return {"session_id": "s1", "transcript_path": "/h/.claude/t.jsonl", "cwd": cwd, "hook_event_name": native} | more


def _prompt(flock):
    return _claude(flock.native, flock, prompt=f"{flock.text()} {flock.address()} {flock.secret()}", note=flock.text())


def _write(flock):
    path = f"/home/{flock.address()}/w/a.py"
    content = f"{flock.text()}\n{flock.address()}\n{flock.secret()}\n"
    response = {"type": "create", "filePath": path, "content": f"{content}{flock.text()}"}
    fields = {"tool_name": "Write", "tool_input": {"file_path": path, "content": content}, "tool_response": response}
    return _claude(flock.native, flock, tool_use_id="t1", **fields)


def _shell(flock):
    command = f"git log --author={flock.address()} # {flock.secret()}"
    response = {"stdout": f"{flock.text()} {flock.address()}", "stderr": f"{flock.text()} {flock.secret()}"}
    fields = {"tool_name": "Bash", "tool_input": {"command": command, "description": flock.text()}}
    return _claude(flock.native, flock, tool_use_id="t1", tool_response=response, **fields)


def _server(flock):
    arguments = {"body": flock.text(), "to": flock.address(), "headers": {"Authorization": f"Bearer {flock.secret()}"}}
    return _claude(flock.native, flock, tool_use_id="t1", tool_name="mcp__mail__send", tool_input=arguments)


def _cursor(flock):
    common = {"conversation_id": "c1", "generation_id": "g1", "cursor_version": "1.7.2", "workspace_roots": ["/w"]}
    attachments = [{"type": "file", "file_path": f"/home/{flock.address()}/x"}]
    told = {"hook_event_name": flock.native, "user_email": flock.address(), "prompt": flock.text()}
    return common | told | {"attachments": attachments}


_MAKERS = [
    ("claude-code", "UserPromptSubmit", _prompt),
    ("claude-code", "PostToolUse", _write),
    ("claude-code", "PostToolUse", _shell),
    ("claude-code", "PreToolUse", _server),
    ("cursor", "beforeSubmitPrompt", _cursor),
]


def flocks(count):
    """Payloads with so many canaries at least, of every kind in turn."""
    planted = 0
    for agent, native, make in itertools.cycle(_MAKERS):
        if planted >= count:
            return
        flock = Flock(agent, native)
        flock.payload = make(flock)
        planted += flock.count()
        yield flock
