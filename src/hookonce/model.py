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
    """The human at the keyboard: a pseudonym, unless a setting or the caller names them."""

    id: str | None = None
    name: str | None = None


class Actor(_Noun, frozen=True, kw_only=True):
    """Who did it."""

    type: ActorType
    id: str | None = None
    name: str | None = None


class Origin(_Noun, frozen=True, kw_only=True):
    """Where an event came from: a format, its id and its document's keyed digest there, or entries that called us."""

    format: str | None = None
    id: str | None = None
    via: list[str] = []
    digest: str | None = None


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
    """What a hook runs."""

    type: str  # command, http, prompt, agent, function or module
    command: str | None = None  # the command line, for a shell
    platform: dict[str, str] = {}  # other command lines by platform
    cwd: str | None = None  # the directory to run in
    env: dict[str, str] = {}  # variables besides those of the caller
    timeout: int | float | None = None  # seconds
    timeout_action: Literal["warn", "block"] | None = None  # what a timeout means
    background: bool = False  # started, and not waited for
    status_message: str | None = None  # what the agent shows meanwhile
    url: str | None = None  # where an event is posted
    method: str | None = None  # the HTTP method
    headers: dict[str, str] = {}  # HTTP headers; ${NAME} stands for a variable
    allowed_env: list[str] = []  # variables that headers may name
    prompt: str | None = None  # the question to a language model
    model: str | None = None  # the language model
    file: str | None = None  # the Python file, or the descriptor of a module
    name: str | None = None  # the function in that file
    extra: Object = {}  # fields that we do not know

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
    order: Literal["manifest", "any"] | None = None  # any: beside its neighbours, without new input or an allow
    on_deny: Literal["continue", "stop"] | None = None  # stop: once it refuses, the hooks after it are not asked
    environment: Literal["installation", "caller"] | None = None  # whose PATH and the like the hook has
    isolation: Literal["worker", "fork"] | None = None  # fork: each call of a function has a process of its own
    dialect: str | None = None
    privacy: Literal["minimal", "standard", "full"] | None = None  # what it is told, if its dialect is an open format
    files: list[str] = []
    extra: Object = {}

    @property
    def must_answer(self) -> bool:
        """Whether it blocks and fails closed: nothing goes on without its answer."""
        return self.blocking and self.on_failure == "closed"


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
    """One lifecycle point of an agent: what an answer can do there, and whether we ask to be called."""

    capabilities: frozenset[str] = frozenset()  # prevent, retry, rewrite, context …; none: a hook can only observe
    ask: AskMode = "none"  # what an `ask` becomes
    rewrite: RewriteMode | None = None  # how new input is taken
    install: InstallMode = "default"  # whether `install` writes an entry
    why: str | None = None  # why it is not written by default
    hard_timeout_s: int | float | None = None  # when the agent goes on, whatever an entry's timeout says


Review = Callable[[str, Object, Callable[[str], bool]], dict[str, Object]]  # marks: path, document, which commands
Wording = Callable[["Hook", str], str | None]  # the command that stands for a hook at a native event


class Config(Struct, frozen=True, kw_only=True):
    """How an agent is configured with hooks: where, in what shape, and what an answer can do there."""

    files: Mapping[str, str]  # the file that we write, by scope
    # hooks as the agent's document, with what it cannot say
    render: "Callable[[Agent, list[tuple[int, Hook]], Wording], tuple[Object, list[Gap]]]"
    parse: "Callable[[Agent, Object], tuple[list[Hook], list[Gap]]]"  # the document as hooks, with what we cannot say
    points: Mapping[str, Point]  # lifecycle points by configured name; others can only be observed
    events: Mapping[str, str] = {}  # canonical events by configured name, where payloads use others
    override_files: Mapping[str, str] = {}  # files that hide those of `files`; they hold the event map bare
    language: Literal["json", "toml", "code"] = "json"  # `code`: the document is `{"files": {name: text}}`
    reads: Mapping[str, tuple[str, ...]] = {}  # further files, or globs, in which the agent finds hooks
    programs: tuple[str, ...] = ()  # names of its program on the path
    exec_since: str | None = None  # version that first starts a program with `args`, without a shell; None: no version
    borrows: tuple[str, ...] = ()  # agents whose configuration it obeys as well
    capabilities: frozenset[str] = frozenset()  # what an entry can say, of vocabulary.decision_merge.CAPABILITIES
    matching: str = "pattern"  # how its matchers are evaluated
    subjects: Mapping[str, tuple[str, str]] = {}  # events whose matchers are about no tool: about what, and their style
    units: int = 1  # how many units of an entry's timeout make a second
    min_unit: int = 0  # smaller numbers are taken for seconds all the same
    timeout: int | float | None = None  # the default, in seconds
    longest: int | float | None = None  # the longest timeout that it accepts, in seconds
    crash: Literal["open", "closed"] = "open"  # whether a tool call goes on when its hook crashes
    on_timeout: Literal["open", "closed"] = "open"  # the same when its hook is late
    handlers: Mapping[str, Mapping[str, str]] = {}  # handler types, and the key of each field in an entry
    exit_code_refuses: bool = True  # whether exit code 2 of a hook refuses in every version, as most agents have it
    fail_closed_key: tuple[str, Json] | None = None  # key and value with which an entry fails closed
    ambiguous: Mapping[str, list[str]] = {}  # native tools that are several canonical ones at once
    excluded_tools: frozenset[str] = frozenset()  # tools that a matcher leaves out: old names, or another system's
    silence: str = ""  # what a hook without an opinion prints
    switches: tuple[tuple[str, tuple[str, ...], Json], ...] = ()  # settings that turn hooks off: file, keys, value
    trust: str | None = None  # what its user has to do before hooks run
    review: tuple[str, tuple[str, ...], Review] | None = None  # where it keeps which were reviewed: file, keys, marks
    repairable: bool = False  # whether doctor and adopt change its files
    notice: tuple[str, str] | None = None  # event at which its user is told what no model reads, and how that is known


