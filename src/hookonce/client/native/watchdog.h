// The watchdog: the process between our runner and its hooks, which leaves nothing running that a hook has started.
//
// It takes one order after another, feeds the hook, collects what it says, and hands one result to the runner. On the
// same line the runner says that the hook is to be killed, or that the call was answered and its result can be
// forgotten. A runner that is gone without a word was killed: a hook with a claim is then heard out, and that claim leads
// whoever answers in the runner's place to its result (ADR 0037); every other is killed. What leaves its group,
// its session or its parent comes here as an orphan, where the system can do that. It has a session of its own, because
// agents kill whole process groups.

#define MAX_OUTPUT_BYTES (1u << 20) // of each output that are kept; more is read and thrown away
#define RESULT_HEADER_BYTES 12u     // the lengths of status, stdout and stderr
#define MAX_STATUS_BYTES 512u
#define ORPHAN_POLL_MS 50           // between two looks at the client of a runner that is gone
#define MAX_RESULT_AGE_S 600        // for which a result waits for its reader

enum { ORDER_FD = 3, STATUS_FD = 4 }; // after the watchdog's own three; on the first the runner's words come too
enum { KILL = 'k' };                  // said by the runner; anything else is FORGET

#define SLOT_NAME_BYTES 128u // of the name of a claim in a slot; the place of the result stands behind them

static const char *slot_path;
static int slot_file, slot_result_file; // of the claims of all our hooks; -1 for none

static struct watch {
    const char *claim_path; // NULL for none
    int claim_file, result_file; // its lock is held until the result is there; -1 for none
    pid_t client; // for whom the call is, 0 if unknown
    int64_t limit_ns, deadline;
    int is_killed, is_forgotten, is_orphan;
    int hook_fd; // of its process, -1 where the system has no such descriptors
    size_t stdin_bytes, output_bytes[2];
} watch;

static int pipes[3], hook_ends[3]; // ours of the hook's stdin, stdout and stderr, and its own; -1 for none

static char *outputs[2];      // mapped by the watchdog alone: a client has to run where there is little memory
static volatile int *problem; // why the hook could not be started, told by its own process

static void close_end(int *end) {
    if (*end >= 0) close(*end);
    *end = -1;
}

// A hook that does not want to read on has closed its end.
static void feed_stdin(const struct order *order) {
    size_t rest = order->payload_bytes - watch.stdin_bytes;
    ssize_t written = rest ? write(pipes[0], order->payload + watch.stdin_bytes, rest) : 0;
    if (written > 0) watch.stdin_bytes += (size_t)written;
    if (written < 0 ? errno != EAGAIN && errno != EINTR : (size_t)written == rest) close_end(&pipes[0]);
}

// Collect what one output has now; whether there may be more.
static int collect_output(int number) {
    static char surplus[1 << 16];
    size_t *kept = &watch.output_bytes[number - 1], room = MAX_OUTPUT_BYTES - *kept;
    ssize_t size = read(pipes[number], room ? outputs[number - 1] + *kept : surplus, room ? room : sizeof surplus);
    if (size > 0) *kept += room ? (size_t)size : 0;
    else if (!size || (errno != EAGAIN && errno != EINTR)) close_end(&pipes[number]);
    return size > 0;
}

// Say where the result will be: in a file in our memory, so that it ends with us. That file, or -1.
static int open_result_file(int file, off_t offset) {
#ifdef __linux__
    char path[64];
    int memory = (int)syscall(SYS_memfd_create, "result", 1u);
    int size = snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), memory);
    if (memory >= 0 && !access(path, F_OK) && pwrite(file, path, (size_t)size, offset) == size) return memory;
    if (memory >= 0) close(memory);
#else
    (void)file, (void)offset;
#endif
    return -1;
}

static void close_slot(void) {
    if (slot_file < 0) return;
    unlink(slot_path);
    close(slot_file);
    slot_file = -1;
}

