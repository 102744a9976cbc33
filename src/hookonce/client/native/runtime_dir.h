// Runtime directory of this home and these data, in which the daemon, its socket and its locks live.
// The rule is the one of base/runtime_location.py, from which its constants come (generated.h).

static uid_t own_user;
static int is_client_dir_private; // whether the folder in which we lie is one of an installation, and ours alone

// The list is read by hand, because a static program has no other way that works everywhere.
static const char *passwd_home(void) {
    char user[16], path[PATH_MAX] = "/";
    snprintf(user, sizeof user, "%u", (unsigned)own_user);
    struct view rest = map_file("/etc/passwd");
    while (rest.size) {
        struct view entry = split_at(&rest, '\n'), field[6];
        for (int i = 0; i < 6; i++) field[i] = split_at(&entry, ':');
        if (!equals(field[2], user)) continue;
        if (field[5].size && *field[5].data == '/' && field[5].size < sizeof path) {
            memcpy(path, field[5].data, field[5].size);
            path[field[5].size] = 0;
        }
        break;
    }
    return realpath(path, memory + memory_size) ? keep_text(strlen(memory + memory_size)) : format_text("%s", path);
}

static int is_private_dir(const char *folder) {
    struct stat status;
    return !lstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == own_user &&
           !(status.st_mode & GROUP_OTHER_MODE);
}

// The home for which we were installed, if the folder in which we lie is ours alone; else the account's. HOME is what
// the caller says, and does not count.
static void find_home(void) {
    static const char subdir[] = "/" CLIENT_SUBDIR;
    size_t size = strlen(client_dir), tail = sizeof subdir - 1;
    is_client_dir_private = size >= tail && !strcmp(client_dir + size - tail, subdir) && is_private_dir(client_dir);
    home = is_client_dir_private ? copy_text((struct view){client_dir, size - tail}) : passwd_home();
    if (!*home) home = "/";
}

// FNV-1a, 64 bits.
static uint64_t fnv1a(uint64_t hash, const char *data, size_t size) {
    while (size--) hash = (hash ^ (unsigned char)*data++) * FNV_PRIME;
    return hash;
}

// Whether a location is ours alone, and so is the directory in it that is named after home and data.
static int is_runtime_dir_in(const char *location, const char *data_dir) {
    uint64_t number = fnv1a(FNV_OFFSET, home, strlen(home) + 1);
    number = fnv1a(number, data_dir, strlen(data_dir));
    runtime_dir = format_text("%s/%016llx", location, (unsigned long long)number);
    return is_private_dir(location) && is_private_dir(runtime_dir);
}

// It is not made here: Python does that.
static void find_runtime_dir(void) {
    own_user = getuid();
    find_home();
    const char *data_dir = format_text("%s%s" DATA_SUBDIR, home, home[strlen(home) - 1] == '/' ? "" : "/");
    for (size_t i = 0; i < sizeof SHARED_LOCATIONS / sizeof *SHARED_LOCATIONS; i++)
        if (is_runtime_dir_in(format_text(SHARED_LOCATIONS[i], (unsigned)own_user), data_dir)) return;
    if (!is_runtime_dir_in(format_text("%s/" FALLBACK_SUBDIR, data_dir), data_dir)) runtime_dir = "";
}

static int open_runtime_file(const char *name, int flags) {
    char path[PATH_MAX];
    if (!path_in(path, sizeof path, runtime_dir, name)) return -1;
    return open(path, flags | O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
}
