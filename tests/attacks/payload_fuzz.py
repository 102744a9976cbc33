"""Fuzzed payloads: recorded and documented ones of every agent, damaged as models, pipes and new versions might."""

import copy
import json
import random

from hookonce import agents
from hookonce.agents import canonical_event_of, config_events, point_of
from tests.dispatch.pipeline_cases import goldens, recorded

MARK = "rm -rf /precious"  # what a hook is there to see
ODD_NUMBERS = ("1e999", "-1e999", "9" * 400, "9" * 5000, "-0", "1e-999", "NaN", "-Infinity", "18446744073709551616", "0.1e1")
ODD_TEXTS = ("\\ud800", "\\udc00", "x\\udfff\\ud800y", "\\u0000", "\\u202e", "\\ufffe", "\\ud83d\\ude00", "\\\\ud800", "\\u001b[2J", "")
OTHER_NAMES = ("SomethingNew", "", "SessionStart", "PostToolUse", "Stop", "PRETOOLUSE", "pre_tool_use", "sessionStart", "PreToolUse\\u0000")


def refusable_entries():
    """Every entry at which something can be refused: agent, name of the event there, its canonical name."""
    for agent in agents.load_all():
        for native in {**config_events(agent), **agent.config.points}:
            if "prevent" in point_of(agent, native).capabilities:
                yield agent.name, native, canonical_event_of(agent, native)


ENTRIES = [*refusable_entries()]


def payloads_by_entry():
    """Payloads for each such entry: its own, or of another event of the same agent."""
    found = {}
    for name, native, payload, _ in (*goldens(), *recorded()):
        agent = agents.load(name)
        found.setdefault((name, canonical_event_of(agent, native)), []).append(payload)
        found.setdefault((name, None), []).append(payload)
    return {(name, native): found.get((name, kind)) or found[name, None] for name, native, kind in ENTRIES}


class Fuzzer:
    """Makes calls of a seed; each is a list of arguments and the bytes of a payload."""

    def __init__(self, seed):
        self.random, self.payloads = random.Random(seed), payloads_by_entry()  # noqa: S311  no secret

    def call(self):
        """One call: words, payload, and what was done to it."""
        name, native, _ = self.random.choice(ENTRIES)
        payload = copy.deepcopy(self.random.choice(self.payloads[name, native]))
        self._plant(payload)
        done = self.random.choices(TREE_DAMAGE, k=self.random.choice((0, 1, 1, 2)))
        for damage in done:
            damage(self, payload)
        text = json.dumps(payload, ensure_ascii=self.random.random() < 0.5)
        text = self._substitute(text)
        raw = text.encode(errors="surrogatepass")
        rough = self.random.choices((*BYTE_DAMAGE, None), k=1) if self.random.random() < 0.6 else []
        for damage in filter(None, rough):
            raw = damage(self, raw)
        words = [name, native, *(["--via", f"{name}/user"] if self.random.random() < 0.8 else [])]
        return words, raw, [damage.__name__ for damage in (*done, *filter(None, rough))]

    def _plant(self, payload):
        texts = [(node, key) for node, key, value in _leaves(payload) if type(value) is str]
        if texts:
            node, key = self.random.choice(texts)
            node[key] = f"{node[key]} {MARK}" if self.random.random() < 0.3 else MARK

    def _substitute(self, text):
        """What no value of Python stands for."""
        while '"@odd number@"' in text:
            text = text.replace('"@odd number@"', self.random.choice(ODD_NUMBERS), 1)
        while "@odd text@" in text:
            text = text.replace("@odd text@", self.random.choice(ODD_TEXTS), 1)
        while '"@deep@"' in text:
            levels = self.random.choice((5, 150, 199, 201, 256, 990, 1200, 20_000))
            opening, closing = self.random.choice((("[", "]"), ('{"a":', "}")))
            text = text.replace('"@deep@"', opening * levels + f'"{MARK}"' + closing * levels, 1)
        return text

    # What is done to the tree

    def _node(self, payload):
        inner = [value for _, _, value in _leaves(payload, containers=True) if type(value) in (dict, list)]
        return self.random.choice([payload, *inner])

    def odd_value(self, payload):
        values = ("@odd number@", "@odd text@", "@deep@", None, True, [], {}, 7, "", [MARK], {"command": MARK}, -1.5)
        node = self._node(payload)
        keys = list(node) if type(node) is dict else list(range(len(node)))
        if keys:
            node[self.random.choice(keys)] = self.random.choice(values)

    def more_of_it(self, payload):
        node = self._node(payload)
        value = self.random.choice(("@odd number@", f"@odd text@{MARK}", "@deep@", {"command": MARK}))
        if type(node) is dict:
            node[self.random.choice(("command", "cmd", "path", "@odd text@", "input", "tool_input", "hook", "event", "kind"))] = value
        else:
            node.append(value)

    def other_name(self, payload):
        names = {native for _, native, _ in ENTRIES}
        for node, key, value in _leaves(payload):
            if type(value) is str and (value in names or "event" in str(key).lower() or key in {"hook", "hookName"}):
                node[key] = self.random.choice((*OTHER_NAMES, 7, None, [value], self.random.choice([*names])))

    def less_of_it(self, payload):
        node = self._node(payload)
        if type(node) is dict and node:
            del node[self.random.choice(list(node))]

    def other_key(self, payload):
        node = self._node(payload)
        if type(node) is dict and node:
            key = self.random.choice(list(node))
            node[self.random.choice((key.upper(), f"{key}@odd text@", key[:-1], f" {key}"))] = node.pop(key)

    def as_text(self, payload):
        for key in ("tool_input", "toolArgs", "args", "parameters", "input"):
            if type(payload.get(key)) is dict:
                payload[key] = self.random.choice(("", " ", "\n\t")) + json.dumps(payload[key])

    # What is done to the bytes

    def cut(self, raw):
        return raw[: self.random.randrange(len(raw))]

    def flipped(self, raw):
        data = bytearray(raw)
        for _ in range(self.random.choice((1, 1, 3, 10))):
            data[self.random.randrange(len(data))] = self.random.randrange(256)
        return bytes(data)

    def put_in(self, raw):
        place = self.random.randrange(len(raw))
        return raw[:place] + self.random.choice((b"\xff", b"\xed\xa0\x80", b"\0", b"{", b"]", b'"', b"\\ud800", b"\\", b",")) + raw[place:]

    def around_it(self, raw):
        return self.random.choice((b"\xef\xbb\xbf", b"warning: ", b"\n \t", b"", b"[")) + raw + self.random.choice((b"\n", b"", b"\0", raw, b"]"))

    def twice(self, raw):
        inner = raw.rstrip()[1:-1]
        return b"{" + inner + b"," + inner + b"}"

    def large(self, raw):
        return raw.rstrip()[:-1] + b',"more":"' + b"\\ud800{[" * self.random.choice((10, 1000, 40_000)) + b'"}'


TREE_DAMAGE = [Fuzzer.odd_value, Fuzzer.more_of_it, Fuzzer.other_name, Fuzzer.less_of_it, Fuzzer.other_key, Fuzzer.as_text]
BYTE_DAMAGE = [Fuzzer.cut, Fuzzer.flipped, Fuzzer.put_in, Fuzzer.around_it, Fuzzer.twice, Fuzzer.large]


def _leaves(node, *, containers=False):
    """Place and value of everything in a tree, or of its leaves."""
    pairs = list(node.items()) if type(node) is dict else list(enumerate(node))
    for key, value in pairs:
        if type(value) in (dict, list):
            if containers:
                yield node, key, value
            yield from _leaves(value, containers=containers)
        else:
            yield node, key, value
