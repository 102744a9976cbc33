// The conversation with the daemon: one frame there, at most two replies back.

#define REPLY_HEAD 18
#define REPLY_MOST (64u << 20)

enum { ACK = 1, ANSWER = 2, GO_COLD = 3 };

struct reply {
    int kind, code;
    int64_t deadline;
    size_t out, err, size; // of its two texts, and of all of it; 0 while it is not whole
};

static struct reply reply_at(const char *at, size_t size) {
    struct reply found = {0};
    if (size) found.kind = (unsigned char)at[0];
    if (size < REPLY_HEAD) return found;
    found.deadline = (int64_t)number_at(at + 1, 8);
    found.code = (unsigned char)at[9];
    found.out = (size_t)number_at(at + 10, 4);
    found.err = (size_t)number_at(at + 14, 4);
    if (found.out > REPLY_MOST || found.err > REPLY_MOST) found.kind = GO_COLD;
    else if (found.out + found.err <= size - REPLY_HEAD) found.size = REPLY_HEAD + found.out + found.err;
    return found;
}

static _Noreturn void deliver(const struct reply *reply, const char *at) {
    say(1, at + REPLY_HEAD, reply->out);
    say(2, at + REPLY_HEAD + reply->out, reply->err);
    _exit(reply->code);
}

// What was heard so far: an answer is delivered, an ACK kept. Whether it makes sense to listen on.
static int take(const struct bytes *heard, struct reply *ack) {
    for (;;) {
        const char *at = heard->at + ack->size;
        size_t size = heard->size - ack->size;
        if (!size) return 1;
        struct reply found = reply_at(at, size);
        if (found.kind != ANSWER && (found.kind != ACK || ack->size)) return 0;
        if (!found.size) return 1;
        if (found.kind == ANSWER) deliver(&found, at);
        *ack = found;
    }
}

// How much of the frame has left in all. Who does not listen any more may still have answered.
static size_t send_on(int line, const struct bytes *frame, size_t sent) {
    ssize_t size = send(line, frame->at + sent, frame->size - sent, 0);
    if (size >= 0) return sent + (size_t)size;
    return errno == EAGAIN || errno == EINTR ? sent : frame->size;
}

static int hear_on(int line, struct bytes *heard) {
    need(heard, 1 << 12);
    ssize_t size = recv(line, heard->at + heard->size, heard->room - heard->size, 0);
    if (size > 0) heard->size += (size_t)size;
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
}

static int milliseconds_to(int64_t end) {
    int64_t left = (end - now() + 999999) / 1000000;
    return left < 0 ? 0 : left > 1000 ? 1000 : (int)left; // not long at once, because poll's clock stops in suspend
}

// Returns if the daemon does not answer and Python has to.
static void converse(int line, const struct bytes *frame) {
    static char first[1 << 16];
    struct bytes heard = {first, 0, sizeof first, 1};
    struct reply ack = {0};
    size_t sent = 0;
    int64_t end = 0;
    do {
        size_t before = sent;
        if (sent < frame->size) sent = send_on(line, frame, sent);
        if (ack.size) end = ack.deadline;
        else if (sent != before || !end) end = now() + HURRY * INT64_C(1000000);
        struct pollfd ready = {line, (short)(sent < frame->size ? POLLIN | POLLOUT : POLLIN), 0};
        if (poll(&ready, 1, milliseconds_to(end)) <= 0) {
            if (now() < end) continue;
            if (ack.size) deliver(&ack, heard.at);
            return;
        }
        if (ready.revents != POLLOUT && !hear_on(line, &heard)) return;
    } while (take(&heard, &ack));
}

static void ask(const struct bytes *frame) {
    int line = reach();
    if (line < 0) return;
    converse(line, frame);
    close(line);
}
