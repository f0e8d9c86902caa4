"""What can be asked of a result: effects, a fitted model, a check, a picture, its assumptions.

A `Discovery` remembers the data that it comes from, so that nothing has to be said twice.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from qwo.discovery.readings import Assumption, assumptions_of
from qwo.errors import ArgumentError
from qwo.graph.display import drawn_by
from qwo.moments import Audit, Moments, as_moments
from qwo.names import Variable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from qwo.agreement import Check, ConditionChecks
    from qwo.bayes import Posterior
    from qwo.curved.model import AdditiveSem, ValueEffect
    from qwo.curved.result import CurvedRelations
    from qwo.discovery.result import Discovery
    from qwo.graph.knowledge import Knowledge
    from qwo.sem import Causes, Effect, LinearSem, TotalEffect
    from qwo.sem.cyclic import CyclicSem
    from qwo.sem.outcome import Setting
    from qwo.series.autoregression import FittedAutoregression

MOST_KEPT = 2000
"""Variables beyond which the matrix is not kept, but made again when it is asked for."""


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a result comes from: data as they were given, and how they were read.

    Copies made by pickle have the data only where these are a file.
    """

    data: Any
    reading: Mapping[str, Any] = field(default_factory=dict)
    knowledge: Knowledge | None = None
    dropped: tuple[str, ...] = ()
    """Options that dropped an assumption."""
    held: Moments | None = None
    audit: Audit | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        data = self.data if isinstance(self.data, str | os.PathLike) else None
        values = (data, dict(self.reading), self.knowledge, self.dropped, None, self.audit)
        return type(self), values

    def __copy__(self) -> Origin:
        return self

    def __deepcopy__(self, _memo: Any) -> Origin:
        return self

    def moments(self) -> Moments:
        """The moments that the search worked on."""
        if self.held is not None:
            return self.held
        return as_moments(self.rows(), **self.reading)

    def rows(self) -> Any:
        """The data as they were given."""
        if self.data is None:
            raise ArgumentError(
                "this result does not know its data any more, as it was stored without them; call "
                "qwo.fit_sem, qwo.ida or qwo.check with data and result instead"
            )
        return self.data


