"""Attacks by the environment of a call: no variable chooses what a hook runs, nor which agent has called."""

import json
import os
import shlex
import shutil
import subprocess
import sys

import pytest

from hookonce import agents
from hookonce.base import paths
from hookonce.client.installation import _harden_script
from hookonce.dispatch import context, dispatcher
from hookonce.dispatch.run import CallerContext, _hook_world
from hookonce.handlers.environment import (
    INSTALLATION_VARIABLES,
    IS_CALLERS,
    LazyEnvironment,
    compose_environment,
    installed_environment,
    note_environment,
    python_variables,
)
from hookonce.manifest.load import ManifestError, load_manifest
from hookonce.trust.consent import list_proposals
from hookonce.trust.pin_store import revoke_pins
from tests.client.native.client_env import World
from tests.daemon.conftest import hurried
from tests.daemon.installed_home import TOOL, Home, command, payload, refused
from tests.dispatch.pipeline_cases import asked, goldens, hook, recorded
from tests.sample import EXHAUSTIVE

# A guard as people write them, which uses an interpreter or a tool and tells what it has in its environment.
GUARD = """#!/usr/bin/env bash
/usr/bin/env -0 >"$SEEN"
case $WITH in
python) python3 -c 'import json' ;;
perl | node | tar | git | awk) "try_$WITH" ;;
esac 2>/dev/null
cd /
if printf '%s' "rm -rf /" | grep -q rm; then echo no >&2; exit 2; fi
exit 0
"""
TRIES = """try_perl() { perl -e 1; }
try_node() { node -e 1; }
try_tar() { tar -cf /dev/null -C / etc/hostname; }
try_git() { git -C / status; }
try_awk() { awk 'BEGIN { exit }'; }
"""
PROGRAMS = ["bash", "sh", "env", "python3", "grep", "cat", "printf", "perl", "node", "git", "tar", "awk", "sed", "dirname"]
PRELOADED = """#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void run(void) { close(open("RAN", O_CREAT | O_WRONLY, 0600)); _exit(0); }
"""


