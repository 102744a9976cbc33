// Fail mode: the reply when there is neither a daemon nor an interpreter that answers.

#define BLOCK_CODE 2 // the exit code that says no to most agents
#define WRAPPER_MARK "wrapper" // before the refusals of entries that run something which must answer
#define UNWRITTEN_REASON "hookonce cannot write its answer, which may be a refusal\n"
#define UNREAD_REASON "hookonce cannot read what to answer, which may be a refusal; hookonce doctor says more\n"

static const char *agent, *event;
static int is_closed_wrapper; // whether the entry says that what it runs must answer
static int stdin_ended;
// Texts that stay, then the frame, then what the daemon says, side by side behind our variables: each page of memory that is
// touched costs as much as a look for a file.
extern char memory[1 << 18];
static size_t memory_size; // of which is used
static const char *client_dir; // the directory in which we lie; a file in it names the following
static const char *python, *build, *package_root; // the interpreter, our build, where the package lies
static const char *home, *runtime_dir; // for which we are installed; where the daemon is

static int path_in(char *to, size_t capacity, const char *folder, const char *name) {
    int size = snprintf(to, capacity, "%s/%s", folder, name);
    return size > 0 && (size_t)size < capacity;
}

static struct view map_beside_client(const char *name) {
    char path[PATH_MAX];
    return client_dir[0] && path_in(path, sizeof path, client_dir, name) ? map_file(path) : (struct view){NULL, 0};
}

// What was written after the texts that stay, and stays too.
static char *keep_text(size_t size) {
    char *text = memory + memory_size;
    text[size] = 0;
    memory_size += size + 1;
    return text;
}

static char *copy_text(struct view text) {
    if (text.size >= sizeof memory - memory_size) fail_mode_exit();
    if (text.size) memcpy(memory + memory_size, text.data, text.size);
    return keep_text(text.size);
}

static char *format_text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof memory - memory_size, size = (size_t)vsnprintf(memory + memory_size, room, format, arguments);
    va_end(arguments);
    if (size >= room) fail_mode_exit();
    return keep_text(size);
}

// The next line of what was read to our memory, with an end in the place of the line break.
static const char *take_line(struct view *rest) {
    struct view line = split_at(rest, '\n');
    ((char *)line.data)[line.size] = 0;
    return line.data;
}

// The path at which we lie, as the system knows it. A bare word would have to be looked up, and the current directory is
// not where to look.
static size_t find_program(const char *program, char *path) {
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (size <= 0) size = program && strchr(program, '/') && realpath(program, path) ? (ssize_t)strlen(path) : 0;
    return (size_t)size;
}

// The path that was executed, if no part of it is there for nothing and its last one is no link.
static size_t find_executed(char *path) {
#ifdef __linux__
    struct stat status;
    const char *executed = (const char *)getauxval(AT_EXECFN);
    size_t size = executed && *executed == '/' ? strlen(executed) : PATH_MAX;
    if (size >= PATH_MAX || strstr(executed, "//") || strstr(executed, "/./") || strstr(executed, "/../")) return 0;
    if (lstat(executed, &status) || !S_ISREG(status.st_mode)) return 0;
    memcpy(path, executed, size);
    return size;
#else
    (void)path;
    return 0;
#endif
}

// Open a file of whose path no part is a link; -1 also where the system does not know how.
static int open_unlinked(const char *path) {
#ifdef __linux__
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
    const uint64_t how[] = {READ_FLAGS, 0, 4}; // flags, mode, RESOLVE_NO_SYMLINKS
    return (int)syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how);
#else
    (void)path;
    return -1;
#endif
}

// The folder of a program that was written to our memory, and the file in it that names the interpreter.
static const char *keep_folder(size_t size) {
    while (size && memory[--size] != '/') continue;
    client_dir = keep_text(size);
    return size ? format_text("%s/interpreter", client_dir) : "";
}

// Where we lie is where we were executed, if a file beside us is found there without a link: /proc, which knows it in any
// case, is asked only if not, for it takes as long as a dozen files.
static void find_install(const char *program) {
    const char *path = keep_folder(find_executed(memory));
    int file = *path ? open_unlinked(path) : -1;
    if (file < 0) {
        memory_size = 0;
        path = keep_folder(find_program(program, memory));
        file = *path ? open(path, READ_FLAGS) : -1;
    }
    if (!*client_dir) return;
    struct view rest = {memory + memory_size, take_text(file, memory + memory_size, 3 * PATH_MAX)};
    memory_size += rest.size + 1;
    python = take_line(&rest);
    build = take_line(&rest);
    package_root = take_line(&rest);
}

static void clear_texts(void) {
    client_dir = python = build = package_root = home = runtime_dir = "";
}

// Whether it is worth while to read on; most calls never start it.
static int is_python_there(void) {
    return python[0] == '/' && package_root[0] == '/' && !access(python, X_OK);
}

static int has_python(void) {
    struct stat status;
    return is_python_there() && !stat(python, &status) && S_ISREG(status.st_mode);
}

