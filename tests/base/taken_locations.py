"""Places for runtime files that somebody else was faster to take."""

import shutil
from contextlib import contextmanager, suppress

from hookonce.base.runtime_dir import candidate_dirs


@contextmanager
def taken(home):
    """Let there be, in each place that homes share, a directory by this home's name that others can look into."""
    spots = candidate_dirs(home, home / ".local/share/hookonce")[:-1]
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
