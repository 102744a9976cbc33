"""Contract of `doctor`: what a check is given, and the diagnoses that it makes."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from hookonce.configure.changes import FileChange
from hookonce.configure.locations import ConfigRoots
from hookonce.model import Agent

NOTE_KINDS = frozenset({"sandbox", "shell_form", "unvouched", "wrapped"})  # of what works, for somebody to know


class Diagnosis(Struct, frozen=True, kw_only=True):
    """One thing that is wrong, or that somebody should look at."""

    agent: str | None = None
    kind: str
    message: str
    path: str | None = None
    mark: str | None = None
    repair: FileChange | None = None


class CheckContext(Struct, frozen=True, kw_only=True):
    """What all checks of one run look at."""

    roots: ConfigRoots
    client: str
    callers: list[Agent]  # the agents that have entries of ours


class Check(Struct, frozen=True, kw_only=True):
    """One check of `doctor`: of this machine once, or of each agent in turn."""

    name: str  # what is checked, in a word
    reads: str  # what it reads to find out; a check changes nothing and starts nothing
    machine: Callable[[CheckContext], Iterable[Diagnosis]] | None = None  # its diagnoses of this machine and project
    agent: Callable[[CheckContext, Agent], Iterable[Diagnosis]] | None = None  # its diagnoses of one agent
