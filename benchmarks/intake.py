"""What taking a stream of events live (`POST /events`) costs beside an import of the same stream.

Both parse, redact and store every event, block by block in turns, in one process and until the last row is there; a
live event is looked for in the record, offered to hooks and answered besides. Seconds are those of the processor.
"""

import json
import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from types import SimpleNamespace
from typing import Any

from hookonce.base import runtime_dir
from hookonce.base.event_loop import EventLoop
from hookonce.base.json_stream import StreamLine
from hookonce.base.process_info import LongLivedRegistry
from hookonce.daemon.call_timer import CallTimer
from hookonce.daemon.dedup_cache import DedupCache
from hookonce.daemon.http.connection import RequestHead
from hookonce.daemon.http.event_intake import EventIntake
from hookonce.daemon.store_writer import BackgroundStoreWriter
from hookonce.dispatch.context import CallContext
from hookonce.handlers.loop_task import LoopTask
from hookonce.store.writer import Writer
from hookonce.translation.import_events import import_events

BLOCK_EVENTS = 250
MAX_RATIO = 7.0  # of the time of an import
_HEAD = RequestHead("POST", "/events", {"content-type": "application/x-ndjson"}, keep_alive=True)
_TYPES = {"tool.start": {"tool_name": "Bash"}, "tool.end": {"tool_name": "Bash", "status": "success"}}


def block(number: int, way: str) -> list[bytes]:
    """So many events of OpenHook that nobody has seen, of a few sessions."""
    documents = []
    for index in range(BLOCK_EVENTS):
        kind = list(_TYPES)[index % len(_TYPES)]
        data = _TYPES[kind] | {"tool_call_id": f"t{index // 2}"}
        known = {"openhook": "0.1", "id": f"{way}-{number}-{index}", "source": "claude-code", "type": kind}
        known |= {"time": "2026-02-23T10:15:30Z", "session_id": f"{way}-{number}-{index // 50}", "data": data}
        documents.append(json.dumps(known).encode())
    return documents


def make_services(loop: EventLoop) -> Any:
    """What a daemon has that takes events."""
    writer = BackgroundStoreWriter(loop)
    return SimpleNamespace(
        loop=loop,
        store_writer=writer,
        dedup_cache=(dedup_cache := DedupCache()),
        call_context=CallContext(
            environment={},
            cwd=os.sep,
            spool=writer.journal,
            dedup_store=dedup_cache,
            add_duration=CallTimer().add_duration,
            handler_registry=LongLivedRegistry(runtime_dir.find_runtime_dir()),
            find_event=writer.find_event,
        ),
        last_call_at=0.0,
    )


def take_live(services: Any, lines: list[bytes]) -> float:
    """The processor's seconds for one body, until all of it is stored."""
    responses: list[Any] = []
    begin = process_time()
    LoopTask(services.loop, EventIntake(services).answer_request(_HEAD, b"\n".join(lines)), responses.append).resume()
    while not responses:
        services.loop.run_once(0.01)
    while not services.store_writer.is_flushed:
        services.store_writer.flush_batch()
    spent_s = process_time() - begin
    states = [json.loads(line)["state"] for line in responses[0].body.splitlines()]
    assert states == ["recorded"] * len(lines)  # noqa: S101
    return spent_s


def take_import(writer: Writer, lines: list[bytes]) -> float:
    """The same for an import."""
    begin = process_time()
    stream = [StreamLine(number, line) for number, line in enumerate(lines, 1)]
    progress = [*import_events(stream, writer, "minimal")][-1]
    spent_s = process_time() - begin
    assert progress.new == len(lines)  # noqa: S101
    return spent_s


def main() -> int:
    """Print both, and their ratio; exit 1 when it is more than promised."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5000, help="how many each way (default 5000)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        Path(folder, ".config").mkdir()
        services = make_services(EventLoop())
        live_s, import_s = [], []
        with Writer() as writer:
            for number in range(1 + max(1, options.events // BLOCK_EVENTS)):
                import_s.append(take_import(writer, block(number, "import")) / BLOCK_EVENTS)
                live_s.append(take_live(services, block(number, "live")) / BLOCK_EVENTS)
        services.store_writer.close()
    live_us, import_us = median(live_s[1:]) * 1e6, median(import_s[1:]) * 1e6  # the first of each is to get warm
    ratio = round(live_us / import_us, 2)
    if options.json:
        print(json.dumps({"live_us": round(live_us, 1), "import_us": round(import_us, 1), "ratio": ratio}))
    else:
        print(f"POST /events     {live_us:7.1f} µs an event, {1e6 / live_us:,.0f} a second of the processor")
        print(f"events import    {import_us:7.1f} µs an event; {ratio:.2f} × (promised: at most {MAX_RATIO:g})")
    return int(ratio > MAX_RATIO)


if __name__ == "__main__":
    sys.exit(main())
