// Constants that Python has too: made by `make docs` from base/runtime_location.py, base/wire.py,
// client/python/launch.py and the agents' tables, and never changed by hand.

#define DATA_SUBDIR ".local/share/hookonce"
#define CLIENT_SUBDIR ".local/share/hookonce/bin"
#define DAEMON_FILE "daemon.pid"
#define FALLBACK_SUBDIR "run"
#define FNV_OFFSET UINT64_C(0xCBF29CE484222325)
#define FNV_PRIME UINT64_C(0x100000001B3)
#define GROUP_OTHER_MODE 077
#define FRAME_MAGIC "HKO1"
#define WIRE_VERSION "2"
#define MAX_FRAME_BYTES 16777216u // more than this nobody is asked, and Python answers
#define MAX_UNANSWERED_MARKS 9999 // calls without an answer, after which nobody counts on
#define DAEMON_VARIABLES "PATH=/usr/local/bin:/usr/bin:/bin" "\0" "MALLOC_MMAP_THRESHOLD_=131072" "\0"
#define DAEMON_VARIABLES_COUNT 2

// Texts and not their addresses, which would have to be relocated at each start. %u is the user.
static const char SHARED_LOCATIONS[][23] = {"/run/user/%u/hookonce"};
// For whom saying nothing is a mistake, and what they hear instead.
static const char SILENCES[][2][23] = {{"amp", "{}\n"}, {"cursor", "{}\n"}, {"opencode", "{}\n"}, {"amplifier", "{\"action\":\"continue\"}\n"}};
