// Connection to the daemon, and the daemon's start where there is none.

#define START_TIMEOUT_MS 500  // in which one that was just started has to be there
#define POLL_INTERVAL_MS 5    // between two looks
#define MAX_ADDRESS_BYTES 100 // that every system takes; a longer one goes through a descriptor of its folder
#define RETRY_AFTER_S 30      // for which a failed start is not tried again

enum { NO_DAEMON = -1, UNUSABLE_DAEMON = -2 }; // in the place of a descriptor: a daemon can be started, or must not be

static pid_t daemon_pid; // of whom we are connected with; 0 where the system does not tell

static int is_same_user(int connection) {
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size)) return 0;
    daemon_pid = peer.pid;
    return peer.uid == own_user;
#else
    uid_t user;
    gid_t group;
    return !getpeereid(connection, &user, &group) && user == own_user;
#endif
}

#ifdef __linux__
static int is_same_link(const char *path, const char *other) {
    char target[64], other_target[64];
    ssize_t size = readlink(path, target, sizeof target);
    return size > 0 && readlink(other, other_target, sizeof other_target) == size && !memcmp(target, other_target, size);
}

static int is_same_file(const char *path, const char *other) {
    struct stat status, other_status;
    return !stat(path, &status) && !stat(other, &other_status) && status.st_dev == other_status.st_dev &&
           status.st_ino == other_status.st_ino;
}

// What runs is the interpreter that the installation names; a script that starts it, or one that is gone, says nothing.
static int has_our_interpreter(const char *executable) {
    char magic[4] = "";
    if (!has_python() || is_same_file(executable, python)) return 1;
    int file = open(python, READ_FLAGS);
    int is_script = file >= 0 && read(file, magic, sizeof magic) == sizeof magic && memcmp(magic, "\177ELF", 4);
    if (file >= 0) close(file);
    return is_script;
}

// How confined a process is: whether it may gain privileges, and its system calls are filtered; more than anything if
// it cannot be seen.
static int confinement_of(const char *process) {
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%s/status", process);
    read_text(path, text, sizeof text);
    char *privileges = strstr(text, "\nNoNewPrivs:"), *filter = strstr(text, "\nSeccomp:");
    return privileges && filter ? 10 * atoi(privileges + 12) + atoi(filter + 9) : 99;
}

#define MOUNTS_PATH "/proc/self/ns/mnt"

// Whether a text is the number of the mount that is our root. A mount is in one namespace, and its number is nobody
// else's while somebody has it for a root.
static int names_own_root(struct view text) {
#ifdef STATX_MNT_ID
    char number[24];
    struct statx root;
    if (statx(AT_FDCWD, "/", AT_STATX_DONT_SYNC, STATX_MNT_ID, &root) || !(root.stx_mask & STATX_MNT_ID)) return 0;
    snprintf(number, sizeof number, "%llu", (unsigned long long)root.stx_mnt_id);
    return equals(text, number);
#else
    (void)text;
    return 0;
#endif
}

// Whether lines after the daemon's pid name the mounts that we see: their namespace, and the one that is its root. The
// first is asked of /proc, which takes longer, where the second says nothing.
static int names_own_mounts(struct view text) {
    char target[64];
    split_at(&text, '\n');
    struct view mounts = split_at(&text, '\n');
    if (names_own_root(split_at(&text, '\n'))) return 1;
    ssize_t size = readlink(MOUNTS_PATH, target, sizeof target);
    return size > 0 && mounts.size == (size_t)size && !memcmp(mounts.data, target, mounts.size);
}

// Whether a process that sees the files that we see holds the write lock of one beside us. Whoever can write there could
// replace us, so it is believed without a further look; a lock ends with its process, whose number may then be another's.
static int holds_client_lock(pid_t pid) {
    char text[256];
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    if (!is_client_dir_private || pid <= 0) return 0;
    int file = open(format_text("%s/" DAEMON_FILE, client_dir), READ_FLAGS | O_NOFOLLOW);
    int is_holder = file >= 0 && !fcntl(file, F_GETLK, &lock) && lock.l_type == F_WRLCK && lock.l_pid == pid;
    ssize_t size = is_holder ? read(file, text, sizeof text) : -1;
    if (file >= 0) close(file);
    return size > 0 && names_own_mounts((struct view){text, (size_t)size});
}

// Whether somebody of our user, of whom we know no more, can be our daemon: a sandbox may let its commands replace our
// socket, but not leave their namespaces or gain privileges again.
static int is_expected_daemon(pid_t pid) {
    static const char namespaces[][5] = {"mnt", "pid", "user"};
    char process[16], path[64], own_path[64], exe[64];
    if (holds_client_lock(pid)) return 1;
    snprintf(process, sizeof process, "%d", (int)pid);
    for (size_t i = 0; i < sizeof namespaces / sizeof *namespaces; i++) {
        snprintf(path, sizeof path, "/proc/%s/ns/%s", process, namespaces[i]);
        snprintf(own_path, sizeof own_path, "/proc/self/ns/%s", namespaces[i]);
        if (!is_same_link(path, own_path)) return access("/proc/self/ns", F_OK) != 0;
    }
    snprintf(exe, sizeof exe, "/proc/%s/exe", process);
    int confinement = confinement_of(process);
    return has_our_interpreter(exe) && (!confinement || confinement <= confinement_of("self"));
}
#else
static int is_expected_daemon(pid_t pid) {
    return (int)pid >= 0;
}
#endif

