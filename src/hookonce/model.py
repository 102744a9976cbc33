"""Domain model: frozen msgspec structs without behaviour (events, decisions, records, manifests, agents)."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

SCHEMA = "hookonce/1"

Json = Any  # whatever a JSON document may hold
Object = dict[str, Json]

Outcome = Literal["allow", "ask", "deny"]
ActorType = Literal["user", "ai_agent", "system"]
Mode = Literal["agent", "plan", "execute", "chat", "edit"]
TimeSource = Literal["agent", "received", "none"]


class _Noun(Struct, frozen=True, omit_defaults=True):
    """What all nouns share: immutable, named fields only, absent fields left out of JSON."""


class Digest(_Noun, frozen=True, kw_only=True):
    """A text that was left out: what remains is enough to compare two of them."""

    hash: str
    length: int
    lines: int


Text = str | Digest


class Result(_Noun, frozen=True, kw_only=True):
    """What a tool call came to."""

    ok: bool | None = None
    exit_code: int | None = None
    error: Text | None = None
    duration_ms: int | float | None = None
    output: Json = None


class Tool(_Noun, frozen=True, kw_only=True):
    """One tool call: `name` and `input` are canonical, `native` and `native_input` the agent's own."""

    name: str
    native: str
    input: Object = {}
    native_input: Json = None
    result: Result | None = None
    call_id: str | None = None
    mcp_server: str | None = None


class Subagent(_Noun, frozen=True, kw_only=True):
    """The sub-agent that an event belongs to, and the agent that started it."""

    id: str | None = None
    type: str | None = None
    parent: str | None = None


class Usage(_Noun, frozen=True, kw_only=True):
    """Tokens, where the agent tells them."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None


class User(_Noun, frozen=True, kw_only=True):
    """The human at the keyboard, only when the caller names them."""

    id: str | None = None
    name: str | None = None


class Actor(_Noun, frozen=True, kw_only=True):
    """Who did it."""

    type: ActorType
    id: str | None = None
    name: str | None = None


class Origin(_Noun, frozen=True, kw_only=True):
    """Where an event came from when it was not an agent: the format, its own id there, the doors it used."""

    format: str | None = None
    id: str | None = None
    via: list[str] = []


class Event(_Noun, frozen=True, kw_only=True):
    """One immutable fact. `type` is canonical, or `vendor.<agent>.<Native>` when the canon has no word."""

    id: str
    schema: str
    type: str
    agent: str
    agent_version: str | None = None
    session: str | None = None
    turn: str | None = None
    subagent: Subagent | None = None
    parent_session: str | None = None
    time: str
    time_source: TimeSource
    received: str | None = None
    cwd: str | None = None
    tool: Tool | None = None
    prompt: Text | None = None
    model: str | None = None
    usage: Usage | None = None
    mode: Mode | None = None
    user: User | None = None
    actor: Actor | None = None
    data: Object = {}
    origin: Origin | None = None
    caused_by: str | None = None
    derived_from: str | None = None
    native: Json = None


class Decision(_Noun, frozen=True, kw_only=True):
    """What was answered. No outcome is no opinion, which is not an allow."""

    outcome: Outcome | None = None
    reason: str | None = None
    context: str | None = None
    updated_input: Object | None = None
    updated_output: Json = None
    proceed: bool | None = None
    system_message: str | None = None
    suppress_output: bool | None = None
    by: str | None = None


class Reply(_Noun, frozen=True, kw_only=True):
    """An answer as a process gives it: what an agent reads of a hook, or we of somebody's."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


class Risk(_Noun, frozen=True, kw_only=True):
    """How dangerous it looked."""

    score: Annotated[int, Meta(ge=0, le=100)] | None = None
    level: Literal["low", "medium", "high", "critical"] | None = None
    factors: list[str] = []


class HookRun(_Noun, frozen=True, kw_only=True):
    """One hook that ran for an event; `model`, `usage` and `cost_micros` are of a language model that it has asked."""

    hook: str
    scope: str | None = None
    digest: str | None = None
    started: str | None = None
    duration_ms: int | float | None = None
    exit: int | None = None
    outcome: Outcome | None = None
    failure: str | None = None
    tokens: int | None = None
    model: str | None = None
    usage: Usage | None = None
    cost_micros: int | None = None


class Gap(_Noun, frozen=True, kw_only=True):
    """Something that a conversion could not carry."""

    where: str
    capability: str | None = None
    strategy: str | None = None
    effect: str | None = None
    note: str | None = None


