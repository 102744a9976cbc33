"""The functions of a client without a C library do what those of a C library do."""

import os
import shlex
import shutil
import subprocess

import pytest

from tests.client.native.conftest import SOURCE, load_build_hook

# One program, made with and without a C library: whatever it says has to be the same.
PROGRAM = r"""
#define _GNU_SOURCE
#include "buffers.h"
static void fail_mode_exit(void) { _exit(1); }
static volatile sig_atomic_t signals;
static void count_signal(int number) { signals += number == SIGUSR1 ? 1 : 10; }

static void say(const char *text) {
    write_all(1, text, strlen(text));
    write_all(1, "\n", 1);
}

static void say_number(long number) {
    char text[64];
    snprintf(text, sizeof text, "%ld", number);
    say(text);
}

#define FORMAT(...) do { char text[48]; say_number(snprintf(text, sizeof text, __VA_ARGS__)); say(text); } while (0)

static void format_texts(void) {
    FORMAT("%s/%s", "a", "");
    FORMAT("%d %d %d %u", 0, -7, -2147483647 - 1, 4294967295u);
    FORMAT("%ld %lu %llu %ju %zu", -9223372036854775807 - 1, ~0ul, ~0ull, (uintmax_t)12, (size_t)3);
    FORMAT("%016llx %x %02x %o %5u|%05d %%", 0xCBF29CE4ull, 255u, 7u, 0777u, 42u, 42);
    FORMAT("%c%s", 'x', "a text that is longer than the room that there is for it");
    say_number(snprintf(NULL, 0, "%s", "counted"));
}

static void parse_texts(void) {
    static const char numbers[][24] = {"", "x", "0", " 42", "-17", "+8", "0644", "9223372036854775807", "9223372036854775808", "99999999999999999999", "12 34"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char *end;
        say_number(strtol(numbers[i], &end, 10));
        if (end != numbers[i]) say(end);
        say_number((long)strtoul(numbers[i], NULL, 8));
        if (strlen(numbers[i]) < 9) say_number(atoi(numbers[i]));
    }
}

static void search_texts(void) {
    static const char texts[][12] = {"", "a", "abc", "aab", "aaab", "cba", "a)b) Z", "\377\200"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            const char *text = texts[i], *other = texts[j], *part = strstr(text, other);
            int order = strcmp(text, other), start = strncmp(text, other, 2), bytes = memcmp(text, other, 3);
            say_number(part ? part - text : -1);
            say_number((order > 0) - (order < 0) + 3 * ((start > 0) - (start < 0)) + 9 * ((bytes > 0) - (bytes < 0)));
            part = strchr(text, *other);
            say_number(part ? part - text : -1);
            part = strrchr(text, *other);
            say_number(part ? part - text : -1);
            say_number((long)strspn(text, other));
            say_number(memchr(text, *other, 3) != NULL);
        }
}

static void move_memory(void) {
    for (size_t size = 0; size < 40; size += 3)
        for (int step = -11; step <= 11; step += 2) {
            char text[80];
            for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('0' + i % 75);
            memmove(text + 20 + step, text + 20, size);
            memset(text + 70, 'y', size % 9);
            write_all(1, text, sizeof text);
        }
    char *grown = NULL;
    for (size_t size = 10; size < 1000000; size *= 7) {
        grown = realloc(grown, size);
        grown[size - 1] = (char)size;
        if (size == 10) memcpy(grown, "kept", 5);
    }
    say(grown);
}

static void use_processes(void) {
    int status = 0, ends[2];
    char text[PATH_MAX] = "";
    signal(SIGUSR1, count_signal);
    signal(SIGALRM, count_signal);
    for (int i = 0; i < 3; i++) kill(getpid(), SIGUSR1);
    alarm(1);
    say_number(poll(NULL, 0, 30000) < 0 && errno == EINTR);
    say_number(signals);
    say_number(signal(SIGUSR1, SIG_DFL) == count_signal);
    if (pipe(ends)) _exit(2);
    pid_t child = fork();
    if (!child) {
        dup2(ends[1], 9);
        snprintf(text, sizeof text, "child of %s", getppid() > 1 ? "us" : "nobody");
        write_all(9, text, strlen(text));
        _exit(7);
    }
    say_number(waitpid(child, &status, 0) == child);
    say_number(WEXITSTATUS(status));
    say_number(read(ends[0], text, sizeof text));
    say(text);
    child = vfork();
    if (!child) _exit(9);
    waitpid(child, &status, 0);
    say_number(WEXITSTATUS(status));
    close(ends[1]);
    struct pollfd ready = {ends[0], POLLIN, 0};
    say_number(poll(&ready, 1, 0) + 100 * ready.revents);
    say_number(dup2(ends[0], ends[0]) == ends[0]);
    say_number(dup2(77, 77) < 0 && errno == EBADF);
    say_number(isatty(ends[0]));
    say(strerror(ENOENT));
    say(strerror(EACCES));
    char path[] = "/tmp/hookonce-XXXXXX";
    int file = mkstemp(path);
    say_number(file >= 0 && !unlink(path) && write(file, "abc", 3) == 3 && lseek(file, 0, SEEK_SET) == 0);
    say_number(pread(file, text, 2, 1) + text[0]);
    say_number(sysconf(_SC_NPROCESSORS_ONLN) > 0);
    say_number(sysconf(_SC_OPEN_MAX));
    say(getenv("HOME"));
    say_number(getenv("HOM") == NULL);
    say_number(time(NULL) > 1700000000 && now_ns() > 0);
}

int main(int argc, char **argv) {
    char text[PATH_MAX];
    format_texts();
    parse_texts();
    search_texts();
    move_memory();
    for (int i = 1; i < argc; i++) say(realpath(argv[i], text) ? text : "no path");
    say(getcwd(text, sizeof text) ? text : "no directory");
    use_processes();
    return argc;
}
"""
PATHS = ["/", "//", ".", "..", "here", "./here/../here/", "file", "file2", "link", "link/file", "loop", "gone", "here/gone", "up", "deep/up/file", "", "x" * 300, "/etc/../tmp", "abs", "abs/file", "chain"]


EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
CROSS_COMPILER = shutil.which("aarch64-linux-gnu-gcc")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """Folders, files and links."""
    found = tmp_path_factory.mktemp("tree")
    for name in ("here", "deep"):
        (found / name).mkdir()
    for name in ("file", "here/file"):
        (found / name).touch()
    for name, target in {"link": "here", "file2": "./link/../file", "loop": "loop", "up": "..", "deep/up": "../here", "abs": found / "here", "chain": "link/../abs/."}.items():
        (found / name).symlink_to(target)
    return found


def compile_program(compiler, flags, folder, name):
    """The program, made by a compiler."""
    (folder / "program.c").write_text(PROGRAM)
    words = [*compiler, *flags, "-Os", "-std=c11", "-Wno-unused-function", f"-I{SOURCE}", "-o", folder / name, folder / "program.c"]
    subprocess.run(words, check=True, capture_output=True)
    return folder / name


def test_one_program_says_the_same_with_and_without_a_c_library(tree, tmp_path):
    """
    Formats, numbers, texts, memory, paths with links, signals, processes, files; aarch64 where it can be emulated.
    """
    flags, compiler = load_build_hook()["_FREESTANDING"], shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(compiler[0]) is None or os.uname().machine not in {"x86_64", "aarch64"}:
        pytest.skip("there is no compiler here for a client without a C library")
    commands = [[compile_program(compiler, (), tmp_path, "libc")], [compile_program(compiler, flags, tmp_path, "freestanding")]]
    if EMULATOR and CROSS_COMPILER:
        commands.append([EMULATOR, compile_program([CROSS_COMPILER], flags, tmp_path, "aarch64")])
    running = [subprocess.Popen([*command, *PATHS], cwd=tree, env={"HOMER": "no", "HOME": "/home/x"}, stdout=subprocess.PIPE) for command in commands]
    expected, *said = [(process.communicate(timeout=60)[0].split(b"\n"), process.returncode) for process in running]

    assert [expected] * len(said) == said
    assert len(PATHS) + 1 == expected[1]


def test_a_client_for_aarch64_runs(tmp_path):
    """
    It passes the trial of the build; under an emulator, which starts what a shell script names.
    """
    if not EMULATOR or not CROSS_COMPILER:
        pytest.skip("there is no emulator or no compiler for aarch64 here")
    hook = load_build_hook()
    made = tmp_path / "hookonce-on"
    words = [CROSS_COMPILER, *hook["_FREESTANDING"], *hook["_FLAGS"], "-Wall", "-Wextra", "-Werror", "-o", made, SOURCE / "hookonce-on.c"]
    subprocess.run(words, check=True, capture_output=True)
    run = hook["_run"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(hook["_answers"].__globals__, "_run", lambda words, **options: run([EMULATOR, *words], **options))
        assert hook["_answers"](made)
