"""Publication and verified download of tables.

    index      files of a directory: names, sizes, SHA-256, digests
    sources    files of a web server or of a directory; transfers that are too slow are ended
    fetching   download of a file from one of several sources: resumed, verified, then named
    known      known digests of tables, and comparison of tables with them
    bundle     directory and archive of win-draw-loss files

Sources are not trusted; the user decides which index to trust. Only tables and certificates
(records of their proofs) are fetched, up to the size in the index. A file gets its final name only
if its bytes have the SHA-256 in the index. A *digest* is a hash of a table's contents before
compression: of its values alone, or of values, arrangement (order of the values in the file) and
statistics (docs/format.md).
"""
