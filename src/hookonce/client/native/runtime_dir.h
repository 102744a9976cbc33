// Runtime directory of this home and these data, in which the daemon, its socket and its locks live.
// The rule is the one of base/runtime_location.py, from which its constants come (generated.h).

static char home[PATH_MAX], data_dir[sizeof home + 32], runtime_dir[sizeof data_dir + 32]; 

// The list is read by hand, because a static program has no other way that works everywhere.
static void passwd_home(char *to, size_t capacity) {
    char user[16];
    snprintf(user, sizeof user, "%u", (unsigned)getuid());
    struct view rest = map_file("/etc/passwd");
    while (rest.size) {
        struct view entry = split_at(&rest, '\n'), field[6];
        for (int i = 0; i < 6; i++) field[i] = split_at(&entry, ':');
        if (!equals(field[2], user)) continue;
        copy_text(to, capacity, field[5]);
        break;
    }
    if (to[0] != '/') copy_text(to, capacity, (struct view){"/", 1});
}

// A path in the one spelling of which the directory's name is made: as Python's pathlib has it, which keeps two slashes
// at the beginning, but not three, and resolves nothing.
static void normalize_path(char *path) {
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
    struct stat status;
    size_t size = strlen(folder);
    memcpy(path, folder, size);
    for (;;) {
        memcpy(path + size, "/.git", 6);
        if (!lstat(path, &status)) return 1;
        if (!size) return 0;
        while (size && path[--size] != '/') continue;
    }
}

// HOME, if it is a directory of ours and no repository's, or whoever wrote that would speak for the user.
static void find_home(void) {
    const char *home_variable = getenv("HOME");
    char passwd_entry[PATH_MAX] = "";
    struct stat status;
    int is_ours = home_variable && home_variable[0] == '/' && strlen(home_variable) < sizeof home &&
                  !stat(home_variable, &status) && S_ISDIR(status.st_mode) && status.st_uid == getuid();
    if (is_ours) {
        strcpy(home, home_variable);
        normalize_path(home);
        if (!is_in_repository(home)) return;
    }
    passwd_home(passwd_entry, sizeof passwd_entry);
    if (is_ours && !strcmp(home_variable, passwd_entry)) return;
    strcpy(home, passwd_entry);
    normalize_path(home);
}

// FNV-1a, 64 bits.
static uint64_t fnv1a(uint64_t hash, const char *data, size_t size) {
    while (size--) hash = (hash ^ (unsigned char)*data++) * FNV_PRIME;
    return hash;
}

static int is_private_dir(const char *folder) {
    struct stat status;
    return !lstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
           !(status.st_mode & GROUP_OTHER_MODE);
}

// Whether a location is ours alone, and so is the directory in it that is named after home and data.
static int is_runtime_dir_in(const char *location) {
    uint64_t number = fnv1a(FNV_OFFSET, home, strlen(home) + 1);
    number = fnv1a(number, data_dir, strlen(data_dir));
    snprintf(runtime_dir, sizeof runtime_dir, "%s/%016llx", location, (unsigned long long)number);
    return is_private_dir(location) && is_private_dir(runtime_dir);
}

// It is not made here: Python does that.
static void find_runtime_dir(void) {
    char location[sizeof data_dir + 8];
    find_home();
    snprintf(data_dir, sizeof data_dir, "%s%s" DATA_SUBDIR, home, home[strlen(home) - 1] == '/' ? "" : "/");
    for (size_t i = 0; i < sizeof SHARED_LOCATIONS / sizeof *SHARED_LOCATIONS; i++) {
        snprintf(location, sizeof location, SHARED_LOCATIONS[i], (unsigned)getuid());
        if (is_runtime_dir_in(location)) return;
    }
    snprintf(location, sizeof location, "%s/" FALLBACK_SUBDIR, data_dir);
    if (!is_runtime_dir_in(location)) runtime_dir[0] = 0;
}

static int open_runtime_file(const char *name, int flags) {
    char path[sizeof runtime_dir + 64];
    snprintf(path, sizeof path, "%s/%s", runtime_dir, name);
    return open(path, flags | O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}
