// Constants that Python has too: made by `make docs` from base/runtime_location.py, base/wire.py,
// client/python/launch.py and the agents' tables, and never changed by hand.

#define DATA_SUBDIR ".local/share/hookonce"
#define CLIENT_SUBDIR ".local/share/hookonce/bin"
#define FALLBACK_SUBDIR "run"
#define FNV_OFFSET UINT64_C(0xCBF29CE484222325)
#define FNV_PRIME UINT64_C(0x100000001B3)
#define GROUP_OTHER_MODE 077
#define FRAME_MAGIC "HKO1"
#define WIRE_VERSION "1"
#define MAX_FRAME_BYTES 16777216u // more than this nobody is asked, and Python answers
#define MAX_UNANSWERED_MARKS 9999 // calls without an answer, after which nobody counts on
#define DAEMON_VARIABLES "PATH=/usr/local/bin:/usr/bin:/bin", "MALLOC_MMAP_THRESHOLD_=131072"

static const char *const SHARED_LOCATIONS[] = {"/run/user/%u/hookonce"}; // %u is the user
// For whom saying nothing is a mistake, and what they hear instead.
static const char *const SILENCES[][2] = {{"amp", "{}\n"}, {"cursor", "{}\n"}, {"opencode", "{}\n"}, {"amplifier", "{\"action\":\"continue\"}\n"}};
