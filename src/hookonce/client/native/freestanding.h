// C library of a client that is linked with none: its start, and the system calls that it makes.
//
// Most of what a static C library does before main is for programs that are larger than ours (locales, threads, the
// choice of string functions), and costs more than all that a warm call does after it. The types, constants and
// prototypes are those of the library's headers; what is declared there and called here is defined below and in
// freestanding_text.h, once, for every build of the same sources (ADR 0053).

#include <link.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#if defined __x86_64__
#define RELATIVE_RELOCATION R_X86_64_RELATIVE
__asm__(".text\n.globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start_program\n\thlt\n");
__asm__(".globl return_from_signal\nreturn_from_signal:\n\tmov $15, %eax\n\tsyscall\n"); // rt_sigreturn
// A child that shares our stack must not overwrite our return address.
__asm__(".globl vfork\nvfork:\n\tpop %rdx\n\tmov $58, %eax\n\tsyscall\n\tpush %rdx\n\tmov %rax, %rdi\n\tjmp check_result\n");

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return number;
}
#elif defined __aarch64__
#define RELATIVE_RELOCATION R_AARCH64_RELATIVE
__asm__(".text\n.globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tb start_program\n");
// clone with CLONE_VM | CLONE_VFORK | SIGCHLD; the return address is in a register.
__asm__(".globl vfork\nvfork:\n\tmov x0, #0x4111\n\tmov x1, #0\n\tmov x8, #220\n\tsvc #0\n\tb check_result\n");

static inline long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long call __asm__("x8") = number, first __asm__("x0") = a, second __asm__("x1") = b;
    register long third __asm__("x2") = c, fourth __asm__("x3") = d, fifth __asm__("x4") = e, sixth __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(call), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "memory", "cc");
    return first;
}
#else
#error "the system calls of this machine are not known here; build with a C library"
#endif

#define MAX_LINKS 40 // in one path

static int last_error;

int *__errno_location(void) {
    return &last_error;
}

long check_result(long result) {
    if (result < 0 && result >= -4095) {
        last_error = (int)-result;
        return -1;
    }
    return result;
}

#define FILL_ARGUMENTS(a, b, c, d, e, f, ...) (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)
#define CALL(name, ...) check_result(system_call(SYS_##name, FILL_ARGUMENTS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)))

// Files and folders

#define WITH_ARGUMENT(type, name, last) \
    va_list arguments; \
    va_start(arguments, last); \
    type name = va_arg(arguments, type); \
    va_end(arguments)

int open(const char *path, int flags, ...) {
    WITH_ARGUMENT(unsigned, mode, flags); // what it is without O_CREAT nobody looks at
    return (int)CALL(openat, AT_FDCWD, path, flags, mode);
}

int fcntl(int file, int command, ...) {
    WITH_ARGUMENT(long, argument, command);
    return (int)CALL(fcntl, file, command, argument);
}

