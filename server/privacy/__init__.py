"""The mathematics: designs, estimators, plans, noise and what it costs, on NumPy arrays.

Nothing in this package imports the web framework, the database or the rest of
`server`; `tests/test_layers.py` proves it in a process where they cannot be imported.
"""
