"""The matrix in words: what stands in its cells, on a terminal and in the documentation."""

from collections import Counter

from hookonce.journeys.matrix import Row, Setup, Sheet, Switch, Timeouts
from hookonce.texts import dump

MARKS = "proven: shown on the running agent; captured: on payloads it wrote; documented: only read about"
MARKED = (
    "Proof is per event: in that version it came, and answers had all its powers; else the table's mark",
    "contradicted: a claim about the event did not hold on the running agent; hookonce prove tells the evidence",
)
POWERS = (
    "prevents: an answer can refuse; retries: it can make the agent go on; context: it can add text for the model",
    "fails: what becomes of the action when its hook dies or is late; open also where nobody has seen it refused",
)
NOT_YET = "its configuration is not converted yet"
CELLS = ("power", "ask", "rewrite", "fails", "proof")
COUNTS = ("events", "prevent", "ask", "rewrite", "crash", "proof", "checked")

_NONE = "–"
_UNKNOWN = "?"
_FATES = {"open": "the tool call goes on (open)", "closed": "the tool call is refused (closed)"}
_ASKS = {
    "native": "asks",
    "denies_headless": "asks, and denies where nobody can be asked",
    "ignored": "ask is ignored",
    "fatal": "ask ends the agent",
}


def counts(sheet: Sheet) -> tuple[str, ...]:
    """The agent in the overview, column by column as in COUNTS."""
    found = Counter(power for row in sheet.points for power in row.powers)
    asks = sum(row.ask in ("native", "denies_headless") for row in sheet.points)
    known: tuple[str, ...] = (_UNKNOWN,) * 4
    if sheet.config is not None:
        known = (str(found["prevents"]), str(asks), str(found["rewrites"]), sheet.config.failure.crash)
    return (str(len(sheet.points)), *known, proof(sheet), sheet.checked)


def proof(sheet: Sheet) -> str:
    """How much of the agent is proven, and on which version; the mark of its table if it was never run."""
    if sheet.certificate is None:
        return sheet.proof
    shown = sum(row.proven_on is not None for row in sheet.points)
    return f"proven {shown}/{len(sheet.points)} on {sheet.certificate.version}"


def mark(row: Row) -> str:
    """How a row is known, and on which version it was shown or contradicted."""
    if row.contradicted:
        return f"{row.proof}, contradicted on {row.contradicted_on}"
    return row.proof if row.proven_on is None else f"{row.proof} on {row.proven_on}"


def cells(row: Row) -> tuple[str, ...]:
    """What a row says, column by column as in CELLS."""
    return (power(row), said(row.ask), said(row.rewrite), _fails(row), mark(row))


def sentence(row: Row) -> str:
    """The same in one cell, without what does not apply."""
    found = [f"rewrites: {row.rewrite}" if word == "rewrites" else word for word in row.powers]
    found += [_ASKS[row.ask]] if row.ask in _ASKS else []
    found += [f"fails {_fails(row)}"] if row.crash is not None else []
    return " · ".join(found + remarks(row)) or _UNKNOWN


def remarks(row: Row) -> list[str]:
    """What is out of the ordinary: a point that nobody installs unasked, or that has little time."""
    found = [row.install] if row.install in ("opt-in", "never") else []
    return found + ([f"cap {seconds(row.cap)}"] if row.cap is not None else [])


def power(row: Row) -> str:
    """What an answer can do; a rewrite has a column of its own, unless it is all there is."""
    words = [word for word in row.powers if word != "rewrites"] or row.powers
    return ", ".join(words) or _UNKNOWN


def said(word: str | None) -> str:
    """A word of the table; a dash where the agent has no such thing."""
    if word is None:
        return _UNKNOWN
    return _NONE if word in ("none", "no") else word.replace("_", " ")


def _fails(row: Row) -> str:
    if row.crash == row.late:
        return row.crash or (_NONE if row.powers else _UNKNOWN)
    return "open if late" if row.late == "open" else "open if killed"


def seconds(number: float | None) -> str:
    """A number of seconds, if there is one."""
    return _NONE if number is None else f"{number:.10g} s"


def notes(rows: list[Row]) -> list[str]:
    """Why some points are not installed unless asked for, or never."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row.why is not None:
            found.setdefault((said(row.install), row.why), []).append(row.event)
    return [f"{install}: {', '.join(events)}: {why}" for (install, why), events in found.items()]


def contradictions(sheet: Sheet) -> str | None:
    """The claims that did not hold on the running agent."""
    if sheet.certificate is None or not sheet.certificate.contradicted:
        return None
    return f"contradicted on {sheet.certificate.version}: {', '.join(sheet.certificate.contradicted)}"


def places(setup: Setup) -> list[tuple[str, str]]:
    """Where hooks live, and what must be true for them to run."""
    found = [(f"{scope} file", file) for scope, file in setup.files.items()]
    found += [(f"also read, {scope}", ", ".join(files)) for scope, files in setup.reads.items()]
    found += [("also obeys hooks of", ", ".join(setup.borrows))] if setup.borrows else []
    found += [("language", setup.language), ("programs", ", ".join(setup.programs) or _NONE)]
    found += [("before hooks run", setup.trust or "no step known")]
    return found + [
        ("turned off by", f"{'.'.join(off.keys)}: {_json(off.value)} in {off.file}") for off in setup.switches
    ]


def abilities(setup: Setup) -> list[tuple[str, str]]:
    """What an entry can say, and what the agent can do with it."""
    kinds = [
        (f"{kind} handler", ", ".join(_pair(*key) for key in keys.items())) for kind, keys in setup.handlers.items()
    ]
    several = [(f"{tool} is", " or ".join(names)) for tool, names in setup.ambiguous.items()]
    has = [(name, "yes" if there else "no") for name, there in setup.capabilities.items()]
    quiet = f"prints {setup.silence or 'nothing'}"
    return [
        *kinds,
        ("matcher", setup.matching),
        *several,
        ("timeout", _limits(setup.timeouts)),
        *has,
        ("no opinion", quiet),
    ]


def failures(setup: Setup) -> list[tuple[str, str]]:
    """What becomes of a call whose hook fails, and what can be done about it."""
    failure = setup.failure
    switch = "none" if failure.switch is None else _written(failure.switch)
    unless = "" if failure.switch is None else f", unless the entry says {switch}"
    passing = f"{', '.join(failure.open_at)}{unless}" if failure.open_at else "nowhere"
    return [
        ("a hook crashes", _FATES[failure.crash]),
        ("a hook is late", _FATES[failure.late]),
        ("fail-closed switch", switch),
        ("a killed hook is open at", passing),
    ]


def _written(switch: Switch) -> str:
    return f"{switch.key}: {_json(switch.value)}"


def _limits(timeouts: Timeouts) -> str:
    unit = f"in {timeouts.unit}" if timeouts.unit else "an entry cannot set one"
    small = f", numbers below {timeouts.least} being seconds" if timeouts.least else ""
    default = "no default known" if timeouts.default is None else f"default {seconds(timeouts.default)}"
    longest = "" if timeouts.longest is None else f"; at most {seconds(timeouts.longest)}"
    return f"{unit}{small}; {default}{longest}"


def _pair(field: str, key: str) -> str:
    return key if field == key else f"{key} ({field})"


def _json(value: object) -> str:
    return dump(value).decode()
