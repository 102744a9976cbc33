"""Attribution: the user of a live event, by a setting, by what the agent tells, or as a pseudonym of the account.

A pseudonym is an HMAC with a key of this machine: the same person has the same one here, and nobody without the key can
tell who it is. Only a setting names anybody in clear.
"""

import os
from functools import lru_cache
from hashlib import sha256
from hmac import new as hmac

from hookonce import agents
from hookonce.base.regex import lazy_pattern
from hookonce.base.settings import PrivacyLevel as Level
from hookonce.model import Event, User

_PREFIX = "user:"
_PSEUDONYM_CHARS = 16
_PSEUDONYM = lazy_pattern(rf"{_PREFIX}[0-9a-f]{{{_PSEUDONYM_CHARS}}}")
_UNKNOWN_USERS = frozenset({"", "unknown"})  # what agents say who know no user


def user_of(event: Event, level: Level, key: bytes | None, configured_id: str | None) -> User | None:
    """The user that an event names at a level, by the setting and the machine's key of hashes; without both nobody."""
    if configured_id is not None:
        return User(id=configured_id)
    if key is None:
        return None
    native_id = _native_user_id(event)
    if native_id is None:
        return _pseudonym(key, f"account {os.getuid()}")
    user = event.user if level == "full" else public_user(event.user, None)
    return user or _pseudonym(key, native_id)


def public_user(user: User | None, configured_id: str | None) -> User | None:
    """The user of a stored or foreign event, if everybody may know it: a pseudonym, or whom the setting names."""
    if user is None or user.name is not None or user.id is None:
        return None
    return user if user.id == configured_id or _PSEUDONYM.fullmatch(user.id) else None


def _native_user_id(event: Event) -> str | None:
    """Who it is, in the words of the agent or of the document that an event was read from; None if nobody says so."""
    if event.user is not None:
        return event.user.id or event.user.name
    user_key = agents.load(event.agent).user_key if event.agent in agents.AGENTS else None
    native_id = event.native.get(user_key) if user_key is not None and type(event.native) is dict else None
    return native_id if type(native_id) is str and native_id not in _UNKNOWN_USERS else None


@lru_cache(maxsize=64)
def _pseudonym(key: bytes, identity: str) -> User:
    digest = hmac(key, f"user\0{identity}".encode(errors="surrogatepass"), sha256)
    return User(id=_PREFIX + digest.hexdigest()[:_PSEUDONYM_CHARS])
