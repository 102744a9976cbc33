// Fail mode: the reply when there is neither a daemon nor an interpreter that answers.

static const char *agent, *event;
static int stdin_ended;
static char client_dir[PATH_MAX]; // the directory in which we lie; a file in it names the following
static char python[PATH_MAX], build[256], package_root[PATH_MAX]; // the interpreter, our build, where the package lies

static int path_in(char *to, size_t capacity, const char *folder, const char *name) {
    int size = snprintf(to, capacity, "%s/%s", folder, name);
    return size > 0 && (size_t)size < capacity;
}

static struct view map_beside_client(const char *name) {
    char path[PATH_MAX];
    return client_dir[0] && path_in(path, sizeof path, client_dir, name) ? map_file(path) : (struct view){NULL, 0};
}

static void copy_text(char *to, size_t capacity, struct view text) {
    if (text.size >= capacity) return;
    if (text.size) memcpy(to, text.data, text.size);
    to[text.size] = 0;
}

// Where we lie. A bare word would have to be looked up, and the current directory is not where to look.
static void find_install(const char *program) {
    ssize_t size = readlink("/proc/self/exe", client_dir, sizeof client_dir - 1);
    if (size > 0) client_dir[size] = 0;
    else if (!program || !strchr(program, '/') || !realpath(program, client_dir)) client_dir[0] = 0;
    char *name = strrchr(client_dir, '/');
    if (!name) return;
    *name = 0;
    struct view rest = map_beside_client("interpreter");
    copy_text(python, sizeof python, split_at(&rest, '\n'));
    copy_text(build, sizeof build, split_at(&rest, '\n'));
    copy_text(package_root, sizeof package_root, split_at(&rest, '\n'));
}

static int has_python(void) {
    struct stat status;
    return python[0] == '/' && package_root[0] == '/' && !stat(python, &status) && S_ISREG(status.st_mode) &&
           !access(python, X_OK);
}

// An agent that is still writing must not run into a closed pipe.
static void drain_stdin(void) {
    static char discard[1 << 16];
    if (stdin_ended || isatty(0) || fork()) return;
    alarm(600);
    int devnull = open("/dev/null", O_RDWR), descriptors[] = {0, devnull, devnull};
    if (devnull < 0 || set_descriptors(3, descriptors)) _exit(0);
    while (poll(&(struct pollfd){0, POLLIN, 0}, 1, -1) < 0 || read(0, discard, sizeof discard) > 0) continue;
    _exit(0);
}

// The next byte in the words of printf %b, as the file has them: itself, or \0 and three octal digits.
static char next_escaped_byte(struct view *text) {
    int is_escaped = text->size > 4 && !memcmp(text->data, "\\0", 2), byte = 0;
    size_t size = is_escaped ? 5 : 1;
    for (size_t i = 2; i < size; i++) byte = byte * 8 + text->data[i] - '0';
    if (!is_escaped) byte = *text->data;
    *text = (struct view){text->data + size, text->size - size};
    return (char)byte;
}

static void write_unescaped(int descriptor, struct view text) {
    static char buffer[1 << 16];
    size_t size = 0;
    while (text.size) {
        buffer[size++] = next_escaped_byte(&text);
        if (size == sizeof buffer) {
            write_all(descriptor, buffer, size);
            size = 0;
        }
    }
    write_all(descriptor, buffer, size);
}

static int reply_silence(void) {
    for (size_t i = 0; i < sizeof SILENCES / sizeof *SILENCES; i++)
        if (!strcmp(agent, SILENCES[i][0])) write_all(1, SILENCES[i][1], strlen(SILENCES[i][1]));
    return 0;
}

static int reply_refusal(void) {
    struct view rest = map_beside_client("failmode.bin");
    while (rest.size && rest.data[rest.size - 1] != '\n') rest.size--; // half a line is none
    while (rest.size) {
        struct view row = split_at(&rest, '\n'), agent_name = split_at(&row, '|');
        struct view event_name = split_at(&row, '|'), code = split_at(&row, '|');
        if (!equals(agent_name, agent) || !equals(event_name, event)) continue;
        if (code.size != 1 || *code.data < '0' || *code.data > '9') break;
        write_unescaped(1, split_at(&row, '|'));
        write_unescaped(2, row);
        return *code.data - '0';
    }
    return reply_silence();
}

// One mark for each call that nobody has answered, in a file that does not grow for ever; Python tells how many.
static void mark_unanswered(void) {
    char path[PATH_MAX];
    struct stat status;
    if (python[0] != '/' || !path_in(path, sizeof path, client_dir, "unanswered")) return; // never installed
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0) return;
    int is_ours = !fstat(file, &status) && S_ISREG(status.st_mode) && status.st_uid == getuid();
    if (is_ours && status.st_size < MAX_UNANSWERED_MARKS) write_all(file, ".", 1);
    close(file);
}

static _Noreturn void fail_mode_exit(void) {
    mark_unanswered();
    drain_stdin();
    _exit(reply_refusal());
}
