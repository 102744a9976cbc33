"""Prompt handlers: a language model is asked about an event, by a configured command or at a server."""

import shlex
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.config.models import HOW, Models, chosen, models
from hookonce.errors import HookonceError
from hookonce.handlers.errand import Ran
from hookonce.handlers.http import Post, request_of
from hookonce.handlers.judged import Judged
from hookonce.handlers.process import Job, World
from hookonce.handlers.question import judged, question
from hookonce.manifest.http_script import fault_of_url
from hookonce.model import Gap, Handler, Usage
from hookonce.store.prices import cost_of
from hookonce.texts import dump, load

_PATH = "/chat/completions"
_UNTOLD = "neither the hook nor the setting models.model tells it"
_MODEL = "{model}"  # where in a command the name of the model stands


class Asking(Struct, frozen=True, kw_only=True):
    """What is to be done so that a model is asked, which one that is, and what is to be said of it."""

    errand: Job | Post
    model: str | None
    gaps: list[Gap]


def asking(handler: Handler, given: bytes, world: World) -> Asking:
    """A model, to be asked about an event; an error that says why none can be."""
    known = models()
    if known.command:
        return by_command(known.command, handler, given, world, known)
    if known.endpoint:
        return by_endpoint(known.endpoint, handler, given, world, known)
    raise HookonceError(f"only hooks of type agent have a language model here: {HOW}")


def by_command(
    command: str, handler: Handler, given: bytes, world: World, known: Models, *, looks_around: bool = False
) -> Asking:
    """By a command of the user's that reads the question on stdin; it is told the model where it has a place for it."""
    model = chosen(handler.model, known)
    rules, asked, gaps = question(handler.prompt or "", given, looks_around=looks_around)
    if _MODEL in command:
        if model is None:
            raise HookonceError(f"models.command wants the name of a model; {_UNTOLD}")
        command = command.replace(_MODEL, shlex.quote(model))
    elif handler.model:
        gaps = [*gaps, gap(f"the configured command chooses the model; the hook would have {handler.model}")]
        model = None
    return Asking(errand=Job(command, f"{rules}\n\n{asked}\n".encode(), world, 0.0), model=model, gaps=gaps)


def by_endpoint(endpoint: str, handler: Handler, given: bytes, world: World, known: Models) -> Asking:
    """At a server; its key comes from the environment in which the agent was started."""
    model = chosen(handler.model, known)
    if model is None:
        raise HookonceError(f"nobody says which model is asked; {_UNTOLD}")
    if (fault := fault_of_url(endpoint)) is not None:
        raise HookonceError(f"{endpoint} is not called: {fault}")
    headers = {}
    if known.key_env:
        if not (key := world.env.get(known.key_env)):
            raise HookonceError(f"{known.key_env} (models.key_env) is not set where the agent was started")
        if not (key.isascii() and key.isprintable()):
            raise HookonceError(f"the environment variable {known.key_env} holds no key")
        headers["Authorization"] = f"Bearer {key}"
    rules, asked, gaps = question(handler.prompt or "", given)
    messages = [{"role": "system", "content": rules}, {"role": "user", "content": asked}]
    body = dump({"model": model, "messages": messages, "stream": False})
    url = endpoint.rstrip("/").removesuffix(_PATH) + _PATH
    return Asking(errand=Post(request=request_of(url, headers, body)), model=model, gaps=gaps)


def heard(asking: Asking, ran: Ran) -> Judged:
    """What came of it; whatever is no answer is a failure, which the hook's fail mode decides."""
    if ran.failure is not None:
        return Judged(ran=ran, decision=None, model=asking.model)
    if isinstance(asking.errand, Post):
        return _of_endpoint(asking, ran)
    if ran.code != 0:  # 2 would be a refusal of a hook, and this is none
        failed = replace(ran, failure=f"the command for models ended with exit code {ran.code}", code=None)
        return Judged(ran=failed, decision=None, model=asking.model)
    return _said(ran, ran.stdout.decode(errors="replace"), asking.model, None)


def _of_endpoint(asking: Asking, ran: Ran) -> Judged:
    try:
        found: Any = load(ran.stdout.decode(errors="replace"))
        text = found["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        text = None
    if type(text) is not str:
        failed = replace(ran, failure="the model's server answered without a message", code=None)
        return Judged(ran=failed, decision=None, model=asking.model)
    told = found.get("model")
    return _said(ran, text, told if type(told) is str and told else asking.model, _usage(found.get("usage")))


def _said(ran: Ran, text: str, model: str | None, usage: Usage | None) -> Judged:
    decision, gaps = judged(text)
    if decision is None:
        ran = replace(ran, failure="the model's answer is no decision", code=None)
    cost = None
    if usage is not None:
        with suppress(HookonceError):  # prices that cannot be read are told by doctor
            cost = cost_of(model, usage)
    micros = None if cost is None else cost.micros
    return Judged(ran=ran, decision=decision, model=model, usage=usage, cost_micros=micros, gaps=gaps)


def _usage(told: Any) -> Usage | None:
    if type(told) is not dict:
        return None
    details = told.get("prompt_tokens_details")
    found = Usage(
        input_tokens=_count(told.get("prompt_tokens")),
        output_tokens=_count(told.get("completion_tokens")),
        cache_read_tokens=_count(details.get("cached_tokens")) if type(details) is dict else None,
        total_tokens=_count(told.get("total_tokens")),
    )
    return None if found == Usage() else found


def _count(told: Any) -> int | None:
    return told if type(told) is int and 0 <= told < 1 << 53 else None


def gap(note: str) -> Gap:
    """Something that a hook wanted of a model, and that is not so."""
    return Gap(where="$.runs", capability="llm_evaluated", strategy="warn", effect="observes", note=note)
