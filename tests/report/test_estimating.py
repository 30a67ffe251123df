"""The lines in the codebook, run for real on the files alone: they find what `tr.estimate` finds."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.report.releases import CASES, case, counts, made

import trechter as tr
from trechter.alphabet import Attribute
from trechter.model.dense import DenseProtocol
from trechter.model.joint import Joint
from trechter.model.sparse import SparseProtocol
from trechter.model.sparse_weights import SparseWeights
from trechter.privacy import LIP
from trechter.report import codebook
from trechter.report.estimating import MOST_BITS
from trechter.tables.decode import Decoder
from trechter.tables.write import write


def sparse():
    """Weights of their own for three values, and none for the fourth."""
    joint = Joint(counts(5, 2, 4), release={"town": ["a", "b", "c", "d"]})
    entries = np.array([[0, 0, 12], [1, 1, 12], [0, 2, 4], [2, 2, 8]]).T
    weights = SparseWeights(np.array([1, 1, 2]), *entries, inputs=4, bits=4)
    return made(joint, LIP(9), SparseProtocol(weights, ("p", "q", "r"), joint.secret, joint.release))


def large():
    """So many values that a design lists the weights of each."""
    return made(Joint(counts(5, 2, 500), release={"town": [f"town {i:03}" for i in range(500)]}), LIP("0.5"))


def booleans():
    joint = Joint(counts(8, 2, 2, 3), release=[Attribute.of("flag", [True, False]), Attribute.of("n", [1, 100_000, None])])
    return made(joint, LIP("0.4"))


MORE = {"sparse": sparse, "large": large, "booleans": booleans, "kept": lambda: made(booleans().joint, LIP("inf"))}
LARGE = ("wide", "wide mixed", "large")


def folder(release, path, file):
    """The two files that travel, and what stands about them in the codebook."""
    protocol = release.result.protocol
    protocol.save(path / "protocol.json")
    rows = Decoder(protocol.columns())(np.repeat(np.arange(len(release.drawn)), release.drawn))
    write(path / file, iter([rows]))
    return codebook.render(replace(release, file=file))


def ran(program, path):
    shown = subprocess.run(program, cwd=path, capture_output=True, text=True, check=True).stdout
    lines = [line.split("\t") for line in shown.splitlines()]
    return [line[:-2] for line in lines], *(np.array([float(line[k]) for line in lines]) for k in (-2, -1))


def agrees(values, shares, errors, found):
    """The same shares, but of values that so few rows hardly tell; the same names as in the table."""
    told = ~np.isnan(found.shares)
    assert np.isnan(shares[~found.identified]).all()
    assert shares[told] == pytest.approx(found.shares[told], abs=1e-7)
    assert errors[told] == pytest.approx(found.errors[told], abs=1e-7)
    frame = found.to_frame().select(a.name for a in found.attributes)
    assert [[v if v is not None else "" for v in row] for row in frame.cast(pl.String).rows()] == values


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in [*CASES, *MORE]])
def test_python(name, tmp_path):
    release = MORE[name]() if name in MORE else case(name)
    text = folder(release, tmp_path, "released.csv")
    program = re.search(r"```python\n(import csv.*?)```", text, re.DOTALL)[1]
    found = tr.estimate(tmp_path / "released.csv", tmp_path / "protocol.json")
    agrees(*ran([sys.executable, "-c", program], tmp_path), found)
    assert (release.result.protocol.kind == "sparse") is (name in ("sparse", "large"))


@pytest.mark.parametrize("file", ["released.tsv", "released.csv.gz", "released.parquet", 'odd "name".csv'])
def test_python_reads_every_format(file, tmp_path):
    text = folder(case("typed"), tmp_path, file)
    program = re.search(r"```python\n(import [^\n]*itertools.*?)```", text, re.DOTALL)[1]
    agrees(*ran([sys.executable, "-c", program], tmp_path), tr.estimate(tmp_path / file, tmp_path / "protocol.json"))


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed (Debian: r-base-core, r-cran-jsonlite)")
@pytest.mark.parametrize("name", ["one", "two", "typed", "reads", "rare", "constant", "sparse", "booleans", "kept"])
def test_r(name, tmp_path):
    release = MORE[name]() if name in MORE else case(name)
    text = folder(release, tmp_path, "released.csv")
    (tmp_path / "estimate.R").write_text(re.search(r"```r\n(.*?)```", text, re.DOTALL)[1], encoding="utf-8")
    found = tr.estimate(tmp_path / "released.csv", tmp_path / "protocol.json")
    if subprocess.run(["Rscript", "-e", "library(jsonlite)"], capture_output=True, check=False).returncode:
        pytest.skip("R has no package jsonlite (Debian: r-cran-jsonlite)")
    agrees(*ran(["Rscript", "estimate.R"], tmp_path), found)


def test_it_is_short():
    """A dozen lines of Python for a plain release."""
    program = re.search(r"```python\n(import csv.*?)```", codebook.render(case("two")), re.DOTALL)[1]
    assert len(program.splitlines()) <= 14


def test_numbers_that_r_cannot_read():
    joint = Joint(counts(1, 2, 2), release={"X": ["a", "b"]})
    whole = 1 << (MOST_BITS + 1)
    weights = np.array([[whole // 3, whole // 2], [whole - whole // 3, whole - whole // 2]], object)
    protocol = DenseProtocol(weights, MOST_BITS + 1, ("a", "b"), joint.secret, joint.release)
    text = codebook.render(made(joint, LIP(9), protocol))
    assert "No lines in R" in text
    assert "```r" not in text
