"""Module cache: the compiled modules of our own processes, in one file beside the client.

Python looks for each module in every folder of its path, and reads a file for each. Here one file is read, and a module
is taken from it as long as its source has the time and the size that it was compiled from, which is what Python itself
goes by. What is not there, or has changed, is imported as always. The modules of a call are one object in the file:
names that all of them use are read once. Nothing is imported here that costs time.
"""

import builtins
import marshal
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from types import CodeType, ModuleType
    from typing import Any

    # source, its compiled file, kind, stamp
    ModuleFields = tuple[str, str, str, tuple[int, int]]
    CachedModule = tuple[str, str, str, tuple[int, int], int, int]  # and where its code begins and ends
else:
    ModuleType = type(sys)

CACHE_FILE = "modules.bin"
_PLAIN, _PACKAGE, _EXTENSION = "plain", "package", "extension"  # kinds of modules
_MAX_MISSING_MODULES = 8  # that are imported as always before the cache is written anew
_OTHERS_MODE = 0o077
_SIZE_BYTES = 8
_FORM = ["2", sys.version, sys.implementation.cache_tag, sys.flags.optimize]


class _CachedLoader(SourceFileLoader):
    """Loader of a module whose code is at hand."""

    def __init__(self, name: str, source: str, cache: "ModuleCache") -> None:
        self.name, self.path, self._cache = name, source, cache

    def get_code(self, fullname: str) -> "CodeType | None":
        """The module's code."""
        return self._cache.take_code(fullname) or super().get_code(fullname)


