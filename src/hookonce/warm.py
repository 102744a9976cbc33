"""Where the daemon begins: `python -I -S warm.py BIN`, with BIN the folder of our client."""

import sys


def main(folder: str) -> int:
    """Find hookonce where the file beside the client says it is, and be the daemon."""
    with open(f"{folder}/interpreter", encoding="utf-8") as file:  # noqa: PTH123  before all imports
        sys.path[:0] = file.read().splitlines()[2:]
    from hookonce.service.start import serve

    return serve()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
