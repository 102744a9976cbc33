"""An experiment: claims that are tried together. This list is the only one of them, in the order in which they run."""

from collections.abc import Callable

from msgspec import Struct

from hookonce.lab.claim import Claim
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
from hookonce.lab.stage import Bench


class Experiment(Struct, frozen=True):
    """Experiment: the claims that it has for an agent, and the run that tries them."""

    name: str
    claim_names: Callable[[Bench], list[str]]
    run_experiment: Callable[[Bench], list[Claim]]


EXPERIMENTS = tuple(
    Experiment(module.__name__.rpartition(".")[2], module.claims, module.run)
    for module in (transparent, fires, denied, asked, rewritten, prompt, stops, failing, scripted, here)
)
