"""The consumer kit in the codebook: what an estimate of shares needs, and a dozen lines that make it, in Python and in R.

The lines are those that this release needs, no more: how its cells read in `protocol.json`, and how its weights are kept. They
invert the protocol by least squares, and give no share to a value whose share the outputs do not tell.
"""

from __future__ import annotations

from trechter.alphabet.values import Bin
from trechter.model.kinds import Plain
from trechter.model.outputs import Mixture, ValueSet
from trechter.report.markdown import datum
from trechter.report.text import listing

MOST_BITS = 1000  # R has no larger numbers

INPUTS = """\
- The output of a row is what stands in {columns}; `protocol.json` lists all outputs under `outputs`.
- Its inputs are all combinations of the values of {read}, in the order in which they are listed, the last column changing
  fastest.
- {weights}"""
DENSE = (
    "`weights[i][y]` over 2 to the power of `bits` is the probability that input i gives output y; both are counted from zero."
)
SPARSE = (
    "The probability that input i gives output y, both counted from zero, is `background[y]` plus the number beside y in "
    "`weights[i]`, over 2 to the power of `bits`; or if `weights[i]` is empty, `background[y]` over the sum of `background`."
)
MEANS = (
    "These lines print for each value its share in the population that the rows are a sample of, and its standard error, "
    "which counts sampling and noise. The shares are unbiased, so some may be negative, and `nan` where the outputs do not "
    "tell, however many rows there are. {more}"
)
MORE = "`trechter estimate` finds the same, with 95 % intervals that hold for rare values too, and says what else can be told."
NO_R = "(No lines in R for this release: its numbers have more digits than R can read.)"


def section(protocol: Plain, file: str) -> list[str]:
    """The paragraphs of the codebook."""
    columns = listing([datum(c.name) for c in protocol.columns()])
    read = listing([datum(a.name) for a in protocol.input_attributes])
    weights = SPARSE if protocol.kind == "sparse" else DENSE
    fits = protocol.bits <= MOST_BITS and not any(isinstance(edge, float) for edge in _edges(protocol))
    return [
        "All that an estimate of shares needs is in the released file and in `protocol.json`:",
        INPUTS.format(columns=columns, read=read, weights=weights),
        MEANS.format(more=MORE),
        f"```python\n{python(protocol, file)}\n```",
        f"The same in R:\n\n```r\n{r(protocol, file)}\n```" if fits else NO_R,
    ]


def python(protocol: Plain, file: str) -> str:
    """Python with NumPy, and polars where the file is Parquet."""
    several, reads = len(protocol.columns()) > 1, protocol.reads == "sx"
    imports, rows = _python_rows(_quoted(file), file)
    key = "tuple(map(shown, o))" if several else "(shown(o),)"
    lines = [
        f"import {imports}",
        "import numpy as np",
        'protocol = json.load(open("protocol.json", encoding="utf-8"))',
        f"shown = lambda o: ({_choice(protocol, PYTHON, 'str(o)')})",
        f"rows = {rows}",
        f"outputs = {{{key}: y for y, o in enumerate(protocol['outputs'])}}",
        "counts = np.bincount([outputs[tuple(row)] for row in rows], minlength=len(outputs))",
        *(PYTHON_SPARSE if protocol.kind == "sparse" else PYTHON_DENSE),
        'values = list(itertools.product(*(a["values"] for a in protocol["release"])))',
        f"cells = np.{'tile(np.eye(len(values)), Q.shape[1] // len(values))' if reads else 'eye(len(values))'}",
        "n, f, A = len(rows), counts / len(rows), cells @ np.linalg.pinv(Q, rcond=1e-10)",
        "shares = np.where(abs(A @ Q - cells).max(axis=1) < 1e-6, A @ f, np.nan)",
        "for value, share, square in zip(values, shares, A**2 @ f):",
        '    print(*map(shown, value), share, (max(square - share**2, 0) / (n - 1)) ** 0.5, sep="\\t")',
    ]
    return "\n".join(lines)


PYTHON = {
    "null": '"" if o is None',
    "list": '" · ".join("(null)" if v is None else str(v) if v is True or v is False else shown(v) for v in o) '
    "if isinstance(o, list)",
    "boolean": "str(o).lower() if isinstance(o, bool)",
    "date": 'o["date"] if isinstance(o, dict) and "date" in o',
    "bin": '"[{}, {}{}".format(*map(shown, o["bin"]), ")]"[o["closed"]]) if isinstance(o, dict) and "bin" in o',
    "mixture": 'o["label"] if isinstance(o, dict)',
}
PYTHON_DENSE = ('Q = np.array([[int(w) / 2 ** protocol["bits"] for w in column] for column in protocol["weights"]]).T',)
PYTHON_SPARSE = (
    'G = np.array([int(w) / 2 ** protocol["bits"] for w in protocol["background"]])',
    'Q = np.array([G if column else G / G.sum() for column in protocol["weights"]]).T',
    'for i, y, w in ((i, y, w) for i, column in enumerate(protocol["weights"]) for y, w in column):',
    '    Q[y, i] += int(w) / 2 ** protocol["bits"]',
)


