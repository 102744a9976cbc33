"""Which provider a model's id speaks of, and the spellings that formats want of both."""

from functools import lru_cache

from hookonce.canon.reasons import MODEL_PROVIDERS


@lru_cache(maxsize=256)
def provider_of(model: str) -> str | None:
    """The provider of a model id: what stands before the slash, else what the id begins with."""
    vendor, slash, _ = model.partition("/")
    if slash:
        return vendor or None
    return next((provider for prefix, provider in MODEL_PROVIDERS if model.startswith(prefix)), None)


@lru_cache(maxsize=256)
def qualify_model(model: str) -> str:
    """`provider/model`, where the provider is known."""
    provider = provider_of(model)
    return model if provider is None or "/" in model else f"{provider}/{model}"
