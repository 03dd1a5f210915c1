"""Tables on disk: the file format, compression, reading and probing.

Knows `tbgen.indexing`, and nothing of how values were computed.
"""
