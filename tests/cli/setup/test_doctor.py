"""hookonce doctor: what keeps our own client from being started."""

import pytest

from tests.cli.command import run


@pytest.mark.parametrize("gone", [True, False])
def test_a_client_that_cannot_be_started_is_told_once_and_put_back(tmp_path, gone):
    """
    By install, and by doctor's repair.
    """
    (tmp_path / ".codex").mkdir()
    client = tmp_path / ".local/share/hookonce/bin/hookonce-on"
    for mend in (("install", "codex"), ("doctor", "codex", "--repair")):
        run("install", "codex", "--trust", HOME=str(tmp_path))
        if gone:
            client.unlink()
        else:
            client.chmod(0o644)

        doctor = run("doctor", "codex", HOME=str(tmp_path))
        run(*mend, HOME=str(tmp_path))

        told = "does not exist" if gone else "cannot be started"
        assert 1 == doctor.code
        assert 1 == doctor.out.count(told)
        assert 0o111 & client.stat().st_mode
        assert 0 == run("doctor", "codex", HOME=str(tmp_path)).code
