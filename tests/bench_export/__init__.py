"""The Parquet store on a study of ten thousand participants; `make bench-export`.

The data are simulated and say so: nobody played them.
"""
