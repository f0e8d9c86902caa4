"""A linear model with cycles whose disturbances have densities of their own, and its fit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse.csgraph import connected_components
from scipy.stats import chi2

from qwo.order.linalg import as_mask, cyclic_graphs
from qwo.types import FloatArray, Indices, Mask

PARTS = 3
"""Normal densities that a density is mixed of: enough for skewness and for both kinds of tails."""

NARROWEST = 0.02
"""Least variance of a part, as a share of the whole: a density must not rise to a point."""

SWEEPS, LAST_GAIN = 200, 0.05
"""Sweeps over the equations, which end where one gains less (in points of twice the likelihood)."""

NORMAL = 13.8
"""Statistic of Jarque and Bera (1980) up to which a disturbance is taken for normal: exceeded by
one normal one of a thousand."""

UNLIKELY = 1e-6
"""p-value of the likelihood ratio test against all covariances below which a model does not fit:
weak arrows that are left out add a little to it."""

EVALUATIONS = 6
"""Steps of a fit to cumulants, which begins near its end."""

Look = Callable[[], None]


class Disturbances:
    """Coefficients and densities; each step raises the likelihood (expectation, maximisation)."""

    def __init__(
        self, columns: FloatArray, weights: FloatArray, may: Mask, begun: FloatArray
    ) -> None:
        self._x, self._w, self.may = columns, weights, may
        self.total = float(weights.sum())
        self.coefficients = np.where(may, begun, 0.0)
        self._share, self._middle, self._width = np.empty((3, len(columns), PARTS))
        self.begin(np.arange(len(columns)))

    def begin(self, variables: Indices) -> None:
        """Densities to begin with, at the residuals of some variables."""
        deviations = np.sqrt(self.residuals()[variables] ** 2 @ self._w / self.total)[:, None]
        self._share[variables] = 1 / PARTS
        self._middle[variables] = deviations * np.linspace(-1, 1, PARTS)
        self._width[variables] = 0.8 * deviations
        self._open = np.ones(len(self._x), bool)

    def residuals(self) -> FloatArray:
        """What the equations leave of each variable."""
        return np.asarray(self._x - self.coefficients @ self._x)

    def components(self) -> list[list[int]]:
        """Strongly connected components: the likelihood is a sum over them."""
        _, label = connected_components(self.coefficients != 0, connection="strong")
        return [np.flatnonzero(label == own).tolist() for own in np.unique(label)]

    def restrict(self, may: Mask) -> None:
        """With these arrows alone; all has to be fitted again."""
        self.may = may
        self.coefficients = np.where(may, self.coefficients, 0.0)
        self._open[:] = True

    def leave_out(self, arrow: tuple[int, int]) -> None:
        """Without the arrow; only its component has to be fitted again."""
        own = next(part for part in self.components() if arrow[0] in part)
        self.may = self.may.copy()
        self.may[arrow] = False
        self.coefficients[arrow] = 0.0
        self._open[own] = True

    def draw(self, arrow: tuple[int, int]) -> None:
        """With a further arrow, of no strength as yet."""
        self.may = self.may.copy()
        self.may[arrow] = True
        self._open[:] = True

    def state(self) -> tuple[Mask, list[FloatArray]]:
        """What `restore` takes."""
        own = self.coefficients, self._share, self._middle, self._width
        return self.may, [part.copy() for part in own]

    def restore(self, state: tuple[Mask, list[FloatArray]]) -> None:
        """As it was, fitted."""
        self.may, (self.coefficients, self._share, self._middle, self._width) = state
        self._open[:] = False

    def _parts(self, i: int, e: FloatArray) -> tuple[FloatArray, FloatArray]:
        """To which part of its density each residual belongs, and the log density."""
        scaled = (e - self._middle[i][:, None]) / self._width[i][:, None]
        logs = np.log(self._share[i] / self._width[i])[:, None] - 0.5 * scaled**2
        most = logs.max(axis=0)
        shares = np.exp(logs - most)
        sums = shares.sum(axis=0)
        return shares / sums, most + np.log(sums) - 0.5 * math.log(2 * math.pi)

    def log_likelihood(self) -> float:
        """Of all rows."""
        residuals = self.residuals()
        logs = (float(self._parts(i, e)[1] @ self._w) for i, e in enumerate(residuals))
        rows = np.eye(len(self._x)) - self.coefficients
        return float(self.total * np.linalg.slogdet(rows)[1] + sum(logs))

    def fit(self, look: Look) -> None:
        """Sweep over the equations that are open, until that gains no more."""
        own = np.flatnonzero(self._open).tolist()
        last = -math.inf
        for _ in range(SWEEPS):
            rows = np.eye(len(self._x)) - self.coefficients
            # Each equation's density is taken before it changes, so that these add up.
            now = self.total * np.linalg.slogdet(rows)[1]
            for i in own:
                look()
                now += self._improve(i)
            if 2 * (now - last) < LAST_GAIN:
                break
            last = now
        self._open[:] = False

    def _improve(self, i: int) -> float:
        """One step of the equation of i and its density; the log density before it.

        Given to which part each residual belongs, the likelihood is a quadratic function of the
        row and the logarithm of its product with the cofactors: its maximum is known.
        """
        family = np.r_[i, np.flatnonzero(self.may[i])]
        rows = np.eye(len(self._x)) - self.coefficients
        cofactors, x = np.linalg.inv(rows)[family, i], self._x[family]
        shares, logs = self._parts(i, rows[i, family] @ x)
        shares *= self._w
        tight = 1 / self._width[i][:, None] ** 2
        square = (x * (shares * tight).sum(axis=0)) @ x.T
        linear = x @ (shares * tight * self._middle[i][:, None]).sum(axis=0)
        to, by = np.linalg.solve(square, np.column_stack((linear, cofactors))).T
        half, product = cofactors @ to / 2, cofactors @ by * self.total
        row = to + self.total * by / (half + math.sqrt(half**2 + product))
        e, held = row @ x, shares.sum(axis=1) + 1e-9
        self._share[i] = held / held.sum()
        self._middle[i] = shares @ e / held
        variances = (shares * (e - self._middle[i][:, None]) ** 2).sum(axis=1) / held
        least = NARROWEST * (e**2 @ self._w) / self.total
        self._width[i] = np.sqrt(np.maximum(variances, least))
        self.coefficients[i, family[1:]] = -row[1:] / row[0]
        self._middle[i] /= row[0]
        self._width[i] /= abs(row[0])
        return float(logs @ self._w)

    def _scores(self, i: int, columns: Indices, inverse: FloatArray) -> FloatArray:
        """By row of the data, how the log-likelihood changes with the equation of i.

        With what the middle and the scale of its density, which are fitted beside, change.
        """
        e = self.residuals()[i]
        away = (e - self._middle[i][:, None]) / self._width[i][:, None] ** 2
        slope = (self._parts(i, e)[0] * away).sum(axis=0)
        own = slope * self._x[columns] - inverse[columns, i][:, None]
        return np.vstack((own, slope, slope * e - 1))

    def _all_scores(self) -> tuple[FloatArray, Mask, FloatArray]:
        """Those of all arrows, which of them are no arrows, and the inverse of I - B."""
        inverse: FloatArray = np.asarray(np.linalg.inv(np.eye(len(self._x)) - self.coefficients))
        parents = [np.flatnonzero(row) for row in self.may]
        scores = [self._scores(i, own, inverse) for i, own in enumerate(parents)]
        beside = np.concatenate([np.arange(len(own) + 2) >= len(own) for own in parents])
        return np.concatenate(scores), np.asarray(beside, np.bool_), inverse

    def z(self) -> FloatArray:
        """Each coefficient in units of its standard error, which the scores of rows tell."""
        scores, beside, _ = self._all_scores()
        errors = np.sqrt(np.diag(np.linalg.pinv((scores * self._w) @ scores.T)))
        found = np.zeros(self.may.shape)
        found[self.may] = self.coefficients[self.may] / errors[~beside]
        return found

    def promises(self, others: Mask) -> FloatArray:
        """What further arrows would add to twice the log-likelihood, by its slopes."""
        scores, _, inverse = self._all_scores()
        weighted = scores * self._w
        back = np.linalg.pinv(weighted @ scores.T)
        found = np.zeros(self.may.shape)
        for i, row in enumerate(others & ~self.may):
            own = np.flatnonzero(row)
            if not len(own):
                continue
            new = self._scores(i, own, inverse)[:-2]
            shared = new @ weighted.T
            spread = new**2 @ self._w - np.einsum("ij,jk,ik->i", shared, back, shared)
            found[i, own] = (new @ self._w) ** 2 / np.maximum(spread, 1e-9 * self.total)
        return found

    def normal(self) -> Mask:
        """Whose residuals look normal, by their skewness and kurtosis."""
        e = self.residuals()
        e /= np.sqrt(e**2 @ self._w / self.total)[:, None]
        skew, tails = e**3 @ self._w / self.total, e**4 @ self._w / self.total - 3
        return np.asarray(self.total * (skew**2 / 6 + tails**2 / 24) < NORMAL)

    def fits(self) -> bool:
        """Whether some model of these arrows has the covariances of the data."""
        n = len(self.may)
        df = n * (n - 1) // 2 - int(self.may.sum())
        correlation = np.ascontiguousarray((self._x * self._w) @ self._x.T / self.total)
        ratio = cyclic_graphs(correlation, self.total, 0.0).cost(as_mask(self.may.T))
        ratio -= self.total * np.linalg.slogdet(correlation)[1]
        return df <= 0 or bool(chi2.sf(ratio, df) > UNLIKELY)

    def z_of_cumulants(self, variables: list[int]) -> FloatArray:
        """The same of the equations of some variables, by cumulants of order three and four.

        Those of two disturbances are 0, whatever normal errors add to each variable. The
        coefficients that bring them nearest to that are told apart by how much they vary.
        """
        outside = np.flatnonzero(self.may[variables].any(axis=0))
        others = [v for v in outside.tolist() if v not in variables]
        places = np.argwhere(self.may & np.isin(np.arange(len(self.may)), variables)[:, None])
        fixed = self.residuals()[others]
        begun = self.coefficients[tuple(places.T)]

        def residuals(values: FloatArray) -> FloatArray:
            full = np.zeros(self.may.shape)
            full[tuple(places.T)] = values
            return np.vstack((self._x[variables] - full[variables] @ self._x, fixed))

        scales = 1 / np.sqrt(np.mean(self._cumulants(residuals(begun)) ** 2, axis=1))

        def means(values: FloatArray) -> FloatArray:
            return np.asarray(self._cumulants(residuals(values)) @ self._w / self.total * scales)

        fit = least_squares(means, begun, diff_step=np.array(1e-5), max_nfev=EVALUATIONS)
        rows = self._cumulants(residuals(fit.x)) * scales[:, None]
        rows -= (rows @ self._w / self.total)[:, None]
        influence = np.linalg.pinv(np.asarray(fit.jac)) @ rows
        errors = np.sqrt(influence**2 @ self._w) / self.total
        found = np.zeros(self.may.shape)
        found[tuple(places.T)] = fit.x / errors
        return found

    def _cumulants(self, residuals: FloatArray) -> FloatArray:
        """By row of the data, that whose means are cumulants (1, 2), (1, 3), (2, 2) of pairs."""
        e = residuals / np.sqrt(residuals**2 @ self._w / self.total)[:, None]
        both = (e * self._w) @ e.T / self.total
        i, j = np.nonzero(~np.eye(len(e), dtype=bool))
        product, squares = e[i] * e[j], e**2
        up, c = i < j, both[i, j][:, None]
        p, one, other = product[up], squares[i[up]], squares[j[up]]
        even = one * other - one - other + 1 - 4 * c[up] * p + 2 * c[up] ** 2
        return np.concatenate((product * e[i], product * (squares[i] - 3), even))