class Stranger:
    """A folder with everything that somebody hostile could let be run, each of which leaves a file when it is."""

    def __init__(self, folder):
        self.folder, self.ran = folder, folder / "ran"
        run = f"touch {shlex.quote(str(self.ran))}"
        python = f"import os\nos.close(os.open({str(self.ran)!r}, os.O_CREAT | os.O_WRONLY))\nos._exit(0)\n"
        texts = {f"bin/{name}": f"#!/bin/sh\n/usr/bin/{run}\nexit 0\n" for name in PROGRAMS}
        texts |= {f"py/{name}.py": python for name in ("json", "sitecustomize", "usercustomize", "os", "site", "evil")}
        texts |= {f".local/lib/python{sys.version_info[0]}.{minor}/site-packages/usercustomize.py": python for minor in range(9, 16)}
        texts |= {"evil.sh": f"/usr/bin/{run}\nexit 0\n", "pl/evil.pm": f"system('/usr/bin/{run}'); exit 0; 1;\n"}
        texts |= dict.fromkeys((".bashrc", ".profile", ".bash_profile", ".zshenv"), texts["evil.sh"])
        texts |= {"evil.js": f"require('fs').writeFileSync({str(self.ran)!r}, ''); process.exit(0)\n"}
        texts |= {"git/config": f"[core]\n fsmonitor = {run}\n pager = {run}\n", ".gitconfig": f"[core]\n fsmonitor = {run}\n"}
        for name, text in texts.items():
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            place.chmod(0o755)
        source = folder / "evil.c"
        source.write_text(PRELOADED.replace("RAN", str(self.ran)))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "evil.so", source], check=False, capture_output=True)
        self.run = run

    def variables(self):
        """What to set, each for itself, and the interpreter or tool that would obey."""
        at, run, path = self.folder, self.run, f"{self.folder}/bin:/usr/bin:/bin"
        trap = f"() {{ /usr/bin/{run}; exit 0; }}"
        return {
            "PATH": path, "BASH_ENV": f"{at}/evil.sh", "ENV": f"{at}/evil.sh", "SHELLOPTS": "noexec", "BASHOPTS": "extdebug",
            **{f"BASH_FUNC_{name}%%": trap for name in ("grep", "printf", "cd", "echo", "exit")},
            "BASH_FUNC_grep()": trap, "PS4": f"$({run})", "PROMPT_COMMAND": run, "IFS": "rm", "CDPATH": str(at), "GLOBIGNORE": "*",
            "POSIXLY_CORRECT": "1", "ZDOTDIR": str(at), "FPATH": str(at), "SHELL": f"{at}/bin/sh", "INPUTRC": f"{at}/evil.sh",
            "LD_PRELOAD": f"{at}/evil.so", "LD_AUDIT": f"{at}/evil.so", "LD_LIBRARY_PATH": str(at), "LD_DEBUG": "all",
            "DYLD_INSERT_LIBRARIES": f"{at}/evil.so", "GCONV_PATH": str(at), "LOCPATH": str(at), "GLIBC_TUNABLES": "glibc.malloc.check=3",
            "PYTHONPATH": f"{at}/py", "PYTHONHOME": str(at), "PYTHONSTARTUP": f"{at}/py/evil.py", "PYTHONUSERBASE": f"{at}/.local",
            "PYTHONINSPECT": "1", "PYTHONWARNINGS": "error::evil.Evil", "PYTHONPYCACHEPREFIX": str(at), "PYTHONPLATLIBDIR": "py",
            "PYTHONOPTIMIZE": "2", "PYTHONBREAKPOINT": "evil.run", "VIRTUAL_ENV": str(at), "CONDA_PREFIX": str(at),
            "PERL5OPT": "-Mevil", "PERL5LIB": f"{at}/pl", "PERLLIB": f"{at}/pl", "PERL5DB": "BEGIN { require evil }",
            "NODE_OPTIONS": f"--require {at}/evil.js", "NODE_PATH": str(at), "npm_config_node_options": f"--require {at}/evil.js",
            "RUBYOPT": "-revil", "RUBYLIB": str(at), "GEM_HOME": str(at), "PHPRC": str(at), "LUA_INIT": f"@{at}/evil.lua",
            "JAVA_TOOL_OPTIONS": f"-javaagent:{at}/evil.jar", "CLASSPATH": str(at), "DOTNET_STARTUP_HOOKS": f"{at}/evil.dll",
            "GIT_CONFIG_GLOBAL": f"{at}/git/config", "GIT_EXEC_PATH": f"{at}/bin", "GIT_DIR": f"{at}/git", "GIT_PAGER": run,
            "GIT_SSH_COMMAND": run, "GIT_EXTERNAL_DIFF": run, "TAR_OPTIONS": f"--checkpoint=1 --checkpoint-action=exec={run}",
            "GREP_OPTIONS": "-v", "AWKPATH": str(at), "LESSOPEN": f"|{run}", "PAGER": run, "EDITOR": run, "RIPGREP_CONFIG_PATH": f"{at}/rc",
            "HOME": str(at), "XDG_CONFIG_HOME": str(at), "XDG_DATA_HOME": str(at), "TMPDIR": str(at), "OPENSSL_CONF": f"{at}/evil.cnf",
            "SSL_CERT_FILE": f"{at}/evil.pem", "DBUS_SESSION_BUS_ADDRESS": f"unixexec:path={at}/bin/sh", "KUBECONFIG": f"{at}/kube",
            "HOOKONCE_HOOK_DIR": str(at), "HOOKONCE_HOME": str(at), "HOOKONCE_DEPTH": "99", "HOOKONCE_PARENT": "x",
            "HOOKONCE_SYSTEM": str(at), "HOOKONCE_CONSENT": "unattended",
        }


OBEYING = {"PYTHON": "python", "LD_": "python", "HOME": "python", "PERL": "perl", "NODE": "node", "TAR": "tar", "GIT": "git", "AWK": "awk"}


def who_obeys(name):
    """The interpreter or tool that a variable is for."""
    return next((tool for prefix, tool in OBEYING.items() if name.startswith(prefix)), "")


