"""Secret names and values: which names announce a secret (`DB_PASSWORD=`, `"apiKey":`), which values may be one."""

from functools import lru_cache
from re import ASCII, DOTALL
from typing import Literal

from hookonce.base.regex import lazy_pattern

Confidence = Literal["certain", "likely", "possible"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAME_WORD = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD_WORDS = _words("password passwd passphrase passcode userpass rootpw pgpassword")
_PASSWORD_SUFFIXES = _words("pass pwd pw")  # only behind another word: DB_PASS, but not pass
_SECRET_WORDS = _words(
    "secret secrets token authtoken accesstoken credential credentials apikey secretkey accesskey privatekey authkey "
    "clientsecret apitoken authorization pat cookie"
)
_KEY_QUALIFIERS = _words(
    "api access secret private auth signing encryption master service account shared storage license deploy app "
    "application client admin hmac jwt webhook session root encrypt cipher subscription functions"
)
_HARMLESS_KEY_QUALIFIERS = _words(
    "public primary foreign sort partition cache row map hot group pub index object unique idempotency lookup routing "
    "translation i18n host dedupe"
)
_HARMLESS_TOKEN_QUALIFIERS = _words(
    "next page continuation sync max min num eos bos pad unk mask sep cls stop per resume image start end special "
    "first last cancellation"
)
_NAME_SUFFIXES = _words(
    "prod production dev development staging test live value base hex old new default secondary text string plain "
    "plaintext"
)


@lru_cache(maxsize=4096)
def classify_name(name: str) -> tuple[str, Confidence] | None:
    """The kind of secret that a variable, field, header or flag name announces, and the confidence."""
    words = [word.lower() for word in _NAME_WORD.findall(name)]
    while len(words) > 1 and (words[-1] in _NAME_SUFFIXES or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    is_suffix = last in _PASSWORD_SUFFIXES and before not in {"", "old"}
    if is_suffix or last in _PASSWORD_WORDS or last.endswith(("password", "passwd")):
        return "password", "certain"
    if last == "pwd":
        return "password", "possible"  # or the working directory
    is_harmless_token = last == "token" and before in _HARMLESS_TOKEN_QUALIFIERS
    is_plain_word = last in {"pat", "cookie"} and not before
    if last in _SECRET_WORDS and not is_harmless_token and not is_plain_word:
        return ("secret" if last.startswith("secret") else "token" if "token" in last else "key"), "likely"
    return _classify_key(last, before)


def _classify_key(last: str, before: str) -> tuple[str, Confidence] | None:
    if last != "key" or not before or before in _HARMLESS_KEY_QUALIFIERS:
        return None
    return "key", "likely" if before in _KEY_QUALIFIERS else "possible"


_PLACEHOLDER = lazy_pattern(  # empty, starred out, a reference to something else, a placeholder, or code
    r"""[*x.…_#?/=:-]*|[<$`{@(!&].*|%\w+%|%[sdqv].*|\[\{.*|\\?|[fbr]["'].*|\.[*+].*|(?i:your?[ _-].*)""",
    DOTALL,
)
_PLACEHOLDER_WORDS = _words(
    "null none true false undefined nil required optional string str bytes bool boolean int integer number any object "
    "text is the and or not in redacted masked hidden removed omitted empty unset missing invalid expired yes no on "
    "off enabled disabled auto prompt stdin file env default example char"
)
_CODE_EXPRESSION = lazy_pattern(r"[A-Za-z_]\w*(?:(?:\.|->|::|\?\.)\w+)*(?:[(\[].*|[,;)]*)", ASCII)
_FILE_PATH = lazy_pattern(
    r"(?:[.~]{0,2}/|[A-Za-z]:\\).*|[\w-]+\.(?:pem|key|json|ya?ml|toml|txt|env|crt|pub|py|js|ts|go|rs|md)"
)
_MIN_SECRET_CHARS, _MIN_MIXED_CHARS, _MIN_RANDOM_CHARS, _MIN_RANDOM_DIGITS = 4, 8, 12, 3
_DOCKER_OPTION = lazy_pattern(r"(?:id|type|src|source|env|name)=.*")
_UUID = lazy_pattern(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def is_secret(value: str, confidence: Confidence, *, is_assignment: bool) -> bool:
    """Whether a value may be the announced secret; `is_assignment`: as shells and URLs write it."""
    if _PLACEHOLDER.fullmatch(value) is not None or value.lower().rstrip(".,;:)") in _PLACEHOLDER_WORDS:
        return False
    if confidence == "possible":
        return _is_random(value)
    min_chars = _MIN_MIXED_CHARS if confidence == "likely" else 1
    if len(value) >= min_chars and value.isalnum() and has_letters_and_digits(value):
        return True
    if not is_assignment and _CODE_EXPRESSION.fullmatch(value) is not None and not _is_random(value):
        return False  # a type, a call or another variable
    if confidence == "certain":
        return True
    return len(value) >= _MIN_SECRET_CHARS and not value.isdigit() and not _is_reference(value)


def has_letters_and_digits(value: str) -> bool:
    """Whether a value has letters and digits: no word of a sentence."""
    return any(character.isdigit() for character in value) and any(character.isalpha() for character in value)


def _is_reference(value: str) -> bool:
    return (_FILE_PATH.fullmatch(value) or _DOCKER_OPTION.fullmatch(value)) is not None or "://" in value


def _is_random(value: str) -> bool:
    """Letters and digits mixed as nobody would name a thing."""
    if len(value) < _MIN_RANDOM_CHARS or _is_reference(value) or _UUID.fullmatch(value) is not None:
        return False
    digits = sum(character.isdigit() for character in value)
    upper, lower = value != value.lower(), value != value.upper()
    is_mixed = digits >= _MIN_RANDOM_DIGITS or (digits >= 1 and upper and lower)
    return is_mixed and value.count("-") + value.count(".") + value.count(" ") < _MIN_RANDOM_DIGITS