// A file that holds the claim of the hook that we have begun, locked for as long as we live.
static void open_slot(void) {
    static const char empty[SLOT_NAME_BYTES];
    slot_result_file = -1;
    slot_file = open(slot_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (slot_file < 0) return;
    if (!flock(slot_file, LOCK_EX | LOCK_NB) && pwrite(slot_file, empty, sizeof empty, 0) == sizeof empty)
        slot_result_file = open_result_file(slot_file, sizeof empty);
    if (slot_result_file < 0) close_slot();
}

// Name the claim of a hook in our slot, or none.
static int fill_slot(const char *claim_path) {
    char name[SLOT_NAME_BYTES] = "";
    const char *start = claim_path ? strrchr(claim_path, '/') : "/";
    if (slot_file < 0 || !start || strlen(start) > sizeof name) return 0;
    memcpy(name, start + 1, strlen(start + 1));
    return pwrite(slot_file, name, sizeof name, 0) == sizeof name;
}

static int is_runner_waiting(void) {
    return !poll(&(struct pollfd){ORDER_FD, POLLIN, 0}, 1, 0);
}

// Whether the hook may begin: nobody else has claimed it, and the runner still waits for it. Our slot says that it has
// begun. Whoever answers in the runner's place makes the claim file before the last look at the slots, and we look for
// that file after the slot was filled: so one sees the other. Without a slot the claim file itself is made first.
static int claim_hook(void) {
    struct stat status;
    if (!watch.claim_path) return 1;
    if (fill_slot(watch.claim_path)) {
        watch.claim_file = slot_file;
        watch.result_file = slot_result_file;
        return access(watch.claim_path, F_OK) && is_runner_waiting();
    }
    int file = open(watch.claim_path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return errno != EEXIST; // a full disk keeps no hook from being asked
    if ((flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) || fstat(file, &status) || status.st_size) return 0;
    if (!is_runner_waiting()) {
        unlink(watch.claim_path);
        return 0;
    }
    watch.claim_file = file;
    watch.result_file = open_result_file(file, 0);
    if (watch.result_file >= 0) return 1;
    watch.result_file = file;
    if (ftruncate(file, 1)) errno = 0; // no file may grow: our lock says that it has begun
    return 1;
}

static void hear_runner(void) {
    char word;
    ssize_t size = read(ORDER_FD, &word, 1);
    if (size < 0 && errno == EINTR) return;
    if (size > 0) {
        *(word == KILL ? &watch.is_killed : &watch.is_forgotten) = 1;
        return;
    }
    watch.is_orphan = 1;
    watch.deadline = (watch.claim_path ? watch.deadline : now_ns()) + watch.limit_ns;
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
// its own until its group was killed. While we have its ends of its outputs too, nothing but its end wakes us when it ends.
static int wait_for_end(const struct order *order, pid_t hook) {
    int hook_fd = -1, has_ended = 0;
#ifdef __linux__
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    hook_fd = watch.hook_fd = (int)syscall(SYS_pidfd_open, hook, 0u);
#endif
    for (int number = 1; number < 3 && hook_fd < 0; number++) close_end(&hook_ends[number]);
    while (!has_ended) {
        int timeout_ms = watch.is_orphan ? ORPHAN_POLL_MS : -1;
        struct pollfd polls[] = {{pipes[0], POLLOUT, 0}, {pipes[1], POLLIN, 0}, {pipes[2], POLLIN, 0},
                                 {watch.is_orphan ? -1 : ORDER_FD, POLLIN, 0}, {hook_fd, POLLIN, 0}};
        siginfo_t ending = {0};
        if (poll(polls, 5, hook_fd < 0 ? 10 : timeout_ms) < 0) continue;
        if (polls[0].revents) feed_stdin(order);
        for (int number = 1; number < 3; number++)
            if (polls[number].revents) collect_output(number);
        if (polls[3].revents) hear_runner();
        has_ended = polls[4].revents != 0;
        if (has_ended) break;
        if (watch.is_killed || watch.is_forgotten) break;
        if (watch.is_orphan && (now_ns() >= watch.deadline || is_client_gone())) break;
        // An older system, where somebody has to look.
        if (hook_fd < 0 && !waitid(P_PID, (id_t)hook, &ending, WEXITED | WNOHANG | WNOWAIT) && ending.si_pid) has_ended = 1;
    }
    return has_ended;
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

static int has_children(void) {
#ifdef __linux__
    return waitpid(-1, NULL, WNOHANG | __WALL) >= 0 || errno != ECHILD;
#else
    return 0; // nobody's orphans come to us
#endif
}

static int kill_all(pid_t hook) {
    int status = 0;
    if (kill(-hook, SIGKILL)) kill(hook, SIGKILL); // it may not have a group yet
    while (waitpid(hook, &status, 0) < 0 && errno == EINTR) continue;
    while (has_children() && kill_children()) continue;
    return status;
}

static int write_result(int file, const char *status) {
    static char start[RESULT_HEADER_BYTES + MAX_STATUS_BYTES + (1 << 14)];
    size_t size = strlen(status), *sizes = watch.output_bytes, used = RESULT_HEADER_BYTES + size;
    store_u32(start, (uint32_t)size);
    memcpy(start + RESULT_HEADER_BYTES, status, size);
    for (int i = 0; i < 2; i++) store_u32(start + 4 + 4 * i, (uint32_t)sizes[i]);
    int is_small = sizes[0] + sizes[1] <= sizeof start - used; // then it is said at once
    for (int i = 0; i < 2 && is_small; i++) {
        memcpy(start + used, outputs[i], sizes[i]);
        used += sizes[i];
    }
    if (write_all(file, start, used)) return -1;
    return is_small ? 0 : write_all(file, outputs[0], sizes[0]) || write_all(file, outputs[1], sizes[1]);
}

// Until the call was answered; for a runner that was killed the result is left to whoever answers in its place.
static void keep_result(const char *status) {
    while (!watch.is_forgotten && !watch.is_orphan) hear_runner();
    if (!watch.is_forgotten && watch.claim_file >= 0) {
        if (!write_result(watch.result_file, status)) flock(watch.claim_file, LOCK_UN);
        int64_t end = now_ns() + MAX_RESULT_AGE_S * INT64_C(1000000000);
        while (!is_client_gone() && now_ns() < end) sleep_ms(ORPHAN_POLL_MS);
    }
    if (watch.claim_file < 0 || watch.claim_file == slot_file) return;
    unlink(watch.claim_path);
    close(watch.result_file);
    close(watch.claim_file); // the same, where there is no such memory
}

static int open_pipe(int *ends) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    if (pipe(ends)) return -1;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

// Pipes to a hook that were not opened yet: where it was possible, that was done before anybody waited for it.
static int open_hook_pipes(void) {
    for (int number = 0; number < 3; number++) {
        int ends[2];
        if (pipes[number] >= 0) continue;
        if (open_pipe(ends)) return -1;
        hook_ends[number] = ends[number > 0];
        pipes[number] = ends[number == 0];
        fcntl(pipes[number], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

static void close_hook_pipes(void) {
    for (int number = 0; number < 3; number++) {
        close_end(&pipes[number]);
        close_end(&hook_ends[number]);
    }
}

// On Linux the new process has our memory until it is another program, and we wait: nothing is copied.
static pid_t start_process(struct order *order, const int *descriptors) {
#ifdef __linux__
    pid_t hook = vfork();
#else
    pid_t hook = fork();
#endif
    if (!hook) exec_hook(order, descriptors, problem);
    if (hook < 0) *problem = errno;
    return hook;
}

static pid_t start_hook(struct order *order) {
    pid_t hook = -1;
    if (open_hook_pipes()) *problem = errno;
    else hook = start_process(order, hook_ends);
    close_end(&hook_ends[0]); // else nobody would tell us that it does not read on
    return hook;
}

// Watch a hook to its end, and all that it has started; its status, as runners read it.
static void watch_hook(const struct order *order, pid_t hook, char *status) {
    if (hook > 0) {
        int has_ended = wait_for_end(order, hook), ending = kill_all(hook);
        for (int number = 1; number < 3; number++)
            while (pipes[number] >= 0 && watch.output_bytes[number - 1] < MAX_OUTPUT_BYTES && collect_output(number))
                continue;
        int code = WIFEXITED(ending) ? WEXITSTATUS(ending) : -WTERMSIG(ending);
        if (has_ended) snprintf(status, MAX_STATUS_BYTES, "%d", code);
    }
    if (*problem) snprintf(status, MAX_STATUS_BYTES, "not started: %s", strerror(*problem));
}

// Run the hook of one order; whether we may take another one.
static int run_order(struct order *order) {
    char status[MAX_STATUS_BYTES] = "timeout";
    watch = (struct watch){.claim_file = -1, .hook_fd = -1, .deadline = now_ns()};
    watch.claim_path = *order->fields[CLAIM] ? order->fields[CLAIM] : NULL;
    watch.client = (pid_t)atol(order->fields[CLIENT]);
    watch.limit_ns = strtoll(order->fields[LIMIT_MS], NULL, 10) * INT64_C(1000000);
    *problem = 0;
    if (!claim_hook()) return 0;
    pid_t hook = start_hook(order);
    if (hook > 0) feed_stdin(order);
    watch_hook(order, hook, status);
    write_result(STATUS_FD, status);
    close_end(&watch.hook_fd);
    close_hook_pipes();
    open_hook_pipes(); // of the next hook
    keep_result(status);
    for (int i = 0; i < 2; i++) memset(outputs[i], 0, watch.output_bytes[i]); // it was of that call alone
    if (watch.claim_path && !fill_slot(NULL)) close_slot(); // it must not go on to say that this hook has begun
    return watch.is_forgotten;
}

static int prepare_watchdog(int *descriptors) {
    setsid();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    for (int number = 0; number < 3; number++) pipes[number] = hook_ends[number] = -1;
    problem = mmap(NULL, sizeof *problem, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (problem == MAP_FAILED || set_descriptors(5, descriptors)) return 0;
    for (int number = ORDER_FD; number <= STATUS_FD; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
    return 1;
}

// Arguments: the descriptors on which orders come and results are reported, and our claim slot, if there is one. An
// order that is too large for us lies in a file, our stdin.
static int run_watchdog(char **arguments) {
    struct order order;
    int devnull = open("/dev/null", O_RDWR); // we hold nothing that whoever started us writes to
    int descriptors[] = {0, devnull, devnull, atoi(arguments[0]), atoi(arguments[1])};
    if (!prepare_watchdog(descriptors)) return 0;
    char *memory = mmap(NULL, 2 * MAX_OUTPUT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 0;
    for (int i = 0; i < 2; i++) outputs[i] = memory + (size_t)i * MAX_OUTPUT_BYTES;
    slot_path = arguments[2];
    slot_file = -1;
    if (*slot_path) open_slot();
    open_hook_pipes();
    while (read_order(ORDER_FD, &order) && run_order(&order)) continue;
    close_slot();
    return 0;
}

// Arguments: the descriptors of the hangup and status pipes, milliseconds for which a runner that is gone is outlived,
// directory and command of a server that our runner speaks with: its three descriptors are ours.
static int run_server_watchdog(char **arguments) {
    char status[MAX_STATUS_BYTES] = "timeout", *fields[] = {"", "", "", "", arguments[3], arguments[4]}, *no_words[] = {NULL};
    struct order order = {fields, no_words, environ, NULL, 0, 0};
    int descriptors[] = {0, 1, 2, atoi(arguments[0]), atoi(arguments[1])};
    if (!prepare_watchdog(descriptors)) return 0;
    watch = (struct watch){.claim_file = -1, .hook_fd = -1, .deadline = now_ns()};
    watch.limit_ns = strtoll(arguments[2], NULL, 10) * INT64_C(1000000);
    pid_t hook = start_process(&order, hook_ends);
    int devnull = open("/dev/null", O_RDWR);
    for (int number = 0; number < 3; number++) dup2(devnull, number);
    watch_hook(&order, hook, status);
    write_result(STATUS_FD, status);
    return 0;
}
