"""The command `tbgen serve`, in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.request import urlopen

from tests.helpers.board_server import serve
from tests.helpers.built import built


def test_distances_to_mate_are_shown_if_tables_of_both_metrics_are_present(tmp_path: Path) -> None:
    for metric in ("dtm", "dtc"):
        shutil.copytree(built("KRKN", rules="wxf", metric=metric), tmp_path, dirs_exist_ok=True)
    assert {path.name for path in tmp_path.glob("KRKN*.xqt")} == {
        "KRKN.wxf.dtm.xqt", "KRKN.wxf.dtc.xqt",
    }  # fmt: skip
    with urlopen(f"{serve(tmp_path).url}/v1/probe?fen=9/9/4k4/9/9/6n2/9/R2K5/9/9_b") as answer:
        assert answer.status == 200
        assert '"metric": "dtm"' in answer.read().decode()
