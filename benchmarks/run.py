"""make bench: what decoding and translating cost, as ratios to stdlib JSON measured in the same run.

These machines are noisy: a ratio to a floor of the same run says more than microseconds do. A case goes through all
payloads in each of the shuffled rounds, and the best time of each payload is kept, of the floor as of every other case:
whatever else the machine does in a round then spoils the payload that it hits, and not the round.
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
ROUNDS = 40
MAX_RATIOS = {"openhook": 3.0, "agent-hooks": 3.0}
Sample = tuple[str, str, bytes]  # agent, native event, and bytes of a payload


def payloads() -> list[Sample]:
    """The payloads to measure: the captures beside the repository, else the recordings."""
    files = sorted(SHARED.glob("*/*.json"))
    if files:
        names = [(file.parent.name.removesuffix("-pascal"), file) for file in files]
        return [(name, file.stem.partition("-")[0].removeprefix("event."), file.read_bytes()) for name, file in names]
    samples = []
    for file in sorted((ROOT / "src/hookonce/demo/recordings").glob("*.jsonl")):
        steps = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        samples += [(file.stem, step["event"], json.dumps(step["payload"]).encode()) for step in steps]
    return samples


def floor(sample: Sample) -> None:
    """What everybody pays: parse and print with the standard library."""
    json.dumps(json.loads(sample[2]))


def decode_payload(sample: Sample) -> None:
    """A parsed payload into an event."""
    name, event, raw = sample
    decode(agents.load(name), json.loads(raw), event)


def translate_payload(target: str) -> Callable[[Sample], None]:
    """Bytes in, bytes out, through the journey that the command walks."""
    encode = Encoder().encode
    translations: dict[tuple[str, str], Translation] = {}

    def run(sample: Sample) -> None:
        name, event, raw = sample
        translation = translations.get((name, event))
        if translation is None:
            plan = TranslationPlan(source=agents.load(name), event=event, target=formats.load(target))
            translation = translations[name, event] = Translation(plan)
        for document in translation.translate_line(StreamLine(1, raw)):
            encode(document)

    return run


def measure(cases: dict[str, Callable[[Sample], None]]) -> dict[str, float]:
    """The mean over all payloads of each one's best time in any round, in microseconds, by case."""
    samples = payloads()
    best = {name: [float("inf")] * len(samples) for name in cases}
    for _ in range(ROUNDS):
        for name in random.sample(list(cases), len(cases)):
            run, best_times = cases[name], best[name]
            for number, sample in enumerate(samples):
                start = time.perf_counter()
                run(sample)
                best_times[number] = min(best_times[number], time.perf_counter() - start)
    return {name: sum(best_times) / len(samples) * 1e6 for name, best_times in best.items()}


def main() -> int:
    """Print the table, or with --json one object; exit 1 when a promised ratio does not hold."""
    cases = {"floor: json.loads + json.dumps": floor, "decode": decode_payload}
    cases |= {f"translate to {name}": translate_payload(name) for name in formats.FORMATS}
    best = measure(cases)
    base = best["floor: json.loads + json.dumps"]
    ratios = {name: round(value / base, 2) for name, value in best.items()}
    if "--json" in sys.argv:
        print(json.dumps({"payloads": len(payloads()), "floor_us": round(base, 2), "ratios": ratios}))
    else:
        print(f"{len(payloads())} payloads, the best time of each in {ROUNDS} shuffled rounds\n")
        for name, value in best.items():
            limit = MAX_RATIOS.get(name.removeprefix("translate to "))
            promise = f"   (promised: at most {limit})" if limit else ""
            print(f"{name:34} {value:7.1f} µs  {ratios[name]:5.2f} ×{promise}")
    return int(any(ratios[f"translate to {name}"] > limit for name, limit in MAX_RATIOS.items()))


if __name__ == "__main__":
    sys.exit(main())
