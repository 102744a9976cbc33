"""Masking of e-mail addresses in texts that a privacy level keeps, such as paths and commands; each mask is a gap.

A domain has a dot and ends like one of the internet; a bare host counts where the text says that it is mail. A login
at such a domain (`ssh ann@build.example.com`) looks the same and is masked; versions, files and units end otherwise.
"""

from re import IGNORECASE, Match
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookonce.base.jsontext import dump
from hookonce.base.regex import lazy_pattern
from hookonce.model import Event, Gap, Stored

ADDRESS_MASK = "[e-mail]"
_GAP_NOTE = "e-mail"
# The sign, also as URLs, HTML, JSON and wide scripts write it; escaped for a shell, or behind a quoted name.
_AT = lazy_pattern(r"""(?P<quote>[\\"]{0,4})(?:[@\uff20\ufe6b]|%(?:25)*40|&(?:#64|#x40|commat);|\\+(?:u00|x)40)""")
_SIGNS = ("@", "%40", "2540", "&#64;", "&#x40;", "&commat;", "u0040", "x40", "\uff20", "\ufe6b")
_SIGN_BYTES = tuple(sign.encode() for sign in _SIGNS)
_LOCAL_PART_REVERSED = lazy_pattern(r"[\w.+%'~-]+")
_DOT = r"[.\u3002\uff0e\uff61]"
# Ends of file names and of systemd's units that no domain has.
_FILE_END = (
    r"(?:[jt]sx|[cm]?js|json[5cl]?|css|s[ac]ss|html?|xml|svg|png|jpe?g|gif|webp|avif|ico|pdf|tgz|gz|xz|whl|lock|ya?ml"
    r"|toml|txt|log|csv|patch|diff|service|socket|timer|mount|slice|scope|device)(?![\w-])"
)
_DOMAIN = lazy_pattern(
    rf"(?!v?\d+\.\d|\d(?:\.\d)?x\.)(?:[\w-]+{_DOT})+(?:xn--[\w-]+|(?!{_FILE_END})[^\W\d_]{{2,}})"  # no 1.2.3, no 2x.png
    r"|\[(?:\d{1,3}(?:\.\d{1,3}){3}|(?i:ipv6:)[0-9A-Fa-f:.]+)\]"
)
_LOCAL_DOMAIN = lazy_pattern(r"localhost(?![\w-])", IGNORECASE)
_BARE_HOST = lazy_pattern(r"[^\W\d_][\w-]*(?:\.\(none\))?")  # as git makes one up
_ANNOUNCEMENT = lazy_pattern(r"""(?:<|mailto:|e-?mail\\*["']?\s*[:= ]\s*\\*["']?)$""", IGNORECASE)
_ANNOUNCEMENT_CHARS = 24
_MAX_LOCAL_CHARS = 64  # as RFC 5321 has it
_SERVICE_ACCOUNTS = frozenset({"git", "hg", "svn"})  # everybody's accounts at a host of repositories
_LINE_ENDS = frozenset({r"\n", r"\r", r"\t"})  # as somebody has written them out, before a decorator


def mask_addresses(record: Stored) -> Stored:
    """The record as it leaves the machine: below full without e-mail addresses, but for the user that it names."""
    return record if record.level == "full" else mask_hinted_addresses(record, dump(record))


def mask_hinted_addresses(record: Stored, raw: bytes) -> Stored:
    """The record without e-mail addresses, if its JSON has the sign of one; most have none."""
    has_rare_byte = b"@" in raw or b"%" in raw or b"&" in raw or b"\\" in raw or b"\xef" in raw  # as each sign has one
    if not (has_rare_byte and any(sign in raw for sign in _SIGN_BYTES)):
        return record
    gaps: list[Gap] = []
    clean: Stored = _mask_value(record, "$", gaps)
    return replace(clean, gaps=[*clean.gaps, *gaps]) if gaps else record


def _mask_value(value: Any, where: str, gaps: list[Gap]) -> Any:
    kind = type(value)
    if kind is str:
        return _mask_string(value, where, gaps)
    if kind is list:
        return [_mask_value(item, f"{where}[{number}]", gaps) for number, item in enumerate(value)]
    if kind is dict:
        return _mask_object(value, where, gaps)
    if not isinstance(value, Struct):
        return value
    names = (name for name in value.__struct_fields__ if name != "user" or kind is not Event)  # it may be named
    fields = ((name, getattr(value, name)) for name in names)
    return replace(value, **{name: _mask_value(item, f"{where}.{name}", gaps) for name, item in fields if item})


def _mask_object(source: dict[str, Any], where: str, gaps: list[Gap]) -> dict[str, Any]:
    """Keys too; those of two addresses stay two."""
    clean: dict[str, Any] = {}
    for key, item in source.items():
        name = _mask_string(key, where, gaps)
        while name in clean:
            name += "+"
        clean[name] = _mask_value(item, f"{where}.{name}", gaps)
    return clean


def _mask_string(text: str, where: str, gaps: list[Gap]) -> str:
    clean = mask_text(text)
    if clean != text:
        gaps.append(Gap(where=where, strategy="masked", note=_GAP_NOTE))
    return clean


def mask_text(text: str) -> str:
    """The text with a mask for each address, however its sign is written."""
    if not any(sign in text for sign in _SIGNS):
        return text
    parts, position = list[str](), 0
    for sign in _AT.finditer(text):
        start = _local_start(text, position, sign)
        end = None if start is None else _domain_end(text, start, sign.end())
        if end is not None:
            parts += [text[position:start], ADDRESS_MASK]
            position = end
    return "".join((*parts, text[position:]))


def _local_start(text: str, first: int, sign: Match[str]) -> int | None:
    """Where the name before the sign begins; None if there is none, or it is nobody's."""
    end = sign.start()
    first = max(first, end - _MAX_LOCAL_CHARS)
    if '"' in sign["quote"] and (opening := text.rfind('"', first, end)) >= 0:
        return opening
    letters = _LOCAL_PART_REVERSED.match(text[first:end][::-1])
    name = letters[0][::-1].lstrip("'") if letters is not None else ""
    start = end - len(name)
    if not name.strip(".+%'~-") or name in _SERVICE_ACCOUNTS or text[max(first, start - 1) : end] in _LINE_ENDS:
        return None
    return start


def _domain_end(text: str, start: int, domain_start: int) -> int | None:
    """Where the domain behind the sign ends; None if it is none of an address that begins at `start`."""
    domain = _DOMAIN.match(text, domain_start)
    if domain is None and not text.endswith("://", 0, start):
        domain = _LOCAL_DOMAIN.match(text, domain_start)
    if domain is None and _ANNOUNCEMENT.search(text, max(0, start - _ANNOUNCEMENT_CHARS), start):
        domain = _BARE_HOST.match(text, domain_start)
    return None if domain is None else domain.end()
