"""Daemon entry point: `python -I -S daemon/__main__.py BIN`, with BIN the folder of the client."""

import gc
import sys


def main(folder: str) -> int:
    """Read the package's path from the file beside the client, then run the daemon."""
    gc.disable()  # a call waits until everything is loaded, and the daemon collects when nobody waits
    with open(f"{folder}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  before all imports
        sys.path[:0] = file.read().splitlines()[2:]
    from hookonce.client.light_imports import import_msgspec
    from hookonce.client.module_cache import use_cache

    use_cache(folder)
    import_msgspec()
    from hookonce.base.paths import use_client_home
    from hookonce.daemon.lifecycle import serve

    use_client_home(folder)
    return serve()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
