"""Does a protocol keep its promise? A second opinion that needs nothing but Python 3.8 or later.

    python verify.py protocol.json COUNTS.csv [--notion lip --epsilon 1/2]

ends with 0 if it holds, 1 if it does not, 2 if that cannot be said. This file is meant to be read: `read_protocol` and
`read_counts` take nothing on trust, `worst_ratio` is the definition to the letter, and `at_most_exp` compares with e^ε.
Every number that decides is an integer or a fraction; there is no floating point.

N(s, x) rows have the secret value s and the values x = (x¹, …, xᵐ) of the released attributes. A row gets the output y
with probability Q(y|s,x) = weight / 2^bits. Knowing s and some attributes x^J it is the average over the rows that agree:

    P(y | s, x^J) = Σ Q(y|s,x) N(s,x) / Σ N(s,x)       conditions that no row meets ask for nothing

    ldp            P(y|s) ≤ e^ε P(y|s')                for every output y and secret values s, s'
    lip            e^-ε ≤ P(y|s) / P(y) ≤ e^ε          for every output y and secret value s
    srldp, srlip   the same, all probabilities given x^J, for every set J of attributes (none and all too) and every x^J

Of a unary encoding (bit x' is 1 with probability p if x' = x, else q) the outputs are all sets y of values. Q(y|x) is p(1−q)
if x is in y and q(1−p) if not, times what is the same for all x.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Any, NamedTuple

NUMBER = re.compile(r"[0-9]+/[0-9]+|([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
MEANING = {
    "ldp": "no output is more than e^{} times as likely under one value of {} as under another",
    "lip": "no output is more than e^{} times as likely, or as unlikely, under a value of {} as it is overall",
}


ROBUST = "its promise is for a whole set of distributions, which this script does not decide; `trechter verify` does"


class CannotSay(Exception):  # noqa: N818 (an answer rather than an error)
    """There is no verdict, and why."""


class Cell(NamedTuple):
    """n rows with the protected value s and released values x; weights[y] / 2^bits is Q(y|s,x)."""

    s: tuple[int, ...]
    x: tuple[int, ...]
    weights: list[int]
    n: int


def worst_ratio(notion: str, cells: list[Cell], odds: tuple[int, int] | None = None) -> Fraction | None:
    """The largest ratio of probabilities that the notion bounds by e^ε; None if it is infinite. `odds` if outputs are sets."""
    m, worst = len(cells[0].x), Fraction(1)
    for size in range(m + 1) if notion.startswith("sr") else [0]:
        for J in combinations(range(m), size):
            agreeing = defaultdict(list)
            for cell in cells:
                agreeing[tuple(cell.x[j] for j in J)].append(cell)
            for group in agreeing.values():
                for over, under in bounded_sets(notion, group, *odds) if odds else bounded(notion, group):
                    if under > 0:
                        worst = max(worst, over / under)
                    elif over > 0:
                        return None
    return worst


def bounded(notion: str, cells: list[Cell]) -> Iterator[tuple[Fraction, Fraction]]:
    """The pairs whose quotient must be at most e^ε, for every output, among rows that agree on x^J."""
    for y in range(len(cells[0].weights)):
        drawn: dict[tuple[int, ...], int] = defaultdict(int)
        rows: dict[tuple[int, ...], int] = defaultdict(int)
        for cell in cells:
            drawn[cell.s] += cell.weights[y] * cell.n
            rows[cell.s] += cell.n
        given = [Fraction(drawn[s], rows[s]) for s in rows]  # P(y | s, x^J) · 2^bits
        if notion.endswith("ldp"):
            yield max(given), min(given)
        else:
            overall = Fraction(sum(drawn.values()), sum(rows.values()))  # P(y | x^J) · 2^bits
            yield max(given), overall
            yield overall, min(given)


def bounded_sets(notion: str, cells: list[Cell], v: int, u: int) -> Iterator[tuple[Fraction, Fraction]]:
    """The same of a unary encoding: P(y|f) = v + (u − v) f(y) for a set y, times a constant, where f(y) = P(x in y).

    The worst y for a pair (f, g) has all x with f(x) > ρ g(x), ρ its quotient: it is first when x are sorted by f(x)/g(x).
    """
    rows: dict[tuple[int, ...], int] = defaultdict(int)
    for cell in cells:
        rows[cell.s] += cell.n
    total = sum(rows.values())
    given: dict[tuple[int, ...], dict[tuple[int, ...], Fraction]] = {s: defaultdict(Fraction) for s in rows}
    overall: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for cell in cells:
        given[cell.s][cell.x] += Fraction(cell.n, rows[cell.s])  # P(x | s, x^J)
        overall[cell.x] += Fraction(cell.n, total)  # P(x | x^J)
    known = list(given.values()) if notion.endswith("ldp") else [overall]
    pairs = [pair for f in given.values() for g in known for pair in ((f, g), (g, f))]
    for f, g in pairs:
        over = under = Fraction(v)
        for x in sorted(overall, key=lambda x: f[x] / g[x] if g[x] else math.inf if f[x] else 0, reverse=True):
            over, under = over + (u - v) * f[x], under + (u - v) * g[x]
            yield over, under


def at_most_exp(ratio: Fraction, epsilon: Fraction) -> bool:
    """ratio ≤ e^ε = 1 + ε + ε²/2! + …, each term as an integer over `one`, rounded down in `low` and up in `high`."""
    if ratio <= 1 or epsilon == 0:
        return ratio <= 1
    if ratio.numerator.bit_length() <= epsilon:
        return True  # ratio < 2^ε
    one = 2**64
    while True:  # ends, because e^ε is irrational
        low = high = down = up = one
        n = 0
        while n < 2 * epsilon or up > 1:
            n += 1
            down = down * epsilon.numerator // (epsilon.denominator * n)
            up = -(-up * epsilon.numerator // (epsilon.denominator * n))
            low, high = low + down, high + up
        if ratio * one <= low:
            return True
        if ratio * one > high + up:  # from n ≥ 2ε on terms halve at least, so what is left out is at most the last one
            return False
        one *= one


def read_protocol(path: str) -> dict[str, Any]:
    """The protocol as it is in its file, weights as integers, once it is known to be whole and a distribution."""
    with open(path, encoding="utf-8") as file:
        data: dict[str, Any] = json.load(file)
    require(isinstance(data, dict) and data.get("format") == "trechter-protocol", "it is no protocol file")
    require(data.get("version") == 1, "its version is {!r}, and this script knows version 1", data.get("version"))
    stated = data.pop("hash", None)
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    require(stated == hashlib.sha256(text.encode()).hexdigest(), "its content does not match its hash: it was changed")
    require(data["kind"] in ("dense", "sparse", "unary"), "this script does not know protocols of kind {!r}", data["kind"])
    require(data["reads"] in ("x", "sx"), "it reads {!r}, which is unknown", data["reads"])
    for role in ("secret", "release"):
        require(data[role] and isinstance(data[role], list), "its {} columns are {!r}", role, data[role])
    data["hash"] = stated
    read = (data["secret"] if data["reads"] == "sx" else []) + data["release"]
    inputs = math.prod(len(attribute["values"]) for attribute in read)
    if data["kind"] == "unary":
        require(type(data["places"]) is int and 0 < data["places"] <= 1000, "places = {!r}", data["places"])
        p, q, one = whole(data["p"]), whole(data["q"]), 1 << data["places"]
        require(p <= one and q <= one and data["reads"] == "x", "p or q is no probability, or it does not read x")
        # If v > u, sets and their complements change places.
        return dict(data, odds=sorted((q * (one - p), p * (one - q))), weights=[[]] * inputs)
    require(type(data["bits"]) is int, "bits = {!r}", data["bits"])
    require(len(data["weights"]) == inputs, "it has {} columns for {} inputs", len(data["weights"]), inputs)
    if data["kind"] == "sparse":
        require(0 < data["bits"] < 63, "bits = {}", data["bits"])
        shared = [whole(weight) for weight in data["background"]]
        data["weights"] = [spread(entries, shared, data["bits"]) for entries in data["weights"]]
    else:
        data["weights"] = [[whole(weight) for weight in column] for column in data["weights"]]
    for i, column in enumerate(data["weights"]):
        require(len(column) == len(data["outputs"]), "column {} has not one weight for each output", i)
        bits = sum(column).bit_length() - 1
        require((bits, 1 << bits) == (data["bits"], sum(column)), "column {} does not sum to 2^{}", i, data["bits"])
    return data


def spread(entries: list[Any], shared: list[int], bits: int) -> list[int]:
    """A column of which few weights are listed, as [output, weight]: they come on top of what all columns share.

    Where none is listed, what is shared fills the column alone, all of it in the same proportion.
    """
    column = shared if entries else [weight * (2**bits // max(1, sum(shared))) for weight in shared]
    column, last = list(column), -1
    for y, weight in entries:
        require(type(y) is int and last < y < len(column), "{!r} is no output, or out of order", y)
        require(whole(weight), "the weight of output {} is 0", y)
        column[y], last = column[y] + whole(weight), y
    return column


def read_counts(path: str, attributes: list[Any]) -> dict[tuple[int, ...], int]:
    """How many rows (times a constant) have each combination of values, as positions in the protocol's lists."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        csv.field_size_limit(2**31 - 1)
        header, *rows = list(csv.reader(file, strict=True)) or [[]]
    require(header[-1:] == ["count"], "its last column is not 'count'")
    names = [attribute["name"] for attribute in attributes]
    for name in names:
        require(header[:-1].count(name) == names.count(name) == 1, "there must be one column {!r}", name)
    at, codes = [header.index(name) for name in names], [positions(attribute) for attribute in attributes]
    counts: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for row in rows:
        require(len(row) == len(header), "the row {} does not have {} fields", row, len(header))
        for i, code in enumerate(codes):
            require(row[at[i]] in code, "{!r} is not a value of {!r}", row[at[i]], names[i])
        counts[tuple(code[row[at[i]]] for i, code in enumerate(codes))] += number(row[-1])
    require(any(counts.values()), "it counts no rows")
    common = 1
    for n in counts.values():
        common *= n.denominator // math.gcd(common, n.denominator)
    return {key: int(n * common) for key, n in counts.items() if n}


