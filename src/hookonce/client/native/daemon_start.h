// Connection to the daemon, and the daemon's start where there is none.

#define CONNECT_TIMEOUT_MS 50 // in which a daemon has to take a call
#define START_TIMEOUT_MS 500  // in which one that was just started has to be there
#define POLL_INTERVAL_MS 5    // between two looks
#define RETRY_AFTER_S 30      // for which a failed start is not tried again

enum { NO_DAEMON = -1, UNUSABLE_DAEMON = -2 }; // in the place of a descriptor: a daemon can be started, or must not be

static pid_t daemon_pid; // of whom we are connected with; 0 where the system does not tell

static int is_same_user(int connection) {
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size)) return 0;
    daemon_pid = peer.pid;
    return peer.uid == getuid();
#else
    uid_t user;
    gid_t group;
    return !getpeereid(connection, &user, &group) && user == getuid();
#endif
}

static int connect_daemon(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", runtime_dir);
    int connection = size <= 100 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    if (connection < 0) return UNUSABLE_DAEMON;
    fcntl(connection, F_SETFD, FD_CLOEXEC);
    fcntl(connection, F_SETFL, O_NONBLOCK);
    int failed = connect(connection, (struct sockaddr *)&address, sizeof address);
    int tries = CONNECT_TIMEOUT_MS / POLL_INTERVAL_MS;
    for (; failed && (errno == EAGAIN || errno == EINTR) && tries; tries--) {
        sleep_ms(POLL_INTERVAL_MS); // the daemon is there, and busy with others
        failed = connect(connection, (struct sockaddr *)&address, sizeof address);
    }
    int is_absent = failed && (errno == ENOENT || errno == ECONNREFUSED);
    if (!failed && is_same_user(connection)) return connection;
    close(connection);
    return is_absent ? NO_DAEMON : UNUSABLE_DAEMON;
}

static int is_daemon_listening(void) {
    int connection = runtime_dir[0] ? connect_daemon() : NO_DAEMON;
    return connection >= 0 && !close(connection);
}

static int has_recent_failure(void) {
    char path[sizeof runtime_dir + 16];
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

static void exec_daemon(int lock) {
    char from_home[PATH_MAX + 8], language[256] = "LANG=C.UTF-8", program[PATH_MAX];
    const char *lang = getenv("LANG");
    if (lang && strlen(lang) < sizeof language - 8) sprintf(language, "LANG=%s", lang);
    sprintf(from_home, "HOME=%s", home);
    char *arguments[] = {python, "-I", "-S", program, client_dir, NULL};
    char *environment[] = {from_home, language, DAEMON_VARIABLES, NULL};
    int devnull = open("/dev/null", O_RDWR), descriptors[] = {devnull, devnull, devnull, lock};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); // it outlives whoever called us, and with that their reasons
    if (path_in(program, sizeof program, package_root, "hookonce/daemon/__main__.py") && !chdir("/") &&
        !set_descriptors(4, descriptors))
        execve(python, arguments, environment);
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
