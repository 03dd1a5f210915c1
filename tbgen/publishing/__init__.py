"""Tables for others, and from others: an index of a directory, and fetching what it lists.

    index      what a directory has to give: names, sizes, SHA-256, digests
    sources    where files are got from: an address of a web server, or a directory
    fetching   a file from one of several sources, continued where it was cut, checked, then named
    known      digests that tables have wherever they are built, and how tables stand to them

Nothing of a source is believed. Names are those of tables, or nothing is fetched; sizes are limits;
and a file gets its name when its bytes have the hash that the index says. Whom to believe the index
is for the user to know. How tables are built or read is not known here.
"""
