"""The demonstration: publish the synthetic survey as anyone would publish their own table."""

from __future__ import annotations

import tempfile
from pathlib import Path

from trechter.model.files import write_atomically
from trechter.privacy import LIP
from trechter.report.release import Release
from trechter.workflow.design import Tell, silent
from trechter.workflow.publish import publish
from trechter.workflow.survey import RELEASE, SCHEMA, SECRET, survey_csv

EPSILON = "0.5"
SURVEY = "synthetic_survey.csv"


def demonstrate(out: str | Path, tell: Tell = silent) -> Release:
    """Make the survey, publish it, and leave the survey and its schema with the steward's papers."""
    former = (Path(out) / "steward" / SURVEY).exists()  # a release of anything else is never replaced
    with tempfile.TemporaryDirectory() as place:
        table, schema = Path(place) / SURVEY, Path(place) / "schema.toml"
        table.write_text(survey_csv(), encoding="utf-8")
        schema.write_text(SCHEMA, encoding="utf-8")
        made = publish(
            table,
            secret=SECRET,
            release=list(RELEASE),
            notion=LIP(EPSILON),
            out=out,
            schema=schema,
            overwrite=former,
            tell=tell,
        )
        for file in (table, schema):
            write_atomically(Path(out) / "steward" / file.name, file.read_text(encoding="utf-8"))
    return made
