"""Canaries: values that nobody else has, planted in every string of a payload, and looked for in every byte that is left.

A canary of text has one beginning and a number, so that a single pattern finds all of them. A secret has the beginning
of its published format and the same odd word at its start or end, in letters of the alphabet that it is written in.
"""

import base64
import itertools
import json
import re
from urllib.parse import quote

from msgspec import to_builtins

from hookonce.vocabulary.tools import ARGUMENTS, DATA_FIELDS
from tests.secrets.material import DIGITS, HEX, LOWER, PUBLISHED, UPPER, some

_NAME = "Qcanaryq"
_NUMBERED = re.compile(rb"(?i)" + _NAME.encode() + rb"(\d{9})")
_ODD = {"hex": "0ddba11c0ffee", "digits": "7300713007137", "upper": "ODDBALLCOFFEE", "lower": "oddballcoffee", "any": "OddBallCoffee"}
# names of things: what an agent calls them is kept as it is
NAMES = {"id", "session", "turn", "parent_session", "model", "agent_version", "type", "subagent", "time", "agent", "caused_by"}
NAMES_OF_TOOLS = {"name", "native", "call_id", "mcp_server"}


def _coded(word):
    """A word as it stands in base64, wherever in a text it stood; and in hexadecimal digits, and in UTF-16."""
    raw = word.encode()
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw)
        yield whole[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
    yield raw.hex().encode()
    yield raw.hex().upper().encode()
    yield word.encode("utf-16-le")


_CODED = re.compile(b"|".join(re.escape(form) for word in (_NAME, *_ODD.values()) for form in _coded(word)))
_ODDITY = re.compile("|".join(_ODD.values()).encode())


class Canaries:
    """All that were planted so far, and what became of them."""

    def __init__(self):
        self._numbers = itertools.count()
        self.hidden, self.kept, self.planted = {}, {}, 0

    def text(self, before="", after=" sings 'ünseen' & \"loud\""):
        """A sentence, or another text around a canary."""
        self.planted += 1
        return f"{before}{_NAME}{next(self._numbers):09d}{after}"

    def planted_in(self, payload, steering):
        """The payload with a canary in each string that does not say what the payload is, and in a key of each object."""
        return self._tree(payload, steering, ())

    def _tree(self, value, steering, path):
        if isinstance(value, list):
            return [self._tree(item, steering, (*path, number)) for number, item in enumerate(value)]
        if isinstance(value, dict):
            made = {key: self._tree(item, steering, (*path, key)) for key, item in value.items()}
            return made | ({self.text("What does ", " say?"): self.text()} if path else {})
        if not isinstance(value, str) or path in steering:
            return value
        return self._string(value, steering, path)

    def _string(self, value, steering, path):
        if value[:1] in "{[" and (inner := _parsed(value)) is not None:
            return json.dumps(self._tree(inner, steering, path))
        if value[:1] in {"/", "~", "."} and "\n" not in value:
            return self.text(value + "/", "")
        return self.text(value.rstrip() + " ", "") if value.count(" ") < 10 else self.text()

    def secret_in(self, payload, steering):
        """The payload with a secret in each string that does not say what the payload is, and in a key of each object."""
        return self._secret_tree(payload, steering, ())

    def _secret_tree(self, value, steering, path):
        if isinstance(value, list):
            return [self._secret_tree(item, steering, (*path, number)) for number, item in enumerate(value)]
        if isinstance(value, dict):
            made = {key: self._secret_tree(item, steering, (*path, key)) for key, item in value.items()}
            return made | ({self._secret("", "key"): 1} if path else {})
        if not isinstance(value, str) or path in steering:
            return value
        return self._secret(value[:200])

    def _secret(self, text, writing=None):
        """A text with a secret in it, in one way to write it after the other."""
        number = next(self._numbers)
        self.planted += 1
        write = _ways[number // 7 % len(_ways)] if writing is None else WRITINGS["quoted"]
        return f"{text} {write(secret(number))}".lstrip()

    def expect(self, event, where):
        """Judge each canary of an event by where it stands there: never to be heard again, or to be kept."""
        tree = to_builtins(event)
        tool = (tree.get("tool") or {}).get("name")
        native, known = tree.pop("native", None), {}
        (tree.get("tool") or {}).pop("native_input", None)
        for path, text in strings(tree):
            for number in numbers(text.encode("utf-8", "replace")):
                known.setdefault(number, set()).add(_class(path, tool))
        for _, text in strings(native):
            for number in numbers(text.encode("utf-8", "replace")):
                found = known.get(number, {"text"})
                if found <= {"text"}:
                    self.hidden[number] = where
                elif "words" in found:
                    self.kept[number] = where


def numbers(data):
    """The canaries in some bytes."""
    return {int(found) for found in _NUMBERED.findall(data)}


def coded(data):
    """Canaries that are there in another writing."""
    return _CODED.findall(data)


def odd(data):
    """Secrets, or the better part of one, with what is around them."""
    return [data[max(0, found.start() - 60) : found.end() + 20] for found in _ODDITY.finditer(data)]


def _class(path, tool):
    """What stands at a place of an event: words that stay, a name that stays, or text."""
    match path:
        case ("tool", "input", name, *more):
            kind = ARGUMENTS.get(tool, {}).get(name, "text")
        case ("data", name, *more):
            kind = DATA_FIELDS.get(name, "text")
        case ("tool", name, *_) if name in NAMES_OF_TOOLS:
            return "name"
        case ("cwd",):
            return "words"
        case _:
            return "name" if path[0] in NAMES else "text"
    if kind in {"command", "path"}:
        return "name" if more else "words"
    return "text"


def strings(value, path=()):
    """Every string of a tree, with the way to it; keys too."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from strings(item, (*path, number))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*path, "key"), key
            yield from strings(item, (*path, key))


def _parsed(text):
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def secret(seed):
    """A secret in a published format, another one for each seed; every format in turn."""
    _, *parts = PUBLISHED[seed % len(PUBLISHED)]
    longest = max((part for part in parts if not isinstance(part, str)), key=lambda part: part[1])
    return "".join(part if isinstance(part, str) else _odd(part, seed) if part is longest else some(*part, seed) for part in parts)


def _odd(part, seed):
    alphabet, count = part
    made, word = some(alphabet, count, seed), _ODD[_sort(alphabet)]
    word = word[: count - 2]
    return made[:1] + word + made[1 + len(word) :] if seed // len(PUBLISHED) % 2 else made[: -1 - len(word)] + word + made[-1:]


def _sort(alphabet):
    if set(alphabet) <= set(DIGITS):
        return "digits"
    if set(alphabet) <= set(HEX):
        return "hex"
    if not set(alphabet) & set(UPPER):
        return "lower"
    return "any" if set(alphabet) & set(LOWER) else "upper"


WRITINGS = {
    "alone": str,
    "quoted": lambda one: f'curl -H "X-Any: {one}" x',
    "single": lambda one: f"curl -d '{one}' x",
    "assigned": lambda one: f"FOO={one} make",
    "exported": lambda one: f"export FOO={one} && ls",
    "flag": lambda one: f"run --token={one} -v",
    "next line": lambda one: f"run --token \\\n  {one} \\\n  -v",
    "cut": lambda one: f"run {one[:9]}\\\n{one[9:]} -v",
    "cut early": lambda one: f"run {one[:3]}\\\r\n{one[3:]} -v",
    "path": lambda one: f"/srv/{one}/x",
    "file": lambda one: f"/tmp/{one}.txt",
    "url": lambda one: f"https://x.io/a?k={one}&b=1",
    "percent": lambda one: f"https://x.io/a?k={quote(one, safe='')}&b=1",
    "user": lambda one: f"https://u:{one}@x.io/a",
    "json": lambda one: json.dumps({"a": one}),
    "json in json": lambda one: json.dumps({"a": json.dumps({"b": one})}),
    "env": lambda one: f"A=1\nB={one}\nC=2\n",
    "env, windows": lambda one: f"A=1\r\nB={one}\r\nC=2\r\n",
    "here": lambda one: f"cat > .env <<EOF\nK={one}\nEOF\n",
    "yaml": lambda one: f"x:\n  - {one}\n",
    "table": lambda one: f'1,"{one}",2',
    "markup": lambda one: f"<k>{one}</k>",
    "coloured": lambda one: f"\x1b[32m{one}\x1b[0m",
    "grep": lambda one: f"a\x1b[01;31m\x1b[K{one}\x1b[m\x1b[K",
    "colour inside": lambda one: f"a {one[:6]}\x1b[31m{one[6:]}\x1b[0m",
    "colour in json": lambda one: f"\\u001b[32m{one}\\u001b[0m",
    "unicode": lambda one: f"\\u0022{one}\\u0022",
    "hexadecimal": lambda one: f"\\x22{one}\\x22",
    "joined": lambda one: f"a_{one}_b",
    "windows": lambda one: f"C:\\temp\\{one}\\x",
    "prose": lambda one: f"Is it {one}? It is ({one}).",
    "chinese": lambda one: f"密钥{one}。",
    "key": lambda one: one,
}
_ways = list(WRITINGS.values())
