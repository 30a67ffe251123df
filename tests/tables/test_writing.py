"""Released files are whole or absent, and hold the released columns and nothing else."""

from __future__ import annotations

import datetime as dt
import gzip
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from trechter.alphabet import Attribute
from trechter.alphabet.values import bins
from trechter.errors import OutputError, SchemaError
from trechter.tables import OutputColumn, csv, open_table, parquet

A = Attribute("a", ("x", "y", None))
SAME = (OutputColumn("a", A.values, np.arange(3)),)
ROWS = pl.DataFrame({"a": ["x", None, "y", "y"], "secret": ["s1", "s2", "s3", "s4"]})


def identity(codes):
    return codes


def release(path, source=ROWS, kernel=identity, outputs=SAME, **options) -> int:
    return open_table(source).sanitise_to(path, [A], kernel, outputs, **options)


@pytest.mark.parametrize(
    ("values", "dtype", "shown"),
    [
        (("q", "p"), pl.String, ["q", "p"]),
        ((7, None), pl.Int64, [7, None]),
        ((True, False), pl.Boolean, [True, False]),
        ((dt.date(2024, 1, 2), None), pl.Date, [dt.date(2024, 1, 2), None]),
        (bins((0, 1, 2)), pl.String, ["[0, 1)", "[1, 2]"]),
        (("p", 7), pl.String, ["p", "7"]),
        ((True, 1), pl.String, ["True", "1"]),
        ((2**63, 1), pl.String, [str(2**63), "1"]),
        ((None, "p"), pl.String, [None, "p"]),
    ],
    ids=str,
)
def test_released_columns_have_the_type_of_their_values(tmp_path, values, dtype, shown):
    table = open_table(pl.DataFrame({"a": ["x", "y"]}))
    attribute, outputs = Attribute("a", ("x", "y")), [OutputColumn("Y", values, np.array([0, 1]))]
    released = table.sanitise([attribute], identity, outputs)
    assert released.schema == {"Y": dtype}
    assert released["Y"].to_list() == shown
    table.sanitise_to(tmp_path / "o.parquet", [attribute], identity, outputs)
    assert pl.read_parquet(tmp_path / "o.parquet").equals(released)


def test_pandas_gets_its_own_types():
    values = {"t": ("p", None), "i": (7, 8), "n": (7, None), "b": (True, False), "m": (True, None)}
    outputs = [OutputColumn(name, v, np.arange(2)) for name, v in values.items()]
    outputs.append(OutputColumn("d", (dt.date(1066, 10, 14), None), np.arange(2)))
    frame = pd.DataFrame({"a": ["y", "x", "y"]}, index=[5, 5, 7])
    released = open_table(frame).sanitise([Attribute("a", ("x", "y"))], identity, outputs)
    dtypes = {name: str(dtype) for name, dtype in released.dtypes.items()}
    assert dtypes.pop("t") in ("str", "object")
    assert dtypes == {"i": "int64", "n": "Int64", "b": "bool", "m": "boolean", "d": "datetime64[us]"}
    assert released.index.tolist() == [5, 5, 7]
    assert released["n"].isna().tolist() == [True, False, True]
    assert released["i"].tolist() == [8, 7, 8]


def test_several_columns_show_parts_of_one_output(tmp_path):
    outputs = [OutputColumn("u", ("p", "q"), np.array([0, 1, 1])), OutputColumn("v", (5, 6), np.array([1, 1, 0]))]
    assert release(tmp_path / "o.csv", outputs=outputs) == 4
    assert (tmp_path / "o.csv").read_text() == "u,v\np,6\nq,5\nq,6\nq,6\n"


def test_a_single_column_keeps_its_nulls_in_any_reader(tmp_path):
    release(tmp_path / "o.csv")
    assert len(pd.read_csv(tmp_path / "o.csv")) == len(pl.read_csv(tmp_path / "o.csv")) == 4
    assert open_table(tmp_path / "o.csv").count([A]).array.tolist() == [1, 2, 1]


def test_files_hold_no_more_than_the_released_columns(tmp_path):
    source = tmp_path / "in.parquet"
    frame = ROWS.to_pandas().set_index("secret")
    frame.attrs["note"] = "s1"
    frame.to_parquet(source)
    for path in (tmp_path / "o.parquet", tmp_path / "o.csv", tmp_path / "o.csv.gz"):
        release(path, source)
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        assert not any(word in content for word in (b"secret", b"s1", b"pandas", b"note"))
    assert set(pq.read_metadata(tmp_path / "o.parquet").metadata) <= {b"ARROW:schema"}
    header = (tmp_path / "o.csv.gz").read_bytes()[:10]
    assert header[3:8] == bytes(5)  # no file name, no time


