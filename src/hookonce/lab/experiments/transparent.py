"""Experiment `transparent`: with hookonce and no hooks, files, exit code and model requests are the same."""

import re
from collections import Counter
from itertools import zip_longest

from hookonce.lab.fakes.scenarios import FILE_SECRET
from hookonce.lab.prove.bench import Bench
from hookonce.lab.prove.certificate import Claim, judge_claim
from hookonce.lab.prove.run import AgentRun, find_conversations, is_complete, is_text_sent, summarize_run

_LINE_CHARS = 160  # characters of a line
_VARIABLE_PARTS = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/[\w./-]*hookonce-lab-[\w]+|\b[0-9a-f]{6,}\b|\d+(?:\.\d+)?"
)  # folders, ids, times, sizes


def try_transparency(bench: Bench) -> Claim:
    """The same errand twice, without hookonce and with it."""
    bench.play("talk", bare=True)  # what an agent does once only, it does here
    bare_run = bench.play("errand", bare=True)
    hooked_run = bench.play("errand")
    bench.add_timing(bare_run, hooked_run)
    difference = _find_difference(bare_run, hooked_run)
    count = len(find_conversations(hooked_run))
    sameness = f"{len(hooked_run.files)} files, exit code {hooked_run.code} and {count} requests"
    return judge_claim("transparent", difference or f"{sameness} are the same without it", holds=difference is None)


def _find_difference(bare_run: AgentRun, hooked_run: AgentRun) -> str | None:
    files = bare_run.files
    files_exist = {"shell.txt", "written.txt"} <= files.keys() and "gamma" in files.get("edited.txt", "")
    if not (is_complete(bare_run) and files_exist and is_text_sent(bare_run, FILE_SECRET) and bare_run.mcp_calls):
        return f"the agent cannot do the errand even without hookonce: {summarize_run(bare_run)}"
    if bare_run.code != hooked_run.code:
        return f"the exit code is {hooked_run.code}, and {bare_run.code} without it: {summarize_run(hooked_run)}"
    if bare_run.files != hooked_run.files:
        names = {*bare_run.files, *hooked_run.files}
        changed_files = [name for name in names if bare_run.files.get(name) != hooked_run.files.get(name)]
        return f"other files: {', '.join(sorted(changed_files))}"
    bare_requests, hooked_requests = _normalized_requests(bare_run), _normalized_requests(hooked_run)
    if bare_requests == hooked_requests:
        return None
    difference = _first_difference(sorted(bare_requests - hooked_requests), sorted(hooked_requests - bare_requests))
    return f"the model is sent something else: {difference}"


def _first_difference(bare_requests: list[str], hooked_requests: list[str]) -> str:
    if not bare_requests or not hooked_requests:
        return f"{len(bare_requests)} requests only without hookonce, {len(hooked_requests)} only with it"
    lines = zip_longest(bare_requests[0].splitlines(), hooked_requests[0].splitlines(), fillvalue="")
    old, new = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
    return f"{new[:_LINE_CHARS]!r} instead of {old[:_LINE_CHARS]!r}"


def _normalized_requests(run: AgentRun) -> Counter[str]:
    requests: Counter[str] = Counter()
    for conversation in find_conversations(run):
        messages = (f"{message.role}: {message.text}" for message in conversation.messages)
        requests[_VARIABLE_PARTS.sub("#", "\n".join([*sorted(conversation.tools), *messages]))] += 1
    return requests
