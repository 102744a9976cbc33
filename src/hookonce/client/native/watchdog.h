// The watchdog: the process between our runner and a hook, which leaves nothing running that the hook has started.
//
// It feeds the hook, collects what it says, and hands one result to the runner. On the hangup pipe the runner says that
// the hook is to be killed, or that the call was answered and its result can be forgotten. A runner that is gone without
// a word was killed: a hook with a claim file is then heard out, and that file leads whoever answers in the runner's
// place to its result (ADR 0037); every other is killed. What leaves its group, its session or its parent comes here as
// an orphan, where the system can do that. It has a session of its own, because agents kill whole process groups.

#define MAX_OUTPUT_BYTES (1u << 20) // of each output that are kept; more is read and thrown away
#define RESULT_HEADER_BYTES 12u     // the lengths of status, stdout and stderr
#define MAX_STATUS_BYTES 512u
#define ORPHAN_POLL_MS 50           // between two looks at the client of a runner that is gone
#define MAX_RESULT_AGE_S 600        // for which a result waits for its reader

enum { HANGUP_FD = 3, STATUS_FD = 4 }; // after the watchdog's own three
enum { KILL = 'k' };                   // said by the runner; anything else is FORGET

static struct {
    const char *claim_path; // NULL for none
    int claim_file, result_file;
    pid_t client; // for whom the call is, 0 if unknown
    int64_t limit_ns, deadline;
    int is_killed, is_forgotten, is_orphan;
    int pipes[3]; // our ends of the hook's stdin, stdout and stderr
    off_t stdin_bytes;
    size_t output_bytes[2];
} watch = {.claim_file = -1, .pipes = {-1, -1, -1}};

static char *outputs[2], *result; // mapped by the watchdog alone: a client has to run where there is little memory

static _Noreturn void exec_hook(char **arguments, const int *descriptors, int error_pipe) {
    char *shell[] = {"/bin/sh", "-c", arguments[2], NULL};
    for (int number = 0; number < 3; number++)
        if (descriptors[number] >= 0) dup2(descriptors[number], number);
    setsid();
    signal(SIGPIPE, SIG_DFL);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_DFL); // our runner is Python, which ignores it
#endif
    if (strcmp(arguments[0], "-")) umask((mode_t)strtoul(arguments[0], NULL, 8));
    if (!strcmp(arguments[1], "-") || !chdir(arguments[1])) execve(shell[0], shell, environ);
    int problem = errno;
    write_all(error_pipe, (char *)&problem, sizeof problem);
    _exit(127);
}

static void close_pipe(int number) {
    close(watch.pipes[number]);
    watch.pipes[number] = -1;
}

// The payload lies in a file, our stdin; a hook that does not want to read on has closed its end.
static void feed_stdin(void) {
    static char chunk[1 << 16];
    ssize_t size = pread(0, chunk, sizeof chunk, watch.stdin_bytes);
    ssize_t written = size > 0 ? write(watch.pipes[0], chunk, (size_t)size) : 0;
    if (written > 0) watch.stdin_bytes += written;
    int is_last = size < (ssize_t)sizeof chunk;
    if (written < 0 ? errno != EAGAIN && errno != EINTR : is_last && written >= size) close_pipe(0);
}

// Collect what one output has now; whether there may be more.
static int collect_output(int number) {
    static char chunk[1 << 16];
    size_t *kept = &watch.output_bytes[number - 1], room = MAX_OUTPUT_BYTES - *kept;
    ssize_t size = read(watch.pipes[number], chunk, sizeof chunk);
    if (size > 0) {
        memcpy(outputs[number - 1] + *kept, chunk, (size_t)size < room ? (size_t)size : room);
        *kept += (size_t)size < room ? (size_t)size : room;
    } else if (!size || (errno != EAGAIN && errno != EINTR)) {
        close_pipe(number);
    }
    return size > 0;
}

static void hear_runner(void) {
    char word;
    ssize_t size = read(HANGUP_FD, &word, 1);
    if (size < 0 && errno == EINTR) return;
    if (size > 0) *(word == KILL ? &watch.is_killed : &watch.is_forgotten) = 1;
    else watch.is_orphan = 1;
    if (watch.is_orphan && !watch.claim_path) watch.deadline = now_ns();
    if (watch.is_orphan) watch.deadline += watch.limit_ns;
}

