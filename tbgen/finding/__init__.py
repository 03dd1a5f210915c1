"""Searches of tables for all positions that meet conditions.

    query    conditions on positions, read from the fields of a form or a command
    scan     slots of a table by their values: codes, zugzwang, another rule set
    moves    compiled: number of moves that keep an outcome
    handbook  classes of endgames, from statistics alone
    search   whole tables, chunk by chunk, and rows in the order that is asked for
    studies  positions whose solution is unique move by move
    sample   some of the rows that a search finds, in bounded time

`query`, `scan` and `handbook` need no numba: pages of the board use them. `sample` is the board's
search. Nothing here draws or
prints.
"""
