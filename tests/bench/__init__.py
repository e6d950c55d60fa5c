"""The timing bench: one robot against our task and its peers, interleaved in one run.

`make bench-timing` runs it; `docs/timing-bench.md` is what it writes, and says what it is worth.
"""