// Also if nobody has reaped it, and perhaps never will.
static int is_client_gone(void) {
    char path[64], text[4096];
    if (watch.client <= 0) return 0;
    if (kill(watch.client, 0)) return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)watch.client);
    read_text(path, text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return name_end && (!strncmp(name_end, ") Z", 3) || !strncmp(name_end, ") X", 3));
}

// Until the hook has ended or we are to end it; whether it has ended by itself. It is not reaped here: its number stays
// its own until its group was killed.
static int wait_for_end(pid_t hook) {
    int hook_fd = -1;
#ifdef __linux__
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    hook_fd = (int)syscall(SYS_pidfd_open, hook, 0u);
#endif
    for (;;) {
        int *pipes = watch.pipes, timeout_ms = watch.is_orphan ? ORPHAN_POLL_MS : -1;
        struct pollfd polls[] = {{pipes[0], POLLOUT, 0}, {pipes[1], POLLIN, 0}, {pipes[2], POLLIN, 0},
                                 {watch.is_orphan ? -1 : HANGUP_FD, POLLIN, 0}, {hook_fd, POLLIN, 0}};
        siginfo_t ending = {0};
        if (poll(polls, 5, hook_fd < 0 ? 10 : timeout_ms) < 0) continue;
        if (polls[0].revents) feed_stdin();
        for (int number = 1; number < 3; number++)
            if (polls[number].revents) collect_output(number);
        if (polls[3].revents) hear_runner();
        if (polls[4].revents) return 1;
        if (watch.is_killed || watch.is_forgotten) return 0;
        if (watch.is_orphan && (now_ns() >= watch.deadline || is_client_gone())) return 0;
        // An older system, where somebody has to look.
        if (hook_fd < 0 && !waitid(P_PID, (id_t)hook, &ending, WEXITED | WNOHANG | WNOWAIT) && ending.si_pid) return 1;
    }
}

// Kill and reap who is directly below us; their own children come to us when they die. How many there were.
static int kill_children(void) {
    char path[64], text[4096], *data = text;
    pid_t children[sizeof text / 2];
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    size_t size = read_text(path, text, sizeof text);
    while (size && text[size - 1] != ' ') size--; // half a number; the next look finds whose it is
    text[size] = 0;
    while (*data && (children[count] = (pid_t)strtol(data, &data, 10)) > 0) count++;
    for (int i = 0; i < count; i++) kill(children[i], SIGKILL);
    for (int i = 0; i < count; i++) waitpid(children[i], NULL, 0);
    return count;
}

static int kill_all(pid_t hook) {
    int status = 0;
    kill(-hook, SIGKILL);
    kill(hook, SIGKILL); // it may not have a group yet
    while (waitpid(hook, &status, 0) < 0 && errno == EINTR) continue;
    while (kill_children()) continue;
    return status;
}

