"""Ways to talk to modules in tests: ready-made links, and raw documents on every transport."""

import http.client
import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from urllib.parse import urlsplit

from hookonce.modules.host.http import HttpLink
from hookonce.modules.host.process import ModuleProcess
from hookonce.modules.host.stdio import StdioLink
from tests.modules import subject
from tests.shared import ROOT

SUBJECT, GRPC_FAKE = (str(Path(__file__).with_name(name)) for name in ("subject.py", "grpc_fake.py"))
PYTHON = [sys.executable, "-I", "-S", "-c"]
READ = "import sys, json, os, time\ndef say(d): sys.stdout.write(json.dumps(d) + '\\n'); sys.stdout.flush()\n"
EACH = READ + "for line in sys.stdin:\n    r = json.loads(line)\n    "


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT / "src")}


def program(text):
    """The command of a small module, each request in `r`, which answers with `say`."""
    return [*PYTHON, EACH + text]


@contextmanager
def listening(*words, env=None):
    """The subject over HTTP; where it listens."""
    command = [sys.executable, SUBJECT, "--http", "0", *words]
    with subprocess.Popen(command, env=environment() | (env or {}), stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()
            process.stderr.close()


@contextmanager
def grpc_served():
    """A gRPC server with a tool and a hook: where it listens, and its process."""
    with subprocess.Popen([sys.executable, GRPC_FAKE, "serve"], env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


@contextmanager
def linked(transport):
    if transport == "in process":
        yield subject.m
    elif transport == "stdio":
        with StdioLink([sys.executable, SUBJECT], env=environment()) as link:
            yield link
    elif transport == "http":
        with listening() as url, HttpLink(url) as link:
            yield link
    else:
        with grpc_served() as (url, _), TemporaryDirectory() as folder:
            document = {"name": "far", "kind": "tool", "transport": {"type": "grpc", "url": url}, "capabilities": []}
            Path(folder, "far.json").write_text(json.dumps(document), encoding="utf-8")
            command = [sys.executable, "-m", "hookonce", "module", "serve", f"{folder}/far.json"]
            with StdioLink(command, env=environment()) as link:
                yield link


@contextmanager
def wired(transport):
    """Something that takes bytes or a document and gives the document that answers it."""
    if transport == "in process":
        yield subject.m.answer
    elif transport == "stdio":
        process = ModuleProcess([sys.executable, SUBJECT], env=environment())
        try:
            yield lambda document: _line(process, document)
        finally:
            process.close_stdin()
            process.stop()
            process.close_pipes()
    else:
        with listening() as url:
            yield lambda document: posted(url, "/invoke", document)[1]


def _line(process, document):
    raw = document if type(document) is bytes else json.dumps(document).encode()
    process.send(raw + b"\n", monotonic() + 10)
    heard = b""
    while not heard.endswith(b"\n"):
        heard += process.receive(monotonic() + 10)
    return json.loads(heard)


def posted(url, path, document, method="POST", **headers):
    """Status and document of one HTTP answer."""
    raw = document if type(document) is bytes else json.dumps(document).encode()
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    try:
        connection.request(method, path, raw, {name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()