ssize_t read(int file, void *to, size_t size) { return CALL(read, file, to, size); }
ssize_t write(int file, const void *from, size_t size) { return CALL(write, file, from, size); }
ssize_t pread(int file, void *to, size_t size, off_t at) { return CALL(pread64, file, to, size, at); }
ssize_t pwrite(int file, const void *from, size_t size, off_t at) { return CALL(pwrite64, file, from, size, at); }
off_t lseek(int file, off_t offset, int whence) { return CALL(lseek, file, offset, whence); }
int ftruncate(int file, off_t size) { return (int)CALL(ftruncate, file, size); }
int close(int file) { return (int)CALL(close, file); }
int dup2(int file, int number) { return file == number ? fcntl(file, F_GETFD) < 0 ? -1 : number : (int)CALL(dup3, file, number, 0); }
int pipe(int ends[2]) { return (int)CALL(pipe2, ends, 0); }
int pipe2(int ends[2], int flags) { return (int)CALL(pipe2, ends, flags); }
int flock(int file, int operation) { return (int)CALL(flock, file, operation); }
int futimens(int file, const struct timespec times[2]) { return (int)CALL(utimensat, file, NULL, times, 0); }
int fstat(int file, struct stat *status) { return (int)CALL(fstat, file, status); }
int stat(const char *path, struct stat *status) { return (int)CALL(newfstatat, AT_FDCWD, path, status, 0); }
int lstat(const char *path, struct stat *status) { return (int)CALL(newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW); }
#ifdef STATX_MNT_ID
int statx(int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict status) {
    return (int)CALL(statx, folder, path, flags, mask, status);
}
#endif
int access(const char *path, int mode) { return (int)CALL(faccessat, AT_FDCWD, path, mode); }
int mkdir(const char *path, mode_t mode) { return (int)CALL(mkdirat, AT_FDCWD, path, mode); }
int unlink(const char *path) { return (int)CALL(unlinkat, AT_FDCWD, path, 0); }
int chdir(const char *path) { return (int)CALL(chdir, path); }
int fchdir(int folder) { return (int)CALL(fchdir, folder); }
mode_t umask(mode_t mode) { return (mode_t)CALL(umask, mode); }
ssize_t readlink(const char *path, char *to, size_t size) { return CALL(readlinkat, AT_FDCWD, path, to, size); }
int memfd_create(const char *name, unsigned flags) { return (int)CALL(memfd_create, name, flags); }
ssize_t getrandom(void *to, size_t size, unsigned flags) { return CALL(getrandom, to, size, flags); }

// A path that begins with anything else is outside of our root.
char *getcwd(char *to, size_t size) {
    if (CALL(getcwd, to, size) < 0) return NULL;
    if (*to == '/') return to;
    errno = ENOENT;
    return NULL;
}

// The path without links, "." and ".."; none of it is looked up through /proc, which a caller may have taken away.
char *realpath(const char *restrict path, char *restrict resolved) {
    char rest[PATH_MAX], link[PATH_MAX], name[NAME_MAX + 1];
    size_t size = 0, rest_size = strlen(path);
    if (!rest_size || rest_size >= sizeof rest || (*path != '/' && !getcwd(resolved, PATH_MAX))) return NULL;
    if (*path != '/') size = resolved[1] ? strlen(resolved) : 0;
    memcpy(rest, path, rest_size + 1);
    for (int links = 0; rest_size;) {
        const char *slash = memchr(rest, '/', rest_size);
        size_t name_size = slash ? (size_t)(slash - rest) : rest_size, consumed = name_size + (slash != NULL);
        if (name_size > NAME_MAX) return NULL;
        memcpy(name, rest, name_size);
        name[name_size] = 0;
        memmove(rest, rest + consumed, rest_size -= consumed);
        if (!name_size || !strcmp(name, ".")) continue;
        if (!strcmp(name, "..")) {
            while (size && resolved[--size] != '/') continue;
            continue;
        }
        if (size + name_size + 2 > PATH_MAX) return NULL;
        resolved[size] = '/';
        memcpy(resolved + size + 1, name, name_size + 1);
        ssize_t link_size = readlink(resolved, link, sizeof link);
        if (link_size < 0 && errno == EINVAL) {
            size += 1 + name_size;
            continue;
        }
        if (link_size <= 0 || ++links > MAX_LINKS || (size_t)link_size + 1 + rest_size >= sizeof rest) return NULL;
        memmove(rest + link_size + 1, rest, rest_size);
        memcpy(rest, link, (size_t)link_size);
        rest[link_size] = '/';
        rest_size += (size_t)link_size + 1;
        if (*link == '/') size = 0;
    }
    if (!size) resolved[size++] = '/';
    resolved[size] = 0;
    return resolved;
}

int mkstemp(char *path) {
    unsigned char random[6];
    char *end = path + strlen(path) - sizeof random;
    if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
    for (size_t i = 0; i < sizeof random; i++) end[i] = (char)('a' + random[i] % 26);
    return open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

int isatty(int file) {
    char settings[256];
    return !CALL(ioctl, file, TCGETS, settings);
}

// Memory, time and limits

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    return (void *)CALL(mmap, address, size, protection, flags, file, offset);
}

