"""Scrubbing of payloads: folders, ports, names and secrets of the lab and its owner get stand-ins.

Ids and times stay as they are. What has no stand-in because it should not be there at all is found
by `find_leak`: the user's own home and login name as parts of a path.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from pwd import getpwuid
from urllib.parse import quote

from msgspec import Struct

from hookonce.base import paths
from hookonce.model import Json
from hookonce.secrets.detect import classify_field, is_mask, mask_secrets, secret_mask

HOME, PROJECT, LOGIN, HOST = "/home/dev", "/home/dev/project", "dev", "host"

_LOOPBACK_PORT = re.compile(r"(?<![\w.])(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}(?!\d)")
_FAKE_KEY = re.compile(r"(?<![\w-])no-key(?![\w-])")  # what the lab gives an agent that asks for a key
_GENERIC_LOGINS = frozenset({"root"})  # a login name that tells nothing; agents have folders of that name


class MachineOwner(Struct, frozen=True):
    """Owner of the machine: homes, login names and host names that nobody else has to know."""

    homes: frozenset[str] = frozenset()
    logins: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()


def find_owner() -> MachineOwner:
    """Find the owner: the user of this process."""
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
    return MachineOwner(frozenset(homes - {"/", ""}), frozenset(logins - {""}), frozenset(hosts))


class Scrubber:
    """Scrubber of one run: folders with their stand-ins, and the owner's names."""

    def __init__(self, replacements: Mapping[str, str], machine_owner: MachineOwner) -> None:
        """Everything is looked for in the spellings that agents use for paths."""
        self._replacements = {
            spelling: stand_in
            for path, stand_for in replacements.items()
            if path
            for spelling, stand_in in zip(_path_spellings(path), _path_spellings(stand_for), strict=True)
        }
        self._path_pattern = _any_of(self._replacements, "{}(?![A-Za-z0-9_])")
        names = dict.fromkeys(machine_owner.logins, LOGIN) | dict.fromkeys(machine_owner.hosts, HOST)
        self._name_replacements, self._name_pattern = names, _any_of(names, r"(?<![\w/.-]){}(?![\w/-])")
        self._leak_patterns = [
            (leak, pattern) for leak, pattern in _leak_patterns(replacements, machine_owner) if pattern is not None
        ]

    def scrub(self, value: Json, key: str = "") -> Json:
        """Scrub a payload; only texts change."""
        if type(value) is str:
            kind = None if is_mask(value) else classify_field(key, value)
            return self._scrub_text(value) if kind is None else secret_mask(kind)
        if type(value) is dict:
            return {self._replace_paths(name): self.scrub(item, name) for name, item in value.items()}
        return [self.scrub(item, key) for item in value] if type(value) is list else value

    def find_leak(self, value: Json) -> str | None:
        """Find what would still identify the owner or the lab after scrubbing, None if nothing."""
        for text in _iter_texts(value):
            masked_text = self._path_pattern.sub("\0", text) if self._path_pattern else text
            for leak, pattern in self._leak_patterns:
                if pattern.search(masked_text):
                    return leak
        return None

    def _scrub_text(self, text: str) -> str:
        text = _FAKE_KEY.sub(secret_mask("key"), _LOOPBACK_PORT.sub(r"\1:0", self._replace_paths(text)))
        text, _ = mask_secrets(text)
        return (
            self._name_pattern.sub(lambda match: self._name_replacements[match[0]], text)
            if self._name_pattern
            else text
        )

    def _replace_paths(self, text: str) -> str:
        return self._path_pattern.sub(lambda match: self._replacements[match[0]], text) if self._path_pattern else text


def _path_spellings(path: str) -> tuple[str, str, str, str]:
    """A path as it is, as seen from the root, as the name of a folder that stands for it, and as part of an address."""
    return path, path.lstrip("/"), re.sub(r"[^A-Za-z0-9]", "-", path), quote(path, safe="")


def _any_of(words: "Mapping[str, str] | frozenset[str]", around: str) -> re.Pattern[str] | None:
    alternatives = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(around.format(f"(?:{alternatives})")) if alternatives else None


def _leak_patterns(
    replacements: Mapping[str, str], machine_owner: MachineOwner
) -> Iterator[tuple[str, re.Pattern[str] | None]]:
    homes = [_path_spellings(home) for home in machine_owner.homes]
    yield "your home directory", _any_of(frozenset(plain for plain, *_ in homes), r"(?<![\0\w$.~-]){}(?!\w|-|\.\w)")
    yield "your home directory", _any_of(frozenset(slug for _, _, slug, _ in homes), r"(?:^|/){}(?![A-Za-z0-9_])")
    yield "your home directory", _any_of(frozenset(quoted_path for *_, quoted_path in homes), r"{}(?!\w|-)")
    yield "your login name in a path", _any_of(machine_owner.logins - _GENERIC_LOGINS, r"/{}(?!\w|-|\.\w)")
    lab_folders = frozenset(Path(path).name for path in replacements if Path(path).name.startswith("hookonce-lab-"))
    yield "the lab's folder", _any_of(lab_folders, "{}")


def _iter_texts(value: Json) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is dict:
        yield from value
        for item in value.values():
            yield from _iter_texts(item)
    elif type(value) is list:
        for item in value:
            yield from _iter_texts(item)
