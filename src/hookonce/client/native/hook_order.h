// Order of a hook: all that its runner says of it, and how its process is started.
//
// A header of four numbers (bytes of the whole order and of its texts, words, variables), then texts that each end with
// a zero byte: the fields, the words of the command where no shell is needed for it, the environment. The rest is the
// payload. An order that is too large for our memory lies in a file, our stdin.

#define ORDER_HEADER_BYTES 16u
#define MAX_INLINE_ORDER_BYTES (1u << 16)

enum { CLAIM, CLIENT, LIMIT_MS, UMASK, DIRECTORY, COMMAND, FIELD_COUNT }; // fields; an empty one says nothing

struct order {
    char **fields, **words, **environment; // without words there has to be a shell
    const char *payload;
    size_t payload_bytes, variable_count;
};

static char inline_order[MAX_INLINE_ORDER_BYTES], *inline_texts[MAX_INLINE_ORDER_BYTES + 4];

static int read_all(int descriptor, char *data, size_t size) {
    while (size) {
        ssize_t got = read(descriptor, data, size);
        if (!got || (got < 0 && errno != EINTR)) return 0;
        if (got > 0) data += got, size -= (size_t)got;
    }
    return 1;
}

static int parse_order(struct order *order, char *data, size_t size) {
    size_t text_bytes = load_uint(data + 4, 4), word_count = load_uint(data + 8, 4), variable_count = load_uint(data + 12, 4);
    char *text = data + ORDER_HEADER_BYTES, *end = text + text_bytes, **texts = inline_texts;
    if (!text_bytes || text_bytes > size - ORDER_HEADER_BYTES || end[-1]) return 0;
    if (word_count > text_bytes || variable_count > text_bytes) return 0;
    if (size > MAX_INLINE_ORDER_BYTES) {
        size_t bytes = (FIELD_COUNT + word_count + variable_count + 4) * sizeof *texts;
        texts = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (texts == MAP_FAILED) return 0;
    }
    *order = (struct order){texts, texts + FIELD_COUNT, texts + FIELD_COUNT + word_count + 1, end, 0, variable_count};
    order->payload_bytes = size - ORDER_HEADER_BYTES - text_bytes;
    size_t counts[] = {FIELD_COUNT, word_count, variable_count};
    char **starts[] = {order->fields, order->words, order->environment};
    for (int part = 0; part < 3; part++) {
        for (size_t i = 0; i < counts[part]; i++) {
            if (text >= end) return 0;
            starts[part][i] = text;
            text += strlen(text) + 1;
        }
        if (part) starts[part][counts[part]] = NULL;
    }
    return text == end;
}

// The next order of our runner; whether there is one.
static int read_order(int descriptor, struct order *order) {
    char *data = inline_order;
    if (!read_all(descriptor, data, ORDER_HEADER_BYTES)) return 0;
    size_t size = load_uint(data, 4);
    if (size < ORDER_HEADER_BYTES) return 0;
    if (size > sizeof inline_order) {
        struct stat status;
        if (fstat(0, &status) || (uint64_t)status.st_size < size) return 0;
        data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0, 0);
        if (data == MAP_FAILED) return 0;
    } else if (!read_all(descriptor, data + ORDER_HEADER_BYTES, size - ORDER_HEADER_BYTES)) {
        return 0;
    }
    return parse_order(order, data, size);
}

static const char *find_variable(const struct order *order, const char *name) {
    size_t size = strlen(name);
    for (char **variable = order->environment; *variable; variable++)
        if (!strncmp(*variable, name, size) && (*variable)[size] == '=') return *variable + size + 1;
    return NULL;
}

// Whether every shell would hand on each variable as it is, but for PWD.
static int has_plain_environment(const struct order *order) {
    static const char own_names[][16] = {"IFS", "OPTIND", "OPTERR", "PPID", "UID", "EUID", "LINENO", "RANDOM", "SECONDS",
                                         "SHELLOPTS", "BASHOPTS", "BASH_ENV", "POSIXLY_CORRECT"};
    for (char **variable = order->environment; *variable; variable++) {
        const char *end = *variable;
        while (*end == '_' || (*end | 32) - 'a' + 0u < 26 || (end > *variable && *end - '0' + 0u < 10)) end++;
        if (end == *variable || *end != '=') return 0;
    }
    for (size_t i = 0; i < sizeof own_names / sizeof *own_names; i++)
        if (find_variable(order, own_names[i])) return 0;
    return 1;
}

// PWD as a shell sets it: what it was, where that is the directory we are in.
static int set_pwd(struct order *order) {
    static char pwd[PATH_MAX + 4];
    struct stat here, there;
    const char *known = find_variable(order, "PWD");
    if (known && *known == '/' && !stat(".", &here) && !stat(known, &there) && here.st_dev == there.st_dev &&
        here.st_ino == there.st_ino)
        return 1;
    memcpy(pwd, "PWD=", 4);
    if (!getcwd(pwd + 4, PATH_MAX)) return 0;
    char **place = order->environment;
    while (*place && strncmp(*place, "PWD=", 4)) place++;
    if (!*place) place[1] = NULL;
    *place = pwd;
    return 1;
}

// Execute the words themselves; comes back where that is not possible, and a shell has to say why.
static void exec_words(struct order *order) {
    static char path[PATH_MAX];
    char *program = order->words[0];
    if (!program || !has_plain_environment(order) || !set_pwd(order)) return;
    if (strchr(program, '/')) {
        execve(program, order->words, order->environment);
        return;
    }
    const char *folders = find_variable(order, "PATH");
    if (!folders || strchr(folders, '%')) return; // which shells understand in their own ways
    struct view rest = {folders, strlen(folders)};
    while (rest.size) {
        struct view folder = split_at(&rest, ':');
        if (!folder.size || *folder.data != '/' || folder.size + strlen(program) + 2 > sizeof path) return;
        memcpy(path, folder.data, folder.size);
        path[folder.size] = '/';
        memcpy(path + folder.size + 1, program, strlen(program) + 1);
        execve(path, order->words, order->environment);
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return;
    }
}

// Run in the hook's own process, which may share our memory until it is another program; its problem is told in that.
static _Noreturn void exec_hook(struct order *order, const int *descriptors, volatile int *problem) {
    char *shell[] = {"/bin/sh", "-c", order->fields[COMMAND], NULL};
    for (int number = 0; number < 3; number++)
        if (descriptors[number] >= 0) dup2(descriptors[number], number);
    setsid();
    signal(SIGPIPE, SIG_DFL);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_DFL); // our runner is Python, which ignores it
#endif
    if (*order->fields[UMASK]) umask((mode_t)strtoul(order->fields[UMASK], NULL, 8));
    if (!*order->fields[DIRECTORY] || !chdir(order->fields[DIRECTORY])) {
        exec_words(order);
        execve(shell[0], shell, order->environment);
    }
    *problem = errno;
    _exit(127);
}
