"""Loading, validation and dumping of manifests: JSON or YAML, `hooks/1.0` and `hooks/0.1`, and `.openhook.json`."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import fields, replace

from hookonce.base.jsontext import decode_text
from hookonce.base.jsontext import load as parse_json
from hookonce.base.regex import lazy_pattern
from hookonce.errors import HookonceError
from hookonce.manifest import schema
from hookonce.manifest.match import find_matcher_problems
from hookonce.manifest.schema import MAX_TIMEOUT_S, PLATFORMS, REQUIRED_FIELDS, SPEC_REGEX, FieldSpec, JsonKind
from hookonce.model import Handler, Hook, Manifest, Object, Problem
from hookonce.vocabulary.events import EVENTS
from hookonce.vocabulary.tools import ARGUMENTS

MANIFEST_SPEC = "hooks/1.0"  # of the manifests that we write, unless another is asked for
NATIVE_NAMES_SPEC = "hooks/0.1"  # the version in which patterns are about native names alone
SUPPORTED_SPECS = (MANIFEST_SPEC, NATIVE_NAMES_SPEC)
_ANY_SPEC = lazy_pattern(r"hooks/[0-9]+\.[0-9]+")
_READABLE_SPEC = lazy_pattern(SPEC_REGEX)

# JSON kind → the types of its values, and its name in messages
_KINDS: dict[JsonKind, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a string"),
    "boolean": ((bool,), "true or false"),
    "number": ((int, float), "a number"),
    "array": ((list,), "a list"),
    "object": ((dict,), "an object"),
}
NO_HOOKS_PROBLEM = ("$.hooks", "expected at least one hook")  # a problem for who reads it, but plain to who runs it


def find_problems(document: Any) -> tuple[list[Problem], list[Problem]]:
    """The problems that make a manifest unusable, and the warnings."""
    if type(document) is not dict:
        return [("$", "expected an object with spec and hooks")], []
    spec = document.get("spec")
    fault = _explain_spec_fault(spec)
    problems = [] if fault is None else [("$.spec", fault)]
    is_known = fault is not None or spec in SUPPORTED_SPECS
    warnings = [] if is_known else [("$.spec", f"{spec} is not known; read as the nearest version")]
    hooks = document.get("hooks")
    if type(hooks) is not list:
        problems.append(("$.hooks", "is required" if hooks is None else "expected a list"))
        return problems, warnings
    if not hooks:
        problems.append(NO_HOOKS_PROBLEM)
    for index, hook in enumerate(hooks):
        problems += _hook_problems(hook, f"$.hooks[{index}]")
        warnings += _hook_warnings(hook, f"$.hooks[{index}]")
    return problems, warnings


def _explain_spec_fault(spec: Any) -> str | None:
    if spec in SUPPORTED_SPECS:
        return None
    if type(spec) is not str or _ANY_SPEC.fullmatch(spec) is None:
        return "is required" if spec is None else "expected hooks/1.0 or hooks/0.1"
    is_readable = _READABLE_SPEC.fullmatch(spec) is not None
    return None if is_readable else f"{spec} is newer than what can be read: hooks/0.x and hooks/1.x; upgrade hookonce"


def _hook_problems(hook: Any, path: str) -> Iterator[Problem]:
    if type(hook) is not dict:
        yield path, "expected an object"
        return
    event = hook.get("event")
    if type(event) is not str or not event:
        yield f"{path}.event", "is required" if event is None else "expected the name of an event"
    yield from _field_problems(hook, schema.HOOK_FIELDS, path)
    if hook.get("matcher") is not None:
        yield from find_matcher_problems(hook["matcher"], f"{path}.matcher")
    if hook.get("on_failure") == "closed" and hook.get("blocking") is not True:
        yield f"{path}.on_failure", "closed is only for a hook with blocking: true"
    if hook.get("on_failure") == "closed" and hook.get("environment") == "caller":
        yield (
            f"{path}.environment",
            "the caller's PATH decides what the hook runs, so environment: caller cannot be combined with closed",
        )
    handler = hook.get("handler")
    yield from _handler_problems(handler, f"{path}.handler")
    if hook.get("on_failure") == "closed" and type(handler) is dict:
        if handler.get("async") is True:
            yield f"{path}.handler.async", "the agent does not wait for an async hook, so it cannot be closed"
        if handler.get("timeout_action") == "warn":
            yield f"{path}.handler.timeout_action", "timeout_action: warn and on_failure: closed contradict each other"
    kind = handler.get("type") if type(handler) is dict else None
    if kind in ("function", "module") and hook.get("dialect") not in {None, "canonical"}:
        events = "canonical events" if kind == "function" else "Amplifier events"
        yield f"{path}.dialect", f"a {kind} is given {events}, and no other dialect"


def _handler_problems(handler: Any, path: str) -> Iterator[Problem]:
    if type(handler) is not dict:
        yield path, "is required" if handler is None else "expected an object"
        return
    kind = handler.get("type")
    if type(kind) is not str or kind not in REQUIRED_FIELDS:
        yield f"{path}.type", "is required" if kind is None else f"expected one of {', '.join(REQUIRED_FIELDS)}"
    elif not handler.get(REQUIRED_FIELDS[kind]):
        yield f"{path}.{REQUIRED_FIELDS[kind]}", f"is required for a handler of type {kind}"
    yield from _field_problems(handler, schema.HANDLER_FIELDS, path)
    timeout: Any = handler.get("timeout")
    if type(timeout) in (int, float) and not 0 <= timeout <= MAX_TIMEOUT_S:
        yield f"{path}.timeout", f"expected seconds, 0 to {MAX_TIMEOUT_S}"


def _field_problems(document: Object, fields: Mapping[str, FieldSpec], path: str) -> Iterator[Problem]:
    for name, field in fields.items():
        value, where = document.get(name), f"{path}.{name}"
        if value is None:
            continue
        yield from _value_problems(value, field.kind, () if field.entries else field.choices, where)
        if field.entries is None or type(value) not in _KINDS[field.kind][0]:
            continue
        for key, entry in value.items() if type(value) is dict else enumerate(value):
            place = f"{where}.{key}" if type(value) is dict else f"{where}[{key}]"
            if field.keys and key not in field.keys:
                continue  # what nobody knows is ignored at every depth
            yield from _value_problems(entry, field.entries, field.choices, place)


def _value_problems(value: Any, kind: JsonKind, choices: tuple[str, ...], path: str) -> Iterator[Problem]:
    types, noun = _KINDS[kind]
    if type(value) not in types:
        yield path, f"expected {noun}"
    elif choices and value not in choices:
        yield path, f"expected one of {', '.join(choices)}"


def _hook_warnings(hook: Any, path: str) -> Iterator[Problem]:
    if type(hook) is not dict:
        return
    event = hook.get("event")
    if type(event) is str and event and event not in EVENTS and not event.startswith("vendor."):
        yield f"{path}.event", f"{event} is not a canonical event; it is used unchanged"
    matcher = hook.get("matcher")
    for name in matcher if type(matcher) is list else [matcher]:
        if type(name) is str and name not in ARGUMENTS:
            yield f"{path}.matcher", f"{name} is not a canonical tool; it is used unchanged"
    handler = hook.get("handler")
    if type(handler) is not dict:
        return
    if handler.get("type") == "http" and type(url := handler.get("url")) is str:
        yield from _url_warnings(url, f"{path}.handler.url")


def _url_warnings(url: str, path: str) -> Iterator[Problem]:
    from hookonce.manifest.http_script import explain_url_fault  # most hooks are no servers

    if (fault := explain_url_fault(url)) is not None:
        yield path, f"will not be called: {fault}"


_DARWIN_NAMES = ("osx", "macos", "darwin")
_HANDLER_ATTRIBUTES = {field.encode_name: field.name for field in fields(Handler) if field.name != "extra"}
_HOOK_ATTRIBUTES = {field.encode_name: field.name for field in fields(Hook) if field.name not in {"extra", "handler"}}


PROBLEMS_PREFIX = "the manifest has problems: "


class ManifestError(HookonceError):
    """A manifest that cannot be used; `problems` holds every fault with its path."""

    def __init__(self, problems: list[Problem]) -> None:
        first = "; ".join(f"{path}: {message}" for path, message in problems[:3])
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""  # noqa: PLR2004  as many as a line holds
        super().__init__(f"{PROBLEMS_PREFIX}{first}{more}")
        self.problems = problems


def parse_document(raw: bytes) -> Any:
    """The document of a manifest's bytes; YAML unless it begins like JSON."""
    try:
        text = decode_text(raw)
        return parse_json(text) if text.lstrip()[:1] in {"{", "["} else _load_yaml(text)
    except UnicodeDecodeError as fault:
        raise ManifestError([("$", f"invalid UTF-8 at byte {fault.start}")]) from None
    except RecursionError:
        raise ManifestError([("$", "the document is nested too deeply")]) from None
    except ValueError as fault:
        from json import JSONDecodeError  # loaded for such a fault only

        message = f"not valid JSON: {fault}"
        if isinstance(fault, JSONDecodeError):
            message = f"line {fault.lineno}, column {fault.colno}: not valid JSON: {fault.msg}"
        raise ManifestError([("$", message)]) from None


