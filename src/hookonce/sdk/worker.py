"""The process of a function: `python -I -S worker.py SHELVES FILE DIGEST [NAME]` reads one event and answers it.

With `--warm` in the place of a name it is a nursery: it has loaded the file before anybody asks.
"""

import os
import sys

_WARM = "--warm"


def main(shelves: str, file: str, digest: str, name: str = "") -> int:
    """Find hookonce where whoever has started us found it, and do as we are told."""
    sys.path[:0] = shelves.split(os.pathsep)
    if name == _WARM:
        from hookonce.sdk.nursery import Nursery

        return Nursery(file, digest).live()
    from hookonce.sdk.single import once

    return once(file, digest, name or None)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:5]))
