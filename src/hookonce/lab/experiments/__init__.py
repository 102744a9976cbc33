"""Experiments: claims that are tried together, one module each, and the only list of them in running order."""

from collections.abc import Callable

from msgspec import Struct

from hookonce.lab.experiments import (
    asked,
    denied,
    failing,
    fires,
    here,
    prompt,
    rewritten,
    scripted,
    stops,
    transparent,
)
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim


class Experiment(Struct, frozen=True):
    """Experiment: the claims that it has for an agent, and the run that tries them."""

    name: str
    claim_names: Callable[[Bench], list[str]]
    run_experiment: Callable[[Bench], list[Claim]]


EXPERIMENTS = tuple(
    Experiment(module.__name__.rpartition(".")[2], module.claim_names, module.run_experiment)
    for module in (transparent, fires, denied, asked, rewritten, prompt, stops, failing, scripted, here)
)
