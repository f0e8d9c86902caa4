"""The bootstrap within ``qwo learn``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from qwo.cli.console import Console, logger, warn
from qwo.cli.reading import DataRead
from qwo.cli.search_options import SearchFlags

if TYPE_CHECKING:
    from qwo.cli.learn import Resamples
    from qwo.discovery import Discovery
    from qwo.graph import Knowledge
    from qwo.resample import Bootstrap


def find_supports(
    data: DataRead,
    *,
    knowledge: Knowledge | None,
    options: SearchFlags,
    resamples: Resamples,
    reference: Discovery,
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
            n_resamples=resamples.number,
            resampling=cast(Any, resamples.resampling),
            checkpoint=resamples.checkpoint,
            reference=reference,
            knowledge=knowledge,
            progress=console.shows_progress,
            **arguments,
        )
    except KeyboardInterrupt:
        return None
    logger.info("bootstrap: %s", result)
    if result.n_degenerate:
        warn(f"{result.n_degenerate} of {result.n_done} resamples have no graph and do not count")
    return result
