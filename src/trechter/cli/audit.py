"""`trechter audit`: what a matrix or a release that others made tells about the secret."""

from __future__ import annotations

from typing import Any

import click

from trechter.cli import options as o
from trechter.cli.console import DONE, NO, Outcome, stages, wide
from trechter.cli.findings import matrix_found, matrix_story, tables_found, tables_story
from trechter.errors import RequestError
from trechter.privacy import Notion
from trechter.workflow import audit_matrix, audit_tables
from trechter.workflow.audit_matrix import MatrixAudit, joint_to_audit
from trechter.workflow.audit_tables import TablesAudit


@click.command(no_args_is_help=True, short_help="Judge a matrix or a release that others made.")
@click.argument("released", metavar="RELEASED|MATRIX")
@click.option("--original", metavar="FILE", help="The table that RELEASED was made from, row beside row.")
@click.option("--key", metavar="COLUMN", help="Match the rows by this column of both, not by position.")
@click.option("--columns", multiple=True, help="The columns of RELEASED that were released, if they have other names.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of what is claimed from rows.")
@click.option("--counts", metavar="FILE", help="For a MATRIX: the counts (secret, released columns, count).")
@click.option("--input", metavar="FILE", help="For a MATRIX: a table to count instead.")
@click.option("--transposed", is_flag=True, help="For a MATRIX: its rows are the values, as in PRAM, whatever its sums say.")
@click.option("--secret", multiple=True, required=True, help="The column to protect; several (A,B) together.")
@click.option("--release", multiple=True, required=True, help="The columns that were to be published: A,B or repeated.")
@click.option("--schema", metavar="FILE", help="The declared values of each column (TOML); otherwise they are learned.")
@click.option("--notion", help="Decide whether this notion holds; needs --epsilon.")
@click.option("--epsilon", help="Decide whether this level holds; needs --notion.")
@o.machine
def audit(released: str, notion: str | None, epsilon: str | None, as_json: bool, **asked: Any) -> None:
    """Audit what others made: a matrix with counts, or a released table beside its original.

    Exit 0 it holds, or the rows do not refute it; 1 it does not hold; 2 cannot say.
    """
    wanted = o.notion_if_asked(notion, epsilon, "to measure only")
    given = [name for name in ("original", "counts", "input") if asked[name]]
    if len(given) != 1:
        raise RequestError(
            "give one of: --original FILE for a released table; --counts FILE or --input FILE for a matrix"
            + (f" (not {' and '.join('--' + name for name in given)})" if given else "")
        )
    with stages(as_json) as tell:
        tell("auditing")
        found = _tables(released, wanted, asked) if asked["original"] else _matrix(released, wanted, asked)
    code = NO if found.holds is False else DONE
    if isinstance(found, MatrixAudit):
        raise Outcome(matrix_found(found), wide(matrix_story(found)), code)
    raise Outcome(tables_found(found), wide(tables_story(found)), code)


def _matrix(matrix: str, notion: Notion | None, asked: dict[str, Any]) -> MatrixAudit:
    o.refuse(asked, ("key", "columns"), "a matrix has no rows to match; leave out")
    source = asked["counts"] or asked["input"]
    secret, release = (o.columns_of(asked[role], source) for role in ("secret", "release"))
    joint = joint_to_audit(source, secret, release, asked["schema"], counted=bool(asked["counts"]))
    return audit_matrix(matrix, joint, notion, transposed=asked["transposed"] or None)


def _tables(released: str, notion: Notion | None, asked: dict[str, Any]) -> TablesAudit:
    o.refuse(asked, ("transposed",), "two tables are audited row by row; leave out")
    source = asked["original"]
    secret, release = (o.columns_of(asked[role], source) for role in ("secret", "release"))
    options = {name: asked[name] for name in ("key", "schema", "confidence")}
    columns = o.columns_of(asked["columns"], released)
    return audit_tables(released, source, secret=secret, release=release, columns=columns, notion=notion, **options)
