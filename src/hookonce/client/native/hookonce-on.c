// hookonce-on: the command that stands in the configuration of coding agents.
//
// It carries a call to the daemon and the daemon's answer back, and never judges. Without a daemon it starts one, or
// lets Python answer; whatever becomes of those, it has the last word: the refusal that was made for that case
// beforehand, else the agent's own "no opinion". It says nothing of its own. With --watch it is our watchdog instead, of
// hooks or of a server.

#define _GNU_SOURCE
#include "buffers.h"
#include "generated.h"
#include "fail_mode.h"
#include "runtime_dir.h"
#include "frame.h"
#include "daemon_start.h"
#include "daemon_exchange.h"
#include "oneshot.h"

char memory[sizeof memory]; // behind all that is small and that a call needs

#include "hook_order.h"
#include "watchdog.h"

// Descriptors that the caller has closed would become those of our next files; what is written to stdout must fail.
static void fill_gaps(void) {
    for (int number = 0; number < 3; number++)
        if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == 1 ? O_RDONLY : O_RDWR);
}

int main(int argc, char **argv) {
    fill_gaps();
    clear_texts();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a disk quota ends no call
    signal(SIGCHLD, SIG_DFL); // whoever started us may ignore it, and then nobody's ending could be waited for
    if (argc == 5 && !strcmp(argv[1], "--watch")) return run_watchdog(argv + 2);
    if (argc == 7 && !strcmp(argv[1], "--watch-server")) return run_server_watchdog(argv + 2);

    agent = argc > 1 ? argv[1] : "";
    event = argc > 2 && argv[2][0] != '-' ? argv[2] : "";
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i - 1], "--on-failure") && !strcmp(argv[i], "closed")) is_closed_wrapper = 1;
    find_install(argv[0]);
    find_runtime_dir();
    find_reply_budget(argv);
    // At once, whether or not the agent has written everything.
    if (!is_python_there() && !is_daemon_listening()) fail_mode_exit();
    struct bytes frame = build_frame(argv);
    const char *alone = getenv("HOOKONCE_COLD"); // to look at what Python does; the answers are the same
    if (runtime_dir[0] && !(alone && *alone) && frame.size - FRAME_HEADER_BYTES <= MAX_FRAME_BYTES) ask_daemon(&frame);
    answer_oneshot(&frame);
}
