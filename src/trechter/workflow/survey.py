"""The demonstration's data: a synthetic health survey of nobody, drawn anew from fixed odds.

Whether a respondent has a long-term illness depends on age, work and smoking, so publishing those columns as they are
would give the illness away.
"""

from __future__ import annotations

import csv
import io

import numpy as np
from numpy.typing import NDArray

ROWS = 20_000
SECRET = "long_term_illness"
RELEASE = ("work", "smoking")

AGES = (("18-34", 0.30), ("35-54", 0.36), ("55-69", 0.21), ("70+", 0.13))
REGIONS = (("North", 0.22), ("East", 0.18), ("South", 0.35), ("West", 0.25))
WORK = ("employed", "studying", "looking for work", "at home", "retired", "unable to work")
WORK_GIVEN_AGE = (
    (0.62, 0.26, 0.06, 0.04, 0.00, 0.02),
    (0.80, 0.02, 0.06, 0.07, 0.01, 0.04),
    (0.52, 0.00, 0.05, 0.08, 0.25, 0.10),
    (0.04, 0.00, 0.00, 0.05, 0.89, 0.02),
)
SMOKING = ("never", "former", "occasional", "daily")
SMOKING_GIVEN_AGE = (
    (0.62, 0.09, 0.13, 0.16),
    (0.50, 0.21, 0.07, 0.22),
    (0.41, 0.34, 0.05, 0.20),
    (0.45, 0.43, 0.03, 0.09),
)
ILL_GIVEN_AGE = (0.05, 0.11, 0.24, 0.38)
ILL_ODDS_WORK = (0.7, 0.7, 1.5, 1.4, 1.2, 14.0)
ILL_ODDS_SMOKING = (0.8, 1.3, 1.0, 1.7)

SCHEMA = f"""\
[{SECRET}]
type = "text"
values = ["no", "yes"]

[work]
type = "text"
values = {list(WORK)!r}

[smoking]
type = "text"
values = {list(SMOKING)!r}
"""


def survey_csv(seed: int = 1) -> str:
    """The survey as CSV text; the same seed gives the same people, none of whom exists."""
    draw = np.random.Generator(np.random.PCG64(seed))
    age = draw.choice(len(AGES), ROWS, p=[share for _, share in AGES])
    region = draw.choice(len(REGIONS), ROWS, p=[share for _, share in REGIONS])
    work = _draw_given(draw, np.array(WORK_GIVEN_AGE), age)
    smoking = _draw_given(draw, np.array(SMOKING_GIVEN_AGE), age)
    chance = np.array(ILL_GIVEN_AGE)[age]
    odds = chance / (1 - chance) * np.array(ILL_ODDS_WORK)[work] * np.array(ILL_ODDS_SMOKING)[smoking]
    ill = draw.random(ROWS) < odds / (1 + odds)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["respondent", "age", "region", "work", "smoking", SECRET])
    for i in range(ROWS):
        facts = (AGES[age[i]][0], REGIONS[region[i]][0], WORK[work[i]], SMOKING[smoking[i]])
        writer.writerow([f"synthetic-{i + 1:05d}", *facts, "yes" if ill[i] else "no"])
    return text.getvalue()


def _draw_given(draw: np.random.Generator, table: NDArray[np.float64], given: NDArray[np.intp]) -> NDArray[np.intp]:
    cumulative = table.cumsum(axis=1)[given]
    return np.asarray((draw.random(len(given))[:, None] >= cumulative[:, :-1]).sum(axis=1))
