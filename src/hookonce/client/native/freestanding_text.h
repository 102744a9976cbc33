// Functions of the C library that need no system: memory, texts and numbers as texts.
//
// Their names stand in brackets because some headers have macros of the same names.

void *(memcpy)(void *restrict to, const void *restrict from, size_t size) {
    char *target = to;
    const char *source = from;
    for (; size >= 8; size -= 8, target += 8, source += 8) __builtin_memcpy(target, source, 8);
    while (size--) *target++ = *source++;
    return to;
}

void *(memmove)(void *to, const void *from, size_t size) {
    char *target = to;
    const char *source = from;
    if (target <= source) return memcpy(to, from, size);
    while (size--) target[size] = source[size];
    return to;
}

void *(memset)(void *to, int byte, size_t size) {
    for (char *target = to; size--;) *target++ = (char)byte;
    return to;
}

int (memcmp)(const void *data, const void *other, size_t size) {
    const unsigned char *left = data, *right = other;
    for (; size--; left++, right++)
        if (*left != *right) return *left - *right;
    return 0;
}

void *(memchr)(const void *data, int byte, size_t size) {
    for (const unsigned char *next = data; size--; next++)
        if (*next == (unsigned char)byte) return (void *)next;
    return NULL;
}

size_t (strlen)(const char *text) {
    const char *end = text;
    while (*end) end++;
    return (size_t)(end - text);
}

int (strncmp)(const char *text, const char *other, size_t size) {
    for (; size; size--, text++, other++)
        if (*text != *other || !*text) return (unsigned char)*text - (unsigned char)*other;
    return 0;
}

int (strcmp)(const char *text, const char *other) {
    return strncmp(text, other, (size_t)-1);
}

char *(strchr)(const char *text, int byte) {
    return (memchr)(text, byte, strlen(text) + 1);
}

char *(strrchr)(const char *text, int byte) {
    for (const char *end = text + strlen(text); end >= text; end--)
        if (*end == (char)byte) return (char *)end;
    return NULL;
}

char *(strstr)(const char *text, const char *part) {
    size_t size = strlen(part);
    for (; strncmp(text, part, size); text++)
        if (!*text) return NULL;
    return (char *)text;
}

size_t (strspn)(const char *text, const char *bytes) {
    const char *end = text;
    while (*end && strchr(bytes, *end)) end++;
    return (size_t)(end - text);
}

char *getenv(const char *name) {
    size_t size = strlen(name);
    for (char **entry = environ; *entry; entry++)
        if (!strncmp(*entry, name, size) && (*entry)[size] == '=') return *entry + size + 1;
    return NULL;
}

// What keeps a program from being started, in the words of other C libraries. No pointers: those would have to be
// relocated at each start.
static const struct {
    int number;
    char text[36];
} ERROR_TEXTS[] = {
    {EPERM, "Operation not permitted"}, {ENOENT, "No such file or directory"}, {EIO, "Input/output error"},
    {E2BIG, "Argument list too long"}, {ENOEXEC, "Exec format error"}, {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"}, {EACCES, "Permission denied"}, {ENOTDIR, "Not a directory"},
    {EISDIR, "Is a directory"}, {EINVAL, "Invalid argument"}, {ENFILE, "Too many open files in system"},
    {EMFILE, "Too many open files"}, {ETXTBSY, "Text file busy"}, {ENOSPC, "No space left on device"},
    {EROFS, "Read-only file system"}, {ENAMETOOLONG, "File name too long"},
    {ELOOP, "Too many levels of symbolic links"}, {ESTALE, "Stale file handle"}, {EDQUOT, "Disk quota exceeded"},
};

struct output {
    char *to;
    size_t size, capacity; // the size that it would have with enough room
};

static void put_byte(struct output *output, char byte) {
    if (output->size + 1 < output->capacity) output->to[output->size] = byte;
    output->size++;
}

static void put_number(struct output *output, unsigned long long number, unsigned base, size_t width, char fill) {
    char digits[24];
    size_t count = 0;
    do digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    for (; width > count; width--) put_byte(output, fill);
    while (count) put_byte(output, digits[--count]);
}

// %s %c %d %u %x %o %%, with l, ll, j or z, a width of digits and 0 before it; anything else ends us.
int vsnprintf(char *to, size_t capacity, const char *format, va_list arguments) {
    struct output output = {to, 0, capacity};
    for (; *format; format++) {
        if (*format != '%') {
            put_byte(&output, *format);
            continue;
        }
        char fill = *++format == '0' ? '0' : ' ';
        size_t width = 0, is_long = 0;
        for (; *format >= '0' && *format <= '9'; format++) width = width * 10 + (size_t)(*format - '0');
        for (; *format == 'l' || *format == 'j' || *format == 'z'; format++) is_long = 1;
        if (*format == 's') {
            for (const char *text = va_arg(arguments, const char *); *text; text++) put_byte(&output, *text);
        } else if (*format == 'c') {
            put_byte(&output, (char)va_arg(arguments, int));
        } else if (*format == '%') {
            put_byte(&output, '%');
        } else if (*format == 'd') {
            long number = is_long ? va_arg(arguments, long) : va_arg(arguments, int);
            if (number < 0) put_byte(&output, '-');
            put_number(&output, number < 0 ? -(unsigned long)number : (unsigned long)number, 10, width, fill);
        } else if (*format == 'u' || *format == 'x' || *format == 'o') {
            unsigned long number = is_long ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned);
            put_number(&output, number, *format == 'u' ? 10 : *format == 'x' ? 16 : 8, width, fill);
        } else {
            __builtin_trap();
        }
    }
    if (capacity) to[output.size < capacity ? output.size : capacity - 1] = 0;
    return (int)output.size;
}

int snprintf(char *to, size_t capacity, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(to, capacity, format, arguments);
    va_end(arguments);
    return size;
}

int dprintf(int file, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return size < (int)sizeof text ? (int)write(file, text, (size_t)size) : -1;
}

char *strerror(int number) {
    static char unknown[32];
    for (size_t i = 0; i < sizeof ERROR_TEXTS / sizeof *ERROR_TEXTS; i++)
        if (ERROR_TEXTS[i].number == number) return (char *)ERROR_TEXTS[i].text;
    snprintf(unknown, sizeof unknown, "error %d", number);
    return unknown;
}

// In base 8 or 10; what is too large is as large as can be.
long (strtol)(const char *restrict text, char **restrict end, int base) {
    unsigned long number = 0;
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) text++;
    int is_negative = *text == '-';
    if (*text == '-' || *text == '+') text++;
    for (; *text >= '0' && *text < '0' + base; text++)
        number = number > (LONG_MAX - 9) / 10 ? LONG_MAX : number * (unsigned)base + (unsigned)(*text - '0');
    if (end) *end = (char *)text;
    return is_negative ? -(long)number : (long)number;
}

unsigned long (strtoul)(const char *restrict text, char **restrict end, int base) {
    return (unsigned long)strtol(text, end, base);
}

long long (strtoll)(const char *restrict text, char **restrict end, int base) {
    return strtol(text, end, base);
}

int (atoi)(const char *text) {
    return (int)strtol(text, NULL, 10);
}

long (atol)(const char *text) {
    return strtol(text, NULL, 10);
}
