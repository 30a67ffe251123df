"""`codebook.md`, for readers: what stands in the released file, what was promised, and what cannot be concluded.

It is public, so it is made from the protocol and the public part of the certificate. Of the joint it uses no more than
P(x|y) > 1 − 10⁻⁶, to tell which values are certain; nothing in it depends on the secret.
"""

from __future__ import annotations

import datetime as dt
from typing import cast

from trechter.alphabet.values import Bin, Value, label
from trechter.finish.explain import SURE
from trechter.measures import posterior_range
from trechter.model.certificate import Certificate
from trechter.model.kinds import Plain
from trechter.model.letters import values_of
from trechter.model.outputs import Mixture, Output, ValueSet, show
from trechter.model.spec import Spec
from trechter.report import estimating
from trechter.report.markdown import datum, table
from trechter.report.numbers import odds, odds_down, odds_up, share
from trechter.report.release import Release
from trechter.report.text import listing
from trechter.report.told import Told
from trechter.report.words import scope

MOST_OUTPUTS = 500
MOST_VALUES = 100
NAMED = 12
EXAMPLE = 0.1
TYPES = {str: "text", int: "integer", bool: "boolean", dt.date: "date", Bin: "bin"}

CHECK = """\
import hashlib, json

content = json.load(open("protocol.json", encoding="utf-8"))
stated = content.pop("hash")
text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
certificate = json.load(open("certificate.json", encoding="utf-8"))
print(hashlib.sha256(text.encode()).hexdigest() == stated == certificate["protocol"])"""

NOT_CONCLUDED_FROM_OUTPUTS = (
    "What a single row was: where an output names several values, each of them may be true. Counting outputs is not counting "
    "values; how to estimate how common these are is said below.",
    "More digits than there are: odds are rounded, to whole percent in the file and to four decimals in "
    "`protocol.json`; values with odds below one in a million are left out.",
    "What holds in part of the data: the odds were computed for the original table as a whole.",
)
NOT_CONCLUDED_FROM_PROMISE = (
    "That {} cannot be guessed: the promise limits how much a row helps in guessing. Where more is known about a "
    "person, the odds were different to begin with.",
    "Anything about several rows together, or about this release together with another of the same table: the promise "
    "is about single rows of this file.",
)
NEVER_CONCLUDED = ("Who a row is about, or that nobody can be recognised: identities were not what was protected.",)


def render(release: Release) -> str:
    """The codebook."""
    protocol, spec = cast(Plain, release.result.protocol), release.certificate.notion
    sure = certain(release)
    parts = [
        f"# Codebook of {datum(release.file)}",
        *_warning(release),
        _about(release, protocol, all(sure)),
        "## Columns",
        _columns(protocol),
        "## What the values mean",
        *_meanings(protocol, sure),
        "## What was promised",
        *_promise(protocol, release.certificate),
        "## What cannot be concluded",
        "\n".join(f"- {limit}" for limit in _limits(spec, all(sure))),
        "## How to estimate shares",
        *estimating.section(protocol, release.file),
        "## How to check the files",
        *_checks(release),
    ]
    return "\n\n".join(parts) + "\n"


def _warning(release: Release) -> list[str]:
    if release.certificate.facts.get("secure", True):
        return []
    return ["**INSECURE: drawn from a seed that can be guessed, for tests only. This file protects nobody.**"]


def _about(release: Release, protocol: Plain, unchanged: bool) -> str:
    kept = release.certificate.facts.get("order") == "keep"
    order = "Rows stand in the order of the original." if kept else "The rows were shuffled; their order means nothing."
    secret = "" if release.certificate.notion.protect == "x" else f", so that little can be learnt about {_secret(protocol)}"
    reads = ", seen together with the secret," if protocol.reads == "sx" else ""
    what = f"What the original says about {_published(protocol)}{reads} was replaced by an output drawn at random{secret}."
    if unchanged:
        binned = any(a.edges for a in protocol.release)
        how = "in bins and otherwise unchanged" if binned else "unchanged"
        what = f"It shows what the original says about {_published(protocol)}, {how}."
    return f"Each row stands for one row of a table that is not published. {what} {order}"


def _columns(protocol: Plain) -> str:
    own = {a.name for a in protocol.release}
    about = _published(protocol)
    rows = [
        [datum(c.name), datum(c.name) if c.name in own else about, _type(c.values), str(len(c.values))]
        for c in protocol.columns()
    ]
    return table(["column", "about", "type", "different values"], rows)


def _type(values: tuple[Value, ...]) -> str:
    kinds = dict.fromkeys(TYPES[type(v)] for v in values if v is not None)
    return " or ".join(kinds) + (", may be null" if None in values else "")


