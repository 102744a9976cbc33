"""The cold path: what the client runs when nobody warm is there."""

import os
import sys


def main(words: list[str]) -> int:
    """Read the payload, answer the agent, and say nothing else."""
    raw = sys.stdin.buffer.read()
    from hookonce.journeys.on import answer

    reply = answer(words, raw, dict(os.environ))
    sys.stdout.buffer.write(reply.stdout.encode(errors="replace") + (b"\n" if reply.stdout else b""))
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(reply.stderr.encode(errors="replace"))
    sys.stderr.buffer.flush()
    return reply.code
