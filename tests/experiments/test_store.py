"""The store of results: whole lines only, one writer at a time, whatever happens to it."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from qwo.errors import FileFormatError, InputError
from qwo.reproduction.store import ResultStore, Row, StoreLockedError, run_key


def row(seed, value=1.0):
    return Row({"seed": seed, "method": "hc/qwo"}, {"skf1": value}, {"qwo": "0"})


@pytest.fixture
def store(tmp_path):
    return ResultStore(tmp_path / "new" / "runs.jsonl")


def filled(store, *rows):
    with store:
        for each in rows:
            store.append(each)
    return store


def test_key_does_not_depend_on_the_order_of_parameters():
    assert run_key({"a": 1, "b": 2.5}) == run_key({"b": 2.5, "a": 1})
    assert run_key({"a": 1}) != run_key({"a": 2})


def test_rows_come_back(store):
    assert store.rows() == {}
    filled(store, row(0), row(1))
    assert list(store.rows().values()) == [row(0), row(1)]


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
    store.path.write_text(lines[0] + "{oops}\n" + lines[1])
    with pytest.raises(FileFormatError, match="line 2 of"):
        store.rows()


def test_one_writer_at_a_time(store):
    with store:
        with pytest.raises(StoreLockedError, match="another process is writing"), store:
            pass
        with pytest.raises(StoreLockedError), ResultStore(store.path):
            pass
        store.append(row(0))
    filled(store, row(1))
    assert len(store.rows()) == 2


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_writer_leaves_no_lock(store):
    code = (
        "import sys, time\n"
        "from qwo.reproduction.store import ResultStore\n"
        f"with ResultStore({str(store.path)!r}):\n"
        "    print('open', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as writer:
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(StoreLockedError), store:
            pass
        writer.kill()
    filled(store, row(0))
    assert len(store.rows()) == 1


def test_writing_takes_a_with_block(store):
    with pytest.raises(InputError, match="with block"):
        store.append(row(0))


def test_a_packed_store_is_read_and_goes_on(store):
    packed = filled(store, row(1), row(0)).pack()
    store.path.unlink()
    assert sorted(store.rows()) == [run_key(row(seed).run) for seed in (0, 1)]
    filled(store, row(2))
    assert len(store.rows()) == 3
    before = packed.read_bytes()
    store.pack()
    assert packed.read_bytes() != before


def test_the_same_rows_pack_to_the_same_file(tmp_path):
    first = filled(ResultStore(tmp_path / "a.jsonl"), row(0), row(1)).pack()
    second = filled(ResultStore(tmp_path / "b.jsonl"), row(1), row(0)).pack()
    assert first.read_bytes() == second.read_bytes()


def test_a_damaged_packed_store_is_refused(store):
    packed = filled(store, row(0)).pack()
    store.path.unlink()
    packed.write_bytes(packed.read_bytes()[:-8])
    with pytest.raises(FileFormatError, match="damaged"):
        store.rows()
