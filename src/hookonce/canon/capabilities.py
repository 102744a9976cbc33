"""What hooks may need of an agent, and what becomes of a hook where the agent lacks it.

`input_rewrite` is a matter of safety: a hook that was to rewrite a dangerous input must not run without
being able to, so that its default is to block.
"""

from hookonce.model import Strategy

CAPABILITIES: dict[str, Strategy] = {
    "structured_output": "warn",
    "input_rewrite": "block",
    "llm_evaluated": "exclude",
    "http_handler": "warn",
    "async_execution": "warn",
    "platform_commands": "warn",
    "custom_env": "warn",
    "configurable_cwd": "warn",
}

# The capabilities that speak of a hook's answer: naming one in `degradation` shows that the hook gives one.
OUTPUT_CAPABILITIES = frozenset({"structured_output", "input_rewrite"})