// An agent that is still writing must not run into a closed pipe.
static void drain_stdin(void) {
    static char discard[1 << 16];
    if (stdin_ended || isatty(0) || fork()) return;
    alarm(600);
    close_from(1);
    do errno = 0;
    while (read(0, discard, sizeof discard) > 0 || (errno == EAGAIN && poll(&(struct pollfd){0, POLLIN, 0}, 1, -1) > 0));
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

static int write_unescaped(int descriptor, struct view text) {
    static char buffer[1 << 16];
    size_t size = 0;
    int failed = 0;
    while (text.size) {
        buffer[size++] = next_escaped_byte(&text);
        if (size == sizeof buffer) {
            failed |= write_all(descriptor, buffer, size);
            size = 0;
        }
    }
    return failed | write_all(descriptor, buffer, size);
}

// The current directory as it is, even if it was removed; one above it where its path is too long, "" if nobody can tell.
static void find_cwd(char *to, size_t capacity) {
    if (getcwd(to, capacity)) return;
    static const char mark[] = " (deleted)";
    ssize_t size = readlink("/proc/self/cwd", to, capacity - 1), kept = size - (ssize_t)sizeof mark + 1;
    to[size > 0 ? size : 0] = 0;
    if (kept > 0 && !strcmp(to + kept, mark)) to[kept] = 0;
    int here = *to ? -1 : open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (here >= 0 && !*to && !chdir("..")) to[getcwd(to, capacity) ? strlen(to) : 0] = 0;
    if (here >= 0 && !fchdir(here)) close(here);
}

static int lies_below(const char *path, struct view folder) {
    if (folder.size == 1) return 1;
    while (folder.size)
        if (next_escaped_byte(&folder) != *path++) return 0;
    return !*path || *path == '/';
}

static int has_word(struct view words, struct view word) {
    while (words.size) {
        struct view next = split_at(&words, ' ');
        if (next.size == word.size && !memcmp(next.data, word.data, word.size)) return 1;
    }
    return 0;
}

// Whether one of these folders, by device and inode, is a path or lies above it: a project may have been moved.
static int is_below_inode(const char *path, struct view inodes) {
    char folder[PATH_MAX], text[64];
    struct stat status;
    snprintf(folder, sizeof folder, "%s", path);
    for (char *end = folder + strlen(folder); end; *end = 0) {
        int size = 0;
        if (!stat(*folder ? folder : "/", &status))
            size = snprintf(text, sizeof text, "%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
        if (size && has_word(inodes, (struct view){text, (size_t)size})) return 1;
        end = strrchr(folder, '/');
        if (!end) break;
    }
    return 0;
}

// Whether we are in a project with trusted hooks that must be asked at this type of event.
static int is_guarded(struct view rest, struct view type) {
    char cwd[PATH_MAX];
    find_cwd(cwd, sizeof cwd);
    while (rest.size) {
        struct view row = split_at(&rest, '\n');
        if (!row.size || *row.data != '/') continue;
        struct view folder = split_at(&row, '|'), inodes = split_at(&row, '|');
        if (has_word(row, type) && (!*cwd || lies_below(cwd, folder) || is_below_inode(cwd, inodes))) return 1;
    }
    return 0;
}

static const char *silence_of_agent(void) {
    for (size_t i = 0; i < sizeof SILENCES / sizeof *SILENCES; i++)
        if (!strcmp(agent, SILENCES[i][0])) return SILENCES[i][1];
    return "";
}

static int reply_silence(void) {
    write_all(1, silence_of_agent(), strlen(silence_of_agent()));
    return 0;
}

// How to end when a refusal cannot be read or written: by exit code, for which some agents want a reason too.
static int block_call(const char *reason) {
    write_all(2, reason, strlen(reason));
    return BLOCK_CODE;
}

static void exit_unread(int signal_number) {
    (void)signal_number;
    _exit(block_call(UNREAD_REASON));
}

static int reply_refusal(void) {
    signal(SIGBUS, exit_unread); // a disk that fails while its file is read
    errno = 0;
    struct view rest = map_beside_client("failmode.bin");
    if (errno) { // perhaps there are no descriptors left
        close(0);
        rest = map_beside_client("failmode.bin");
    }
    if (!rest.data && errno) return block_call(UNREAD_REASON);
    while (rest.size && rest.data[rest.size - 1] != '\n') rest.size--; // half a line is none
    struct view all = rest, type = {NULL, 0};
    while (rest.size) {
        struct view row = split_at(&rest, '\n'), agent_name = split_at(&row, '|');
        struct view event_name = split_at(&row, '|'), code = split_at(&row, '|');
        int is_for_projects = agent_name.size && memchr(agent_name.data, ':', agent_name.size) != NULL;
        if (is_for_projects) type = split_at(&agent_name, ':');
        if (!equals(agent_name, agent) || !equals(event_name, event)) continue;
        if (is_for_projects && !(is_closed_wrapper && equals(type, WRAPPER_MARK)) && !is_guarded(all, type)) continue;
        if (code.size != 1 || *code.data < '0' || *code.data > '9') break;
        int failed = write_unescaped(1, split_at(&row, '|'));
        write_unescaped(2, row);
        return failed ? block_call(UNWRITTEN_REASON) : *code.data - '0';
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
    close_from(3); // whatever it was for, there may be no descriptors left
    mark_unanswered();
    drain_stdin();
    _exit(reply_refusal());
}
