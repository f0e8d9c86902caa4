"""Independent chains, run side by side in slices, and whether they agree."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from qwo import _core
from qwo.bayes.candidates import Masks
from qwo.types import FloatArray, Mask

Result = TypeVar("Result")
Drawn = tuple[Masks, FloatArray]

ANNEALING = 400
"""Sweeps of order MCMC at falling temperatures from a random order. Without, one chain in six was
stuck on graphs of 20 variables and degree 4 with thousands of samples; with them, one in a hundred.
"""

ATTEMPTS = 4
"""How often a chain that is still far below the best one settles anew."""

FAR_BELOW = 30.0
"""Nats below the best chain that no chain is by chance after it has settled."""

SETTLING = 100
"""Sweeps of order MCMC after that."""

WARMING = 15
"""Full sweeps after that, before draws are kept."""

LEAST_DRAWS = 4
"""Draws that each chain makes whatever the time limit: split chains need two each."""

SLICE = 0.05
"""Seconds of a slice, after which the clock and the keyboard are looked at."""

AGREED = 1.05
"""R̂ up to which chains are taken to agree about an edge."""

MOST_THIN = 16
"""Sweeps per draw at most. They are doubled until the chains agree: every other draw so far stays,
and as many are added."""

SURE = 0.005
"""Edges whose probability is that near to 0 or 1 are sure."""


@dataclass(frozen=True, eq=False)
class ChainRecord:
    """What the chains have drawn.

    ``masks`` (chains × draws × n) are the parents of each variable as bits over its list,
    ``log_scores`` log p(D, G) up to a constant of the prior, ``edges`` means of the conditional
    probabilities of the edges, ``acceptance`` the share of the moves of each kind that were
    accepted, ``thin`` the sweeps for each draw; ``complete`` says whether all draws were made.
    """

    masks: Masks
    log_scores: FloatArray
    edges: FloatArray
    acceptance: dict[str, float]
    thin: int
    complete: bool


class Chains:
    """Independent chains on the same tables, each with an order and a seed of its own."""

    def __init__(
        self,
        tables: _core.ScoreTables,
        orders: Sequence[npt.NDArray[np.int64]],
        seeds: Sequence[int],
        threads: int,
    ) -> None:
        self._chains = [
            _core.GraphChain(tables, order, seed) for order, seed in zip(orders, seeds, strict=True)
        ]
        self._threads = min(threads, len(self._chains))

    def run(
        self,
        n_draws: int,
        go_on: Callable[[], bool],
        report: Callable[[int], object],
        agree: Callable[[Masks], bool],
    ) -> ChainRecord:
        """Draws of each chain; more sweeps between them until the masks of all chains agree.

        ``go_on`` is asked between slices, and once it says no, the run ends with what there is;
        ``report`` gets the number of draws so far of each chain.
        """
        with ThreadPoolExecutor(self._threads) as pool:
            self._pool = pool
            self._settle(go_on)
            self._each(lambda chain: chain.forget_sums())
            thin, (masks, scores) = 1, self._draw([], n_draws, 1, go_on, report)
            while masks.shape[1] == n_draws and thin < MOST_THIN and not agree(masks):
                thin *= 2
                # The last draw stays, and `thin` sweeps before it every one: nothing is wasted.
                first = (n_draws + 1) % 2
                rest = masks[:, first::2], scores[:, first::2]
                masks, scores = self._draw([rest], n_draws, thin, go_on, report)
        edges = np.mean([chain.edge_means() for chain in self._chains], axis=0)
        counts = np.sum([chain.counts for chain in self._chains], axis=0)
        acceptance = {
            "joint": float(counts[1] / max(counts[0], 1)),
            "reversal": float(counts[3] / max(counts[2], 1)),
            "path": float(counts[5] / max(counts[4], 1)),
        }
        complete = masks.shape[1] == n_draws
        return ChainRecord(masks, scores, edges, acceptance, thin, complete)

    def _settle(self, go_on: Callable[[], bool]) -> None:
        """Bring every chain near the mode; those that are stuck elsewhere try again."""

        def settled(chain: _core.GraphChain) -> float:
            chain.burn_in(SETTLING, ANNEALING)
            return float(chain.run(WARMING)[1].max())

        best = self._each(settled)
        for _ in range(ATTEMPTS):
            behind = [k for k, score in enumerate(best) if score < max(best) - FAR_BELOW]
            if not behind or not go_on():
                return
            again = self._each(settled, [self._chains[k] for k in behind])
            for k, score in zip(behind, again, strict=True):
                best[k] = score

    def _draw(
        self,
        parts: list[Drawn],
        n_draws: int,
        thin: int,
        go_on: Callable[[], bool],
        report: Callable[[int], object],
    ) -> Drawn:
        """Masks and scores, some of which are there: slices that double until they are long enough.

        How they are cut changes nothing.
        """
        done, size = sum(masks.shape[1] for masks, _ in parts), 1
        while done < n_draws and (done < LEAST_DRAWS or go_on()):
            now = min(size, (LEAST_DRAWS if done < LEAST_DRAWS else n_draws) - done)
            started = time.perf_counter()
            runs = self._each(partial(_run, draws=now, thin=thin))
            if time.perf_counter() - started < SLICE:
                size *= 2
            parts.append((np.stack([run[0] for run in runs]), np.stack([run[1] for run in runs])))
            done += now
            report(done)
        masks, scores = zip(*parts, strict=True)
        return np.concatenate(masks, axis=1), np.concatenate(scores, axis=1)

    def _each(
        self,
        task: Callable[[_core.GraphChain], Result],
        chains: Sequence[_core.GraphChain] | None = None,
    ) -> list[Result]:
        """The task's result for each of these chains, or for all."""
        chosen = self._chains if chains is None else chains
        if self._threads == 1:
            return [task(chain) for chain in chosen]
        return list(self._pool.map(task, chosen))


