"""One-shot script: `python -I -S oneshot.py BIN CALLER SLOT` answers the call in the client's frame on stdin.

BIN is the folder of the client, CALLER the client's process id, SLOT a descriptor that holds one of the slots for such
processes (ADR 0021). Python compiles a script each time that it is run, so this one is short.
"""

import gc
import sys

if __name__ == "__main__":
    gc.disable()  # it ends before there is anything to collect
    with open(f"{sys.argv[1]}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  before all imports
        sys.path[:0] = file.read().splitlines()[2:]
    from hookonce.client.module_cache import use_cache

    use_cache(sys.argv[1]).import_directly()
    from hookonce.client.oneshot_call import run_script

    run_script(*sys.argv[1:4])
