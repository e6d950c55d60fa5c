"""The bench of the analysis: many rows, many splits, a whole study, and peers side by side.

`make bench-analysis` runs it; `docs/analysis-bench.md` is what it writes, and says what it is
worth. All data are simulated.
"""
