"""How sure is the graph? The posterior over DAGs of a linear Gaussian model."""

from qwo.bayes.effects import EffectPosterior
from qwo.bayes.posterior import posterior
from qwo.bayes.result import PairProbability, Posterior

__all__ = ["EffectPosterior", "PairProbability", "Posterior", "posterior"]