class CompactionRule(Struct, frozen=True, kw_only=True):
    """When an agent compacts by default: at a share of the model's window, or earlier, a reserve before its end."""

    share: float = 1.0
    reserve: int = 0  # tokens
    windows: Mapping[str, int] = {}  # windows that the agent itself assumes, by model; `*` for any other
    max_window: int | None = None  # of models with a larger window it is not known
    source: str  # where this is from
    date: str  # the day on which that was read


class Agent(Struct, frozen=True, kw_only=True):
    """One coding agent: its own column of every table, and only those functions that differ."""

    name: str  # lowercase, with dashes
    title: str  # as its makers write it
    source: str  # where all this is from
    checked: str  # the day on which the source was read
    proof: Literal["proven", "captured", "documented"]  # how well it is known
    vendor: str  # its maker, as a reversed domain name
    events: Mapping[str, str]  # canonical events by native name
    tools: Mapping[str, str] = {}  # canonical tools by native name
    arguments: Mapping[str, Mapping[str, str]] = {}  # canonical argument names by native ones, under a tool or `*`
    keys: Mapping[str, str] = {}  # slots of the event by payload key
    details: Mapping[str, str] = {}  # names in `Event.data` by payload key
    modes: Mapping[str, Mode] = {}  # canonical modes by native ones
    env_markers: tuple[str, ...] = ()  # environment variables by which it is recognised
    variables: Mapping[str, str] = {}  # what its hooks find in their environment: project, cwd, session, event or tool
    user_key: str | None = None  # payload key that says whose session it is, by an address or a name
    home: str | None = None  # its directory in the user's home
    signature_keys: tuple[frozenset[str], ...] = ()  # sets of payload keys that only it has
    script_words: tuple[str, ...] = ()  # of scripts for it alone: a `word`, a `.key` read, a `key: value` answered
    permission_modes: frozenset[str] = frozenset()  # modes that only it has, by which it is recognised
    quirks: tuple[str, ...] = ()  # what surprises, for its page
    unwrap: Callable[[Object, str | None], Object] | None = None  # the payload inside a call
    refine: Callable[[Facts, Object, Object], None] | None = None  # corrects the facts of a payload
    shape_readers: Mapping[str, Callable[[str, Object], tuple[str, Object]]] = {}  # of native tools with odd input
    mcp: Callable[[str, Facts], tuple[str, str] | None] | None = None  # server and tool of an MCP call
    mcp_name: Callable[[str, str], str] | None = None  # the native name of an MCP tool
    result: Callable[[Facts, str], Result] | None = None  # the result of a tool call
    recognise: Callable[[Object], str | None] | None = None  # the event of a payload that does not name it
    recognise_keys: tuple[frozenset[str], ...] = ()  # sets of payload keys; without one of them `recognise` says None
    wrap: Callable[[Object, Event], Object] | None = None  # the inverse of `unwrap`
    reply: Callable[[str, Decision, Object | None], Reply] | None = None  # a decision, and new input, in native words
    read_reply: Callable[[str, Reply], Decision | None] | None = None  # a native answer as a decision; None: it is none
    encodes: bool = False  # whether payloads can be written as well as read
    ends: Literal["told", "sometimes"] = "told"  # whether a session's end is told at every end or only at some
    transcripts: tuple[str, str, Mapping[str, str]] | None = None  # folder in the home, suffix, folders below variables
    compaction: CompactionRule | None = None  # None: nobody knows when it compacts
    config: Config  # how it is configured with hooks


Problem = tuple[str, str]  # a JSON path and what is wrong there


class Format(Struct, frozen=True, kw_only=True):
    """One event envelope: how a record is written to documents and read back. Its schema is `schemas/<name>.json`."""

    name: str  # as `--to` and `--from` take it
    title: str  # as its makers write it
    versions: tuple[str, ...]  # which of its versions are read, the newest first
    mime: str = "application/json"  # MIME type of one document
    stream_mime: str | None = None  # MIME type of a stream
    write: Callable[[Record], list[Object]]  # the documents of a record
    omits: Callable[[Event], bool] | None = None  # whether an event has no documents, told before it is redacted
    read: Callable[[Object], Record] | None = None  # the record of a document; None: it is never read
    id_path: tuple[str, ...] = ()  # the keys that lead to a document's id; none: it has none of its own
    type_key: str = ""  # the member that names the event type of a document that tools send us themselves
    check: Callable[[Object, bool], tuple[list[Problem], list[Problem]]] | None = None  # faults beyond the schema
    variants: Mapping[str, Callable[[Record], list[Object]]] = {}  # other ways to write it, by name
    # ways to read payloads without an envelope, given an id and the time of receipt
    readers: Mapping[str, Callable[[Object, str, str | None], Record]] = {}
    lacks: frozenset[str] = frozenset()  # what of a record has no trusted place in it
    gaps: tuple[Gap, ...] = ()  # the same in words, for documentation
