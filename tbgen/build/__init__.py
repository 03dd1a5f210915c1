"""Building closures of materials: what a build needs, and doing it.

plan.py      which tables, bottom-up, and what they cost
builder.py   solve, count, write; skip what is finished, survive interruption
"""
