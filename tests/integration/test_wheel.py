"""hookonce as a stranger installs it."""

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from tests.integration.real import copy, sdist, wheel
from tests.shared import ROOT

pytestmark = pytest.mark.integration


def test_a_wheel_in_an_empty_environment_installs_and_leaves(tmp_path):
    """
    Build, install into a new environment, let an agent's file be changed, call the very command that stands there.
    """
    made = wheel(tmp_path / "dist", copy(tmp_path / "source"))
    home = tmp_path / "home"
    (home / ".claude").mkdir(parents=True)
    settings = home / ".claude" / "settings.json"
    settings.write_text("{}")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", made]
    fetched = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
    if fetched.returncode:
        pytest.skip(f"dependencies could not be fetched: {fetched.stderr.strip()[-200:]}")

    def hookonce(*words):
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        words = [tmp_path / "env" / "bin" / "hookonce", *words]
        return subprocess.run(words, capture_output=True, text=True, check=False, env=env, cwd=home)

    installed = hookonce("install", "claude-code")
    client = home / ".local" / "share" / "hookonce" / "bin" / "hookonce-on"
    called = subprocess.run([client, "claude-code", "PreToolUse"], input=b"{}", capture_output=True, check=False, env={})

    assert 0 == installed.returncode, installed.stderr
    assert str(client) in settings.read_text()
    assert (0, b"", b"") == (called.returncode, called.stdout, called.stderr)
    assert 0 == hookonce("demo").returncode
    assert [] == unread_schemas(tmp_path / "env")


def unread_schemas(environment):
    """Published schemas that an installation, called from elsewhere, does not read as the repository has them."""
    names = sorted(file.stem for file in (ROOT / "schemas").glob("*.json"))
    program = "import json, sys; from hookonce.formats.schema import load_schema; json.dump({n: load_schema(n) for n in sys.argv[1:]}, sys.stdout)"
    command = [environment / "bin" / "python", "-c", program, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=environment)
    found = json.loads(done.stdout)
    return [name for name in names if found[name] != json.loads((ROOT / "schemas" / f"{name}.json").read_text())]


def clients(made):
    """What lies in a wheel where the client is: names, and whether they can be run."""
    with zipfile.ZipFile(made) as archive:
        found = [one for one in archive.infolist() if one.filename.startswith("hookonce/client/native/")]
        return {one.filename: oct(one.external_attr >> 16 & 0o777) for one in found}, archive.read(found[0])


def test_a_wheel_carries_one_client_and_names_the_machine_that_it_is_for(tmp_path):
    """
    Machine code where a compiler is, without its sources; a wheel for every machine where none is wanted.
    """
    source = copy(tmp_path / "source")
    native, portable = wheel(tmp_path / "native", source), wheel(tmp_path / "portable", source, "python")
    one = {"hookonce/client/native/hookonce-on": "0o755"}

    assert (one, True) == (clients(portable)[0], clients(portable)[1].startswith(b"#!/bin/sh\n"))
    assert portable.name.endswith("-py3-none-any.whl")
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler here")
    assert (one, False) == (clients(native)[0], clients(native)[1].startswith(b"#!"))
    assert "-py3-none-" in native.name
    assert not native.name.endswith("-any.whl")


def test_an_archive_of_sources_makes_the_same_wheel_again(tmp_path):
    """
    It carries what both clients are made of, and neither of them ready-made.
    """
    source = copy(tmp_path / "source")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    archive = sdist(tmp_path / "env", source, tmp_path / "sdist")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    kept = {name.removeprefix("src/hookonce/client/native/") for name in names if name.startswith("src/hookonce/client/native/")}

    assert "hatch_build.py" in names
    assert {"hookonce-on.c", "hookonce-on.sh"} <= kept
    assert "hookonce-on" not in kept
    again = wheel(tmp_path / "again", archive)
    assert (clients(wheel(tmp_path / "dist", source))[0], again.name) == (clients(again)[0], wheel(tmp_path / "dist", source).name)


def test_an_editable_installation_reads_the_schemas_of_its_tree(tmp_path):
    """
    They lie once, at the root; nothing of them is copied into the environment.
    """
    source = copy(tmp_path / "source")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env" / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-e", source]
    done = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=900)
    if done.returncode:
        pytest.skip(f"nothing could be fetched here: {done.stderr.strip()[-200:]}")

    assert [] == unread_schemas(tmp_path / "env")
    assert [] == list((tmp_path / "env").rglob("openhook.json"))


def test_an_editable_installation_has_the_client_in_its_tree(tmp_path):
    """
    Also where no compiler is, which is no reason not to install.
    """
    source = copy(tmp_path / "source")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    pip = [tmp_path / "env" / "bin" / "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check", "-e", source]
    done = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=600, env={"PATH": "/nonexistent"})
    if done.returncode:
        pytest.skip(f"nothing could be fetched here: {done.stderr.strip()[-200:]}")
    made = source / "src" / "hookonce" / "client" / "native" / "hookonce-on"

    assert made.read_bytes() == made.with_suffix(".sh").read_bytes()
    assert 0o755 == made.stat().st_mode & 0o777
