"""hookonce module serve: hookonce, or another module, as a module server."""

from argparse import ArgumentParser, Namespace

from hookonce.errors import UsageError

_EXAMPLES = """Without an option it speaks JSON lines on stdin and stdout, as the module protocol has them: respond,
translate, check, query, sessions, show, and on_event, which keeps an event. Over MCP an agent can ask what it did:
query, sessions, show, check and translate, which change nothing.

examples:
  hookonce module serve --descriptor
  hookonce module serve --http 8790 --token-env HOOKONCE_TOKEN
  hookonce module serve greeter.json --http 8791
  hookonce module serve --mcp
  claude mcp add hookonce -- hookonce module serve --mcp"""


def configure(parser: ArgumentParser) -> None:
    """The options of `module serve`."""
    parser.epilog = _EXAMPLES
    parser.add_argument("module", nargs="?", metavar="MODULE", help="offer this module over HTTP instead of hookonce")
    parser.add_argument("--mcp", action="store_true", help="speak the Model Context Protocol on stdin and stdout")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP instead; 0 takes any free port")
    parser.add_argument("--host", help="where to listen; beyond this machine only with a token; default: 127.0.0.1")
    parser.add_argument("--token-env", metavar="NAME", help="the environment variable with the token that callers need")
    parser.add_argument("--descriptor", action="store_true", help="print the Module Descriptor v1 and leave")


def run(options: Namespace) -> int:
    """Serve until nobody wants us any more."""
    from hookonce.modules.server.hookonce_module import build_module, build_query_module

    if options.module is not None:
        return _serve_other_module(options)
    if options.mcp:
        if options.http is not None or options.token_env or options.descriptor or options.host:
            raise UsageError("--mcp is on stdin and stdout, and has no descriptor")
        from hookonce.modules.server.mcp import serve_mcp

        serve_mcp(build_query_module())
        return 0
    if options.descriptor:
        return _print_descriptor(options)
    if options.http is not None and not options.token_env:
        raise UsageError("every user of this machine could ask for the record then: name a token with --token-env")
    arguments = [] if options.http is None else ["--http", str(options.http)]
    arguments += ["--host", options.host] if options.host else []
    arguments += ["--token-env", options.token_env] if options.token_env else []
    build_module().run(arguments)
    return 0


def _serve_other_module(options: Namespace) -> int:
    """Somebody else's module, which speaks stdio, for those who speak HTTP."""
    import sys
    from contextlib import suppress

    from hookonce.cli.module.arguments import load_descriptor
    from hookonce.modules.server.authoring import read_token
    from hookonce.modules.server.http_server import serve_over_http

    if options.http is None or options.mcp or options.descriptor:
        raise UsageError("a module of others is offered over HTTP: hookonce module serve MODULE --http PORT")
    module_descriptor, host = load_descriptor(options.module), options.host or "127.0.0.1"
    with (
        serve_over_http(module_descriptor, options.http, host=host, token=read_token(options.token_env)) as server,
        suppress(KeyboardInterrupt),
    ):
        sys.stderr.write(f"{module_descriptor.name} listens at {server.url}\n")
        sys.stderr.flush()
        server.serve_forever()
    return 0


def _print_descriptor(options: Namespace) -> int:
    import sys

    from hookonce.base.jsontext import dump
    from hookonce.model import Object
    from hookonce.modules.server.hookonce_module import build_module

    transport: Object = {"type": "stdio", "command": [sys.executable, "-m", "hookonce", "module", "serve"]}
    if options.http is not None:
        transport = {"type": "http", "url": f"http://{options.host or '127.0.0.1'}:{options.http}"}
        transport |= {"token_env": options.token_env} if options.token_env else {}
    sys.stdout.buffer.write(dump(build_module().descriptor(transport)) + b"\n")
    return 0
