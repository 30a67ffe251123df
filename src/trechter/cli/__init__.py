"""The command line: parse, call the workflow, show."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from trechter.cli.audit import audit
from trechter.cli.compare import compare
from trechter.cli.console import run
from trechter.cli.demo import demo
from trechter.cli.design import design
from trechter.cli.estimate import estimate
from trechter.cli.frontier import frontier
from trechter.cli.ledger import ledger
from trechter.cli.publish import publish
from trechter.cli.reproduce import reproduce
from trechter.cli.sanitise import sanitise
from trechter.cli.schema import schema
from trechter.cli.verify import verify

COMMANDS = (publish, design, frontier, compare, sanitise, verify, estimate, audit, ledger, schema, demo, reproduce)


@click.group(no_args_is_help=True, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="trechter")
def app() -> None:
    """Publish a table row by row while one column stays secret."""


for command in COMMANDS:
    app.add_command(command)


def main(arguments: list[str] | None = None) -> NoReturn:
    """The `trechter` command."""
    given = sys.argv[1:] if arguments is None else arguments
    sys.exit(run(lambda: app(given, prog_name="trechter", standalone_mode=False), as_json="--json" in given))
