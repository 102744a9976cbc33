"""Calling a module, the same way however it is reached."""

from collections.abc import Mapping
from typing import Protocol

from hookonce.model import Json, Object, Problem
from hookonce.modules.descriptor import Descriptor, unmountable
from hookonce.modules.life import Watch
from hookonce.modules.protocol import DESCRIBED, HEALTH_TIMEOUT, TIMEOUT, Answer, Error, Fault, Request, answer_of

_HEALTH, _DESCRIBE = Request("health"), Request("describe")
_LISTS = ("capabilities",)
_SCHEMAS = ("inputs", "outputs")


class Link(Protocol):
    """A way to a module."""

    def ask(self, request: Request, timeout: float) -> Object:
        """The document that the module answers with; a failure of the way there is an answer as well."""

    def close(self) -> None:
        """Go no more."""


def connect(descriptor: Descriptor, *, env: Mapping[str, str] | None = None, watch: Watch | None = None) -> Link:
    """The link to a described module; nothing is started or called before somebody asks something."""
    if problems := unmountable(descriptor):
        said = "; ".join(f"{path} {message}" for path, message in problems)
        raise Fault(
            "bad_request", f"{descriptor.name} cannot be reached: {said}", {"problems": list(map(list, problems))}
        )
    told = descriptor.transport
    if told.type == "stdio":
        from hookonce.modules.stdio import Stdio

        return Stdio(told.command, cwd=descriptor.folder, env=env, watch=watch)
    from hookonce.modules.http import Http

    return Http(told.url or "", token_env=told.token_env, env=env, watch=watch)


def invoke(
    link: Link, op: str, args: Object | None = None, *, session_id: str | None = None, timeout: float = TIMEOUT
) -> Answer:
    """What an operation comes to."""
    return answer_of(link.ask(Request(op, args or {}, session_id), timeout))


def health(link: Link, timeout: float = HEALTH_TIMEOUT) -> Answer:
    """Whether a module is well: ok, with its status, or an error."""
    answer = _plain(link.ask(_HEALTH, timeout))
    if not answer.ok:
        return answer
    status = answer.result.get("status") if type(answer.result) is dict else None
    return answer if status == "ok" else _failed(f"its status is not ok but {status!r}", {"status": status})


def describe(link: Link, timeout: float = TIMEOUT) -> Answer:
    """What a module says about itself, or an error that names everything that is missing."""
    answer = _plain(link.ask(_DESCRIBE, timeout))
    problems = described_problems(answer.result) if answer.ok else []
    if not problems:
        return answer
    said = "; ".join(f"{path} {message}" for path, message in problems)
    return _failed(f"its description has problems: {said}", {"problems": list(map(list, problems))})


def _plain(document: Json) -> Answer:
    """Health and describe are answered as they are; some modules answer them as if they were invoked."""
    return answer_of(document) if type(document) is not dict or "ok" in document else Answer(ok=True, result=document)


def described_problems(document: Json) -> list[Problem]:
    """What a description lacks."""
    if type(document) is not dict:
        return [("$", "expected an object")]
    problems = [(f"$.{name}", "is required") for name in DESCRIBED if name not in document]
    for name in DESCRIBED:
        value = document.get(name)
        if value is None:
            continue
        if name in _LISTS:
            good, wanted = type(value) is list and all(type(one) is str for one in value), "a list of texts"
        elif name in _SCHEMAS:
            good, wanted = type(value) in (dict, bool), "a JSON Schema"
        else:
            good, wanted = type(value) is str, "a text"
        if not good:
            problems.append((f"$.{name}", f"expected {wanted}"))
    return problems


def _failed(message: str, details: Object) -> Answer:
    return Answer(ok=False, error=Error("internal", f"the module answered, but {message}", details))
