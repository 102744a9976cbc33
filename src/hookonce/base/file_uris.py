"""File URIs and paths: conversion in both directions, absolute paths, Windows drives and lone surrogates."""

from posixpath import normpath
from urllib.parse import quote, unquote

from hookonce.base.regex import lazy_pattern

_PLAIN_PATH = lazy_pattern(r"/[A-Za-z0-9_./~-]*")
_WINDOWS_DRIVE = lazy_pattern(r"[A-Za-z]:[\\/]")
_URI_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a drive has one letter


def to_uri(cwd: str) -> str:
    """The file URI of a directory; what is a URI already stays one."""
    if _PLAIN_PATH.fullmatch(cwd):
        return "file://" + cwd
    if _URI_SCHEME.match(cwd):
        return cwd
    if _WINDOWS_DRIVE.match(cwd):
        return "file:///" + quote(cwd.replace("\\", "/"), safe="/:~", errors="surrogatepass")
    return "file://" + quote(cwd, safe="/~", errors="surrogatepass")


def from_uri(uri: str) -> str:
    """The directory of a file URI; any other URI is returned as it is."""
    if not uri.startswith("file://"):
        return uri
    path = decode_uri_part(uri[7:])
    return path[1:] if _WINDOWS_DRIVE.match(path[1:]) else path


def decode_uri_part(part: str) -> str:
    """Percent-decode a part of a URI, lone surrogates too."""
    try:
        return unquote(part, errors="surrogatepass")
    except UnicodeDecodeError:  # somebody's URI of bytes that are no UTF-8
        return unquote(part)


def has_drive(path: str) -> bool:
    """Whether a path begins with a Windows drive."""
    return _WINDOWS_DRIVE.match(path) is not None


def is_absolute(path: str) -> bool:
    """Whether a path is absolute: from a root, a home, a drive or a URI."""
    return path[:1] in {"/", "~", "\\"} or _WINDOWS_DRIVE.match(path) is not None or _URI_SCHEME.match(path) is not None


def resolve_path(path: str, cwd: str | None) -> str:
    """The absolute path of a file in a directory; unchanged where it is absolute or the directory is not known."""
    if is_absolute(path) or cwd is None or not is_absolute(cwd) or _URI_SCHEME.match(cwd):
        return path
    return normpath(f"{cwd}/{path}")
