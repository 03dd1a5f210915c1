"""Independent oracles (slow or foreign programs for comparison), and tests of the project's own.

naive             solver of whole endgames, written from the prose of the rules
naive_referee     referee of repetitions, written from the rules
naive_search      full-width search of the engine
naive_filter      filter of moves of the C reader
naive_reader      table reader, written from docs/format.md
fairy_stockfish   pyffish, for moves and verdicts
"""
