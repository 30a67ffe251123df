"""A table, its schema, and a way to run commands, for all tests of the command line."""

import csv
import signal

import numpy as np
import pytest

from trechter.cli import main


@pytest.fixture
def trechter(capsys):
    """Run a command; its exit code, standard output and standard error."""

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(a) for a in arguments])
        shown = capsys.readouterr()
        return ended.value.code, shown.out, shown.err

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def table(tmp_path):
    """A table of 400 rows with a secret, three columns to publish, and a name that must not come out."""
    draw = np.random.default_rng(7)
    ill = draw.random(400) < 0.3
    work = np.where(draw.random(400) < 0.2 + 0.4 * ill, "none", draw.choice(["full", "part"], 400))
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "ill", "work", "region", "age"])
        for i in range(400):
            rows.writerow([f"name-{i}", "yes" if ill[i] else "no", work[i], "NESW"[i % 4], 20 + i % 50])
    return path


@pytest.fixture
def schema(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(
        '[ill]\ntype = "text"\nvalues = ["no", "yes"]\n\n[work]\ntype = "text"\nvalues = ["full", "part", "none", "other"]\n\n'
        '[region]\ntype = "text"\nvalues = ["N", "E", "S", "W"]\n\n[age]\ntype = "integer"\nedges = [15, 30, 45, 75]\n'
    )
    return path
