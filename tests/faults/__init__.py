"""Fault campaigns at a small size; run the modules for large ones (docs/reliability.md).

campaign          shared parts: commands, budgets, tallies of findings
disks, faulty     a disk that is full or broken; its simulation
warm              an interpreter whose forks have everything loaded
kills, killing    processes killed at random moments; signals and their checks
directories       directories that are read-only, vanish or are shared
limits            too little memory
oddities          odd environments, streams and kernel caches
mutants           mutated table files in three readers
texts             mutated text at every entry point
servers           the server under malicious clients
"""