@pytest.fixture(scope="module")
def guarded(shelf, tmp_path_factory):
    """A home with a daemon, a stranger's folder, and a folder in the place of /etc/hookonce."""
    system = tmp_path_factory.mktemp("etc")
    system.chmod(0o755)
    own = f'SYSTEM = Path("{system}")\nOWNER = {os.getuid()}'
    installed = hurried(shelf, tmp_path_factory, "base/settings.py", 'SYSTEM = Path("/etc/hookonce")\nOWNER = 0', own)
    home = Home(tmp_path_factory.mktemp("home"), installed)
    home.system, home.stranger = system, Stranger(tmp_path_factory.mktemp("stranger"))
    home.seen = home.home / "seen"
    source = shelf / "hookonce/client/native/hookonce-on.c"
    built = subprocess.run(["cc", "-static", "-Os", "-std=c11", "-o", home.client, source], check=False, capture_output=True)
    home.is_static = built.returncode == 0
    with home.inside():
        note_environment({"PATH": f"{home.where}:bin:/usr/bin:/bin"}, home.where)
    home.warm()
    yield home
    home.end()


def install_guard(home, scope):
    """Let the guard be the only hook, closed, of one scope."""
    folders = {"user": home.home / ".config/hookonce", "project": home.where / ".hookonce", "system": home.system}
    for other, folder in folders.items():
        folder.mkdir(parents=True, exist_ok=True)
        script, manifest = folder / "guard.sh", folder / "hooks.json"
        manifest.unlink(missing_ok=True)
        if other == scope:
            script.write_text(GUARD.replace("/usr/bin/env -0", f"{TRIES}/usr/bin/env -0", 1))
            script.chmod(0o755)
            line = ".hookonce/guard.sh" if scope == "project" else shlex.quote(str(script))
            manifest.write_text(json.dumps({"spec": "hooks/1.0", "hooks": [command(line, on_failure="closed")]}))
    with home.inside():
        revoke_pins(home.where)  # else the one of the project must still be asked
    if scope == "project":
        home.trust()


def attack(home, variables, **options):
    """One call with these variables: whether it was refused, whether somebody else's code ran, and what the hook had."""
    home.seen.unlink(missing_ok=True)
    home.stranger.ran.unlink(missing_ok=True)
    tool = who_obeys(next(iter(variables), ""))
    env = {"PATH": "/usr/bin:/bin", **options.pop("env", home.env), "SEEN": str(home.seen), "WITH": tool} | variables
    with home.start(*options.pop("words", TOOL), env=env, **options) as process:
        out, err = process.communicate(payload("rm -rf /", cwd=str(home.where)), timeout=60)
    seen = home.seen.read_text(errors="replace").split("\0") if home.seen.exists() else None
    return (process.returncode, out, err), home.stranger.ran.exists(), seen


SCOPES = ("user", "project", "system")
LOADED = ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_DEBUG")  # by a client that is not linked statically, as ours are


def variables_of(home):
    """The variables to try with the client that is there."""
    return {name: value for name, value in home.stranger.variables().items() if home.is_static or name not in LOADED}


def held(home, variables, **options):
    """What is wrong with one attack; nothing if the hook was asked, with the installation's environment, and refused."""
    ending, has_run, seen = attack(home, variables, **options)
    problems = [] if refused(ending, "no") else [f"passed: {ending}"]
    problems += ["a stranger's code ran"] if has_run else []
    wanted = {"PATH=/usr/bin:/bin", f"HOME={home.home}"}
    had = {*(seen or ())}
    return problems + [f"lacks {word}" for word in wanted - had] + list(had & {f"{name}={value}" for name, value in variables.items()})


@pytest.mark.parametrize("scope", SCOPES)
def test_no_variable_gets_around_a_closed_hook(guarded, scope):
    """
    With a daemon each variable is tried for itself; without one all of them at once, unless more is asked for.
    """
    install_guard(guarded, scope)
    variables = variables_of(guarded)
    singles = [{name: value} for name, value in variables.items()]
    sample = singles if EXHAUSTIVE or scope == "user" else singles[SCOPES.index(scope) % 2 :: 2]

    assert 37 <= len(sample)
    assert [] == held(guarded, {})
    assert {} == {name: found for one in sample for name in one if (found := held(guarded, one))}
    for one in [variables, *(singles if EXHAUSTIVE else ())]:
        assert [] == held(guarded, one, env=guarded.cold_env), [*one][:1]


