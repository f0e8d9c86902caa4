"""The environments that the peers live in: ``python -m benchmarks.peers.environments [NAME ...]``.

Each is a folder ``.venv-peers-NAME`` beside ours, made from the pinned requirements here. One that
can't be made is reported, and its tools count as absent; the others are not concerned.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.process import ROOT

REQUIREMENTS = Path(__file__).parent
TETRAD = "tetrad-lib-7.6.6-shaded.jar"
TETRAD_ARTIFACT = "io.github.cmu-phil:tetrad-lib:7.6.6:jar:shaded"
MAVEN_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
TETRAD_SHA256 = "9bb2668ccc0dc77b1b84a7ec601927d1ea78da302f22fc9479bdff68fc519172"
STAMP = "peers.stamp"


class BuildError(Exception):
    """An environment could not be made."""


@dataclass(frozen=True)
class Environment:
    """A virtual environment.

    name: as the methods know it.
    folder: where it is.
    requirements: the files with its packages.
    alone: packages that are installed without what they require, because it is large and not used.
    """

    name: str
    folder: Path
    requirements: str
    alone: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def digest(self) -> str:
        """What the environment is made from."""
        text = (REQUIREMENTS / self.requirements).read_text() + "\n".join(self.alone)
        return hashlib.sha256((text + TETRAD_SHA256).encode()).hexdigest()

    @property
    def is_ready(self) -> bool:
        stamp = self.folder / STAMP
        return stamp.exists() and stamp.read_text() == self.digest

    def build(self) -> None:
        """Make it anew, unless it is there."""
        if self.is_ready:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self._run(sys.executable, "-m", "venv", self.folder)
        install = (self.python, "-m", "pip", "install", "--quiet")
        self._run(*install, "-r", REQUIREMENTS / self.requirements)
        if self.alone:
            self._run(*install, "--no-deps", *self.alone)
        if self.name == "tetrad":
            self._fetch_tetrad()
        (self.folder / STAMP).write_text(self.digest)

    def _fetch_tetrad(self) -> None:
        """Tetrad's library by Maven, checked against its digest."""
        given = (f"-Dartifact={TETRAD_ARTIFACT}", f"-DoutputDirectory={self.folder}")
        self._run("mvn", "-q", "-B", MAVEN_COPY, *given)
        if hashlib.sha256((self.folder / TETRAD).read_bytes()).hexdigest() != TETRAD_SHA256:
            raise BuildError(f"{TETRAD_ARTIFACT} is not the file that was expected")

    def _run(self, *command: object) -> None:
        try:
            done = subprocess.run(
                [str(part) for part in command], capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise BuildError(f"{command[0]} is not installed") from error
        if done.returncode:
            raise BuildError((done.stderr.strip() or "no message").splitlines()[-1])


def _beside(name: str, *alone: str) -> Environment:
    folder = ROOT / f".venv-peers-{name}"
    return Environment(name, folder, f"requirements-{name}.txt", alone)


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        _beside("flop"),
        # DAGMA's linear model does without torch.
        _beside("python", "dagma==1.1.1"),
        _beside("xges"),
        _beside("tetrad"),
        _beside("measure"),
        _beside("regimes"),
        _beside("series"),
        _beside("clearn"),
    )
}


def ready_pythons() -> dict[str, Path]:
    """The Pythons of the environments that are there, and our own."""
    found = {name: e.python for name, e in ENVIRONMENTS.items() if e.is_ready}
    return {"qwo": Path(sys.executable)} | found


def main(names: Sequence[str]) -> None:
    """Make the environments, and say which could not be made."""
    for environment in (ENVIRONMENTS[name] for name in names or ENVIRONMENTS):
        try:
            environment.build()
        except BuildError as error:
            print(f"{environment.name}: absent: {error}", file=sys.stderr)
        else:
            print(f"{environment.name}: {environment.folder.name}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
