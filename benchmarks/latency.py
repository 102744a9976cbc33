"""make bench: how long agents wait for us, and for public Python packages beside us; writes benchmarks/results.json.

`--quick` measures less; what it finds is shown and not kept. `--record HOME` also measures in a home with much in its
record, which `benchmarks/store.py --fill HOME --rows 1000000` makes; a copy of it is used.
"""

import os
import sys
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from msgspec.json import encode
from msgspec.json import format as pretty
from msgspec.structs import replace
from peers import install_peers
from rounds import QUICK_PLAN, BenchPlan, run_bench

from hookonce.cli.lab.bench import print_report
from hookonce.lab.latency import SkippedCase

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"


def main() -> int:
    """Measure, show, and keep."""
    os.environ.pop("HOOKONCE_COLD", None)
    quick = "--quick" in sys.argv
    with TemporaryDirectory(prefix="hookonce-peers-", ignore_cleanup_errors=True) as scratch:
        peer_cases, missing_peers = install_peers(Path(scratch))
        report = run_bench(
            QUICK_PLAN if quick else BenchPlan(),
            peer_cases,
            lambda text: print(text, file=sys.stderr),
            record=_copy_record(Path(scratch) / "record"),
        )
    skipped = [SkippedCase(case=name, reason=reason) for name, reason in missing_peers.items()]
    report = replace(report, skipped=report.skipped + skipped)
    print_report(report)
    if not quick:
        RESULTS.write_bytes(pretty(encode(report), indent=1) + b"\n")
        print("\nwrote benchmarks/results.json; make docs puts it into docs/performance.md")
    return int(any(row.errors or row.wrong for row in report.rows))


def _copy_record(place: Path) -> Path | None:
    """The record of the home that was named, if one was."""
    if "--record" not in sys.argv:
        return None
    home = Path(sys.argv[sys.argv.index("--record") + 1])
    copytree(home / ".local" / "share" / "hookonce", place)
    return place


if __name__ == "__main__":
    sys.exit(main())
