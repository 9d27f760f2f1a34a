"""Moneda: surveys whose answers are randomised in the respondent's own browser."""

__version__ = "0.1.0"
