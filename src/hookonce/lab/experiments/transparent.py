"""With hookonce installed and no hooks an agent does the same as without it: files, exit code, what the model gets."""

import re
from collections import Counter
from itertools import zip_longest

from hookonce.lab.claim import Claim, judged
from hookonce.lab.run import Run, is_whole, summary, talks, was_told
from hookonce.lab.scenarios import SECRET
from hookonce.lab.stage import Stage

_NAME = "transparent"
_SHOWN = 160  # characters of a line
_VARIES = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|/[\w./-]*hookonce-lab-[\w]+|\b[0-9a-f]{6,}\b|\d+(?:\.\d+)?"
)  # folders, ids, times, sizes


def claims(_stage: Stage) -> list[str]:
    """One claim."""
    return [_NAME]


def run(stage: Stage) -> list[Claim]:
    """The same errand twice, without hookonce and with it."""
    stage.play("talk", bare=True)  # what an agent does once only, it does here
    without = stage.play("errand", bare=True)
    within = stage.play("errand")
    stage.timed(without, within)
    problem = _difference(without, within)
    count = len(talks(within))
    alike = f"{len(within.files)} files, exit code {within.code} and {count} requests are the same without it"
    return [judged(_NAME, problem or alike, holds=problem is None)]


def _difference(without: Run, within: Run) -> str | None:
    if not _is_done(without):
        return f"the agent cannot do the errand even without hookonce: {summary(without)}"
    if without.code != within.code:
        return f"the exit code is {within.code}, and {without.code} without it: {summary(within)}"
    if without.files != within.files:
        changed = {
            name for name in {*without.files, *within.files} if without.files.get(name) != within.files.get(name)
        }
        return f"other files: {', '.join(sorted(changed))}"
    one, other = _sent(without), _sent(within)
    if one == other:
        return None
    return f"the model is sent something else: {_first(sorted(one - other), sorted(other - one))}"


def _first(without: list[str], within: list[str]) -> str:
    """The first line in which the first of them differ."""
    if not without or not within:
        return f"{len(without)} requests only without hookonce, {len(within)} only with it"
    lines = zip_longest(without[0].splitlines(), within[0].splitlines(), fillvalue="")
    old, new = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
    return f"{new[:_SHOWN]!r} instead of {old[:_SHOWN]!r}"


def _is_done(run: Run) -> bool:
    """Whether everything of the errand has happened, so that there is something to compare."""
    made = "shell.txt" in run.files and "written.txt" in run.files and "gamma" in run.files.get("edited.txt", "")
    return is_whole(run) and made and was_told(run, SECRET) and bool(run.called)


def _sent(run: Run) -> Counter[str]:
    """What the model was sent, but for what differs from run to run anyway."""
    return Counter(
        _VARIES.sub("#", "\n".join([*sorted(talk.tools), *(f"{said.role}: {said.text}" for said in talk.said)]))
        for talk in talks(run)
    )
