"""Seconds from ten million released rows to an estimate: `python benchmarks/estimate.py [--rows N] [--values A]`.

Each line is one call of `tr.estimate` on a release of A values: counting the outputs, unbiased shares with their errors and
95 % intervals, what is identified in exact integers, and the most likely shares with their certificate. Times are on the wall,
of the first and only call, after one on a thousand rows that imports everything.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import trechter as tr
from trechter.model.protocol import Protocol


def protocols(values: int) -> Iterator[tuple[str, Protocol]]:
    """An optimum, GRR and OUE for the same joint."""
    draw = np.random.default_rng(0)
    joint = tr.Joint(draw.integers(1, 1000, (2, values)))
    notion = tr.LIP("0.5")
    yield "optimal LIP", tr.design(joint, notion).protocol
    yield "GRR", tr.grr(joint, notion).protocol
    yield "OUE", tr.oue(joint, notion).protocol


def releases(released: pl.DataFrame, folder: Path) -> Iterator[tuple[str, Any]]:
    """The same rows in memory and in files."""
    yield "polars", released
    released.write_parquet(folder / "released.parquet")
    yield "Parquet", folder / "released.parquet"
    released.write_csv(folder / "released.csv")
    yield "CSV", folder / "released.csv"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--values", type=int, default=16)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", tr.InsecureWarning)
    rows = pl.DataFrame({"X": np.random.default_rng(1).integers(0, asked.values, asked.rows)})
    print("| protocol | values | rows | table | seconds |\n|---|--:|--:|---|--:|")
    for name, protocol in protocols(asked.values):
        released = protocol.sanitise(rows, insecure_seed=1)
        tr.estimate(released.head(1000), protocol)
        with tempfile.TemporaryDirectory() as folder:
            for table, source in releases(released, Path(folder)):
                begin = time.perf_counter()
                found = tr.estimate(source, protocol)
                seconds = time.perf_counter() - begin
                assert found.rows == asked.rows
                print(f"| {name} | {asked.values} | {asked.rows:,} | {table} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
