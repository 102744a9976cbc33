// The cold way: Python answers in a process of its own, and we stay above it to see how it ends.

#define SLOT_PATIENCE 4000 // milliseconds; after them one process more is better than no answer
#define SAID 100           // Python ends with this much more than its exit code, and with anything else by accident

// One of the slots that keep a crowd of calls from starting more interpreters than the machine can run.
static int free_slot(long count, int *is_full) {
    char name[32];
    *is_full = 0;
    for (long number = 0; number < count; number++) {
        snprintf(name, sizeof name, "slots/%ld", number);
        int slot = open_in_house(name, 0);
        if (slot < 0) continue;
        if (is_free(slot)) return slot;
        *is_full = 1;
        close(slot);
    }
    return -1;
}

static int take_slot(void) {
    char path[sizeof house + 16];
    if (!house[0] || !path_in(path, sizeof path, house, "slots")) return -1;
    mkdir(path, 0700);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int is_full, slot = free_slot(2 * (cores > 0 ? cores : 1), &is_full);
    for (int left = SLOT_PATIENCE / LOOK; slot < 0 && is_full && left; left--) {
        nap(LOOK);
        slot = free_slot(2 * (cores > 0 ? cores : 1), &is_full);
    }
    return slot;
}

// A file without a name.
static int hidden_file(void) {
#ifdef SYS_memfd_create
    int file = (int)syscall(SYS_memfd_create, "hookonce", 1u);
    if (file >= 0) return file;
#endif
    char path[] = "/tmp/hookonce-XXXXXX";
    int made = mkstemp(path);
    if (made < 0) return -1;
    unlink(path);
    fcntl(made, F_SETFD, FD_CLOEXEC);
    return made;
}

static _Noreturn void become_python(pid_t caller, int frame, int slot) {
    char program[PATH_MAX], number[16];
    char *words[] = {python, "-I", "-S", program, bin, number, slot < 0 ? "-" : "4", NULL};
    int kept[] = {frame, 1, open("/dev/null", O_RDWR), 2, slot};
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != caller) _exit(1); // it was gone before that could be asked for
    snprintf(number, sizeof number, "%d", (int)caller);
    umask(mask);
    if (path_in(program, sizeof program, shelf, "hookonce/client/oneshot.py") && !lay_out(slot < 0 ? 4 : 5, kept))
        execve(python, words, environ);
    _exit(1);
}

static _Noreturn void cold(const struct bytes *frame) {
    int file = has_python() ? hidden_file() : -1, status = 0;
    if (file < 0 || say(file, frame->at, frame->size) || lseek(file, 0, SEEK_SET)) fail();
    int slot = take_slot();
    pid_t caller = getpid(), child = fork(), ended;
    if (!child) become_python(caller, file, slot);
    if (child < 0) fail();
    if (slot >= 0) close(slot); // it is Python's to hold, and to let go before a hook runs
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) continue;
    int code = ended == child && WIFEXITED(status) ? WEXITSTATUS(status) - SAID : -1;
    if (code < 0 || code > 9) fail();
    _exit(code);
}
