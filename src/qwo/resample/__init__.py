"""How far a graph can be trusted: resamples of the data, and how often each edge is found."""

from qwo.resample.bootstrap import bootstrap
from qwo.resample.merging import merge
from qwo.resample.progress import BootstrapProgress
from qwo.resample.result import Bootstrap, PairSupport

__all__ = ["Bootstrap", "BootstrapProgress", "PairSupport", "bootstrap", "merge"]
