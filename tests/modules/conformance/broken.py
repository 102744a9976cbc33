"""A module that works, and eleven that do not; each is a program: python broken.py NAME."""

import json
import os
import sys
import time
from threading import Timer

DESCRIBED = {"name": "broken", "version": "1.0.0", "kind": "tool", "capabilities": [], "inputs": {}, "outputs": {}}


def answer(request):
    """What a module that works says."""
    op = request.get("op")
    if op == "health":
        return {"status": "ok"}
    if op == "describe":
        return dict(DESCRIBED)
    if op is None:
        return {"ok": False, "error": {"code": "bad_request", "message": "no op"}}
    if op == "hello":
        return {"ok": True, "result": "hello"}
    return {"ok": False, "error": {"code": "unsupported_op", "message": op}}


def say(request, text=None, end="\n"):
    """Answer as it should be."""
    said = answer(request) | ({"id": request["id"]} if "id" in request else {})
    sys.stdout.write((json.dumps(said) if text is None else text) + end)
    sys.stdout.flush()


def wrong_status(request):
    say(request, json.dumps({"status": "fine", "id": request["id"]}) if request["op"] == "health" else None)


def hangs(request):
    time.sleep(3600)


def two_answers(request):
    say(request)
    say(request)


def half_a_line(request):
    say(request, end="")


def no_json(request):
    say(request, "hello, I am well")


def closes_stdin(request):
    say(request)
    os.close(0)
    time.sleep(3600)


def endless_line(request):
    say(request, "x" * (10 << 20), end="")


def wrong_id(request):
    say(request, json.dumps(answer(request) | {"id": "somebody else"}))


def exits(request):
    sys.exit(3)


def floods_stderr(request):
    sys.stderr.write("noise " * 200_000)
    sys.stderr.flush()
    say(request)


def out_of_order(request):
    is_late = "id" not in request and request.get("op") == "health"
    Timer(0.1 if is_late else 0.0, say, [request]).start()


BROKEN = {
    "wrong_status": ("health", "its status is not ok but 'fine'"),
    "hangs": ("health", "gave no answer in"),
    "two_answers": ("health", "gave more than one answer to one request"),
    "half_a_line": ("health", "without the end of a line"),
    "no_json": ("health", "not JSON"),
    "closes_stdin": ("describe", "does not read its stdin"),
    "endless_line": ("health", "wrote 10485760 bytes without the end of a line"),
    "wrong_id": ("health", "with the id 'somebody else'"),
    "exits": ("health", "it ended with code 3"),
    "out_of_order": ("order", "out of order: hello, health, unsupported_op"),
    "floods_stderr": ("stderr", "bytes to stderr"),
}

if __name__ == "__main__":
    respond = globals()[sys.argv[1]]
    for line in iter(sys.stdin.readline, ""):
        try:
            asked = json.loads(line)
        except ValueError:
            sys.stdout.write('{"ok":false,"error":{"code":"bad_request","message":"no JSON"}}\n')
            sys.stdout.flush()
            continue
        respond(asked)
