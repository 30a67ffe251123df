"""What a release is worth, and what it leaks: one file a quantity."""

from trechter.measures.measure import Measure
from trechter.measures.mutual_information import MutualInformation, TaskInformation, mutual_information

__all__ = ["Measure", "MutualInformation", "TaskInformation", "mutual_information"]
