"""HTTP handlers as shell commands around curl, for agents that can only run commands, and back.

The script is always the same; what a handler says stands behind it as quoted words, so that no value is ever
read as code and the words can be parsed back. Headers reach curl through a pipe: a token in one of them
is not seen in the list of processes. Whatever goes wrong ends with 1, since 2 would be a refusal.
"""

from msgspec.structs import replace

from hookonce.base.regex import lazy_pattern
from hookonce.model import Handler, Object

SCRIPT_NAME = "hookonce-http"
_HEADER_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_METHOD = lazy_pattern(r"[A-Za-z]+")
_VARIABLE_REFERENCE = lazy_pattern(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_REMOTE_URL = lazy_pattern(r"(?i)https://[!-~]+")
# No user, no backslash, nothing but a path behind the host: nothing that two readers could read differently.
_LOCAL_URL = lazy_pattern(r"(?i)http://(?:localhost|([0-9.]+)|\[([0-9a-f:]+)\])(?::[0-9]+)?(?:/[!-~]*)?")

# $1 the protocol, or why nothing is called; $2 URL; $3 method; $4 seconds; then pairs of what headers are made of.
# Whoever answers with success ends `answer` with its code, 2xx; that code is cut off again.
_SCRIPT = (
    'fail() { echo "hookonce: $1" >&2; exit 1; }; '
    "headers() { while [ $# -gt 1 ]; do case $1 in "
    "name) name=$2 value= ;; text) value=$value$2 ;; "
    'env) word=${2#?}; word=${word#\\{}; word=${word%\\}}; value=$value$(printenv "$word") ;; '
    'end) case $value in *[[:cntrl:]]*) return 1 ;; "") echo "$name;" ;; '
    '*) printf "%s: %s\\n" "$name" "$value" ;; esac ;; '
    "esac; shift 2; done; }; "
    "true 3<&0 || exec </dev/null; "  # or another pipe would take the place of a closed stdin
    "plan=$1 url=$2 method=$3 limit=${4#0}; shift 4; export LC_ALL=C; "
    'case $plan in https) ;; http) export no_proxy="*" ;; *) fail "$plan" ;; esac; '
    'sent=$(headers "$@") || fail "a header has a line break or another control character"; '
    'answer=$({ printf "Expect:\\n%s\\n" "$sent" | curl -q --silent --show-error --fail --globoff --proto "=$plan" '
    '--max-time "${limit:-30}" --request "${method:-POST}" --header @/dev/fd/4 --data-binary @- '
    '--write-out "%{http_code}" --url "$url" 4<&0 0<&3 3<&-; } 3<&0) || fail "the call of the hook failed"; '
    'case $answer in *2[0-9][0-9]) printf "%s" "${answer%???}" ;; *) fail "the server answered without success" ;; esac'
)
_COMMAND_PREFIX = ["sh", "-c", _SCRIPT, SCRIPT_NAME]
_DEFAULT_HEADERS = [("name", "Content-Type"), ("text", "application/json"), ("end", "usual")]

# the fields that only an HTTP handler has, empty
_EMPTY_HTTP_FIELDS: Object = {"url": None, "method": None, "headers": {}, "allowed_env": []}


def to_command_handler(handler: Handler) -> Handler:
    """The HTTP handler as a command handler that calls curl; fields that any handler may have are kept."""
    return replace(handler, type="command", command=build_http_command(handler), **_EMPTY_HTTP_FIELDS)


def to_http_handler(handler: Handler) -> Handler:
    """The HTTP handler that a curl command was made from; any other handler as it is."""
    http_handler = parse_http_command(handler.command or "") if handler.type == "command" else None
    if http_handler is None:
        return handler
    http_fields = {name: getattr(http_handler, name) for name in _EMPTY_HTTP_FIELDS}
    return replace(handler, type="http", command=None, **http_fields)


def build_http_command(handler: Handler) -> str:
    """The command for an HTTP handler; one that must not be called says so when it runs, and fails."""
    from shlex import join  # most hooks are no servers

    url, method = handler.url or "", handler.method or ""
    protocol = explain_handler_fault(handler) or ("https" if _REMOTE_URL.fullmatch(url) else "http")
    limit = "" if handler.timeout is None else f"{handler.timeout or 0}"
    pairs = [("allow", name) for name in handler.allowed_env]
    if not any(name.lower() == "content-type" for name in handler.headers):
        pairs += _DEFAULT_HEADERS
    for name, value in handler.headers.items():
        pairs += [("name", name), *split_header_value(value, frozenset(handler.allowed_env)), ("end", "")]
    return join([*_COMMAND_PREFIX, protocol, url, method, limit, *(word for pair in pairs for word in pair)])


def split_header_value(value: str, allowed_names: frozenset[str]) -> list[tuple[str, str]]:
    """A header's value in parts: the variables that it may name, and everything else as plain text."""
    parts: list[tuple[str, str]] = []
    start = 0
    for match in _VARIABLE_REFERENCE.finditer(value):
        if (match[1] or match[2]) in allowed_names:
            parts += [("text", value[start : match.start()]), ("env", match[0])]
            start = match.end()
    return [*parts, ("text", value[start:])]


def explain_handler_fault(handler: Handler) -> str | None:
    """Why an HTTP handler must not be called, if so."""
    if (fault := explain_url_fault(handler.url or "")) is not None:
        return fault
    if handler.method and not _METHOD.fullmatch(handler.method):
        return "the method is none of HTTP"
    if not all(map(_HEADER_NAME.fullmatch, handler.headers)):
        return "the name of a header has more than letters, digits, dots, dashes and underscores"
    return None


def explain_url_fault(url: str) -> str | None:
    """Why a URL must not be called, if so."""
    local = _LOCAL_URL.fullmatch(url)
    if _REMOTE_URL.fullmatch(url) or (local is not None and is_loopback(local[1] or local[2] or "localhost")):
        return None
    return "only https, or http to this machine itself, in plain ASCII"


def is_loopback(host: str) -> bool:
    """Whether a name or an address is that of this machine itself."""
    from ipaddress import ip_address  # few hooks have an address

    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def parse_http_command(command: str) -> Handler | None:
    """The HTTP handler of a command that was made here, to the last character; None for any other command."""
    from shlex import split  # as above

    try:
        words = split(command)
    except ValueError:
        return None
    if words[: len(_COMMAND_PREFIX)] != _COMMAND_PREFIX or len(words) < len(_COMMAND_PREFIX) + 4 or len(words) % 2:
        return None
    _, url, method, limit, *rest = words[len(_COMMAND_PREFIX) :]
    headers, allowed_env = _parse_pairs(list(zip(rest[::2], rest[1::2], strict=True)))
    try:
        timeout = None if not limit else int(limit) if limit.isdecimal() else float(limit)
    except ValueError:
        return None
    handler = Handler(
        type="http", url=url, method=method or None, timeout=timeout, headers=headers, allowed_env=allowed_env
    )
    return handler if build_http_command(handler) == command else None


def _parse_pairs(pairs: list[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    headers: dict[str, str] = {}
    allowed_env: list[str] = []
    name = value = ""
    for kind, text in pairs:
        if kind == "allow":
            allowed_env.append(text)
        elif kind == "name":
            name, value = text, ""
        elif kind in {"text", "env"}:
            value += text
        elif text != "usual":
            headers[name] = value
    return headers, allowed_env
