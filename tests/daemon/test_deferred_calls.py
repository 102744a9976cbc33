"""Who wants no record gets none, and the same answers."""

import pytest

from tests.daemon.installed_home import SILENT, command


def kept(home):
    """All files in which something of a call could stand."""
    data = home.home / ".local" / "share" / "hookonce"
    return [*data.glob("spool/*.jsonl"), *data.glob("events.db*")]


@pytest.mark.parametrize("way", ["env", "cold_env"])
def test_nothing_is_kept_of_calls_with_and_without_hooks(home, way):
    """
    By the daemon and by processes of their own.
    """
    place = home.home / ".config" / "hookonce"
    place.mkdir(parents=True)
    (place / "config.toml").write_text("record = false\n")
    if way == "env":
        home.warm()
    silence = home.tool(env=getattr(home, way))
    home.hooks(command("echo no >&2; exit 2"))
    _, said, why = home.tool(env=getattr(home, way))
    home.end()
    assert (SILENT, True, []) == (silence, b"no" in said + why, kept(home))
