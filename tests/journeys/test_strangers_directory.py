"""A directory of another author: good tables among damaged, misnamed and invalid files.

Every command reports each fault in a line, does not block, and works with the good tables.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.helpers.commands import ENGINE, TBGEN, UNPRIVILEGED, Engine, answer, run

ENDING = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b"
AN_ARM_EACH = "3k5/9/9/9/9/9/9/n8/p8/R3K4 w"
KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
KNK = "3k5/9/9/9/9/9/9/9/9/N3K4 w"
KPK = "3k5/9/9/9/P8/9/9/9/9/4K4 w"
KRRK = "3k5/9/9/9/R8/9/9/9/9/R3K4 w"
KCPK = "3k5/9/9/9/P8/9/9/9/9/C3K4 w"

WRONG = {
    "KPK": "the file is damaged, remove it and build or fetch it again",
    "KNK": "the file holds KRK.check.dtm, not what its name says",
    "KCK": "does not begin as a table file",
    "KNKP": "Permission denied",
    "KCPK": "not a regular file",
    "KRPK": "not a regular file",
}
"""For each material with an invalid file in the directory, the expected error message."""


@pytest.fixture
def directory(tables_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with the good tables KRK and KRKN among damaged and invalid files.

    The files belong to another user, if the test may change their owner.
    """
    found = tmp_path_factory.mktemp("stranger")

    def path(material: str, kind: str = "xqt") -> Path:
        return found / f"{material}.check.dtm.{kind}"

    for material in ("KRK", "KRKN", "KPK"):
        shutil.copy(tables_dir / path(material).name, found)
    os.truncate(path("KPK"), path("KPK").stat().st_size // 2)
    shutil.copy(path("KRK"), path("KNK"))
    path("KCK").write_bytes(os.urandom(5000))
    shutil.copy(path("KRK"), path("KNKP"))
    path("KNKP").chmod(0)
    os.mkfifo(path("KCPK"))
    path("KRPK").symlink_to("/dev/zero")
    path("KRRK").mkdir()
    path("KCNK").symlink_to(found / "nowhere")
    path("KRK", "proof.json").write_text("{}")
    path("KRK", "build.json").write_bytes(b"\xff\xfe")
    (found / "index.json").write_text('{"format": 1, "files": [{"file": "../../etc/passwd"}]}')
    (found / ".KRK.check.dtm.state").write_text("nothing")
    (found / "KRK\x1b[31m\n.xqt").write_text("red")
    (found / "读我.txt").write_bytes(b"\0\xff")
    if os.getuid() == 0:
        for each in found.iterdir():
            os.chown(each, 65534, 65534, follow_symlinks=False)
    return found


def refuse(directory: Path, *words: str, said: str, status: int = 3) -> None:
    """Run a command on a directory; check that it ends with an error line and at most one hint.

    words : name and arguments of the command
    said : text that the error line must contain
    """
    errors = run(
        *UNPRIVILEGED, TBGEN, *words, "--tables", directory, status=status
    ).stderr.splitlines()
    assert said in errors[0]
    assert errors[0].startswith("error: ")
    assert [line[:6] for line in errors[1:]] in ([], ["hint: "])


def test_faults_are_listed_and_good_tables_are_used(directory: Path) -> None:
    listed = run(*UNPRIVILEGED, TBGEN, "ls", "--tables", directory, status=3)
    errors = [line for line in listed.stderr.splitlines() if line.startswith("error: ")]
    for material, wrong in WRONG.items():
        (line,) = (line for line in errors if f"{material}.check.dtm.xqt" in line)
        assert wrong in line
    good = [line.split()[0] for line in listed.stdout.splitlines() if "unreadable" not in line]
    assert good[1:-1] == ["KRK", "KRKN"]
    for fen, value in ((KRK, 1), (ENDING, 254)):
        assert answer(*UNPRIVILEGED, TBGEN, "probe", fen, "--tables", directory)["value"] == value
    assert "KRK (check, dtm): proven" in run(TBGEN, "verify", "KRK", "--tables", directory).stdout


def test_invalid_files_are_refused_in_one_line(directory: Path) -> None:
    refuse(directory, "probe", KPK, said=WRONG["KPK"])
    refuse(directory, "probe", KRRK, said="there is no table of KRRK", status=1)
    refuse(directory, "probe", KCPK, said=WRONG["KCPK"], status=2)
    refuse(directory, "verify", "KNK", said=WRONG["KNK"])
    refuse(directory, "verify", "KNKP", said=WRONG["KNKP"], status=2)
    refuse(directory, "index", said=WRONG["KCK"])
    mine = directory / "mine"
    refuse(mine, "fetch", "KRK", "--from", str(directory), said="no index of tables", status=2)
    assert not mine.exists()


def test_a_damaged_table_is_rebuilt_on_request(directory: Path) -> None:
    """A build refuses a damaged table that is requested; with --force it builds the table anew."""
    refuse(directory, "build", "KPK", "--rules", "check", said=WRONG["KPK"])
    build = [TBGEN, "build", "KPK", "--rules", "check", "--tables", directory]
    assert run(*build, "--force").stderr.startswith("1/1 KPK.check.dtm: ")
    assert run(*build).stderr.startswith("1 table: 1 present; ")
    assert answer(TBGEN, "probe", KPK, "--tables", directory)["outcome"] == "win"


def test_the_engine_reports_unusable_tables_once(directory: Path) -> None:
    engine = Engine("uci", directory, [*UNPRIVILEGED, ENGINE])
    engine.say("setoption name Rules value check")
    for fen in (KNK, KCPK, KRRK, AN_ARM_EACH, KNK):
        _, before = engine.move(f"fen {fen}", [])
        assert any(line.startswith("info depth 2 ") for line in before)
    # With an empty cache of kernels the engine also tells that it compiles.
    notes = [note for note in engine.notes() if "compiling the search" not in note]
    for note in notes:
        assert "the search goes on without " in note
        assert "Errno" not in note
    left_out = [note.rpartition("without ")[2].partition(".")[0] for note in notes]
    assert sorted(left_out) == sorted(WRONG)
    assert " tbhits 1 " in engine.move(f"fen {ENDING}", [])[1][-1]
    engine.close()