@pytest.mark.parametrize("scope", SCOPES)
def test_no_variable_counts_where_no_interpreter_is(guarded, scope):
    """
    What was prepared for that case is answered, with or without them.
    """
    install_guard(guarded, scope)
    assert [] == held(guarded, {}, env=guarded.cold_env)  # which writes down what is refused without Python
    lines = (guarded.bin / "interpreter").read_text()
    (guarded.bin / "interpreter").write_text(f"/nonexistent{lines}")
    try:
        without, *_ = attack(guarded, {}, env=guarded.cold_env)
        answers = {name: attack(guarded, {name: value}, env=guarded.cold_env)[:2] for name, value in variables_of(guarded).items()}
    finally:
        (guarded.bin / "interpreter").write_text(lines)

    assert scope == "project" or b"deny" in without[1]
    assert {} == {name: answer for name, answer in answers.items() if answer != (without, False)}


def test_a_client_that_is_a_script_runs_no_program_of_the_callers_path(world, tmp_path):
    """
    The shell that has the last word where Python is missing, too.
    """
    stranger = Stranger(tmp_path)
    (world.bin / "interpreter").write_text("/nonexistent\n")
    variables = {name: value for name, value in stranger.variables().items() if name not in LOADED}

    assert (0, b"", b"") == world.run("x", env={**world.env, **variables})
    assert not stranger.ran.exists()


FUNCTIONS = "[ : . cat cd command echo eval exec exit printf read readlink set stat test tr trap umask unset /bin/true"


def bash_variables(ran, unheeded):
    """Each variable that steers a bash before its first line; its functions would leave a file."""
    options, more = (
        subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False).stdout.split()[::2] for line in ("set -o", "shopt")
    )
    options = [name for name in options if name not in unheeded]
    yield from ({"SHELLOPTS": name} for name in [*options, ":".join(options)])
    yield from ({"BASHOPTS": name} for name in more)
    yield from ({f"BASH_FUNC_{name}%%": f"() {{ /usr/bin/touch {ran}; exit 0; }}"} for name in FUNCTIONS.split())
    yield from ({name: "*"} for name in ("EXECIGNORE", "GLOBIGNORE", "CDPATH", "BASH_COMPAT"))


@pytest.mark.parametrize("is_installed", [True, False], ids=["as installed", "before sh became bash"])
def test_no_variable_steers_a_client_that_is_a_script_where_sh_is_bash(twin, tmp_path, is_installed):
    """
    What Python has answered is what the agent hears, and so is the refusal for a Python that is gone.
    """
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    shell, ran, folder = tmp_path / "sh", tmp_path / "ran", tmp_path / "home"
    folder.mkdir()
    shell.symlink_to(shutil.which("bash"))
    world, status = World(twin, folder), folder.stat()
    script = twin.read_bytes()
    plain = script.replace(b"#!/bin/sh", f"#!{shell}".encode(), 1)
    world.client.write_bytes(_harden_script(script, str(shell)) if is_installed else plain)
    (world.home / "python").write_text("#!/bin/sh\nprintf no >&3\nexit 102\n")
    (world.home / "link").symlink_to(world.client)
    (world.bin / "failmode.bin").write_text(f"/nonexistent|{status.st_dev}:{status.st_ino}|t\nt:x||2||no\n")
    # Two options keep a shell from coming to our first line.
    every = list(bash_variables(ran, () if is_installed else ("noexec", "onecmd")))

    quiet = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)

    def endings(client):
        codes = {str(one): subprocess.call([client, "x"], cwd=world.home, env=world.env | one, **quiet) for one in every}
        return {name: code for name, code in codes.items() if code != 2}

    assert {} == endings(world.client)
    (world.home / "python").unlink()
    assert {} == endings(world.home / "link")
    assert not ran.exists()


