// The watchdog: the process between our runner and a hook, which leaves nothing running that the hook has started.
//
// Whatever becomes of the runner, the leash tells it: when it is let go, everything below is killed. What leaves its
// group, its session or its parent comes here as an orphan, where the system can do that. It has a session of its
// own, because agents kill whole process groups.

enum { LEASH = 3, NEWS = 4 }; // after the hook's own three

static _Noreturn void become_hook(char **words, int trouble) {
    char *shell[] = {"/bin/sh", "-c", words[2], NULL};
    setsid();
    signal(SIGPIPE, SIG_DFL);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_DFL); // our runner is Python, which ignores it
#endif
    if (strcmp(words[0], "-")) umask((mode_t)strtoul(words[0], NULL, 8));
    if (!strcmp(words[1], "-") || !chdir(words[1])) execve(shell[0], shell, environ);
    int problem = errno;
    say(trouble, (char *)&problem, sizeof problem);
    _exit(127);
}

// Until the hook has ended or we are to end it. It is not reaped here: its number stays its own until its group was
// killed.
static void watch_over(pid_t hook) {
    struct pollfd seen[] = {{LEASH, POLLIN, 0}, {-1, POLLIN, 0}};
#ifdef __linux__
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
    seen[1].fd = (int)syscall(SYS_pidfd_open, hook, 0u);
#endif
    siginfo_t ending = {0};
    while (poll(seen, 2, seen[1].fd < 0 ? 10 : -1) <= 0) {
        ending.si_pid = 0; // an older system, where somebody has to look
        if (seen[1].fd < 0 && !waitid(P_PID, (id_t)hook, &ending, WEXITED | WNOHANG | WNOWAIT) && ending.si_pid) return;
    }
}

// Kill and reap who is directly below us; their own children come to us when they die. How many there were.
static int end_children(void) {
    char path[64], text[4096], *at = text;
    pid_t found[sizeof text / 2];
    int file, count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    ssize_t size = (file = open(path, O_RDONLY | O_CLOEXEC)) >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0) close(file);
    while (size > 0 && text[size - 1] != ' ') size--; // half a number; the next look finds whose it is
    text[size > 0 ? size : 0] = 0;
    while (*at && (found[count] = (pid_t)strtol(at, &at, 10)) > 0) count++;
    for (int i = 0; i < count; i++) kill(found[i], SIGKILL);
    for (int i = 0; i < count; i++) waitpid(found[i], NULL, 0);
    return count;
}

static int end_all(pid_t hook) {
    int status = 0;
    kill(-hook, SIGKILL);
    kill(hook, SIGKILL); // it may not have a group yet
    while (waitpid(hook, &status, 0) < 0 && errno == EINTR) continue;
    while (end_children()) continue;
    return status;
}

static void tell(int status, int problem) {
    char text[512];
    if (problem) snprintf(text, sizeof text, "not started: %s", strerror(problem));
    else snprintf(text, sizeof text, "%d", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    say(NEWS, text, strlen(text));
}

static int watch(char **words) {
    int kept[] = {0, 1, 2, atoi(words[0]), atoi(words[1])}, trouble[2], problem = 0, status = 0;
    setsid();
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
    if (lay_out(5, kept) || pipe(trouble)) return 0;
    for (int number = LEASH; number <= trouble[1]; number++) fcntl(number, F_SETFD, FD_CLOEXEC);
    pid_t hook = fork();
    if (!hook) become_hook(words + 2, trouble[1]);
    if (hook < 0) problem = errno;
    close(trouble[1]);
    int nothing = open("/dev/null", O_RDWR);
    for (int number = 0; number < 3; number++) dup2(nothing, number);
    if (hook > 0) {
        watch_over(hook);
        status = end_all(hook);
        if (read(trouble[0], &problem, sizeof problem) != sizeof problem) problem = 0;
    }
    tell(status, problem);
    return 0;
}
