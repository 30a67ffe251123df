"""What a release is worth, and what it leaks: one file a quantity."""

from collections.abc import Callable

from trechter.measures.accuracy import accuracy
from trechter.measures.digits import Digits, digits
from trechter.measures.distortion import Distortion, absolute, hamming, squared
from trechter.measures.entropic import entropy
from trechter.measures.f_information import ChiSquareInformation, HellingerInformation, TotalVariationInformation
from trechter.measures.ldp_level import LdpLevel, ldp_level
from trechter.measures.leakage import Leakage, leakage
from trechter.measures.measure import Measure
from trechter.measures.metric import Metric
from trechter.measures.mutual_information import MutualInformation, TaskInformation, mutual_information
from trechter.measures.odds import posterior_range
from trechter.measures.priv import priv
from trechter.measures.uti import Uti, uti
from trechter.measures.worst_case import WorstCase

MEASURES: dict[str, Callable[[], Measure]] = {
    "information": MutualInformation,
    "task": TaskInformation,
    "chi-square": ChiSquareInformation,
    "total-variation": TotalVariationInformation,
    "hellinger": HellingerInformation,
    "errors": lambda: Distortion(hamming),
    "distance": lambda: Distortion(absolute),
    "squared-distance": lambda: Distortion(squared),
}

__all__ = [
    "MEASURES",
    "ChiSquareInformation",
    "Digits",
    "Distortion",
    "HellingerInformation",
    "LdpLevel",
    "Leakage",
    "Measure",
    "Metric",
    "MutualInformation",
    "TaskInformation",
    "TotalVariationInformation",
    "Uti",
    "WorstCase",
    "accuracy",
    "digits",
    "entropy",
    "ldp_level",
    "leakage",
    "mutual_information",
    "posterior_range",
    "priv",
    "uti",
]
