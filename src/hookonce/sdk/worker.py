"""Worker script: `python -I -S worker.py PATHS FILE DIGEST [NAME]` reads one event and answers it.

With `--warm` in the place of a name it is a worker server, which has loaded the file before the first call.
Imports nothing of hookonce before the search paths are set.
"""

import os
import sys

_SERVER_FLAG = "--warm"


def main(search_paths: str, file: str, digest: str, name: str = "") -> int:
    """Set the search paths, and run one call or a worker server."""
    sys.path[:0] = search_paths.split(os.pathsep)
    if name == _SERVER_FLAG:
        from hookonce.sdk.worker_server import WorkerServer

        os._exit(WorkerServer(file, digest).serve())  # threads that the file has started hold up nobody
    from hookonce.sdk.function_runner import run_once

    return run_once(file, digest, name or None)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
