// One-shot process: Python answers in a process of its own, and we stay above it to see how it ends.

#define SLOT_TIMEOUT_MS 4000 // milliseconds; after them one process more is better than no answer
#define EXIT_CODE_OFFSET 100 // Python ends with this much more than its exit code, and with anything else by accident

// One of the slots that keep a crowd of calls from starting more interpreters than the machine can run.
static int try_slots(long count, int *is_full) {
    char name[32];
    *is_full = 0;
    for (long number = 0; number < count; number++) {
        snprintf(name, sizeof name, "slots/%ld", number);
        int slot = open_runtime_file(name, 0);
        if (slot < 0) continue;
        if (try_lock(slot)) return slot;
        *is_full = 1;
        close(slot);
    }
    return -1;
}

static int acquire_slot(void) {
    char path[PATH_MAX];
    if (!runtime_dir[0] || !path_in(path, sizeof path, runtime_dir, "slots")) return -1;
    mkdir(path, 0700);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int is_full, slot = try_slots(2 * (cores > 0 ? cores : 1), &is_full);
    for (int tries = SLOT_TIMEOUT_MS / POLL_INTERVAL_MS; slot < 0 && is_full && tries; tries--) {
        sleep_ms(POLL_INTERVAL_MS);
        slot = try_slots(2 * (cores > 0 ? cores : 1), &is_full);
    }
    return slot;
}

// A file without a name.
static int create_memory_file(void) {
#ifdef SYS_memfd_create
    int file = (int)syscall(SYS_memfd_create, "hookonce", 1u);
    if (file >= 0) return file;
#endif
    char path[] = "/tmp/hookonce-XXXXXX";
    int unlinked_file = mkstemp(path);
    if (unlinked_file < 0) return -1;
    unlink(path);
    fcntl(unlinked_file, F_SETFD, FD_CLOEXEC);
    return unlinked_file;
}

static _Noreturn void exec_oneshot(pid_t caller, int frame, int slot) {
    char program[PATH_MAX], number[16];
    char *arguments[] = {(char *)python, "-I", "-S", program, (char *)client_dir, number, slot < 0 ? "-" : "4", NULL};
    int descriptors[] = {frame, 1, open("/dev/null", O_RDWR), 2, slot};
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != caller) _exit(1); // it was gone before that could be asked for
    snprintf(number, sizeof number, "%d", (int)caller);
    umask(caller_umask);
    if (path_in(program, sizeof program, package_root, "hookonce/client/oneshot.py") &&
        !set_descriptors(slot < 0 ? 4 : 5, descriptors))
        execve(python, arguments, own_environment());
    _exit(1);
}

static _Noreturn void answer_oneshot(const struct bytes *frame) {
    int file = has_python() ? create_memory_file() : -1, status = 0;
    if (file < 0 || write_all(file, frame->data, frame->size) || lseek(file, 0, SEEK_SET)) fail_mode_exit();
    int slot = acquire_slot();
    pid_t caller = getpid(), child = fork(), waited_pid;
    if (!child) exec_oneshot(caller, file, slot);
    if (child < 0) fail_mode_exit();
    if (slot >= 0) close(slot); // it is Python's to hold, and to let go before a hook runs
    while ((waited_pid = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
    int code = waited_pid == child && WIFEXITED(status) ? WEXITSTATUS(status) - EXIT_CODE_OFFSET : -1;
    if (code < 0 || code > 9) fail_mode_exit();
    _exit(code);
}
