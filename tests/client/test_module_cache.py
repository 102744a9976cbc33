"""Compiled modules in one file beside the client."""

import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hookonce
from hookonce.client import module_cache

SOURCE = str(Path(hookonce.__file__).parents[1])
PROGRAM = """
import sys
folder, place, action = sys.argv[1:4]
sys.path.insert(0, place)
sys.path.insert(1, SOURCE)
from hookonce.client import module_cache
cache = module_cache.use_cache(folder)
import parts.one
import whole
import _json
print(whole.VALUE, parts.one.VALUE, type(whole.__loader__).__name__, parts.__path__[0], whole.__file__, whole.__spec__.origin, whole.__cached__, _json.__spec__.origin)
if action == "save":
    cache.save()
elif action == "save call":
    cache.save([*sys.modules])
""".replace("SOURCE", repr(SOURCE))


@pytest.fixture
def place(tmp_path):
    """Modules to be imported, and a folder for the cache."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "one.py").write_text("VALUE = 1")
    (tmp_path / "whole.py").write_text("VALUE = 'old'")
    return tmp_path


def import_result(place, action="look"):
    """What a process imports that uses the cache."""
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", PROGRAM, str(place / "bin"), str(place), action], capture_output=True, check=False, text=True)
    assert "" == ran.stderr
    return ran.stdout.split()


def test_a_module_comes_from_the_cache_and_looks_as_always(place):
    """
    Its file, its package's path and its origin are those of its source.
    """
    first = import_result(place, "save")
    second = import_result(place)

    assert ["old", "1", "SourceFileLoader"] == first[:3]
    assert ["old", "1", "_CachedLoader"] == second[:3]
    assert first[3:] == second[3:] == [f"{place}/parts", f"{place}/whole.py", f"{place}/whole.py", *first[6:]]


def test_a_source_that_has_changed_is_imported_as_always(place):
    """
    So are a module that is new and one whose file was replaced by an older one.
    """
    import_result(place, "save")
    (place / "whole.py").write_text("VALUE = 'changed'")
    changed = import_result(place)
    old = (place / "whole.py").stat()
    (place / "whole.py").write_text("VALUE = 'younger'")
    os.utime(place / "whole.py", ns=(old.st_atime_ns, old.st_mtime_ns - 10**9))

    assert ["changed", "SourceFileLoader"] == changed[::2][:2]
    assert "younger" == import_result(place)[0]


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, (8).to_bytes(8, "little") + marshal.dumps(3) + b"y" * 50, marshal.dumps((["other"], {}))])
def test_a_cache_that_is_none_costs_nothing_but_time(place, content):
    """
    Nor does one that others could have written, or a link.
    """
    (place / "bin" / module_cache.CACHE_FILE).write_bytes(content)
    (place / "bin" / module_cache.CACHE_FILE).chmod(0o600)

    assert ["old", "1", "SourceFileLoader"] == import_result(place)[:3]


def test_a_cache_that_others_may_write_is_not_read(place):
    import_result(place, "save")
    file = place / "bin" / module_cache.CACHE_FILE
    assert 0o600 == file.stat().st_mode & 0o777
    file.chmod(0o620)

    assert "SourceFileLoader" == import_result(place)[2]

    file.chmod(0o600)
    file.rename(place / "elsewhere")
    file.symlink_to(place / "elsewhere")
    assert "SourceFileLoader" == import_result(place)[2]


def test_a_process_without_descriptors_still_imports(place):
    """
    Children close what they have inherited, and import after that.
    """
    import_result(place, "save")
    program = PROGRAM.replace("import parts.one", "import os; os.closerange(3, 50)\nimport parts.one")
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program, str(place / "bin"), str(place), "look"], capture_output=True, check=False, text=True)

    assert ["old", "1", "_CachedLoader"] == ran.stdout.split()[:3]


CALL_PROGRAM = """
import sys
folder, place = sys.argv[1:]
sys.path.insert(0, place)
sys.path.insert(1, SOURCE)
from hookonce.client import module_cache
cache = module_cache.use_cache(folder)
assert cache is module_cache.use_cache(folder)
cache.import_directly()
import parts.one as one
from parts import one as same, two
import parts, whole
assert one is same is parts.one is sys.modules["parts.one"] and one.AROUND is parts
for module in (parts, one, whole):
    spec = module.__spec__
    assert (module.__file__, module.__loader__, module.__name__) == (spec.origin, spec.loader, spec.name)
    assert (module.__package__, module.__cached__) == (spec.parent, spec.cached)
