"""What can go wrong, as one tree.

    HookonceError            anything expected: one sentence on stderr, exit 1
    ├── PayloadError         an agent's native payload cannot be read
    ├── DocumentError        a document of an event format cannot be read
    ├── ManifestError        a manifest of hooks cannot be used (manifest/load)
    ├── DescriptorError      a module's descriptor cannot be used (modules/descriptor)
    ├── Fault                an error of the module protocol (modules/protocol)
    ├── Unavailable          an agent of the lab, or what it needs, cannot be had (lab/npm)
    ├── Refusal              a file that belongs to others was left alone (edit/refusal)
    │   └── BrokenFile       and is not what its name says
    └── UsageError           the command line asks for something impossible, exit 64
        └── UnknownName      no agent, format or event of that name

Everything else that is raised is our own fault and ends in exit 70 with a log.
"""


class HookonceError(Exception):
    """An expected error; its text is one sentence that says what to do next."""


class _AtPath(HookonceError):
    """An error with a place: `path` is a JSON path such as `$.tool_input.command`."""

    def __init__(self, message: str, path: str = "$") -> None:
        """Keep the place apart from the message, so that `--json` can show both."""
        super().__init__(message if path == "$" else f"{path}: {message}")
        self.path = path
        self.message = message


class PayloadError(_AtPath):
    """An agent's native payload cannot be read."""


# What reading raises where a value has a form that nobody has thought of.
UNREADABLE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class DocumentError(_AtPath):
    """A document of an event format cannot be read."""


class UsageError(HookonceError):
    """The command line asks for something impossible."""


class UnknownName(UsageError):
    """No agent, format or event has that name."""
