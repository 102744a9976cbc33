"""docs/certificates.md: what the certificates in docs/certificates say, and nothing else."""

import re
from pathlib import Path

from certificate_powers import claim_group, load_certificates, newest_by_agent, proven_events
from page import GENERATED_NOTE, code, plain, table

from hookonce import agents
from hookonce.inspect.agent_matrix import build_sheet
from hookonce.lab.prove.certificate import Certificate, ClaimState, count_states

FOLDER = Path(__file__).resolve().parent / "certificates"
INTRODUCTION = """\
A certificate is the result of running a real agent, in one version, offline against a scripted model, in a temporary
home with hookonce installed as a user would install it. Each claim of hookonce's tables about the agent's hooks *held*,
was *contradicted*, is *unreachable* (it needs a person at a terminal, or the agent has no such feature) or *untried*,
each with the evidence. It says nothing about other versions, settings or machines. You can repeat each run."""
OWN = """\
## Your own

```sh
hookonce prove                                     # the agents that you have, in the versions that you have
hookonce lab fetch codex                           # or one of those below, from npm
hookonce prove codex --pinned --tries 3 --out certificates
```

`--out` writes the files from which this page is generated, [one for each version](certificates) in the form of
[this schema](../schemas/prove.json). `make prove` runs all agents in their pinned versions."""
LEGEND = """\
✓ held, ✗ contradicted, – unreachable, ? untried; of several claims, how many held, with ✗ if one is contradicted. An
empty cell: nothing of the kind is claimed of this agent."""
MS = """\
*ms more per call*: how much time hookonce adds between two model calls; it runs before and after each tool. This is
the difference of two medians of a few calls each, so it is only a rough figure."""
SIGNS: dict[ClaimState, str] = {"held": "✓", "contradicted": "✗", "unreachable": "–", "untried": "?"}
WORDS = {
    "transparent": "without hooks, files, exit code and what the model is sent are the same as without hookonce",
    "fires": "events for which install adds an entry, and that came",
    "context": "events at which the model was sent what a hook said",
    "deny:shell": "a refused command does not run",
    "deny:write": "a refused file is not written",
    "deny:edit": "a refused edit changes nothing",
    "deny:read": "what a refused file says never reaches the model",
    "deny:mcp": "a refused tool of an MCP server is not called",
    "deny:agent": "a refused sub-agent does not work",
    "ask": "where no person can be asked, a call with the decision ask is not made",
    "rewrite": "a hook's new input is what runs; where the agent cannot take one, nothing runs",
    "prompt": "a refused prompt never reaches the model",
    "stop": "an agent that may not stop continues with the reason, and may stop in the end",
    "closed": "a hook crashes, times out or gives an invalid answer: with `on_failure: closed` the call is not made",
    "open": "the same with `on_failure: open`: the call is made",
    "daemon-death": "the daemon is killed while a hook runs: the call is not made, the next one is answered",
    "claude-script": "a script for Claude Code stops `rm -rf` here too, unchanged",
    "here": "the user's own installation is called, its refusal holds and doctor finds nothing",
}
OPEN: tuple[ClaimState, ...] = ("contradicted", "unreachable", "untried")


def pages() -> dict[str, str]:
    """The page by its place in the repository."""
    return {"docs/certificates.md": "\n".join(page(load_certificates(FOLDER)))}


def page(certificates: list[Certificate]) -> list[str]:
    """All certificates beside each other, then each by itself."""
    lines = ["# Certificates", "", GENERATED_NOTE, "", INTRODUCTION, "", OWN, "", "## All in short", ""]
    if not certificates:
        return [*lines, "None is kept here yet.", ""]
    head = ("agent", "version", "date", *SIGNS, "tries", "ms more per call")
    lines += [*table(head, [_short(one) for one in certificates]), "", MS, ""]
    lines += ["## Claim by claim", "", LEGEND, "", *_beside(certificates), ""]
    latest = newest_by_agent(certificates)
    for one in certificates:
        lines += _whole(one, latest[one.agent])
    return lines


def anchor(agent: str, version: str) -> str:
    """Where a certificate stands on the page."""
    return re.sub(r"[^\w-]", "", f"{agent} {version}".lower().replace(" ", "-"))


def _short(one: Certificate) -> tuple[str, ...]:
    link = f"[{one.version}](#{anchor(one.agent, one.version)})"
    extra = "not measured" if one.extra_ms is None else f"{one.extra_ms:.0f}"
    return code(one.agent), link, one.date, *map(str, count_states(one).values()), str(one.tries), extra


def _beside(certificates: list[Certificate]) -> list[str]:
    found = {_row(claim.claim) for one in certificates for claim in one.claims}
    rows = [
        (code(row), words, *(_cell(one, row) for one in certificates)) for row, words in WORDS.items() if row in found
    ]
    return table(("claims", "what is claimed", *(f"{one.agent} {one.version}" for one in certificates)), rows)


def _row(claim: str) -> str:
    """The row of the table that a claim belongs to."""
    return claim if claim in WORDS else claim_group(claim)


def _cell(one: Certificate, row: str) -> str:
    """How the claims of a row have fared: the sign of the only one, or how many held."""
    states = {claim.claim: claim.state for claim in one.claims if _row(claim.claim) == row}
    if row in states:
        return SIGNS[states[row]]
    found = set(states.values())
    sign = SIGNS["contradicted"] if "contradicted" in found else SIGNS[found.pop()] if len(found) == 1 else ""
    held = sum(state == "held" for state in states.values())
    return f"{sign} {held} of {len(states)}".strip() if states else ""


def _whole(one: Certificate, latest: Certificate) -> list[str]:
    """One certificate: when and how it was made, the events that it proves, and every claim that has not held."""
    lines = [f"## {one.agent} {one.version}", ""]
    tries = "Each claim was tried once" if one.tries == 1 else f"Each claim was tried {one.tries} times"
    lines += [f"{tries} on {one.date}, with hookonce {one.hookonce} on {one.machine}, in {one.seconds:.0f} seconds."]
    known = build_sheet(agents.load(one.agent), proofs={one.agent: proven_events(one)}).points
    proven = [code(row.event) for row in known if row.proven_on is not None]
    place = f"[{len(known)} events](agents/{one.agent}.md#events)"
    lines += ["", f"Proven of its {place}: {', '.join(proven) or 'none'}."]
    lines += [] if one is latest else [f"The [matrix](agents.md) goes by {latest.version}."]
    for state in OPEN:
        lines += _list(state, _evidence(one, state))
    return [*lines, ""]


def _evidence(one: Certificate, state: ClaimState) -> dict[str, list[str]]:
    """The claims in a state by what shows it: many have the same."""
    found: dict[str, list[str]] = {}
    for claim in one.claims:
        if claim.state == state:
            found.setdefault(claim.evidence, []).append(claim.claim)
    return found


def _list(state: ClaimState, found: dict[str, list[str]]) -> list[str]:
    if not found:
        return []
    lines = [f"- {', '.join(map(code, claims))}: {plain(evidence)}" for evidence, claims in found.items()]
    return ["", f"{state.capitalize()}:", "", *lines]
