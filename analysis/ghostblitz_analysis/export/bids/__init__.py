"""Data sets as BIDS, the Brain Imaging Data Structure."""
