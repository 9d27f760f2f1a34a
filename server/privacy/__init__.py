"""The mathematics: designs and estimators on NumPy arrays.

Nothing in this package imports the web framework, the database or the rest of
`server`; `tests/test_layers.py` proves it in a process where they cannot be imported.
"""
