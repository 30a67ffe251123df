"""E ln det J_Q(P): the Fisher information of one output about P, averaged over P ~ Dirichlet(β).

With L_y = Σ_x Q[y,x] P_x and F = Σ_y Q[y,·] Q[y,·]ᵀ / L_y, J is F along differences of P. Because F P = 1 and Σ P = 1,

    det J = det F         in a − 1 of the coordinates of P, whichever is left out.

So a protocol of as many outputs as values needs no draws: ln det J = 2 ln |det Q| − Σ_y ln L_y, and E ln L_y is an integral
(`linear_forms`). Outputs whose rows are proportional say the same, and are one. One whose row is constant, of mass δ, says
nothing: without it J is (1 − δ) times that of the rest. If Q has a rank below a then J is singular for every P; that is
decided in integers.

Bits that hardly differ have J → κ (1 + 11ᵀ) with κ = (p − q)² / q(1 − q), so ln det J → (a − 1) ln κ + ln a. What is left out
is of the order of √κ times the skewness of a bit, and is given as the error.

Otherwise P is drawn. The controls are Σ_y h_y ln L_y, the first order of ln det F at the mean of P (h_y is the leverage of a
row), and Σ_x β_x ln P_x.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from math import gcd

import flint
import numpy as np
from threadpoolctl import threadpool_limits

from trechter.measures.dirichlet import Array, Dirichlet
from trechter.measures.draws import controlled, generator
from trechter.measures.linear_forms import LinearForms
from trechter.measures.unary_forms import odds, unary_fisher
from trechter.model.operations import exact_weights
from trechter.model.protocol import Protocol
from trechter.model.unary import UnaryProtocol

PRIME = 2**61 - 1  # rank modulo a prime is never above the rank
CELLS = 1 << 19  # so many numbers at a time
EXACTLY = 200  # values up to which a determinant is computed in integers
FAINT = 1e-9  # κ of bits, where F − 11ᵀ is nearly lost among the last digits of F


def mean_log_det(protocol: Protocol, prior: Dirichlet, draws: int, seed: int) -> tuple[float, float]:
    """E ln det J and its standard error; −∞ where P cannot be told from the outputs."""
    if isinstance(protocol, UnaryProtocol):
        return _of_bits(protocol, prior, draws, seed)
    rows = Rows.of(protocol)
    if not rows.tell_all:
        return -math.inf, 0.0
    kept = (prior.a - 1) * math.log(rows.share)
    if len(rows.integers) == prior.a:
        return kept + rows.log_det() - math.fsum(LinearForms.of(rows.floats, prior).logs()), 0.0
    value, error = _drawn(rows.floats, prior, draws, seed)
    return kept + value, error


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a protocol that say something, as integers, and as floats whose columns sum to 1 without the constant row;
    `share` is what mass they have with it."""

    integers: list[list[int]]
    floats: Array
    share: float

    @classmethod
    def of(cls, protocol: Protocol) -> Rows:
        """Proportional rows added up, constant ones left out."""
        weights, sums = exact_weights(protocol), dict[tuple[int, ...], int]()
        for row in weights.tolist():
            if divisor := gcd(*row):
                primitive = tuple(w // divisor for w in row)
                sums[primitive] = sums.get(primitive, 0) + divisor
        whole = sum(row[0] * times for row, times in sums.items())
        silent = sums.pop((1,) * weights.shape[1], 0)
        rest = whole - silent
        scaled = [[w * times / rest for w in row] for row, times in sums.items()]
        integers = [[w * times for w in row] for row, times in sums.items()]
        return cls(integers, np.array(scaled, np.float64).reshape(-1, weights.shape[1]), rest / whole)

    def all(self) -> Array:
        """With the constant row, if there is one."""
        if self.share == 1:
            return self.floats
        silent = np.full((1, self.floats.shape[1]), 1 - self.share)
        return np.concatenate([self.floats * self.share, silent])

    @property
    def tell_all(self) -> bool:
        """Whether the rank is a, so that P can be told from the distribution of the outputs."""
        b, a = self.floats.shape
        if b < a:
            return False
        entries = [w for row in self.integers for w in row]
        if flint.nmod_mat(b, a, [w % PRIME for w in entries], PRIME).rank() == a:
            return True
        return bool(flint.fmpz_mat(b, a, entries).rank() == a)

    def log_det(self) -> float:
        """2 ln |det Q| of a square Q."""
        a = len(self.integers)
        if a > EXACTLY:
            return 2 * float(np.linalg.slogdet(self.floats)[1])
        det = int(flint.fmpz_mat(a, a, [w for row in self.integers for w in row]).det())
        return 2 * (math.log(abs(det)) - a * math.log(sum(row[0] for row in self.integers)))


def leverages(rows: Array, prior: Dirichlet) -> Array:
    """h_y at the mean of P: how much ln det F changes with −ln L_y."""
    scaled = rows / np.sqrt(rows @ prior.mean)[:, None]
    return np.asarray(((scaled @ np.linalg.pinv(scaled.T @ scaled)) * scaled).sum(axis=1))


def _drawn(rows: Array, prior: Dirichlet, draws: int, seed: int) -> tuple[float, float]:
    """The mean over draws of P."""
    P, weights = prior.draw(generator(draws, seed), draws), leverages(rows, prior)
    L = P @ rows.T
    with threadpool_limits(1, "blas"):  # its threads spin when the cores are busy, which made this a hundred times slower
        found = np.concatenate(list(_log_dets(rows, P, L)))
    controls = np.stack([np.log(L) @ weights, np.log(P) @ prior.beta], axis=1)
    means = np.array([LinearForms.of(rows, prior).logs() @ weights, prior.log_mean @ prior.beta])
    return controlled(found, controls, means)


def _log_dets(rows: Array, P: Array, L: Array) -> Iterator[Array]:
    """ln det F of some draws at a time, from √(P_x / L_y) Q[y,x]: its entries are at most 1, however small P is."""
    many = max(1, CELLS // rows.size)
    for i in range(0, len(P), many):
        scaled = rows * np.sqrt(P[i : i + many, None, :] / L[i : i + many, :, None])
        root = np.asarray(np.linalg.qr(scaled, mode="r"))
        diagonal = np.abs(np.diagonal(root, axis1=1, axis2=2))
        yield np.asarray(2 * np.log(diagonal).sum(axis=1) - np.log(P[i : i + many]).sum(axis=1))


def _of_bits(protocol: UnaryProtocol, prior: Dirichlet, draws: int, seed: int) -> tuple[float, float]:
    """Of a unary encoding of any number of values; the controls are the logarithms of the chances of its bits."""
    p, q, no_p, no_q = odds(protocol)
    if protocol.p == protocol.q:
        return -math.inf, 0.0
    if q == 0:  # Y is {x} or ∅
        return (prior.a - 1) * math.log(p) - float(prior.log_mean.sum()), 0.0
    kappa = (abs(protocol.p - protocol.q) / (1 << protocol.places)) ** 2 / (q * no_q)
    if kappa < FAINT:
        skewness, k = abs(no_q - q) / math.sqrt(q * no_q), prior.a - 1
        return k * math.log(kappa) + math.log(prior.a), k * math.sqrt(kappa) * (math.sqrt(kappa) + skewness)
    P = prior.draw(generator(draws, seed), draws)
    scaled = (np.sqrt(np.outer(each, each)) * unary_fisher(protocol, each) for each in P)
    with threadpool_limits(1, "blas"):
        found = np.array([np.linalg.slogdet(F)[1] for F in scaled]) - np.log(P).sum(axis=1)
    same = np.eye(prior.a)
    chances = np.concatenate([p * same + q * (1 - same), no_p * same + no_q * (1 - same)])
    controls = np.stack([np.log(P @ chances.T).sum(axis=1), np.log(P) @ prior.beta], axis=1)
    means = np.array([LinearForms.of(chances, prior).logs().sum(), prior.log_mean @ prior.beta])
    return controlled(found, controls, means)
