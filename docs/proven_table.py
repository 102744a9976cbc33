"""src/hookonce/agents/certificates.py: what the newest certificate of each agent has shown, as a table that is shipped."""

from collections.abc import Mapping

from certificates_page import FOLDER
from msgspec.json import encode

from hookonce.agents.certificates import CertificateSummary
from hookonce.lab.prove.certificate import load_certificates, newest_by_agent, proven_events

PLACE = "src/hookonce/agents/certificates.py"
HEAD = '''\
"""What certificates have shown of each agent: its newest version alone. Made by `make docs` from docs/certificates."""

from hookonce.agents.certificate_summary import Shown

__all__ = ["PROVEN", "Shown"]

PROVEN: dict[str, Shown] = {'''


def proven() -> dict[str, CertificateSummary]:
    """What the newest certificates show, as they lie in the folder now."""
    return {name: proven_events(one) for name, one in newest_by_agent(load_certificates(FOLDER)).items()}


def module(table: Mapping[str, CertificateSummary]) -> str:
    """The table as Python, one event in a line."""
    if not table:
        return HEAD + "}\n"
    lines = [HEAD]
    for name, one in table.items():
        lines += [f"    {_word(name)}: Shown("]
        lines += [f"        version={_word(one.version)},", f"        date={_word(one.date)},"]
        lines += _mapping("held", {event: _tuple(powers) for event, powers in one.capabilities_by_event.items()})
        told = {claim: "None" if event is None else _word(event) for claim, event in one.failed_claims.items()}
        lines += [*_mapping("contradicted", told), "    ),"]
    return "\n".join([*lines, "}", ""])


def _mapping(name: str, rows: Mapping[str, str]) -> list[str]:
    if not rows:
        return [f"        {name}={{}},"]
    return [f"        {name}={{", *(f"            {_word(key)}: {value}," for key, value in rows.items()), "        },"]


def _tuple(words: tuple[str, ...]) -> str:
    inside = ", ".join(map(_word, words))
    return f"({inside},)" if len(words) == 1 else f"({inside})"


def _word(text: str) -> str:
    return encode(text).decode()
