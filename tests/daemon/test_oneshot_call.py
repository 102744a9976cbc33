"""One-shot processes: what they load before they answer, and what they do after it."""

import json
import os
import subprocess
import sys

from hookonce.base.process_info import is_process_alive
from tests.daemon.installed_home import command, payload, refused
from tests.handlers.processes import eventually

REFUSES = command("echo no >&2; exit 2", blocking=True)
# What the client starts, but it tells the modules that it has imported when it has answered.
PROGRAM = """
import os, sys
folder, frame, modules = sys.argv[1:]
with open(f"{folder}/interpreter") as file:
    sys.path[:0] = file.read().splitlines()[2:]
import builtins
from hookonce.client import oneshot_call
builtins.compile = lambda *words, **options: os._exit(1)  # for which Python makes all classes of its syntax tree
oneshot_call._fork_background = lambda work: None
code = oneshot_call.answer_frame(folder, open(frame, "rb").read(), os.getppid())
open(modules, "w").write("\\n".join(name for name, module in sys.modules.items() if module is not None))
os._exit(100 + code)
"""
LATE = {"subprocess", "ctypes", "shutil", "tempfile", "secrets", "random", "socket", "threading", "traceback", "inspect", "json", "typing_extensions", "platform", "_hashlib", "re2", "ipaddress", "urllib.parse", "dataclasses", "asyncio", "sqlite3", "yaml", "re", "shlex", "fnmatch", "decimal", "uuid", "enum", "math", "heapq", "ntpath", "encodings.utf_8_sig", "_md5", "_sha1"}
if sys.version_info >= (3, 12):  # whose `pathlib` compiles expressions itself
    LATE -= {"re", "enum", "fnmatch"}
OWN_LATE = {"hookonce.client.stdin", "hookonce.manifest.http_script", "hookonce.dispatch.stop_limit", "hookonce.secrets.detect", "hookonce.store.privacy.redact", "hookonce.sessions.agent_process", "hookonce.dispatch.fast_path.table", "hookonce.base.build_id", "hookonce.trust.pins", "hookonce.agents.claude_code.config", "hookonce.agents._config.entry"}


def test_a_call_with_a_command_hook_loads_what_it_needs(home):
    """
    Neither libraries that its hook does without, nor what the record needs, nor any agent but its own.
    """
    home.hooks(REFUSES)
    assert refused(home.tool(env=home.cold_env), "no")
    frame, modules = home.home / "frame", home.home / "modules"
    frame.write_bytes(home.frame(payload(transcript_path="/h/.claude/projects/p/s.jsonl")))
    eventually((home.bin / "silent.bin").exists, 10)
    assert refused(home.tool(env=home.cold_env), "no")  # by now the files beside the client are those of this hook
    python = (home.bin / "interpreter").read_text().splitlines()[0]
    words = [python, "-I", "-S", "-c", PROGRAM, str(home.bin), str(frame), str(modules)]
    ended = subprocess.run(words, capture_output=True, check=False, env=home.env, cwd=home.where, timeout=60)

    assert refused((ended.returncode - 100, ended.stdout, b""), "no"), ended.stderr
    loaded = set(modules.read_text().split("\n"))
    ours = {name for name in loaded if name.startswith("hookonce")}
    assert set() == loaded & (LATE | OWN_LATE)
    assert {"claude_code"} == {name.split(".")[2] for name in ours if name.startswith("hookonce.agents.") and not name.split(".")[2].startswith("_")} - {"signatures"}
    assert 106 >= len(ours), sorted(ours)
    assert (180 if sys.version_info < (3, 12) else 195) >= len(loaded), sorted(loaded)


SPINS = """
import os, sys
from hookonce.client import oneshot_call
def spin():
    open(sys.argv[1], "w").write(str(os.getpid()))
    while True:
        pass
oneshot_call._BACKGROUND_CPU_S = 0.2
oneshot_call._fork_background(spin)
"""


def test_what_nobody_waits_for_does_not_run_for_ever(tmp_path):
    """
    Python itself does where it has no memory for an exception, and whoever comes next waits for its turn.
    """
    subprocess.run([sys.executable, "-c", SPINS, str(tmp_path / "pid")], check=True)
    assert eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 30)

    assert eventually(lambda: not is_process_alive(int((tmp_path / "pid").read_text())), 30)


def test_the_record_follows_the_answer(home):
    """
    Before it there is one line with the outcome and no text of anybody; the whole record comes after it.
    """
    home.hooks(REFUSES)
    assert refused(home.tool("echo secret words", env=home.cold_env), "no")

    def lines():
        return [json.loads(line.split(" ", 2)[2]) for file in (home.home / ".local/share/hookonce/spool").glob("*.jsonl") for line in file.read_text().splitlines()]

    assert "before_tool_execute" == lines()[0]["event"]["type"]
    assert eventually(lambda: len(lines()) == 2, 30)
    placeholder, record = lines()
    assert ("deny", None, None) == (placeholder["decision"]["outcome"], placeholder["decision"].get("reason"), placeholder["event"].get("tool"))
    assert ["later"] == [gap["strategy"] for gap in placeholder["gaps"]]
    assert (placeholder["event"]["id"], "shell", "deny") == (record["event"]["id"], record["event"]["tool"]["name"], record["decision"]["outcome"])
    assert "later" not in [gap.get("strategy") for gap in record.get("gaps", [])]


def test_modules_are_found_in_one_file_from_the_second_call_on(home):
    """
    The first call leaves them behind, for us alone; a daemon adds its own.
    """
    home.hooks(REFUSES)
    cache = home.bin / "modules.bin"
    assert refused(home.tool(env=home.cold_env), "no")
    assert eventually(cache.exists, 30)
    first = cache.stat()
    assert (0o600, os.getuid()) == (first.st_mode & 0o777, first.st_uid)
    assert refused(home.tool(env=home.cold_env), "no")
    home.warm()

    assert eventually(lambda: cache.stat().st_size > first.st_size, 30)
    assert refused(home.tool(), "no")
