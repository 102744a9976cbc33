// The house: the directory of this home and these data, in which the daemon, its socket and its locks live.

static char home[PATH_MAX], store[sizeof home + 32], house[sizeof store + 32]; // store: where our data lie

// The list is read by hand, because a static program has no other way that works everywhere.
static void registered(char *to, size_t room) {
    char user[16];
    snprintf(user, sizeof user, "%u", (unsigned)getuid());
    struct view rest = view_of("/etc/passwd");
    while (rest.size) {
        struct view line = cut(&rest, '\n'), field[6];
        for (int i = 0; i < 6; i++) field[i] = cut(&line, ':');
        if (!is_word(field[2], user)) continue;
        keep(to, room, field[5]);
        break;
    }
    if (to[0] != '/') keep(to, room, (struct view){"/", 1});
}

// A path in the one spelling of which the house's name is made: as Python's pathlib has it, which keeps two slashes
// at the beginning, but not three, and resolves nothing.
static void tidy(char *path) {
    char *to = path + 1, *from = path + strspn(path, "/");
    if (from == path + 2) to++;
    char *root = to;
    while (*from) {
        size_t size = strcspn(from, "/");
        if (size != 1 || *from != '.') {
            if (to != root) *to++ = '/';
            memmove(to, from, size);
            to += size;
        }
        from += size;
        from += strspn(from, "/");
    }
    *to = 0;
}

static int is_in_repository(const char *folder) {
    char path[PATH_MAX + 8];
    struct stat is;
    size_t size = strlen(folder);
    memcpy(path, folder, size);
    for (;;) {
        memcpy(path + size, "/.git", 6);
        if (!lstat(path, &is)) return 1;
        if (!size) return 0;
        while (size && path[--size] != '/') continue;
    }
}

// HOME, if it is a directory of ours and no repository's, or whoever wrote that would speak for the user.
static void find_home(void) {
    const char *named = getenv("HOME");
    char listed[PATH_MAX] = "";
    struct stat is;
    int is_ours = named && named[0] == '/' && strlen(named) < sizeof home && !stat(named, &is) && S_ISDIR(is.st_mode) &&
                  is.st_uid == getuid();
    if (is_ours) {
        strcpy(home, named);
        tidy(home);
        if (!is_in_repository(home)) return;
    }
    registered(listed, sizeof listed);
    if (is_ours && !strcmp(named, listed)) return;
    strcpy(home, listed);
    tidy(home);
}

// FNV-1a, 64 bits.
static uint64_t mixed(uint64_t found, const char *data, size_t size) {
    while (size--) found = (found ^ (unsigned char)*data++) * UINT64_C(0x100000001B3);
    return found;
}

static int is_ours_alone(const char *folder) {
    struct stat is;
    return !lstat(folder, &is) && S_ISDIR(is.st_mode) && is.st_uid == getuid() && !(is.st_mode & 077);
}

// Whether a place is ours alone, and so is the directory in it that is named after home and data: the house.
static int is_house_in(const char *place) {
    uint64_t number = mixed(UINT64_C(0xCBF29CE484222325), home, strlen(home) + 1);
    number = mixed(number, store, strlen(store));
    snprintf(house, sizeof house, "%s/%016llx", place, (unsigned long long)number);
    return is_ours_alone(place) && is_ours_alone(house);
}

// No variable names the place, because a repository can set variables; and it is not made here: Python does that.
// Somebody else can be faster to take the second, so there is one more where our data lie.
static void find_house(void) {
    static const char *const shared[] = {"/run/user/%u/hookonce", "/tmp/hookonce-%u"};
    char place[sizeof store + 8];
    find_home();
    snprintf(store, sizeof store, "%s%s.local/share/hookonce", home, home[strlen(home) - 1] == '/' ? "" : "/");
    for (int i = 0; i < 2; i++) {
        snprintf(place, sizeof place, shared[i], (unsigned)getuid());
        if (is_house_in(place)) return;
    }
    snprintf(place, sizeof place, "%s/run", store);
    if (!is_house_in(place)) house[0] = 0;
}

static int open_in_house(const char *name, int flags) {
    char path[sizeof house + 64];
    snprintf(path, sizeof path, "%s/%s", house, name);
    return open(path, flags | O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}
