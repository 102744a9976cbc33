"""Libraries that are imported without their parts, which are there all the same when somebody asks for them."""

import re
import subprocess
import sys
from pathlib import Path

import hookonce

SOURCE = str(Path(hookonce.__file__).parents[1])
PROGRAM = """
import sys
from hookonce.client import light_imports
light_imports.import_libraries()
light_imports.import_libraries()
late = {"msgspec.inspect", "msgspec._json_schema", "msgspec.toml", "msgspec.yaml", "typing_extensions", "inspect", "platform", "urllib.parse", "_hashlib", "re", "fnmatch", "decimal", "enum", "uuid", "_md5", "_sha1"}
if sys.version_info >= (3, 12):  # whose `pathlib` compiles expressions itself
    late -= {"re", "enum", "fnmatch"}
there = {name for name, module in sys.modules.items() if module is not None}
assert not late & there, late & there

import hashlib
assert "e3b0c442" == hashlib.sha256(b"").hexdigest()[:8] and "_sha1" not in sys.modules and "_md5" not in sys.modules
import decimal, enum, fnmatch, hmac, ntpath, msgspec, msgspec.inspect, pathlib, platform, re, typing, typing_extensions, urllib.parse, uuid
assert re.Pattern is typing.Pattern.__origin__ and re.Match is typing.Match.__origin__ and re.compile("a+").fullmatch("aa")
assert pathlib.PurePath("a/b.py").match("*.py") and fnmatch.fnmatch("a.py", "*.py") and decimal.Decimal("1.5") + 1
assert enum.IntEnum("Size", ["SMALL"]).SMALL == 1 and ntpath.join("a", "b") == "a\\\\b" and pathlib.PureWindowsPath("a/b").name == "b"
assert hashlib.md5(b"").hexdigest()[:8] == "d41d8cd9" == hashlib.new("md5").hexdigest()[:8]
class Point(msgspec.Struct):
    x: int
assert "integer" == msgspec.json.schema(Point)["$defs"]["Point"]["properties"]["x"]["type"]
assert "x" == msgspec.inspect.type_info(Point).fields[0].name
assert Point(1) == msgspec.yaml.decode(b"x: 1", type=Point)
assert "file:///a%20b" == pathlib.Path("/a b").as_uri()
assert platform.system() and uuid.uuid4() and urllib.parse.urlsplit("http://a/b").path == "/b"
assert hashlib.sha256(b"").hexdigest()[:8] == "e3b0c442" == hmac.new(b"", b"", "sha256").hexdigest()[:0] + "e3b0c442"
"""


def test_a_part_that_was_left_out_is_loaded_when_it_is_asked_for():
    """
    Whoever imports it, or looks into it, finds the real one.
    """
    ran = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {SOURCE!r})\n{PROGRAM}"], capture_output=True, check=False, text=True)

    assert (0, "") == (ran.returncode, ran.stderr)


def test_a_library_that_is_there_already_stays_as_it_is():
    """
    A program that has imported msgspec itself has all of it.
    """
    program = "import sys, msgspec, typing_extensions; from hookonce import Event; assert type(msgspec.inspect) is type(sys) and 'typing_extensions' in sys.modules"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)

    assert (0, "") == (ran.returncode, ran.stderr)


def test_nothing_of_ours_has_classes_that_a_call_hides_from_msgspec():
    """
    In a call without a daemon msgspec knows neither enums nor decimals nor UUIDs.
    """
    late = ("lab", "sdk", "cli")  # which no call runs
    files = [file for file in Path(SOURCE, "hookonce").rglob("*.py") if file.relative_to(SOURCE).parts[1] not in late]
    imports = [(file.name, match) for file in files for match in re.findall(r"(?m)^\s*(?:import|from) (?:decimal|enum|uuid)\b", file.read_text())]

    assert len(files) > 300
    assert [] == imports
