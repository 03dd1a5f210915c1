"""Builds of tables and their supporting tables: selection, costs, execution.

    sets             materials that words such as `table1` and `--men 5` select
    work             tables to build, in order, with the metrics to try
    builder          solve, count and write a table; skip finished ones, resume interrupted ones
    states           checkpoint of a table under construction, in a file beside it
    profile          measured cost of each phase of a build
    collection       many tables at once, each built by a job of `tbgen.scheduling`
    exchange         transfer of tables between machines without a common directory
    packing          win-draw-loss file of a finished table; digest of its values
    plan             index size, memory, disk and time of a build, also on many workers
    estimate         seconds and bytes of missing tables, learned from measured ones
    features         features of a material, from its supporting tables
    measured         measured costs of tables (measured.csv)

*Supporting tables* of a material are those that its captures lead to. The *order* of a value is 0
for mate or conversion, and k >= 1 for a decision by the repetition rules. An *army* is one side's
pieces: king, *attackers*, which can cross the river, and *defenders* (advisors and elephants).
`tbgen.indexing` defines slots, holes and canonical placements.

Only `builder` and `packing` load the compiler, and only to build, to pack or to compute a digest.
"""
