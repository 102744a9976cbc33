"""Names that announce a secret, and values that are one: what stands behind `DB_PASSWORD=` or `"apiKey":`."""

from functools import lru_cache
from re import ASCII, DOTALL
from re import compile as pattern
from typing import Literal

Trust = Literal["surely", "likely", "perhaps"]

_WORDS = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD = frozenset({"password", "passwd", "passphrase", "passcode", "userpass", "rootpw", "pgpassword"})
_ENDING = frozenset({"pass", "pwd", "pw"})  # only behind another word: DB_PASS, but not pass
_SECRET = frozenset({"secret", "secrets", "token", "authtoken", "accesstoken", "credential", "credentials"})
_SECRET |= {"apikey", "secretkey", "accesskey", "privatekey", "authkey", "clientsecret", "apitoken", "authorization"}
_SECRET |= {"pat", "cookie"}
_BEFORE_KEY = frozenset({"api", "access", "secret", "private", "auth", "signing", "encryption", "master", "service"})
_BEFORE_KEY |= {"account", "shared", "storage", "license", "deploy", "app", "application", "client", "admin", "hmac"}
_BEFORE_KEY |= {"jwt", "webhook", "session", "root", "encrypt", "cipher", "subscription", "functions"}
_NO_KEY = frozenset({"public", "primary", "foreign", "sort", "partition", "cache", "row", "map", "hot", "group", "pub"})
_NO_KEY |= {"index", "object", "unique", "idempotency", "lookup", "routing", "translation", "i18n", "host", "dedupe"}
_NO_TOKEN = frozenset({"next", "page", "continuation", "sync", "max", "min", "num", "eos", "bos", "pad", "unk", "mask"})
_NO_TOKEN |= {
    "sep",
    "cls",
    "stop",
    "per",
    "resume",
    "image",
    "start",
    "end",
    "special",
    "first",
    "last",
    "cancellation",
}
_BEHIND = frozenset({"prod", "production", "dev", "development", "staging", "test", "live", "value", "base", "hex"})
_BEHIND |= {"old", "new", "default", "secondary", "text", "string", "plain", "plaintext"}


@lru_cache(maxsize=4096)
def announced(name: str) -> tuple[str, Trust] | None:
    """The kind of secret that a name of a variable, field, header or flag announces, and how surely."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1] in _BEHIND or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _PASSWORD or last.endswith(("password", "passwd")) or (last in _ENDING and before not in {"", "old"}):
        return "password", "surely"
    if last == "pwd":
        return "password", "perhaps"  # or the working directory
    if (
        last in _SECRET
        and not (last == "token" and before in _NO_TOKEN)
        and not (last in {"pat", "cookie"} and not before)
    ):
        return ("secret" if last.startswith("secret") else "token" if "token" in last else "key"), "likely"
    return _key(last, before)


def _key(last: str, before: str) -> tuple[str, Trust] | None:
    if last != "key" or not before or before in _NO_KEY:
        return None
    return "key", "likely" if before in _BEFORE_KEY else "perhaps"


_NOTHING = pattern(  # empty, starred out, a reference to something else, a placeholder, or code
    r"""[*x.…_#?/=:-]*|[<$`{@(!&].*|%\w+%|%[sdqv].*|\[\{.*|\\?|[fbr]["'].*|\.[*+].*|(?i:your?[ _-].*)""",
    DOTALL,
)
_IDLE = frozenset(
    {"null", "none", "true", "false", "undefined", "nil", "required", "optional", "string", "str", "bytes"}
)
_IDLE |= {"bool", "boolean", "int", "integer", "number", "any", "object", "text", "is", "the", "and", "or", "not", "in"}
_IDLE |= {
    "redacted",
    "masked",
    "hidden",
    "removed",
    "omitted",
    "empty",
    "unset",
    "missing",
    "invalid",
    "expired",
    "yes",
    "no",
}
_IDLE |= {"on", "off", "enabled", "disabled", "auto", "prompt", "stdin", "file", "env", "default", "example", "char"}
_CODE = pattern(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\w+)*(?:[(\[].*|[,;)]*)", ASCII)
_PATH = pattern(r"(?:[.~]{0,2}/|[A-Za-z]:\\).*|[\w-]+\.(?:pem|key|json|ya?ml|toml|txt|env|crt|pub|py|js|ts|go|rs|md)")
_DOCKER = pattern(r"(?:id|type|src|source|env|name)=.*")
_UUID = pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_secret(value: str, trust: Trust, *, tight: bool) -> bool:
    """Whether a value may be what its name announces; `tight` is an assignment as shells and URLs write it."""
    if _NOTHING.fullmatch(value) is not None or value.lower().rstrip(".,;:)") in _IDLE:
        return False
    if trust == "perhaps":
        return _is_random(value)
    if len(value) >= (_LETTERS if trust == "likely" else 1) and value.isalnum() and _has_both(value):
        return True
    if not tight and _CODE.fullmatch(value) is not None and not _is_random(value):
        return False  # a type, a call or another variable
    if trust == "surely":
        return True
    return len(value) >= _SHORT and not value.isdigit() and not _names_something(value)


def _has_both(value: str) -> bool:
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


_SHORT = 4
_LETTERS = 8
_SOME = 3
_LONG = 12


def _names_something(value: str) -> bool:
    return (_PATH.fullmatch(value) or _DOCKER.fullmatch(value)) is not None or "://" in value


def _is_random(value: str) -> bool:
    """Letters and digits mixed as nobody would name a thing."""
    if len(value) < _LONG or _names_something(value) or _UUID.fullmatch(value) is not None:
        return False
    digits = sum(character.isdigit() for character in value)
    upper, lower = value != value.lower(), value != value.upper()
    mixed = digits >= _SOME or (digits >= 1 and upper and lower)
    return mixed and value.count("-") + value.count(".") + value.count(" ") < _SOME
