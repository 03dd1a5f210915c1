"""Jobs that need each other, run many at once: what may start, where it runs, what if it fails.

    queue        which jobs may start now: order, memory, the longest remaining path first
    run          the loop: starts what may start, waits for futures, tries again what was lost; and
                 an executor that runs each job at once, in this process
    processes    an executor with processes of this machine; one that is killed is a failed future
    worker       what such a process does
    cluster      an executor with the workers of a dask cluster (the extra `cluster`)
    simulation   an executor with a clock of its own: how long all would take
    forecast     how long the rest will take, from how things have gone so far
    attempt      results and errors on their way between processes

A job is a key, the keys that it needs, bytes and seconds; what it does, only the callable knows
that an executor is given. An executor hands out futures as `concurrent.futures` has them. Nothing
here knows of tables: building and proving them is one and the same queue.
"""