def _load_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as fault:
        mark = getattr(fault, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        reason = " ".join(str(getattr(fault, "problem", None) or fault).split())
        raise ManifestError([("$", f"{place}not valid YAML: {reason}")]) from None


def duplicate_key_paths(raw: bytes) -> list[str]:
    """The paths of the keys that a manifest repeats; the last of them counts, in JSON as in YAML."""
    text = decode_text(raw)
    if text.lstrip()[:1] in {"{", "["}:
        from hookonce.base.json_stream import duplicate_paths

        return duplicate_paths(text.encode())
    import yaml

    return list(_yaml_duplicates(yaml.compose(text, Loader=yaml.SafeLoader), "$", set()))


def _yaml_duplicates(node: Any, path: str, visits: set[int]) -> Iterator[str]:
    """Of a node and those below it; an alias is looked at once."""
    if id(node) in visits or node is None or type(node.value) is str:
        return
    visits.add(id(node))
    if node.id == "sequence":
        for index, item in enumerate(node.value):
            yield from _yaml_duplicates(item, f"{path}[{index}]", visits)
        return
    keys: set[str] = set()
    for key, value in node.value:
        name = str(key.value)
        if name in keys and name != "<<":
            yield f"{path}.{name}"
        keys.add(name)
        yield from _yaml_duplicates(value, f"{path}.{name}", visits)


def load_manifest(raw: bytes) -> Manifest:
    """The manifest, or every problem of it at once."""
    document = parse_document(raw)
    problems, _ = find_problems(document)
    if problems:
        raise ManifestError(problems)
    return build_manifest(document)


def build_manifest(document: Object) -> Manifest:
    """A document without problems as a Manifest; unknown fields are kept."""
    hooks = [parse_hook(hook) for hook in document["hooks"]]
    extra = {key: value for key, value in document.items() if key not in {"spec", "hooks"}}
    return Manifest(spec=document["spec"], hooks=hooks, extra=extra)


def parse_hook(document: Object) -> Hook:
    """One hook of such a document."""
    attributes, extra = _split_attributes(document, _HOOK_ATTRIBUTES)
    handler_attributes, handler_extra = _split_attributes(extra.pop("handler"), _HANDLER_ATTRIBUTES)
    if platform := handler_attributes.get("platform"):
        handler_attributes["platform"] = {
            "darwin" if name in _DARWIN_NAMES else name: text
            for name, text in platform.items()
            if name in PLATFORMS or type(text) is str
        }
    return _read_save(Hook(handler=Handler(extra=handler_extra, **handler_attributes), extra=extra, **attributes))


# hooks/0.1 has one event for every change of a file, and tells by Kiro's own trigger that it is a saved one.
_CHANGE_EVENT, _SAVE_EVENT, _SAVE_TRIGGER = "file_changed", "file_saved", ("kiro", "trigger", "File Save")


def _read_save(hook: Hook) -> Hook:
    """A hook on changes that Kiro would run on a saved file is one on saved files."""
    slug, key, value = _SAVE_TRIGGER
    own_data = hook.provider_data.get(slug, {})
    if hook.event != _CHANGE_EVENT or own_data.get(key) != value:
        return hook
    own_data = {name: item for name, item in own_data.items() if name != key}
    data = {name: item for name, item in hook.provider_data.items() if name != slug}
    return replace(hook, event=_SAVE_EVENT, provider_data=data | ({slug: own_data} if own_data else {}))


def name_event(hook: Hook, spec: str) -> Hook:
    """The hook with its event in the words of a version."""
    if spec != NATIVE_NAMES_SPEC or hook.event != _SAVE_EVENT:
        return hook
    slug, key, value = _SAVE_TRIGGER
    own_data = hook.provider_data.get(slug, {}) | {key: value}
    return replace(hook, event=_CHANGE_EVENT, provider_data=hook.provider_data | {slug: own_data})


def _split_attributes(document: Object, names: dict[str, str]) -> tuple[Object, Object]:
    """The attributes of a noun that a document has, and all that is none."""
    attributes = {names[key]: value for key, value in document.items() if key in names and value is not None}
    return attributes, {key: value for key, value in document.items() if key not in names}


def dump_manifest(manifest: Manifest) -> Object:
    """The document of a manifest, as its own specification spells it."""
    darwin_name = "osx" if manifest.spec == "hooks/1.0" else "darwin"
    return {"spec": manifest.spec, "hooks": [dump_hook(hook, darwin_name) for hook in manifest.hooks]} | manifest.extra


def dump_hook(hook: Hook, darwin_name: str = "darwin") -> Object:
    """The document of one hook; `darwin_name` is what macOS is called there."""
    document = _dump_attributes(hook, _HOOK_ATTRIBUTES)
    if hook.matcher == []:  # no default: an empty list fits no tool, and no matcher fits every one
        document["matcher"] = []
    handler = _dump_attributes(hook.handler, _HANDLER_ATTRIBUTES)
    if platform := handler.get("platform"):
        handler["platform"] = {(darwin_name if name == "darwin" else name): text for name, text in platform.items()}
    return document | {"handler": handler | hook.handler.extra} | hook.extra


def _dump_attributes(noun: Hook | Handler, names: dict[str, str]) -> Object:
    """The fields that say something: a default is left out, a zero is not one."""
    values = {key: getattr(noun, name) for key, name in names.items()}
    present = {key: value for key, value in values.items() if value is not None and value is not False}
    return {key: value for key, value in present.items() if value not in ({}, [])}


EVERY_EVENT = "*"
OPENHOOK_VERSIONS = ("0.1",)
OPENHOOK_DIALECT = "openhook"


def load_openhook_file(data: bytes) -> Manifest:
    """The manifest of an `.openhook.json`, one hook for each event of an entry; what is no entry is left out."""
    try:
        document: Any = parse_json(decode_text(data))
    except (ValueError, RecursionError) as problem:
        raise HookonceError(f"not JSON: {problem}") from None
    entries = document.get("hooks") if type(document) is dict else None
    if type(entries) is not list:
        raise HookonceError("expected an object with openhook and hooks")
    hooks = [hook for number, entry in enumerate(entries, 1) for hook in _parse_observer(entry, number)]
    return Manifest(spec=f"openhook/{document.get('openhook')}", hooks=hooks)


def _parse_observer(entry: Any, number: int) -> list[Hook]:
    command = entry.get("command") if type(entry) is dict else None
    events = entry.get("events", [EVERY_EVENT]) if type(entry) is dict else None
    if type(command) is not str or not command or type(events) is not list:
        return []
    handler = Handler(type="command", command=command, background=entry.get("async") is True)
    names = [EVERY_EVENT] if EVERY_EVENT in events else dict.fromkeys(name for name in events if type(name) is str)
    return [Hook(event=name, name=f"observer {number}", handler=handler, dialect=OPENHOOK_DIALECT) for name in names]


def openhook_types_of(kind: str) -> set[str]:
    """The names that an event of a canonical kind may have in OpenHook: its own, and that of the files it wrote."""
    row = EVENTS.get(kind)
    types = {row.openhook} if row is not None and row.openhook else set()
    return types | ({"file.write"} if kind == "after_tool_execute" else set())
