"""Options that several commands share, in groups, and what they mean."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from trechter.cli.console import watch
from trechter.errors import NotionError, RequestError, reason
from trechter.measures import MEASURES
from trechter.optimal.auto import SOLVERS
from trechter.privacy import NOTIONS, Notion, Robust
from trechter.sets import ChiSquare
from trechter.tables import open_table

Decorator = Callable[[Any], Any]
MINUTE = 60.0


def group(*decorators: Decorator) -> Decorator:
    """Several options as one decorator, shown in this order."""

    def apply(command: Any) -> Any:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


def _load(context: click.Context, _: click.Parameter, path: Path | None) -> Path | None:
    """Options from a file become the defaults of the command."""
    if path is None:
        return None
    params = [p for p in context.command.params if p.name not in ("config", "as_json")]
    known = {max(p.opts, key=len).lstrip("-"): p for p in params}
    values = {key.replace("_", "-"): value for key, value in _read(path).items()}
    unknown = [key for key in values if key not in known]
    if unknown:
        raise RequestError(f"{path}: unknown option {unknown[0]!r}; known are {', '.join(sorted(known))}")
    context.default_map = {known[key].name: _default(known[key], value) for key, value in values.items()}
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"cannot read {path}: {reason(error)}") from None
    except ValueError as error:
        raise RequestError(f"{path} is not TOML: {error}") from None


def _default(parameter: click.Parameter, value: Any) -> Any:
    if getattr(parameter, "multiple", False):
        return value if isinstance(value, list) else [value]
    return value if isinstance(value, bool) else str(value)


source = click.argument("input")
roles = group(
    click.option("--secret", multiple=True, required=True, help="The column to protect; several (A,B) together."),
    click.option("--release", multiple=True, required=True, help="The columns to publish: A,B or repeated."),
)
domains = group(
    click.option("--schema", metavar="FILE", help="The declared values of each column (TOML)."),
    click.option("--infer-schema", is_flag=True, help="Learn the values from the data; this can give rows away."),
)
NOTION = f"What privacy means: {', '.join(NOTIONS)}."
level = group(
    click.option("--notion", default="lip", show_default=True, help=NOTION),
    click.option("--epsilon", required=True, help="The level: a decimal or a fraction; 0 is perfect privacy."),
)
robust = click.option(
    "--robust",
    metavar="ALPHA",
    help="Promise it for every distribution that the rows do not rule out at level 1 − ALPHA; 0.05 is usual.",
)
worth = group(
    click.option("--task", metavar="COLUMN", help="Keep information about this column instead of the released ones."),
    click.option("--measure", help=f"What the release is to be good for: {', '.join(MEASURES)}."),
    click.option("--weight", metavar="COLUMN", help="Survey weights."),
)
near = click.option("--gap", type=float, default=1e-6, show_default=True, help="How near the optimum is near enough, in nats.")
solving = group(
    worth,
    click.option("--reads", default="x", show_default=True, help="x, or sx for a protocol that may see the secret."),
    click.option("--solver", default="auto", show_default=True, help=f"How to find the optimum: auto, {', '.join(SOLVERS)}."),
    near,
    click.option("--time-limit", type=float, metavar="SECONDS", help="Stop designing after so long; with --robust 60."),
)
seed = click.option("--insecure-seed", type=int, help="Reproducible draws, for tests only: NOT private.")
machine = group(
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output."),
    click.option(
        "--config",
        type=click.Path(path_type=Path),
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_load,
        help="Options from a TOML file; the command line wins.",
    ),
)


def kind_of(name: str, robust: str | None = None) -> Callable[[Any], Notion]:
    """The notion that was asked for, at any level; `robust`: for all distributions that counts do not rule out."""
    if name.lower() not in NOTIONS:
        raise NotionError(f"unknown notion {name!r}; known are {', '.join(NOTIONS)}")
    plain = NOTIONS[name.lower()]
    if robust is None:
        return plain
    over = around(robust)
    return lambda epsilon: Robust(plain(epsilon), over=over)


def robust_of(asked: dict[str, Any]) -> str | None:
    """The level of --robust; then a design ends after a minute, unless another limit was given."""
    alpha: str | None = asked.pop("robust")
    if alpha is not None and asked["time_limit"] is None:
        asked["time_limit"] = MINUTE
    return alpha


def around(alpha: str) -> ChiSquare:
    """The set of distributions that counts do not rule out."""
    return ChiSquare(alpha=alpha)


def notion_of(name: str, epsilon: str, robust: str | None = None) -> Notion:
    """The notion that was asked for."""
    return kind_of(name, robust)(epsilon)


def notion_if_asked(name: str | None, epsilon: str | None, otherwise: str) -> Notion | None:
    """The notion, if one was asked for; its name and its level go together."""
    if (name is None) != (epsilon is None):
        raise RequestError(f"give --notion and --epsilon together, or neither {otherwise}")
    return None if name is None or epsilon is None else notion_of(name, epsilon)


def levels_of(values: Sequence[str]) -> list[str]:
    """Several levels from A,B or repeated options."""
    return [level.strip() for given in values for level in given.split(",")]


def listed(names: str | None) -> list[str] | None:
    """Names from A,B."""
    return None if names is None else [name.strip() for name in names.split(",")]


def solver_of(asked: dict[str, Any], tell: Callable[[str], None]) -> dict[str, Any]:
    """What is left of the options, for a design that tells how far it is."""
    name = asked.pop("measure")
    if name is not None and name not in MEASURES:
        raise RequestError(f"unknown measure {name!r}; known are {', '.join(MEASURES)}")
    return asked | {"progress": watch(tell)} | ({} if name is None else {"measure": MEASURES[name]()})


def columns_of(values: Sequence[str], table: str) -> list[str]:
    """Column names from A,B or repeated options; a name that itself has a comma is taken whole."""
    known = set(open_table(table).columns)
    return [name for value in values for name in ([value] if value in known else [part.strip() for part in value.split(",")])]


def refuse(asked: dict[str, Any], names: Sequence[str], why: str) -> None:
    """An option that would be of no effect is an error."""
    for name in names:
        if asked[name]:
            raise RequestError(f"{why} --{name.replace('_', '-')}")


def counted_of(asked: dict[str, Any], table: str) -> dict[str, Any]:
    """Roles and schema, taken from the options: what is to be counted of a table."""
    schema = schema_of(asked.pop("schema"), asked.pop("infer_schema"))
    return {role: columns_of(asked.pop(role), table) for role in ("secret", "release")} | {"schema": schema}


def schema_of(file: str | None, infer: bool) -> str | None:
    """The schema file, or None where inference was asked for; exactly one of the two."""
    if file and infer:
        raise RequestError("--schema and --infer-schema exclude each other; drop one")
    if not file and not infer:
        raise RequestError(
            "the values of each column must be declared: `trechter schema INPUT --out schema.toml` drafts a file to check, "
            "then --schema schema.toml; or --infer-schema learns them from the data, which can give single rows away"
        )
    return file
