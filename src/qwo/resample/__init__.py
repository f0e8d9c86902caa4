"""How far a graph can be trusted: resamples of the data, and how often each edge is found."""

from qwo.resample.bootstrap import bootstrap
from qwo.resample.result import Bootstrap
from qwo.resample.runner import BootstrapProgress, merge
from qwo.resample.support import PairSupport

__all__ = ["Bootstrap", "BootstrapProgress", "PairSupport", "bootstrap", "merge"]
