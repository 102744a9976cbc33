"""Experiments: claims that are tried together, and the only list of them in running order."""

from collections.abc import Callable

from msgspec import Struct

from hookonce.lab.experiments import decisions, failing, fires, here, transparent
from hookonce.lab.fakes.scenarios import DENIABLE_STEPS
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim


class Experiment(Struct, frozen=True):
    """Experiment: the claims that it has for an agent, and the run that tries them."""

    name: str
    claim_names: Callable[[Bench], list[str]]
    run_experiment: Callable[[Bench], list[Claim]]


def _single_claim(name: str, claim: str, try_claim: Callable[[Bench], Claim]) -> Experiment:
    return Experiment(name, lambda _bench: [claim], lambda bench: [try_claim(bench)])


EXPERIMENTS = (
    _single_claim("transparent", "transparent", transparent.try_transparency),
    Experiment("fires", fires.claim_names, fires.run_experiment),
    Experiment("denied", lambda _bench: [f"deny:{step}" for step in DENIABLE_STEPS], decisions.try_denials),
    _single_claim("asked", "ask", decisions.try_ask),
    _single_claim("rewritten", "rewrite", decisions.try_rewrite),
    _single_claim("prompt", "prompt", decisions.try_denied_prompt),
    _single_claim("stops", "stop", decisions.try_denied_stop),
    Experiment("failing", failing.claim_names, failing.run_experiment),
    _single_claim("scripted", "claude-script", decisions.try_claude_script),
    Experiment("here", here.claim_names, here.run_experiment),
)
