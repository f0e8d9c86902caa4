"""How sure is the graph? The posterior over DAGs of a linear Gaussian model."""

from qwo.bayes.draws import EffectPosterior, PairProbability
from qwo.bayes.posterior import posterior
from qwo.bayes.result import Posterior

__all__ = ["EffectPosterior", "PairProbability", "Posterior", "posterior"]
