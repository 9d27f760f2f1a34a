"""Closed surveys as Parquet: an archive folder, which any program reads and any number of servers write.

Rows are what every file with single responses holds; what a report tells beyond it travels as sums. A survey is a folder
of its own, under its identity, and appears in one step.
"""
