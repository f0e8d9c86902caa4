"""The scripts in examples/ run."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples import demo, python_interface


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_demo_leaves_a_report_and_tells_its_story(capfd: pytest.CaptureFixture[str]) -> None:
    demo.main()
    shown = capfd.readouterr()
    for line in (
        "6 links, 0 with a direction; 0 are not in",
        "36 links, ",
        "20 are not in the consensus network",
        "10 links, 8 with a direction; 1 is not in",
        "PKC   -->  P38",
        "+ psitectorigenin  PIP2  yes, with 1 other",
        "+ U0126            Mek   yes, with 4 others",
        "PMA                PKC   no: nothing",
        "What to do next: 2 links are open. An experiment that sets Raf, Mek, P38 or Jnk",
    ):
        assert line in shown.out
    assert Path("demo-output/result/report.html").is_file()
    assert "report.html" in shown.out


def test_the_python_interface(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_interface, "N_VARIABLES", 20)
    python_interface.main()
    shown = capsys.readouterr().out
    assert "the default" in shown
    assert "Raf --- Mek" in shown
