"""The kernel cache: its folder, and recompilation of damaged entries."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tbgen.compiling import folder
from tbgen.compiling.folder import (
    clear_stale_files,
    find_kernel_folder,
    source_digest,
    usual_folder,
)
from tbgen.system.platform import open_to_write

TWICE = """
from tbgen.compiling.jit import notify_before_compiling, kernel

@kernel
def twice(number):
    return 2 * number

with notify_before_compiling(lambda: print("compiling", end=" ")):
    twice(21)
print(twice(21), sum(twice.stats.cache_hits.values()))
"""

SEVERAL = """
from tbgen.compiling.jit import kernel

def k_a(number):
    return 2 * number

def k_b(number):
    return number + number

def k_c(number):
    return 3 * number - number

def k_d(number):
    return 4 * number - 2 * number

def k_e(number):
    return 5 * number - 3 * number

def k_f(number):
    return 6 * number - 4 * number

def k_g(number):
    return 7 * number - 5 * number

for function in (k_a, k_b, k_c, k_d, k_e, k_f, k_g):
    compiled = kernel(function)
    print(compiled(21), sum(compiled.stats.cache_hits.values()))
"""

BORROWED = """
import os
import numpy as np
from tbgen.compiling.jit import borrowing_kernel, kernel

@borrowing_kernel
def total(numbers):
    found = 0
    for number in numbers:
        found += number
    return found

@kernel
def made(count):
    return np.arange(count)

hits = [total(made(4))]
hits += [sum(k.stats.cache_hits.values()) for k in (total, made)]
print(*hits, total(np.arange(4.0)) if "SECOND_TYPE" in os.environ else "")
"""
"""Script with two kernels: `total` borrows its array, `made` returns a new array.

A borrowing kernel does not change reference counts. The script prints a result, and the number of
cache hits of each kernel. With $SECOND_TYPE it then compiles `total` for another type.
"""

SECOND = """
from tbgen.compiling.jit import kernel

@kernel
def second(pair):
    return pair[1]

print(second((2, 3)), second((2, 3.5)))
"""

STARTED = """
import sys
import numpy as np
from tbgen.compiling.jit import borrowing_kernel

@borrowing_kernel
def last(numbers):
    return numbers[numbers.size - 1]

assert last(np.arange(5)) == 4
print("numba.np.arrayobj" in sys.modules, sum(last.stats.cache_hits.values()))
"""

CHANGED = """
from numba.core.caching import CompileResultCacheImpl as Entries

usual = Entries.reduce, Entries.rebuild
Entries.reduce = lambda self, kernel: {"all": usual[0](self, kernel)}
Entries.rebuild = lambda self, context, reduced: usual[1](self, context, reduced["all"])
"""
"""Code that stores numba's cache entries in another form, as a later version of numba might."""