// Whether the hook may begin: nobody else has claimed it, and the runner is still there. The claim names a file in our
// memory for the result, so that it ends with us; elsewhere it has to hold the result itself.
static int claim_hook(void) {
    struct stat status;
    if (!watch.claim_path) return 1;
    int file = open(watch.claim_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno != EEXIST; // a full disk keeps no hook from being asked
    if ((flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || fstat(file, &status) || status.st_size) return 0;
    if (poll(&(struct pollfd){HANGUP_FD, POLLIN, 0}, 1, 0)) {
        unlink(watch.claim_path);
        return 0;
    }
    watch.claim_file = watch.result_file = file;
#ifdef __linux__
    int memory = memfd_create("result", MFD_CLOEXEC);
    if (memory >= 0 && dprintf(file, "/proc/%d/fd/%d", (int)getpid(), memory) > 0) watch.result_file = memory;
#endif
    if (watch.result_file == file && ftruncate(file, 1)) errno = 0; // no file may grow: our lock says that it has begun
    return 1;
}

// Until the call was answered; for a runner that was killed the result is left to whoever answers in its place.
static void keep_result(size_t size) {
    while (!watch.is_forgotten && !watch.is_orphan) hear_runner();
    if (!watch.is_forgotten) {
        if (!write_all(watch.result_file, result, size)) flock(watch.claim_file, LOCK_UN);
        int64_t end = now_ns() + MAX_RESULT_AGE_S * INT64_C(1000000000);
        while (!is_client_gone() && now_ns() < end) sleep_ms(ORPHAN_POLL_MS);
    }
    unlink(watch.claim_path);
}

static void report_result(const char *status) {
    const char *texts[] = {status, outputs[0], outputs[1]};
    size_t sizes[] = {strlen(status), watch.output_bytes[0], watch.output_bytes[1]}, size = RESULT_HEADER_BYTES;
    for (int i = 0; i < 3; i++) {
        store_u32(result + 4 * i, (uint32_t)sizes[i]);
        memcpy(result + size, texts[i], sizes[i]);
        size += sizes[i];
    }
    write_all(STATUS_FD, result, size);
    close(STATUS_FD);
    if (watch.claim_file >= 0) keep_result(size);
}

// Pipes to the hook; their other ends are its descriptors. A payload that no file could hold is in a pipe already.
static int open_hook_pipes(int *descriptors) {
    for (int number = lseek(0, 0, SEEK_CUR) < 0; number < 3; number++) {
        int ends[2];
        if (pipe(ends)) return -1;
        for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        descriptors[number] = ends[number > 0];
        watch.pipes[number] = ends[number == 0];
        fcntl(watch.pipes[number], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

static pid_t start_hook(char **arguments, int is_collecting, int *error_pipe) {
    int descriptors[] = {-1, -1, -1};
    if (pipe(error_pipe) || (is_collecting && open_hook_pipes(descriptors))) return -1;
    for (int i = 0; i < 2; i++) fcntl(error_pipe[i], F_SETFD, FD_CLOEXEC);
    pid_t hook = fork();
    if (!hook) exec_hook(arguments, descriptors, error_pipe[1]);
    close(error_pipe[1]);
    for (int number = 0; number < 3; number++)
        if (descriptors[number] >= 0) close(descriptors[number]);
    int devnull = open("/dev/null", O_RDWR); // nor do we hold what the hook, or whoever started us, writes to
    for (int number = is_collecting; number < 3; number++) dup2(devnull, number);
    return hook;
}

// Arguments: the descriptors of the hangup and status pipes; whether to collect ("collect", with the payload in a file as
// our stdin), or else to pass our three descriptors on; the claim file, the client's pid, milliseconds in which a hook is
// heard out without a runner; umask, directory and command of the hook.
static int run_watchdog(char **arguments) {
    int descriptors[] = {0, 1, 2, atoi(arguments[0]), atoi(arguments[1])}, error_pipe[2], problem = 0;
    char status[MAX_STATUS_BYTES] = "timeout";
    setsid();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    size_t result_capacity = RESULT_HEADER_BYTES + MAX_STATUS_BYTES + 2 * MAX_OUTPUT_BYTES;
    result = mmap(NULL, result_capacity + 2 * MAX_OUTPUT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (result == MAP_FAILED || set_descriptors(5, descriptors)) return 0;
    for (int i = 0; i < 2; i++) outputs[i] = result + result_capacity + (size_t)i * MAX_OUTPUT_BYTES;
    for (int number = HANGUP_FD; number <= STATUS_FD; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
    watch.claim_path = strcmp(arguments[3], "-") ? arguments[3] : NULL;
    watch.client = (pid_t)atol(arguments[4]);
    watch.limit_ns = strtoll(arguments[5], NULL, 10) * INT64_C(1000000);
    watch.deadline = now_ns();
    if (!claim_hook()) return 0;
    pid_t hook = start_hook(arguments + 6, !strcmp(arguments[2], "collect"), error_pipe);
    if (hook < 0) problem = errno;
    if (hook > 0) {
        int has_ended = wait_for_end(hook), ending = kill_all(hook);
        for (int number = 1; number < 3; number++)
            while (watch.pipes[number] >= 0 && watch.output_bytes[number - 1] < MAX_OUTPUT_BYTES && collect_output(number))
                continue;
        if (read(error_pipe[0], &problem, sizeof problem) != sizeof problem) problem = 0;
        int code = WIFEXITED(ending) ? WEXITSTATUS(ending) : -WTERMSIG(ending);
        if (has_ended) snprintf(status, sizeof status, "%d", code);
    }
    if (problem) snprintf(status, sizeof status, "not started: %s", strerror(problem));
    report_result(status);
    return 0;
}