class FollowUp:
    """Questions to a result about the data that it comes from."""

    origin: Origin | None

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """What the graph assumes: made, dropped by an option, or doubted by the audit of the data.

        `qwo.check` looks at more of them; its alarms are in the report, and in ``result.json``.
        """
        origin = self.origin
        if origin is None:
            return assumptions_of(())
        return assumptions_of(origin.dropped, origin.audit)

    @cached_property
    def bound(self) -> float:
        """A score that no DAG exceeds on these data, at the same penalty.

        The least of what a second tells (`qwo.search.exact.best_score`), what the exact search has
        come to, and what correlations say (`qwo.order.linalg.score_bound`; infinite where they are
        singular). NaN where there is no score, for categories, and where the graph has cycles.
        """
        found = cast("Discovery", self)
        if found.proved:
            return found.score
        price = found.params.get("penalty_discount")
        if price is None or found.readings:
            return math.nan
        moments = self._moments()
        if moments.is_oracle or moments.has_blocks:
            return math.nan
        from qwo.order.linalg import score_bound
        from qwo.search.exact import best_score

        size = moments.n_samples
        wide = score_bound(moments.correlation, size, price * math.log(size))
        quick = best_score(moments, price, found.dag)
        return max(found.score, min(wide, quick, -found.least_cost))

    def how_far(self) -> str:
        """How far the score is from the best possible at most, in words; empty if unknown."""
        score, bound = cast("Discovery", self).score, self.bound
        if not math.isfinite(bound):
            return ""
        if bound - score < 1e-6 * abs(score):
            return "no graph scores better"
        share = 100 * (bound - score) / bound
        return f"at most {bound - score:.0f} points ({share:.2g} %) from the best possible"

    def fit(self) -> LinearSem | CyclicSem | AdditiveSem | FittedAutoregression:
        """The linear model on `dag`, fitted to the data of the result: see `qwo.fit_sem`.

        That on the graph with cycles where there are any; with curved relations the additive one:
        see `qwo.curved.model.AdditiveSem`. With lags the structural autoregression: see
        `qwo.series.autoregression.FittedAutoregression`.
        """
        from qwo.sem import fit_sem

        curves = self._curves()
        if curves is not None:
            return curves.model()
        found = cast("Discovery", self)
        if found.series is None:
            return fit_sem(self._known().moments() if found.feedback else self._moments(), self)
        if found.graph.kind != "cyclic" or self.origin is None:
            return found.series.fit()
        return fit_sem(self.origin.data, self, **self.origin.reading)

    def effect(
        self,
        cause: Variable,
        effect: Variable,
        *,
        level: float = 0.95,
        values: tuple[float, float] | None = None,
    ) -> TotalEffect | Effect | ValueEffect:
        """The total effect of one variable on another, in the data of the result.

        Where the class leaves directions open it is a range over its graphs (IDA). An arrow that
        the data do not support, which `graph` shows as a line, may point either way as well. With
        hidden causes it is the slope that holds in every graph of the class, or not a number, and
        the note says why. With lags it is what one unit more, held for ever, does in the end.

        Parameters
        ----------
        cause, effect : str or int
            Variables by name or column number; contrasts of categories such as ``"race=black"``.
        level : float
            Of the confidence interval.
        values : (float, float), optional
            With curved relations, from where to where the cause is set; its quartiles if not given.
        """
        from qwo.sem.outcome import effect_between

        curves = self._curves()
        if curves is not None and cast("Discovery", self).series is not None:
            raise ArgumentError(
                "relations are curved and rows follow each other, so that what a cause does in the "
                "end depends on where all of them are; found.curve('x[t-1]', 'y') draws one step, "
                "found.series.effect(cause, effect) adds up lines"
            )
        if curves is not None:
            from qwo.curved.model import effect_over_class

            graph = cast("Discovery", self).cpdag
            how: Any = {"values": values, "level": level}
            return effect_over_class(curves.model(), graph, cause, effect, **how)
        if values is not None:
            raise ArgumentError(
                "values are of causes with curves; where relations are linear the effect is that "
                "of one unit, wherever it starts: leave values out",
                option="values",
            )
        hidden = cast("Discovery", self).hidden_causes
        if hidden is not None:
            return hidden.effect(cause, effect)
        found = cast("Discovery", self)
        if found.series is not None and found.graph.kind != "cyclic":
            return found.series.effect(cause, effect, level=level)
        return effect_between(self._setting(level), cause, effect)

    def causes_of(
        self, outcome: Variable, *, level: float = 0.95, posterior: Posterior | None = None
    ) -> Causes:
        """The total effects on an outcome of all that may cause it, the largest first.

        Parameters
        ----------
        outcome : str or int
            The variable.
        level : float
            Of the intervals.
        posterior : Posterior, optional
            What `qwo.posterior` returned for the same data: its intervals take account of all
            graphs, not only of those of one class.
        """
        from qwo.sem.outcome import causes_of

        found = cast("Discovery", self)
        if found.series is not None and found.graph.kind != "cyclic" and self._curves() is None:
            return found.series.causes_of(outcome, level=level)
        return causes_of(self._setting(level), outcome, posterior)

    def _setting(self, level: float) -> Setting:
        from qwo.sem.outcome import Setting

        found = self._plain()
        return Setting(self._moments(), found.cpdag, found.dag, found.shown, level)

    def check(self, **options: Any) -> Check | ConditionChecks:
        """How far the data and the graph agree: see `qwo.check`, whose options these are.

        Rows of several conditions are checked condition by condition.
        """
        from qwo.agreement import check

        origin = self._known()
        found = self._plain()
        options.setdefault("knowledge", origin.knowledge)
        source, reading = origin.data, dict(origin.reading)
        if found.regimes is not None and source is not None:
            options["regime"] = found.params["regime"]
        elif reading.get("weights") is not None or source is None or origin.dropped:
            source, reading = self._moments(), {}
        else:
            reading.pop("memory_limit", None)  # rows are read again as they were
        checked: Check | ConditionChecks = check(source, found, **options, **reading)
        return checked

    def plot(self, **options: Any) -> Axes:
        """The graph as a picture, by `qwo.plot.plot_graph`, which says what the options are."""
        return drawn_by("plot_graph", self, **options)

    def _known(self) -> Origin:
        if self.origin is None:
            raise ArgumentError(
                "this result does not know its data; call qwo.fit_sem, qwo.ida or qwo.check with "
                "data and result instead"
            )
        return self.origin

    def _curves(self) -> CurvedRelations | None:
        """The curves of the result, where there are any."""
        curves = cast("Discovery", self).curves
        return None if curves is None or curves.size == 1 else curves

    def _plain(self) -> Discovery:
        """The result, where it is a class of linear models.

        Conditions, arrows from the noise and curves that did not pay change nothing of that.
        """
        found = cast("Discovery", self)
        if self._curves() is not None:
            raise ArgumentError(
                "relations are curved, which a list of causes by slopes and a check of linear "
                "equations do not hold for: ask found.effect(cause, effect, values=(a, b)) and "
                "found.fit() for the curves, or a linear model on the class: qwo.ida(data, "
                "found.cpdag, cause, effect), qwo.check(data, found.cpdag)"
            )
        if found.feedback is not None and found.feedback.graph is not None:
            raise ArgumentError(
                "the graph has cycles: ask found.fit().effect(cause, effect), where the cause is "
                "set and held, and qwo.check(data, found)"
            )
        if found.series is not None:
            raise ArgumentError(
                "rows follow each other, and a check of a linear DAG takes them for independent: "
                "look at found.series and its notes, or ask found.effect(cause, effect)"
            )
        for name in found.readings:
            if name not in ("regimes", "noise", "curves", "feedback"):
                own = ".causes_of and found.effect" if found.pag is not None else ""
                raise ArgumentError(
                    f"the graph was read with {name}, for which effects and checks of a linear DAG "
                    f"do not hold; look at found.{name}{own}, or ask about a linear model on the "
                    "class of the DAG: qwo.ida(data, found.cpdag, cause, effect), qwo.check(data, "
                    "found.cpdag)"
                )
        return found

    def _moments(self) -> Moments:
        found = self._plain()
        if found.regimes is not None and found.regimes.usual is not None:
            return found.regimes.usual
        moments = self._known().moments()
        if moments.names != found.names:
            raise ArgumentError("the data have other variables than the result; read them anew")
        return moments