class Record(_Noun, frozen=True, kw_only=True):
    """An event with what was made of it."""

    event: Event
    decision: Decision | None = None
    risk: Risk | None = None
    runs: list[HookRun] = []
    gaps: list[Gap] = []


class Stored(Record, frozen=True, kw_only=True):
    """A record after redaction: the only kind that is kept, logged or sent."""

    level: Literal["minimal", "standard", "full"]


HandlerType = Literal["command", "http", "prompt", "agent", "function", "module"]
Strategy = Literal["block", "warn", "exclude"]


class Handler(_Noun, frozen=True, kw_only=True, rename={"background": "async"}):
    """What a hook runs. Fields that we do not know stay in `extra`."""

    type: str
    command: str | None = None
    platform: dict[str, str] = {}
    cwd: str | None = None
    env: dict[str, str] = {}
    timeout: int | float | None = None
    timeout_action: Literal["warn", "block"] | None = None
    background: bool = False
    status_message: str | None = None
    url: str | None = None
    method: str | None = None
    headers: dict[str, str] = {}
    allowed_env: list[str] = []
    prompt: str | None = None
    model: str | None = None
    file: str | None = None
    name: str | None = None
    extra: Object = {}

    @property
    def target(self) -> str | None:
        """What an agent calls: a command, or a URL."""
        return self.command or self.url


class Hook(_Noun, frozen=True, kw_only=True):
    """One hook of a manifest; `matcher` as it was written, None for every tool."""

    event: str
    handler: Handler
    name: str | None = None
    matcher: Json = None
    blocking: bool = False
    degradation: dict[str, Strategy] = {}
    capabilities: list[str] = []
    provider_data: dict[str, Object] = {}
    on_failure: Literal["open", "closed"] | None = None
    may_allow: bool = False
    dialect: str | None = None
    files: list[str] = []
    extra: Object = {}


class Manifest(_Noun, frozen=True, kw_only=True):
    """A document of the Hook Interchange Format."""

    spec: str
    hooks: list[Hook]
    extra: Object = {}


Facts = dict[str, Json]
AskMode = Literal["native", "denies_headless", "ignored", "fatal", "none"]
RewriteMode = Literal["whole", "merge", "fields"]
InstallMode = Literal["default", "opt-in", "never"]


class Point(Struct, frozen=True, kw_only=True):
    """One lifecycle point of an agent: what an answer can do there, and whether we ask to be called.

    `capabilities` holds some of prevent, retry, rewrite and context; none of them is a point that can only be
    observed. `rewrite` says how new input is taken: whole, merged into the old, or only in some fields.
    `hard_timeout_s` is the number of seconds after which the agent goes on, whatever a hook's timeout says.
    """

    capabilities: frozenset[str] = frozenset()
    ask: AskMode = "none"
    rewrite: RewriteMode | None = None
    install: InstallMode = "default"
    why: str | None = None
    hard_timeout_s: int | float | None = None


# the marks of a reviewed file: its path and document, and which of its commands are meant
Review = Callable[[str, Object, Callable[[str], bool]], dict[str, Object]]
Wording = Callable[["Hook", str], str | None]  # the command that stands for a hook at a native event


class Config(Struct, frozen=True, kw_only=True):
    """How an agent is configured with hooks: where, in what shape, and what an answer can do there.

    `files` is the file that we write, by scope, unless the one in `override_files` is there, which then hides it and
    holds the map of events bare; `reads` are further files (or globs) in which the agent finds hooks. A code-only
    agent has language `code`: its document is `{"files": {name: text}}`. `events` maps configured names to canonical
    ones where payloads call them otherwise; `points` describes them, and one that is not named there can only be
    observed. `units` is how many of the timeout's units make a second; an agent that takes small numbers for seconds
    all the same has a `min_unit`, the least number that it takes for its units. `crash` and `on_timeout` say whether
    a tool call goes on when a hook crashes or is late, and `fail_closed_key` is the key and value with which an
    entry fails closed. `ambiguous` names the tools that are several canonical ones at once, `excluded_tools` those
    that a matcher leaves out, being old names or another system's. `silence` is what a hook without an opinion
    prints. `switches` are settings that turn hooks off: file, keys, the value that does it. `borrows` names the
    agents whose configuration this one also obeys. `review` is where an agent keeps which hooks its user has looked
    at, and how that is written for a file, a document and the commands that are meant.
    """

    files: Mapping[str, str]
    render: "Callable[[Agent, list[tuple[int, Hook]], Wording], tuple[Object, list[Gap]]]"
    parse: "Callable[[Agent, Object], tuple[list[Hook], list[Gap]]]"
    points: Mapping[str, Point]
    events: Mapping[str, str] = {}
    override_files: Mapping[str, str] = {}
    language: Literal["json", "toml", "code"] = "json"
    reads: Mapping[str, tuple[str, ...]] = {}
    programs: tuple[str, ...] = ()
    borrows: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()
    matching: str = "pattern"
    units: int = 1
    min_unit: int = 0
    timeout: int | float | None = None
    longest: int | float | None = None
    crash: Literal["open", "closed"] = "open"
    on_timeout: Literal["open", "closed"] = "open"
    handlers: Mapping[str, Mapping[str, str]] = {}
    fail_closed_key: tuple[str, Json] | None = None
    ambiguous: Mapping[str, list[str]] = {}
    excluded_tools: frozenset[str] = frozenset()
    silence: str = ""
    switches: tuple[tuple[str, tuple[str, ...], Json], ...] = ()
    trust: str | None = None
    review: tuple[str, tuple[str, ...], Review] | None = None
    repairable: bool = False


