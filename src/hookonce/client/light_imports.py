"""Light imports: libraries without those of their parts that a call does not need.

msgspec brings its introspection with it, and with that `typing_extensions` and `inspect`; `uuid` asks `platform` for
one word, `pathlib` brings the parser of URLs, `typing` brings `re`, `hashlib` OpenSSL and every digest that Python has.
While a library is imported, such a part is a stand-in, which loads the real one when somebody asks it for something.
Nothing is imported here that costs time.
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType
    from typing import Any

    Functions = Mapping[str, "Callable[..., Any] | None"]
else:
    ModuleType = type(sys)

# Parts of a library that are loaded later, each with the functions that are bound while it is imported: called then,
# they load the part, unless there is a shorter way.
_MSGSPEC_PARTS: "dict[str, Functions]" = {
    "msgspec.inspect": {},
    "msgspec.toml": {},
    "msgspec.yaml": {},
    "msgspec._json_schema": {"schema": None, "schema_components": None},
    "platform": {"system": lambda: os.uname().sysname},  # of `uuid`
}
# And in a process that is ours alone, in which nobody decodes or encodes anything of those classes.
_OWN_MSGSPEC_PARTS: "dict[str, Functions]" = _MSGSPEC_PARTS | {
    "decimal": {"Decimal": type("Decimal", (), {})},
    "enum": {"Enum": type("Enum", (), {}), "EnumMeta": type("EnumMeta", (type,), {})},
    "uuid": {"UUID": type("UUID", (), {}), "SafeUUID": type("SafeUUID", (), {"unknown": None})},
}
_PATHLIB_PARTS: "dict[str, Functions]" = {"urllib.parse": {"quote_from_bytes": None}, "fnmatch": {}, "ntpath": {}}
_TRIAL_REFERENCE = "Foo"
_TYPING_BACKPORT = "typing_extensions"  # msgspec does without it from Python 3.11 on
_OPENSSL = "_hashlib"
# Which Python has of its own, each with the modules that may have it.
_DIGESTS = {"sha1": ("_sha1",), "sha256": ("_sha256", "_sha2"), "blake2b": ("_blake2",), "shake_256": ("_sha3",)}


def import_msgspec() -> None:
    """Import msgspec, if nobody has; its introspection, schemas, TOML and YAML when somebody asks for them."""
    _import_msgspec_without(_MSGSPEC_PARTS)


def _import_msgspec_without(parts: "Mapping[str, Functions]") -> None:
    """Import it while `typing` does not compile the one name with which msgspec tries how a reference is made.

    To compile a text, Python makes all classes of its syntax tree first, and nothing else of ours does.
    """
    if "msgspec" in sys.modules:
        return
    _import_without("typing", {})
    variables = sys.modules["typing"].__dict__
    variables["compile"] = lambda text, *rest: None if text == _TRIAL_REFERENCE else compile(text, *rest)
    try:
        _import_without("msgspec", parts, _TYPING_BACKPORT)
    finally:
        del variables["compile"]


def import_libraries() -> None:
    """Import what every call needs that is not silent, in a process that is ours alone."""
    if sys.version_info < (3, 12) and "datetime" not in sys.modules:
        sys.modules["datetime"] = __import__("_datetime")  # what newer Pythons do themselves
    regex_parts = _build_regex_parts()
    _import_without("typing", regex_parts)
    _import_msgspec_without(_OWN_MSGSPEC_PARTS | regex_parts)
    _import_without("pathlib", _PATHLIB_PARTS | regex_parts)
    if "hashlib" not in sys.modules:
        sys.modules[_OPENSSL] = None  # type: ignore[assignment]  # for good: `hmac` would load it, too
        sys.modules["hashlib"] = _Digests("hashlib", {})


def _build_regex_parts() -> "dict[str, Functions]":
    """`re` with the classes that `typing` names; without a stand-in if they cannot be had in this way."""
    try:
        pattern = __import__("_sre").compile("", 0, [1], 0, {}, ())  # the empty one, whose only instruction ends it
        return {"re": {"Pattern": type(pattern), "Match": type(pattern.match("")), "compile": None}}
    except Exception:  # noqa: BLE001  a Python that does it in another way
        return {}


def _import_without(library: str, parts: "Mapping[str, Functions]", absent: str = "") -> None:
    """Import a library with stand-ins for its parts, and as if another library were not there: None says so."""
    if library in sys.modules:
        return
    stand_ins = {name: _StandIn(name, functions) for name, functions in parts.items() if name not in sys.modules}
    is_hidden, is_collecting = bool(absent) and absent not in sys.modules, gc.isenabled()
    gc.disable()  # what is loaded stays
    sys.modules.update(stand_ins)
    if is_hidden:
        sys.modules[absent] = None  # type: ignore[assignment]
    try:
        __import__(library)
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]
        if is_hidden:
            del sys.modules[absent]
        if is_collecting:
            gc.enable()


class _StandIn(ModuleType):
    """A module that is loaded when somebody asks it for something."""

    def __init__(self, name: str, functions: "Functions") -> None:
        super().__init__(name)
        self._functions = functions

    def __getattr__(self, name: str) -> "Any":
        if name[:2] == "__":
            raise AttributeError(name)
        if name not in self._functions:
            return getattr(self._load(), name)
        return self._functions[name] or self._lazy_function(name)

    def _lazy_function(self, name: str) -> "Callable[..., Any]":
        def call(*args: "Any", **options: "Any") -> "Any":
            return getattr(self._load(), name)(*args, **options)

        return call

    def _load(self) -> "ModuleType":
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        __import__(self.__name__)  # which its package is told, too
        return sys.modules[self.__name__]


class _Digests(_StandIn):
    """`hashlib` with those digests that somebody asks for."""

    def __getattr__(self, name: str) -> "Any":
        for module in _DIGESTS.get(name, ()):
            try:
                digest = self.__dict__[name] = getattr(__import__(module), name)
            except ImportError:
                continue
            return digest
        return super().__getattr__(name)

    def _load(self) -> "ModuleType":
        sys.modules.pop(_OPENSSL, None)  # whoever asks for more may need it
        return super()._load()