def test_a_shell_that_is_no_bash_is_told_nothing(twin, tmp_path):
    """
    It might not know the option.
    """
    (tmp_path / "sh").write_text("#!/bin/sh\nexit 2\n")
    (tmp_path / "sh").chmod(0o755)

    assert twin.read_bytes() == _harden_script(twin.read_bytes(), str(tmp_path / "sh"))


WRAPPER = ["claude-code", "PreToolUse", "--dialect", "claude-code", "--run", "GUARD", "--scope", "user"]


@pytest.mark.parametrize("warmth", ["warm", "cold"])
def test_a_script_behind_our_wrapper_has_the_installations_environment(guarded, warmth):
    """
    Somebody else's script is no less a hook.
    """
    install_guard(guarded, "user")
    words = [str(guarded.home / ".config/hookonce/guard.sh") if word == "GUARD" else word for word in WRAPPER]

    assert [] == held(guarded, variables_of(guarded), words=words, env=guarded.env if warmth == "warm" else guarded.cold_env)


FUNCTION = """import os
from hookonce import deny, hook

@hook("before_tool_execute")
def guard(event):
    with open(os.environ["SEEN"], "w") as file:
        file.write("".join(f"{name}={value}\\0" for name, value in os.environ.items()))
    return deny("no")
"""


@pytest.mark.parametrize("warmth", ["warm", "cold"])
def test_a_function_has_the_installations_environment(guarded, warmth):
    """
    What it starts is found as the installation has it.
    """
    install_guard(guarded, "user")
    folder = guarded.home / ".config/hookonce"
    (folder / "guard.py").write_text(FUNCTION)
    guarded.hooks({**command(""), "on_failure": "closed", "handler": {"type": "function", "file": "guard.py"}})

    assert [] == held(guarded, variables_of(guarded), env=guarded.env if warmth == "warm" else guarded.cold_env)


def test_a_hook_may_ask_for_the_callers_environment(guarded):
    """
    As a formatter of the project's own virtual environment does; trust tells, and closed hooks may not.
    """
    install_guard(guarded, "project")
    hook = command(".hookonce/guard.sh", environment="caller")
    guarded.hooks(hook, scope="project")
    guarded.trust()
    path = f"/usr/bin:/bin:{guarded.home}/venv/bin"
    with guarded.inside():
        screen = list_proposals(guarded.where)[0].text
    _, has_run, seen = attack(guarded, {"PATH": path, "PYTHONPATH": "/mine"})

    assert {f"PATH={path}", "PYTHONPATH=/mine"} <= {*seen}
    assert not has_run
    assert "the caller's PATH" in screen
    with pytest.raises(ManifestError, match="environment"):
        load_manifest(json.dumps({"spec": "hooks/1.0", "hooks": [hook | {"on_failure": "closed"}]}).encode())


CALLERS = """TERM LANG LC_ALL TZ USER LOGNAME PWD SHLVL CI DISPLAY XDG_RUNTIME_DIR SSH_AUTH_SOCK HTTPS_PROXY no_proxy AWS_PROFILE
AWS_REGION AWS_ACCESS_KEY_ID GITHUB_TOKEN ANTHROPIC_API_KEY OPENAI_API_KEY DATABASE_URL MY_PROJECT CLAUDE_CONFIG_DIR DOCKER_HOST"""


def test_what_chooses_no_code_stays_the_callers():
    """
    Every variable by which an agent tells a hook something is among them.
    """
    told = {name for agent in agents.load_all() for name in (*agent.variables, *agent.env_markers)}
    env = dict.fromkeys([*CALLERS.split(), *sorted(told)], "x")

    assert env.items() <= compose_environment(env).items()


def test_every_name_of_the_table_is_the_installations():
    """
    A name with a star stands for all that begin so, and no name is there twice.
    """
    words = " ".join(INSTALLATION_VARIABLES.values()).split()
    names = [word.replace("*", "X_Y%%") for word in words]

    assert [] == [name for name in names if IS_CALLERS[name]]
    assert len(words) == len({*words})
    assert {"PATH": "/x", "A": "b"} == compose_environment({"PATH": "/x", "A": "b", "HOOKONCE_DEPTH": "1"}, keeps_callers=True)


