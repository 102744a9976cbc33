"""JSON as people write it: any value with any white space, comments and trailing commas between its words."""

import json

from hypothesis import strategies as st

KEYS = st.sampled_from(["hooks", "PreToolUse", "Stop", "a", "", 'q"\\', "é", "//", "/*", ",]"]) | st.text(max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["// no comment", "/* nor this */", ",]", "{\n}", "\\", '"', "\ud800", "\U0001f600"])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)

SPACE = ["", "", "", " ", "  ", "\t", "\n", "\r\n", "\r", "\n  ", "\r\n\t", "\n\n    ", " \n", "  \n ", "   \r\n"]
COMMENTS = [
    "// c\n",
    "//\r\n",
    "// é, ] }\n  ",
    "// old mac\r",
    "/* c */",
    "/**/",
    "/* ,\n ] */ ",
    "/* x */// y\n",
    " /* z */\n",
]


@st.composite
def gaps(draw):
    """White space, now and then with comments in it."""
    pieces = draw(st.lists(st.sampled_from(SPACE + SPACE + COMMENTS), max_size=3))
    return "".join(pieces)


@st.composite
def written(draw, value, gap):
    """One way to write a value down; `gap` says what may stand between its words."""
    if isinstance(value, dict):
        words = [
            draw(gap)
            + json.dumps(key, ensure_ascii=draw(st.booleans()) or not safe(key))
            + draw(gap)
            + ":"
            + draw(gap)
            + draw(written(inner, gap))
            + draw(gap)
            for key, inner in value.items()
        ]
        return "{" + joined(draw, words, gap) + "}"
    if isinstance(value, list):
        return "[" + joined(draw, [draw(gap) + draw(written(inner, gap)) + draw(gap) for inner in value], gap) + "]"
    return json.dumps(value, ensure_ascii=draw(st.booleans()) or not safe(value))


def safe(value):
    return not (isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value))


def joined(draw, words, gap):
    if not words:
        return draw(gap)
    return ",".join(words) + ("," + draw(gap) if draw(st.booleans()) else "")


@st.composite
def tidy(draw, value):
    """The value as a formatter writes it."""
    indent = draw(st.sampled_from([None, 0, 1, 2, 3, 4, 8, "\t", " \t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (", ", ": "), (" ,", " : ")]))
    text = json.dumps(value, indent=indent, separators=separators)
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@st.composite
def documents(draw, values=OBJECTS):
    """A value, and the bytes of a file that says it."""
    value = draw(values)
    gap = draw(st.sampled_from([gaps(), st.sampled_from(SPACE), st.just("")]))
    text = draw(gap) + draw(written(value, gap) | tidy(value)) + draw(gap)
    bom = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    return value, bom + text.encode()


def places(value, kind, keys=()):
    """Where in a value something of a kind stands."""
    found = [keys] if isinstance(value, kind) else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, held in inner for place in places(held, kind, (*keys, key))]


def at(value, keys):
    for key in keys:
        value = value[key]
    return value


def indices_of(value, is_match):
    """The indices of a list whose items match."""
    return [index for index, item in enumerate(value or ()) if is_match(item)]
