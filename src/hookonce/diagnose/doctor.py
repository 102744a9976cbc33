"""Doctor: the list of checks, and a run of all of them."""

from collections.abc import Iterable, Iterator

from hookonce.base import paths
from hookonce.configure.locations import current_roots
from hookonce.diagnose.agent_check import check_agent
from hookonce.diagnose.checks.agent_silence import check_silence
from hookonce.diagnose.checks.record import check_daemon, check_record
from hookonce.diagnose.diagnosis import Check, CheckContext, Diagnosis
from hookonce.diagnose.self_check import calling_agents, check_callers, check_installation, check_manifests
from hookonce.model import Agent

CHECKS = (
    Check(
        name="installation",
        reads="config.toml of the user and of the machine, prices.toml, our own files, the client and its interpreter, "
        "a pause",
        machine=lambda _: check_installation(),
    ),
    Check(name="daemon", reads="the daemon's socket", machine=lambda _: check_daemon()),
    Check(
        name="record", reads="the database, its head file, the spool and its counts", machine=lambda _: check_record()
    ),
    Check(
        name="callers",
        reads="the configuration of every agent, and which manifests there are",
        machine=lambda context: check_callers(context.roots, context.callers),
    ),
    Check(
        name="manifests",
        reads="the manifests of all scopes, what they name, and the trust pins",
        machine=lambda context: check_manifests(context.roots.project, context.callers),
    ),
    Check(
        name="agent",
        reads="the agent's configuration files and trust state, and the scripts that its hooks name",
        agent=lambda context, agent: check_agent(agent, context.roots, context.client),
    ),
    Check(
        name="silence",
        reads="the times of the agent's transcripts, and that of its last event in the record",
        agent=lambda context, agent: check_silence(agent, context.roots, context.client),
    ),
)


def run_checks(agents: Iterable[Agent]) -> Iterator[Diagnosis]:
    """All diagnoses: of this machine, then of each agent."""
    roots, client = current_roots(), str(paths.client_path())
    context = CheckContext(roots=roots, client=client, callers=calling_agents(roots, client))
    for check in CHECKS:
        if check.machine is not None:
            yield from check.machine(context)
    for agent in agents:
        for check in CHECKS:
            if check.agent is not None:
                yield from check.agent(context, agent)