NOWHERE = {"HOME": "/dev/null", "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
"""Environment variables of a user without a home; even root can make no folder there."""


def python(script: Path | str, *, status: int = 0, **environment: str) -> str:
    """Run a script (path or text) in a new Python, and return its output.

    Kernels of a script in a file are cached under its name.

    status : expected exit status; environment : variables to set
    """
    arguments = [str(script)] if isinstance(script, Path) else ["-c", script]
    result = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == status, result.stderr
    return result.stdout


def kernel_in(directory: Path) -> Path:
    """Write the script `TWICE`, which has one kernel, and return its path."""
    script = (directory / "twice").with_suffix(".py")
    script.write_text(TWICE, "utf-8")
    return script


def empty(data: bytes) -> bytes:
    return b""


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def zeroed(data: bytes) -> bytes:
    return bytes(len(data))


def zeroed_inside(data: bytes) -> bytes:
    """Return the bytes of a cache entry with 200 zeros in the middle, as a power cut may leave.

    The entry can still be unpickled, but its machine code is wrong.
    """
    middle = len(data) // 2
    return data[:middle] + bytes(200) + data[middle + 200 :]


DAMAGES = {
    "k_a": ("nbi", empty), "k_b": ("nbi", cut), "k_c": ("nbi", zeroed),
    "k_d": ("nbc", empty), "k_e": ("nbc", cut), "k_f": ("nbc", zeroed),
    "k_g": ("nbc", zeroed_inside),
}  # fmt: skip
"""Damage of cache files, by kernel of `SEVERAL`: (file, function that damages the bytes).

The files of a kernel are `nbi`, the index of its entries, and `nbc`, an entry.
"""


def test_damaged_entries_are_recompiled(tmp_path: Path) -> None:
    script = (tmp_path / "several").with_suffix(".py")
    script.write_text(SEVERAL, "utf-8")
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["42", "0"] * len(DAMAGES)
    sizes = {}
    for name, (suffix, damage) in DAMAGES.items():
        (entry,) = tmp_path.rglob(f"several.{name}-*.{suffix}")
        whole = entry.read_bytes()
        sizes[entry] = len(whole)
        entry.write_bytes(damage(whole))
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["42", "0"] * len(DAMAGES)
    assert sizes == {entry: entry.stat().st_size for entry in sizes}
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)).split() == ["42", "1"] * len(DAMAGES)


def test_entries_of_another_form_are_recompiled_once(tmp_path: Path) -> None:
    script = (tmp_path / "changed").with_suffix(".py")
    script.write_text(CHANGED + TWICE, "utf-8")
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)) == "compiling 42 0\n"
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)) == "42 1\n"


def test_loading_kernels_imports_no_compiler(tmp_path: Path) -> None:
    """A process that finds its kernels in the cache does not import the compiler's modules."""
    script = (tmp_path / "started").with_suffix(".py")
    script.write_text(STARTED, "utf-8")
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)) == "True 0\n"
    assert python(script, NUMBA_CACHE_DIR=str(tmp_path)) == "False 1\n"


def test_an_entry_of_other_types_counts_as_missing(tmp_path: Path) -> None:
    """A cache entry with code for other types is compiled anew, and the cache works again.

    The entries of two types are exchanged, as when two processes write them in turn.
    """
    script, kept = (tmp_path / "second").with_suffix(".py"), tmp_path / "cache"
    script.write_text(SECOND, "utf-8")
    assert python(script, NUMBA_CACHE_DIR=str(kept)) == "3 3.5\n"
    first, second = sorted(kept.rglob("*.nbc"))
    code = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(code)
    for _ in range(2):  # the index works again, with entries of both
        assert python(script, NUMBA_CACHE_DIR=str(kept)) == "3 3.5\n"


@pytest.mark.parametrize(
    ("module", "counts"),
    [
        ("indexing.slots", True),
        ("tables.outcomes", True),
        ("rows.sweep", True),
        ("notation", False),
    ],
)
def test_the_digest_covers_sources_that_kernels_depend_on(
    module: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An edited source counts; that of a package without kernels does not."""
    changed = Path(str(import_module(f"tbgen.{module}").__file__))
    read, digest = Path.read_bytes, source_digest.__wrapped__
    before = digest()
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    assert (digest() != before) == counts


def test_without_a_home_the_cache_folder_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(folder.tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"tbgen-{os.getuid()}"
    assert find_kernel_folder() == own / source_digest()
    assert usual_folder() == Path("/dev/null/.cache/tbgen") / source_digest()
    assert own.stat().st_mode & 0o777 == 0o700
    # Loading a kernel runs code, so a folder that others can write to is refused.
    own.chmod(0o777)
    assert find_kernel_folder() is None
    own.rename(tmp_path / "elsewhere")
    own.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").chmod(0o700)
    assert find_kernel_folder() is None


def test_the_default_folder_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only its owner may read the kernel folder, even with a umask of 0.

    If others may write to the folder, or another user owns it, a temporary one is used instead.
    """
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folder.tempfile, "tempdir", str(tmp_path))
    before = os.umask(0)
    try:
        usual = find_kernel_folder()
    finally:
        os.umask(before)
    assert usual == tmp_path / "cache" / "tbgen" / source_digest()
    assert usual.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / f"tbgen-{os.getuid()}").exists()
    usual.chmod(0o755)  # readable by others: it is made private again
    assert find_kernel_folder() == usual
    assert usual.stat().st_mode & 0o777 == 0o700
    instead = tmp_path / f"tbgen-{os.getuid()}" / source_digest()
    usual.chmod(0o777)
    assert find_kernel_folder() == instead
    if os.getuid() == 0:
        usual.chmod(0o755)
        os.chown(usual, 65534, 65534)
        assert find_kernel_folder() == instead