// For buffers of many kilobytes, which are few and never given back; the size stands before each.
void *realloc(void *old, size_t size) {
    size_t *block = mmap(NULL, size + 2 * sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return NULL;
    *block = size;
    if (!old) return block + 2;
    size_t *old_block = (size_t *)old - 2;
    memcpy(block + 2, old, *old_block < size ? *old_block : size);
    CALL(munmap, old_block, *old_block + 2 * sizeof *block);
    return block + 2;
}

int munmap(void *address, size_t size) { return (int)CALL(munmap, address, size); }
int clock_gettime(clockid_t clock, struct timespec *time) { return (int)CALL(clock_gettime, clock, time); }

time_t time(time_t *to) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to) *to = now.tv_sec;
    return now.tv_sec;
}

unsigned alarm(unsigned seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    return (unsigned)CALL(setitimer, ITIMER_REAL, &timer, NULL);
}

// Which processors we may run on, and how many files we may open; nothing else is asked for.
long sysconf(int name) {
    unsigned long processors[128], count = 0;
    struct rlimit limit;
    if (name == _SC_OPEN_MAX) return CALL(prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) ? -1 : (long)limit.rlim_cur;
    long size = name == _SC_NPROCESSORS_ONLN ? CALL(sched_getaffinity, 0, sizeof processors, processors) : -1;
    for (long i = 0; i < size / (long)sizeof *processors; i++)
        for (unsigned long rest = processors[i]; rest; rest &= rest - 1) count++;
    return size < 0 ? -1 : (long)count;
}

// Processes and signals

pid_t getpid(void) { return (pid_t)CALL(getpid, 0); }
pid_t getppid(void) { return (pid_t)CALL(getppid, 0); }
uid_t getuid(void) { return (uid_t)CALL(getuid, 0); }
pid_t setsid(void) { return (pid_t)CALL(setsid, 0); }
pid_t fork(void) { return (pid_t)CALL(clone, SIGCHLD); }
pid_t waitpid(pid_t pid, int *status, int options) { return (pid_t)CALL(wait4, pid, status, options); }
int waitid(idtype_t type, id_t id, siginfo_t *ending, int options) { return (int)CALL(waitid, type, id, ending, options); }
int kill(pid_t pid, int number) { return (int)CALL(kill, pid, number); }

int execve(const char *program, char *const *arguments, char *const *environment) {
    return (int)CALL(execve, program, arguments, environment);
}

