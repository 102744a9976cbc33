// The last word: what the agent hears when there is neither a daemon nor an interpreter that answers.

#define COUNTED 9999 // calls without an answer, after which nobody counts on

static const char *agent, *event;
static int heard_all;      // whether stdin has ended
static char bin[PATH_MAX]; // the directory in which we lie; a file in it names the following
static char python[PATH_MAX], build[256], shelf[PATH_MAX]; // the interpreter, our build, where the package lies

static int path_in(char *to, size_t room, const char *folder, const char *name) {
    int size = snprintf(to, room, "%s/%s", folder, name);
    return size > 0 && (size_t)size < room;
}

static struct view beside(const char *name) {
    char path[PATH_MAX];
    return bin[0] && path_in(path, sizeof path, bin, name) ? view_of(path) : (struct view){NULL, 0};
}

static void keep(char *to, size_t room, struct view text) {
    if (text.size >= room) return;
    if (text.size) memcpy(to, text.at, text.size);
    to[text.size] = 0;
}

// Where we lie. A bare word would have to be looked up, and the current directory is not where to look.
static void find_install(const char *called) {
    ssize_t size = readlink("/proc/self/exe", bin, sizeof bin - 1);
    if (size > 0) bin[size] = 0;
    else if (!called || !strchr(called, '/') || !realpath(called, bin)) bin[0] = 0;
    char *name = strrchr(bin, '/');
    if (!name) return;
    *name = 0;
    struct view rest = beside("interpreter");
    keep(python, sizeof python, cut(&rest, '\n'));
    keep(build, sizeof build, cut(&rest, '\n'));
    keep(shelf, sizeof shelf, cut(&rest, '\n'));
}

static int has_python(void) {
    struct stat is;
    return python[0] == '/' && shelf[0] == '/' && !stat(python, &is) && S_ISREG(is.st_mode) && !access(python, X_OK);
}

// An agent that is still writing must not run into a closed pipe.
static void drain(void) {
    static char waste[1 << 16];
    if (heard_all || isatty(0) || fork()) return;
    alarm(600);
    int nothing = open("/dev/null", O_RDWR), kept[] = {0, nothing, nothing};
    if (nothing < 0 || lay_out(3, kept)) _exit(0);
    while (poll(&(struct pollfd){0, POLLIN, 0}, 1, -1) < 0 || read(0, waste, sizeof waste) > 0) continue;
    _exit(0);
}

// The next byte in the words of printf %b, as the file has them: itself, or \0 and three octal digits.
static char printed(struct view *text) {
    int is_escaped = text->size > 4 && !memcmp(text->at, "\\0", 2), byte = 0;
    size_t size = is_escaped ? 5 : 1;
    for (size_t i = 2; i < size; i++) byte = byte * 8 + text->at[i] - '0';
    if (!is_escaped) byte = *text->at;
    *text = (struct view){text->at + size, text->size - size};
    return (char)byte;
}

static void say_printed(int descriptor, struct view text) {
    static char said[1 << 16];
    size_t size = 0;
    while (text.size) {
        said[size++] = printed(&text);
        if (size == sizeof said) {
            say(descriptor, said, size);
            size = 0;
        }
    }
    say(descriptor, said, size);
}

static int silence(void) {
    static const char *const speaking[] = {"amp", "cursor", "opencode"}; // for whom saying nothing is a mistake
    for (size_t i = 0; i < sizeof speaking / sizeof *speaking; i++)
        if (!strcmp(agent, speaking[i])) say(1, "{}\n", 3);
    return 0;
}

static int refusal(void) {
    struct view rest = beside("failmode.bin");
    while (rest.size && rest.at[rest.size - 1] != '\n') rest.size--; // half a line is none
    while (rest.size) {
        struct view line = cut(&rest, '\n'), named = cut(&line, '|'), at = cut(&line, '|'), code = cut(&line, '|');
        if (!is_word(named, agent) || !is_word(at, event)) continue;
        if (code.size != 1 || *code.at < '0' || *code.at > '9') break;
        say_printed(1, cut(&line, '|'));
        say_printed(2, line);
        return *code.at - '0';
    }
    return silence();
}

// One mark for each call that nobody has answered, in a file that does not grow for ever; Python tells how many.
static void count(void) {
    char path[PATH_MAX];
    struct stat is;
    if (python[0] != '/' || !path_in(path, sizeof path, bin, "unanswered")) return; // never installed
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (!fstat(file, &is) && S_ISREG(is.st_mode) && is.st_uid == getuid() && is.st_size < COUNTED) say(file, ".", 1);
    close(file);
}

static _Noreturn void fail(void) {
    count();
    drain();
    _exit(refusal());
}
