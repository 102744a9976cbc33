"""make bench: what decoding and translating cost, as ratios to stdlib JSON measured in the same run.

Rounds are shuffled and the best of each is kept, because these machines are noisy: a ratio to a floor
of the same run says more than microseconds do.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.json import Encoder

from hookonce import agents, formats
from hookonce.agents import decode
from hookonce.base.json_stream import StreamLine
from hookonce.translation.pipeline import Translation, TranslationPlan

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("HOOKONCE_SHARED", ROOT.parent / "shared")) / "captures"
ROUNDS = 15
MAX_RATIOS = {"openhook": 3.0, "agent-hooks": 3.0}


def payloads() -> list[tuple[str, str, bytes]]:
    """Agent, native event and bytes of each payload: the captures beside the repository, else the recordings."""
    files = sorted(SHARED.glob("*/*.json"))
    if files:
        names = [(file.parent.name.removesuffix("-pascal"), file) for file in files]
        return [(name, file.stem.partition("-")[0].removeprefix("event."), file.read_bytes()) for name, file in names]
    samples = []
    for file in sorted((ROOT / "src/hookonce/demo/recordings").glob("*.jsonl")):
        steps = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        samples += [(file.stem, step["event"], json.dumps(step["payload"]).encode()) for step in steps]
    return samples


def floor(samples: list[tuple[str, str, bytes]]) -> None:
    """What everybody pays: parse and print with the standard library."""
    for _, _, raw in samples:
        json.dumps(json.loads(raw))


def decode_payloads(samples: list[tuple[str, str, bytes]]) -> None:
    """A parsed payload into an event."""
    for name, event, raw in samples:
        decode(agents.load(name), json.loads(raw), event)


def translate_payloads(target: str) -> Callable[[list[tuple[str, str, bytes]]], None]:
    """Bytes in, bytes out, through the journey that the command walks."""
    encode = Encoder().encode
    translations: dict[tuple[str, str], Translation] = {}

    def run(samples: list[tuple[str, str, bytes]]) -> None:
        for number, (name, event, raw) in enumerate(samples):
            translation = translations.get((name, event))
            if translation is None:
                plan = TranslationPlan(source=agents.load(name), event=event, target=formats.load(target))
                translation = translations[name, event] = Translation(plan)
            for document in translation.translate_line(StreamLine(number, raw)):
                encode(document)

    return run


def measure(cases: dict[str, Callable[[list[tuple[str, str, bytes]]], None]]) -> dict[str, float]:
    """The best time of each case over shuffled rounds, in microseconds per payload."""
    samples = payloads()
    best = dict.fromkeys(cases, float("inf"))
    for _ in range(ROUNDS):
        for name in random.sample(list(cases), len(cases)):
            start = time.perf_counter()
            cases[name](samples)
            best[name] = min(best[name], (time.perf_counter() - start) / len(samples) * 1e6)
    return best


def main() -> int:
    """Print the table, or with --json one object; exit 1 when a promised ratio does not hold."""
    cases = {"floor: json.loads + json.dumps": floor, "decode": decode_payloads}
    cases |= {f"translate to {name}": translate_payloads(name) for name in formats.FORMATS}
    best = measure(cases)
    base = best["floor: json.loads + json.dumps"]
    ratios = {name: round(value / base, 2) for name, value in best.items()}
    if "--json" in sys.argv:
        print(json.dumps({"payloads": len(payloads()), "floor_us": round(base, 2), "ratios": ratios}))
    else:
        print(f"{len(payloads())} payloads, best of {ROUNDS} shuffled rounds\n")
        for name, value in best.items():
            limit = MAX_RATIOS.get(name.removeprefix("translate to "))
            promise = f"   (promised: at most {limit})" if limit else ""
            print(f"{name:34} {value:7.1f} µs  {ratios[name]:5.2f} ×{promise}")
    return int(any(ratios[f"translate to {name}"] > limit for name, limit in MAX_RATIOS.items()))


if __name__ == "__main__":
    sys.exit(main())
