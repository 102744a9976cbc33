"""Scrubbing: a payload as it may be shown to anybody. The lab's folders, ports, names and secrets have stand-ins.

Ids and times stay as they are. What a stand-in cannot be given to, because it should not be there at all, is found
by `left`: the user's own home and login name as parts of a path.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from pwd import getpwuid
from urllib.parse import quote

from msgspec import Struct

from hookonce.config import paths
from hookonce.guard.secrets import is_mask, mask, masked, named
from hookonce.model import Json

HOME, PROJECT, LOGIN, HOST = "/home/dev", "/home/dev/project", "dev", "host"

_PORT = re.compile(r"(?<![\w.])(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}(?!\d)")
_KEY = re.compile(r"(?<![\w-])no-key(?![\w-])")  # what the lab gives an agent that asks for a key
_NOBODY = frozenset({"root"})  # a login name that tells nothing; agents have folders of that name


class Owner(Struct, frozen=True):
    """Whose machine it is: homes, login names and host names that nobody else has to know."""

    homes: frozenset[str] = frozenset()
    logins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()


def owner() -> Owner:
    """The user of this process."""
    homes, logins = {str(paths.home()), str(Path.home())}, set()
    try:
        entry = getpwuid(os.getuid())
    except KeyError:  # a container may run us as somebody who is not in the list
        pass
    else:
        homes.add(entry.pw_dir)
        logins.add(entry.pw_name)
    host = socket.gethostname()
    hosts = {host, host.partition(".")[0]} - {"", "localhost"}
    return Owner(frozenset(homes - {"/", ""}), frozenset(logins - {""}), frozenset(hosts))


class Scrub:
    """How payloads of one run are scrubbed: `places` are folders with their stand-ins, `whose` the owner's names."""

    def __init__(self, places: Mapping[str, str], whose: Owner) -> None:
        """Everything is looked for in the spellings that agents use for paths."""
        self._known = {
            spelled: stand_in
            for path, stand_for in places.items()
            if path
            for spelled, stand_in in zip(_spellings(path), _spellings(stand_for), strict=True)
        }
        self._places = _any(self._known, "{}(?![A-Za-z0-9_])")
        names = dict.fromkeys(whose.logins, LOGIN) | dict.fromkeys(whose.hosts, HOST)
        self._names, self._named = names, _any(names, r"(?<![\w/.-]){}(?![\w/-])")
        self._left = [(what, pattern) for what, pattern in _forbidden(places, whose) if pattern is not None]

    def value(self, value: Json, key: str = "") -> Json:
        """The same payload with stand-ins; only texts change."""
        if type(value) is str:
            kind = None if is_mask(value) else named(key, value)
            return self._text(value) if kind is None else mask(kind)
        if type(value) is dict:
            return {self._moved(name): self.value(item, name) for name, item in value.items()}
        return [self.value(item, key) for item in value] if type(value) is list else value

    def left(self, value: Json) -> str | None:
        """What would still be told of the owner or the lab after scrubbing, None if nothing."""
        for text in _texts(value):
            blank = self._places.sub("\0", text) if self._places else text
            for what, pattern in self._left:
                if pattern.search(blank):
                    return what
        return None

    def _text(self, text: str) -> str:
        text = _KEY.sub(mask("key"), _PORT.sub(r"\1:0", self._moved(text)))
        text, _ = masked(text)
        return self._named.sub(lambda match: self._names[match[0]], text) if self._named else text

    def _moved(self, text: str) -> str:
        return self._places.sub(lambda match: self._known[match[0]], text) if self._places else text


def _spellings(path: str) -> tuple[str, str, str, str]:
    """A path as it is, as seen from the root, as the name of a folder that stands for it, and as part of an address."""
    return path, path.lstrip("/"), re.sub(r"[^A-Za-z0-9]", "-", path), quote(path, safe="")


def _any(words: "Mapping[str, str] | frozenset[str]", around: str) -> re.Pattern[str] | None:
    """A pattern for any of these words, the longest first."""
    told = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(around.format(f"(?:{told})")) if told else None


def _forbidden(places: Mapping[str, str], whose: Owner) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    """What must not be left, in words and as patterns."""
    homes = [_spellings(home) for home in whose.homes]
    yield "your home directory", _any(frozenset(plain for plain, *_ in homes), r"(?<![\0\w$.~-]){}(?!\w|-|\.\w)")
    yield "your home directory", _any(frozenset(slug for _, _, slug, _ in homes), r"(?:^|/){}(?![A-Za-z0-9_])")
    yield "your home directory", _any(frozenset(quoted for *_, quoted in homes), r"{}(?!\w|-)")
    yield "your login name in a path", _any(whose.logins - _NOBODY, r"/{}(?!\w|-|\.\w)")
    labs = frozenset(Path(path).name for path in places if Path(path).name.startswith("hookonce-lab-"))
    yield "the lab's folder", _any(labs, "{}")


def _texts(value: Json) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is dict:
        yield from value
        for item in value.values():
            yield from _texts(item)
    elif type(value) is list:
        for item in value:
            yield from _texts(item)
