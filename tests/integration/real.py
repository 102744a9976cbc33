"""Real agents, from the cache that everybody's `hookonce lab fetch` fills, and real installations.

What cannot be had is skipped.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hookonce.errors import HookonceError
from hookonce.lab.fetch.fetcher import fetch_agents
from hookonce.lab.fetch.programs import find_program
from tests.architecture.tree import committed_files
from tests.shared import ROOT


@cache
def agent(name):
    """An agent in its pinned version, from where `hookonce lab fetch` puts it; skips where it cannot be had."""
    try:
        fetch_agents([name])
        got = find_program(name, use_pinned=True)
    except HookonceError as problem:
        pytest.skip(str(problem))
    if got is None:
        pytest.skip(f"{name} has no program for this machine")
    return got


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