class ModuleCache:
    """Finder of the modules in the cache of a client's folder, for `sys.meta_path`."""

    def __init__(self, folder: str) -> None:
        """An empty cache, until it is read."""
        self._file, self._content = f"{folder}/{CACHE_FILE}", memoryview(b"")
        self._modules: dict[str, CachedModule] = {}
        self._call_names: list[str] = []  # the modules that are one object, which begins and ends at:
        self._call_place = (0, 0)
        self._call_codes: dict[str, CodeType] | None = None
        self._import_as_always = builtins.__import__

    def read(self) -> None:
        """Read the file; the cache stays empty if there is none for this Python and this path."""
        try:
            with open(os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:  # noqa: PTH123
                status = os.fstat(file.fileno())
                if status.st_uid != os.getuid() or status.st_mode & _OTHERS_MODE:
                    return
                size = int.from_bytes(file.read(_SIZE_BYTES), "little")
                form, call_names, call_place, modules = marshal.loads(file.read(size))  # noqa: S302  our own file
                if form == [*_FORM, sys.path]:
                    self._modules, self._call_names, self._call_place = modules, call_names, call_place
                    from mmap import PROT_READ, mmap  # which is found in the table, too

                    self._content = memoryview(mmap(file.fileno(), 0, prot=PROT_READ))  # most is never looked at
        except Exception:  # noqa: BLE001  everything is imported as always
            self._modules = {}

    def find_spec(self, name: str, *_: "Any", **_options: "Any") -> "ModuleSpec | None":
        """The module of that name, if its source is as it was."""
        module = self._modules.get(name)
        return None if module is None or not _is_current(module) else self._build_spec(name, module)

    def _build_spec(self, name: str, module: "CachedModule") -> "ModuleSpec":
        source, compiled_file, kind = module[:3]
        if kind == _EXTENSION:
            spec = ModuleSpec(name, ExtensionFileLoader(name, source), origin=source)
        else:
            spec = ModuleSpec(name, _CachedLoader(name, source, self), origin=source)
            spec.cached = compiled_file
        spec.has_location = True
        if kind == _PACKAGE:
            spec.submodule_search_locations = [source.rpartition("/")[0]]
        return spec

    def import_directly(self) -> None:
        """Have import statements load what is here without importlib, in a process of one thread.

        Everything else, and every error, is left to importlib.
        """
        modules, import_as_always = sys.modules, self._import_as_always

        def import_module(
            name: str, scope: "Any" = None, names: "Any" = None, fromlist: "Any" = (), level: int = 0
        ) -> "Any":
            module = None if level else modules.get(name) or self._load(name)
            if module is None:
                return import_as_always(name, scope, names, fromlist, level)
            if not fromlist:
                return modules[name.partition(".")[0]]
            variables = module.__dict__
            if "__path__" in variables:
                for child_name in fromlist:
                    if child_name not in variables and self._load(f"{name}.{child_name}") is None:
                        return import_as_always(name, scope, names, fromlist, level)
            return module

        builtins.__import__ = import_module  # type: ignore[assignment]  # what is a module to Python is one of any kind

    def import_as_always(self) -> None:
        """Leave import statements to importlib again, which finds what is here."""
        builtins.__import__ = self._import_as_always

    def _load(self, name: str) -> "ModuleType | None":
        """The module of that name, with the packages around it; None if importlib has to look for it."""
        module = self._modules.get(name)
        if module is None or module[2] == _EXTENSION or name in sys.modules or not _is_current(module):
            return None
        package_name, _, child_name = name.rpartition(".")
        if package_name and package_name not in sys.modules and self._load(package_name) is None:
            return None
        if name in sys.modules:  # its package has asked for it
            return sys.modules[name]
        code = self.take_code(name)
        if code is None:
            return None
        spec, new_module = self._build_spec(name, module), ModuleType(name)
        variables = new_module.__dict__
        variables["__spec__"], variables["__loader__"] = spec, spec.loader
        variables["__file__"], variables["__cached__"] = module[:2]
        variables["__package__"] = package_name
        if module[2] == _PACKAGE:
            variables["__package__"], variables["__path__"] = name, spec.submodule_search_locations
        sys.modules[name] = new_module
        try:
            exec(code, variables)  # noqa: S102  as an import does
        except BaseException:
            sys.modules.pop(name, None)
            raise
        final_module = sys.modules[name]  # which its code may have replaced
        if package_name:
            setattr(sys.modules[package_name], child_name, final_module)
        return final_module

    def take_code(self, name: str) -> "CodeType | None":
        """The code of a module, which is asked for once; None if it cannot be read."""
        module = self._modules[name]
        try:
            if module[5]:
                return marshal.loads(self._code_of(module))  # type: ignore[no-any-return]  # noqa: S302  our own file
            if self._call_codes is None:
                start, end = self._call_place
                self._call_codes = dict(zip(self._call_names, marshal.loads(self._content[start:end]), strict=True))  # noqa: S302
            return self._call_codes.pop(name, None)
        except (EOFError, TypeError, ValueError):  # a disk that forgets
            return None

    def _code_of(self, module: "CachedModule") -> memoryview:
        start, end = module[4:]
        return self._content[start:end]

    def _find_missing(self) -> "list[str]":
        """The modules that this process has imported as always, and the cache does not have as they are."""
        names = [
            name
            for name, module in [*sys.modules.items()]
            if type(loader := getattr(module, "__loader__", None)) in {SourceFileLoader, ExtensionFileLoader}
            and getattr(loader, "name", None) == name != "__main__"  # not another name of a module
        ]
        return [name for name in names if name not in self._modules or not _is_current(self._modules[name])]

    def save(self, call_names: "Collection[str]" = ()) -> None:
        """Write the cache with the modules that this process has imported, beside those that are as they were.

        `call_names` are those of a call; they become one object if there is none yet, or if one of its modules has
        changed.
        """
        entries: dict[str, tuple[ModuleFields, CodeType | None]] = {}
        self._call_codes = None  # some of which are taken
        for name, module in self._modules.items():
            if _is_current(module):
                entries[name] = (module[:4], None if module[2] == _EXTENSION else self.take_code(name))
        if not self._call_names or not entries.keys() >= {*self._call_names}:
            self._call_names = [*call_names] or self._call_names
        for name in self._find_missing():
            loader, spec = sys.modules[name].__loader__, sys.modules[name].__spec__
            if spec is None or not isinstance(loader, SourceFileLoader | ExtensionFileLoader):
                continue
            stamp, code = _stamp(loader.path), loader.get_code(name)
            is_package = spec.submodule_search_locations is not None
            kind = _EXTENSION if code is None else _PACKAGE if is_package else _PLAIN
            if stamp is not None and stamp == _stamp(loader.path):
                entries[name] = ((loader.path, spec.cached or "", kind, stamp), code)
        names = [name for name in self._call_names if name in entries and entries[name][1] is not None]
        draft = f"{self._file}.{os.urandom(4).hex()}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:  # noqa: PTH123
            file.write(_encode_cache(entries, names))
        os.replace(draft, self._file)  # noqa: PTH105  as above

    def is_incomplete(self, call_names: "Collection[str]" = ()) -> bool:
        """Whether so many modules are missing that the next process would gain from them."""
        return len(self._find_missing()) > _MAX_MISSING_MODULES or (bool(call_names) and not self._call_names)


def use_cache(folder: str) -> ModuleCache:
    """Import from the cache in a client's folder, from now on."""
    for finder in sys.meta_path:
        if isinstance(finder, ModuleCache):
            return finder
    cache = ModuleCache(folder)
    sys.meta_path.insert(0, cache)
    cache.read()
    return cache


def save_cache(call_names: "Collection[str]" = ()) -> None:
    """Write the cache that this process imports from, if it has one and that is incomplete."""
    for finder in sys.meta_path:
        if isinstance(finder, ModuleCache) and finder.is_incomplete(call_names):
            finder.save(call_names)


def _encode_cache(entries: "dict[str, tuple[ModuleFields, CodeType | None]]", call_names: "list[str]") -> bytes:
    """The file: the size of the table, the table, the code of a call's modules, and that of all others."""
    call_code = marshal.dumps([entries[name][1] for name in call_names])
    single_codes = {
        name: marshal.dumps(code) for name, (_, code) in entries.items() if code is not None and name not in call_names
    }

    def encode_table(start: int) -> bytes:
        call_place = (start, start + len(call_code))
        table, start = {}, call_place[1]
        for name, (fields, _) in entries.items():
            size = len(single_codes.get(name, b""))
            table[name] = (*fields, start, start + size) if size else (*fields, 0, 0)
            start += size
        return marshal.dumps(([*_FORM, sys.path], call_names, call_place, table))

    table_size = len(encode_table(1 << 30))  # a number has the same size, however large it is
    table = encode_table(_SIZE_BYTES + table_size)
    return b"".join([table_size.to_bytes(_SIZE_BYTES, "little"), table, call_code, *single_codes.values()])


def _is_current(module: "CachedModule") -> bool:
    return module[3] == _stamp(module[0])


def _stamp(path: str) -> "tuple[int, int] | None":
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