def test_equal_releases_are_equal_files(tmp_path):
    for name in ("o.csv", "o.csv.gz", "o.parquet"):
        (tmp_path / "1").mkdir(exist_ok=True)
        (tmp_path / "2").mkdir(exist_ok=True)
        release(tmp_path / "1" / name)
        release(tmp_path / "2" / name)
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_an_old_file_is_replaced(tmp_path):
    (tmp_path / "o.csv").write_text("old and longer than what is new " * 9)
    release(tmp_path / "o.csv")
    assert open_table(tmp_path / "o.csv").columns == ("a",)
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("where", ["kernel", "permute"])
@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet"])
def test_a_failure_leaves_nothing(tmp_path, failure, where, name):
    def fail(_):
        raise failure("stop")

    with pytest.raises(failure, match="stop"):
        release(tmp_path / name, **{where: fail})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet"])
def test_a_failure_amid_writing_leaves_what_was_there(tmp_path, monkeypatch, failure, name):
    (tmp_path / name).write_text("old")
    written = []

    def decode(_self, codes):
        if written:
            raise failure("stop")
        written.append(len(codes))
        return pl.DataFrame({"a": ["x"] * len(codes)})

    monkeypatch.setattr("trechter.tables.decode.Decoder.__call__", decode)
    with pytest.raises(failure, match="stop"):
        release(tmp_path / name, pl.DataFrame({"a": ["x"] * 600_000}))
    assert written
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "old"


def test_an_unseen_value_in_the_last_batch_leaves_nothing(tmp_path):
    with pytest.raises(SchemaError, match=r"'z' \(1 row\)"):
        release(tmp_path / "o.csv", pl.DataFrame({"a": ["x"] * 300_000 + ["z"]}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("o.xlsx", "its name must end in .csv, .csv.gz, .tsv"),
        ("o", "its name must end in"),
        ("none/o.csv", "there is no folder .*none"),
        ("folder.csv", "it is a folder"),
        ("in.csv", "it is the table that is being read"),
        ("link.csv", "it is the table that is being read"),
        ("a" * 300 + ".csv", "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_draw(tmp_path, place, message):
    source = tmp_path / "in.csv"
    ROWS.write_csv(source)
    before = source.read_bytes()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(source)
    drawn = []
    with pytest.raises(OutputError, match=f"cannot write .*{message}"):
        release(tmp_path / place, source, kernel=lambda codes: drawn.append(1) or codes)
    assert not drawn
    assert source.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        release(tmp_path / "o.csv")


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet"])
def test_a_full_disk_is_reported(tmp_path, monkeypatch, name):
    """/dev/full takes no byte; the temporary name is made to be it."""
    monkeypatch.setattr(Path, "with_name", lambda *_: Path("/dev/full"))
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    with pytest.raises(OutputError, match="cannot write"):
        release(tmp_path / name, pl.DataFrame({"a": ["x"] * 600_000}))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", [csv.write, parquet.write])
def test_a_writer_that_fails_early_is_not_waited_for(tmp_path, write):
    parts = (pl.DataFrame({"a": ["x"] * 10}) for _ in range(50))
    with pytest.raises(OSError, match="No such file"):
        write(tmp_path / "none" / "o", parts, "o.csv")


SLOW = """
    import sys, time
    import numpy as np, polars as pl
    from trechter.alphabet import Attribute
    from trechter.tables import OutputColumn, csv, open_table, parquet
    from trechter.tables.decode import Decoder

    decode = Decoder.__call__
    def slowly(self, codes):
        print("writing", flush=True)
        time.sleep(0.3)
        return decode(self, codes)
    Decoder.__call__ = slowly
    table = open_table(pl.DataFrame({"a": ["x", "y"] * 10_000_000}))
    outputs = [OutputColumn("a", ("x", "y"), np.arange(2))]
    table.sanitise_to(sys.argv[1], [Attribute("a", ("x", "y"))], lambda codes: codes, outputs)
"""


@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
def test_control_c_amid_writing_is_quick_and_leaves_nothing(tmp_path, name):
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SLOW), tmp_path / name],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(3):
        assert run.stdout.readline() == b"writing\n"
    run.send_signal(signal.SIGINT)
    sent = time.monotonic()
    _, errors = run.communicate(timeout=20)
    assert time.monotonic() - sent < 5
    assert b"KeyboardInterrupt" in errors
    assert not list(tmp_path.iterdir())