TOOLS = """OMP_TOOL_LIBRARIES BAZEL_REAL BAZELISK_BASE_URL USE_BAZEL_VERSION LEFTHOOK_BIN LEFTHOOK_CONFIG PYRIGHT_PYTHON_FORCE_VERSION
PYRIGHT_PYTHON_CACHE_DIR TERRAGRUNT_TFPATH TG_TF_PATH TFLINT_PLUGIN_DIR TFLINT_CONFIG_FILE AQUA_ROOT_DIR AQUA_GLOBAL_CONFIG VALE_CONFIG_PATH"""


@pytest.mark.parametrize("name", TOOLS.split())
def test_no_variable_chooses_what_a_tool_of_a_hook_runs(name):
    """
    Libraries, other versions and settings of tools that download or start programs.
    """
    assert name not in compose_environment({name: "/evil"})


def test_names_that_a_caller_makes_up_are_not_remembered_for_ever():
    """
    The daemon lives long, and callers choose the names.
    """
    compose_environment({f"N{number}": "" for number in range(10_000)})

    assert len(IS_CALLERS) <= 4096


@pytest.fixture
def at_home(tmp_path, monkeypatch):
    """A home of this process."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


JUDGE_VARIABLES = """ANTHROPIC_BASE_URL ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_CUSTOM_HEADERS
ANTHROPIC_BEDROCK_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX CLOUD_ML_REGION
OLLAMA_HOST OLLAMA_MODELS OPENAI_BASE_URL OPENAI_API_BASE OPENAI_MODEL AZURE_OPENAI_ENDPOINT CODEX_HOME GEMINI_CLI_HOME GEMINI_MODEL
GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_SYSTEM_MD GOOGLE_GEMINI_BASE_URL GOOGLE_APPLICATION_CREDENTIALS COPILOT_HOME COPILOT_MODEL
GH_HOST QWEN_HOME OPENCODE_CONFIG OPENCODE_CONFIG_DIR OPENCODE_CONFIG_CONTENT CURSOR_CONFIG_DIR AWS_ENDPOINT_URL
AWS_ENDPOINT_URL_BEDROCK_RUNTIME LLM_USER_PATH LITELLM_PROXY_API_BASE NEW_LAB_BASE_URL NEW_LAB_API_BASE NEW_LAB_HOME NEW_LAB_MODEL
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy Https_Proxy DOCKER_HOST PATH HOME XDG_CONFIG_HOME"""
JUDGE_KEEPS = """ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY GEMINI_API_KEY GH_TOKEN CLAUDE_PROJECT_DIR
CLAUDE_PLUGIN_ROOT GEMINI_PROJECT_DIR CURSOR_PROJECT_DIR LANG TERM AWS_PROFILE AWS_REGION MY_PROJECT OPENAI_KEY_OF_MINE"""


@pytest.fixture
def judged(at_home, monkeypatch):
    """The environment in which a closed hook that a model judges runs, for that of its call."""
    config = at_home / ".config/hookonce/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[models]\ncommand = "true"\nkey_env = "OPENAI_KEY_OF_MINE"\n')

    def environment(kind, caller):
        handler = {"type": kind, "command": None, "prompt": "Is it safe?"}
        selection = hook(handler=handler, on_failure="closed")
        event = asked("claude-code", "PreToolUse", {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}).event
        return _hook_world(selection, event, CallerContext(environment=caller, cwd="/")).env

    return environment


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_no_variable_of_a_call_chooses_who_judges(judged, kind):
    """
    Neither its server nor its program, nor the folder of its settings; what has the key, and what agents tell, stays.
    """
    chosen, kept = dict.fromkeys(JUDGE_VARIABLES.split(), "evil"), dict.fromkeys(JUDGE_KEEPS.split(), "mine")
    found = judged(kind, chosen | kept)

    assert [] == [name for name in chosen if found.get(name) == "evil"]
    assert [] == [name for name in kept if found.get(name) != "mine"]


def test_a_command_has_the_variables_of_models_as_they_are(judged):
    """
    They choose none of its code.
    """
    env = dict.fromkeys((name for name in JUDGE_VARIABLES.split() if IS_CALLERS[name]), "x")

    assert len(env) > 40
    assert env.items() <= judged("command", env).items()


def test_install_notes_who_judges(judged, at_home):
    """
    Servers, models and folders, for hooks that ask a model and no others; no secret, and nothing of a project.
    """
    project, own = at_home / "project", at_home / "own"
    for folder in (project / "conf", own):
        folder.mkdir(parents=True)
    noted = {"OLLAMA_HOST": "http://gpu:11434", "ANTHROPIC_MODEL": "opus-4", "CODEX_HOME": str(own), "https_proxy": "http://proxy:3128", "CLAUDE_CODE_USE_VERTEX": "1"}
    skipped = {"CLAUDE_CONFIG_DIR": f"{project}/conf", "COPILOT_HOME": "conf", "HTTP_PROXY": "http://me:secret@proxy", "OPENAI_API_KEY": "sk-secret"}
    skipped |= {"ANTHROPIC_CUSTOM_HEADERS": "X-Key: secret", "WEBHOOK_ENDPOINT": "https://hooks/secret", "OPENCODE_CONFIG": "./conf"}
    note_environment(noted | skipped, project)

    assert noted == json.loads((paths.data_dir() / "environment.json").read_text())
    assert noted.items() <= judged("prompt", dict.fromkeys(noted, "evil")).items()
    assert not noted.keys() & judged("command", {}).keys()
    assert "evil" == judged("command", dict.fromkeys(noted, "evil"))["OLLAMA_HOST"]


def test_install_notes_places_that_nobody_else_writes_to(at_home):
    """
    Neither what a project has put on the path, nor folders that are open to all, nor words that are no places.
    """
    project, own, shared = at_home / "project", at_home / "own", at_home / "shared"
    for folder in (project / "bin", own, shared):
        folder.mkdir(parents=True)
    shared.chmod(0o777)
    path = f"{project}/bin:relative::{shared}:/nonexistent:{own}:/usr/bin"
    note_environment({"PATH": path, "NODE_OPTIONS": "--require x", "JAVA_HOME": str(own), "TOKEN": "/usr", "HOME": "/"}, project)
    file = paths.data_dir() / "environment.json"

    assert {"PATH": f"{own}:/usr/bin", "JAVA_HOME": str(own)} == json.loads(file.read_text())
    assert 0o600 == file.stat().st_mode & 0o777
    assert {"HOME": str(at_home), "PATH": f"{own}:/usr/bin", "JAVA_HOME": str(own)} == installed_environment()


@pytest.mark.parametrize("text", [None, "", "[]", '{"PATH": 1}', "\0"])
def test_without_a_note_hooks_have_an_ordinary_path(at_home, text):
    """
    Never the caller's.
    """
    file = paths.data_dir() / "environment.json"
    paths.make_private_dir(file.parent)
    if text is not None:
        file.write_text(text)
    found = compose_environment({"PATH": "/evil", "PYTHONPATH": "/evil"})

    assert {"HOME", "PATH"} == found.keys()
    assert "/usr/bin" in found["PATH"].split(":")
    assert "/evil" not in found["PATH"]


def test_a_venv_of_another_project_is_no_place_for_hooks(at_home):
    """
    Whoever works in that project writes there.
    """
    for folder in ("other/.venv/bin", "other/node_modules/.bin"):
        (at_home / folder).mkdir(parents=True)
    (at_home / "other" / ".venv" / "pyvenv.cfg").touch()
    note_environment({"PATH": f"{at_home}/other/.venv/bin:{at_home}/other/node_modules/.bin:/usr/bin"}, at_home / "project")

    assert "/usr/bin" == installed_environment()["PATH"]


@pytest.mark.parametrize(
    ("command_line", "is_inline"),
    [
        ("python3 -c 'import json'", True),
        ("jq . | /usr/bin/python3.11 -um json.tool | grep -q x", True),
        ("python -W ignore -X dev -", True),
        ("python3 <<EOF\nimport json\nEOF", True),
        ("cat code | python3", True),
        ("env A=1 python3 -B -c pass", True),
        ("python3 guard.py -c x", False),
        ("python3 -u ~/hooks/guard.py", False),
        ("./guard.py", False),
        ("grep -c python3-x", False),
    ],
)
def test_python_without_a_file_imports_nothing_of_its_folder(command_line, is_inline):
    """
    A file may import what lies beside it, which is no repository's to write.
    """
    assert is_inline == bool(python_variables(command_line))


def test_a_repository_has_no_module_for_a_users_hook(at_home, monkeypatch):
    """
    Python looks for what `-c` imports in the current directory first, and that is the repository's.
    """
    code = "import json, sys; sys.exit(2 if 'rm -rf' in json.load(sys.stdin)['tool']['input']['command'] else 0)"
    (at_home / ".config/hookonce").mkdir(parents=True)
    hook = command(f'{sys.executable} -c "{code}"', on_failure="closed")
    (at_home / ".config/hookonce/hooks.json").write_text(json.dumps({"spec": "hooks/1.0", "hooks": [hook]}))
    clone = at_home / "clone"
    clone.mkdir()
    (clone / "json.py").write_text("import os; os._exit(0)")
    monkeypatch.chdir(clone)
    reply = dispatcher.answer_call(TOOL, payload("rm -rf /", cwd=str(clone)), {})

    assert '"deny"' in reply.stdout


MARKS = {name: agent.name for agent in agents.load_all() for name in (*agent.env_markers, *agent.variables)}
PAYLOADS = [*goldens(), *recorded()]


def identity(agent, native, raw, environment):
    """How a call through an agent's own entry is understood."""
    call = dispatcher.receive_call([agent, native, "--via", f"{agent}/user"], raw, context.oneshot_context(environment), "x")
    event = call.request.event
    return call.request.agent.name, call.request.native, event.type, event.tool and event.tool.name


