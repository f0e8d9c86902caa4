"""Worker processes: one for each environment, with one thread, killed when they take too long."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from qwo.reproduction.tasks import ONE_THREAD

ROOT = Path(__file__).parents[2]
PATIENCE = 10
"""Wall seconds that a call gets for each second of processor time: others use the machine too."""
START_SECONDS = 120
"""Wall seconds on top, for imports and the warm-up."""


class Worker:
    """A process in one environment that answers requests, and is started anew after a death."""

    def __init__(self, python: Path) -> None:
        self.python = python
        self._process: subprocess.Popen[str] | None = None
        self._errors: IO[bytes] | None = None

    def ask(self, request: Mapping[str, Any], limit: float = 60.0) -> dict[str, Any]:
        """The answer; ``{"error": ...}`` with ``"timeout": True`` after `limit` CPU seconds."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({**request, "limit": limit}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._obituary(limit)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not selector.select(START_SECONDS + PATIENCE * limit):
                self.close()
                return {"error": f"no answer after {limit:g} s", "timeout": True}
        line = process.stdout.readline()
        return json.loads(line) if line else self._obituary(limit)

    def _start(self) -> subprocess.Popen[str]:
        self._errors = TemporaryFile()  # noqa: SIM115 (closed with the process)
        self._process = subprocess.Popen(
            [self.python, "-m", "benchmarks.peers.worker"],
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        return self._process

    def _obituary(self, limit: float) -> dict[str, Any]:
        """What a process has died of."""
        assert self._process is not None
        assert self._errors is not None
        code = self._process.wait()
        if code == -signal.SIGXCPU:
            answer: dict[str, Any] = {"error": f"more than {limit:g} s", "timeout": True}
        else:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
            answer = {"error": f"the process ended with {code}: {''.join(last)}"[:200]}
        self.close()
        return answer

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process = self._errors = None


class Workers:
    """The workers of all environments, started when they are first asked."""

    def __init__(self, pythons: Mapping[str, Path]) -> None:
        self._workers = {name: Worker(python) for name, python in pythons.items()}

    def __getitem__(self, environment: str) -> Worker:
        return self._workers[environment]

    def __contains__(self, environment: str) -> bool:
        return environment in self._workers

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers.values():
            worker.close()
