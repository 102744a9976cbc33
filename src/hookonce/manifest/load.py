"""Reading and writing manifests: JSON or YAML, the seed's `hooks/1.0` and the newer text's `hooks/0.1`."""

from typing import Any

from msgspec.structs import asdict, fields

from hookonce.errors import HookonceError
from hookonce.manifest.problems import find_problems
from hookonce.model import Handler, Hook, Manifest, Object, Problem
from hookonce.texts import load as parse_json

_DARWIN_NAMES = ("osx", "macos", "darwin")
_HANDLER_ATTRIBUTES = {field.encode_name: field.name for field in fields(Handler) if field.name != "extra"}
_HOOK_ATTRIBUTES = {field.encode_name: field.name for field in fields(Hook) if field.name not in {"extra", "handler"}}


class ManifestError(HookonceError):
    """A manifest that cannot be used; `problems` holds every fault with its path."""

    def __init__(self, problems: list[Problem]) -> None:
        first = "; ".join(f"{path}: {message}" for path, message in problems[:3])
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""  # noqa: PLR2004  as many as a line holds
        super().__init__(f"the manifest has problems: {first}{more}")
        self.problems = problems


def parse_document(raw: bytes) -> Any:
    """The document of a manifest's bytes; YAML unless it begins like JSON."""
    try:
        text = raw.decode("utf-8-sig")
        if text.lstrip()[:1] in {"{", "["}:
            return parse_json(text)
        return _load_yaml(text)
    except UnicodeDecodeError as fault:
        raise ManifestError([("$", f"invalid UTF-8 at byte {fault.start}")]) from None
    except RecursionError:
        raise ManifestError([("$", "the document is nested too deeply")]) from None
    except ValueError as fault:
        raise ManifestError([("$", f"neither JSON nor YAML: {fault}")]) from None


def _load_yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as fault:
        raise ValueError(" ".join(str(fault).split())) from None


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
    attributes = {_HOOK_ATTRIBUTES[key]: value for key, value in document.items() if key in _HOOK_ATTRIBUTES and value is not None}
    extra = {key: value for key, value in document.items() if key not in _HOOK_ATTRIBUTES and key != "handler"}
    return Hook(handler=_parse_handler(document["handler"]), extra=extra, **attributes)


def _parse_handler(document: Object) -> Handler:
    attributes = {_HANDLER_ATTRIBUTES[key]: value for key, value in document.items() if key in _HANDLER_ATTRIBUTES and value is not None}
    if "platform" in attributes:
        attributes["platform"] = {("darwin" if name in _DARWIN_NAMES else name): text for name, text in attributes["platform"].items()}
    return Handler(extra={key: value for key, value in document.items() if key not in _HANDLER_ATTRIBUTES}, **attributes)


def dump_manifest(manifest: Manifest) -> Object:
    """The document of a manifest, as its own specification spells it."""
    darwin_name = "osx" if manifest.spec == "hooks/1.0" else "darwin"
    return {"spec": manifest.spec, "hooks": [dump_hook(hook, darwin_name) for hook in manifest.hooks]} | manifest.extra


def dump_hook(hook: Hook, darwin_name: str = "darwin") -> Object:
    """The document of one hook; `apple` is what its system is called there."""
    document = _dump_attributes(hook, _HOOK_ATTRIBUTES)
    if hook.matcher == []:  # no default: an empty list fits no tool, and no matcher fits every one
        document["matcher"] = []
    handler = _dump_attributes(hook.handler, _HANDLER_ATTRIBUTES)
    if platform := handler.get("platform"):
        handler["platform"] = {(darwin_name if name == "darwin" else name): text for name, text in platform.items()}
    return document | {"handler": handler | hook.handler.extra} | hook.extra


def _dump_attributes(noun: Hook | Handler, names: dict[str, str]) -> Object:
    """The fields that say something: a default is left out, a zero is not one."""
    values = asdict(noun)
    return {key: values[name] for key, name in names.items() if not _is_default(values[name])}


def _is_default(value: Any) -> bool:
    return value is None or value is False or (type(value) in (dict, list) and not value)
