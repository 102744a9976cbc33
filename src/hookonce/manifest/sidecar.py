"""Sidecar documents: what an agent's own file cannot hold of a manifest, kept in a document of ours beside it.

`build_sidecar` compares a manifest with what the agent will read from the file that was just made of it, and keeps
every difference, hook by hook; `restore_manifest` puts them back. The file itself stays the agent's: a field is put
back only while the file says about it what it said then, and a hook that somebody took out or added since is out or in.

The document is `{"side": "hookonce/1", "spec", "extra", "hooks": [...]}`. Each of its hooks is found again by
`event`, `type`, `runs` (the command, URL or prompt) and `number` (which of several that are alike); `index` is
its place in the manifest, and `fields` its differences in three parts (hook, handler, provider_data), each a
name with what was `read` and what was `meant`, left out where there was nothing. A hook without any place in the
agent's file is there whole, as `lost`; one that only the file has, with no index, belongs to another one and is
dropped again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from re import fullmatch

from msgspec.structs import replace

from hookonce.manifest.http_script import to_http_handler
from hookonce.manifest.load import dump_hook, find_problems, parse_hook
from hookonce.manifest.schema import SPEC_REGEX
from hookonce.model import Hook, Json, Manifest, Object

SIDECAR_VERSION = "hookonce/1"
HookPlace = tuple[str, str, str, int]  # event, type of handler, what it runs, and which one of those
_PLACE_FIELDS = ("event", "type", "runs", "number")
_PARTS = ("handler", "provider_data")


def build_sidecar(manifest: Manifest, rendered_hooks: list[tuple[int, Hook]], parsed_hooks: list[Hook]) -> Object:
    """The sidecar that `restore_manifest` needs, of the hooks by their indices and of what the agent parses again.

    Of both, HTTP handlers may be commands or not.
    """
    hook_by_place = dict(_with_places(parsed_hooks))
    places = [place for place, _ in _with_places(hook for _, hook in rendered_hooks)]
    place_by_index = {index: place for (index, _), place in zip(rendered_hooks, places, strict=True)}
    hooks: list[Object] = []
    for index, hook in enumerate(manifest.hooks):
        place = place_by_index.get(index)
        parsed_hook = None if place is None else hook_by_place.pop(place, None)
        if place is None or parsed_hook is None:
            hooks.append({"index": index, "lost": dump_hook(hook)})
        else:
            fields = {"index": index, "fields": fields_without_place(hook, parsed_hook)}
            hooks.append(dict(zip(_PLACE_FIELDS, place, strict=True)) | fields)
    hooks += [dict(zip(_PLACE_FIELDS, place, strict=True)) | {"index": None} for place in hook_by_place]
    return {"side": SIDECAR_VERSION, "spec": manifest.spec, "extra": manifest.extra, "hooks": hooks}


def fields_without_place(original: Hook, parsed_hook: Hook) -> Object:
    """The fields of a hook of which the agent reads something else: of the hook, its handler and its agents' data."""
    original_parts, parsed_parts = _parts(original), _parts(parsed_hook)
    differences = {part: _find_differences(original_parts[part], parsed_parts[part]) for part in original_parts}
    return {part: fields for part, fields in differences.items() if fields}


def restore_manifest(manifest: Manifest, sidecar: Json) -> Manifest:
    """The manifest that a file was made from, as far as the file still says the same; any document is borne."""
    document = sidecar if type(sidecar) is dict else {}
    rows = document.get("hooks")
    entries = [row for row in rows if type(row) is dict] if type(rows) is list else []
    places = [tuple(entry.get(name) for name in _PLACE_FIELDS) for entry in entries]
    is_place = [all(type(value) in (str, int) for value in place) for place in places]
    entry_by_place = {place: entry for place, entry, usable in zip(places, entries, is_place, strict=True) if usable}
    indexed_hooks: list[tuple[int, Hook]] = []
    for entry in entries:
        index, hook_document = entry.get("index"), entry.get("lost")
        if type(index) is int and type(hook_document) is dict and not _hook_faults(hook_document):
            indexed_hooks.append((index, parse_hook(hook_document)))
    new = len(entries)  # what the document does not know comes last
    for place, hook in _with_places(manifest.hooks):
        entry = entry_by_place.get(place, {})
        index = entry.get("index", new)
        if index is not None:  # null: this is the second half of a hook that had become two
            position = index if type(index) is int else new
            indexed_hooks.append((position, _apply_differences(hook, entry.get("fields"))))
    hooks = [hook for _, hook in sorted(indexed_hooks, key=lambda pair: pair[0])]
    spec, extra = document.get("spec"), document.get("extra")
    return Manifest(
        spec=spec if type(spec) is str and fullmatch(SPEC_REGEX, spec) else manifest.spec,
        hooks=hooks,
        extra=manifest.extra | _without_keys(extra if type(extra) is dict else {}, "spec", "hooks"),
    )


def _with_places(hooks: Iterable[Hook]) -> Iterator[tuple[HookPlace, Hook]]:
    """Each hook with what it is found by; a command that stands for an HTTP handler is that handler."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for hook in hooks:
        plain = replace(hook, handler=to_http_handler(hook.handler))
        handler = plain.handler
        key = (plain.event, handler.type, handler.command or handler.url or handler.prompt or "")
        yield (*key, counts[key]), plain
        counts[key] += 1


def _parts(hook: Hook) -> dict[str, Object]:
    document = dump_hook(hook)
    return {"hook": _without_keys(document, *_PARTS)} | {part: document.get(part, {}) for part in _PARTS}


def _find_differences(original: Object, read: Object) -> Object:
    names = [
        name for name in original | read if name not in original or name not in read or original[name] != read[name]
    ]
    parts = (("read", read), ("meant", original))
    return {name: {word: part[name] for word, part in parts if name in part} for name in names}


def _apply_differences(hook: Hook, fields: Json) -> Hook:
    changes = fields if type(fields) is dict else {}
    parts = {name: _apply_changes(part, changes.get(name)) for name, part in _parts(hook).items()}
    document = parts["hook"] | {name: parts[name] for name in _PARTS}
    faults = {*_hook_faults(document)} - {*_hook_faults(dump_hook(hook))}
    return hook if faults else parse_hook(document)


def _apply_changes(part: Object, changes: Json) -> Object:
    result = dict(part)
    for name, change in changes.items() if type(changes) is dict else ():
        if type(change) is dict and (name in part) == ("read" in change) and part.get(name) == change.get("read"):
            result.pop(name, None)
            result |= {name: change["meant"]} if "meant" in change else {}
    return result


def _hook_faults(hook: Object) -> list[tuple[str, str]]:
    return find_problems({"spec": "hooks/1.0", "hooks": [hook]})[0]


def _without_keys(document: Object, *names: str) -> Object:
    return {name: value for name, value in document.items() if name not in names}
