"""make bench: how long agents wait for us, beside the least that a program can cost; writes benchmarks/results.json."""

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

from msgspec.json import encode
from msgspec.json import format as pretty
from rounds import QUICK_PLAN, BenchPlan, run_bench

from hookonce.cli.lab.bench import print_report

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"


def main() -> int:
    """Measure, show, and keep."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer calls of the same cases, in under 3 minutes; not kept"
    )
    parser.add_argument("--keep", action="store_true", help="write benchmarks/results.json also after a quick run")
    parser.add_argument(
        "--record",
        type=Path,
        metavar="HOME",
        help="measure in a copy of this home's record too, which "
        "`benchmarks/record/store.py --fill HOME --rows 1000000` makes",
    )
    options = parser.parse_args()
    os.environ.pop("HOOKONCE_COLD", None)
    with TemporaryDirectory(prefix="hookonce-record-", ignore_cleanup_errors=True) as scratch:
        record = None
        if options.record is not None:
            record = copytree(options.record / ".local" / "share" / "hookonce", Path(scratch) / "record")
        plan = QUICK_PLAN if options.quick else BenchPlan()
        report = run_bench(plan, lambda text: print(text, file=sys.stderr), record=record)
    print_report(report)
    if options.keep or not options.quick:
        RESULTS.write_bytes(pretty(encode(report), indent=1) + b"\n")
        print("\nwrote benchmarks/results.json; make docs puts it into docs/performance.md")
    return int(any(row.errors or row.wrong for row in report.rows))


if __name__ == "__main__":
    sys.exit(main())