def _run(chain: _core.GraphChain, draws: int, thin: int) -> Drawn:
    return chain.run(draws, thin)


def convergence(traces: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split R̂ and effective sample size of traces[chain, draw, quantity].

    Gelman et al. (2013): halves of chains count as chains; autocorrelations are summed by Geyer's
    initial positive and monotone pairs. A quantity that never changes has R̂ = 1 and all draws.
    """
    half = traces.shape[1] // 2
    halves = np.concatenate([traces[:, :half], traces[:, half : 2 * half]]).astype(np.float64)
    m, k = halves.shape[:2]
    means = halves.mean(axis=1)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    total = (k - 1) / k * within + between
    stuck, constant = (within == 0) & (between > 0), total == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        rhat = np.where(constant, 1.0, np.sqrt(total / within))
        spectrum = np.abs(np.fft.rfft(halves - means[:, None], 2 * k, axis=1)) ** 2
        covariance = np.fft.irfft(spectrum, axis=1)[:, :k].mean(axis=0) / k
        rho = 1 - (within - covariance * k / (k - 1)) / total
    tau = np.zeros_like(total)
    alive, previous = ~constant & ~stuck, np.full_like(total, np.inf)
    for lag in range(0, k - 1, 2):
        pair = np.minimum(rho[lag] + rho[lag + 1], previous)
        alive &= pair > 0
        if not alive.any():
            break
        tau[alive] += 2 * pair[alive]
        previous = pair
    draws = float(m * k)
    ess = draws / np.maximum(tau - 1, 1 / np.log10(draws))
    return rhat, np.where(constant, draws, np.where(stuck, float(m) / 2, ess))


def edge_traces(masks: Masks, candidates: Sequence[Sequence[int]], chosen: Mask) -> FloatArray:
    """Indicators [chain, draw, edge] of the chosen edges i → j that lists have, in row order."""
    traces = np.zeros((*masks.shape[:2], int(chosen.sum())), dtype=np.float64)
    for k, (i, j) in enumerate(np.argwhere(chosen).tolist()):
        if i in candidates[j]:
            place = np.uint32(candidates[j].index(i))
            traces[:, :, k] = (masks[:, :, j] >> place) & np.uint32(1)
    return traces


def shares(masks: Masks, candidates: Sequence[Sequence[int]]) -> FloatArray:
    """Entry (i, j): the share of draws in which i, a candidate of j, is its parent."""
    n = masks.shape[2]
    matrix = np.zeros((n, n))
    for v, listed in enumerate(candidates):
        bits = (masks[:, :, v, None] >> np.arange(len(listed), dtype=np.uint32)) & np.uint32(1)
        matrix[list(listed), v] = bits.mean(axis=(0, 1))
    return matrix


def edge_convergence(
    masks: Masks, candidates: Sequence[Sequence[int]]
) -> tuple[Mask, FloatArray, FloatArray]:
    """Which edges vary between draws, and R̂ and effective sample sizes of those, in row order."""
    share = shares(masks, candidates)
    varies = (share > SURE) & (share < 1 - SURE)
    rhat, ess = convergence(edge_traces(masks, candidates, varies))
    return varies, rhat, ess


def disagreement(rhat: FloatArray) -> float:
    """R̂ that 99 % of the unsure edges do not exceed; 1 if there are none."""
    return float(np.sort(rhat)[math.ceil(0.99 * rhat.size) - 1]) if rhat.size else 1.0
