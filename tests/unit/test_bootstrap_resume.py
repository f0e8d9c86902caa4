"""A bootstrap that was killed goes on from its checkpoint, to the table of an unbroken run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qwo
from qwo.errors import FileFormatError
from qwo.resample import Bootstrap, BootstrapProgress, bootstrap
from qwo.resample import runner as runner_module

LONG = 150

SCRIPT = """
import sys
import numpy as np
from qwo.resample import bootstrap, runner

runner.SAVE_SECONDS, runner.SAVE_SHARE = 0.0, 1e9

def tell(progress):
    print(progress.n_done, flush=True)

if __name__ == "__main__":
    data = np.load(sys.argv[1])
    bootstrap(data, n_resamples=150, random_state=5, checkpoint=sys.argv[2], callback=tell,
              n_jobs=int(sys.argv[3]))
"""


@pytest.fixture(autouse=True)
def _save_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints are written after each batch, not after so many seconds."""
    monkeypatch.setattr(runner_module, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(runner_module, "SAVE_SHARE", 1e9)


def sample(seed: int = 5) -> np.ndarray:
    data, _, _ = qwo.simulate("er", n_variables=8, n_samples=200, degree=2, random_state=seed)
    return np.asarray(data)


@pytest.fixture(scope="module")
def unbroken() -> Bootstrap:
    return bootstrap(sample(), n_resamples=LONG, random_state=5)


def assert_same(first: Bootstrap, second: Bootstrap) -> None:
    for name in ("directed_counts", "undirected_counts", "outcomes"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    assert first.to_records() == second.to_records()
    assert first.status == second.status


def interrupted(file: Path, after: int, **options: Any) -> Bootstrap:
    def stop(progress: BootstrapProgress) -> bool:
        return progress.n_done >= after

    return bootstrap(sample(), random_state=5, checkpoint=file, callback=stop, **options)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing to kill a process with")
@pytest.mark.parametrize(("n_jobs", "kills"), [(1, (30, 70)), (2, (50,))])
def test_a_run_that_was_killed_resumes_to_the_same_table(
    n_jobs: int, kills: tuple[int, ...], unbroken: Bootstrap, tmp_path: Path
) -> None:
    data, file = tmp_path / "data.npy", tmp_path / "run.npz"
    np.save(data, sample())
    command = [sys.executable, "-c", SCRIPT, str(data), str(file), str(n_jobs)]
    for least in kills:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) >= least:
                    # Its workers, if it has any, with it.
                    os.killpg(process.pid, signal.SIGKILL)
                    break
            assert process.wait() == -signal.SIGKILL
        stored = Bootstrap.load(file)
        assert stored.status == "incomplete"
        assert 0 < stored.n_done < LONG
    resumed = bootstrap(sample(), n_resamples=LONG, random_state=5, checkpoint=file)
    assert_same(resumed, unbroken)
    assert_same(Bootstrap.load(file), resumed)


def test_a_run_that_was_stopped_goes_on_and_then_is_complete(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    first = interrupted(file, 10, n_resamples=40)
    assert (first.status, Bootstrap.load(file).n_done) == ("stopped", 10)
    seen: list[int] = []
    # Without a seed, the run goes on with its own.
    second = bootstrap(
        sample(), n_resamples=40, checkpoint=file, callback=lambda p: seen.append(p.n_done)
    )
    assert seen[0] == 11
    assert_same(second, bootstrap(sample(), n_resamples=40, random_state=5))
    seen.clear()
    third = bootstrap(
        sample(), n_resamples=40, checkpoint=file, callback=lambda p: seen.append(p.n_done)
    )
    assert seen == []
    assert_same(third, second)


def test_a_complete_run_can_be_extended(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    bootstrap(sample(), n_resamples=20, random_state=5, checkpoint=file)
    longer = bootstrap(sample(), n_resamples=50, random_state=5, checkpoint=file)
    assert_same(longer, bootstrap(sample(), n_resamples=50, random_state=5))
    with pytest.raises(FileFormatError, match="of 50 replicates, more than the 20 asked for"):
        bootstrap(sample(), n_resamples=20, random_state=5, checkpoint=file)


def test_shards_resume_as_well(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    options: dict[str, Any] = {"n_resamples": 40, "shard": (2, 3)}
    assert interrupted(file, 4, **options).n_done == 4
    resumed = bootstrap(sample(), random_state=5, checkpoint=file, **options)
    assert_same(resumed, bootstrap(sample(), random_state=5, **options))
    with pytest.raises(FileFormatError, match=r"shard=\(2, 3\) was given then, and not \(1, 3\)"):
        bootstrap(sample(), random_state=5, n_resamples=40, shard=(1, 3), checkpoint=file)


def test_other_data_and_options_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    bootstrap(sample(), n_resamples=5, random_state=5, checkpoint=file)
    before = file.read_bytes()
    for data, options, message in (
        (sample(6), {}, "it is of other data or other knowledge"),
        (sample() + 1e-9, {}, "it is of other data"),
        (sample(), {"knowledge": qwo.Knowledge(forbidden=[(0, 1)])}, "or other knowledge"),
        (sample(), {"random_state": 6}, "random_state=5 was given then, and not 6"),
        (sample(), {"penalty_discount": 3}, r"penalty_discount=\d.\d+ was given then, and not 3.0"),
        (sample(), {"resampling": "subsamples"}, "resampling='halves' was given then"),
        (sample(), {"start": "random"}, "start='random' was not given then"),
        (sample(), {"replicate_time_limit": 9.0}, "replicate_time_limit=9.0 was not given then"),
    ):
        with pytest.raises(FileFormatError, match=message):
            bootstrap(data, n_resamples=5, checkpoint=file, **({"random_state": 5} | options))
    assert file.read_bytes() == before


def test_a_damaged_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    file.write_bytes(b"something of the user's")
    with pytest.raises(FileFormatError, match="not a bootstrap"):
        bootstrap(sample(), n_resamples=5, random_state=5, checkpoint=file)
    assert file.read_bytes() == b"something of the user's"


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="no process groups")
def test_ctrl_c_saves_what_is_done_and_no_half_searches(
    unbroken: Bootstrap, tmp_path: Path
) -> None:
    data, file = tmp_path / "data.npy", tmp_path / "run.npz"
    np.save(data, sample())
    # As at a terminal, where the workers get the key as well.
    command = [sys.executable, "-c", SCRIPT, str(data), str(file), "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if int(line) >= 30:
                os.killpg(process.pid, signal.SIGINT)
                break
        process.stdout.read()
        errors = process.stderr.read()
    assert process.returncode == 0, errors
    stored = Bootstrap.load(file)
    assert stored.status == "interrupted"
    assert 30 <= stored.n_done < LONG
    assert_same(bootstrap(sample(), n_resamples=LONG, random_state=5, checkpoint=file), unbroken)
