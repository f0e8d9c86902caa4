"""The store of results: whole lines only, one writer at a time, whatever happens to it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from qwo.errors import FileFormatError, InputError
from qwo.reproduction.store import Columns, ResultStore, Row, StoreLockedError, run_key

COLUMNS = Columns(("method", "degree", "seed"), ("skf1", "exact", "reason"))


def row(seed, value=1.0, **record):
    return Row({"seed": seed, "method": "hc/qwo"}, {"skf1": value}, record or {"qwo": "0"})


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "new" / "runs.csv", COLUMNS)


def filled(store, *rows):
    with store:
        for each in rows:
            store.append(each)
    return store


def test_a_key_depends_on_the_values_alone():
    assert run_key({"a": 1, "b": 2.5}) == run_key({"b": 2.5, "a": 1, "c": None})
    assert run_key({"a": 20.0}) == run_key({"a": 20}) != run_key({"a": 2})


def test_rows_come_back(store):
    assert store.rows() == {}
    odd = Row(
        {"method": "a, b", "degree": 2.5, "seed": 3},
        {"skf1": 1 / 3, "exact": True, "reason": 'said "no"\nand, no'},
        {"qwo": "1", "core": {"flags": "-O3"}},
    )
    filled(store, row(0), odd, row(1))
    first, found, last = store.rows().values()
    assert (first, last) == (row(0), row(1))
    assert found.run == odd.run
    assert found.record == odd.record
    assert found.outcome == {"skf1": 1 / 3, "exact": True, "reason": 'said "no" and, no'}


def test_a_record_is_written_once_and_a_row_adds_one_line(store):
    filled(store, row(0), row(1), row(2, commit="a"))
    before = store.path.read_text()
    filled(store, row(3), row(4, commit="a"))
    after = store.path.read_text()
    assert after.startswith(before)
    assert len(after.splitlines()) - len(before.splitlines()) == 2
    assert after.count("#") == 2
    assert [found.record.get("commit") for found in store.rows().values()] == [
        *(None, None, "a", None, "a")
    ]


def test_the_last_row_of_a_run_counts(store):
    filled(store, row(0, 0.5), row(1), row(0, 0.75))
    assert store.rows()[run_key(row(0).run)].outcome == {"skf1": 0.75}


def test_a_line_torn_at_any_byte_is_dropped_and_the_next_one_is_whole(store):
    whole = filled(store, row(0)).path.read_bytes()
    torn = filled(store, row(1)).path.read_bytes()
    for length in range(len(whole), len(torn)):
        store.path.write_bytes(torn[:length])
        assert list(store.rows().values()) == [row(0)]
        filled(store, row(2))
        assert list(store.rows().values()) == [row(0), row(2)]


def test_a_damaged_line_is_named(store):
    filled(store, row(0), row(1))
    lines = store.path.read_text().splitlines(keepends=True)
    store.path.write_text("".join([*lines[:3], "oops\n", *lines[3:]]))
    with pytest.raises(FileFormatError, match="line 4 of"):
        store.rows()


def test_one_writer_at_a_time(store):
    with store:
        with pytest.raises(StoreLockedError, match="another process is writing"), store:
            pass
        with pytest.raises(StoreLockedError), ResultStore(store.path, COLUMNS):
            pass
        store.append(row(0))
    filled(store, row(1))
    assert len(store.rows()) == 2


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_writer_leaves_no_lock(store):
    code = (
        "import sys, time\n"
        "from qwo.reproduction.store import Columns, ResultStore\n"
        f"with ResultStore({str(store.path)!r}, Columns((), ())):\n"
        "    print('open', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StoreLockedError), store:
            pass
        writer.kill()
    store.path.unlink()
    filled(store, row(0))
    assert len(store.rows()) == 1


def test_what_cannot_be_stored_is_refused(store):
    with pytest.raises(InputError, match="with block"):
        store.append(row(0))
    with store, pytest.raises(InputError, match="no column size"):
        store.append(Row({"size": 1}, {}, {}))
