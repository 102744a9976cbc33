"""Environment of hooks: which variables the installation gives them, and which are the caller's.

A repository can set variables of a call: agents apply its settings. Those that choose what a loader, a shell, an
interpreter or a tool runs or reads at its start therefore never reach a hook; in their place stand those that
`hookonce install` has noted (ADR 0038). So do those that choose who judges, for hooks that ask a language model.
This file has the only list of them.
"""

import os
import stat
from collections.abc import ItemsView, Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode, encode

from hookonce.base import paths
from hookonce.base.files import PRIVATE_MODE, replace_file
from hookonce.base.regex import lazy_pattern
from hookonce.base.runtime_location import DATA_SUBDIR

# By what reads them; a name that ends with * is the beginning of names.
INSTALLATION_VARIABLES = {
    "loader and C library": """
        LD_* DYLD_* GLIBC_TUNABLES GCONV_PATH GETCONF_DIR LOCPATH NLSPATH MALLOC_* TZDIR HOSTALIASES LOCALDOMAIN
        RES_OPTIONS RESOLV_* NIS_PATH NSS_* LANGUAGE TEXTDOMAIN* SEGFAULT_* ASAN_* LSAN_* MSAN_* TSAN_* UBSAN_*
        LLVM_* GCOV_*
    """,
    "shells": """
        PATH HOME SHELL ENV BASH* SHELLOPTS IFS CDPATH PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND GLOBIGNORE EXECIGNORE
        FIGNORE HISTFILE INPUTRC POSIXLY_CORRECT POSIX_ME_HARDER ZDOTDIR FPATH NULLCMD READNULLCMD STTY
        TMPPREFIX FCEDIT KSH_* fish_* __fish* NU_* XONSH* PSModulePath POWERSHELL_* COMSPEC TMPDIR TMP TEMP
        XDG_CONFIG_* XDG_DATA_* XDG_CACHE_* XDG_STATE_* XDG_BIN_*
    """,
    "Python": """
        PYTHON* __PYVENV_LAUNCHER__ VIRTUAL_ENV* CONDA_* _CONDA_* MAMBA_* PIP_* PIPX_* PIPENV_* UV_* POETRY_*
        PDM_* HATCH_* PYENV_* PYTEST_* MYPY* RUFF_* PYLINT* FLAKE8_* BLACK_* TOX_* NOX* IPYTHON* JUPYTER_* PYPY*
        COVERAGE_* COV_CORE_* MPL* MATPLOTLIBRC PRE_COMMIT_* PYRIGHT_PYTHON_*
    """,
    "JavaScript": """
        NODE_* npm_* NPM_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* TS_NODE_* TSX_* ELECTRON_* NVM_* VOLTA_* FNM_*
        NODENV_* ESLINT_* PRETTIER_* BABEL_* V8_* ESBUILD_* BIOME_* SWC_* TURBO_*
    """,
    "Perl, Ruby, PHP, Lua, Tcl, R": """
        PERL* PLENV_* RUBY* GEM_* BUNDLE_* BUNDLER_* RBENV_* RAKE* IRBRC JRUBY_* PHPRC PHP_* COMPOSER_* LUA_*
        LUAROCKS_* TCL* TK_LIBRARY R_* SPEC_OPTS RUBOCOP_*
    """,
    "Java and .NET": """
        JAVA_* _JAVA_* JDK_* JRE_* JVM_* CLASSPATH MAVEN_* M2_HOME GRADLE_* GROOVY_* SCALA_* KOTLIN_* SBT_*
        ANT_* LEIN_* CLJ_* SDKMAN_* JENV_* DOTNET_* CORECLR_* COR_* COMPlus_* NUGET_* MSBUILD* MONO_*
    """,
    "other languages and version managers": """
        GOPATH GOROOT GOBIN GOFLAGS GOENV* GOTOOL* GOPROXY GONO* GOSUMDB GOPRIVATE GOEXPERIMENT GODEBUG GOCACHE
        GOMOD* GOWORK GOINSECURE GOVCS GOAUTH GOOS GOARCH CGO_* RUST* CARGO* JULIA_* ERL_* ELIXIR_* MIX_* IEX_*
        HEX_* GHC* CABAL_* STACK_* OCAML* CAML* OPAM* GUILE_* PLT* EMACS* SWIFT_* ZIG_* NIM* DART_* PUB_CACHE
        FLUTTER_* ASDF_* MISE_* RTX_* PROTO_* DIRENV_* HOMEBREW_* NIX_* AQUA_*
    """,
    "compilers and make": """
        CC CXX CPP AR AS RANLIB STRIP CFLAGS CXXFLAGS CPPFLAGS LDFLAGS COMPILER_PATH GCC_* CPATH LIBRARY_PATH
        C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH MAKE MAKEFLAGS MAKEFILES MAKELEVEL MFLAGS
        GNUMAKEFLAGS CMAKE_* PKG_CONFIG* CCACHE_* DISTCC_* SCCACHE_* M4PATH JUST_* OMP_TOOL_LIBRARIES BAZEL_REAL
        BAZELISK_* USE_BAZEL_* LEFTHOOK_*
    """,
    "version control": """
        GIT_* HG* SVN_* CVS* BZR* JJ_* GH_CONFIG_DIR GLAB_CONFIG_DIR
    """,
    "editors and pagers": """
        EDITOR VISUAL PAGER MANPAGER MANPATH MANOPT LESS* MORE BROWSER VIM VIMINIT VIMRUNTIME EXINIT MYVIMRC
        NVIM_* DELTA_* SYSTEMD_* TERMINFO* TERMCAP TERMPATH SCREENRC
    """,
    "text tools": """
        AWKPATH AWKLIBPATH AWK_* GAWK_* GREP_* RIPGREP_CONFIG_PATH ACK* AG_* FZF_* BAT_* FD_* JQ_* TAR_OPTIONS
        TAPE GZIP BZIP BZIP2 XZ_* ZSTD_* ZIP ZIPOPT UNZIP UNZIPOPT ZIPINFO RSYNC_* BC_ENV_ARGS MAGIC CLICOLOR*
        BLOCKSIZE BLOCK_SIZE DIFF_OPTIONS QUOTING_STYLE TIME_STYLE TIMEFORMAT FORCE_COLOR PY_COLORS
    """,
    "scanners": """
        SHELLCHECK_* GITLEAKS_* SEMGREP_RULES SEMGREP_SETTINGS_FILE TRIVY_* TRUFFLEHOG_* CHECKOV_* BANDIT_*
        GRYPE_* SYFT_* HADOLINT_* YAMLLINT_* GOLANGCI_* OPA_* CONFTEST_* TFLINT_* VALE_*
    """,
    "networks and certificates": """
        SSL_CERT_* SSLKEYLOGFILE OPENSSL_* GNUTLS_* REQUESTS_CA_BUNDLE CURL_* WGETRC SYSTEM_WGETRC WGET_* NETRC
        SSH_ASKPASS* SUDO_* GNUPGHOME GPG_* PASSWORD_STORE_* KRB5_* SASL_* LDAP*
    """,
    "services": """
        AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE AWS_DATA_PATH CLOUDSDK_CONFIG CLOUDSDK_PYTHON*
        AZURE_CONFIG_DIR AZURE_EXTENSION_DIR KUBECONFIG HELM_* DOCKER_CONFIG DOCKER_CLI_* CONTAINERS_CONF*
        REGISTRY_AUTH_FILE TF_CLI_* TF_PLUGIN_* TERRAGRUNT_* TG_TF_PATH ANSIBLE_* PSQL* PGSYSCONFDIR PGSERVICEFILE
        MYSQL_HOME LIBMYSQL_* ODBC* TNS_ADMIN SQLITE_*
    """,
    "desktop": """
        DBUS_* GTK* GDK_* GIO_* GI_* GSETTINGS_* QT_* QML* GST_* SDL_* ALSA_* LIBGL_* LIBVA_* VK_* __EGL_*
        __GLX_* FONTCONFIG_* XLOCALEDIR XKB_* MAGICK_* GS_* TEXMF* TEXINPUTS BIBINPUTS GROFF_* GVFS_*
    """,
}
# For hooks that ask a language model these are the installation's too: they choose its server, program or settings.
MODEL_VARIABLES = """
    ANTHROPIC_* CLAUDE_* OPENAI_* AZURE_* CODEX_* GEMINI_* GOOGLE_* VERTEX* CLOUD_ML_* BEDROCK_* AWS_ENDPOINT_URL*
    OLLAMA_* LLAMA* LMSTUDIO_* LM_STUDIO_* VLLM_* LITELLM_* LLM_* OPENROUTER_* GROQ_* MISTRAL_* DEEPSEEK_* XAI_* GROK_*
    COHERE_* HF_* HUGGINGFACE_* TOGETHER_* FIREWORKS_* MOONSHOT_* KIMI_* QWEN_* DASHSCOPE_* ZAI_* COPILOT_* GH_*
    CURSOR_* OPENCODE_* CRUSH_* GOOSE_* AIDER_* AMP_* AUGMENT_* FACTORY_* DROID_* DEVIN_* KIRO_* CLINE_* WINDSURF_*
    PI_* DOCKER_* HTTP_PROXY* HTTPS_PROXY* ALL_PROXY* NO_PROXY*
    *_BASE_URL *_API_BASE *_API_URL *_API_HOST *_ENDPOINT *_HOST *_HOME *_CONFIG *_CONFIG_DIR *_MODEL *_PROXY
"""
_MODEL_PREFIXES = tuple(word[:-1] for word in MODEL_VARIABLES.split() if word.endswith("*"))
_MODEL_SUFFIXES = tuple(word[1:] for word in MODEL_VARIABLES.split() if word.startswith("*"))
_CALLER_SUFFIXES = ("_KEY", "_TOKEN", "_PROJECT_DIR", "_PLUGIN_ROOT", "_SESSION_ID")  # which choose nothing
_PLACE_SUFFIXES = ("_DIR", "_HOME", "_CONFIG", "_PATH", "_FILE", "_CREDENTIALS")
_MODEL_VALUE = lazy_pattern(r"(?a)\w+://[\w.:/\[\]-]+|[\w.,:-]+")  # a server or a name, never a password
_WORDS = " ".join(INSTALLATION_VARIABLES.values()).split()
_NAMES = frozenset(word for word in _WORDS if not word.endswith("*"))
_PREFIXES = ("HOOKONCE_", *(word[:-1] for word in _WORDS if word.endswith("*")))
_DEFAULT_PATH = "/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_MAX_NAMES = 4096  # that are remembered; whoever calls makes them up


