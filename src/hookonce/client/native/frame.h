// The frame: everything that is known of a call, in one piece.

#define FRAME_HEADER_BYTES 8
#define DEFAULT_TIMEOUT_S 14
#define STDIN_IDLE_MS 2000 // without a byte after which a whole payload is taken for all of it

static mode_t caller_umask; // the caller's, which our own files must not obey
static char call_id[37];    // a UUID of version 7, by which everybody knows the call

static size_t begin_field(struct bytes *frame) {
    append(frame, "\0\0\0\0", 4);
    return frame->size;
}

static void end_field(struct bytes *frame, size_t begin) {
    store_u32(frame->data + begin - 4, (uint32_t)(frame->size - begin));
}

static void put_field(struct bytes *frame, const char *data, size_t size) {
    size_t begin = begin_field(frame);
    append(frame, data, size);
    end_field(frame, begin);
}

static void put_strings(struct bytes *frame, char **arguments) {
    size_t begin = begin_field(frame);
    for (; *arguments; arguments++) append(frame, *arguments, strlen(*arguments) + 1);
    end_field(frame, begin);
}

static void fill_random(unsigned char *to, size_t size) {
#ifdef __linux__
    if (getrandom(to, size, 0) == (ssize_t)size) return;
#endif
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (source < 0 || read(source, to, size) != (ssize_t)size) fail_mode_exit(); // two calls of one name would be one
    close(source);
}

static void put_id(struct bytes *frame) {
    unsigned char id[16];
    char *to = call_id;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t milliseconds = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
    fill_random(id, sizeof id);
    for (int i = 0; i < 6; i++) id[i] = (unsigned char)(milliseconds >> (40 - 8 * i));
    id[6] = 0x70 | (id[6] & 0x0F);
    id[8] = 0x80 | (id[8] & 0x3F);
    for (int i = 0; i < 16; i++) to += sprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", id[i]);
    put_field(frame, call_id, sizeof call_id - 1);
}

// Whether a document can have ended here: every bracket and every string is closed. What is in it others find out.
static int is_complete_json(const char *data, size_t size) {
    long depth = 0;
    int is_quoted = 0, has_begun = 0;
    for (size_t i = 0; i < size; i++) {
        char byte = data[i];
        if (is_quoted && byte == '\\') i++;
        else if (byte == '"') is_quoted = !is_quoted;
        else if (!is_quoted) depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
        if (!strchr(" \t\r\n", byte)) has_begun = 1;
    }
    return has_begun && !is_quoted && depth <= 0;
}

// When it is too late for an answer: what the entry says that the agent waits, less half a second or a tenth; where it
// says nothing, earlier than any agent stops waiting at an event that can be refused.
static int64_t reply_deadline_ns(char **argv) {
    double seconds = 0;
    for (; *argv; argv++)
        if (!strcmp(*argv, "--timeout") && argv[1]) seconds = strtod(argv[1], NULL);
    if (!(seconds > 0 && seconds < 1e6)) seconds = DEFAULT_TIMEOUT_S;
    return now_ns() + (int64_t)((seconds - (seconds > 5 ? seconds / 10 : 0.5)) * 1e9);
}

// All that comes on stdin; some agents never close it, so a whole document and then nothing is the end too.
static void put_payload(struct bytes *frame, int64_t end) {
    size_t begin = begin_field(frame);
    while (!stdin_ended) {
        reserve(frame, 1 << 16);
        int64_t remaining_ms = (end - now_ns()) / 1000000;
        int wait = remaining_ms < 0 ? 0 : remaining_ms < STDIN_IDLE_MS ? (int)remaining_ms + 1 : STDIN_IDLE_MS;
        int ready = poll(&(struct pollfd){0, POLLIN, 0}, 1, wait);
        if (!ready && now_ns() >= end) fail_mode_exit(); // a refusal after the agent has given up is none
        if (!ready && wait == STDIN_IDLE_MS && is_complete_json(frame->data + begin, frame->size - begin)) break;
        if (ready <= 0) continue;
        ssize_t size = read(0, frame->data + frame->size, frame->capacity - frame->size);
        if (size > 0) frame->size += (size_t)size;
        else if (!size || (errno != EINTR && errno != EAGAIN)) stdin_ended = 1;
    }
    end_field(frame, begin);
}

// In which mounts and among which processes the caller lives.
static void put_namespaces(struct bytes *frame) {
    char text[128];
    ssize_t mounts = readlink("/proc/self/ns/mnt", text, 63), processes = -1;
    if (mounts > 0) {
        text[mounts] = ' ';
        processes = readlink("/proc/self/ns/pid", text + mounts + 1, 63);
    }
    put_field(frame, text, processes > 0 ? (size_t)(mounts + 1 + processes) : 0);
}

// Who called us; numbers of processes are used again, so the time of its start belongs to it.
static void put_parent(struct bytes *frame) {
    char text[1024], path[32], parent[64];
    int parent_size = snprintf(parent, sizeof parent, "%d ", (int)getppid());
    snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
    read_text(path, text, sizeof text);
    char *data = strrchr(text, ')'); // a program's name may hold anything, brackets and spaces too
    for (int field = 2; data && field < 22; field++) data = strchr(data + 1, ' ');
    size_t digits = data ? strspn(data + 1, "0123456789") : 0;
    if (digits && digits < 24) memcpy(parent + parent_size, data + 1, digits);
    put_field(frame, parent, digits && digits < 24 ? (size_t)parent_size + digits : 0);
}

static struct bytes build_frame(char **argv) {
    static char first[1 << 17];
    char folder[PATH_MAX], text[16];
    struct bytes frame = {first, 0, sizeof first, 1};
    caller_umask = umask(077);
    append(&frame, FRAME_MAGIC "\0\0\0", FRAME_HEADER_BYTES);
    put_field(&frame, WIRE_VERSION, strlen(WIRE_VERSION));
    put_field(&frame, build, strlen(build));
    put_id(&frame);
    put_strings(&frame, *argv ? argv + 1 : argv);
    put_strings(&frame, environ);
    find_cwd(folder, sizeof folder);
    put_field(&frame, folder, strlen(folder));
    put_field(&frame, text, (size_t)snprintf(text, sizeof text, "%u", (unsigned)caller_umask));
    put_payload(&frame, reply_deadline_ns(argv));
    put_namespaces(&frame);
    put_parent(&frame);
    store_u32(frame.data + 4, (uint32_t)(frame.size - FRAME_HEADER_BYTES));
    return frame;
}
