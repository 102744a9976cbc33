// spawner CALLERS CALLS PAUSE FIRST FAULTS CODE PAYLOAD EXPECTED COMMAND...
//
// Starts a command again and again, as an agent starts a hook: a payload on its stdin, and what it says read to the end.
// Says in the first line how long all of it took, how many calls failed, how many said something else than expected and
// how many had more than FAULTS page faults, by which an interpreter is known wherever it was started; then how long
// each call took, all in nanoseconds. PAUSE is in microseconds, between two calls of one caller. Ten number signs in the
// payload and in what is expected are the call's number, of which FIRST is the first. A call fails that ends otherwise
// than with the exit code CODE; EXPECTED is a file, or - where anything may be said.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define MARK "##########"
#define READ_BUFFER_BYTES (1 << 16)

extern char **environ;

struct text {
    char *at, *mark;
    size_t size;
};

struct tally { // shared by all callers
    long next, errors, wrong, heavy;
    uint64_t took[];
};

static struct text payload, expected;
static struct tally *tally;
static long calls, pause_us, first, faults, code;
static int is_any_expected;
static char **command;

static _Noreturn void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct text text_of(const char *path) {
    struct text found = {0};
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail(path);
    found.size = (size_t)ftell(file);
    rewind(file);
    found.at = malloc(found.size + 1);
    if (!found.at || fread(found.at, 1, found.size, file) != found.size) fail(path);
    found.mark = memmem(found.at, found.size, MARK, sizeof MARK - 1);
    fclose(file);
    return found;
}

static void number(struct text *text, long call) {
    char digits[32];
    if (!text->mark) return;
    snprintf(digits, sizeof digits, "%010ld", call);
    memcpy(text->mark, digits, sizeof MARK - 1);
}

static void write_payload(int to, const struct text *text) {
    for (size_t told = 0; told < text->size;) {
        ssize_t size = write(to, text->at + told, text->size - told);
        if (size < 0) return; // a command that does not listen
        told += (size_t)size;
    }
}

// Whether what is said is what was expected; all of it is read in any case.
static int read_expected(int from) {
    static char heard[READ_BUFFER_BYTES];
    size_t sum = 0;
    int same = 1;
    for (ssize_t size; (size = read(from, heard, sizeof heard)) > 0; sum += (size_t)size)
        if (sum + (size_t)size > expected.size || memcmp(heard, expected.at + sum, (size_t)size)) same = 0;
    return is_any_expected || (same && sum == expected.size);
}

static void call(long which) {
    int in[2], out[2], status = 0;
    struct rusage used = {0};
    pid_t child;
    posix_spawn_file_actions_t files;
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("pipe");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, out[1], 2); // nothing may be said there, so it is not told apart
    number(&payload, first + which);
    number(&expected, first + which);
    uint64_t began = now();
    if (posix_spawn(&child, command[0], &files, NULL, command, environ)) fail(command[0]);
    close(in[0]);
    close(out[1]);
    write_payload(in[1], &payload);
    close(in[1]);
    int same = read_expected(out[0]);
    while (wait4(child, &status, 0, &used) < 0 && errno == EINTR) continue;
    tally->took[which] = now() - began;
    close(out[0]);
    posix_spawn_file_actions_destroy(&files);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code) __atomic_fetch_add(&tally->errors, 1, __ATOMIC_RELAXED);
    else if (!same) __atomic_fetch_add(&tally->wrong, 1, __ATOMIC_RELAXED);
    if (used.ru_minflt > faults) __atomic_fetch_add(&tally->heavy, 1, __ATOMIC_RELAXED);
}

static void run_caller(int gate) {
    struct timespec rest = {pause_us / 1000000, pause_us % 1000000 * 1000};
    char ignored;
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // without the spawner nobody wants to know
#endif
    if (read(gate, &ignored, 1)) _exit(1);
    close(gate);
    for (long which; (which = __atomic_fetch_add(&tally->next, 1, __ATOMIC_RELAXED)) < calls;) {
        call(which);
        if (pause_us) nanosleep(&rest, NULL);
    }
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc < 10) return 64;
    int gate[2], failed = 0, status;
    calls = atol(argv[2]), pause_us = atol(argv[3]), first = atol(argv[4]), faults = atol(argv[5]);
    code = atol(argv[6]), payload = text_of(argv[7]), command = argv + 9;
    is_any_expected = !strcmp(argv[8], "-");
    if (!is_any_expected) expected = text_of(argv[8]);
    size_t size = sizeof *tally + (size_t)calls * sizeof tally->took[0];
    tally = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED || pipe2(gate, O_CLOEXEC)) fail("spawner");
    signal(SIGPIPE, SIG_IGN);
    for (long left = atol(argv[1]); left; left--) {
        pid_t caller = fork();
        if (caller < 0) fail("fork");
        if (!caller) {
            close(gate[1]);
            run_caller(gate[0]);
        }
    }
    uint64_t began = now();
    close(gate[1]); // all callers begin at once
    while (wait(&status) > 0) failed |= status;
    uint64_t all = now() - began;
    printf("%llu %ld %ld %ld\n", (unsigned long long)all, tally->errors, tally->wrong, tally->heavy);
    for (long which = 0; which < calls; which++) printf("%llu\n", (unsigned long long)tally->took[which]);
    return failed != 0;
}
