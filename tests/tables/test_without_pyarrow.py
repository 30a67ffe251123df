"""Pandas tables are read and returned where pyarrow is not installed."""

from __future__ import annotations

import subprocess
import sys
import textwrap

SCRIPT = """
    import sys
    sys.modules["pyarrow"] = None  # as if it were not installed
    import datetime as dt
    import numpy as np, pandas as pd
    from trechter.alphabet import Attribute
    from trechter.tables import OutputColumn, open_table

    frame = pd.DataFrame({
        "text": ["x", None, "y"],
        "objects": pd.Series(["x", None, "y"], dtype=object),
        "category": pd.Series(["x", None, "y"], dtype="category"),
        "whole": [1, 2, 3],
        "float": [1.0, None, 3.0],
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "truth": [True, False, True],
        "nullable_truth": pd.array([True, None, False], dtype="boolean"),
        "stamp": pd.to_datetime(["2024-01-01", None, "2024-01-02"]),
        "zoned": pd.to_datetime(["2024-01-01", None, "2024-01-02"]).tz_localize("Europe/Amsterdam"),
    }).set_index(pd.Index([3, 4, 5]))
    day = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None]
    expected = {
        "text": ["x", "y", None], "objects": ["x", "y", None], "category": ["x", "y", None],
        "whole": [1, 2, 3], "float": [1, 3, None], "nullable": [1, 3, None],
        "truth": [False, True], "nullable_truth": [False, True, None], "stamp": day, "zoned": day,
    }
    table = open_table(frame)
    attributes = table.infer(list(expected))
    assert {a.name: list(a.values) for a in attributes} == expected
    for attribute in attributes:
        outputs = [OutputColumn("Y", attribute.values, np.arange(len(attribute)))]
        released = table.sanitise([attribute], lambda codes: codes, outputs)
        assert released.index.tolist() == [3, 4, 5]
        again = open_table(released).infer(["Y"])[0]
        assert again.values == attribute.values, (attribute, released)
        assert table.count([attribute]).rows == 3
    assert sys.modules["pyarrow"] is None
"""


def test_pyarrow_is_not_needed():
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_neither_pandas_nor_pyarrow_is_imported_before_it_is_needed():
    script = "import trechter.tables, sys; print([m for m in ('pandas', 'pyarrow', 'scipy') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
