"""Agent handlers: a language model with tools is asked about an event, by a configured command."""

from msgspec.structs import replace

from hookonce.config.models import load_model_settings
from hookonce.handlers.process import ProcessContext
from hookonce.handlers.prompt import ModelQuery, prepare_command, prepare_endpoint, model_gap
from hookonce.model import Handler


def prepare_agent(handler: Handler, payload: bytes, process_context: ProcessContext) -> ModelQuery:
    """Prepare an agent hook (a model with tools); with only an endpoint, its model is queried once without tools."""
    model_config = load_model_settings()
    command = model_config.agent or model_config.command
    if command:
        return prepare_command(command, handler, payload, process_context, model_config, has_tools=True)
    model_query = prepare_endpoint(model_config.endpoint or "", handler, payload, process_context, model_config)
    tools_gap = model_gap("a server answers once and has no tools: this agent runs as a prompt; models.agent names a command")
    return replace(model_query, gaps=[*model_query.gaps, tools_gap])
