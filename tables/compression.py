"""Compression of blocks by zstd: fast to build, dense to publish, small for many reads.

    FAST        blocks of tables, when built
    DENSE       blocks of finished tables, by `tbgen index --dense`
    SMALLEST    blocks of win-draw-loss files
    COMPARING   sampled blocks, only to compare their sizes in different arrangements

The content of blocks, and so every digest, does not depend on these parameters. Frames state their
size. Checksums are in the block table, not in frames. Figures are in docs/format.md, reasons in
decision 14.
"""

from __future__ import annotations

import threading

import zstandard

Parameters = zstandard.ZstdCompressionParameters

_COMMON = {"window_log": 16, "write_content_size": True, "write_checksum": False}
"""Parameters shared by `FAST` and `DENSE`. The window is 64 KiB, the largest size of a block."""

FAST: Parameters = Parameters(
    **_COMMON, hash_log=15, chain_log=16, search_log=4, min_match=5, target_length=64,
    strategy=zstandard.STRATEGY_LAZY2,
)  # fmt: skip
"""Parameters of a fast parse: a quarter of the time of an optimal parse with a short search, and
output 7 % larger.
"""

DENSE: Parameters = Parameters(
    **_COMMON, hash_log=14, chain_log=16, search_log=5, min_match=3, target_length=256,
    strategy=zstandard.STRATEGY_BTOPT,
)  # fmt: skip
"""Parameters of a long optimal parse: a ninth smaller than `FAST`, ten times slower."""

SMALLEST: Parameters = Parameters.from_level(
    19, source_size=1 << 16, write_content_size=True, write_checksum=False
)
"""Parameters of the strongest parse of zstd (decision 11)."""


COMPARING: Parameters = Parameters(compression_level=1)
"""Fast parameters: a comparison of arrangements depends on the choice of sampled blocks, not on how
densely they are compressed.
"""


class Compressor(threading.local):
    """Compressor of blocks with one zstd compressor per thread, since threads cannot share one."""

    def __init__(self, parameters: Parameters) -> None:
        """Create a compressor with zstd parameters."""
        self.compress = zstandard.ZstdCompressor(compression_params=parameters).compress
        """Compress bytes to one zstd frame."""
