"""What was guaranteed, in words."""

from __future__ import annotations

from trechter.measures import odds_text, posterior_range
from trechter.report.release import Release

MOST = 3  # secret values that are spelled out


def guarantee(made: Release) -> list[str]:
    """One sentence for each of the rarest secret values: those that a release could expose most."""
    joint, spec = made.joint, made.certificate.notion
    labels = joint.secret_labels
    rarest = [s for s in joint.p_s.argsort() if joint.p_s[s] > 0][:MOST]
    lines = []
    for s in rarest:
        prior = float(joint.p_s[s])
        low, high = posterior_range(spec, prior)
        lines.append(
            f"Whoever reads a row sees the odds of {labels[s]} move from {odds_text(prior)} "
            f"to at most {odds_text(high)} and at least {odds_text(low)}."
        )
    return lines
