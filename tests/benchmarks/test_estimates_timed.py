"""The benchmark of estimates runs, on few rows."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "estimate.py"


def test_every_protocol_from_every_table():
    asked = [sys.executable, SCRIPT, "--rows", "2000", "--values", "4"]
    shown = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    assert [(c[0], c[3]) for c in cells] == [
        (name, table) for name in ("optimal LIP", "GRR", "OUE") for table in ("polars", "Parquet", "CSV")
    ]
    assert all(float(c[4]) > 0 for c in cells)
