"""Experiment `here`: the user's own installation fires, its deny holds, and doctor finds nothing."""

import os
from pathlib import Path

from hookonce.base import paths
from hookonce.base.runtime_location import CLIENT_SUBDIR
from hookonce.configure import journal
from hookonce.configure.locations import ConfigRoots, current_roots, target_file
from hookonce.configure.status import install_status
from hookonce.diagnose.diagnosis import NOTE_KINDS
from hookonce.diagnose.doctor import run_checks
from hookonce.errors import HookonceError
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, judge_claim
from hookonce.lab.prove.config_copy import SCOPE, copy_client, copy_user_config
from hookonce.lab.prove.run import AgentRun, describe_end, events_of_type, is_complete, is_hook_asked, summarize_run

# Where they are set, an agent does not read the files that we know of.
_CONFIG_DIR_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "QWEN_HOME",
    "OPENCODE_CONFIG_DIR",
)
CLAIM_NAMES = _FIRES_CLAIM, _DENY_CLAIM, _DOCTOR_CLAIM = "here:fires", "here:deny", "here:doctor"


def claim_names(bench: Bench) -> list[str]:
    """Three, where hookonce is or was installed for this agent."""
    locations = current_roots()
    path = target_file(bench.agent, SCOPE, locations)
    scopes = install_status(bench.agent, locations, str(paths.client_path())).scopes
    is_installed = any(scope_status.scope == SCOPE and scope_status.state != "absent" for scope_status in scopes)
    return list(CLAIM_NAMES) if is_installed or path in journal.changed_files() else []


def run_experiment(bench: Bench) -> list[Claim]:
    """A command that a hook refuses after a second, with the user's own entries."""
    locations, client = current_roots(), str(paths.client_path())
    problems = _find_problems(bench)
    doctor_note = f"; doctor: {problems[0]}" if problems else ""
    doctor_claim = judge_claim(_DOCTOR_CLAIM, "; ".join(problems) or "nothing is wrong", holds=not problems)
    try:
        run = _play_refusal(bench, locations, client)
    except (HookonceError, OSError) as problem:
        evidence = f"it cannot be tried: {problem}{doctor_note}"
        return [*(Claim(name, "contradicted", evidence) for name in (_FIRES_CLAIM, _DENY_CLAIM)), doctor_claim]
    was_asked, has_run = bool(events_of_type(run, "before_tool_execute")), "shell.txt" in run.files
    never_asked = f"the hook was never asked{doctor_note or f' ({summarize_run(run)})'}"
    fires_claim = judge_claim(_FIRES_CLAIM, "the hook was asked" if was_asked else never_asked, holds=was_asked)
    evidence = f"the command ran{doctor_note}" if has_run else f"the command did not run; {describe_end(run)}"
    ran_to_end = is_complete(run, ends_on_refusal=bench.driver.ends_on_refusal)
    holds = is_hook_asked(run, "shell.txt") and not has_run and ran_to_end
    return [fires_claim, judge_claim(_DENY_CLAIM, evidence, holds=holds), doctor_claim]


def _play_refusal(bench: Bench, locations: ConfigRoots, client: str) -> AgentRun:
    answer = {"decision": "deny", "reason": "the lab refuses"}

    def change_home(_: object, lab_roots: ConfigRoots) -> None:
        lab_client = Path(os.path.realpath(lab_roots.home), CLIENT_SUBDIR, Path(client).name)
        copy_client(Path(client), lab_client)
        copy_user_config(bench.agent, locations, lab_roots, client, str(lab_client))

    return bench.play(
        "refuse-shell",
        rules=[{"event": "before_tool_execute", "do": "slow", "say": answer}],
        hooks=bench.hooks_for_all_events,
        change_home=change_home,
    )


def _find_problems(bench: Bench) -> list[str]:
    """What doctor says of this machine and this agent, and what only a run beside the user's own shows."""
    findings = sorted(run_checks([bench.agent]), key=lambda finding: finding.kind == "drift")  # which says least
    variables = [name for name in _CONFIG_DIR_VARIABLES if name in os.environ]
    problems = [f"{name} is set: the agent reads its settings there" for name in variables]
    return problems + [finding.message for finding in findings if finding.kind not in NOTE_KINDS]
