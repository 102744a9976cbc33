"""Where an agent works, as a path and as a URI."""

from posixpath import normpath
from re import compile as pattern
from urllib.parse import quote, unquote

_PLAIN = pattern(r"/[A-Za-z0-9_./~-]*")
_DRIVE = pattern(r"[A-Za-z]:[\\/]")
_URI = pattern(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a drive has one letter


def to_uri(cwd: str) -> str:
    """The file URI of a directory; what is a URI already stays one."""
    if _PLAIN.fullmatch(cwd):
        return "file://" + cwd
    if _URI.match(cwd):
        return cwd
    if _DRIVE.match(cwd):
        return "file:///" + quote(cwd.replace("\\", "/"), safe="/:~", errors="surrogatepass")
    return "file://" + quote(cwd, safe="/~", errors="surrogatepass")


def from_uri(uri: str) -> str:
    """The directory of a file URI; any other URI is itself the place."""
    if not uri.startswith("file://"):
        return uri
    path = unquoted(uri[7:])
    return path[1:] if _DRIVE.match(path[1:]) else path


def unquoted(part: str) -> str:
    """The text of a part of a URI, lone surrogates too."""
    try:
        return unquote(part, errors="surrogatepass")
    except UnicodeDecodeError:  # somebody's URI of bytes that are no UTF-8
        return unquote(part)


def is_rooted(path: str) -> bool:
    """Whether the path says where it begins."""
    return path[:1] in {"/", "~", "\\"} or _DRIVE.match(path) is not None or _URI.match(path) is not None


def inside(path: str, cwd: str | None) -> str:
    """The whole path of a file in a directory; as it is where it is whole already or the directory is not known."""
    if is_rooted(path) or cwd is None or not is_rooted(cwd) or _URI.match(cwd):
        return path
    return normpath(f"{cwd}/{path}")
