"""The benchmark of robust designs: `python benchmarks/robust.py [--joints K] [--only TEXT] [--large SECONDS]`.

|S| = 3, |U| = 5, d = (u − y)², α = 0.05, ε = 0.5, n people from a Dirichlet(½) distribution: K joints for each n and problem,
each by our cutting planes, our conic program, and the paper's conic program through CVXPY. With --large also |S| = 5, |U| = 50
and |S| = 10, |U| = 100, by ours alone, within so many seconds each. Solving is compared; certified integers take ours the
seconds of another column. The level is the worst over F that our oracle finds. The table is printed in Markdown.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that this is a script and a module

from benchmarks.report import machine  # noqa: E402

import trechter as tr  # noqa: E402
from trechter.finish import deliver  # noqa: E402
from trechter.optimal.auto import solve  # noqa: E402
from trechter.optimal.cuts import RobustProblem  # noqa: E402
from trechter.optimal.design import make_problem, readings_of  # noqa: E402
from trechter.optimal.problem import Budget  # noqa: E402

F = tr.ChiSquare(alpha="0.05")
EPSILON = "0.5"
PROBLEMS = ("NURP", "RUNP", "RURP")
OURS = ("cuts", "conic")
PAPER = "paper's, CVXPY"
LARGE = ((5, 50), (10, 100))
NOISE = 1e-5  # of a letter: below that an output is noise
FAST = 20  # times faster than the paper's program: what is required
HEADER = ("problem", "by", "median s", "slowest s", "certified s", "largest gap", "worst level", "against the paper's program")


@dataclass(frozen=True)
class Run:
    """One design: seconds to solve and to certify, what it costs, what nothing costs less than, and its worst level."""

    seconds: float
    certified: float | None
    cost: float
    bound: float | None
    level: float


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--joints", type=int, default=10, metavar="K", help="joints for each n (default: %(default)s)")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="problems whose name has this in it, such as 'RURP, n = 75'"
    )
    parser.add_argument("--large", type=float, metavar="SECONDS", help="the two large sizes too, so many seconds each")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    header = (
        "problem",
        "by",
        "median s",
        "slowest s",
        "certified s",
        "largest gap",
        "worst level",
        "against the paper's program",
    )
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for kind, n in product(PROBLEMS, (75, 15_000)):
        name = f"3 × 5, {kind}, n = {n:,}"
        if asked.only in name:
            for cells in small(kind, n, asked.joints):
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for (c, a), kind, solver in product(LARGE if asked.large else (), PROBLEMS, OURS):
        n = 1_000 * c * a
        name = f"{c} × {a}, {kind}, n = {n:,}"
        if asked.only in name:
            found = ours(jeffreys(0, c, a, n), kind, solver, asked.large)
            print(f"| {name} | {solver} | {' | '.join(told([found]))} | |", flush=True)
    print(f"\n{machine()}")
    return 0


def small(kind: str, n: int, joints: int) -> Iterator[list[str]]:
    """The lines of one problem, one for each contender."""
    tables = [jeffreys(seed, 3, 5, n) for seed in range(joints)]
    rivals: dict[str, list[Run]] = {PAPER: measured(papers, tables, kind)} if available() else {}
    for solver in OURS:
        rivals[solver] = measured(lambda joint, kind, solver=solver: ours(joint, kind, solver, 60), tables, kind)
    for name, runs in rivals.items():
        yield [name, *told(runs), against(runs, rivals.get(PAPER, []), name)]


def measured(solve: Callable[[tr.Joint, str], Run], tables: Sequence[tr.Joint], kind: str) -> list[Run]:
    """Every joint, after one whose time does not count."""
    solve(tables[0], kind)
    return [solve(joint, kind) for joint in tables]


def ours(joint: tr.Joint, kind: str, solver: str, seconds: float) -> Run:
    """This package: solved, then made certified integers."""
    notion, measure = problem(joint, kind)
    start = time.perf_counter()
    solution = solve(make_problem(joint, notion, measure, "sx"), Budget(seconds=seconds), solver)
    solved = time.perf_counter()
    assert solution.readings is not None
    readings = [readings_of(measure, joint)[k] for k in solution.readings]
    protocol, _ = deliver(solution.rows, joint, notion.spec, "sx", readings)
    certified = time.perf_counter() - solved
    return Run(
        solved - start, certified, measure.utility(joint, protocol), -solution.bound, level_of(protocol.matrix, joint, notion)
    )


def papers(joint: tr.Joint, kind: str) -> Run:
    """The paper's program; the level of what it returns is measured afterwards."""
    from benchmarks.contenders.paper_conic import solve as paper

    (notion, measure), a = problem(joint, kind), joint.shape[1]
    d = ((np.arange(a)[:, None] - np.arange(a)) ** 2).astype(float)
    start = time.perf_counter()
    rows, _ = paper(joint, kind, float(EPSILON), d, F.around(joint).radius)
    seconds = time.perf_counter() - start
    posed = make_problem(joint, notion, measure, "sx")
    assert isinstance(posed, RobustProblem)
    return Run(seconds, None, float(posed.worst_costs(rows[None])[0][0]), None, level_of(rows, joint, notion))


