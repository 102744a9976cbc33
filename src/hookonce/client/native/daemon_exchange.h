// Exchange with the daemon: one frame there, at most three replies back. BEGIN says that hooks run for this call: from
// then on nobody may run them again.

#define REPLY_HEADER_BYTES 18
#define MAX_REPLY_TEXT_BYTES (64u << 20)

enum { ACK = 1, ANSWER = 2, GO_COLD = 3, BEGIN = 4 };

struct reply {
    int kind, code;
    int64_t deadline;
    size_t out, err, size; // of its two texts, and of all of it; 0 while it is not whole
};

static struct reply parse_reply(const char *data, size_t size) {
    struct reply reply = {0};
    if (size) reply.kind = (unsigned char)data[0];
    if (size < REPLY_HEADER_BYTES) return reply;
    reply.deadline = (int64_t)load_uint(data + 1, 8);
    reply.code = (unsigned char)data[9];
    reply.out = (size_t)load_uint(data + 10, 4);
    reply.err = (size_t)load_uint(data + 14, 4);
    if (reply.out > MAX_REPLY_TEXT_BYTES || reply.err > MAX_REPLY_TEXT_BYTES) reply.kind = GO_COLD;
    else if (reply.out + reply.err <= size - REPLY_HEADER_BYTES)
        reply.size = REPLY_HEADER_BYTES + reply.out + reply.err;
    return reply;
}

static _Noreturn void deliver(const struct reply *reply, const char *data) {
    struct view out = {data + REPLY_HEADER_BYTES, reply->out};
    int is_lost = write_all(1, out.data, out.size) && !reply->code && !equals(out, silence_of_agent());
    write_all(2, out.data + out.size, reply->err);
    _exit(is_lost ? block_call(UNWRITTEN_REASON) : reply->code);
}

struct exchange {
    int connection, has_begun;
    struct bytes input;
    size_t parsed_bytes;
    struct reply ack;
};

// What was heard so far: an answer is delivered, an ACK kept. Whether it makes sense to listen on.
static int take_replies(struct exchange *exchange) {
    for (;;) {
        const char *data = exchange->input.data + exchange->parsed_bytes;
        size_t size = exchange->input.size - exchange->parsed_bytes;
        if (!size) return 1;
        struct reply reply = parse_reply(data, size);
        int is_expected = reply.kind == ANSWER || (reply.kind == ACK && !exchange->ack.size) ||
                          (reply.kind == BEGIN && exchange->ack.size && !exchange->has_begun);
        if (!is_expected) return 0;
        if (!reply.size) return 1;
        if (reply.kind == ANSWER) deliver(&reply, data);
        if (reply.kind == ACK) exchange->ack = reply; // the first of all replies, so its texts follow it
        else exchange->has_begun = 1;
        exchange->parsed_bytes += reply.size;
    }
}

// How much of the frame has left in all. Who does not listen any more may still have answered.
static size_t send_more(int connection, const struct bytes *frame, size_t sent_bytes) {
    ssize_t size = send(connection, frame->data + sent_bytes, frame->size - sent_bytes, 0);
    if (size >= 0) return sent_bytes + (size_t)size;
    return errno == EAGAIN || errno == EINTR ? sent_bytes : frame->size;
}

static int receive_more(int connection, struct bytes *input) {
    reserve(input, 1 << 12);
    ssize_t size = recv(connection, input->data + input->size, input->capacity - input->size, 0);
    if (size > 0) input->size += (size_t)size;
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

// From here on the daemon cannot say anything more, so that what it has said is all: BEGIN, which is said before any hook
// runs, and the answer, which it saves for us only if it could not be said.
static void stop_listening(struct exchange *exchange) {
    if (shutdown(exchange->connection, SHUT_RD)) return;
    while (receive_more(exchange->connection, &exchange->input) && take_replies(exchange)) continue;
}

// Who answers now must not run the hooks that have begun: they are the daemon's, which may yet save their answer.
static void leave_claim(const struct exchange *exchange) {
    char folder[PATH_MAX], name[64], claim[80];
    if (path_in(folder, sizeof folder, runtime_dir, "calls")) mkdir(folder, 0700);
    snprintf(name, sizeof name, "calls/%s", call_id);
    int size = snprintf(claim, sizeof claim, "{\"done\":false,\"pid\":%d,\"keeps_results\":true}", (int)daemon_pid);
    int file = open_runtime_file(name, O_EXCL);
    int is_claimed = file >= 0 ? !write_all(file, claim, (size_t)size) : errno == EEXIST;
    if (!is_claimed) deliver(&exchange->ack, exchange->input.data);
    if (file >= 0) close(file);
}

static int milliseconds_between(int64_t now, int64_t end) {
    int64_t remaining_ms = (end - now + 999999) / 1000000;
    if (remaining_ms < 0) return 0;
    return remaining_ms > 1000 ? 1000 : (int)remaining_ms; // not long at once, because poll's clock stops in suspend
}

// Returns if the daemon does not answer and Python has to.
static void await_answer(struct exchange *exchange, const struct bytes *frame) {
    size_t sent_bytes = 0;
    int64_t end = 0;
    do {
        size_t before = sent_bytes;
        if (sent_bytes < frame->size) sent_bytes = send_more(exchange->connection, frame, sent_bytes);
        int64_t now = now_ns();
        if (exchange->ack.size) end = exchange->ack.deadline;
        else if (sent_bytes != before || !end) end = now + first_reply_ns;
        struct pollfd ready = {exchange->connection, (short)(sent_bytes < frame->size ? POLLIN | POLLOUT : POLLIN), 0};
        if (poll(&ready, 1, milliseconds_between(now, end)) <= 0) {
            if (now_ns() < end) continue;
            if (exchange->ack.size) deliver(&exchange->ack, exchange->input.data);
            return;
        }
        if (ready.revents != POLLOUT && !receive_more(exchange->connection, &exchange->input)) return;
    } while (take_replies(exchange));
}

static void ask_daemon(const struct bytes *frame) {
    struct exchange exchange = {.connection = connect_or_start()};
    if (exchange.connection < 0) return;
    exchange.input = (struct bytes){memory + memory_size, 0, sizeof memory - memory_size, 1};
    await_answer(&exchange, frame);
    stop_listening(&exchange);
    if (exchange.has_begun) leave_claim(&exchange);
    close(exchange.connection);
}
