// Buffers that grow, views of files, and how both are read and written.

#ifdef HOOKONCE_FREESTANDING
#pragma GCC visibility push(hidden) // all is found without a table of addresses, which would have to be relocated first
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
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
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#endif

extern char **environ;

#ifdef HOOKONCE_FREESTANDING
#include "freestanding.h"
#endif

#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK)
#define MAX_BUFFER_BYTES (1u << 30) // no buffer grows beyond this, so lengths always fit their fields

struct bytes {
    char *data;
    size_t size, capacity;
    int is_static; // begins in memory that was there anyway
};

struct view {
    const char *data;
    size_t size;
};

static _Noreturn void fail_mode_exit(void);

static void reserve(struct bytes *buffer, size_t more) {
    size_t capacity = buffer->capacity ? buffer->capacity : 4096;
    while (capacity - buffer->size < more && capacity < MAX_BUFFER_BYTES) capacity *= 2;
    if (capacity == buffer->capacity) {
        if (capacity - buffer->size >= more) return;
        fail_mode_exit();
    }
    char *grown = realloc(buffer->is_static ? NULL : buffer->data, capacity);
    if (!grown || capacity - buffer->size < more) fail_mode_exit();
    if (buffer->is_static) memcpy(grown, buffer->data, buffer->size);
    *buffer = (struct bytes){grown, buffer->size, capacity, 0};
}

static void append(struct bytes *buffer, const void *data, size_t size) {
    reserve(buffer, size);
    if (size) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

static void store_u32(char *to, uint32_t number) {
    for (int i = 0; i < 4; i++) to[i] = (char)(number >> 8 * i);
}

static uint64_t load_uint(const char *from, int size) {
    uint64_t number = 0;
    while (size--) number = number << 8 | (unsigned char)from[size];
    return number;
}

// A whole file; no memory is asked for, because this is also needed when there is none. Where nothing was mapped, errno
// says why; it is 0 for a file that is missing or empty.
static struct view map_file(const char *path) {
    struct view view = {NULL, 0};
    struct stat status;
    int file = open(path, READ_FLAGS), problem = 0;
    if (file < 0 || fstat(file, &status)) {
        problem = errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    } else if (!S_ISREG(status.st_mode)) {
        problem = EINVAL;
    } else if (status.st_size > 0) {
        void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data == MAP_FAILED) problem = errno;
        else view = (struct view){data, (size_t)status.st_size};
    }
    if (file >= 0) close(file);
    errno = problem;
    return view;
}

// The beginning of a file as text, "" where it cannot be read; its size. The file is closed, if there is one.
static size_t take_text(int file, char *text, size_t capacity) {
    ssize_t size = file >= 0 ? read(file, text, capacity - 1) : -1;
    if (file >= 0) close(file);
    text[size > 0 ? size : 0] = 0;
    return size > 0 ? (size_t)size : 0;
}

static size_t read_text(const char *path, char *text, size_t capacity) {
    return take_text(open(path, READ_FLAGS), text, capacity);
}

// What stands before a mark, or all; the rest begins after the mark.
static struct view split_at(struct view *rest, char mark) {
    const char *end = rest->size ? memchr(rest->data, mark, rest->size) : NULL;
    struct view view = {rest->data, end ? (size_t)(end - rest->data) : rest->size};
    size_t consumed = view.size + (end != NULL);
    if (consumed) *rest = (struct view){rest->data + consumed, rest->size - consumed};
    return view;
}

static int equals(struct view text, const char *word) {
    return text.size == strlen(word) && (!text.size || !memcmp(text.data, word, text.size));
}

// Whoever does not listen does not hear it.
static int write_all(int descriptor, const char *data, size_t size) {
    while (size) {
        ssize_t written = write(descriptor, data, size);
        if (written >= 0) {
            data += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){descriptor, POLLOUT, 0}, 1, -1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

static void sleep_ms(int milliseconds) {
    poll(NULL, 0, milliseconds);
}

// Nanoseconds on the clock that the daemon's deadlines are on; it goes on while the machine sleeps.
static int64_t now_ns(void) {
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
    long max_fds = sysconf(_SC_OPEN_MAX);
    for (int number = first; number < (max_fds > 0 && max_fds < 65536 ? max_fds : 65536); number++) close(number);
}

// Give a new process exactly these descriptors, numbered from 0. The detour keeps them from overwriting each other.
static int set_descriptors(int count, int *descriptors) {
    for (int i = 0; i < count; i++)
        if ((descriptors[i] = fcntl(descriptors[i], F_DUPFD, count)) < 0) return -1;
    for (int i = 0; i < count; i++)
        if (dup2(descriptors[i], i) < 0) return -1;
    close_from(count);
    return 0;
}
