"""``qwo info``: what is installed, for questions and reports."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from qwo.cli.console import Console
from qwo.cli.wording import table

OPTIONAL = {
    "matplotlib": "figures",
    "pandas": "tables as data frames",
    "gadjid": "adjustment distances in qwo compare",
    "dask": "runs on a cluster",
    "cupy-cuda13x": "runs on a GPU",
}


def info(console: Console) -> None:
    """Show version, build, processors and optional packages."""
    from qwo.order.build import versions

    found = versions()
    core = found.pop("core")
    optional = {name: _version(name) for name in OPTIONAL}
    processors = os.cpu_count() or 1
    rows = [[name, str(value)] for name, value in found.items()]
    rows += [
        ["system", platform.platform(terse=True)],
        ["processors", str(processors)],
        *([f"core: {name.replace('_', ' ')}", str(value)] for name, value in core.items()),
        *(
            [name, installed or f"not installed ({OPTIONAL[name]})"]
            for name, installed in optional.items()
        ),
    ]
    console.result(
        table(rows),
        {**found, "core": core, "processors": processors, "optional": optional},
    )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
