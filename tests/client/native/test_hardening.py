"""The client that a wheel carries: at no fixed address, and with what a compiler knows against overflows."""

import runpy
import shutil
import struct
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.shared import ROOT

SOURCE = ROOT / "src" / "hookonce" / "client" / "native" / "hookonce-on.c"
ANY_ADDRESS = 3  # ET_DYN
SEGMENT = struct.Struct("<IIQQQQQQ")
DYNAMIC, STACK, RELRO = 2, 0x6474E551, 0x6474E552
EXECUTABLE = 1
FLAGS_1, NOW, PIE = 0x6FFFFFFB, 1, 0x08000000


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """What the build hook makes, and the words that made it."""
    if sys.platform != "linux" or not sys.maxsize > 2**32 or sys.byteorder != "little" or shutil.which("cc") is None:
        pytest.skip("there is no compiler for a 64 bit Linux here")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CC", raising=False)
        patch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", SimpleNamespace(BuildHookInterface=list))
        hook = runpy.run_path(str(ROOT / "hatch_build.py"))
        made = tmp_path_factory.mktemp("made") / "hookonce-on"
        return made, next(words for words in hook["_compilers"]() if hook["_compile"](words, SOURCE, made)), hook


def test_it_lies_at_an_address_that_nobody_can_guess_and_its_tables_are_read_only(build):
    """
    PIE, and full RELRO; nothing on the stack can be executed.
    """
    made, words, _ = build
    if "-static-pie" not in words and "-pie" not in words:
        pytest.skip("this compiler makes no such programs")
    data = made.read_bytes()
    (kind,), (at,), (size, count) = (struct.unpack_from(form, data, where) for form, where in (("<H", 16), ("<Q", 32), ("<HH", 54)))
    segments = {one[0]: one for one in (SEGMENT.unpack_from(data, at + number * size) for number in range(count))}
    _, _, offset, _, _, length, *_ = segments[DYNAMIC]
    entries = dict(struct.unpack_from("<QQ", data, offset + step) for step in range(0, length, 16))

    assert ANY_ADDRESS == kind
    assert RELRO in segments
    assert NOW | PIE == entries[FLAGS_1] & (NOW | PIE)
    assert not segments[STACK][1] & EXECUTABLE


def test_overflows_end_it(build, tmp_path):
    """
    By a canary on the stack, and by calls that know the size of what they write.
    """
    _, words, hook = build
    subprocess.run([*words, *hook["_FLAGS"], "-c", "-o", tmp_path / "client.o", SOURCE], check=True, capture_output=True)
    data = (tmp_path / "client.o").read_bytes()

    assert b"__stack_chk_fail\0" in data
    assert b"_chk\0" in data or "musl-gcc" in words