def test_no_mark_of_the_environment_outweighs_the_entry(at_home):
    """
    A call is understood as without them, whichever they are; the environment is of whoever has started the agent.
    """
    changed, every = [], dict.fromkeys(MARKS, "1")
    for number, (agent, native, plain, name) in enumerate(PAYLOADS):
        raw = json.dumps(plain).encode()
        marks = [every, *({mark: "1"} for mark in (MARKS if EXHAUSTIVE else [[*MARKS][number % len(MARKS)]]))]
        alone = identity(agent, native, raw, {})
        changed += [(name, [*mark][:1]) for mark in marks if identity(agent, native, raw, mark) != alone]

    assert [] == changed
    assert at_home


@pytest.mark.parametrize("mark", ["AUGMENT_HOOK_EVENT", "AUGMENT_CONVERSATION_ID", "KIRO_SESSION_ID", "CLAUDECODE"])
def test_devin_in_a_terminal_of_another_agent_stays_devin(guarded, mark):
    """
    Its own tool names count, and it is answered in its own words.
    """
    install_guard(guarded, "user")
    guarded.hooks(command("echo no >&2; exit 2", matcher="shell", on_failure="closed"))
    given = json.dumps({"hook_event_name": "PreToolUse", "tool_name": "exec", "tool_input": {"command": "rm -rf /"}}).encode()
    _, out, _ = guarded.call("devin", "PreToolUse", "--via", "devin/user", given=given, env={**guarded.env, mark: "1"})

    assert "block" == json.loads(out)["decision"]


def test_an_environment_is_composed_anew_when_the_note_changes(tmp_path, monkeypatch):
    """
    And what a hook adds to it stays its own.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    caller = LazyEnvironment(b"PATH=/evil\0A=b\0HOOKONCE_X=1\0=c\0D\0E=\0")
    first = compose_environment(caller)
    assert compose_environment(caller) is first
    (tmp_path / "bin").mkdir()
    note_environment({"PATH": str(tmp_path / "bin")}, tmp_path / "project")
    second = compose_environment(caller)

    assert {"A": "b", "E": ""} == {name: value for name, value in first.items() if name not in {"PATH", "HOME"}}
    assert "/evil" not in first["PATH"]
    assert str(tmp_path / "bin") == second["PATH"] != first["PATH"]
    assert compose_environment(dict(caller)) == second
