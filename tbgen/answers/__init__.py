"""Answers about a position, for the command line, the board and the engine alike.

    mechanism   the check or chase, in the loop that decides a position
    reasons     reasons of a value, in words of any language
    as_json     the objects that `--json` prints and the HTTP API sends
    schema      what those objects hold, of the kinds of `fields`, as JSON Schema
    failures    every expected error: a line, a hint, an exit status
    units       bytes and seconds as people read them

Values, moves and lines come from `tbgen.play`. Nothing here prints or depends on an interface.
"""
