"""The test run's own view of the machine."""

import os
from pathlib import Path
from shutil import which

from tests.machine import hide_agents


def test_no_agent_is_on_the_path(tmp_path):
    """
    A folder keeps everything else that it has; others stay as they are.
    """
    for name in ("claude", "cc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    plain = hide_agents(f"{tmp_path}{os.pathsep}/nowhere")

    assert [None, str(Path(plain.split(os.pathsep)[0], "cc"))] == [which(name, path=plain) for name in ("claude", "cc")]
    assert plain.endswith("/nowhere")
    assert None is which("claude")
