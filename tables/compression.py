"""Compression of blocks by zstd: fast to build, dense to publish, small for many reads.

    FAST        tables, by a builder
    DENSE       tables that are finished, by `tbgen index --dense`
    SMALLEST    outcomes
    COMPARING   arrangements, of which the best is then packed as above

What a block says, and so every digest, does not depend on which of them packed it. Frames tell
their size; the checksums are ours. Figures are in docs/format.md, the reasons in decision 14.
"""

from __future__ import annotations

import threading

import zstandard

Parameters = zstandard.ZstdCompressionParameters

_COMMON = {"window_log": 16, "write_content_size": True, "write_checksum": False}
"""No block is longer than 64 KiB."""

FAST: Parameters = Parameters(
    **_COMMON, hash_log=15, chain_log=16, search_log=4, min_match=5, target_length=64,
    strategy=zstandard.STRATEGY_LAZY2,
)  # fmt: skip
"""A quarter of the time of an optimal parse that looks at few matches, and 7 % larger."""

DENSE: Parameters = Parameters(
    **_COMMON, hash_log=14, chain_log=16, search_log=5, min_match=3, target_length=256,
    strategy=zstandard.STRATEGY_BTOPT,
)  # fmt: skip
"""An optimal parse that looks at many matches: a ninth smaller than FAST, at ten times the time."""

SMALLEST: Parameters = Parameters.from_level(
    19, source_size=1 << 16, write_content_size=True, write_checksum=False
)
"""The best parse that zstd has (decision 11)."""


COMPARING: Parameters = Parameters(compression_level=1)
"""Enough to compare: which blocks are looked at matters, and how well they are packed does not."""


class Compressor(threading.local):
    """A compressor of blocks; each thread has its own behind it, since one cannot be shared."""

    def __init__(self, parameters: Parameters) -> None:
        """Pack as the parameters say."""
        self.compress = zstandard.ZstdCompressor(compression_params=parameters).compress
        """The frame of some bytes."""
