"""Answers about a position, for the command line, the board and the engine alike.

    mechanism   who checks, or chases whom, in the loop that decides a position
    reasons     why a value is what it is, in words that a language can be put to
    as_json     the objects that `--json` prints and the HTTP API sends
    failures    every expected error: a line, a hint, an exit status
    units       bytes and seconds as people read them

Values, moves and lines come from `tbgen.play`; nothing here prints, and nothing knows which
interface is asking.
"""