def test_a_cache_folder_without_an_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", unknown)
    monkeypatch.setattr(folder.tempfile, "tempdir", str(tmp_path))
    own = tmp_path / f"tbgen-{os.getuid()}"
    assert (find_kernel_folder(), usual_folder()) == (own / source_digest(), None)


def test_kernels_run_without_a_cache_folder(tmp_path: Path) -> None:
    script = kernel_in(tmp_path)
    (tmp_path / f"tbgen-{os.getuid()}").write_text("in the way")
    assert python(script, TMPDIR=str(tmp_path), **NOWHERE) == "compiling 42 0\n"


@pytest.mark.parametrize("first", ["total(made(4))", "total(np.arange(4))"])
def test_borrowing_kernels_load_together_with_others(tmp_path: Path, first: str) -> None:
    """Borrowing kernels, which count no references, and others load from the cache in either order.

    A borrowing kernel is loaded before numba is ready to compile.
    """
    script = (tmp_path / "borrowed").with_suffix(".py")
    script.write_text(BORROWED.replace("total(made(4))", first))
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    made = "made(4)" in first
    assert python(script, **cache).split() == ["6", "0", "0"]
    loaded = ["6", "1", "1" if made else "0"]
    assert python(script, SECOND_TYPE="", **cache).split() == [*loaded, "6.0"]


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_a_lock_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    lock, other = tmp_path / "lock", tmp_path / "other"
    if kind == "link":
        other.write_text("untouched")
    if kind.endswith("link"):
        lock.symlink_to(other)
    elif kind == "folder":
        lock.mkdir()
    else:
        os.mkfifo(lock)
    with pytest.raises(OSError, match=re.escape(str(lock))):
        open_to_write(lock)
    assert not other.exists() or other.read_text() == "untouched"
    assert other.exists() == (kind == "link")


def test_the_lock_file_is_created_and_kept(tmp_path: Path) -> None:
    for _ in range(2):
        with open_to_write(tmp_path / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (tmp_path / "lock").write_text("kept")
    open_to_write(tmp_path / "lock").close()
    assert (tmp_path / "lock").read_text() == "kept"


def test_disabled_compilation_is_an_error(tmp_path: Path) -> None:
    script = f"from tbgen.cli import main; main(['build', 'KRK', '--tables', {str(tmp_path)!r}])"
    result = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 2
    assert result.stderr.splitlines() == [
        "error: NUMBA_DISABLE_JIT is set, and kernels cannot run without being compiled",
        "hint: unset NUMBA_DISABLE_JIT",
    ]


def test_files_of_killed_processes_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = tmp_path / "rows"
    entries.mkdir()
    unfinished = entries / "k.nbc.tmp.0123456789abcdef"
    unfinished.touch()
    (entries / "k.nbc").touch()
    clear_stale_files(tmp_path)
    assert unfinished.exists()  # another process may be writing it
    monkeypatch.setattr(folder, "_ABANDONED_SECONDS", -1)
    clear_stale_files(tmp_path)
    assert [path.name for path in entries.iterdir()] == ["k.nbc"]
