"""The tables: a line for each run, a summary with a line for each thing that must be seen.

`python benchmarks/report.py RESULTS.csv …` writes the summary of one or several full runs into benchmarks/README.md, at the
place that is marked for it.
"""

from __future__ import annotations

import csv
import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from datetime import date
from importlib.metadata import version
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that this is a script and a module

from benchmarks.runner import Row

COLUMNS = (
    ("instance", 46),
    ("contender", 12),
    ("seconds", 8),
    ("utility", 11),
    ("behind", 7),
    ("gap", 8),
    ("required", 40),
    ("reached", 0),
)
BEGIN, END = "<!-- summary: begin -->", "<!-- summary: end -->"
README = Path(__file__).with_name("README.md")


def header() -> str:
    """The first two lines of the table."""
    names = " | ".join(name.ljust(width) for name, width in COLUMNS)
    return f"| {names} |\n|{'|'.join('-' * (max(width, len(name)) + 2) for name, width in COLUMNS)}|"


def line(row: Row) -> str:
    """A run; what is wrong with it, or why there is none, takes the place of what it reached."""
    words = row.reached if row.reached and not row.faults else ""
    said = [words, row.faults and f"**{row.faults}**", row.note if row.utility is None else ""]
    cells = [
        row.instance,
        row.contender,
        seconds(row),
        number(row.utility, ".9g"),
        small(row.behind),
        small(row.gap),
        row.required,
    ]
    cells.append("; ".join(part for part in said if part))
    return "| " + " | ".join(cell.ljust(width) for cell, (_, width) in zip(cells, COLUMNS, strict=True)) + " |"


def number(value: float | None, form: str) -> str:
    """A number, or nothing."""
    return "" if value is None else format(value, form)


def small(value: float | None) -> str:
    """A difference; what is rounding is 0."""
    return "0" if value is not None and abs(value) < 1e-13 else number(value, ".1e")


def seconds(row: Row) -> str:
    """Seconds, as a lower bound where the clock ran out."""
    return ("> " if row.over else "") + number(row.seconds, ".3g")


def summary(rows: Sequence[Row]) -> str:
    """A line for each group: the slowest of ours, its largest gap, how many reach what is required, the least ratio."""
    lines = ["| instances | required | reached | slowest | largest gap |", "|---|---|--:|--:|--:|"]
    groups = dict.fromkeys(row.group for row in rows if not row.instance.startswith("scaling/"))
    for group in groups:
        ours = [row for row in rows if row.group == group and row.contender == "trechter"]
        if not ours:
            continue
        asked = [row for row in ours if row.required]
        good = sum(row.reached.startswith("yes") for row in asked)
        required = "; ".join(dict.fromkeys(row.required for row in asked)) or "report the gap"
        slowest = max((row.seconds for row in ours if row.seconds is not None), default=None)
        gap = max((row.gap for row in ours if row.gap is not None), default=None)
        counted = f"{good} of {len(asked)}{ratios(asked)}" if asked else f"{len(ours)} measured"
        lines.append(f"| {group} | {required} | {counted} | {number(slowest, '.3g')} s | {number(gap, '.1e')} |")
    return "\n".join(lines)


def ratios(rows: Sequence[Row]) -> str:
    """The least ratio that was measured."""
    texts = [row.reached.split(", ")[-1] for row in rows if row.reached.endswith("×")]
    return "" if not texts else f", {min(texts, key=lambda t: float(t.strip('> ×no:').replace(',', '')))} at least"


def machine() -> str:
    """What it was measured on."""
    parts = [f"{name} {version(name)}" for name in ("numpy", "highspy", "trechter")]
    load = f", load {os.getloadavg()[0]:.1f} at the end" if hasattr(os, "getloadavg") else ""
    cores = f"{os.cpu_count()} cores{load}"
    return f"{date.today()}: {processor()}, {cores}; Python {platform.python_version()}, {', '.join(parts)}."


def processor() -> str:
    """The processor's name, where the system tells it."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*:\s*(.+)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor() or platform.machine()


def write(out: Path, rows: Sequence[Row], left_out: Sequence[str]) -> str:
    """results.csv, report.md and the pictures; says what was written."""
    write_csv(out, rows)
    try:
        from benchmarks.plots import pictures

        names, missing = pictures(out, rows), ""
    except ImportError as error:
        names, missing = [], f"\nNo pictures: {error}. `pip install -r benchmarks/requirements.txt` has what they need.\n"
    skipped = f"\nSkipped, for want of Adult: {len(left_out)} instances.\n" if left_out else ""
    shown = "\n\n".join(f"![{name}]({name}.svg)" for name in names)
    table = "\n".join([header(), *map(line, rows)])
    parts = ["# Optimal protocols: measured", machine(), summary(rows), skipped + missing, shown, "## Every run", table]
    (out / "report.md").write_text("\n\n".join(part.strip() for part in parts if part.strip()) + "\n")
    return f"{out / 'report.md'}, results.csv" + "".join(f", {name}.png" for name in names) + missing.rstrip()


def write_csv(out: Path, rows: Sequence[Row]) -> None:
    """All that is known of every run; the traces have a file of their own."""
    out.mkdir(parents=True, exist_ok=True)
    names = [f.name for f in fields(Row) if f.name != "trace"]
    with (out / "results.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, names, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    with (out / "traces.csv").open("w", newline="") as file:
        plain = csv.writer(file)
        plain.writerow(["instance", "contender", "seconds", "utility", "bound"])
        plain.writerows([row.instance, row.contender, *point] for row in rows for point in row.trace)


def read_csv(path: Path) -> list[Row]:
    """Rows as they were written, without traces."""
    numbers = ("epsilon", "seconds", "utility", "bound", "gap", "behind", "level", "x", "target")
    rows = []
    with path.open(newline="") as file:
        for found in csv.DictReader(file):
            row = Row(found["instance"], found["group"], found["contender"], float(found["epsilon"]))
            for name, text in found.items():
                value = (float(text) if text else None) if name in numbers else text == "True" if name == "over" else text
                setattr(row, name, value)
            rows.append(row)
    return rows


def main() -> None:
    """The summary of the files given, into the README; of a run measured twice the last counts."""
    rows = {(row.instance, row.contender): row for path in sys.argv[1:] for row in read_csv(Path(path))}
    text = README.read_text()
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    README.write_text(f"{before}\n{summary(list(rows.values()))}\n\n{machine()}\n{after}")


if __name__ == "__main__":
    main()
