"""Real agents and real installations, fetched once into a folder beside the tests; what cannot be had is skipped."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.house.tree import committed_files
from tests.shared import ROOT

CACHE = Path(os.environ.get("HOOKONCE_AGENTS", ROOT / ".agents"))


@cache
def npm_package(name, version):
    """The folder of an installed npm package; skips where npm or the registry is out of reach."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not here, so no agent can be fetched")
    place = CACHE / f"{name.replace('/', '+')}@{version}"
    if not (place / "node_modules").is_dir():
        place.mkdir(parents=True, exist_ok=True)
        words = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(place), f"{name}@{version}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900)
        if done.returncode:
            shutil.rmtree(place)
            pytest.skip(f"{name} {version} could not be fetched: {done.stderr.strip()[-200:]}")
    return place / "node_modules"


@cache
def wheel(folder, source=ROOT, client=None):
    """hookonce as a wheel, with the client of C or of Python if the compiler is not to choose."""
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(source)]
    env = {**os.environ, **({"HOOKONCE_CLIENT": client} if client else {})}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600, env=env)
    if done.returncode:
        pytest.skip(f"no wheel could be built here: {done.stderr.strip()[-200:]}")
    return next(Path(folder).glob("hookonce-*.whl"))


def copy(folder):
    """The source tree as git would give it to somebody else, so that building changes nothing here."""
    for path in committed_files():
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return folder


def sdist(environment, source, folder):
    """hookonce as an archive of sources."""
    pip = [environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "hatchling"]
    fetched = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=600)
    if fetched.returncode:
        pytest.skip(f"hatchling could not be fetched: {fetched.stderr.strip()[-200:]}")
    words = [environment / "bin" / "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(words, cwd=source, capture_output=True, check=True, timeout=600)
    return next(Path(folder).glob("hookonce-*.tar.gz"))
