"""Tests of tbgen: one folder for each of its packages, and folders for tests across packages.

house       rules on the code itself
docs        the site of docs/, and the content of its pages
faults      fault campaigns at a small size
journeys    whole tasks of users, through the installed commands
oracles     independent oracles, and tests of the project's own ones
helpers     shared test code
data        published cases, counts by other programs, and an example of typed code
"""
