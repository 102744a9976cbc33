"""Table of hook faults: how each is found, its sentence and the next step; every command and page tells by it."""

from collections.abc import Mapping

from msgspec import Struct


class FaultKind(Struct, frozen=True):
    """One kind of fault; `{}` in its texts stands for what a finder has to add."""

    evidence: str  # what is looked at to find it
    sentence: str  # what is said of the hook, behind its name
    next_step: str = ""  # what a person does about it; empty where the sentence says so
    field: str = "handler.command"  # the part of a manifest's hook that `check` names
    is_broken: bool = True  # whether such a hook does not guard, which its user is told in the agent too
    is_failure: bool = False  # whether it fails when it is asked, so that a closed one refuses


class HookFault(Struct, frozen=True, kw_only=True):
    """One fault of one hook, or of all hooks of a file or of the machine if `hook` is empty."""

    kind: str
    sentence: str
    next_step: str = ""
    hook: str = ""
    path: str = ""
    effect: str = ""  # what becomes meanwhile of what the hook judges


_CANNOT_RUN = "cannot run: {}"
_CORRECT_SCRIPT = "correct the script"
FAULT_KINDS: Mapping[str, FaultKind] = {
    "missing": FaultKind(
        "the program and the script that a command names",
        _CANNOT_RUN,
        "correct the command, or create the file",
        is_failure=True,
    ),
    "mode": FaultKind("the mode of the script", "cannot run: {} is not executable", "chmod +x {}", is_failure=True),
    "copy_mode": FaultKind(
        "the mode of a project's script",
        "runs only from its trusted copy: {} is not executable",
        "chmod +x {}",
        is_broken=False,
    ),
    "beside": FaultKind(
        "the files beside the manifest",
        "cannot run: {0} is looked for {1}, but is in the folder of the manifest",
        "write {2}",
        is_failure=True,
    ),
    "relative": FaultKind(
        "the path of the script",
        "has a relative path, which depends on where the agent was started",
        "write its full path",
        is_broken=False,
    ),
    "interpreter": FaultKind(
        "the first line of the script", _CANNOT_RUN, "correct the first line of the script", is_failure=True
    ),
    "line_ends": FaultKind(
        "the first line of the script",
        "cannot run: {} has Windows line ends, so its interpreter is not found",
        "save it with Unix line ends",
        is_failure=True,
    ),
    "empty": FaultKind("the content of the script", "refuses nothing: {} is empty", "write the script"),
    "syntax": FaultKind("the syntax of a script in Python", _CANNOT_RUN, _CORRECT_SCRIPT, is_failure=True),
    "dialect": FaultKind(
        "words of agents' own events and answers in the script and its command",
        "refuses nothing: {0} uses {1}, a word of {2} that hookonce's own events and answers do not have",
        'give the hook "dialect": "{3}"{4}',
        "dialect",
    ),
    "answer": FaultKind(
        "answers of Claude Code in a script that reads hookonce's own events",
        'refuses nothing: {} answers "decision": "block", which means nothing here',
        'answer "decision": "deny"',
    ),
    "unknown_dialect": FaultKind(
        "the names of agents and formats",
        "fails each time: there is no dialect {0}",
        "correct its name{1}",
        "dialect",
        is_failure=True,
    ),
    "blocking": FaultKind(
        "`exit 2` in the script and its command",
        "refuses nothing: it exits with code 2 ({}), but is not blocking",
        'give the hook "blocking": true',
        "blocking",
    ),
    "background": FaultKind(
        "`async` and `blocking` together",
        "refuses nothing: it is blocking and async, and the agent does not wait for an async hook",
        "remove async",
        "handler.async",
    ),
    "matcher": FaultKind(
        "the tools of every agent", "never runs: its matcher {}", "correct or remove the matcher", "matcher"
    ),
    "event": FaultKind("the events of every agent", _CANNOT_RUN, "", "event"),
    "key": FaultKind(
        "the keys of the hook and of its handler", "has a key that is ignored: {0}", "{1}", is_broken=False
    ),
    "function": FaultKind(
        "the Python file of a function, which is parsed and never run",
        _CANNOT_RUN,
        "correct the file",
        "handler.file",
        is_failure=True,
    ),
    "module": FaultKind("the descriptor of a module", _CANNOT_RUN, "", "handler.file", is_failure=True),
    "http": FaultKind("the URL and the headers", _CANNOT_RUN, "", "handler.url", is_failure=True),
    "model": FaultKind("the settings and keys of the model", _CANNOT_RUN, "", "handler.prompt", is_failure=True),
    "timeout": FaultKind("how long each agent waits", "{}", "", "handler.timeout", is_broken=False),
    "untrusted": FaultKind("the trust pins", "does not run: {}", "hookonce trust"),
    "policy": FaultKind("the policies of all scopes", "does not run: {}", "ask the author of the policy"),
    "refused": FaultKind("the trust pins, and which files of a project still exist", "calls in {0} are refused: {1}"),
    "manifest": FaultKind("the manifests of all scopes", "{0}. {1}", "hookonce check {2}"),
    "gone": FaultKind(
        "the last good copies of manifests",
        "{0} does not exist any more, so its {1} cannot run",
        "restore it (its last version is {2}), or delete that copy",
    ),
    "drift": FaultKind(
        "our entries in the agent's configuration; for the agent itself by the daemon, while it runs",
        "{0} does not call hookonce at {1}: entries are missing in {2}, so that no hook runs there",
        "hookonce install {3}",
    ),
    "exec_form": FaultKind(
        "the form of our entries in the agent's user configuration, and the agent's version",
        "{0} may call hookonce without arguments, so that only the payload says who calls and when: {1}",
        "hookonce install {2}",
        is_broken=False,
    ),
    "shell_form": FaultKind(
        "the form of our entries in the agent's user configuration, and the agent's version",
        "{0} {1} can start hookonce without a shell, which saves about a millisecond in each call",
        "hookonce install {2}",
        is_broken=False,
    ),
    "paused": FaultKind("the pause file", "no hook runs until {}", "hookonce resume ends the pause"),
    "unanswered": FaultKind("the client's count of calls without an answer", "{}", "hookonce doctor --repair"),
    "failing": FaultKind(
        "its newest runs in the record", "keeps failing: {0}", "hookonce logs, and hookonce try {1}", is_failure=True
    ),
    "late": FaultKind(
        "its newest runs in the record",
        "keeps timing out: {0}",
        "make it faster, or give it a longer timeout",
        is_failure=True,
    ),
    "let_through": FaultKind(
        "its last run in the record",
        "failed in its last run ({0}), so what it judges was let through",
        "hookonce why --failures, and hookonce try {1}",
        is_broken=False,
    ),
}


def make_fault(kind: str, *details: object, hook: str = "", path: str = "") -> HookFault:
    """A fault of a kind, its texts filled in."""
    row = FAULT_KINDS[kind]
    sentence, next_step = row.sentence.format(*details), row.next_step.format(*details)
    return HookFault(kind=kind, sentence=sentence, next_step=next_step, hook=hook, path=path)


def describe_fault(fault: HookFault) -> str:
    """The sentence of a fault with its next step."""
    return f"{fault.sentence}; {fault.next_step}" if fault.next_step else fault.sentence
