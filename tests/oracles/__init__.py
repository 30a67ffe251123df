"""Slow, obvious reference implementations: definitions typed in once more, in Fractions, sharing nothing with the package."""