_Noreturn void _exit(int code) {
    for (;;) system_call(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

int prctl(int option, ...) {
    va_list arguments;
    va_start(arguments, option);
    unsigned long values[4];
    for (int i = 0; i < 4; i++) values[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    return (int)CALL(prctl, option, values[0], values[1], values[2], values[3]);
}

long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    long values[6];
    for (int i = 0; i < 6; i++) values[i] = va_arg(arguments, long);
    va_end(arguments);
    return check_result(system_call(number, values[0], values[1], values[2], values[3], values[4], values[5]));
}

#define SIGNAL_SET_BYTES 8 // of what the system takes; the type of the headers is larger

int sigemptyset(sigset_t *set) {
    for (size_t i = 0; i < sizeof *set; i++) ((char *)set)[i] = 0;
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old) {
    return (int)CALL(rt_sigprocmask, how, set, old, SIGNAL_SET_BYTES);
}

void (*signal(int number, void (*handler)(int)))(int) {
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {handler, SA_RESTART, NULL, 0}, old;
#ifdef __x86_64__
    extern void return_from_signal(void);
    action.flags |= 0x04000000; // SA_RESTORER
    action.restorer = return_from_signal;
#endif
    return CALL(rt_sigaction, number, &action, &old, SIGNAL_SET_BYTES) ? SIG_ERR : old.handler;
}

// Descriptors that are waited for, and sockets

int poll(struct pollfd *polls, nfds_t count, int milliseconds) {
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    return (int)CALL(ppoll, polls, count, milliseconds < 0 ? NULL : &time, NULL, 0);
}

int socket(int family, int type, int protocol) { return (int)CALL(socket, family, type, protocol); }
int socketpair(int family, int type, int protocol, int ends[2]) { return (int)CALL(socketpair, family, type, protocol, ends); }
int shutdown(int file, int how) { return (int)CALL(shutdown, file, how); }
ssize_t send(int file, const void *from, size_t size, int flags) { return CALL(sendto, file, from, size, flags); }
ssize_t recv(int file, void *to, size_t size, int flags) { return CALL(recvfrom, file, to, size, flags); }
ssize_t sendmsg(int file, const struct msghdr *message, int flags) { return CALL(sendmsg, file, message, flags); }
ssize_t recvmsg(int file, struct msghdr *message, int flags) { return CALL(recvmsg, file, message, flags); }

int getsockopt(int file, int level, int option, void *to, socklen_t *size) {
    return (int)CALL(getsockopt, file, level, option, to, size);
}

// Their arguments have types of the library's own in some headers.
#define connect(file, address, size) ((int)CALL(connect, file, address, size))
#define setrlimit(resource, limit) ((int)CALL(prlimit64, 0, resource, limit, NULL))
#define getrlimit(resource, limit) ((int)CALL(prlimit64, 0, resource, NULL, limit))

#include "freestanding_text.h"

// Start

char **environ;
unsigned long __stack_chk_guard; // compared before functions return that have arrays

_Noreturn void __stack_chk_fail(void) {
    signal(SIGABRT, SIG_DFL);
    kill(getpid(), SIGABRT);
    __builtin_trap();
}

// Of what the system tells a program at its start, behind the environment.
unsigned long getauxval(unsigned long type) {
    char **end = environ;
    while (*end) end++;
    const ElfW(auxv_t) *entry = (const ElfW(auxv_t) *)(end + 1);
    while (entry->a_type != AT_NULL && entry->a_type != type) entry++;
    return entry->a_type == AT_NULL ? 0 : entry->a_un.a_val;
}

int main(int argc, char **argv);

// Our sources have no data with addresses in it, so that there is nothing to do here; a compiler may think otherwise.
// What it wants that is not known here, or cannot be protected afterwards, ends us: the trial of the build sees that.
static void relocate(char *base, const ElfW(Dyn) *entry, size_t page_bytes) {
    const ElfW(Rela) *relocation = NULL;
    size_t size = 0;
    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_RELA) relocation = (const ElfW(Rela) *)(base + entry->d_un.d_ptr);
        if (entry->d_tag == DT_RELASZ) size = entry->d_un.d_val;
        if (entry->d_tag == DT_RELR) __builtin_trap();
    }
    if (!size) return;
    for (; size >= sizeof *relocation; size -= sizeof *relocation, relocation++) {
        if (ELF64_R_TYPE(relocation->r_info) != RELATIVE_RELOCATION) __builtin_trap();
        *(char **)(base + relocation->r_offset) = base + relocation->r_addend;
    }
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
    const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        size_t begin = segment[i].p_vaddr & -page_bytes, end = (segment[i].p_vaddr + segment[i].p_memsz) & -page_bytes;
        if (segment[i].p_type == PT_GNU_RELRO && end > begin && CALL(mprotect, base + begin, end - begin, PROT_READ))
            __builtin_trap();
    }
}

// It never returns, so that nobody compares the guard that it sets.
_Noreturn void start_program(long *stack) {
    extern char __ehdr_start[] __attribute__((visibility("hidden")));
    char **argv = (char **)(stack + 1);
    environ = argv + *stack + 1;
    const unsigned long *random = (const unsigned long *)getauxval(AT_RANDOM);
    if (random) __stack_chk_guard = *random & ~0xFFul;
    relocate(__ehdr_start, _DYNAMIC, getauxval(AT_PAGESZ));
    _exit(main((int)*stack, argv));
}