class Agent(Struct, frozen=True, kw_only=True):
    """One coding agent: its own column of every table, and only those functions that differ.

    `keys` maps a payload key to a slot of the event, `details` to a name in `Event.data`.
    `arguments` maps native argument names to canonical ones: under `"*"` for all tools, under a
    native or canonical tool name for one. `env_markers` are environment variables by which the agent is recognised,
    `signature_keys` sets of payload keys that only it has. `shape_readers` read a native tool's input whose shape is its
    own: they give the canonical tool and arguments. `variables` are what its hooks find in their environment: project,
    cwd, session, event or tool. `ends` says whether its event for the end of a session, if it has one, comes
    at every end or only at some; `transcripts` where it writes sessions down: the folder in the user's home, how its
    files end, and in which folder they are below what a variable names. `reply` writes a decision, which the point
    can hold, in the form that the agent honours at a native event; new input comes beside it in the agent's own
    words. `read_reply` reads what a hook written for the agent has answered; None if that is no answer.
    """

    name: str
    title: str
    source: str
    checked: str
    proof: Literal["proven", "captured", "documented"]
    vendor: str
    events: Mapping[str, str]
    tools: Mapping[str, str] = {}
    arguments: Mapping[str, Mapping[str, str]] = {}
    keys: Mapping[str, str] = {}
    details: Mapping[str, str] = {}
    modes: Mapping[str, Mode] = {}
    env_markers: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}
    home: str | None = None
    signature_keys: tuple[frozenset[str], ...] = ()
    permission_modes: frozenset[str] = frozenset()
    quirks: tuple[str, ...] = ()
    unwrap: Callable[[Object, str | None], Object] | None = None
    refine: Callable[[Facts, Object, Object], None] | None = None
    shape_readers: Mapping[str, Callable[[str, Object], tuple[str, Object]]] = {}
    mcp: Callable[[str, Facts], tuple[str, str] | None] | None = None
    mcp_name: Callable[[str, str], str] | None = None
    result: Callable[[Facts, str], Result] | None = None
    recognise: Callable[[Object], str | None] | None = None
    wrap: Callable[[Object, Event], Object] | None = None
    reply: Callable[[str, Decision, Object | None], Reply] | None = None
    read_reply: Callable[[str, Reply], Decision | None] | None = None
    encodes: bool = False
    ends: Literal["told", "sometimes"] = "told"
    transcripts: tuple[str, str, Mapping[str, str]] | None = None
    config: Config | None = None


Problem = tuple[str, str]  # a JSON path and what is wrong there


class Format(Struct, frozen=True, kw_only=True):
    """One event envelope: how a record is written to documents and read back.

    Its schema lies in `schemas/<name>.json`. `lacks` names what of a record the envelope has no trusted
    place for; `gaps` says the same in words, for the documentation and for formats that are never read.
    `readers` are named ways to read payloads that have no envelope: they are given an id and the time of receipt.
    """

    name: str
    title: str
    versions: tuple[str, ...]
    mime: str
    stream_mime: str | None = None
    write: Callable[[Record], list[Object]]
    read: Callable[[Object], Record] | None = None
    is_mine: Callable[[Object], bool]
    check: Callable[[Object, bool], tuple[list[Problem], list[Problem]]] | None = None
    variants: Mapping[str, Callable[[Record], list[Object]]] = {}
    readers: Mapping[str, Callable[[Object, str, str | None], Record]] = {}
    lacks: frozenset[str] = frozenset()
    gaps: tuple[Gap, ...] = ()
