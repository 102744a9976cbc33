"""A gRPC server with a tool and a hook, and links to it, in a process of their own: grpcio has threads, and tests fork.

`grpc_fake.py` is a module on stdio for tests of the link, `grpc_fake.py serve` the server alone, which says where it is.
"""

import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).parents[2]))
from hookonce.modules import module
from hookonce.modules.host.client import connect
from hookonce.modules.protocol import messages
from hookonce.modules.protocol.descriptor import parse_descriptor
from tests.modules.grpc_messages import decode_fields, encode_fields

SPEC = {"type": "object", "required": ["one"], "properties": {"one": {"type": "integer"}}}
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]


def get_spec(body):
    return encode_fields("ToolSpec", name="add", description="adds", parameters_json=json.dumps(SPEC))


def execute(body):
    """The sum of `one` and `other`; with a `text` all arguments as they came."""
    request = decode_fields("ToolExecuteRequest", body)
    args = json.loads(request.input)
    time.sleep(args.get("hold", 0))
    if request.content_type != "application/json" or not args.keys() & {"one", "text"}:
        return encode_fields("ToolExecuteResponse", success=False, error="one is missing", output=b"[1]")
    output = args if "text" in args else args["one"] + args.get("other", 1)
    return encode_fields(
        "ToolExecuteResponse", success=True, output=json.dumps(output).encode(), content_type="application/json"
    )


def handle(body):
    """A refusal of rm, and what it was told."""
    request = decode_fields("HookHandleRequest", body)
    action = 3 if "rm" in json.loads(request.data_json).get("tool_input", {}).get("command", "") else 1
    return encode_fields("HookResult", action=action, reason=f"{request.event}: the server says no")


class Script(grpc.GenericRpcHandler):
    """What each method answers: what a test wants, else what a tool and a hook do; and what was called."""

    def __init__(self):
        self.steps, self.calls = {}, []

    def service(self, details):
        method = details.method.removeprefix("/amplifier.module.")
        own = {"ToolService/GetSpec": get_spec, "ToolService/Execute": execute, "HookService/Handle": handle}
        if method not in own.keys() | self.steps.keys():
            return None
        metadata = dict(details.invocation_metadata)
        return grpc.unary_unary_rpc_method_handler(partial(self.answer, method, own.get(method), metadata))

    def answer(self, method, own, metadata, body, context):
        step = self.steps.get(method, {})
        self.calls.append([method, metadata.get("authorization"), body.hex()])
        time.sleep(step.get("sleep", 0))
        if "status" in step:
            context.abort(grpc.StatusCode[step["status"]], step.get("message", ""))
        return bytes.fromhex(step["raw"]) if "raw" in step else b"\0" * step["zeros"] if "zeros" in step else own(body)


class Fake:
    """A server; it can be ended and begun again where it was."""

    def __init__(self, identity=None):
        self.script, self.port, self.identity = Script(), 0, identity
        self.start()

    def start(self):
        self.server = grpc.server(ThreadPoolExecutor(4), handlers=[self.script], options=UNLIMITED)
        place = f"127.0.0.1:{self.port}"
        if self.identity is None:
            self.port = self.server.add_insecure_port(place)
        else:
            self.port = self.server.add_secure_port(place, grpc.ssl_server_credentials([self.identity]))
        self.server.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}" if self.identity is None else f"https://localhost:{self.port}"


m = module(name="grpc links", kind="tool")
fakes, links = {}, {}


@m.op("listen")
def listen(key: str | None = None, certificate: str | None = None) -> str:
    identity = key and (Path(key).read_bytes(), Path(certificate).read_bytes())
    fake = Fake(identity)
    fakes[fake.url] = fake
    return fake.url


@m.op("stop")
def stop(url: str):
    fakes[url].server.stop(None).wait()


@m.op("start")
def start(url: str):
    fakes[url].start()


@m.op("ask")
def ask(
    *, descriptor: dict, op: str, given: dict, steps: dict, env: dict, timeout: float = 10.0, session: str | None = None
):
    """What a link answers while the server does this; every test with the same descriptor has the same link."""
    fake = fakes.get(descriptor["transport"]["url"])
    if fake is not None:
        fake.script.steps, fake.script.calls = steps, []
    key = json.dumps([descriptor, env])
    if key not in links:
        links[key] = connect(parse_descriptor(descriptor), env=env)
    answer = links[key].ask(messages.Request(op, given, session), timeout)
    return {"answer": answer, "calls": fake.script.calls if fake is not None else []}


@m.op("close")
def close():
    for link in links.values():
        link.close()
    links.clear()


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        fake = Fake()
        print(fake.url, flush=True)  # noqa: T201
        signal.pause()
    m.run()
