"""The benchmark of optimal protocols: `python benchmarks/run.py [--short] [--only GLOB] [--contender NAME] [--adult PATH]`.

Every run has a process of its own and a time limit. The table is printed as it grows; results.csv, report.md and the
pictures are written to --out, also when the run is interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that this is a script and a module

from benchmarks.contenders import NAMES  # noqa: E402
from benchmarks.instances import Instance, catalogue, matching  # noqa: E402
from benchmarks.report import header, line, write, write_csv  # noqa: E402
from benchmarks.runner import Row, compare, run  # noqa: E402


def main() -> int:
    """Measure, print, write."""
    asked = arguments()
    adult = Path(asked.adult).resolve() if asked.adult else None
    if adult and not adult.exists():
        return refused(f"there is no file {adult}; --adult names Adult's CSV")
    known = catalogue(adult)
    chosen = matching(known, asked.only) if asked.only else known
    if asked.short:
        chosen = [instance for instance in chosen if instance.short]
    if not chosen:
        names = "\n  ".join(instance.name for instance in known if instance.short or not asked.short)
        return refused(f"no instance matches {asked.only!r}; there are\n  {names}")
    left_out = [instance for instance in chosen if needs_adult(instance)] if adult is None else []
    if left_out:
        print(f"{len(left_out)} instances of Adult are skipped: give its CSV by --adult or TRECHTER_ADULT\n")
    rows: list[Row] = []
    print(header())
    try:
        measure([i for i in chosen if i not in left_out], asked, adult, rows)
    except KeyboardInterrupt:
        print("\ninterrupted; what was measured is kept")
        return 130
    finally:
        if rows:
            print(f"\n{write(Path(asked.out), rows, [i.name for i in left_out])}")
    return 0


def measure(chosen: Sequence[Instance], asked: argparse.Namespace, adult: Path | None, rows: list[Row]) -> None:
    """Every contender of every instance; ours last, to be compared with the others."""
    for instance in chosen:
        here: list[Row] = []
        for contender in [asked.contender] if asked.contender else instance.contenders:
            limit = instance.short if asked.short and instance.short else instance.seconds
            here.append(run(instance, contender, limit, adult))
            rows.append(here[-1])
            compare(instance, here)
            print(line(here[-1]), flush=True)
            write_csv(Path(asked.out), rows)


def needs_adult(instance: Instance) -> bool:
    """Whether the joint is counted from Adult."""
    return instance.name.startswith("adult/")


def refused(why: str) -> int:
    """Say why, and the exit code of a request that cannot be met."""
    print(why, file=sys.stderr)
    return 2


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--short", action="store_true", help="a choice of instances, in five minutes")
    parser.add_argument("--only", metavar="GLOB", help="instances whose name matches, such as 'adult/*/lip/0.5' (x is ×)")
    parser.add_argument("--contender", choices=NAMES, help="this contender alone")
    parser.add_argument("--adult", metavar="PATH", default=os.environ.get("TRECHTER_ADULT"), help="Adult's CSV, or .csv.gz")
    parser.add_argument("--out", metavar="DIR", default="bench-out", help="where results go (default: %(default)s)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
