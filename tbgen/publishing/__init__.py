"""Publication and verified download of tables.

    index      files of a directory: names, sizes, SHA-256, digests
    sources    sources of files: an address of a web server, or a directory
    fetching   download of a file from one of several sources: resumed, verified, then named
    known      known digests of tables, and comparison of tables with them
    pace       end of connections that are too slow
    bundle     directory and archive of win-draw-loss files

Sources are not trusted. Only files with names of tables are fetched, up to the size in the index,
and a file gets its name when its bytes have the SHA-256 of the index. The user decides which index
to trust. This package neither builds nor decodes tables.
"""
