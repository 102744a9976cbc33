// The line to the daemon, and the daemon's start where there is none.

#define HURRY 50     // milliseconds in which a daemon has to take a call
#define PATIENCE 500 // milliseconds in which one that was just started has to be there
#define LOOK 5       // milliseconds between two looks
#define FAILED 30    // seconds for which a failed start is not tried again

enum { NOBODY = -1, USELESS = -2 }; // in the place of a descriptor: a daemon can be started, or must not be

static int is_peer_ours(int line) {
#ifdef __linux__
    struct ucred peer;
    socklen_t size = sizeof peer;
    return !getsockopt(line, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == getuid();
#else
    uid_t user;
    gid_t group;
    return !getpeereid(line, &user, &group) && user == getuid();
#endif
}

static int dial(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", house);
    int line = size <= 100 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    if (line < 0) return USELESS;
    fcntl(line, F_SETFD, FD_CLOEXEC);
    fcntl(line, F_SETFL, O_NONBLOCK);
    int failed = connect(line, (struct sockaddr *)&address, sizeof address);
    for (int left = HURRY / LOOK; failed && (errno == EAGAIN || errno == EINTR) && left; left--) {
        nap(LOOK); // the daemon is there, and busy with others
        failed = connect(line, (struct sockaddr *)&address, sizeof address);
    }
    int is_nobody = failed && (errno == ENOENT || errno == ECONNREFUSED);
    if (!failed && is_peer_ours(line)) return line;
    close(line);
    return is_nobody ? NOBODY : USELESS;
}

static int is_anybody_there(void) {
    int line = house[0] ? dial() : NOBODY;
    return line >= 0 && !close(line);
}

static int has_just_failed(void) {
    char path[sizeof house + 16];
    struct stat is;
    if (!path_in(path, sizeof path, house, "daemon.failed") || lstat(path, &is)) return 0;
    time_t age = time(NULL) - is.st_mtime;
    return age < FAILED && age > -FAILED; // a clock that was set back is no reason never to try again
}

static void mark_failed(void) {
    int file = open_in_house("daemon.failed", O_TRUNC);
    if (file < 0) return;
    futimens(file, NULL);
    close(file);
}

static int is_free(int lock) {
    return !flock(lock, LOCK_EX | LOCK_NB);
}

static void become_daemon(int lock) {
    char from_home[PATH_MAX + 8], language[256] = "LANG=C.UTF-8", program[PATH_MAX];
    const char *lang = getenv("LANG");
    if (lang && strlen(lang) < sizeof language - 8) sprintf(language, "LANG=%s", lang);
    sprintf(from_home, "HOME=%s", home);
    char *words[] = {python, "-I", "-S", program, bin, NULL};
    char *world[] = {from_home, "PATH=/usr/local/bin:/usr/bin:/bin", language, NULL};
    int nothing = open("/dev/null", O_RDWR), kept[] = {nothing, nothing, nothing, lock};
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); // it outlives whoever called us, and with that their reasons
    if (path_in(program, sizeof program, shelf, "hookonce/daemon/__main__.py") && !chdir("/") && !lay_out(4, kept))
        execve(python, words, world);
}

// It keeps the lock for as long as it lives, and is nobody's child.
static void start_daemon(int lock) {
    pid_t between = fork();
    if (!between) {
        setsid();
        if (!fork()) become_daemon(lock);
        _exit(0);
    }
    while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR) continue;
}

// Wait for a daemon that somebody has just started.
static int await_daemon(void) {
    int line = dial();
    for (int64_t end = now() + PATIENCE * INT64_C(1000000); line == NOBODY && now() < end; line = dial()) nap(LOOK);
    return line;
}

static int reach(void) {
    int line = dial();
    if (line != NOBODY || !has_python() || has_just_failed()) return line;
    int lock = open_in_house("daemon.lock", 0), has_won = lock >= 0 && is_free(lock);
    if (lock < 0) return USELESS;
    line = has_won ? dial() : NOBODY; // somebody may just have been faster
    if (has_won && line == NOBODY) start_daemon(lock);
    close(lock);
    if (line != NOBODY) return line;
    line = await_daemon();
    lock = line == NOBODY && has_won ? open_in_house("daemon.lock", 0) : -1;
    if (lock >= 0 && is_free(lock)) mark_failed(); // whom we started is dead
    if (lock >= 0) close(lock);
    return line;
}
