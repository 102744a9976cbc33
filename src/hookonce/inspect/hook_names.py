"""Hook names for digests: a record has only a digest of the command that ran; the manifest has the words."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from hookonce.dispatch.prepare import command_of, digest_content
from hookonce.dispatch.select import CandidateHook, SelectedHook, find_candidates
from hookonce.errors import HookonceError
from hookonce.model import HookRun


class HookSource(Struct, frozen=True):
    """The command that ran, the manifest that has it, and the digest that a record has of it."""

    command: str
    file: Path
    digest: str


def find_hook_source(run: HookRun, project: Path) -> HookSource | None:
    """Find the hook whose digest a run has, if a manifest has it still."""
    candidates = (source for entry in find_candidates(project) for source in _hook_sources(entry, project))
    return next((entry for entry in candidates if entry.digest == run.digest), None)


def _hook_sources(candidate: CandidateHook, project: Path) -> Iterator[HookSource]:
    if candidate.hook is None:
        return
    folder = project if candidate.source.scope == "project" else candidate.source.path.parent
    try:
        selected_hook = SelectedHook(hook=candidate.hook, scope=candidate.source.scope, folder=str(folder))
        command, digest = command_of(selected_hook), sha256(digest_content(selected_hook)).hexdigest()
    except HookonceError:
        return
    handler = candidate.hook.handler
    if handler.type == "function":  # what starts it is ours
        command = f"{Path(folder, handler.file or '')}: {handler.name}"
    yield HookSource(command, candidate.source.path, digest)
