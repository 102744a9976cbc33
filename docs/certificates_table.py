"""Generator of src/hookonce/agents/certificates.json: a summary of each agent's newest certificate."""

from collections.abc import Mapping

from certificate_powers import load_certificates, newest_by_agent, proven_events
from certificates_page import FOLDER
from msgspec.json import encode
from msgspec.json import format as indent

from hookonce.agents.certificates import CertificateSummary

TABLE_PATH = "src/hookonce/agents/certificates.json"


def summarize_certificates() -> dict[str, CertificateSummary]:
    """Summaries of the newest certificates in the folder as it is now."""
    return {
        name: proven_events(certificate) for name, certificate in newest_by_agent(load_certificates(FOLDER)).items()
    }


def render_table(table: Mapping[str, CertificateSummary]) -> str:
    """The table as JSON."""
    return indent(encode(table)).decode() + "\n"