def _meanings(protocol: Plain, sure: list[bool]) -> list[str]:
    if all(sure):
        return ["Every value is the true one, or the bin that it lies in.", *_domains(protocol)]
    if not any(isinstance(o, Mixture | ValueSet) for o in protocol.outputs):
        return [
            "A value may be the true one or another, drawn at random by the probabilities in `protocol.json`.",
            *_domains(protocol),
        ]
    rows = [[datum(show(o)), _meaning(o, sure[y])] for y, o in enumerate(protocol.outputs)]
    left = len(rows) - MOST_OUTPUTS
    more = [f"{left} more outputs are explained in `protocol.json`, under `outputs`."] if left > 0 else []
    head = [datum(", ".join(protocol.released)), f"the truth about {_published(protocol)}"]
    return [table(head, rows[:MOST_OUTPUTS]), *more]


def _domains(protocol: Plain) -> list[str]:
    rows = []
    for column in protocol.columns():
        shown = ", ".join(datum(label(v)) for v in column.values[:MOST_VALUES])
        left = len(column.values) - MOST_VALUES
        rows.append([datum(column.name), shown + (f", and {left} more (see `protocol.json`)" if left > 0 else "")])
    return [table(["column", "values"], rows)]


def _meaning(output: Output, sure: bool) -> str:
    if isinstance(output, Mixture) and len(output.values) > 1:
        pairs = zip(output.values[:NAMED], output.odds[:NAMED], strict=True)
        named = ", ".join(f"{datum(show(v))} {share(p) if p else '<0.01%'}" for v, p in pairs)
        left = len(output.values) - NAMED
        more = f", and {left} more (see `protocol.json`)" if left > 0 else ""
        return f"one of these {len(output.values)} values, with these odds: {named}{more}"
    if isinstance(output, ValueSet):
        return "unknown: this set was drawn at random by the probabilities in `protocol.json`"
    value = output.values[0] if isinstance(output, Mixture) else output
    return f"{datum(show(value))}, for certain" if sure else f"most probably {datum(show(value))}"


def certain(release: Release) -> list[bool]:
    """Which outputs leave one value only, and name it."""
    joint, protocol = release.joint, cast(Plain, release.result.protocol)
    told, values = Told.by(protocol, joint), values_of(joint.release)
    only = {int(y): show(values[x]) for y, x, p in zip(told.output, told.value, told.share, strict=True) if p > SURE}
    return [only.get(y) == show(o.values[0] if isinstance(o, Mixture) else o) for y, o in enumerate(protocol.outputs)]


def _promise(protocol: Plain, certificate: Certificate) -> list[str]:
    spec = certificate.notion
    about = _published(protocol) if spec.protect == "x" else _secret(protocol)
    if spec.epsilon is None:
        return [f"Nothing: no limit was asked for (ε = ∞) on what a row tells about {about}."]
    found = [f"{spec.name.upper()} with ε = {spec.level_text}, about {about}. {_words(spec)}", _example(about, spec)]
    if spec.name.startswith("sr"):
        found.append("This holds also for readers who already know some of the published columns of that row from elsewhere.")
    return found + scope(certificate)


def _words(spec: Spec) -> str:
    if spec.epsilon == 0:
        return "That is perfect privacy: the output of a row is independent of it."
    if spec.name.endswith("ldp"):
        return (
            "Reading a row changes the odds between any two of its values by at most a factor e^ε, "
            "whatever the reader believed before."
        )
    return "Reading a row changes the probability of each of its values, and that of its opposite, by at most a factor e^ε."


def _example(about: str, spec: Spec) -> str:
    start = (
        f"An example with made-up numbers: suppose that one in ten has some value of {about}, "
        f"so its odds are {odds(EXAMPLE)}. Whoever reads a row sees them "
    )
    if spec.epsilon == 0:
        return f"{start}stay at {odds(EXAMPLE)}."
    low, high = posterior_range(spec, EXAMPLE)
    return f"{start}move to at most {odds_up(high)}, and to no less than {odds_down(low)}."


def _limits(spec: Spec, unchanged: bool) -> list[str]:
    protected = "these columns" if spec.protect == "x" else "the secret"
    drawn = () if unchanged else NOT_CONCLUDED_FROM_OUTPUTS
    promised = () if spec.epsilon is None else tuple(line.format(protected) for line in NOT_CONCLUDED_FROM_PROMISE)
    return [*drawn, *promised, *NEVER_CONCLUDED]


def _checks(release: Release) -> list[str]:
    return [
        f"`certificate.json` says what was decided, about the protocol with the SHA-256 {release.certificate.protocol}. "
        "That is the hash of the content of `protocol.json` without its entry `hash`. This prints `True` if nothing was "
        "changed:",
        f"```python\n{CHECK}\n```",
        "Whether the promise holds depends on counts that are not published. Whoever holds them can decide it again, "
        "exactly, with `trechter verify protocol.json --counts COUNTS.csv`.",
    ]


def _published(protocol: Plain) -> str:
    return listing([datum(a.name) for a in protocol.release])


def _secret(protocol: Plain) -> str:
    together = "the combination of " if len(protocol.secret) > 1 else ""
    return together + listing([datum(a.name) for a in protocol.secret])
