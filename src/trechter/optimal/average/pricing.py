"""Where the best columns of a trade lie, how much they can be worth, and how to climb to them.

Funnel, `g = D(v‖p_X) − βD(Lv‖p_S) − λ·v`: among the posteriors with the same Lv the convex g is largest at a vertex of
{v ≥ 0 : Lv = z}, so **an optimal output names at most rank(L) ≤ c values of X**. The simplices are the faces of so many
letters. Over one the convex part lies below its interpolation, and `D(z‖p_S) ≥ Σ z ln(m/p_S)` for any distribution m (Gibbs).

Bottleneck, `g = βD(Lv‖p_S) − D(v‖p_X) − λ·v`: the simplex of z = Lv is searched, whatever the number of letters. For any μ,
Gibbs' inequality gives `g(v) ≤ βD(z‖p_S) − μ·z + ln Σ_x p_x exp(μ·L_x − λ_x)`, and the convex βD − μ·z is largest at a corner.

Both g are one relatively convex function less another, so a closed step never goes down:
v ∝ v exp(∇g(v)/(β−1)) for the funnel (β > 1: for β ≤ 1 g is convex by the data-processing inequality, and the letters are the
optima), and the Blahut–Arimoto step v ∝ p_X exp(βΣ_s L_sx ln(z_s/p_s) − λ_x) for the bottleneck.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from trechter.optimal.average.search import Index
from trechter.optimal.average.trade import CURVE, Array, Prices, Trade, divergence

ROUNDS = 4  # of choosing m; every one gives a bound
STEPS = 60  # of an ascent
STEEP = 0.05  # β − 1 is taken for no less: a larger step only reaches the letters
SHARES = (0.0, 0.5, 0.9, 1.0)  # of the one slope in a mixture with the other; every one gives a bound
TINY, VAST = 1e-300, 1e12
STILL = 1e-12  # shares that move by less have settled
FAINT = 1e-12  # an output of less probability is left out


@dataclass(frozen=True, eq=False)
class FunnelPricing:
    """Faces of rank(L) letters."""

    trade: Trade
    prices: Prices

    def faces(self) -> Index:
        """All sets of rank(L) letters; of fewer letters they are the boundaries."""
        return supports(self.trade)

    def posteriors(self, points: Array, faces: Index) -> Array:
        """Points with a zero for every letter that is not named."""
        v = np.zeros((len(points), self.trade.letters))
        np.put_along_axis(v, faces, points, axis=1)
        return v

    def corners(self, points: Array, faces: Index) -> tuple[Array, Array]:
        """D(v‖p_X) − λ·v, and Lv."""
        value = CURVE.value(points, self.trade.masses[faces]) - points * self.prices.letters[faces]
        return value.sum(axis=1), np.einsum("kr,ckr->kc", points, self.trade.links[:, faces])

    def most(self, values: Array, seen: Array) -> Array:
        """The largest corner of the interpolation less β times a tangent of D(z‖p_S), for several tangents."""
        shares = np.full(values.shape, 1 / values.shape[1])
        bound = np.full(len(values), np.inf)
        beta = self.prices.limit
        for _ in range(ROUNDS):
            m = np.einsum("kr,krc->kc", shares, seen)
            tangent = np.log(np.maximum(m, TINY) / self.trade.prior)
            over = values - beta * np.einsum("krc,kc->kr", seen, tangent)
            bound = np.minimum(bound, over.max(axis=1))
            shares = shares * np.exp((over - over.max(axis=1, keepdims=True)) / max(beta, STEEP))
            shares = shares / shares.sum(axis=1, keepdims=True)
        return bound

    def improved(self, columns: Array, shares: Array, passes: int) -> tuple[Array, Prices]:
        """What climbing makes of a mixture, at the same prices."""
        return self.climbed(columns), self.prices

    def climbed(self, posteriors: Array) -> Array:
        """Local optima above the given columns."""
        v, rate = posteriors, 1 / max(self.prices.limit - 1, STEEP)
        for _ in range(STEPS):
            with np.errstate(divide="ignore"):
                slope = np.log(v / self.trade.masses) - self.prices.letters
            z = np.maximum(self.trade.seen(v), TINY)
            slope = slope - self.prices.limit * np.log(z / self.trade.prior) @ self.trade.links
            v = _normal(np.where(v > 0, np.log(np.maximum(v, TINY)) + rate * slope, -np.inf))
        return v


@dataclass(frozen=True, eq=False)
class BottleneckPricing:
    """The simplex of P(S|Y=y)."""

    trade: Trade
    prices: Prices

    def faces(self) -> Index:
        """The one simplex."""
        return np.arange(len(self.trade.prior))[None]

    def posteriors(self, points: Array, faces: Index) -> Array:
        """The best column for the tangent at each point."""
        return _normal(self._exponents(self._tangent(points)))

    def corners(self, points: Array, faces: Index) -> tuple[Array, Array]:
        """βD(z‖p_S), and z."""
        return self.prices.limit * divergence(points, self.trade.prior), points

    def most(self, values: Array, seen: Array) -> Array:
        """The bound for the tangent in the middle, for the slope of the interpolation, and between them."""
        middle = self._tangent(seen.mean(axis=1))
        slope = _slopes(seen, values, middle)
        bound = np.full(len(values), np.inf)
        for share in SHARES:
            mu = (1 - share) * middle + share * slope
            over = (values - np.einsum("krc,kc->kr", seen, mu)).max(axis=1)
            bound = np.minimum(bound, over + _log_sum(self._exponents(mu)))
        return bound

    def improved(self, columns: Array, shares: Array, passes: int) -> tuple[Array, Prices]:
        """Blahut–Arimoto on a whole mixture: Q(y|x) ∝ q_y exp(βΣ_s L_sx ln(z_ys/p_s)); its prices are ln of the sums."""
        free = BottleneckPricing(self.trade, Prices(np.zeros(self.trade.letters), self.prices.limit))
        shares = shares / shares.sum()
        for _ in range(passes):
            exponents = free._exponents(self._tangent(self.trade.seen(columns))) + np.log(shares)[:, None]
            most = exponents.max(axis=0)
            joint = np.exp(exponents - most)
            total = joint.sum(axis=0)
            joint = joint / total * self.trade.masses
            before, shares = shares, joint.sum(axis=1)
            still = float(np.abs(shares - before).max()) < STILL
            kept = shares > FAINT
            columns, shares = joint[kept] / shares[kept, None], shares[kept]
            if still:
                break
        return columns, Prices(most + np.log(total) - np.log(self.trade.masses), self.prices.limit)

    def climbed(self, posteriors: Array) -> Array:
        """Local optima above the given columns."""
        v = posteriors
        for _ in range(STEPS):
            v = _normal(self._exponents(self._tangent(self.trade.seen(v))))
        return v

    def _tangent(self, z: Array) -> Array:
        """β ln(z/p_S), the slope of βD(z‖p_S)."""
        return np.asarray(self.prices.limit * np.log(np.maximum(z, TINY) / self.trade.prior))

    def _exponents(self, mu: Array) -> Array:
        """ln p_X + μ·L_x − λ_x."""
        return np.asarray(np.log(self.trade.masses) + mu @ self.trade.links - self.prices.letters)


Pricing = FunnelPricing | BottleneckPricing


def pricing(trade: Trade, prices: Prices) -> Pricing:
    """The pricing of a trade."""
    return FunnelPricing(trade, prices) if trade.sign > 0 else BottleneckPricing(trade, prices)


def supports(trade: Trade) -> Index:
    """All sets of rank(L) letters."""
    r = int(np.linalg.matrix_rank(trade.links, tol=1e-12))
    return np.array(list(combinations(range(trade.letters), r)), dtype=np.intp)


def _slopes(corners: Array, values: Array, otherwise: Array) -> Array:
    """The linear functions with these values at the corners; where there is none, what else to use."""
    try:
        found = np.linalg.solve(corners, values[:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return otherwise
    return np.asarray(np.where(np.abs(found).max(axis=1, keepdims=True) < VAST, found, otherwise))


def _normal(exponents: Array) -> Array:
    v = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return np.asarray(v / v.sum(axis=1, keepdims=True))


def _log_sum(exponents: Array) -> Array:
    most = exponents.max(axis=1)
    return np.asarray(most + np.log(np.exp(exponents - most[:, None]).sum(axis=1)))
