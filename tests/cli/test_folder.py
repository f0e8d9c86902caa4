"""A folder appears whole or not at all, and nobody's files are lost."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import qwo.cli.folder as folder_module
from qwo.cli.folder import RECORD, check_folder, whole_folder
from qwo.errors import ArgumentError
from tests.cli.running import run

FOLDER = Path("result")


def make(files: dict[str, str], *, force: bool = False, folder: Path = FOLDER) -> None:
    with whole_folder(folder, force=force) as made:
        for name, text in files.items():
            (made / name).parent.mkdir(exist_ok=True)
            (made / name).write_text(text)
        (made / RECORD).write_text(json.dumps({"files": [*files, RECORD]}))


def contents(folder: Path = FOLDER) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != RECORD
    }


def leftovers() -> list[str]:
    return [path.name for path in Path().iterdir() if path.name.startswith(".")]


def test_a_folder_is_made_with_its_parents() -> None:
    make({"a": "1", "figures/b": "2"}, folder=Path("runs/today"))
    assert contents(Path("runs/today")) == {"a": "1", "figures/b": "2"}
    assert not leftovers()


def test_an_empty_folder_is_taken() -> None:
    FOLDER.mkdir()
    make({"a": "1"})
    assert contents() == {"a": "1"}


def test_nothing_is_overwritten_without_force() -> None:
    make({"a": "1"})
    with pytest.raises(ArgumentError, match="--force"):
        make({"a": "2"})
    assert contents() == {"a": "1"}


def test_force_replaces_what_qwo_wrote_and_keeps_the_rest() -> None:
    make({"a": "1", "old": "1", "figures/x": "1"})
    (FOLDER / "mine.txt").write_text("mine")
    (FOLDER / "figures" / "mine.png").write_text("mine")
    make({"a": "2", "new": "2"}, force=True)
    assert contents() == {"a": "2", "new": "2", "mine.txt": "mine", "figures/mine.png": "mine"}
    assert not leftovers()


def test_force_refuses_to_replace_a_file_that_is_not_ours() -> None:
    FOLDER.mkdir()
    (FOLDER / "a").write_text("mine")
    with pytest.raises(ArgumentError, match="not written by qwo"):
        make({"a": "2"}, force=True)
    assert contents() == {"a": "mine"}
    assert not leftovers()


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"files": 3}', '{"files": ["../other"]}'])
def test_a_strange_record_makes_nothing_ours(record: str) -> None:
    FOLDER.mkdir()
    Path("other").write_text("other")
    (FOLDER / "a").write_text("mine")
    (FOLDER / RECORD).write_text(record)
    with pytest.raises(ArgumentError, match="not written by qwo"):
        make({"a": "2"}, force=True)
    assert contents() == {"a": "mine"}
    assert Path("other").read_text() == "other"


def test_a_failure_leaves_no_trace() -> None:
    make({"a": "1"})

    def interrupted() -> None:
        with whole_folder(FOLDER, force=True) as made:
            (made / "a").write_text("2")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert contents() == {"a": "1"}
    assert not leftovers()


def test_a_folder_that_someone_else_makes_meanwhile_is_left_alone() -> None:
    def late() -> None:
        with whole_folder(FOLDER, force=False) as made:
            (made / "a").write_text("ours")
            FOLDER.mkdir()
            (FOLDER / "a").write_text("theirs")

    with pytest.raises(ArgumentError, match="result-1"):
        late()
    assert (FOLDER / "a").read_text() == "theirs"
    assert Path("result-1", "a").read_text() == "ours"


def test_links_and_files_are_no_folders() -> None:
    Path("file").write_text("x")
    FOLDER.mkdir()
    Path("link").symlink_to(FOLDER)
    for name in ("file", "link"):
        with pytest.raises(ArgumentError, match="not a folder"):
            check_folder(Path(name), force=True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o755), (0o077, 0o700), (0o002, 0o775)])
def test_permissions_follow_the_umask(mask: int, mode: int, data: Path) -> None:
    before = os.umask(mask)
    try:
        run("learn", data, "-o", FOLDER, "--no-figures")
    finally:
        os.umask(before)
    assert FOLDER.stat().st_mode & 0o777 == mode
    for path in FOLDER.iterdir():
        assert path.stat().st_mode & 0o777 == mode & 0o666, path


def test_learn_twice_into_one_folder(data: Path) -> None:
    options = ("--no-report", "--no-figures")
    assert run("learn", data, "-o", FOLDER, *options).exit_code == 0
    (FOLDER / "notes.txt").write_text("mine")
    again = run("learn", data, "-o", FOLDER, *options)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert not again.stdout  # refused before the search
    assert run("learn", data, "-o", FOLDER, *options, "--force", "-f", "gml").exit_code == 0
    assert (FOLDER / "notes.txt").read_text() == "mine"
    assert (FOLDER / "cpdag.gml").is_file()
    assert not (FOLDER / "cpdag.dot").exists()


@pytest.mark.parametrize("failing", ["qwo.plot.plot_graph", "qwo.report.page.write_contents"])
def test_a_failed_drawing_costs_no_result(
    data: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("Buffer dtype mismatch, expected 'int' but got 'long'")

    monkeypatch.setattr(failing, broken)
    result = run("learn", data, "-o", FOLDER, "-b", 4)
    assert result.exit_code == 3
    what = "picture of the graph" if "plot" in failing else "report"
    assert f"warning: no {what}: ValueError: Buffer dtype mismatch" in result.stderr
    kept = {"cpdag.json", "dag.json", "support.csv", "coefficients.csv", "result.json"}
    assert kept <= {path.name for path in FOLDER.iterdir()}
    assert (FOLDER / "figures" / "matrix.png").is_file()


def test_a_report_that_fails_costs_neither_the_folder_nor_the_graph(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "report.html")

    monkeypatch.setattr("qwo.report.page.write_contents", full)
    result = run("learn", data, "-o", FOLDER, "--no-figures")
    assert result.exit_code == 3
    assert "no report: the system refused 'report.html': No space left on device" in result.stderr
    assert "a  -->  b" in result.stdout
    assert (FOLDER / "cpdag.json").is_file()
    assert not (FOLDER / "report.html").exists()
    assert not leftovers()


def test_force_follows_no_link_that_a_record_names() -> None:
    """A hostile record must not make qwo remove what lies behind a link."""
    outside = Path("outside")
    outside.mkdir()
    (outside / "victim").write_text("theirs")
    FOLDER.mkdir()
    (FOLDER / "link").symlink_to(outside.absolute())
    (FOLDER / RECORD).write_text(json.dumps({"files": ["link/victim", RECORD]}))
    make({"a": "1"}, force=True)
    assert (outside / "victim").read_text() == "theirs"
    assert (FOLDER / "link").is_symlink()
    assert (FOLDER / "a").read_text() == "1"


@pytest.mark.skipif(sys.platform != "linux", reason="the exchange of folders is Linux's")
def test_an_old_result_and_a_new_one_change_places_in_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed at any time, there is the old result or the new one, and never a mixture."""
    make({"a": "old", "gone": "old", "figures/x": "old"})
    (FOLDER / "mine").write_text("mine")
    before = (FOLDER / "mine").stat().st_ino
    seen: list[dict[str, str]] = []
    exchange = folder_module._exchange

    def watched(first: Path, second: Path) -> bool:
        seen.append(contents())
        return exchange(first, second)

    monkeypatch.setattr(folder_module, "_exchange", watched)
    monkeypatch.setattr(folder_module, "_move", None)
    monkeypatch.setattr(folder_module, "_remove", None)
    make({"a": "new", "more/b": "new"}, force=True)
    assert seen == [{"a": "old", "gone": "old", "figures/x": "old", "mine": "mine"}]
    assert contents() == {"a": "new", "more/b": "new", "mine": "mine"}
    assert (FOLDER / "mine").stat().st_ino == before
    assert not leftovers()


def test_what_a_killed_process_left_is_taken_away() -> None:
    stray = Path(".result.qwo-new")
    stray.mkdir()
    (stray / "half").write_text("")
    make({"a": "1"})
    assert contents() == {"a": "1"}
    assert not leftovers()


def test_where_folders_cannot_change_places_files_are_moved_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make({"a": "1", "old": "1"})
    (FOLDER / "mine.txt").write_text("mine")
    monkeypatch.setattr(folder_module, "_exchange", lambda *_: False)
    make({"a": "2"}, force=True)
    assert contents() == {"a": "2", "mine.txt": "mine"}
