"""Figure 2 of 004: what leaks and what is distorted at the truth, which designers know from n rows only."""

from __future__ import annotations

from typing import Any

from experiments.robust.setting import ASKED, CELLS, EPSILON, FOUR, HALVES, inside, instance, measured, within

from experiments import bands, charts, curves
from trechter.workflow.reproduce import Row, Task

TITLE = "Figure 2: robust privacy, robust utility, and what they cost"
BY = ("n", "method")
MEANS = ("level kept", "distortion kept", "above", "infinite", "truth in F", "drawn again", "saved", "saved as planned")
TIMES = (5, 10, 30, 100, 300, 1000)  # N; n = N · |S||U|
FEW, SOME, MANY = 5 * CELLS, 100 * CELLS, 1000 * CELLS  # rows; the first and the last are panels (a) and (b)
INSTANCES, BLOCK, SHOWN = 200, 10, 30
ROWS = "rows drawn"
CALLED = {
    "NUNP": "NUNP: nothing robust",
    "RUNP": "RUNP: robust utility",
    "NURP": "NURP: robust privacy",
    "RURP": "RURP: both robust",
}
COLOURS = dict(zip(CALLED.values(), (charts.RED, charts.ORANGE, charts.BLUE, charts.GREEN), strict=True))

UNSURE = (CALLED["RUNP"], CALLED["RURP"])  # of the distortion, too


def tasks(quick: bool) -> list[Task]:
    """Blocks of instances, for each n."""
    sizes = (FEW, SOME, MANY) if quick else tuple(times * CELLS for times in TIMES)
    firsts = range(0, BLOCK if quick else INSTANCES, BLOCK)
    return [Task(f"n{n}-{first}", {"n": n, "first": first}) for first in firsts for n in sizes]


def compute(n: int, first: int) -> list[Row]:
    """ε* and D* of each design for each instance."""
    return [{"n": n, "instance": seed} | row for seed in range(first, first + BLOCK) for row in _rows(seed, n)]


def summary(rows: list[Row]) -> list[Row]:
    """ε* and D* of each n and method again, without those that the 1.5 IQR rule calls outliers."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if row["method"] != ROWS:
            groups.setdefault((row["n"], row["method"]), []).append(row)
    return [kept for group in groups.values() for quantity in ("level", "distortion") for kept in _kept(group, quantity)]


def plot(rows: list[Row]) -> Any:
    """The instances of panels (a) and (b); means and standard deviations over n."""
    named = [row | {"method": CALLED[row["method"]]} for row in rows if row["method"] in CALLED]
    level, distortion, promised = "true level ε* [nats]", "true distortion D*", float(EPSILON)
    above = [
        bands.dots(
            [row for row in named if row["n"] == n and row["instance"] < SHOWN],
            ("level", "distortion"),
            f"({panel}) n = {n:,} rows",
            (level, distortion),
            COLOURS,
            promised,
            rings=UNSURE,
        )
        for panel, n in (("a", FEW), ("b", MANY))
    ]
    below = [
        bands.over(named, ("n", y), title, ("rows n", label), COLOURS, line, dashed=UNSURE)
        for y, title, label, line in (
            ("level kept", "(c) what leaks", level, promised),
            ("distortion kept", "(d) what it costs", distortion, None),
        )
    ]
    said = (
        f"above {SHOWN} instances, below mean ± standard deviation without outliers; rings and dashes: utility is robust; "
        f"dotted: ε = {EPSILON}, as promised"
    )
    return curves.grid(TITLE, said, [*above, *below], columns=2)


def _rows(seed: int, n: int) -> list[Row]:
    truth, joint, again = instance(seed, n)
    rows: list[Row] = [{"method": ROWS, "truth in F": float(within(truth, joint)), "drawn again": again}]
    methods = ASKED if seed < SHOWN and n in (FEW, MANY) else FOUR
    found = {method: {"method": method} | measured(method, truth, joint) for method in methods}
    if HALVES in found:
        for name, quantity in (("saved", "distortion"), ("saved as planned", "planned")):
            found[HALVES][name] = found["NURP"][quantity] - found[HALVES][quantity]
    return rows + list(found.values())


def _kept(group: list[Row], quantity: str) -> list[Row]:
    chosen = inside([row[quantity] for row in group])
    return [
        {name: row[name] for name in ("n", "method", "instance")} | {f"{quantity} kept": row[quantity]}
        for row, kept in zip(group, chosen, strict=True)
        if kept
    ]
