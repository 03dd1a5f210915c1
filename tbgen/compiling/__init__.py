"""numba, in one place.

    jit        kernels, parts and scalars; the lock of the cache
    folder     where the cache of compiled code is
    second     a process that compiles beside this one
    cache      that what is damaged in it is compiled again
    lending    named tuples that kernels read where they are
    fetching   a hint to the processor which memory will be read
    remains    what killed processes have left in it
    parts      how a function is compiled into the kernels that call it, and no further
    resolution operations on numbers, which numba looks for once instead of at every use
    indices    they count from the front, in kernels that count no references
    internals  which of the undocumented things that these are made of this numba has

Only packages with kernels import this one: `tbgen.rows`, `retrograde`, `verify`, `probing`, and
the compiled half of `tbgen.referee`. Nothing that only probes or plays does.
"""
