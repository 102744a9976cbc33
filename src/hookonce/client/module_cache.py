"""Module cache: the compiled modules of our own processes, in one file beside the client.

Python looks for each module in every folder of its path, and reads a file for each. Here one file is read, and a module
is taken from it as long as its source has the time and the size that it was compiled from, which is what Python itself
goes by. What is not there, or has changed, is imported as always. Nothing is imported here that costs time.
"""

import marshal
import mmap
import os
import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import SourceFileLoader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    # source, its compiled file, whether it is a package, stamp, where its code begins and ends
    CachedModule = tuple[str, str, bool, tuple[int, int], int, int]

CACHE_FILE = "modules.bin"
_MAX_MISSING_MODULES = 8  # that are imported as always before the cache is written anew
_OTHERS_MODE = 0o077
_SIZE_BYTES = 8
_FORM = [sys.version, sys.implementation.cache_tag, sys.flags.optimize]


class _CachedLoader(SourceFileLoader):
    """Loader of a module whose code is at hand."""

    def __init__(self, name: str, source: str, code: memoryview) -> None:
        super().__init__(name, source)
        self._code = code

    def get_code(self, fullname: str) -> "CodeType | None":
        """The module's code."""
        try:
            code: CodeType = marshal.loads(self._code)  # noqa: S302  our own file, in our own folder
        except (EOFError, TypeError, ValueError):  # a disk that forgets
            return super().get_code(fullname)
        return code


class ModuleCache:
    """Finder of the modules in the cache of a client's folder, for `sys.meta_path`."""

    def __init__(self, folder: str) -> None:
        """Read the cache; it is empty if there is none for this Python and this path."""
        self._file, self._content = f"{folder}/{CACHE_FILE}", memoryview(b"")
        self._modules: dict[str, CachedModule] = {}
        try:
            with open(os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb", buffering=0) as file:  # noqa: PTH123
                status = os.fstat(file.fileno())
                if status.st_uid != os.getuid() or status.st_mode & _OTHERS_MODE:
                    return
                self._content = memoryview(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))  # most is never looked at
            size = int.from_bytes(self._content[:_SIZE_BYTES], "little")
            form, modules = marshal.loads(self._content[_SIZE_BYTES : _SIZE_BYTES + size])  # noqa: S302  our own file
            self._modules = modules if form == [*_FORM, sys.path] else {}
        except Exception:  # noqa: BLE001, S110  everything is imported as always
            pass

    def find_spec(self, name: str, *_: "Any", **_options: "Any") -> "ModuleSpec | None":
        """The module of that name, if its source is as it was."""
        module = self._modules.get(name)
        if module is None or not _is_current(module):
            return None
        source, compiled_file, is_package = module[:3]
        loader = _CachedLoader(name, source, self._code_of(module))
        spec = ModuleSpec(name, loader, origin=source, is_package=is_package)
        spec.has_location, spec.cached = True, compiled_file
        if is_package:
            spec.submodule_search_locations = [source.rpartition("/")[0]]
        return spec

    def _code_of(self, module: "CachedModule") -> memoryview:
        start, end = module[4:]
        return self._content[start:end]

    @property
    def is_incomplete(self) -> bool:
        """Whether so many modules are missing that the next process would gain from them."""
        return len(self._find_missing()) > _MAX_MISSING_MODULES

    def _find_missing(self) -> "list[str]":
        """The modules that this process has imported as always, and the cache does not have as they are."""
        loaders = {name: getattr(module, "__loader__", None) for name, module in [*sys.modules.items()]}
        names = [name for name, loader in loaders.items() if type(loader) is SourceFileLoader and name != "__main__"]
        return [name for name in names if name not in self._modules or not _is_current(self._modules[name])]

    def save(self) -> None:
        """Write the cache with the modules that this process has imported, beside those that are as they were."""
        modules = {
            name: (module[:4], bytes(self._code_of(module)))
            for name, module in self._modules.items()
            if _is_current(module)
        }
        for name in self._find_missing():
            loader, spec = sys.modules[name].__loader__, sys.modules[name].__spec__
            if spec is None or not isinstance(loader, SourceFileLoader):
                continue
            stamp, code = _stamp(loader.path), loader.get_code(name)
            if stamp is not None and stamp == _stamp(loader.path) and code is not None:
                is_package = spec.submodule_search_locations is not None
                modules[name] = ((loader.path, spec.cached or "", is_package, stamp), marshal.dumps(code))
        draft = f"{self._file}.{os.urandom(4).hex()}"
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:  # noqa: PTH123
            file.write(_encode_cache(modules))
        os.replace(draft, self._file)  # noqa: PTH105  as above


def use_cache(folder: str) -> ModuleCache:
    """Import from the cache in a client's folder, from now on."""
    cache = ModuleCache(folder)
    sys.meta_path.insert(0, cache)
    return cache


def save_cache() -> None:
    """Write the cache that this process imports from, if it has one and that is incomplete."""
    for finder in sys.meta_path:
        if isinstance(finder, ModuleCache) and finder.is_incomplete:
            finder.save()


def _encode_cache(modules: "dict[str, tuple[tuple[str, str, bool, tuple[int, int]], bytes]]") -> bytes:
    """The file: the size of the table, the table, and the code of all modules."""
    codes = [code for _, code in modules.values()]

    def encode_table(start: int) -> bytes:
        table = {}
        for name, (fields, code) in modules.items():
            table[name] = (*fields, start, start + len(code))
            start += len(code)
        return marshal.dumps(([*_FORM, sys.path], table))

    table_size = len(encode_table(1 << 30))  # a number has the same size, however large it is
    table = encode_table(_SIZE_BYTES + table_size)
    return table_size.to_bytes(_SIZE_BYTES, "little") + table + b"".join(codes)


def _is_current(module: "CachedModule") -> bool:
    return module[3] == _stamp(module[0])


def _stamp(path: str) -> "tuple[int, int] | None":
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
