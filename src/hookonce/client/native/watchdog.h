// The watchdog: the process between our runner and a hook, which leaves nothing running that the hook has started.
//
// Whatever becomes of the runner, the leash tells it: when it is let go, everything below is killed. What leaves its
// group, its session or its parent comes here as an orphan, where the system can do that. It has a session of its
// own, because agents kill whole process groups.

enum { LIFELINE_FD = 3, STATUS_FD = 4 }; // after the hook's own three

static _Noreturn void exec_hook(char **arguments, int error_pipe) {
    char *shell[] = {"/bin/sh", "-c", arguments[2], NULL};
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

// Until the hook has ended or we are to end it. It is not reaped here: its number stays its own until its group was
// killed.
static void wait_for_end(pid_t hook) {
    struct pollfd polls[] = {{LIFELINE_FD, POLLIN, 0}, {-1, POLLIN, 0}};
#ifdef __linux__
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    polls[1].fd = (int)syscall(SYS_pidfd_open, hook, 0u);
#endif
    siginfo_t ending = {0};
    while (poll(polls, 2, polls[1].fd < 0 ? 10 : -1) <= 0) {
        ending.si_pid = 0; // an older system, where somebody has to look
        if (polls[1].fd >= 0) continue;
        if (!waitid(P_PID, (id_t)hook, &ending, WEXITED | WNOHANG | WNOWAIT) && ending.si_pid) return;
    }
}

// Kill and reap who is directly below us; their own children come to us when they die. How many there were.
static int kill_children(void) {
    char path[64], text[4096], *data = text;
    pid_t children[sizeof text / 2];
    int file, count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    ssize_t size = (file = open(path, O_RDONLY | O_CLOEXEC)) >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0) close(file);
    while (size > 0 && text[size - 1] != ' ') size--; // half a number; the next look finds whose it is
    text[size > 0 ? size : 0] = 0;
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

static void report_status(int status, int problem) {
    char text[512];
    if (problem) snprintf(text, sizeof text, "not started: %s", strerror(problem));
    else snprintf(text, sizeof text, "%d", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    write_all(STATUS_FD, text, strlen(text));
}

static int run_watchdog(char **arguments) {
    int descriptors[] = {0, 1, 2, atoi(arguments[0]), atoi(arguments[1])}, error_pipe[2], problem = 0, status = 0;
    setsid();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    if (set_descriptors(5, descriptors) || pipe(error_pipe)) return 0;
    for (int number = LIFELINE_FD; number <= error_pipe[1]; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
    pid_t hook = fork();
    if (!hook) exec_hook(arguments + 2, error_pipe[1]);
    if (hook < 0) problem = errno;
    close(error_pipe[1]);
    int devnull = open("/dev/null", O_RDWR);
    for (int number = 0; number < 3; number++) dup2(devnull, number);
    if (hook > 0) {
        wait_for_end(hook);
        status = kill_all(hook);
        if (read(error_pipe[0], &problem, sizeof problem) != sizeof problem) problem = 0;
    }
    report_status(status, problem);
    return 0;
}
