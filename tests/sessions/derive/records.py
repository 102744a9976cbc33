"""Records of a session, in few words."""

from itertools import count

from hookonce.agents import reports_session_start
from hookonce.model import SCHEMA, Decision, Event, HookRun, Record, Result, Subagent, Tool
from hookonce.sessions.derive.state import SessionState, derive_events

SHELL = {"command": "make test"}
START = 1_767_225_600  # 2026-01-01T00:00:00Z


class Story:
    """A session told event by event, one second after the other."""

    def __init__(self, agent="claude-code", session="s"):
        self.agent, self.session = agent, session
        self.numbers = count()

    def event(self, kind, *, after=None, **fields):
        number = next(self.numbers)
        moment = number if after is None else after
        fields.setdefault("time", f"2026-01-01T{moment // 3600:02}:{moment // 60 % 60:02}:{moment % 60:02}Z")
        return Event(
            id=f"{kind}-{number}",
            schema=SCHEMA,
            type=kind,
            agent=self.agent,
            session=self.session,
            time_source="agent",
            **fields,
        )

    def tell(self, kind, *, outcome=None, runs=(), proceed=None, **fields):
        decision = None if outcome is None and proceed is None else Decision(outcome=outcome, proceed=proceed)
        made = [HookRun(hook="h", outcome=run) for run in runs]
        return Record(event=self.event(kind, **fields), decision=decision, runs=made)

    def before(self, given=None, *, tool="shell", call=None, sub=None, **rest):
        return self.tell("before_tool_execute", tool=_tool(tool, given, call), subagent=_sub(sub), **rest)

    def done(self, given=None, *, tool="shell", call=None, sub=None, output="ok", ok=True, exit_code=None, **rest):
        result = Result(ok=ok, exit_code=exit_code, output=output)
        made = _tool(tool, given, call, result)
        return self.tell("after_tool_execute", tool=made, subagent=_sub(sub), **rest)

    def call(self, given=None, **rest):
        """A whole call."""
        begun = {name: rest[name] for name in ("tool", "call", "sub") if name in rest}
        return [self.before(given, **begun), self.done(given, **rest)]


def _tool(name, given, call, result=None):
    return Tool(name=name, native=name, input=SHELL if given is None else given, call_id=call, result=result)


def _sub(name):
    return None if name is None else Subagent(id=name)


def walk(records, state=None, limit=None):
    """The state after the records, and everything that follows from them."""
    state, found = state or SessionState(), []
    for record in records:
        state, more = derive_events(state, record, limit, reports_start=reports_session_start)
        found += more
    return state, found


def kinds(records):
    """The types of records, but for the session's own beginning."""
    return [record.event.type for record in records if record.event.type != "session_start"]


def only(records, kind):
    """The events of one type."""
    return [record.event for record in records if record.event.type == kind]
