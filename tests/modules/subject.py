"""A module that contract tests talk to, in every way there is."""

import os
import sys
import threading
import time
from pathlib import Path

from hookonce.modules import Fault, Request, module

m = module(name="subject", kind="tool", version="1.2.3", capabilities=["fs.read"])
seen, held, released, crowd = [], [], threading.Event(), threading.Barrier(12)


@m.op("echo")
def echo(args: dict, request: Request):
    return {"args": args, "session_id": request.session_id}


@m.op("add")
def add(one: int, other: int = 1) -> int:
    return one + other


@m.op("hold")
async def hold() -> str:
    held.append(1)
    released.wait(20)
    held.pop()
    return "released"


@m.op("release")
def release() -> int:
    count = len(held)
    released.set()
    return count


@m.op("meet")
def meet() -> int:
    return crowd.wait(20)


@m.op("fail")
def fail():
    raise ValueError("no luck")


@m.op("refuse")
def refuse():
    raise Fault("forbidden", "not you", {"retryable": False})


@m.op("leave")
def leave():
    sys.exit(3)


@m.op("strange")
def strange():
    return object()


@m.op("chatter")
def chatter():
    print("this must not be taken for an answer")  # noqa: T201
    os.system("echo nor this; cat")  # noqa: S605
    return "said"


@m.op("die")
def die():
    os._exit(7)


@m.on_event
def on_event(event: dict):
    time.sleep(0.05)
    if event["event"] == "tea:ready":
        raise ValueError("spilled")
    seen.append(event["event"])


@m.op("seen")
def list_seen() -> list[str]:
    return seen


@m.op("pid")
def pid(file: str | None = None) -> int:
    if file:
        Path(file).write_text(str(os.getpid()), encoding="ascii")
    return os.getpid()


if __name__ == "__main__":
    m.run()