assert parts.__path__ == [place + "/parts"] and not hasattr(one, "__path__")
for statement in ("import absent", "from parts import absent", "import parts.absent", "from whole import absent", "import wrong"):
    try:
        exec(statement)
    except (ImportError, ZeroDivisionError) as error:
        print(statement, type(error).__name__, sep=":")
assert "wrong" not in sys.modules and not hasattr(parts, "absent")
sys.modules["hidden"] = None
try:
    import hidden
except ModuleNotFoundError:
    print("hidden")
cache.import_as_always()
import later
print(whole.VALUE, {type(module.__loader__).__name__ for module in (parts, one, two, whole, later)})
""".replace("SOURCE", repr(SOURCE))


def test_the_modules_of_a_call_are_imported_directly(place):
    """
    They look as always, what is not there is an error as always, and a change is seen.
    """
    (place / "parts" / "one.py").write_text("import parts as AROUND\nVALUE = 1")
    for name in ("parts/two", "hidden", "later"):
        (place / f"{name}.py").write_text("")
    (place / "wrong.py").write_text("1 / 0")
    words = [sys.executable, "-I", "-S", "-c", CALL_PROGRAM, str(place / "bin"), str(place)]
    told = ["import absent:ModuleNotFoundError", "from parts import absent:ImportError", "import parts.absent:ModuleNotFoundError"]
    told += ["from whole import absent:ImportError", "import wrong:ZeroDivisionError", "hidden"]

    first = subprocess.run(words, capture_output=True, check=False, text=True)
    assert ([*told, "old {'SourceFileLoader'}"], "") == (first.stdout.splitlines(), first.stderr)
    saving = CALL_PROGRAM.replace("print(whole", "sys.modules['wrong'] = importlib.util.module_from_spec(importlib.util.find_spec('wrong'))\nsys.meta_path[0].save([*sys.modules])\nprint(whole")
    saved = subprocess.run([*words[:4], f"import importlib.util\n{saving}", *words[5:]], capture_output=True, check=False, text=True)
    assert "" == saved.stderr
    second = subprocess.run(words, capture_output=True, check=False, text=True)
    assert ([*told, "old {'_CachedLoader'}"], "") == (second.stdout.splitlines(), second.stderr)
    (place / "whole.py").write_text("VALUE = 'changed'")
    assert "changed" in subprocess.run(words, capture_output=True, check=False, text=True).stdout


def test_the_modules_of_a_call_stay_one_object(place):
    """
    Whoever adds others keeps it, and one that has changed makes it anew.
    """

    def read_names():
        content = (place / "bin" / module_cache.CACHE_FILE).read_bytes()
        return marshal.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])[1]  # noqa: S302  our own

    import_result(place, "save")
    assert [] == read_names()
    import_result(place, "save call")
    names = read_names()
    assert {"parts", "parts.one", "whole"} <= {*names}
    assert "_json" not in names
    import_result(place, "save")
    assert names == read_names()
    (place / "whole.py").write_text("VALUE = 'changed'")
    (place / "parts" / "one.py").write_text("VALUE = 11; import _csv, csv")
    import_result(place, "save")
    assert names == read_names()
    assert ["changed", "11", "_CachedLoader"] == import_result(place)[:3]
    (place / "whole.py").write_text("VALUE = 'changed again'")
    import_result(place, "save call")
    assert "csv" in read_names()
