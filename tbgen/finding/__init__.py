"""Searches of tables for all positions that meet conditions.

    query         conditions on positions, read from the fields of a form or a command
    value_filter  selection of slots by value, zugzwang, and outcome under other rules
    moves         compiled: the only move that keeps an outcome
    handbook      classes of endgames, from statistics alone
    search        whole tables, chunk by chunk, and sorted rows
    studies       positions whose solution is unique move by move
    sample        some rows of a search, in bounded time, for the board

A *slot* is the number of a position in a table, a *code* its stored value. A *row* is one found
position, stored in columns (`tbgen.probing.columns`). A *chunk* is a range of slots with one side
to move. *Candidates* are the positions whose value matches a query, before its other conditions are
tested.

`query`, `value_filter` and `handbook` need no numba: pages of the board use them.

Parameters of kernels, unless a kernel says otherwise:
    buffers : Buffers, the tables of the material and of every material after one capture
    boards : int8 (n, 90), legal positions; changed during the call, and restored
    side : int, the side to move in all `boards`
    pending : int64 (m,), the indices in `boards` of the positions to process
    statuses : int8 (n,), out, written for `pending`: `OK`, or `COLD` if blocks are not loaded
    descriptor : int64 (words,), `Layout.descriptor`
    codes : uint8 (pieces,), piece codes of the material (`Layout.piece_codes`), not stored values
"""