static int connect_daemon(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", runtime_dir), folder = -1;
    if (size > MAX_ADDRESS_BYTES) {
        folder = open(runtime_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/socket", folder);
    }
#ifdef SOCK_CLOEXEC
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (connection < 0) return UNUSABLE_DAEMON;
#else
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connection < 0) return UNUSABLE_DAEMON;
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    fcntl(connection, F_SETFL, O_NONBLOCK);
#endif
    int failed = connect(connection, (struct sockaddr *)&address, sizeof address);
    int64_t end = failed ? now_ns() + first_reply_ns : 0;
    while (failed && (errno == EAGAIN || errno == EINTR) && now_ns() < end) {
        sleep_ms(POLL_INTERVAL_MS); // the daemon is there, and busy with others
        failed = connect(connection, (struct sockaddr *)&address, sizeof address);
    }
    if (folder >= 0) close(folder);
    int is_absent = failed && (errno == ENOENT || errno == ECONNREFUSED);
    if (!failed && is_same_user(connection) && is_expected_daemon(daemon_pid)) return connection;
    close(connection);
    return is_absent ? NO_DAEMON : UNUSABLE_DAEMON;
}

static int is_daemon_listening(void) {
    int connection = runtime_dir[0] ? connect_daemon() : NO_DAEMON;
    return connection >= 0 && !close(connection);
}

static int has_recent_failure(void) {
    char path[PATH_MAX];
    struct stat status;
    if (!path_in(path, sizeof path, runtime_dir, "daemon.failed") || lstat(path, &status)) return 0;
    time_t age = time(NULL) - status.st_mtime;
    return age < RETRY_AFTER_S && age > -RETRY_AFTER_S; // a clock that was set back is no reason never to try again
}

static void mark_failed(void) {
    int file = open_runtime_file("daemon.failed", O_TRUNC);
    if (file < 0) return;
    futimens(file, NULL);
    close(file);
}

static int try_lock(int lock) {
    return !flock(lock, LOCK_EX | LOCK_NB);
}

// The environment of our own interpreter: the caller's would choose what its loader and its libraries run.
static char **own_environment(void) {
    static char from_home[PATH_MAX + 8], language[256], *environment[3 + DAEMON_VARIABLES_COUNT];
    const char *lang = getenv("LANG");
    if (!lang || snprintf(language, sizeof language, "LANG=%s", lang) >= (int)sizeof language)
        snprintf(language, sizeof language, "LANG=C.UTF-8");
    snprintf(from_home, sizeof from_home, "HOME=%s", home);
    environment[0] = from_home;
    environment[1] = language;
    size_t count = 2;
    for (const char *variable = DAEMON_VARIABLES; *variable; variable += strlen(variable) + 1)
        environment[count++] = (char *)variable;
    return environment;
}

static void exec_daemon(int lock) {
    char program[PATH_MAX];
    char *arguments[] = {(char *)python, "-I", "-S", program, (char *)client_dir, NULL};
    int devnull = open("/dev/null", O_RDWR), descriptors[] = {devnull, devnull, devnull, lock};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); // it outlives whoever called us, and with that their reasons
    if (path_in(program, sizeof program, package_root, "hookonce/daemon/__main__.py") && !chdir("/") &&
        !set_descriptors(4, descriptors))
        execve(python, arguments, own_environment());
}

// It keeps the lock for as long as it lives, and is nobody's child.
static void start_daemon(int lock) {
    pid_t child = fork();
    if (!child) {
        setsid();
        if (!fork()) exec_daemon(lock);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
}

// Wait for a daemon that somebody has just started.
static int await_daemon(void) {
    int connection = connect_daemon();
    int64_t end = now_ns() + START_TIMEOUT_MS * INT64_C(1000000);
    while (connection == NO_DAEMON && now_ns() < end) {
        sleep_ms(POLL_INTERVAL_MS);
        connection = connect_daemon();
    }
    return connection;
}

static int connect_or_start(void) {
    int connection = connect_daemon();
    if (connection != NO_DAEMON || !has_python() || has_recent_failure()) return connection;
    int lock = open_runtime_file("daemon.lock", 0), is_starter = lock >= 0 && try_lock(lock);
    if (lock < 0) return UNUSABLE_DAEMON;
    connection = is_starter ? connect_daemon() : NO_DAEMON; // somebody may just have been faster
    if (is_starter && connection == NO_DAEMON) start_daemon(lock);
    close(lock);
    if (connection != NO_DAEMON) return connection;
    connection = await_daemon();
    lock = connection == NO_DAEMON && is_starter ? open_runtime_file("daemon.lock", 0) : -1;
    if (lock >= 0 && try_lock(lock)) mark_failed(); // whom we started is dead
    if (lock >= 0) close(lock);
    return connection;
}
