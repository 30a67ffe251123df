"""What a release is worth, and what it leaks: one file a quantity."""

from trechter.measures.leakage import Leakage, leakage
from trechter.measures.measure import Measure
from trechter.measures.mutual_information import MutualInformation, TaskInformation, entropy, mutual_information
from trechter.measures.odds import posterior_range

__all__ = [
    "Leakage",
    "Measure",
    "MutualInformation",
    "TaskInformation",
    "entropy",
    "leakage",
    "mutual_information",
    "posterior_range",
]
