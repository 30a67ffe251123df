"""What the release is good for, and what it says about the secret: each figure with a line on what it means."""

from __future__ import annotations

import math

from trechter.measures import MutualInformation, TaskInformation, entropy
from trechter.model.result import Result
from trechter.report.charts import meter
from trechter.report.facts import Facts
from trechter.report.html import Html, Part, datum, element, join, paragraph, section, table
from trechter.report.numbers import NOISE, at_least, at_most, duration, factor, number, share

BIT = math.log(2)
LEVELS = {
    "lip": "No probability of a secret value changes by more than a factor e^level.",
    "ldp": "No odds between two secret values change by more than a factor e^level, whatever they were.",
    "srlip": "LIP towards readers who know any of the published columns already.",
    "srldp": "LDP towards readers who know any of the published columns already.",
}
STATUSES = {
    "optimal": "No protocol that keeps the promise can do better by more than this: the release is as faithful as it can be.",
    "gap": "A better protocol may exist, but not one that is better by more than this.",
    "heuristic": "The method used gives no limit on how much better another protocol could be.",
}


def part(facts: Facts) -> Html:
    """Two tables."""
    head = ["figure", "amount", "what it means"]
    return section(
        "utility",
        "What the release keeps, and what it tells",
        element("h3", "About the published columns"),
        meter(
            _share(facts.information, facts.entropy),
            f"{share(_share(facts.information, facts.entropy))} of the information is kept",
        ),
        table(head, _kept(facts), "figures"),
        element("h3", "About the secret"),
        paragraph(
            "Measured on the protocol as it is, over all its outputs, for readers who know the table's own shares.",
            kind="note",
        ),
        table(head, _told(facts), "figures"),
    )


def _kept(facts: Facts) -> list[list[Part]]:
    result, kept = facts.release.result, facts.information
    rows: list[list[Part]] = [
        ["information kept, I(X;Y)", _units(kept), "What a row of the release says about the row it came from, on average."],
        ["share of H(X)", share(_share(kept, facts.entropy)), f"Of all that the row has to say: {_units(facts.entropy)}."],
    ]
    if facts.task_information is not None:
        rows.append(_task(facts, facts.task_information))
    if result.measure.symbol not in (MutualInformation.symbol, TaskInformation.symbol):
        rows.append([result.measure.symbol, number(result.utility), "What the design was to make as good as possible."])
    rows += [
        [f"best possible {result.measure.symbol}", *_best(result)],
        ["gap", f"{at_most(result.gap, 2)} {result.measure.unit}", STATUSES[result.status]],
        ["solver", result.solver, f"It took {duration(result.seconds)}, certification included."],
    ]
    return rows


def _task(facts: Facts, information: float) -> list[Part]:
    name = datum(facts.joint.task.name if facts.joint.task else "")
    total = facts.release.information
    meaning = join(
        f"What a row of the release says about this column; the original says {number(total)}: ",
        share(_share(information, total)),
        ".",
    )
    return [join("about ", name, ", I(T;Y)"), _units(information), meaning]


def _best(result: Result) -> tuple[str, str]:
    if result.measure.less_is_better:
        return at_least(result.bound, 6), "No protocol that keeps this promise has less (rounded down)."
    shown = _units(result.bound, up=True) if result.measure.unit == "nats" else at_most(result.bound, 6)
    return shown, "No protocol that keeps this promise has more (rounded up)."


def _told(facts: Facts) -> list[list[Part]]:
    leak, secret = facts.leakage, entropy(facts.joint.p_s)
    before, after = (float(leak.priors.max()) * gain for gain in (1, leak.bayes_gain))
    rows: list[list[Part]] = [
        [
            "information, I(S;Y)",
            _units(leak.information),
            f"What a row says about the secret on average: {share(_share(leak.information, secret))} of all there is to know.",
        ],
        [
            "one guess, Bayes gain",
            f"× {number(leak.bayes_gain, 5)}",
            f"Whoever names the likeliest secret value is right in {share(before)} of rows before, in {share(after)} after.",
        ],
        [
            "maximal leakage",
            f"{number(leak.maximal)} nats",
            "Any guess of anything that depends on the secret gets likelier by at most "
            f"{factor(leak.maximal)}, however common its values are.",
        ],
    ]
    alike = len(facts.joint.release) == 1 and facts.protocol.reads == "x"  # then side channels have nothing to tell
    told = [n for n in leak.levels if not (alike and n.startswith("sr")) or n == facts.spec.name]
    rows += [[_level_name(facts, n), _level(facts, n), LEVELS[n]] for n in told]
    if facts.spec.over is not None:
        name = join(f"{facts.spec.name.upper()} level, worst case ", element("small", "(promised)"))
        rows.append([name, at_most(facts.certificate.level), "For the worst of the distributions that are covered."])
    return rows


def _level_name(facts: Facts, name: str) -> Part:
    note = element("small", "(promised)") if _promised(facts, name) else None
    return join(f"{name.upper()} level ", note)


def _level(facts: Facts, name: str) -> str:
    level = facts.certificate.level if _promised(facts, name) else facts.leakage.levels[name]
    if math.isinf(level):
        return "∞"
    return number(level) if level == 0 or level > NOISE else f"below {number(NOISE)}"


def _promised(facts: Facts, name: str) -> bool:
    return name == facts.spec.name and facts.spec.protect == "s" and facts.spec.over is None


def _units(nats: float, up: bool = False) -> str:
    shown = at_most if up else number
    return f"{shown(nats, 6)} nats ({shown(nats / BIT, 4)} bits)"


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 1.0