class _Ownership(dict[str, bool]):
    """Whether a variable is the caller's, by its name: a look into a table of names that were seen before."""

    def __missing__(self, name: str) -> bool:
        if len(self) >= _MAX_NAMES:
            self.clear()
        self[name] = is_callers = name not in _NAMES and not name.startswith(_PREFIXES)
        return is_callers


IS_CALLERS = _Ownership()


class LazyEnvironment(Mapping[str, str]):
    """Environment of a caller that never changes: parsed on first use, and composed for hooks once."""

    def __init__(self, field: bytes) -> None:
        """Take variables as a process has them, each with a zero byte at its end."""
        self._field = field
        self._hook_variables: tuple[Mapping[str, str], dict[str, str]] | None = None  # of which note, and what it was

    @cached_property
    def _variables(self) -> dict[str, str]:
        variables = {}
        for entry in os.fsdecode(self._field).split("\0"):
            key, sign, value = entry.partition("=")
            if key and sign:
                variables[key] = value
        return variables

    def compose(self, note: Mapping[str, str]) -> dict[str, str]:
        """The environment of a hook with these variables of the installation."""
        if self._hook_variables is None or self._hook_variables[0] is not note:
            self._hook_variables = note, _compose(self, note)
        return self._hook_variables[1]

    def __contains__(self, name: object) -> bool:
        return f"{name}=".encode() in self._field and name in self._variables

    def __getitem__(self, name: str) -> str:
        if name not in self:
            raise KeyError(name)
        return self._variables[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A variable, without the detour through an exception."""
        return self._variables.get(name, default)

    def items(self) -> ItemsView[str, str]:
        """All variables, without a look at each by its name."""
        return self._variables.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def compose_environment(caller: Mapping[str, str], *, keeps_callers: bool = False) -> dict[str, str]:
    """The environment of a hook: of the caller what chooses no code, and what was noted at the installation.

    With `keeps_callers` it is the caller's but for our own variables. Whoever changes it changes a copy.
    """
    if keeps_callers:
        return {name: value for name, value in caller.items() if not name.startswith("HOOKONCE_")}
    note = installed_environment()
    return caller.compose(note) if isinstance(caller, LazyEnvironment) else _compose(caller, note)


def _compose(caller: Mapping[str, str], note: Mapping[str, str]) -> dict[str, str]:
    environment = {name: value for name, value in caller.items() if IS_CALLERS[name]}
    environment.update(note)
    return environment


def compose_model_environment(caller: Mapping[str, str], key_name: str | None) -> dict[str, str]:
    """The environment of a hook that asks a language model: who judges is the installation's choice.

    `key_name` is the variable with the key of the model's server, which is the caller's.
    """
    caller_variables = {name: value for name, value in caller.items() if name == key_name or not _chooses_model(name)}
    return _current_note()[1] | compose_environment(caller_variables)


def _chooses_model(name: str) -> bool:
    name = name.upper()  # as programs read the names of proxies
    has_family = name.startswith(_MODEL_PREFIXES) and not name.endswith(_CALLER_SUFFIXES)
    return has_family or name.endswith(_MODEL_SUFFIXES)


def installed_environment() -> dict[str, str]:
    """The variables that the installation gives every hook; without a note PATH is that of an ordinary account."""
    return _current_note()[0]


def _current_note() -> tuple[dict[str, str], dict[str, str]]:
    """The variables that were noted for every hook, and those for hooks that ask a language model."""
    home = paths.home()
    try:
        stamp = os.stat(_note_file(home)).st_mtime_ns  # noqa: PTH116  asked for every hook
    except OSError:
        stamp = 0
    return _load_note(home, stamp)


@lru_cache(maxsize=256)
def python_variables(command: str) -> dict[str, str]:
    """Variables for a command that has Python run code which is no file: it then imports nothing of its folder."""
    if "python" not in command and "pypy" not in command:
        return {}
    return {"PYTHONSAFEPATH": "1"} if any(map(_runs_inline_python, _COMMAND_END.split(command))) else {}


def _runs_inline_python(command: str) -> bool:
    words = iter(command.split())
    if not any(_PYTHON.fullmatch(word) for word in words):
        return False
    for word in words:
        if not word.startswith("-") or word == "-":
            return word == "-" or word.startswith("<")
        if _INLINE_OPTION.fullmatch(word):
            return True
        if word in _OPTIONS_WITH_VALUE:
            next(words, None)
    return True  # it reads its program from stdin


_COMMAND_END = lazy_pattern(r"[|;&\n(]")
_PYTHON = lazy_pattern(r"""['"`$]*(?:[^\s'"]*/)?(?:python|pypy)[0-9.]*['"]*""")
_INLINE_OPTION = lazy_pattern(r"-[A-Za-z]*[cm].*")
_OPTIONS_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def find_program(name: str) -> str | None:
    """The path of a program as a hook finds it."""
    from shutil import which  # no call asks

    return which(name, path=installed_environment()["PATH"])


@lru_cache(maxsize=8)
def _load_note(home: Path, _stamp: int) -> tuple[dict[str, str], dict[str, str]]:
    try:
        content = decode(Path(_note_file(home)).read_bytes(), type=dict[str, str])
    except (OSError, DecodeError):
        content = {}
    content = {name: value for name, value in content.items() if "\0" not in value}
    note = {"PATH": f"{home}/.local/bin:{_DEFAULT_PATH}"} | content | {"HOME": str(home)}
    model_note = {name: note.pop(name) for name in [*note] if IS_CALLERS[name] and _chooses_model(name)}
    return note, model_note


def note_environment(environment: Mapping[str, str], project: Path) -> None:
    """Note what hooks get from now on: places outside of a project that nobody else can write to, and who judges."""
    note = {
        name: ":".join(places)
        for name, value in environment.items()
        if not IS_CALLERS[name]
        and name != "HOME"
        and (places := [place for place in value.split(":") if _is_lasting(place, project)])
    }
    note |= {
        name: value
        for name, value in environment.items()
        if IS_CALLERS[name] and name.upper().startswith(_MODEL_PREFIXES) and _chooses_model(name)
        if _is_lasting(value, project) or (not name.endswith(_PLACE_SUFFIXES) and _MODEL_VALUE.fullmatch(value))
    }
    paths.make_private_dir(paths.data_dir())
    replace_file(Path(_note_file(paths.home())), encode(note), mode=PRIVATE_MODE)


def _is_lasting(place: str, project: Path) -> bool:
    path = Path(place)
    is_projects = path.is_relative_to(project) and not paths.home().is_relative_to(project)
    is_projects |= (path.parent / "pyvenv.cfg").exists() or "node_modules" in path.parts  # of another project
    if is_projects or not path.is_absolute() or not place.isprintable():
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid in {0, os.getuid()} and not status.st_mode & stat.S_IWOTH


@lru_cache(maxsize=8)
def _note_file(home: Path) -> str:
    return f"{home}/{DATA_SUBDIR}/environment.json"
