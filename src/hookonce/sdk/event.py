"""Hook event: the view of an event that hook functions get, with the same names for every agent."""

from typing import Any

from hookonce.model import Decision, Event, Object, Result, Subagent, Tool

_NO_TOOL = Tool(name="", native="")
_NO_RESULT = Result()


class EventInput(Event, frozen=True, kw_only=True):
    """An event as a hook is told it, with the decision that a derived one is about."""

    decision: Decision | None = None


class HookEvent:
    """A view of an event; what it does not tell is an empty text, so that a hook may simply look into it."""

    __slots__ = ("full",)

    def __init__(self, full: Event) -> None:
        self.full = full  # the whole event, with everything that has no name here

    def __repr__(self) -> str:
        subject = self.tool.name or self.type
        return f"HookEvent({self.type!r}, agent={self.agent!r}, about={subject!r})"

    @property
    def id(self) -> str:
        """The call of the agent, known by the same id in the record."""
        return self.full.id

    @property
    def type(self) -> str:
        """The canonical name of the event, such as before_tool_execute."""
        return self.full.type

    @property
    def agent(self) -> str:
        """Who asks, such as claude-code."""
        return self.full.agent

    @property
    def session(self) -> str:
        """The agent's name for its session."""
        return self.full.session or ""

    @property
    def subagent(self) -> Subagent | None:
        """The sub-agent at work, if it is one."""
        return self.full.subagent

    @property
    def cwd(self) -> str:
        """The directory that the agent works in."""
        return self.full.cwd or ""

    @property
    def model(self) -> str:
        """The language model, where the agent tells it."""
        return self.full.model or ""

    @property
    def mode(self) -> str:
        """How the agent works: agent, plan, execute, chat or edit."""
        return self.full.mode or ""

    @property
    def decision(self) -> Decision | None:
        """The decision that a derived event is about: its outcome and reason, for a refusal that was recorded."""
        return self.full.decision if isinstance(self.full, EventInput) else None

    @property
    def tool(self) -> Tool:
        """The tool call: `name` and `input` in canonical words, `native` and `native_input` in the agent's."""
        return self.full.tool or _NO_TOOL

    @property
    def input(self) -> Object:
        """The input of the tool, in canonical names."""
        return self.tool.input

    @property
    def command(self) -> str:
        """What a shell is to execute; several commands are several lines."""
        return _text_or_empty(self.input.get("command"))

    @property
    def path(self) -> str:
        """The file that is read, written or edited, as the agent names it; of several the first."""
        return next(iter(self.paths), "")

    @property
    def paths(self) -> list[str]:
        """Every file that the call is about: a patch may change several."""
        files: Any = self.input.get("files")
        file_paths = [entry.get("path") for entry in files if type(entry) is dict] if type(files) is list else []
        return [path for path in dict.fromkeys((self.input.get("path"), *file_paths)) if type(path) is str and path]

    @property
    def content(self) -> str:
        """What is to be written: the new content of a file, or the new text in the place of an old one."""
        texts = (self.input.get(key) for key in ("content", "new_text", "patch"))
        return next((text for text in texts if type(text) is str), "")

    @property
    def prompt(self) -> str:
        """What the user has said."""
        return _text_or_empty(self.full.prompt)

    @property
    def result(self) -> Result:
        """What the tool came to, once it has ended: ok, exit_code, error, output."""
        return self.tool.result or _NO_RESULT

    @property
    def data(self) -> Object:
        """What else this kind of event tells, in canonical names."""
        return self.full.data

    @property
    def native(self) -> Any:
        """The payload as the agent wrote it."""
        return self.full.native


def _text_or_empty(value: object) -> str:
    return value if type(value) is str else ""
