"""Build the C reader for web pages: xqprobe.wasm, its modules and types, and an example page.

    python contrib/js/build.py DIR [--decoder zstddeclib.c] [--clang clang-14]

Needs clang with its linker for WebAssembly (wasm-ld) and wasi-libc (in Debian: clang, lld and
wasi-libc), and one C file with zstd's decoder: that of `--decoder` (docs/engines.md describes how
zstd's own source makes it), or zstd.c from the source distribution of the package zstandard, which
pip downloads. zstd's BSD licence requires its notice beside xqprobe.wasm.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from distributions import fetch  # noqa: E402

PAGES = ("xqprobe.js", "remotefile.js", "xqprobe.d.ts", "example.html")
SMALL = ("HUF_FORCE_DECOMPRESS_X1", "ZSTD_FORCE_DECOMPRESS_SEQUENCES_SHORT", "ZSTD_NO_INLINE",
         "ZSTD_STRIP_ERROR_STRINGS")  # fmt: skip
"""Macros for a small decoder, from zstd's documentation."""
ONE_THREAD = ("__EMSCRIPTEN__", "_WASI_EMULATED_PROCESS_CLOCKS")
"""Macros that remove threads from zstd.c, and let its unused dictionary builder compile."""

LINKING = ("no-entry", "gc-sections", "strip-all", "allow-undefined", "export=__wasm_call_ctors")
"""Linker options; without the last one, wrappers of the exports would open and close files."""


def build(directory: Path, decoder: Path | None, clang: str) -> None:
    """Compile the reader into a directory, and copy the files that use it there.

    `decoder` is a C file with zstd's decoder, None to download one. Raises `SystemExit` on failure.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        if decoder is None:
            decoder = fetch("zstandard", "zstd/zstd.c", Path(folder), "name one by --decoder")
        zstd = decoder.resolve()
        command = [clang, "--target=wasm32-wasi", "-mexec-model=reactor", "-nostartfiles"]
        command += ["-std=c99", "-Oz", "-flto", f"-I{HERE.parent}"]
        command += [f"-D{name}" for name in (*SMALL, *ONE_THREAD, "NDEBUG", "XQ_REMOTE")]
        command += [f'-DXQ_ZSTD_DECODER="{zstd}"', *(f"-Wl,--{name}" for name in LINKING)]
        command += [str(HERE / "xqweb.c"), str(HERE.parent / "xqprobe.c")]
        if subprocess.run([*command, "-o", str(directory / "xqprobe.wasm")]).returncode:
            raise SystemExit("the reader does not compile: the lines above say why")
    for page in PAGES:
        shutil.copy(HERE / page, directory)


def main() -> None:
    """Build the reader as the command line requests."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--decoder", type=Path, help="a C file with zstd's decoder")
    parser.add_argument("--clang", default="clang", help="the compiler")
    options = parser.parse_args()
    clang = shutil.which(options.clang)
    if clang is None:
        sys.exit(f"{options.clang} is not installed: name a compiler by --clang")
    build(options.directory, options.decoder, clang)


if __name__ == "__main__":
    main()
