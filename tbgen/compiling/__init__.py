"""numba: declaration, compilation and cache of kernels.

    jit          kernels, parts and scalars; the lock of the cache
    folder       folder of the cache of compiled code
    second       process that compiles beside this one
    cache        cache entries with a digest: damaged ones are compiled again
    lending      named tuples that kernels take by address
    fetching     prefetch of memory
    stale_files  removal of files that killed processes have left in the cache
    parts        functions that are compiled into the kernels that call them, and no further
    indices      indexing without a test for negative indices, in kernels without reference counts
    internals    check of numba's undocumented names that these modules use
    settings     numba's settings, of which those of the current directory do not count

Only packages with kernels import this one: `tbgen.rows`, `retrograde`, `verify`, `probing`, and
the compiled half of `tbgen.referee`. Nothing that only probes or plays does.
"""

from tbgen.compiling.settings import ignore_file

ignore_file()
