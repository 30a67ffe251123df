"""Average-case trades of information: the privacy funnel and the information bottleneck, each with a bound."""

from trechter.optimal.average.design import average_funnel, information_bottleneck

__all__ = ["average_funnel", "information_bottleneck"]