def positions(attribute: dict[str, Any]) -> dict[str, int]:
    """Where each label of COUNTS.csv stands in the protocol's list of values."""
    shown = [label(value) for value in attribute["values"]]
    if None in attribute["values"]:
        null = attribute["values"].index(None)
        while shown.count(shown[null]) > 1:  # a text that reads like the null
            shown[null] = "(" + shown[null] + ")"
    require(len(set(shown)) == len(shown), "a value of {!r} is listed twice", attribute["name"])
    return {text: i for i, text in enumerate(shown)}


def label(value: Any) -> str:
    """A value as it stands in COUNTS.csv."""
    if isinstance(value, dict) and "bin" in value:
        return "[{}, {}{}".format(*map(label, value["bin"]), "]" if value["closed"] else ")")
    return "(null)" if value is None else str(value["date"] if isinstance(value, dict) else value)


def whole(text: str) -> int:
    """The value of plain digits."""
    require(isinstance(text, str) and re.fullmatch("[0-9]+", text), "{!r} is no weight: digits are expected", text)
    return int(text)


def number(text: str) -> Fraction:
    """The exact value of 12, 0.5, 1e-6 or 3/7."""
    require(NUMBER.fullmatch(text), "{!r} is no number ≥ 0", text)
    return Fraction(text)


