"""Servers on this machine that behave as servers do, or worse; each path is another way."""

import json
import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

MEGABYTE = b"x" * (1 << 20)
DENY = {"decision": "deny", "reason": "the server says no"}


def answer(body, status="200 OK", kind="application/json", more=""):
    """The bytes of an answer."""
    data = body if type(body) is bytes else json.dumps(body).encode()
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data


class Server:
    """It keeps what it was sent, and answers each path in its own way."""

    def __init__(self, ways, context=None, patience=5):
        self.ways, self.heard, self.sent, self._patience = ways, [], 0, patience
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self._context = context
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._lines = []

    def url(self, path="/", host="127.0.0.1"):
        """Where one of its ways is."""
        return f"{'https' if self._context else 'http'}://{host}:{self.port}{path}"

    def begin(self):
        self._thread.start()
        return self

    def end(self):
        self._ended.set()
        self._thread.join()
        for line in self._lines:
            line.join()
        self._listener.close()

    def _serve(self):
        while not self._ended.is_set():
            try:
                line, _ = self._listener.accept()
            except TimeoutError:
                continue
            one = threading.Thread(target=self._line, args=(line,), daemon=True)
            self._lines.append(one)
            one.start()

    def _line(self, line):
        with suppress(OSError), line:
            line.settimeout(self._patience)
            secured = self._context.wrap_socket(line, server_side=True) if self._context else line
            with secured:
                self._answer(secured)

    def _answer(self, line):
        data = b""
        while b"\r\n\r\n" not in data and (more := line.recv(1 << 16)):
            data += more
        head, _, body = data.partition(b"\r\n\r\n")
        if not head:
            return
        first, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in rest)}
        while len(body) < int(headers.get("content-length", 0)) and (more := line.recv(1 << 16)):
            body += more
        method, path, _ = first.split()
        self.heard.append((method, path, headers, body))
        way = self.ways[path.partition("?")[0]]
        for piece in way(self, body) if callable(way) else [way]:
            if self._ended.is_set():
                return
            if type(piece) is bytes:
                line.sendall(piece)
                self.sent += len(piece)
            else:
                self._ended.wait(piece)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _hangs(*_):
    yield 30.0


def _hangs_behind_headers(*_):
    yield HEAD + b"Content-Length: 10\r\n\r\n"
    yield 30.0


def _drips(*_):
    yield HEAD + b"Content-Length: 100000\r\n\r\n"
    while True:
        yield b" "
        yield 0.02


def _drips_headers(*_):
    yield b"HTTP/1.1 200 OK\r\n"
    while True:
        yield b"X-More: 1\r\n"
        yield 0.02


def _floods(*_):
    yield HEAD + b"\r\n"
    for _ in range(1024):
        yield MEGABYTE


def _floods_in_chunks(*_):
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    for _ in range(1024):
        yield b"100000\r\n" + MEGABYTE + b"\r\n"


def _floods_headers(*_):
    yield b"HTTP/1.1 200 OK\r\nX: "
    for _ in range(1024):
        yield MEGABYTE


def _chunked(*_):
    data = json.dumps(DENY).encode()
    yield HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    yield b"%x\r\n%s\r\n%x;more=1\r\n%s\r\n0\r\n\r\n" % (5, data[:5], len(data) - 5, data[5:])


WAYS = {
    "/deny": answer(DENY),
    "/chunked": _chunked,
    "/plain-end": HEAD + b"\r\n" + json.dumps(DENY).encode(),
    "/continue": b"HTTP/1.1 100 Continue\r\n\r\n" + answer(DENY),
    "/none": b"HTTP/1.1 204 No Content\r\n\r\n",
    "/empty": answer(b""),
    "/hangs": _hangs,
    "/hangs-behind-headers": _hangs_behind_headers,
    "/drips": _drips,
    "/drips-headers": _drips_headers,
    "/floods": _floods,
    "/floods-in-chunks": _floods_in_chunks,
    "/floods-headers": _floods_headers,
    "/says-a-gigabyte": HEAD + b"Content-Length: 1073741824\r\n\r\n{",
    "/garbage": answer(b"\x00\xff not json"),
    "/no-http": b"SSH-2.0-OpenSSH_9\r\n",
    "/hangs-up": lambda *_: [],
    "/cut": HEAD + b"Content-Length: 100\r\n\r\n{",
    "/500": answer(DENY, "500 Internal Server Error"),
    "/404": answer(DENY, "404 Not Found"),
    "/html": answer(json.dumps(DENY).encode(), kind="text/html"),
    "/packed": answer(b"\x1f\x8b", more="Content-Encoding: gzip\r\n"),
    "/elsewhere": answer(b"", "307 Temporary Redirect", more="Location: http://example.com/deny\r\n"),
    "/another-port": answer(b"", "307 Temporary Redirect", more="Location: http://127.0.0.1:1/deny\r\n"),
    "/here": answer(b"", "308 Permanent Redirect", more="Location: /deny\r\n"),
    "/here-as-get": answer(b"", "303 See Other", more="Location: /deny\r\n"),
    "/circle": answer(b"", "302 Found", more="Location: /circle\r\n"),
    "/no-location": answer(b"", "302 Found"),
}


@contextmanager
def server(ways=WAYS, context=None, **more):
    """One that is there for a while."""
    one = Server(ways, context, **more).begin()
    try:
        yield one
    finally:
        one.end()


def context_of(tmp_path, name="localhost"):
    """What a server with a certificate of its own making needs, and the file of the certificate."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    who = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder().subject_name(who).issuer_name(who).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(names, critical=False).sign(key, hashes.SHA256())
    own, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    plain = serialization.NoEncryption()
    own.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, own)
    return context, certificate


def model(text, usage=None, name="scripted-1", status="200 OK"):
    """A way of a server with OpenAI's API: every question has the same answer."""
    told = {"id": "c", "object": "chat.completion", "model": name, "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return answer(told | ({"usage": usage} if usage else {}), status)

