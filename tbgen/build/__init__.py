"""Building closures of materials: what a build needs, and doing it.

plan.py      which tables, bottom-up, and what they cost
estimate.py  seconds and bytes of tables that are not there yet
costs.py     measurements and coefficients for that, written by scripts/fit_plan.py
builder.py   solve, count, write; skip what is finished, survive interruption
"""
