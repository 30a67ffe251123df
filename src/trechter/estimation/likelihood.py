"""Maximum likelihood: the shares p of letters under which what was released was most likely, p ≥ 0 and Σ p = 1.

    maximise ℓ(p) = Σ_y n_y ln (Qp)_y

is convex, and any p carries its own certificate. With g_i = Σ_y (n_y/n) Q[y, i]/(Qp)_y every other p' has
ℓ(p') − ℓ(p) ≤ n ln(max g), because ln is concave. EM multiplies p by g again and again, which takes forever near the end; the
interior-point steps here solve the same conditions p_i (1 − g_i) = 0, 1 − g ≥ 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENOUGH = 1e-7  # nats of log-likelihood: what is left to gain is less than any data could tell
STEPS = 200
INSIDE = 0.995
SMOOTH = 0.1


def most_likely(matrix: Array, counts: Array) -> tuple[Array, float]:
    """Shares of the letters, and how many nats of log-likelihood they may lack."""
    seen = counts > 0
    q, n = matrix[seen], float(counts.sum())
    share = counts[seen] / n
    p = np.full(matrix.shape[1], 1 / matrix.shape[1])
    slack = np.ones_like(p)
    best, least = p, np.inf
    for _ in range(STEPS):
        left = n * float(np.log(np.max(gradient(q, share, p / p.sum()))))
        if left < least:
            best, least = p / p.sum(), left
        if least <= ENOUGH:
            break
        p, slack = _step(q, share, p, slack)
    return best, max(least, 0.0)


def gradient(q: Array, share: Array, p: Array) -> Array:
    """g: what EM multiplies p by."""
    return np.asarray(q.T @ (share / (q @ p)))


def _step(q: Array, share: Array, p: Array, slack: Array) -> tuple[Array, Array]:
    """One Newton step towards p·slack = μ, slack = 1 − g, shortened so that both stay positive."""
    fitted = q @ p
    g = q.T @ (share / fitted)
    scaled = q * (np.sqrt(share) / fitted)[:, None]
    mu = SMOOTH * float(p @ slack) / len(p)
    scale = np.sqrt(p)
    inner = scale[:, None] * (scaled.T @ scaled) * scale + np.diag(slack)
    dp = scale * np.linalg.solve(inner, scale * (g - 1 + mu / p))
    ds = mu / p - slack - slack / p * dp
    return p + _longest(p, dp) * dp, slack + _longest(slack, ds) * ds


def _longest(x: Array, step: Array) -> float:
    """The whole step, or what of it keeps x positive."""
    down = step < 0
    return min(1.0, INSIDE * float(np.min(-x[down] / step[down], initial=np.inf)))
