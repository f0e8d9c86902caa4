"""The bootstrap within ``qwo learn``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qwo.cli.console import Console, logger, warn
from qwo.cli.reading import DataRead
from qwo.cli.search_options import SearchFlags

if TYPE_CHECKING:
    from qwo.graph import Knowledge
    from qwo.resample import Bootstrap


def find_supports(
    data: DataRead,
    *,
    knowledge: Knowledge | None,
    options: SearchFlags,
    n_resamples: int,
    resampling: Any,
    console: Console,
) -> Bootstrap | None:
    """How sure each edge is; what there is so far after Ctrl-C, or None if that is nothing."""
    from qwo.resample import bootstrap

    arguments = options.arguments()
    arguments["replicate_time_limit"] = arguments.pop("time_limit")
    try:
        logger.info("the bootstrap begins")
        result = bootstrap(
            data.rows,
            n_resamples=n_resamples,
            resampling=resampling,
            knowledge=knowledge,
            covariance_estimator=data.reading.covariance_estimator,
            missing=data.reading.missing,
            progress=console.shows_progress,
            **arguments,
        )
    except KeyboardInterrupt:
        return None
    logger.info("bootstrap: %s", result)
    if result.n_degenerate:
        warn(f"{result.n_degenerate} of {result.n_done} resamples have no graph and do not count")
    return result
