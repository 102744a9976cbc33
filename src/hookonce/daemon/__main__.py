"""Daemon entry point: `python -I -S daemon/__main__.py BIN`, with BIN the folder of the client."""

import sys


def main(folder: str) -> int:
    """Read the package's path from the file beside the client, then run the daemon."""
    with open(f"{folder}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  before all imports
        sys.path[:0] = file.read().splitlines()[2:]
    from hookonce.base.paths import use_client_home
    from hookonce.daemon.lifecycle import serve

    use_client_home(folder)
    return serve()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
