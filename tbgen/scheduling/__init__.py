"""Scheduler of dependent jobs: order of starts, executors, retries.

    queue        jobs that may start now, by dependencies, memory and longest remaining path
    run          main loop, which starts jobs, waits for futures and retries lost jobs; and an
                 executor that runs each job at once, in this process
    processes    executor with processes of this machine; a killed process is a failed future
    cluster      executor with the workers of a dask cluster (the extra `cluster`)
    forecast     executor with a simulated clock; total and remaining time of a run

A job is a build or a proof of a table. An executor calls one function for all jobs, and returns
futures of `concurrent.futures`.

A job is *lost* if its worker has ended without an answer, or has too little memory. A job is
*postponed* if it cannot run now: another process is doing it, or the scheduler of its cluster was
lost. A postponed job is retried without limit, a job that is lost `queue.MAX_TRIES` times fails.
"""
