"""A hook that is a module: which one it is, whether it may be asked, and what its answer means."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookonce.config import settings
from hookonce.errors import HookonceError
from hookonce.formats import amplifier
from hookonce.handlers.errand import Ran
from hookonce.handlers.module import ON_EVENT, Invocation
from hookonce.ids import fresh
from hookonce.journeys.chosen import Chosen
from hookonce.journeys.kernel import keep
from hookonce.manifest.discover import Scope
from hookonce.model import Event, Handler, Record
from hookonce.modules.descriptor import Descriptor, load, unmountable
from hookonce.modules.gate import judged, listed, wishes
from hookonce.modules.protocol import answer_of
from hookonce.texts import dump
from hookonce.texts import load as parse
from hookonce.times import now, seconds

if TYPE_CHECKING:
    from hookonce.handlers.http import Post


def errand_of(chosen: Chosen, event: Event, env: dict[str, str]) -> "Post | Invocation":
    """What is to be done so that the module hears of the event, as Amplifier Event v1."""
    descriptor = reachable(chosen.hook.handler, Path(chosen.folder), chosen.scope)
    _admit(descriptor, event)
    documents = amplifier.write(Record(event=event))
    if not documents:
        raise HookonceError(f"{event.type} cannot be told as an event of Amplifier")
    request = {"op": ON_EVENT, "args": {"event": documents[0]}}
    if event.session is not None:
        request["session_id"] = event.session
    if descriptor.transport.type == "stdio":
        return Invocation(descriptor=descriptor, request=request)
    return _post(descriptor, dump(request), env)


def reachable(handler: Handler, folder: Path, scope: Scope) -> Descriptor:
    """The module that a handler means; an error that says why it cannot be asked."""
    if scope == "project":
        raise HookonceError("a project's hooks start no modules; put the hook into your own manifest")
    descriptor = load(folder / (handler.file or ""))
    if problems := unmountable(descriptor):
        told = "; ".join(f"{path} {message}" for path, message in problems)
        raise HookonceError(f"the module {descriptor.name} cannot be reached: {told}")
    return descriptor


def obstacles(handler: Handler, folder: Path, scope: Scope) -> Iterator[tuple[str, str]]:
    """What keeps a module from hearing of events, as a kind and a sentence; it is not started to find that out."""
    if handler.type != "module":
        return
    try:
        descriptor = reachable(handler, folder, scope)
    except HookonceError as problem:
        yield "module", f"cannot run: {problem}"
        return
    if denied := _denied(descriptor, None):
        yield "module", f"cannot run: {_forbidden(descriptor, denied)}"
    word = next(iter(descriptor.transport.command), "")
    found = Path(descriptor.folder or "", word) if "/" in word else which(word)
    if word and (found is None or not Path(found).exists()):
        yield "missing", f"cannot run: there is no program {word}, which {descriptor.name} wants to be started with"


def _post(descriptor: Descriptor, body: bytes, env: dict[str, str]) -> "Post":
    from hookonce.handlers.http import post_of

    told, name = descriptor.transport, descriptor.transport.token_env
    headers = {} if name is None else {"Authorization": f"Bearer ${{{name}}}"}
    handler = Handler(
        type="http", url=f"{(told.url or '').rstrip('/')}/invoke", headers=headers, allowed_env=[name] if name else []
    )
    return post_of(handler, body, env, is_heard=True)


def _admit(descriptor: Descriptor, event: Event) -> None:
    """Refuse a module that wants what the settings do not grant; that is an event of its own."""
    denied = _denied(descriptor, event.session)
    for capability in denied:
        keep(
            {
                "id": fresh(),
                "ts": seconds(now()) or 0.0,
                "event": "policy:decision",
                "component": "kernel",
                "module": descriptor.name,
                "status": "denied",
                "data": {"capability": capability, "op": ON_EVENT},
            }
            | ({} if event.session is None else {"session_id": event.session})
        )
    if denied:
        raise HookonceError(_forbidden(descriptor, denied))


def _denied(descriptor: Descriptor, session: str | None) -> list[str]:
    policies = {"settings": listed(settings.grants())}.items()
    wanted = wishes(descriptor, ON_EVENT, session)
    return [wish.capability for wish in wanted if not judged(wish, policies).granted]


def _forbidden(descriptor: Descriptor, denied: list[str]) -> str:
    name, words = dump(descriptor.name).decode(), dump(denied).decode()
    told = f"forbidden: {descriptor.name} wants {', '.join(denied)}, which [grants] of config.toml does not grant"
    return f"{told}; to do so, write there: {name} = {words}"


def understood(ran: Ran) -> Ran:
    """How it went in the words of hooks: the result as what a command would have written, an error as a failure."""
    if ran.failure is not None:
        return ran
    try:
        answer = answer_of(parse(ran.stdout.decode()))
    except ValueError:
        return replace(ran, code=None, failure="internal: it answered with something that is no JSON")
    if answer.error is not None:
        return replace(ran, code=None, stdout=b"", failure=f"{answer.error.code}: {answer.error.message}")
    return replace(ran, stdout=dump(answer.result) if type(answer.result) is dict else b"")