def _python_rows(name: str, file: str) -> tuple[str, str]:
    """What to import, and how to read the rows."""
    if file.endswith(".parquet"):
        return "itertools, json, polars", f'polars.read_parquet({name}).cast(polars.String).fill_null("").rows()'
    tab = ', delimiter="\\t"' if ".tsv" in file else ""
    if file.endswith(".gz"):
        opened = f'gzip.open({name}, "rt", encoding="utf-8", newline="")'
        return "csv, gzip, itertools, json", f"list(csv.reader({opened}{tab}))[1:]"
    return "csv, itertools, json", f'list(csv.reader(open({name}, encoding="utf-8", newline=""){tab}))[1:]'


def r(protocol: Plain, file: str) -> str:
    """R with jsonlite, and nanoparquet where the file is Parquet."""
    several, reads = len(protocol.columns()) > 1, protocol.reads == "sx"
    each = 'function(o) paste(sapply(o, shown), collapse = "\\r")' if several else "shown"
    lines = [
        'protocol <- jsonlite::fromJSON("protocol.json", simplifyVector = FALSE)',
        f"shown <- function(o) {_choice(protocol, R, 'as.character(o)')}",
        f"rows <- {_r_rows(_quoted(file), file)}",
        f"outputs <- sapply(protocol$outputs, {each})",
        'counts <- table(factor(do.call(paste, c(unname(as.list(rows)), sep = "\\r")), outputs))',
        *(R_SPARSE if protocol.kind == "sparse" else R_DENSE),
        "values <- rev(expand.grid(rev(lapply(protocol$release, function(a) sapply(a$values, shown)))))",
        f"cells <- {'matrix(diag(nrow(values)), nrow(values), ncol(Q))' if reads else 'diag(nrow(values))'}",
        "s <- svd(Q); k <- s$d > 1e-10 * s$d[1]; n <- nrow(rows); f <- as.vector(counts) / n; stopifnot(sum(counts) == n)",
        "A <- cells %*% s$v[, k, drop = FALSE] %*% (t(s$u[, k, drop = FALSE]) / s$d[k])",
        "share <- ifelse(apply(abs(A %*% Q - cells), 1, max) < 1e-6, A %*% f, NaN)",
        "error <- sqrt(pmax(A^2 %*% f - share^2, 0) / (n - 1))",
        "found <- data.frame(values, share, error)",
        'write.table(found, sep = "\\t", row.names = FALSE, col.names = FALSE, quote = FALSE, na = "nan")',
    ]
    return "\n".join(lines)


R = {
    "null": 'if (is.null(o)) ""',
    "list": 'if (is.list(o) && is.null(names(o))) paste(sapply(o, function(v) if (is.null(v)) "(null)" else '
    'if (is.logical(v)) c("False", "True")[v + 1] else shown(v)), collapse = " \\u00b7 ")',
    "boolean": "if (is.logical(o)) tolower(o)",
    "date": "if (is.list(o) && !is.null(o$date)) o$date",
    "bin": 'if (is.list(o) && !is.null(o$bin)) paste0("[", shown(o$bin[[1]]), ", ", shown(o$bin[[2]]), '
    'if (o$closed) "]" else ")")',
    "mixture": "if (is.list(o)) o$label",
    "integer": "if (is.numeric(o)) format(o, scientific = FALSE, digits = 15)",
}
R_DENSE = (
    "Q <- sapply(protocol$weights, function(column) as.numeric(unlist(column))) / 2^protocol$bits",
    "Q <- matrix(Q, length(outputs))",
)
R_SPARSE = (
    "G <- as.numeric(unlist(protocol$background)) / 2^protocol$bits",
    "Q <- sapply(protocol$weights, function(column) {",
    "  for (e in column) G[e[[1]] + 1] <- G[e[[1]] + 1] + as.numeric(e[[2]]) / 2^protocol$bits",
    "  if (length(column)) G else G / sum(G) })",
)


def _r_rows(name: str, file: str) -> str:
    if file.endswith(".parquet"):
        cell = 'function(x) ifelse(is.na(x), "", as.character(x))'
        return f"as.data.frame(lapply(nanoparquet::read_parquet({name}), {cell}))"
    tab = ', sep = "\\t"' if ".tsv" in file else ""
    return f'read.csv({name}, colClasses = "character", na.strings = character(), encoding = "UTF-8"{tab})'


def _choice(protocol: Plain, pieces: dict[str, str], otherwise: str) -> str:
    """How the cells and values of this protocol read, as far as they are more than text."""
    cells = [c for column in protocol.columns() for c in column.values] + [v for a in protocol.release for v in a.values]
    edges, lone = _edges(protocol), len(protocol.columns()) == 1
    there = {
        "null": any(c is None for c in cells),
        "list": lone and any(isinstance(o, tuple) for o in protocol.outputs),
        "boolean": any(isinstance(c, bool) for c in cells),
        "date": any(hasattr(c, "isoformat") for c in (*cells, *edges)),
        "bin": len(edges) > 0,
        "mixture": any(isinstance(o, Mixture | ValueSet) for o in protocol.outputs),
        "integer": any(isinstance(c, int) for c in (*cells, *edges)),
    }
    found = [piece for kind, piece in pieces.items() if there[kind]]
    return (" else " if len(found) < 3 else " else\n    ").join([*found, otherwise])


def _edges(protocol: Plain) -> list[object]:
    bins = [v for a in protocol.release for v in a.values if isinstance(v, Bin)]
    return [edge for b in bins for edge in (b.low, b.high)]


def _quoted(file: str) -> str:
    return '"' + file.replace("\\", "\\\\").replace('"', '\\"') + '"'
