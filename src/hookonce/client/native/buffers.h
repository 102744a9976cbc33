// Bytes: buffers that grow, views of files, and how both are read and written.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#endif

extern char **environ;

#define MOST (1u << 30) // no buffer grows beyond this, so lengths always fit their fields

struct bytes {
    char *at;
    size_t size, room;
    int is_fixed; // begins in memory that was there anyway
};

struct view {
    const char *at;
    size_t size;
};

static _Noreturn void fail(void);

static void need(struct bytes *buffer, size_t more) {
    size_t room = buffer->room ? buffer->room : 4096;
    while (room - buffer->size < more && room < MOST) room *= 2;
    if (room == buffer->room) {
        if (room - buffer->size >= more) return;
        fail();
    }
    char *grown = realloc(buffer->is_fixed ? NULL : buffer->at, room);
    if (!grown || room - buffer->size < more) fail();
    if (buffer->is_fixed) memcpy(grown, buffer->at, buffer->size);
    *buffer = (struct bytes){grown, buffer->size, room, 0};
}

static void put(struct bytes *buffer, const void *data, size_t size) {
    need(buffer, size);
    if (size) memcpy(buffer->at + buffer->size, data, size);
    buffer->size += size;
}

static void put_number(char *to, uint32_t number) {
    for (int i = 0; i < 4; i++) to[i] = (char)(number >> 8 * i);
}

static uint64_t number_at(const char *from, int size) {
    uint64_t number = 0;
    while (size--) number = number << 8 | (unsigned char)from[size];
    return number;
}

// A whole file; no memory is asked for, because this is also needed when there is none.
static struct view view_of(const char *path) {
    struct view found = {NULL, 0};
    struct stat is;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file >= 0 && !fstat(file, &is) && S_ISREG(is.st_mode) && is.st_size > 0) {
        void *at = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (at != MAP_FAILED) found = (struct view){at, (size_t)is.st_size};
    }
    if (file >= 0) close(file);
    return found;
}

// What stands before a mark, or all; the rest begins after the mark.
static struct view cut(struct view *rest, char mark) {
    const char *end = rest->size ? memchr(rest->at, mark, rest->size) : NULL;
    struct view found = {rest->at, end ? (size_t)(end - rest->at) : rest->size};
    size_t gone = found.size + (end != NULL);
    if (gone) *rest = (struct view){rest->at + gone, rest->size - gone};
    return found;
}

static int is_word(struct view text, const char *word) {
    return text.size == strlen(word) && (!text.size || !memcmp(text.at, word, text.size));
}

// Whoever does not listen does not hear it.
static int say(int descriptor, const char *data, size_t size) {
    while (size) {
        ssize_t gone = write(descriptor, data, size);
        if (gone >= 0) {
            data += gone;
            size -= (size_t)gone;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){descriptor, POLLOUT, 0}, 1, -1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

static void nap(int milliseconds) {
    poll(NULL, 0, milliseconds);
}

// Nanoseconds on the clock that the daemon's deadlines are on; it goes on while the machine sleeps.
static int64_t now(void) {
    struct timespec time;
#ifdef CLOCK_BOOTTIME
    if (clock_gettime(CLOCK_BOOTTIME, &time))
#endif
        clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void close_from(int first) {
#ifdef __linux__
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
    if (!syscall(SYS_close_range, (unsigned)first, ~0u, 0)) return;
#endif
    long most = sysconf(_SC_OPEN_MAX);
    for (int number = first; number < (most > 0 && most < 65536 ? most : 65536); number++) close(number);
}

// Give a new process exactly these descriptors, numbered from 0. The detour keeps them from overwriting each other.
static int lay_out(int count, int *descriptors) {
    for (int i = 0; i < count; i++)
        if ((descriptors[i] = fcntl(descriptors[i], F_DUPFD, count)) < 0) return -1;
    for (int i = 0; i < count; i++)
        if (dup2(descriptors[i], i) < 0) return -1;
    close_from(count);
    return 0;
}
