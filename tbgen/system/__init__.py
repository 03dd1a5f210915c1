"""Tools for all packages: the operating system, signals, memory, threads, imports, text.

    platform     differences of systems: files and locks, memory, processes, signals, imports
    signals      signals that end the program
    allowance    memory that a process may use
    threads      thread pools, with a check of the limits on memory
    scalar       functions shared by plain Python and kernels
    units        bytes and seconds as text

The package imports nothing but the standard library.
"""
