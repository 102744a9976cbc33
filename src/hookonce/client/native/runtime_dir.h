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

static int is_private_dir(const char *folder) {
    struct stat status;
    return !lstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == getuid() &&
           !(status.st_mode & GROUP_OTHER_MODE);
}

// The home for which we were installed, if the folder in which we lie is ours alone; else the account's. HOME is what
// the caller says, and does not count.
static void find_home(void) {
    static const char subdir[] = "/" CLIENT_SUBDIR;
    char passwd_entry[PATH_MAX] = "";
    size_t size = strlen(client_dir), tail = sizeof subdir - 1;
    if (size >= tail && !strcmp(client_dir + size - tail, subdir) && is_private_dir(client_dir)) {
        copy_text(home, sizeof home, (struct view){client_dir, size - tail});
    } else {
        passwd_home(passwd_entry, sizeof passwd_entry);
        if (!realpath(passwd_entry, home)) strcpy(home, passwd_entry);
    }
    if (!home[0]) strcpy(home, "/");
}

// FNV-1a, 64 bits.
static uint64_t fnv1a(uint64_t hash, const char *data, size_t size) {
    while (size--) hash = (hash ^ (unsigned char)*data++) * FNV_PRIME;
    return hash;
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
