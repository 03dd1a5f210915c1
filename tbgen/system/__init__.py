"""Tools for all packages: the operating system, memory, threads, imports, text.

    platform     differences between operating systems: files and locks, memory, processes
    allowance    memory that a process may use
    threads      thread pools, with a check of free memory
    importing    imports exempt from garbage collection
    scalar       functions shared by plain Python and kernels
    units        bytes and seconds as text

The package imports no other package, neither of `tbgen` nor from outside.
"""
