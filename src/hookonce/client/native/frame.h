// The frame: everything that is known of a call, in one piece.

#define FRAME_HEADER_BYTES 8
#define DEFAULT_TIMEOUT_S 14
#define FIRST_REPLY_MS 500 // in which a daemon has to take a call: in a crowd that is sooner than an interpreter starts
#define STDIN_IDLE_MS 2000 // without a byte after which a whole payload is taken for all of it

static mode_t caller_umask; // the caller's, which our own files must not obey
static int64_t reply_budget_ns, first_reply_ns; // for an answer; for the first word, a tenth of that if it is less
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
    static const char digits[] = "0123456789abcdef";
    unsigned char id[16];
    char *to = call_id;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t milliseconds = (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
    fill_random(id, sizeof id);
    for (int i = 0; i < 6; i++) id[i] = (unsigned char)(milliseconds >> (40 - 8 * i));
    id[6] = 0x70 | (id[6] & 0x0F);
    id[8] = 0x80 | (id[8] & 0x3F);
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
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

// A number of seconds such as 7 or 0.25; 0 where it is none.
static double parse_seconds(const char *text) {
    double seconds = 0, unit = 1;
    for (; *text >= '0' && *text <= '9'; text++) seconds = seconds * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++) seconds += (*text - '0') * (unit /= 10);
    return *text ? 0 : seconds;
}

// The time for an answer: what the entry says that the agent waits, less half a second or a tenth; where it says
// nothing, less than any agent waits at an event that can be refused.
static void find_reply_budget(char **argv) {
    double seconds = 0;
    for (; *argv; argv++)
        if (!strcmp(*argv, "--timeout") && argv[1]) seconds = parse_seconds(argv[1]);
    if (!(seconds > 0 && seconds < 1e6)) seconds = DEFAULT_TIMEOUT_S;
    reply_budget_ns = (int64_t)((seconds - (seconds > 5 ? seconds / 10 : 0.5)) * 1e9);
    first_reply_ns = reply_budget_ns > 0 ? reply_budget_ns / 10 : 0;
    if (first_reply_ns > FIRST_REPLY_MS * INT64_C(1000000)) first_reply_ns = FIRST_REPLY_MS * INT64_C(1000000);
}

// All that comes on stdin; some agents never close it, so a whole document and then nothing is the end too.
static void put_payload(struct bytes *frame, int64_t end) {
    size_t begin = begin_field(frame);
    while (!stdin_ended) {
        reserve(frame, 1 << 16);
        int64_t remaining_ms = (end - now_ns()) / 1000000;
        int wait = remaining_ms < 0 ? 0 : remaining_ms < STDIN_IDLE_MS ? (int)remaining_ms + 1 : STDIN_IDLE_MS;
        struct pollfd input = {0, POLLIN, 0};
        int ready = poll(&input, 1, wait);
        if (!ready && now_ns() >= end) fail_mode_exit(); // a refusal after the agent has given up is none
        if (!ready && wait == STDIN_IDLE_MS && is_complete_json(frame->data + begin, frame->size - begin)) break;
        if (ready <= 0) continue;
        size_t room = frame->capacity - frame->size;
        ssize_t size = read(0, frame->data + frame->size, room);
        // A pipe that nobody can write to any more has given all that it has if it gives less than is asked for.
        int is_last = size > 0 ? (size_t)size < room && input.revents & POLLHUP : !size || (errno != EINTR && errno != EAGAIN);
        if (size > 0) frame->size += (size_t)size;
        if (is_last) stdin_ended = 1;
    }
    end_field(frame, begin);
}

static struct bytes build_frame(char **argv) {
    char text[16];
    struct bytes frame = {memory + memory_size, 0, sizeof memory - memory_size, 1};
    caller_umask = umask(077);
    append(&frame, FRAME_MAGIC "\0\0\0", FRAME_HEADER_BYTES);
    put_field(&frame, WIRE_VERSION, strlen(WIRE_VERSION));
    put_field(&frame, build, strlen(build));
    put_id(&frame);
    put_strings(&frame, *argv ? argv + 1 : argv);
    put_strings(&frame, environ);
    size_t begin = begin_field(&frame);
    reserve(&frame, PATH_MAX);
    find_cwd(frame.data + begin, PATH_MAX);
    frame.size += strlen(frame.data + begin);
    end_field(&frame, begin);
    put_field(&frame, text, (size_t)snprintf(text, sizeof text, "%u", (unsigned)caller_umask));
    put_payload(&frame, now_ns() + reply_budget_ns);
    // Who called us; the daemon looks at it before its answer, with which a shell may end.
    put_field(&frame, text, (size_t)snprintf(text, sizeof text, "%d", (int)getppid()));
    store_u32(frame.data + 4, (uint32_t)(frame.size - FRAME_HEADER_BYTES));
    if (frame.is_static) memory_size += frame.size;
    return frame;
}
