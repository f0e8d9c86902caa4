"""How long the studio takes from a change to the new picture, in headless Chromium.

``python -m benchmarks.studio`` prints the median of a few changes of the penalty for 50 and 200
variables: until the new graph is drawn, and until everything has moved to its place. It takes
Chromium and playwright, as `make test-browser` installs them.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import qwo
from tests.browser.test_studio import CANVAS, Served

TIMED = f"""async (penalty) => {{
  const slider = document.getElementById('penalty');
  const cy = {CANVAS};
  const start = performance.now();
  const drawn = new Promise((done) => cy.one('add', () => done(performance.now() - start)));
  const old = document.body.dataset.settled;
  slider.value = penalty;
  slider.dispatchEvent(new Event('input'));
  const first = await drawn;
  while (document.body.dataset.settled === old) await new Promise(requestAnimationFrame);
  return [first, performance.now() - start];
}}"""


def main() -> None:
    """Print the medians."""
    chromium = shutil.which("chromium")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for n in (50, 200):
            made = qwo.simulate("er", n_variables=n, n_samples=1000, degree=3, random_state=1)
            path = Path(folder) / f"{n}.csv"
            header = ",".join(f"V{k}" for k in range(n))
            np.savetxt(path, made.data, delimiter=",", header=header, comments="")
            served = Served(browser, Path(folder) / str(n), path)
            served.settle(0)
            served.panel("search")
            times = [served.page.evaluate(TIMED, 2 + k % 5 + 0.1 * k) for k in range(15)]
            drawn, placed = (statistics.median(column) for column in zip(*times, strict=True))
            print(f"{n} variables: new graph after {drawn:.0f} ms, in its place {placed:.0f} ms")
            served.close()


if __name__ == "__main__":
    main()
