"""The client that a wheel carries: at no fixed address, and with what a compiler knows against overflows."""

import os
import re
import shutil
import signal
import struct
import subprocess
import sys

import pytest

from tests.client.native.conftest import SOURCE, load_build_hook

ANY_ADDRESS = 3  # ET_DYN
SEGMENT = struct.Struct("<IIQQQQQQ")
DYNAMIC, STACK, RELRO = 2, 0x6474E551, 0x6474E552
EXECUTABLE = 1
FLAGS_1, NOW, PIE = 0x6FFFFFFB, 1, 0x08000000
RELOCATIONS_BYTES = 8  # DT_RELASZ
FREESTANDING = "-DHOOKONCE_FREESTANDING"


@pytest.fixture(scope="module", params=[None, "libc"], ids=["chosen", "libc"])
def build(request, tmp_path_factory):
    """What the build hook makes, and the words that made it."""
    if sys.platform != "linux" or not sys.maxsize > 2**32 or sys.byteorder != "little" or shutil.which("cc") is None:
        pytest.skip("there is no compiler for a 64 bit Linux here")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CC", raising=False)
        patch.delenv("HOOKONCE_CLIENT", raising=False)
        if request.param:
            patch.setenv("HOOKONCE_CLIENT", request.param)
        hook = load_build_hook()
        made = tmp_path_factory.mktemp("made") / "hookonce-on"
        return made, next(words for words in hook["_compilers"]() if hook["_compile"](words, SOURCE / "hookonce-on.c", made)), hook


def test_a_client_is_linked_with_no_c_library_unless_one_is_wanted(build, request):
    """
    On the machines whose system calls it knows.
    """
    _, words, _ = build
    wanted = request.node.callspec.params["build"] is None and os.uname().machine in {"x86_64", "aarch64"}

    assert wanted == (FREESTANDING in words)


@pytest.mark.parametrize("lack", ["_REFUSAL", "_INTERPRETER", "nothing"])
def test_a_client_is_taken_only_after_a_trial(build, lack):
    """
    It has said nothing, read a refusal and let an interpreter answer; one that cannot do one of these is not taken.
    """
    made, _, hook = build
    globals_of_hook = hook["_answers"].__globals__
    with pytest.MonkeyPatch.context() as patch:
        if lack != "nothing":
            patch.setitem(globals_of_hook, lack, type(hook[lack])())  # as if it had not found what is there
        assert (lack == "nothing") == hook["_answers"](made)


def test_it_lies_at_an_address_that_nobody_can_guess_and_its_tables_are_read_only(build):
    """
    PIE, and full RELRO; nothing on the stack can be executed. Without a C library there is nothing to relocate.
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
    if FREESTANDING in words and os.uname().machine == "x86_64":  # on others the address of the canary is relocated
        assert not entries.get(RELOCATIONS_BYTES)


OVERFLOW = """
#define _GNU_SOURCE
#include "buffers.h"
#include "generated.h"
static void fail_mode_exit(void) { _exit(1); }
static const char *const table[] = {"relocated", "and read-only"}; // an address in data, which the client has none of
static void __attribute__((noinline)) copy(volatile int size) {
    char text[8];
    for (volatile int i = 0; i < size; i++) ((volatile char *)text)[i] = 'x';
}
int main(int argc, char **argv) {
    volatile int index = argc > 2;
    copy(argc > 1 ? atoi(argv[1]) : 0);
    if (index) *(const char *volatile *)&table[1] = argv[1];
    write_all(1, table[index], strlen(table[index]));
#ifdef HOOKONCE_FREESTANDING
    write_all(1, (char *)&__stack_chk_guard, sizeof __stack_chk_guard);
#endif
    return 0;
}
"""


def test_overflows_end_it(build, tmp_path):
    """
    By a canary on the stack, another in each process; a table of addresses cannot be written to.
    """
    _, words, hook = build
    (tmp_path / "overflow.c").write_text(OVERFLOW)
    command = [*words, *hook["_FLAGS"], "-Wno-unused-function", f"-I{SOURCE}", "-o", tmp_path / "overflow", tmp_path / "overflow.c"]
    subprocess.run(command, check=True, capture_output=True)

    def run(*arguments):
        done = subprocess.run([tmp_path / "overflow", *arguments], capture_output=True, check=False)
        return done.returncode, done.stdout

    canaries = {run("8")[1] for _ in range(3)}
    assert (0, True) == (run("8")[0], all(said.startswith(b"relocated") for said in canaries))
    assert (-signal.SIGABRT, b"") == run("64")
    if "-static-pie" in words:
        assert (-signal.SIGSEGV, b"") == run("8", "write")
    if FREESTANDING in words:
        assert 3 == len(canaries)
    else:
        assert "-D_FORTIFY_SOURCE=2" in words or "-static-pie" not in words


def test_no_function_is_called_that_does_not_know_the_size_of_what_it_writes():
    """
    Which a C library can only check where a compiler knows it.
    """
    sources = {file.name: file.read_text() for file in SOURCE.glob("*.[ch]")}

    assert {} == {name: found for name, text in sources.items() if (found := re.findall(r"\b(?:v?sprintf|strn?cpy|strn?cat|stpcpy|gets)\(", text))}