def require(condition: object, reason: str, *values: object) -> None:
    """No verdict unless the condition holds."""
    if not condition:
        raise CannotSay(reason.format(*values))


def verdict(protocol: dict[str, Any], counts: dict[tuple[int, ...], int], promise: dict[str, str]) -> tuple[bool, str]:
    """The answer, and the answer in words."""
    notion, protect = promise["notion"], promise.get("protect", "s")
    epsilon = None if promise["epsilon"] == "inf" else number(promise["epsilon"])
    require(notion in ("ldp", "lip", "srldp", "srlip"), "the notion {!r} is unknown", notion)
    require(protect in ("s", "x"), "it protects {!r}, which is unknown", protect)
    require(promise.get("over") is None, ROBUST)
    c, first = len(protocol["secret"]), 0 if protocol["reads"] == "sx" else len(protocol["secret"])
    sizes = [len(a["values"]) for a in protocol["secret"] + protocol["release"]]
    column = {read: protocol["weights"][i] for i, read in enumerate(product(*map(range, sizes[first:])))}
    cells = [Cell(v[:c] if protect == "s" else v[c:], v[c:], column[v[first:]], n) for v, n in counts.items()]
    worst = worst_ratio(notion, cells, protocol.get("odds"))
    holds = epsilon is None or (worst is not None and at_most_exp(worst, epsilon))
    names = " with ".join(a["name"] for a in protocol["secret" if protect == "s" else "release"])
    words = MEANING["ldp" if notion.endswith("ldp") else "lip"].format(f"({promise['epsilon']})", names)
    if notion.startswith("sr"):
        words += ", also for readers who know any released attributes from elsewhere"
    level = "infinite" if worst is None else f"about {shown_log(worst):.9g}"
    answer = "HOLDS" if holds else "DOES NOT HOLD"
    return holds, f"{answer}: {words}.\nThe level is {level}. The protocol's hash is {protocol['hash']}."


def shown_log(ratio: Fraction) -> float:
    """ln(ratio), to be shown; nothing is decided by it."""
    return math.log1p(ratio - 1) if ratio < 2 else math.log(ratio.numerator) - math.log(ratio.denominator)


def within(place: str, step: Any, *arguments: Any) -> Any:
    """What a step gives; whatever stops it, there is no verdict, and the place is named."""
    try:
        return step(*arguments)
    except CannotSay as reason:
        raise CannotSay(f"{place}: {reason}") from None
    except Exception as error:
        raise CannotSay(f"{place}: it cannot be used ({type(error).__name__}: {error})") from None


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Does a protocol keep its promise?")
    parser.add_argument("protocol", help="protocol.json")
    parser.add_argument("counts", help="COUNTS.csv: the secret and released columns, then count")
    parser.add_argument("--notion", help="ldp, lip, srldp or srlip, in place of what is promised", type=str.lower)
    parser.add_argument("--epsilon", help="its level: 0.5, 1/2, 0 or inf")
    asked = parser.parse_args(arguments)
    try:
        require((asked.notion is None) == (asked.epsilon is None), "give --notion and --epsilon together, or neither")
        protocol = within(asked.protocol, read_protocol, asked.protocol)
        counts = within(asked.counts, read_counts, asked.counts, protocol["secret"] + protocol["release"])
        own = within(asked.protocol, protocol.__getitem__, "promise")
        promise = {"notion": asked.notion, "epsilon": asked.epsilon} if asked.notion else own
        require(promise, "the protocol promises nothing; name --notion and --epsilon")
        holds, words = within("the promise", verdict, protocol, counts, promise)
    except CannotSay as reason:
        print("CANNOT SAY:", reason)
        return 2
    print(words)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
