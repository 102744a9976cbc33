"""Places for runtime files that somebody else was faster to take."""

import os
import shutil
from contextlib import contextmanager, suppress

from hookonce.base.runtime_dir import runtime_dir_name, shared_locations


@contextmanager
def taken(home):
    """Let there be, in each place that homes share, a directory by this home's name that others can look into."""
    spots = [place / runtime_dir_name(home, home / ".local/share/hookonce") for place in shared_locations(os.getuid())]
    try:
        for spot in spots:
            with suppress(FileNotFoundError):  # nor can Python make it where there is no directory for it
                spot.parent.mkdir(mode=0o700, exist_ok=True)
                spot.mkdir()
                spot.chmod(0o755)
        yield
    finally:
        for spot in spots:
            shutil.rmtree(spot, ignore_errors=True)
