"""Answers about positions, shared by the command line, the board and the engine.

    mechanism   the offence (check or chase) that decides a position, in the loop of its best play
    reasons     reasons for a value, as sentences in any language
    as_json     the objects that `--json` prints and the HTTP API sends
    schema      JSON Schema of those objects, and of one field by type
    failures    expected errors: one line, a hint, an exit status

Values, moves and lines come from `tbgen.play`.
"""
