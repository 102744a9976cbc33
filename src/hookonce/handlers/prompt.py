"""Prompt handlers: a language model is asked about an event, by a configured command or at a server."""

import shlex
from contextlib import suppress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.config.models import SETUP_HINT, ModelSettings, select_model, load_model_settings
from hookonce.errors import HookonceError
from hookonce.handlers.errand import OperationResult
from hookonce.handlers.http import HttpOperation, build_http_request
from hookonce.handlers.judged import HandlerResult
from hookonce.handlers.process import CommandOperation, ProcessContext
from hookonce.handlers.question import parse_decision, build_question
from hookonce.manifest.http_script import explain_url_fault
from hookonce.model import Gap, Handler, Usage
from hookonce.store.prices import cost_of
from hookonce.texts import dump, load

_CHAT_PATH = "/chat/completions"
_NO_MODEL_NOTE = "neither the hook nor the setting models.model tells it"
_MODEL_PLACEHOLDER = "{model}"  # where in a command the name of the model stands


class ModelQuery(Struct, frozen=True, kw_only=True):
    """Prepared query of a model: the operation, the model's name, and gaps."""

    operation: CommandOperation | HttpOperation
    model: str | None
    gaps: list[Gap]


def prepare_prompt(handler: Handler, payload: bytes, process_context: ProcessContext) -> ModelQuery:
    """Prepare a prompt hook; an error that says why no model can be asked."""
    model_config = load_model_settings()
    if model_config.command:
        return prepare_command(model_config.command, handler, payload, process_context, model_config)
    if model_config.endpoint:
        return prepare_endpoint(model_config.endpoint, handler, payload, process_context, model_config)
    raise HookonceError(f"only hooks of type agent have a language model here: {SETUP_HINT}")


def prepare_command(
    command: str, handler: Handler, payload: bytes, process_context: ProcessContext, model_config: ModelSettings, *, has_tools: bool = False
) -> ModelQuery:
    """Prepare a query through a configured command, which reads the prompt on stdin and may name the model."""
    model = select_model(handler.model, model_config)
    rules, user_prompt, gaps = build_question(handler.prompt or "", payload, has_tools=has_tools)
    if _MODEL_PLACEHOLDER in command:
        if model is None:
            raise HookonceError(f"models.command wants the name of a model; {_NO_MODEL_NOTE}")
        command = command.replace(_MODEL_PLACEHOLDER, shlex.quote(model))
    elif handler.model:
        gaps = [*gaps, model_gap(f"the configured command chooses the model; the hook would have {handler.model}")]
        model = None
    return ModelQuery(operation=CommandOperation(command, f"{rules}\n\n{user_prompt}\n".encode(), process_context, 0.0), model=model, gaps=gaps)


def prepare_endpoint(endpoint: str, handler: Handler, payload: bytes, process_context: ProcessContext, model_config: ModelSettings) -> ModelQuery:
    """Prepare a query of an HTTP endpoint; its key comes from the environment in which the agent was started."""
    model = select_model(handler.model, model_config)
    if model is None:
        raise HookonceError(f"nobody says which model is asked; {_NO_MODEL_NOTE}")
    if (fault := explain_url_fault(endpoint)) is not None:
        raise HookonceError(f"{endpoint} is not called: {fault}")
    headers = {}
    if model_config.key_env:
        if not (key := process_context.env.get(model_config.key_env)):
            raise HookonceError(f"{model_config.key_env} (models.key_env) is not set where the agent was started")
        if not (key.isascii() and key.isprintable()):
            raise HookonceError(f"the environment variable {model_config.key_env} holds no key")
        headers["Authorization"] = f"Bearer {key}"
    rules, user_prompt, gaps = build_question(handler.prompt or "", payload)
    messages = [{"role": "system", "content": rules}, {"role": "user", "content": user_prompt}]
    body = dump({"model": model, "messages": messages, "stream": False})
    url = endpoint.rstrip("/").removesuffix(_CHAT_PATH) + _CHAT_PATH
    return ModelQuery(operation=HttpOperation(request=build_http_request(url, headers, body)), model=model, gaps=gaps)


def parse_model_result(model_query: ModelQuery, result: OperationResult) -> HandlerResult:
    """Parse the result; whatever is no answer is a failure, which the hook's fail mode decides."""
    if result.failure is not None:
        return HandlerResult(result=result, decision=None, model=model_query.model)
    if isinstance(model_query.operation, HttpOperation):
        return _parse_endpoint_result(model_query, result)
    if result.code != 0:  # 2 would be a refusal of a hook, and this is none
        failure = replace(result, failure=f"the command for models ended with exit code {result.code}", code=None)
        return HandlerResult(result=failure, decision=None, model=model_query.model)
    return _build_result(result, result.stdout.decode(errors="replace"), model_query.model, None)


def _parse_endpoint_result(model_query: ModelQuery, result: OperationResult) -> HandlerResult:
    try:
        document: Any = load(result.stdout.decode(errors="replace"))
        text = document["choices"][0]["message"]["content"]
    except (ValueError, RecursionError, LookupError, TypeError):
        text = None
    if type(text) is not str:
        failure = replace(result, failure="the model's server answered without a message", code=None)
        return HandlerResult(result=failure, decision=None, model=model_query.model)
    reported_model = document.get("model")
    return _build_result(result, text, reported_model if type(reported_model) is str and reported_model else model_query.model, _parse_usage(document.get("usage")))


def _build_result(result: OperationResult, text: str, model: str | None, usage: Usage | None) -> HandlerResult:
    decision, gaps = parse_decision(text)
    if decision is None:
        result = replace(result, failure="the model's answer is no decision", code=None)
    cost = None
    if usage is not None:
        with suppress(HookonceError):  # prices that cannot be read are told by doctor
            cost = cost_of(model, usage)
    micros = None if cost is None else cost.micros
    return HandlerResult(result=result, decision=decision, model=model, usage=usage, cost_micros=micros, gaps=gaps)


def _parse_usage(document: Any) -> Usage | None:
    if type(document) is not dict:
        return None
    details = document.get("prompt_tokens_details")
    usage = Usage(
        input_tokens=_token_count(document.get("prompt_tokens")),
        output_tokens=_token_count(document.get("completion_tokens")),
        cache_read_tokens=_token_count(details.get("cached_tokens")) if type(details) is dict else None,
        total_tokens=_token_count(document.get("total_tokens")),
    )
    return None if usage == Usage() else usage


def _token_count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def model_gap(note: str) -> Gap:
    """Gap: something that a hook wanted of a model and does not get."""
    return Gap(where="$.runs", capability="llm_evaluated", strategy="warn", effect="observes", note=note)
