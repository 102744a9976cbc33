"""What an agent's own file cannot hold, kept in a document of ours beside it.

An agent's file has no place for a hook's name, its strategies, what it may allow, other agents' data, and more or
less of the rest. `side` compares a manifest with what the agent will read from the file that was just made
of it, and keeps every difference, hook by hook; `restored` puts them back. The file itself stays the
agent's: a field is put back only while the file says about it what it said then, and a hook that somebody
took out or added since is out or in.

    fitting = degrade(manifest, config.capabilities)
    document, gaps = config.render(agent, fitting.hooks, wording)
    read, _ = config.parse(agent, document)
    beside = side(manifest, fitting.hooks, read)                        # JSON, to be kept in a file
    ...
    restored(Manifest(spec="hooks/0.1", hooks=read), beside) == manifest

The document is `{"side": "hookonce/1", "spec", "extra", "hooks": [...]}`. Each of its hooks is found again by
`event`, `type`, `runs` (the command, URL or prompt) and `number` (which of several that are alike); `index` is its
place in the manifest, and `fields` its differences in three parts (hook, handler, provider_data), each a name with
what was `read` and what was `meant`, left out where there was nothing. A hook without any place in the agent's file
is there whole, as `lost`; one that only the file has, with no index, belongs to another one and is dropped again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from re import fullmatch

from msgspec.structs import replace

from hookonce.manifest.fields import SPEC
from hookonce.manifest.http_script import unscripted
from hookonce.manifest.load import dump_hook, hook_of
from hookonce.manifest.problems import problems_of
from hookonce.model import Hook, Json, Manifest, Object

VERSION = "hookonce/1"
Place = tuple[str, str, str, int]  # event, type of handler, what it runs, and which one of those
_PLACE = ("event", "type", "runs", "number")
_PARTS = ("handler", "provider_data")


def side(manifest: Manifest, written: list[tuple[int, Hook]], read: list[Hook]) -> Object:
    """What `restored` needs to make the manifest of what the agent reads.

    `written` are the hooks that were rendered, with their indices in the manifest, and `read` is what the
    agent's `parse` finds in the result; of both, HTTP handlers may be commands or not.
    """
    waiting = dict(_placed(read))
    kept = dict(
        zip((index for index, _ in written), (place for place, _ in _placed(hook for _, hook in written)), strict=True)
    )
    hooks: list[Object] = []
    for index, hook in enumerate(manifest.hooks):
        place = kept.get(index)
        found = None if place is None else waiting.pop(place, None)
        if place is None or found is None:
            hooks.append({"index": index, "lost": dump_hook(hook)})
        else:
            hooks.append(_at(place) | {"index": index, "fields": fields_without_place(hook, found)})
    hooks += [_at(place) | {"index": None} for place in waiting]
    return {"side": VERSION, "spec": manifest.spec, "extra": manifest.extra, "hooks": hooks}


def fields_without_place(meant: Hook, read: Hook) -> Object:
    """The fields of a hook of which the agent reads something else: of the hook, its handler and its agents' data."""
    ours, theirs = _parts(meant), _parts(read)
    found = {part: _differences(ours[part], theirs[part]) for part in ours}
    return {part: fields for part, fields in found.items() if fields}


def restored(manifest: Manifest, beside: Json) -> Manifest:
    """The manifest that a file was made from, as far as the file still says the same; any document is borne."""
    document = beside if type(beside) is dict else {}
    told = [hook for hook in _listed(document.get("hooks")) if type(hook) is dict]
    known = {tuple(hook.get(name) for name in _PLACE): hook for hook in told if _is_plain(hook)}
    found: list[tuple[int, Hook]] = [*_lost(told)]
    new = len(told)  # what the document does not know comes last
    for place, hook in _placed(manifest.hooks):
        entry = known.get(place, {"index": new})
        if type(entry.get("index")) is int:
            found.append((entry["index"], _completed(hook, entry.get("fields"))))
    hooks = [hook for _, hook in sorted(found, key=lambda pair: pair[0])]
    spec, extra = document.get("spec"), document.get("extra")
    return Manifest(
        spec=spec if type(spec) is str and fullmatch(SPEC, spec) else manifest.spec,
        hooks=hooks,
        extra=manifest.extra | _without(extra if type(extra) is dict else {}, "spec", "hooks"),
    )


def _placed(hooks: Iterable[Hook]) -> Iterator[tuple[Place, Hook]]:
    """Each hook with what it is found by; a command that stands for an HTTP handler is that handler."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for hook in hooks:
        plain = replace(hook, handler=unscripted(hook.handler))
        handler = plain.handler
        key = (plain.event, handler.type, handler.command or handler.url or handler.prompt or "")
        yield (*key, seen[key]), plain
        seen[key] += 1


def _at(place: Place) -> Object:
    return dict(zip(_PLACE, place, strict=True))


def _is_plain(hook: Object) -> bool:
    return all(type(hook.get(name)) in (str, int) for name in _PLACE)


def _parts(hook: Hook) -> dict[str, Object]:
    document = dump_hook(hook)
    return {"hook": _without(document, *_PARTS)} | {part: document.get(part, {}) for part in _PARTS}


def _differences(meant: Object, read: Object) -> Object:
    found: Object = {}
    for name in [*meant, *(name for name in read if name not in meant)]:
        told = {word: part[name] for word, part in (("read", read), ("meant", meant)) if name in part}
        if "read" not in told or "meant" not in told or told["read"] != told["meant"]:
            found[name] = told
    return found


def _completed(hook: Hook, fields: Json) -> Hook:
    """The hook with what it was meant to say, unless that would be no hook."""
    changes = fields if type(fields) is dict else {}
    parts = {name: _changed(part, changes.get(name)) for name, part in _parts(hook).items()}
    document = parts["hook"] | {name: parts[name] for name in _PARTS}
    faults = {*_faults(document)} - {*_faults(dump_hook(hook))}
    return hook if faults else hook_of(document)


def _changed(part: Object, changes: Json) -> Object:
    made = dict(part)
    for name, told in changes.items() if type(changes) is dict else ():
        if type(told) is dict and (name in part) == ("read" in told) and part.get(name) == told.get("read"):
            made.pop(name, None)
            made |= {name: told["meant"]} if "meant" in told else {}
    return made


def _lost(hooks: list[Object]) -> Iterator[tuple[int, Hook]]:
    for hook in hooks:
        index, whole = hook.get("index"), hook.get("lost")
        if type(index) is int and type(whole) is dict and not _faults(whole):
            yield index, hook_of(whole)


def _faults(hook: Object) -> list[tuple[str, str]]:
    return problems_of({"spec": "hooks/1.0", "hooks": [hook]})[0]


def _listed(value: Json) -> list[Json]:
    return value if type(value) is list else []


def _without(document: Object, *names: str) -> Object:
    return {name: value for name, value in document.items() if name not in names}