def level_of(rows: NDArray[np.float64], joint: tr.Joint, notion: tr.Notion) -> float:
    """The level of float rows, without outputs that are hardly ever given: those are a solver's noise."""
    rows = rows[rows.max(axis=1) > NOISE]
    if isinstance(notion, tr.Robust):
        return notion.among(joint, "sx").level(rows)
    c, a = joint.shape
    given = (rows.reshape(-1, c, a) * (joint.p / joint.p_s[:, None])).sum(axis=2)
    return float(np.log(given.max(axis=1) / given.min(axis=1)).max())


def problem(joint: tr.Joint, kind: str) -> tuple[tr.Notion, tr.Measure]:
    """Notion and measure."""
    a, plain = joint.shape[1], tr.LDP(EPSILON)
    d = tr.Distortion((np.arange(a)[:, None] - np.arange(a)) ** 2)
    return tr.Robust(plain, over=F) if kind[2] == "R" else plain, tr.WorstCase(d, over=F) if kind[0] == "R" else d


def jeffreys(seed: int, c: int, a: int, n: int) -> tr.Joint:
    """Counts of n people; the first draw from this seed on in which every secret occurs."""
    rng = np.random.default_rng(seed)
    while True:
        counts = rng.multinomial(n, rng.dirichlet(np.full(c * a, 0.5))).reshape(c, a)
        if counts.sum(axis=1).all():
            return tr.Joint(counts)


def told(runs: Sequence[Run]) -> list[str]:
    """Times, gap and level of several runs."""
    seconds = [run.seconds for run in runs]
    certified = [run.certified for run in runs if run.certified is not None]
    gaps = [run.cost - run.bound for run in runs if run.bound is not None]
    proof = [f"{statistics.median(certified):.3g}" if certified else "", f"{max(gaps):.1e}" if gaps else ""]
    return [f"{statistics.median(seconds):.3g}", f"{max(seconds):.3g}", *proof, f"{max(run.level for run in runs):.8f}"]


def against(runs: Sequence[Run], paper: Sequence[Run], name: str) -> str:
    """How much faster, how much dearer at most, and whether that is fast enough."""
    if not paper or name == PAPER:
        return ""
    ratio = statistics.median(p.seconds / run.seconds for p, run in zip(paper, runs, strict=True))
    more = max(run.cost - p.cost for p, run in zip(paper, runs, strict=True))
    verdict = "" if ratio >= FAST else f" (not {FAST} ×)"
    return f"{ratio:.0f} × faster{verdict}, costs {more:+.1e} at most"


def available() -> bool:
    """Whether CVXPY is installed; said on standard error if not."""
    try:
        import cvxpy  # noqa: F401
    except ImportError as error:
        print(f"the paper's program is left out: {error}; pip install -r benchmarks/requirements.txt", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
